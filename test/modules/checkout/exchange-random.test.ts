import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import fc, { type GeneratorValue } from 'fast-check'
import * as jobs from '../../../src/modules/checkout/jobs.ts'
import { openCheckout } from '../../../src/modules/checkout/open.ts'
import type { Answer } from '../../harness/app.ts'
import { type OrderStore, shareOrderStore } from '../orders/setup.ts'
import { receipt } from '../returns/setup.ts'
import { type Exchanges, exchangesOf, settlement } from './exchange-setup.ts'
import { cardOf, DECLINED } from './setup.ts'

/**
 * Returns whose merchants and shoppers exchange, pay, withdraw, cancel, refund and receive in any order,
 * some of it at once. Whatever they do, the shopper never gets more than was paid, and all books agree.
 */

const shared = shareOrderStore()
let store: OrderStore
let exchanges: Exchanges

const METHODS = ['original', 'store_credit', 'none', 'later'] as const
const CARDS = [cardOf('4111111111111111'), DECLINED]
/** Answers that a step may have: it was done, or refused for a reason of its own. */
const EXPECTED = [200, 201, 402, 409, 422, 400]

interface Scene {
  chance: GeneratorValue
  order_id: string
  made: { id: string; lines: { id: string }[] }
  variants: string[]
  /** The orders whose payment was answered as done, once for each answer. */
  paid: string[]
  done: Map<string, number>
}

const pick = <T>({ chance }: Scene, values: readonly T[]): T => chance(fc.constantFrom, ...values)

const exchangeOrders = async ({ made }: Scene): Promise<string[]> =>
  (await exchanges.readReturn(made.id)).exchanges.map((each: { order_id: string }) => each.order_id)

const STEPS: Record<string, (scene: Scene) => Promise<Answer | null>> = {
  exchange: (scene) =>
    exchanges.exchange(scene.made.id, {
      items: [{ variant_id: pick(scene, scene.variants), quantity: pick(scene, [1, 2]) }],
      advance: pick(scene, [true, true, false]),
      ...(pick(scene, [true, false]) && { shipping_cents: 120 }),
    }),
  pay: (scene) =>
    onOrder(scene, async (id) => {
      const card = pick(scene, CARDS)
      const answer = await exchanges.pay(id, { card })
      if (answer.status === 402) assert.equal(answer.body.error.code, 'payment_declined')
      if (answer.status !== 200) return answer
      assert.notEqual(card, DECLINED, 'a declined card pays for nothing')
      assert.equal(answer.body.payment_request.status, 'paid')
      scene.paid.push(id)
      return answer
    }),
  withdraw: (scene) => onOrder(scene, (id) => exchanges.withdraw(id)),
  cancel: (scene) => onOrder(scene, (id) => store.merchant(id, 'cancel', { reason: 'customer' })),
  refund: (scene) =>
    onOrder(scene, (id) =>
      store.merchant(id, 'refunds', { amount_cents: pick(scene, [1, 250, 900]) }),
    ),
  expire: async (scene) => {
    await store.superuser.query(
      `update payment_requests set due_at = now() - interval '1 second'
        where order_id = any ($1::uuid[]) and status = 'open'`,
      [await exchangeOrders(scene)],
    )
    const deps = openCheckout(store.app.runtime)
    await jobs.expirePaymentRequests({ ...deps, database: store.app.runtime.workerDatabase })
    return null
  },
  receive: (scene) => {
    const refund = { method: pick(scene, METHODS) }
    return exchanges.receive(scene.made.id, receipt(scene.made, pick(scene, [1, 2]), { refund }))
  },
  settle: (scene) => exchanges.receive(scene.made.id, settlement(pick(scene, METHODS))),
  close: (scene) => exchanges.act(scene.made.id, pick(scene, ['close', 'cancel'])),
}

/**
 * Checks that a payment request was charged once where it counts as paid, and never otherwise: by the answers,
 * by our rows and by the gateway's own record.
 */
async function checkPayments(scene: Scene): Promise<void> {
  const { rows } = await store.superuser.query(
    `select r.order_id, r.status = 'paid' as is_paid, r.amount_cents::int as asked,
            array(select c.amount_cents::int
                    from payment_attempts a
                    join sim_charges c on c.tenant_ref = a.tenant_ref and c.ref = a.id
                   where a.tenant_ref = r.tenant_ref and a.order_id = r.order_id
                     and a.kind = 'pay' and c.outcome = 'approved') as charged
       from payment_requests r
      where r.order_id = any ($1::uuid[])`,
    [[...(await exchangeOrders(scene)), ...scene.paid]],
  )
  for (const { order_id, is_paid, asked, charged } of rows) {
    assert.deepEqual(charged, is_paid ? [asked] : [], order_id)
  }
  const paid = rows.filter(({ is_paid }) => is_paid).map(({ order_id }) => order_id)
  assert.deepEqual(scene.paid.toSorted(), paid.toSorted(), 'each is answered as paid once')
}

/** The steps to choose from. Those that make the others possible are in it more often. */
const OFTEN = ['exchange', 'exchange', 'pay', 'pay', 'pay', ...Object.keys(STEPS)]

async function onOrder(scene: Scene, act: (id: string) => Promise<Answer>): Promise<Answer | null> {
  const ids = await exchangeOrders(scene)
  return ids.length === 0 ? null : act(pick(scene, ids))
}

async function take(scene: Scene): Promise<void> {
  const name = pick(scene, OFTEN)
  const answer = await (STEPS[name] as (of: Scene) => Promise<Answer | null>)(scene)
  if (answer === null) return
  assert.ok(EXPECTED.includes(answer.status), `${name}: ${answer.text}`)
  if (answer.status < 300) scene.done.set(name, (scene.done.get(name) ?? 0) + 1)
}

describe('exchanges at random', () => {
  before(() => {
    store = shared.current
    exchanges = exchangesOf(store)
  })

  test('never pay a shopper more than they paid, and leave all books in agreement', async () => {
    const done = new Map<string, number>()
    const prices = await Promise.all(
      [4_000, 400, 1_000].map((price) => exchanges.tracked(500, price)),
    )
    await fc.assert(
      fc.asyncProperty(fc.gen(), async (chance) => {
        const tax = { tax: { provider: 'flat_rate', rate_bps: 777 } }
        const variant = store.shop.variants[1_000] ?? ''
        const { order, made } = await exchanges.returnedOf(variant, 3, tax)
        const order_id = order.order.id
        const scene: Scene = { chance, order_id, made, variants: prices, paid: [], done }
        for (let step = 0; step < 7; step++) {
          const isBoth = chance(fc.boolean)
          await Promise.all(isBoth ? [take(scene), take(scene)] : [take(scene)])
        }
        const { rows } = await store.superuser.query(
          `select refunded_cents, captured_cents from orders where id = $1`,
          [scene.order_id],
        )
        assert.ok(Number(rows[0].refunded_cents) <= Number(rows[0].captured_cents))
        await checkPayments(scene)
      }),
      { numRuns: 25, endOnFailure: true },
    )
    await store.check()
    for (const name of ['exchange', 'receive', 'pay']) {
      assert.ok((done.get(name) ?? 0) > 0, `${name} was never done`)
    }
  })
})
