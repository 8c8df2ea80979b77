import assert from 'node:assert/strict'
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { Database } from '../../../src/db/database.ts'
import { migrate } from '../../../src/db/migrate.ts'
import { roleUrl } from '../../../src/db/roles.ts'
import { postStockJournals } from '../../../src/modules/inventory/journal-jobs.ts'
import { openEmptyDatabase, TEST_SECRET_KEY as secretKey } from '../../harness/database.ts'
import { openSuperuser } from '../../harness/superuser.ts'
import { countWaiting, journalsSince, NO_JOURNAL } from './journal-setup.ts'

/** The migrations before the one with this name. */
async function migrationsBefore(t: TestContext, name: string): Promise<URL> {
  const path = await mkdtemp(join(tmpdir(), 'migrations-'))
  t.after(() => rm(path, { recursive: true }))
  await cp(new URL('../../../migrations/', import.meta.url), path, { recursive: true })
  const folder = pathToFileURL(`${path}/`)
  const files = (await readdir(folder)).sort()
  const first = files.findIndex((file) => file.endsWith(`_${name}.sql`))
  assert.ok(first > 0, `there is no migration ${name}`)
  await Promise.all(files.slice(first).map((file) => rm(new URL(file, folder))))
  return folder
}

test('costs of a store from before it had journals of stock are posted, each at its own time', async (t) => {
  const url = await openEmptyDatabase(t)
  await migrate({ url, secretKey, folder: await migrationsBefore(t, 'stock_journals') })
  const superuser = await openSuperuser(t, { url })
  await superuser.query(`
    insert into stores (tenant_ref, display_name, currency) values ('old', 'Old', 'EUR');
    with product as (insert into products (tenant_ref, slug, name) values ('old', 'tea', 'Tea') returning id),
         variant as (insert into variants (tenant_ref, product_id, sku, price_cents, currency)
                     select 'old', id, 'tea', 100, 'EUR' from product returning id)
    insert into inventory_cost_entries (tenant_ref, variant_id, kind, units, cost_cents, value_cents, sold_cents,
                                        units_after, value_after_cents, purchase_order_id, created_at)
    select 'old', id, e.kind, e.units, e.cost, e.value, e.sold, 1, 1, gen_random_uuid(), e.at
      from variant,
           (values ('received', 3, 90, 90, 0, '2025-03-31T22:00:00Z'::timestamptz),
                   ('shipped', -1, 0, -30, 30, '2025-04-02T08:00:00Z'),
                   ('received', 2, 0, 0, 0, '2025-04-03T08:00:00Z')) as e (kind, units, cost, value, sold, at)`)
  await migrate({ url, secretKey })
  assert.equal(await countWaiting(superuser, 'old'), 2, 'what cost nothing has no journal')
  const worker = new Database({ url: roleUrl(url, 'fd_worker', secretKey), name: 'old', max: 2 })
  try {
    assert.equal(await postStockJournals(worker), 2)
  } finally {
    await worker.close()
  }
  const journals = await journalsSince(superuser, 'old', NO_JOURNAL)
  assert.deepEqual(
    journals.map(({ kind, at, accounts }) => [kind, at, accounts]),
    [
      [
        'stock.received',
        '2025-03-31T22:00:00.000Z',
        { inventory_asset: 90, goods_in_transit: -90 },
      ],
      ['stock.shipped', '2025-04-02T08:00:00.000Z', { cogs: 30, inventory_asset: -30 }],
    ],
  )
})
