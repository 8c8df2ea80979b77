import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listLoops } from '../../src/compose/worker.ts'
import { openIdleRuntime } from '../harness/idle-runtime.ts'

/** Names of loops are data: metrics count by them, and the lives of tables name them. */
const EVERY_MS = {
  'abandoned keys': 3_600_000,
  analytics: 5_000,
  billing: 30_000,
  'billing reminders': 60_000,
  'billing upkeep': 3_600_000,
  'campaign mail': 1_000,
  campaigns: 1_000,
  'checkout reminders': 10_000,
  'commission approval': 60_000,
  domains: 10_000,
  'event numbering': 500,
  'expired authorisations': 60_000,
  'expired payment requests': 60_000,
  'fraud hits': 60_000,
  'gateway upkeep': 3_600_000,
  'gift card codes': 3_600_000,
  'gift card expiry': 10_000,
  'idempotency upkeep': 3_600_000,
  'late approvals': 1_000,
  'ledger numbering': 1_000,
  'ledger verification': 5_000,
  'limiter upkeep': 3_600_000,
  mail: 5_000,
  media: 60_000,
  'newsletter upkeep': 3_600_000,
  'old months': 3_600_000,
  'old rows': 3_600_000,
  outbox: 1_000,
  'outbox upkeep': 3_600_000,
  'parcel delivery': 60_000,
  partitions: 3_600_000,
  'payment comparison': 3_600_000,
  'privacy erasures': 60_000,
  'privacy exports': 5_000,
  'privacy upkeep': 3_600_000,
  'reminder upkeep': 3_600_000,
  renewals: 1_000,
  'search words': 3_600_000,
  segments: 5_000,
  'session upkeep': 3_600_000,
  'shopper mail': 1_000,
  'stock journals': 1_000,
  'stock recount': 60_000,
  'store credit expiry': 10_000,
  'store plans': 3_600_000,
  'test clocks': 500,
  'unfinished labels': 1_000,
  'unfinished payments': 1_000,
  'upload upkeep': 3_600_000,
  'webhook dispatch': 500,
  'webhook erasure': 60_000,
}

const MAILS = ['campaign mail', 'checkout reminders', 'mail', 'shopper mail']

const SMTP_URL = 'smtp://127.0.0.1:1'

test('loops keep their names, and how often they look', async (t) => {
  const loops = await listLoops(await openIdleRuntime(t, { SMTP_URL }))
  const found = loops.map(({ name, everyMs }) => [name, everyMs] as const)
  assert.deepEqual(found.toSorted(), Object.entries(EVERY_MS).toSorted())
})

test('a worker without a mail server has all loops but those that send mails', async (t) => {
  const loops = await listLoops(await openIdleRuntime(t))
  const found = loops.map(({ name }) => name)
  const others = Object.keys(EVERY_MS).filter((name) => !MAILS.includes(name))
  assert.deepEqual(found.toSorted(), others.toSorted())
})
