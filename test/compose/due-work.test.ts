import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listDueWork } from '../../src/compose/due-work.ts'
import { createBulkTransport } from '../../src/platform/bulk-smtp.ts'
import { createTransport } from '../../src/platform/mail.ts'
import { openIdleRuntime } from '../harness/idle-runtime.ts'

const SMTP = 'smtp://127.0.0.1:1'

/** What the test clock does first among the work that is due at the same time. */
const ORDER = [
  'internal_event',
  'operation',
  'late_lookup',
  'hold_expiry',
  'payment_request_expiry',
  'subscription',
  'label',
  'gift_card_expiry',
  'store_credit_expiry',
  'parcel_delivery',
  'commission_approval',
  'newsletter_upkeep',
  'campaign',
  'event',
  'webhook_delivery',
  'mail',
  'checkout_reminder',
  'campaign_mail',
]

test('work that is due at the same time keeps its order: interrupted, money and goods, mails', async (t) => {
  const runtime = await openIdleRuntime(t)
  const transport = createTransport(SMTP, 'Fairdock <no-reply@fairdock.example>')
  const bulk = createBulkTransport(SMTP)
  const work = await listDueWork({ ...runtime, transport, bulk }, {})
  assert.deepEqual(
    work.map(({ kind }) => kind),
    ORDER,
  )
})

test('a process that sends no mail leaves mails out of the work that is due, and nothing else', async (t) => {
  const runtime = await openIdleRuntime(t)
  const work = await listDueWork({ ...runtime, transport: null, bulk: null }, {})
  assert.deepEqual(
    work.map(({ kind }) => kind),
    ORDER.filter((kind) => !['mail', 'checkout_reminder', 'campaign_mail'].includes(kind)),
  )
})
