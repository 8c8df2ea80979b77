import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { Answer, Caller } from '../../harness/app.ts'
import { ok } from '../returns/setup.ts'
import {
  AFFILIATES,
  type AffiliateShop,
  balanceOf,
  buy,
  commissionsOf,
  editOrder,
  keyed,
  makeAffiliate,
  openAffiliateShop,
  passDays,
  pay,
  refund,
  shareAffiliateApp,
} from './setup.ts'

/** A short run over HTTP. `commission.test.ts` has the long one, of the arithmetic alone. */
const RUNS = 6
const STEPS_MAX = 16

const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('buy' as const), units: fc.integer({ min: 1, max: 3 }) }),
    fc.record({
      kind: fc.constant('refund' as const),
      order: fc.nat(9),
      cents: fc.constantFrom(1, 333, 4_999, 10_000, null),
    }),
    fc.record({
      kind: fc.constant('edit' as const),
      order: fc.nat(9),
      units: fc.integer({ min: 1, max: 3 }),
    }),
    fc.record({ kind: fc.constant('cancel' as const), order: fc.nat(9) }),
    fc.record({ kind: fc.constant('test' as const), order: fc.nat(9), is_test: fc.boolean() }),
    fc.record({ kind: fc.constant('decide' as const), nth: fc.nat(9), approves: fc.boolean() }),
    fc.record({ kind: fc.constant('wait' as const), days: fc.constantFrom(5, 12) }),
    fc.record({ kind: fc.constant('pay' as const) }),
    fc.record({ kind: fc.constant('settle' as const), nth: fc.nat(9), paid: fc.boolean() }),
  ),
  { minLength: 4, maxLength: STEPS_MAX },
)
type Step = (typeof steps extends fc.Arbitrary<infer T> ? T : never)[number]

const terms = fc.constantFrom(
  { rate_bps: 1_000 },
  { rate_bps: 333 },
  { commission_type: 'fixed', amount_cents: 777 },
)

/** What a plain reader of the answers knows: every payout that was marked, and every order with its goods. */
interface Known {
  shop: AffiliateShop
  code: string
  orders: { id: string; item: string }[]
  payouts: { id: string; status: string; amount_cents: number }[]
  day: number
}

const at = <T>(list: readonly T[], n: number): T | undefined => list[n % Math.max(1, list.length)]

/** Takes a step, whatever the platform answers: a refusal is an answer. */
async function take(known: Known, step: Step, operator: Caller) {
  const { shop } = known
  const order = 'order' in step ? at(known.orders, step.order) : undefined
  const post = (verb: string, body: object) =>
    shop.merchant.post(`/v1/merchant/orders/${order?.id}/${verb}`, body, keyed())
  if (step.kind === 'buy') {
    const items = [{ variant_id: shop.variant, quantity: step.units }]
    const placed = await buy(shop, {
      referral_code: known.code,
      items,
      tax: { provider: 'flat_rate', rate_bps: 777 },
      shipping: { mode: 'flat', flat_rate_cents: 499, expedited_rate_cents: 900, max_cents: 900 },
    })
    known.orders.push({ id: placed.order.id, item: placed.items[0].id })
  } else if (step.kind === 'wait') {
    known.day += step.days
    await passDays(shop, known.day)
  } else if (step.kind === 'pay') {
    const { body, status } = await pay(shop)
    if (status === 201)
      known.payouts.push(...body.payouts.map((each: Answer['body']) => ({ ...each })))
  } else if (step.kind === 'settle') {
    const payout = at(known.payouts, step.nth)
    if (payout === undefined) return
    const verb = step.paid ? 'mark-paid' : 'cancel'
    const { body, status } = await shop.merchant.post(`${AFFILIATES}/payouts/${payout.id}/${verb}`)
    if (status === 200) payout.status = body.payout.status
  } else if (step.kind === 'decide') {
    const commission = at(await commissionsOf(shop, {}), step.nth)
    if (commission === undefined) return
    const verb = step.approves ? 'approve' : 'decline'
    await shop.merchant.post(`${AFFILIATES}/commissions/${commission.id}/${verb}`)
  } else if (order === undefined) return
  else if (step.kind === 'refund')
    await refund(shop, order.id, step.cents === null ? {} : { amount_cents: step.cents })
  else if (step.kind === 'edit') await editOrder(shop, order.id, order.item, step.units)
  else if (step.kind === 'cancel') await post('cancel', { reason: 'customer' })
  else
    await operator.post(`/v1/stores/${shop.tenant}/orders/${order.id}/test-flag`, {
      is_test: step.is_test,
    })
}

describe('after any history of orders, refunds, decisions and payouts', () => {
  const shared = shareAffiliateApp()

  test('balances equal a recount of the answers, and all books agree', async () => {
    await fc.assert(
      fc.asyncProperty(terms, steps, async (of, history) => {
        const shop = await openAffiliateShop(shared.current)
        const { id, code } = await makeAffiliate(shop, { approval_delay_days: 10, ...of })
        const known: Known = { shop, code, orders: [], payouts: [], day: 0 }
        await take(known, { kind: 'buy', units: 2 }, shared.current.operator)
        for (const step of history) await take(known, step, shared.current.operator)

        const rows = await commissionsOf(shop, {})
        const sum = (list: readonly { amount_cents: number }[]) =>
          list.reduce((total, { amount_cents }) => total + amount_cents, 0)
        const [pending, approved, inPayout, paid] = await balanceOf(shop, id)
        assert.equal(pending, sum(rows.filter(({ status }) => status === 'pending')))
        const free = rows.filter(
          ({ status, payout_id }) => status === 'approved' && payout_id === null,
        )
        assert.equal(approved, sum(free))
        assert.equal(inPayout, sum(known.payouts.filter(({ status }) => status === 'pending')))
        assert.equal(paid, sum(known.payouts.filter(({ status }) => status === 'paid')))
        for (const { id: order_id } of known.orders) {
          const own = rows.filter((row) => row.order_id === order_id && row.status !== 'declined')
          const earned = sum(own.filter(({ type }) => type !== 'clawback'))
          const clawed = 0 - sum(own.filter(({ type }) => type === 'clawback'))
          assert.ok(clawed <= earned, `${order_id} lost ${clawed} of ${earned}`)
          const { order } = ok(await shop.merchant.get(`/v1/merchant/orders/${order_id}`))
          if (order.status === 'refunded' || order.is_test) assert.equal(earned, clawed)
        }
        await shared.current.assertAddsUp()
      }),
      { numRuns: RUNS, endOnFailure: true },
    )
  })
})
