import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { systemClock } from '../../../src/kernel/clock.ts'
import type { Caller } from '../../../src/modules/operations/schema.ts'
import { cancelOperation } from '../../../src/modules/order-changes/cancel-money.ts'
import { correctOperation } from '../../../src/modules/order-changes/correct-money.ts'
import type { OrderChangeDeps } from '../../../src/modules/order-changes/deps.ts'
import { editOperation } from '../../../src/modules/order-changes/edit-money.ts'
import { refundOperation } from '../../../src/modules/order-changes/refund-money.ts'
import { readCard } from '../../../src/modules/payments/card.ts'
import type { StoredAnswer } from '../../../src/platform/idempotency.ts'
import { run } from '../../../src/platform/idempotency-run.ts'
import { cancel, edit, refund } from '../../harness/operations.ts'
import { APPROVED, addVariant, stock } from '../checkout/setup.ts'
import { giveBalances, keyed, type OrderStore } from '../orders/setup.ts'
import { ACTOR, LATER_MS, OVER_AN_HOUR_MS, shareUnknownOutcomes } from './unknown-setup.ts'

const { shared, db, depsOf, claimKey } = shareUnknownOutcomes()

const ADDRESS = {
  label: 'Home',
  name: 'Ann Example',
  line1: '1 New Street',
  line2: null,
  city: 'Aberdale',
  state: 'WY',
  postal_code: '82001',
  country: 'US',
}

describe('an unknown outcome', () => {
  let store: OrderStore
  before(() => {
    store = shared.current
  })

  interface Scenario {
    operation: 'refund' | 'cancel' | 'edit' | 'correct'
    /**
     * The points before anything is sent, the point where it counts as sent and no gateway has it,
     * and the point after the answer.
     */
    before: string[]
    /** Null where nothing is sent. */
    sent: string | null
    after: string
    /** Whether a resume sends a request that was not sent. It cannot send a charge: a typed card is not stored. */
    isResumed: boolean
    begin(deps: OrderChangeDeps, held: Caller, order: Bought): Promise<StoredAnswer>
    /** The order once the operation is done. */
    done: { status: string; total_cents: number; refunded_cents: number }
  }

  interface Bought {
    id: string
    item: string
  }

  const resumes = {
    refund: refundOperation.resume,
    cancel: cancelOperation.resume,
    correct: correctOperation.resume,
    edit: editOperation.resume,
  }

  const editTo =
    (quantity: number): Scenario['begin'] =>
    (deps, held, { id, item }) =>
      edit(deps, db(), held, id, {
        body: { edits: [{ order_item_id: item, quantity }] },
        tender: { by: 'card', source: { card: readCard(APPROVED, systemClock) } },
        note: null,
      })

  const FLAT = { mode: 'flat', expedited_rate_cents: 900, max_cents: 900 } as const

  /** A correction of the address, with the shipping as it would be to there. */
  const correctTo =
    (flat_rate_cents: number): Scenario['begin'] =>
    (deps, held, { id }) =>
      correctOperation.run(deps, db(), held, {
        orderId: id,
        body: { ship_to: ADDRESS, shipping: { ...FLAT, flat_rate_cents } },
      })

  const SCENARIOS: Record<string, Scenario> = {
    'a refund': {
      operation: 'refund',
      before: ['refund-begun'],
      sent: 'refund-sent',
      after: 'refund-answered',
      isResumed: true,
      begin: (deps, held, { id }) =>
        refund(deps, db(), held, id, { by: 'merchant', body: { amount_cents: 2_000 } }),
      done: { status: 'partially_refunded', total_cents: 3_000, refunded_cents: 2_000 },
    },
    'a cancellation': {
      operation: 'cancel',
      before: ['cancel-begun'],
      sent: 'refund-sent',
      after: 'cancel-answered',
      isResumed: true,
      begin: (deps, held, { id }) =>
        cancel(deps, db(), held, id, { reason: 'staff', note: null, restock: true, as: 'cancel' }),
      done: { status: 'cancelled', total_cents: 3_000, refunded_cents: 3_000 },
    },
    'an edit that charges': {
      operation: 'edit',
      before: ['edit-begun'],
      sent: 'edit-sent',
      after: 'edit-answered',
      isResumed: false,
      begin: editTo(3),
      done: { status: 'placed', total_cents: 4_500, refunded_cents: 0 },
    },
    'an edit that refunds': {
      operation: 'edit',
      before: ['edit-begun'],
      sent: 'refund-sent',
      after: 'edit-answered',
      isResumed: true,
      begin: editTo(1),
      done: { status: 'placed', total_cents: 1_500, refunded_cents: 0 },
    },
    'a correction that refunds': {
      operation: 'correct',
      before: ['correct-begun'],
      sent: 'refund-sent',
      after: 'correct-answered',
      isResumed: true,
      begin: correctTo(0),
      done: { status: 'placed', total_cents: 3_000, refunded_cents: 0 },
    },
    'a correction that asks the shopper to pay': {
      operation: 'correct',
      before: ['correct-begun'],
      sent: null,
      after: 'correct-answered',
      isResumed: true,
      begin: correctTo(900),
      done: { status: 'on_hold', total_cents: 3_500, refunded_cents: 0 },
    },
  }

  for (const [
    what,
    { operation, before: early, sent, after: late, isResumed, begin: start, done },
  ] of Object.entries(SCENARIOS)) {
    for (const point of [...early, ...(sent === null ? [] : [sent]), late]) {
      test(`an unknown outcome of ${what} after a crash at ${point} ends either fully done or not at all`, async () => {
        const { code } = await giveBalances(store, 0, 700)
        const variant_id = await addVariant(store.shop.merchant, 1_500)
        await stock(store.shop.merchant, variant_id, 10)
        const items = [{ variant_id, quantity: 2 }]
        // Another price of the shipping is what a correction settles.
        const shipped = { shipping: { ...FLAT, flat_rate_cents: 500 } }
        const isCorrected = operation === 'correct'
        const placed = await store.place({
          items,
          gift_card_code: code,
          ...(isCorrected && shipped),
        })
        const bought = { id: placed.order.id as string, item: placed.items[0].id as string }
        const at = (reached: string) =>
          reached === point ? Promise.reject(new Error('killed')) : undefined
        const claim = { operation, key: randomUUID(), fingerprint: Buffer.alloc(32) }
        const begun = run(db(), claim, (held) =>
          start({ ...depsOf(), at }, { actor: ACTOR, claim: held }, bought),
        )
        await assert.rejects(begun, /killed/)
        const busy = await store.merchant(bought.id, 'cancel', { reason: 'staff' })
        assert.equal(busy.body.error.code, 'order_busy')
        const resume = async (laterMs: number) =>
          resumes[operation](depsOf(undefined, laterMs), db(), await claimKey(operation))
        const isPending = isResumed && point === sent
        if (isPending) await assert.rejects(resume(LATER_MS), { code: 'idempotency_in_progress' })
        await resume(isPending ? OVER_AN_HOUR_MS : LATER_MS)
        const { order } = await store.read(bought.id)
        const { status, total_cents, refunded_cents } = order
        const { total_cents: before_cents } = placed.order
        const undone = { status: 'placed', total_cents: before_cents, refunded_cents: 0 }
        const isDone = point === late || (isResumed && point !== sent)
        assert.deepEqual({ status, total_cents, refunded_cents }, isDone ? done : undone)
        const isWritten = isCorrected && isDone && status === 'placed'
        assert.deepEqual(order.ship_to, isWritten ? ADDRESS : null)
        await store.check()
        if (status !== 'cancelled') {
          const again = await store.merchant(bought.id, 'cancel', { reason: 'staff' })
          assert.equal(again.status, 200, again.text)
        }
        assert.equal(await store.net(bought.id), 0)
        await store.check()
      })
    }
  }
})

test('a correction that was prepared before its customer was erased brings no personal data back', async () => {
  const store = shared.current
  const { merchant } = store.shop
  const { order } = await store.place({ customer_ref: 'leaving' })
  const erase = async () => {
    const url = '/v1/my/privacy/erase'
    const asked = await merchant.post(url, { customer_ref: 'leaving' })
    const body = { customer_ref: 'leaving', confirm: asked.body.confirm }
    assert.equal((await merchant.post(url, body, keyed())).status, 200)
    return 0
  }
  const claim = { operation: 'correct', key: randomUUID(), fingerprint: Buffer.alloc(32) }
  const tax = { provider: 'slow_tax', rate_bps: 0 }
  const answered = await run(db(), claim, (held) =>
    correctOperation.run(
      { ...depsOf(), tax: erase },
      db(),
      { actor: ACTOR, claim: held },
      { orderId: order.id, body: { ship_to: ADDRESS, email: 'ann@new.example', tax } },
    ),
  )
  assert.deepEqual(
    [answered.status, JSON.parse(answered.body).error?.code],
    [409, 'customer_erased'],
  )
  const { order: erased } = await store.read(order.id)
  assert.deepEqual([erased.email, erased.ship_to], [null, null])
})
