import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The rows of the checkout's floor, in one commit and without pricing or answering. */
const PLACE_ORDER = `
\\set store random(0, :stores - 1)
begin;
insert into floor.orders
  values ('pgbench-' || :store, gen_random_uuid(), 1, 'shopper', 'placed', 1000)
  returning id as order_id \\gset
insert into floor.items
  values ('pgbench-' || :store, gen_random_uuid(), :order_id, gen_random_uuid(), 1, 1000);
insert into floor.gateway values ('pgbench-' || :store, gen_random_uuid(), 1000, 1000);
insert into floor.ledger
  values ('pgbench-' || :store, gen_random_uuid(), :order_id, 'card', 1000),
         ('pgbench-' || :store, gen_random_uuid(), :order_id, 'sales', -1000);
insert into floor.events values ('pgbench-' || :store, gen_random_uuid(), :order_id, '{}');
insert into floor.keys values ('pgbench-' || :store, gen_random_uuid()::text, 201, '{}');
commit;
`

/**
 * Orders per second by `pgbench` alone, where it is installed. The floor must have created its
 * tables.
 */
export async function placeOrders(
  url: string,
  { stores, clients, seconds }: { stores: number; clients: number; seconds: number },
): Promise<number | null> {
  const dir = await mkdtemp(join(tmpdir(), 'pgbench-'))
  try {
    const script = join(dir, 'place-order.sql')
    await writeFile(script, PLACE_ORDER)
    const load = ['-c', clients, '-j', 1, '-T', seconds, '-D', `stores=${stores}`].map(String)
    const { stdout } = await run('pgbench', ['-n', '-M', 'prepared', ...load, '-f', script, url])
    return Number(/tps = ([\d.]+)/.exec(stdout)?.[1])
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  } finally {
    await rm(dir, { recursive: true })
  }
}
