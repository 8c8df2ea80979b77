import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type pg from 'pg'
import type { Caller } from '../harness/app.ts'
import { suiteScope } from '../harness/scope.ts'
import type { Shopper } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import { openSuperuser } from '../harness/superuser.ts'
import { allowRefunds, placeOrder, withCart } from './setup.ts'

/**
 * The order page offers to edit, cancel or refund exactly where the platform would allow it. Each
 * case writes the facts of an order into the database, since the routes do not reach all of them together; the
 * platform's own explanation to the merchant says what those facts allow.
 */

/** Every status of the contract. */
const STATUSES = [
  'pending_payment',
  'placed',
  'processing',
  'on_hold',
  'shipped',
  'partially_shipped',
  'delivered',
  'cancelled',
  'refunded',
  'partially_refunded',
  'payment_failed',
]

const FORMS = ['edit', 'cancel', 'refund']

let shop: TestShop
let merchant: Caller
let superuser: pg.Client
let shopper: Shopper
let id = ''
let total = 0

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope)
  merchant = await shop.merchant('demo')
  superuser = await openSuperuser(scope, shop.database)
  await allowRefunds(scope, shop)
  shopper = await withCart(shop, 'cedar-candle', 2)
  id = /[0-9a-f-]{36}/.exec(await placeOrder(shopper))?.[0] ?? ''
  total = (await merchant.get(`/v1/merchant/orders/${id}`)).body.order.total_cents
})

interface Facts {
  /** How the attempt to pay stands. Anything but `captured` has captured nothing. */
  payment?: 'pending' | 'unknown' | 'authorized' | 'failed' | 'captured'
  refunded?: 'some' | 'all'
  pendingRefund?: 'some' | 'all'
  shipped?: 1 | 2
  delivered?: 2
  held?: boolean
  disputed?: boolean
  processing?: boolean
  cancelled?: boolean
}

const amountOf = (part: 'some' | 'all' | undefined) =>
  part === undefined ? 0 : part === 'all' ? total : 100

/** Sets columns in the rows of the order. */
async function update(table: string, reference: string, values: Record<string, unknown>) {
  const columns = Object.keys(values).map((name, at) => `${name} = $${at + 2}`)
  const query = `update ${table} set ${columns.join(', ')} where ${reference} = $1`
  await superuser.query(query, [id, ...Object.values(values)])
}

/** Writes the facts, and the status that the platform derives from them. */
async function putFacts(facts: Facts) {
  const { payment = 'captured', shipped = 0, delivered = 0 } = facts
  const captured_cents = payment === 'captured' ? total : 0
  const refunded_cents = amountOf(facts.refunded)
  const pending_cents = amountOf(facts.pendingRefund)
  const when = (isSo: boolean | undefined) => (isSo ? new Date() : null)
  await update('orders', 'id', {
    payment,
    captured_cents,
    refunded_cents,
    payment_failure: payment === 'failed' ? 'declined' : null,
    placed_at: when(captured_cents > 0),
    processing_at: when(facts.processing),
    cancelled_at: when(facts.cancelled),
    disputed_at: when(facts.disputed),
    hold_at: when(facts.held),
    hold_by: facts.held ? 'system' : null,
    hold_reason: facts.held ? 'fraud_review' : null,
  })
  await update('order_items', 'order_id', {
    shipped_quantity: shipped,
    delivered_quantity: delivered,
  })
  const given_cents = refunded_cents + pending_cents
  await update('charges', 'order_id', { captured_cents, refunded_cents: given_cents })
  await putRefunds({ succeeded: refunded_cents, pending: pending_cents })
  const { status, payment_status, fulfillment_status } = await explain()
  await update('orders', 'id', { status, payment_status, fulfillment_status })
}

async function putRefunds(amounts: Record<'succeeded' | 'pending', number>) {
  await superuser.query('delete from refunds where order_id = $1', [id])
  for (const [status, amount_cents] of Object.entries(amounts)) {
    if (amount_cents === 0) continue
    await superuser.query(
      `insert into refunds (tenant_ref, refund_id, order_id, status, amount_cents, product_cents,
                            currency, actor)
       values ('demo', gen_random_uuid(), $1, $2, $3, $3, 'USD', 'shopper')`,
      [id, status, amount_cents],
    )
  }
}

interface Explanation {
  status: string
  payment_status: string
  fulfillment_status: string
  allowed: string[]
}

async function explain(): Promise<Explanation> {
  return (await merchant.get(`/v1/merchant/orders/${id}/explain`)).body
}

const CASES: readonly (readonly [status: string, which: string, facts: Facts])[] = [
  ['pending_payment', 'whose card has not been charged yet', { payment: 'pending' }],
  ['pending_payment', 'whose payment is unknown', { payment: 'unknown' }],
  ['pending_payment', 'whose card is authorised', { payment: 'authorized' }],
  ['payment_failed', 'whose payment has failed', { payment: 'failed' }],
  ['on_hold', 'held before its card is captured', { payment: 'authorized', held: true }],
  ['on_hold', 'held after its card is captured', { held: true }],
  ['on_hold', 'held and partly refunded', { held: true, refunded: 'some' }],
  ['on_hold', 'held and partly shipped', { held: true, shipped: 1 }],
  ['on_hold', 'held and disputed', { held: true, disputed: true }],
  ['on_hold', 'held, disputed, partly refunded', { held: true, disputed: true, refunded: 'some' }],
  ['placed', 'just placed', {}],
  ['placed', 'with a refund pending', { pendingRefund: 'some' }],
  ['placed', 'with its last refund pending', { pendingRefund: 'all' }],
  ['processing', 'being packed', { processing: true }],
  ['partially_shipped', 'partly shipped', { shipped: 1 }],
  ['shipped', 'shipped', { shipped: 2 }],
  ['delivered', 'delivered', { shipped: 2, delivered: 2 }],
  ['partially_refunded', 'partly refunded', { refunded: 'some' }],
  [
    'partially_refunded',
    'partly refunded, with a refund pending',
    { refunded: 'some', pendingRefund: 'some' },
  ],
  ['partially_refunded', 'partly refunded and shipped', { refunded: 'some', shipped: 2 }],
  ['refunded', 'refunded', { refunded: 'all' }],
  ['refunded', 'refunded and shipped', { refunded: 'all', shipped: 2 }],
  ['cancelled', 'cancelled before it was paid', { payment: 'pending', cancelled: true }],
  ['cancelled', 'cancelled after it was paid', { refunded: 'all', cancelled: true }],
]

/** A shopper who has all money back is not asked to cancel, though the platform would still end the order. */
describe('the order page shows the forms that the platform allows, and no other', () => {
  for (const [status, which, facts] of CASES) {
    test(`shows the forms that the platform allows, and no other, for an order that is ${status}, ${which}`, async () => {
      await putFacts(facts)
      const explained = await explain()
      assert.equal(explained.status, status)
      const { text } = await shopper.get(`/orders/${id}`)
      assert.match(text, new RegExp(`data-status="${status}"`))
      const shown = FORMS.filter((form) => text.includes(`action="/orders/${id}/${form}"`))
      const allowed = FORMS.filter(
        (form) => explained.allowed.includes(form) && !(form === 'cancel' && status === 'refunded'),
      )
      assert.deepEqual(shown, allowed)
    })
  }

  test('shows the forms that the platform allows in every status that an order can have', () => {
    const covered = new Set(CASES.map(([status]) => status))
    assert.deepEqual([...covered].toSorted(), STATUSES.toSorted())
  })
})
