import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { systemClock } from '../../../src/kernel/clock.ts'
import * as jobs from '../../../src/modules/checkout/jobs.ts'
import { openCheckout } from '../../../src/modules/checkout/open.ts'
import { payOperation } from '../../../src/modules/checkout/pay-request-money.ts'
import type { CheckoutDeps } from '../../../src/modules/checkout/service.ts'
import type { Gateway } from '../../../src/modules/payments/adapters/gateway.ts'
import { unknownResult, unreachable } from '../../../src/modules/payments/adapters/results.ts'
import { readSource } from '../../../src/modules/payments/card.ts'
import { run } from '../../../src/platform/idempotency-run.ts'
import { expireAllClaims } from '../../harness/operations.ts'
import { keyed, type OrderStore, shareOrderStore } from '../orders/setup.ts'
import { ok, receipt, refusal } from '../returns/setup.ts'
import { type Exchanges, exchangesOf, settlement } from './exchange-setup.ts'
import { APPROVED, DECLINED, movableClock } from './setup.ts'

const clock = movableClock()
const shared = shareOrderStore({ clock })
let store: OrderStore
let exchanges: Exchanges

const SHOPPER = { name: 'storefront', correlationId: null }
/** After this time a gateway without a record of a payment counts as never having got it. */
const LATER_MS = 11_000

const db = () => store.app.runtime.database.tenant('acme')

interface Override {
  gateway?: (real: Gateway) => Partial<Gateway>
  at?: (point: string) => void | Promise<void>
}

const depsOf = ({ gateway, at }: Override = {}): jobs.JobDeps => {
  const deps: CheckoutDeps = openCheckout(store.app.runtime)
  const { payments } = deps
  const forStore: typeof payments.forStore = async (...of) => {
    const real = await payments.forStore(...of)
    return { ...real, ...gateway?.(real) }
  }
  return {
    ...deps,
    database: store.app.runtime.workerDatabase,
    payments: { ...payments, forStore },
    ...(at && { at }),
  }
}

/** A payment as its route runs it, with overrides. */
const payWith = (override: Override, orderId: string, key: string = randomUUID()) =>
  run(db(), { operation: 'pay', key, fingerprint: Buffer.alloc(32) }, (claim) =>
    payOperation.run(
      depsOf(override),
      db(),
      { actor: SHOPPER, claim },
      { orderId, customer_ref: 'ann', source: readSource({ card: APPROVED }, systemClock) },
    ),
  )

const reconcile = async (laterMs = 0, override: Override = {}) => {
  clock.reset()
  clock.advance(laterMs)
  await expireAllClaims(store.superuser)
  await jobs.reconcile(depsOf(override))
  clock.reset()
}

const statusOf = async (id: string) => {
  const { order, payment_request } = await store.read(id)
  return [order.status, payment_request?.status ?? 'none']
}

/** What the gateway has captured by payments of an order, and not refunded. */
const paidOf = async (order_id: string) => {
  const { rows } = await store.superuser.query(
    `select coalesce(sum(s.captured_cents - s.refunded_cents), 0)::int as paid, count(*)::int as sent
       from payment_attempts a
       join sim_charges s on s.tenant_ref = a.tenant_ref and s.ref = a.id
      where a.order_id = $1 and a.kind = 'pay' and s.outcome = 'approved' and s.voided_at is null`,
    [order_id],
  )
  return rows[0].paid as number
}

const expireNow = (order_id: string) =>
  store.superuser.query(
    `update payment_requests set expires_at = now() - interval '1 second',
            due_at = now() - interval '1 second' where order_id = $1 and status = 'open'`,
    [order_id],
  )

describe('a payment request', () => {
  before(() => {
    store = shared.current
    exchanges = exchangesOf(store)
  })

  test('is paid by its shopper, once, and places the order', async () => {
    const { exchanged, to, order } = await exchanges.asked()
    const key = randomUUID()
    const first = await exchanges.pay(exchanged.id, {}, key)
    const paid = ok(first)
    assert.deepEqual([paid.order.status, paid.payment_request.status], ['placed', 'paid'])
    const charges = paid.charges.map((each: Record<string, unknown>) => each.captured_cents)
    assert.deepEqual(charges.toSorted(), [1_000, 500])
    assert.equal((await exchanges.pay(exchanged.id, {}, key)).text, first.text)
    const again = await exchanges.pay(exchanged.id)
    assert.deepEqual(refusal(again), [409, 'payment_request_closed'])
    assert.equal(again.body.status, 'paid')
    assert.equal(await paidOf(exchanged.id), 500)
    assert.equal((await exchanges.stockOf(to)).allocated, 1)
    assert.equal((await store.read(order.order.id)).order.status, 'refunded')
    const shown = await exchanges.readShopper(exchanged.id)
    assert.equal(shown.payment_request.status, 'paid')
    const found = await store.app.storefront.get(`/v1/tenants/acme/idempotency/pay/${key}`)
    assert.equal(ok(found).answer.order.id, exchanged.id)
  })

  test('two payers at once pay once', async () => {
    const { exchanged } = await exchanges.asked()
    const answers = await Promise.all([1, 2, 3, 4].map(() => exchanges.pay(exchanged.id)))
    const statuses = answers.map(({ status }) => status).toSorted()
    assert.deepEqual(statuses, [200, 409, 409, 409])
    assert.equal(await paidOf(exchanged.id), 500)
    assert.deepEqual(await statusOf(exchanged.id), ['placed', 'paid'])
  })

  test('stays open after a declined card, and can be paid with another card', async () => {
    const { exchanged } = await exchanges.asked()
    const declined = await exchanges.pay(exchanged.id, { card: DECLINED })
    assert.deepEqual(refusal(declined), [402, 'payment_declined'])
    assert.deepEqual(await statusOf(exchanged.id), ['on_hold', 'open'])
    ok(await exchanges.pay(exchanged.id))
    assert.deepEqual(await statusOf(exchanged.id), ['placed', 'paid'])
  })

  test('can be paid by its own customer alone, with a card, and refuses bad input', async () => {
    const { exchanged, order } = await exchanges.asked()
    const stranger = await exchanges.pay(exchanged.id, { customer_ref: 'eve' })
    assert.deepEqual(refusal(stranger), [404, 'order_not_found'])
    const missing = await exchanges.pay(randomUUID())
    assert.deepEqual(refusal(missing), [404, 'order_not_found'])
    const cardless = await exchanges.pay(exchanged.id, { card: null })
    assert.deepEqual(refusal(cardless), [402, 'card_required'])
    assert.equal(cardless.body.amount_due_cents, 500)
    const bad = await exchanges.pay(exchanged.id, { card: { ...APPROVED, ccnumber: '4111' } })
    assert.deepEqual(refusal(bad), [400, 'invalid_body'])
    const misspelt = await exchanges.pay(exchanged.id, { amount: 1 })
    assert.deepEqual(refusal(misspelt), [400, 'invalid_body'])
    const none = await exchanges.pay(order.order.id)
    assert.deepEqual(refusal(none), [409, 'payment_request_closed'])
    const elsewhere = `/v1/tenants/globex/orders/${exchanged.id}/pay`
    const headers = { 'idempotency-key': randomUUID() }
    const body = { customer_ref: 'ann', card: APPROVED }
    const foreign = await store.app.storefront.post(elsewhere, body, headers)
    assert.equal(foreign.status, 404)
    assert.equal(await paidOf(exchanged.id), 0)
  })

  test('a payment that the gateway charged without an answer is found, and the order placed', async () => {
    const { exchanged } = await exchanges.asked()
    const sale = (real: Gateway) => ({
      sale: async (what: Parameters<Gateway['sale']>[0]) => {
        await real.sale(what)
        return unknownResult()
      },
    })
    await assert.rejects(payWith({ gateway: sale }, exchanged.id), { code: 'payment_unconfirmed' })
    assert.deepEqual(refusal(await exchanges.pay(exchanged.id)), [409, 'order_busy'])
    assert.deepEqual(refusal(await exchanges.withdraw(exchanged.id)), [409, 'order_busy'])
    await expireNow(exchanged.id)
    assert.equal(await jobs.expirePaymentRequests(depsOf()), 0, 'a payment in progress counts')
    await reconcile(0, { gateway: () => ({ lookup: async () => unreachable() }) })
    assert.deepEqual(await statusOf(exchanged.id), ['on_hold', 'open'])
    await reconcile()
    assert.deepEqual(await statusOf(exchanged.id), ['placed', 'paid'])
    assert.equal(await paidOf(exchanged.id), 500)
  })

  test('a payment that never reached the gateway leaves the request open, and a late charge is reversed', async () => {
    const { exchanged } = await exchanges.asked()
    const late: (() => Promise<unknown>)[] = []
    const sale = (real: Gateway) => ({
      sale: async (what: Parameters<Gateway['sale']>[0]) => {
        late.push(() => real.sale(what))
        return unknownResult()
      },
    })
    await assert.rejects(payWith({ gateway: sale }, exchanged.id), { code: 'payment_unconfirmed' })
    await reconcile(LATER_MS)
    assert.deepEqual(await statusOf(exchanged.id), ['on_hold', 'open'])
    ok(await exchanges.pay(exchanged.id))
    for (const send of late) await send()
    await store.superuser.query(
      `update payment_attempts set next_check_at = now() where next_check_at is not null`,
    )
    const alerts: unknown[] = []
    const onAlert: CheckoutDeps['onAlert'] = ({ kind, order_id }, message) =>
      alerts.push([kind, order_id, message])
    await jobs.watchLateApprovals({ ...depsOf(), onAlert })
    assert.equal(await paidOf(exchanged.id), 500, 'once')
    const message = 'the late approval of a failed payment was reversed'
    assert.deepEqual(alerts, [['pay', exchanged.id, message]])
    assert.deepEqual(await statusOf(exchanged.id), ['placed', 'paid'])
  })

  /** Orders whose shoppers are asked for 500: for an exchange, and for the correction of an order that was paid. */
  const ASKED: Record<string, () => Promise<{ id: string }>> = {
    'an exchange': async () => (await exchanges.asked()).exchanged,
    'a correction': async () => {
      const { order } = await store.place()
      const { id } = order
      const shipping = { mode: 'flat', flat_rate_cents: 500 }
      const terms = { shipping: { ...shipping, expedited_rate_cents: 900, max_cents: 900 } }
      const url = `/v1/merchant/orders/${id}`
      ok(await store.shop.merchant.send('PATCH', url, terms, keyed()))
      return { id }
    },
  }

  const KILLED = Object.entries(ASKED).flatMap(([what, ask]) =>
    ['pay-begun', 'pay-sent', 'pay-answered'].map((point) => ({ what, ask, point })),
  )

  for (const { what, ask, point } of KILLED) {
    test(`a payment request of ${what} whose process is killed at ${point} is continued`, async () => {
      const exchanged = await ask()
      class Crash extends Error {}
      const at = (reached: string) => {
        if (reached === point) throw new Crash(point)
      }
      const key = randomUUID()
      let crashed = false
      const claim = { operation: 'pay', key, fingerprint: Buffer.alloc(32) }
      await run(db(), claim, async (held) => {
        try {
          const request = {
            orderId: exchanged.id,
            customer_ref: 'ann',
            source: readSource({ card: APPROVED }, systemClock),
          }
          return await payOperation.run(
            depsOf({ at }),
            db(),
            { actor: SHOPPER, claim: held },
            request,
          )
        } catch (error) {
          if (!(error instanceof Crash)) throw error
          crashed = true
          // A process that is gone stores no answer.
          return { state: 'answered', status: 0, body: '' }
        }
      })
      assert.ok(crashed)
      await reconcile(LATER_MS)
      const isPaid = point === 'pay-answered'
      assert.deepEqual(
        await statusOf(exchanged.id),
        isPaid ? ['placed', what === 'a correction' ? 'none' : 'paid'] : ['on_hold', 'open'],
      )
      assert.equal(await paidOf(exchanged.id), isPaid ? 500 : 0)
      if (!isPaid) ok(await exchanges.pay(exchanged.id))
      assert.equal(await paidOf(exchanged.id), 500)
      const { order } = await store.read(exchanged.id)
      assert.equal(order.captured_cents, order.total_cents)
      await store.check()
    })
  }

  test('a payment request that expires cancels the order, frees the stock, and gives the refund back', async () => {
    const { exchanged, to, made, order } = await exchanges.asked()
    assert.equal(await jobs.expirePaymentRequests(depsOf()), 0, 'not before its time')
    await expireNow(exchanged.id)
    const late = await exchanges.pay(exchanged.id)
    assert.deepEqual(refusal(late), [409, 'payment_request_closed'])
    assert.equal(late.body.status, 'expired')
    assert.equal(await jobs.expirePaymentRequests(depsOf()), 1)
    assert.deepEqual(await statusOf(exchanged.id), ['cancelled', 'expired'])
    const stock = await exchanges.stockOf(to)
    assert.deepEqual([stock.reserved, stock.available], [0, 5])
    assert.equal((await exchanges.readReturn(made.id)).exchanges[0].status, 'released')
    assert.equal(await jobs.expirePaymentRequests(depsOf()), 0)
    const settled = ok(await exchanges.receive(made.id, receipt(made, 1)))
    assert.equal(settled.refund.amount_cents, 1_000)
    assert.equal(await store.net(order.order.id), 0)
  })

  test('a payment request that expires after the goods came back leaves the shopper the right to the refund', async () => {
    const { exchanged, made, order } = await exchanges.asked()
    const received = ok(await exchanges.receive(made.id, receipt(made, 1)))
    assert.deepEqual([received.refund, received.return.status], [null, 'closed'])
    const none = await exchanges.receive(made.id, settlement('original'))
    assert.deepEqual(refusal(none), [409, 'invalid_transition'])
    await expireNow(exchanged.id)
    assert.equal(await jobs.expirePaymentRequests(depsOf()), 1)
    const shown = ok(await exchanges.previewReceipt(made.id, settlement('original')))
    assert.equal(shown.refund.amount_cents, 1_000)
    const settled = ok(await exchanges.receive(made.id, settlement('original')))
    assert.equal(settled.refund.amount_cents, 1_000)
    assert.equal(await store.net(order.order.id), 0)
  })

  test('is withdrawn by the merchant, once', async () => {
    const { exchanged, made } = await exchanges.asked()
    const withdrawn = ok(await exchanges.withdraw(exchanged.id))
    assert.equal(withdrawn.order.status, 'cancelled')
    assert.deepEqual(await statusOf(exchanged.id), ['cancelled', 'withdrawn'])
    assert.equal(ok(await exchanges.withdraw(exchanged.id)).already_cancelled, true)
    assert.equal((await exchanges.readReturn(made.id)).exchanges[0].amount_cents, 0)
    const paid = await exchanges.asked()
    ok(await exchanges.pay(paid.exchanged.id))
    const refused = await exchanges.withdraw(paid.exchanged.id)
    assert.deepEqual(refusal(refused), [409, 'payment_request_closed'])
    assert.deepEqual(await statusOf(paid.exchanged.id), ['placed', 'paid'])
  })

  test('a payment request that is paid and withdrawn at once ends in one of the two', async () => {
    for (let round = 0; round < 5; round++) {
      const { exchanged } = await exchanges.asked()
      const [paid, withdrawn] = await Promise.all([
        exchanges.pay(exchanged.id),
        exchanges.withdraw(exchanged.id),
      ])
      assert.notEqual(paid.status < 300, withdrawn.status < 300, `${paid.text} ${withdrawn.text}`)
      assert.equal(await paidOf(exchanged.id), paid.status < 300 ? 500 : 0)
    }
  })

  test('is sent again up to ten times, while it is open', async () => {
    const { exchanged } = await exchanges.asked()
    assert.equal(ok(await exchanges.send(exchanged.id)).payment_request.sent_count, 2)
    await store.superuser.query(`update payment_requests set sent_count = 10 where order_id = $1`, [
      exchanged.id,
    ])
    const often = await exchanges.send(exchanged.id)
    assert.deepEqual(refusal(often), [409, 'limit_reached'])
    assert.equal(often.body.limit, 'payment_request_mails')
    ok(await exchanges.pay(exchanged.id))
    assert.deepEqual(refusal(await exchanges.send(exchanged.id)), [409, 'payment_request_closed'])
    const missing = await exchanges.send(randomUUID())
    assert.deepEqual(refusal(missing), [404, 'order_not_found'])
  })

  test('holds the order of a payer under review, and refuses one who is banned', async () => {
    const { merchant } = store.shop
    const ban = (action: string) =>
      merchant.post('/v1/merchant/fraud/bans', { kind: 'customer_ref', value: 'ann', action })
    const lift = async (id: string) => ok(await merchant.post(`/v1/merchant/fraud/bans/${id}/lift`))
    const { exchanged } = await exchanges.asked()
    const blocked = ok(await ban('block'), 201).ban
    assert.deepEqual(refusal(await exchanges.pay(exchanged.id)), [403, 'fraud_rejected'])
    await lift(blocked.id)
    const reviewed = ok(await ban('review'), 201).ban
    const paid = ok(await exchanges.pay(exchanged.id))
    await lift(reviewed.id)
    assert.equal(paid.order.status, 'on_hold')
    assert.equal((await store.read(exchanged.id)).order.hold.reason, 'fraud_review')
    ok(await store.merchant(exchanged.id, 'release'))
    assert.deepEqual(await statusOf(exchanged.id), ['placed', 'paid'])
  })

  test('holds the order if a dispute that was opened meanwhile may take the rest of its money', async () => {
    const { order, exchanged } = await exchanges.asked()
    const dispute = (outcome: string) =>
      store.app.operator.post(`/v1/stores/acme/orders/${order.order.id}/dispute`, { outcome })
    const at = async (point: string) => {
      if (point === 'pay-sent') ok(await dispute('opened'))
    }
    assert.equal((await payWith({ at }, exchanged.id)).status, 200)
    const { order: held } = await store.read(exchanged.id)
    assert.deepEqual([held.status, held.hold?.reason], ['on_hold', 'dispute'])
    ok(await dispute('won'))
    assert.deepEqual(await statusOf(exchanged.id), ['placed', 'paid'])
  })

  /** An exchange whose process stops before its order is placed. */
  const stopped = async () => {
    const { exchangeOperation } = await import('../../../src/modules/checkout/exchange-money.ts')
    const { order, made } = await exchanges.returnedOf(store.shop.variants[1_000] ?? '')
    const body = {
      items: [{ variant_id: store.shop.variants[1_000] ?? '', quantity: 1 }],
      advance: true,
    }
    const claim = { operation: 'exchange', key: randomUUID(), fingerprint: Buffer.alloc(32) }
    const actor = { name: 'merchant_key:test', correlationId: null }
    const at = (reached: string) => {
      if (reached === 'exchange-begun') throw new Error('stopped')
    }
    await run(db(), claim, async (held) => {
      await assert.rejects(
        exchangeOperation.run(
          depsOf({ at }),
          db(),
          { actor, claim: held },
          {
            returnId: made.id,
            body,
          },
        ),
      )
      return { state: 'answered', status: 0, body: '' }
    })
    const waiting = (await exchanges.readReturn(made.id)).exchanges[0]
    assert.equal(waiting.status, 'waiting')
    return { order, made, waiting }
  }

  test('an exchange that was interrupted is held if a dispute was opened meanwhile', async () => {
    const { order, waiting } = await stopped()
    const dispute = (outcome: string) =>
      store.app.operator.post(`/v1/stores/acme/orders/${order.order.id}/dispute`, { outcome })
    ok(await dispute('opened'))
    await reconcile()
    const { order: held } = await store.read(waiting.order_id)
    assert.deepEqual([held.status, held.hold?.reason], ['on_hold', 'dispute'])
    ok(await dispute('won'))
    assert.equal((await store.read(waiting.order_id)).order.status, 'placed')
  })

  test('an exchange that was interrupted is continued', async () => {
    const { order, made, waiting } = await stopped()
    await reconcile()
    assert.equal((await exchanges.readReturn(made.id)).exchanges[0].status, 'placed')
    assert.equal((await store.read(waiting.order_id)).order.status, 'placed')
    assert.equal((await store.read(order.order.id)).order.refunded_cents, 1_000)
  })
})
