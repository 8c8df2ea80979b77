import { mkdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Calls } from './calls.ts'
import type { Installation } from './installation.ts'

/** The tables that show the history of an order. */
const TABLES = [
  'orders',
  'order_timeline',
  'payment_attempts',
  'charges',
  'refunds',
  'refund_tenders',
  'idempotency_keys',
  'privacy_erasures',
  'subscriptions',
]

/** Writes down what is needed to explain a fault, one line for each thing. Returns the folder. */
export async function keepEvidence(
  { gateway, superuser, logs }: Installation,
  calls: Calls,
  seed: string,
): Promise<string> {
  const folder = join(tmpdir(), `walk-${seed}`)
  const write = (name: string, rows: Iterable<unknown>) =>
    writeFile(join(folder, name), [...rows].map((row) => `${JSON.stringify(row)}\n`).join(''))
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'servers.log'), logs())
  await write('gateway.jsonl', gateway.trace)
  await write('calls.jsonl', calls.all)
  for (const table of TABLES) {
    await write(`${table}.jsonl`, (await superuser.query(`select * from ${table}`)).rows)
  }
  return folder
}
