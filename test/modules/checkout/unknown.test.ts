import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { DAY_MS } from '../../../src/kernel/time.ts'
import type { Gateway } from '../../../src/modules/payments/adapters/gateway.ts'
import { notSent, refused, unknownResult } from '../../../src/modules/payments/adapters/results.ts'
import type { GatewayResult } from '../../../src/modules/payments/adapters/schema.ts'
import {
  addVariant,
  cart,
  checkout,
  enable,
  type GatewayOverride,
  giveCredit,
  type Overrides,
  openCheckoutApp,
  openShop,
  stock,
} from './setup.ts'

type Verb = 'capture' | 'void'

/** A gateway that does not answer one call: `after` it carried it out, or `before` it got it. */
const silent =
  (verb: Verb, when: 'after' | 'before'): GatewayOverride =>
  (real: Gateway) => {
    const withoutAnswer = async (work: () => Promise<GatewayResult>) => {
      if (when === 'after') await work()
      return unknownResult()
    }
    return verb === 'capture'
      ? { capture: (what) => withoutAnswer(() => real.capture(what)) }
      : { void: (what) => withoutAnswer(() => real.void(what)) }
  }

/** A shopper under review, whose address and CVV do not match. */
const MISMATCH = {
  email: 'review@example.com',
  shipping_address: {
    label: 'Ann',
    line1: '1 Main St',
    city: 'Springfield',
    state: 'IL',
    postal_code: '62704',
    country: 'US',
  },
  card: { ccnumber: '4111111111111111', ccexp: '10/40', cvv: '111' },
}

/** With the velocity limit reached, the score of such a shopper is a rejection. */
const SUSPECT: Overrides = { velocityLimit: 1 }

test('without an answer of the gateway', async (t) => {
  const app = await openCheckoutApp(t)
  const shop = await openShop(app)
  const { merchant } = shop
  await enable(merchant, 'store_credit')
  const counted = await addVariant(merchant, 2_000)
  await stock(merchant, counted, 100)
  const ban = { kind: 'email', value: 'review@example.com', action: 'review' }
  assert.equal((await merchant.post('/v1/merchant/fraud/bans', ban)).status, 201)
  const orderOf = async (key: string) => {
    const { rows } = await app.superuser.query(
      `select id, status, payment_status, payment_failure from orders where idempotency_key = $1`,
      [key],
    )
    return rows[0]
  }
  /** The gateway's own journal of an order's card. */
  const journalOf = async (id: string) => {
    const { rows } = await app.superuser.query(
      `select j.kind from sim_journal j
         join sim_charges s on s.tenant_ref = j.tenant_ref and s.txn_id = j.txn_id
         join payment_attempts a on a.tenant_ref = s.tenant_ref and a.id = s.ref
        where a.order_id = $1 order by j.created_at`,
      [id],
    )
    return rows.map(({ kind }) => kind)
  }
  const attemptOf = async (id: string, kind: string) => {
    const { rows } = await app.superuser.query(
      `select state from payment_attempts where order_id = $1 and kind = $2`,
      [id, kind],
    )
    return rows[0].state
  }
  /** A cart of a new shopper, so that the attempts of one test do not count in another. */
  const suspect = async () => {
    const customer_ref = randomUUID()
    await giveCredit(merchant, customer_ref, 300)
    return cart(counted, { ...MISMATCH, customer_ref, apply_store_credit: true })
  }
  const fresh = () => app.superuser.query('delete from limit_counters')
  t.beforeEach(fresh)
  t.afterEach(() => app.assertAddsUp())

  await t.test(
    'a rejection by the fraud check remains after a crash, and holds no money',
    async () => {
      const key = randomUUID()
      const body = await suspect()
      await app.crash(shop, body, 'voided', key, SUSPECT)
      assert.equal((await orderOf(key)).status, 'pending_payment')
      await app.expireClaims()
      assert.equal(await app.reconcile(), 1)
      const order = await orderOf(key)
      assert.deepEqual([order.status, order.payment_failure], ['payment_failed', 'fraud'])
      assert.deepEqual(await journalOf(order.id), ['authorize', 'void'])
      const answer = await checkout(app, shop, body, key)
      assert.deepEqual([answer.status, answer.body.error.code], [403, 'fraud_rejected'])
      assert.equal(answer.headers['idempotent-replayed'], 'true')
    },
  )

  await t.test(
    'a rejection by the fraud check ends when its authorisation has lapsed, if the void is refused',
    async () => {
      const key = randomUUID()
      const body = await suspect()
      const gateway: GatewayOverride = () => ({ void: async () => refused('invalid_state') })
      await assert.rejects(app.place(shop, body, key, { ...SUSPECT, gateway }), {
        code: 'payment_unconfirmed',
      })
      const askAfter = async (days: number, override: GatewayOverride) => {
        app.clock.advance(days * DAY_MS)
        await app.expireClaims()
        assert.equal(await app.reconcile({ gateway: override }), 1)
        app.clock.reset()
        return (await orderOf(key)).status
      }
      assert.equal(await askAfter(6.9, gateway), 'pending_payment', 'it is held still')
      const away: GatewayOverride = () => ({ void: async () => notSent() })
      assert.equal(await askAfter(7.1, away), 'pending_payment', 'the gateway has not answered')
      assert.equal(await askAfter(7.1, gateway), 'payment_failed')
      const answer = await checkout(app, shop, body, key)
      assert.deepEqual([answer.status, answer.body.error.code], [403, 'fraud_rejected'])
      const { txn_id } = (
        await app.superuser.query('select txn_id from sim_charges order by created_at desc limit 1')
      ).rows[0]
      const real = await app.runtime.payments.forStore(app.runtime.database.tenant('acme'))
      assert.equal((await real.void({ txn_id })).outcome, 'approved', 'the real gateway voids')
    },
  )

  for (const when of ['before', 'after'] as const) {
    await t.test(
      `a rejection whose void has no answer, lost ${when} it was made, ends as a rejection`,
      async () => {
        const key = randomUUID()
        const body = await suspect()
        const gateway = silent('void', when)
        await assert.rejects(app.place(shop, body, key, { ...SUSPECT, gateway }), {
          code: 'payment_unconfirmed',
        })
        const waiting = await orderOf(key)
        assert.deepEqual(
          [waiting.status, waiting.payment_status, await attemptOf(waiting.id, 'checkout')],
          ['pending_payment', 'unknown', 'unknown'],
        )
        if (when === 'before') {
          await app.expireClaims()
          assert.equal(await app.reconcile({ gateway }), 1)
          assert.equal((await orderOf(key)).payment_status, 'unknown', 'still unknown')
          assert.equal(await app.reconcile(), 0, 'not due again at once')
        }
        await app.expireClaims()
        assert.equal(await app.reconcile(), 1)
        const order = await orderOf(key)
        assert.deepEqual([order.status, order.payment_failure], ['payment_failed', 'fraud'])
        assert.deepEqual(await journalOf(order.id), ['authorize', 'void'])
        assert.equal((await checkout(app, shop, body, key)).status, 403)
      },
    )

    await t.test(
      `a capture without an answer, lost ${when} it was made, is looked up`,
      async () => {
        const key = randomUUID()
        const body = cart(counted)
        const gateway = silent('capture', when)
        await assert.rejects(app.place(shop, body, key, { gateway }), {
          code: 'payment_unconfirmed',
        })
        const waiting = await orderOf(key)
        assert.deepEqual(
          [waiting.status, waiting.payment_status, await attemptOf(waiting.id, 'checkout')],
          ['pending_payment', 'unknown', 'unknown'],
        )
        if (when === 'before') {
          await app.expireClaims()
          assert.equal(await app.reconcile({ gateway }), 1)
          assert.equal((await orderOf(key)).payment_status, 'unknown', 'still unknown')
        }
        await app.expireClaims()
        assert.equal(await app.reconcile(), 1)
        const order = await orderOf(key)
        assert.deepEqual([order.status, order.payment_status], ['placed', 'paid'])
        assert.deepEqual(await journalOf(order.id), ['authorize', 'capture'])
        assert.equal((await checkout(app, shop, body, key)).status, 201)
      },
    )

    await t.test(
      `a release without an answer, lost ${when} it was made, is resumed and ends`,
      async () => {
        const email = 'review@example.com'
        const held = await checkout(app, shop, cart(counted, { email, customer_ref: randomUUID() }))
        assert.equal(held.status, 202, held.text)
        const { id } = held.body.order
        const gateway = silent('capture', when)
        const key = randomUUID()
        await assert.rejects(app.release(shop, id, key, { gateway }), {
          code: 'payment_unconfirmed',
        })
        const read = async () => (await merchant.get(`/v1/merchant/orders/${id}`)).body
        assert.equal((await read()).order.status, 'on_hold')
        assert.equal(await attemptOf(id, 'release'), 'unknown')
        const rejected = await merchant.post(
          `/v1/merchant/fraud/reviews/${id}/reject`,
          {},
          { 'idempotency-key': randomUUID() },
        )
        assert.equal(rejected.body.error.code, 'order_busy', 'no other change is allowed meanwhile')
        if (when === 'before') {
          await app.expireClaims()
          assert.equal(await app.reconcile({ gateway }), 1)
          assert.equal((await read()).order.status, 'on_hold')
          assert.equal(await app.reconcile(), 0, 'not due again at once')
        }
        await app.expireClaims()
        assert.equal(await app.reconcile(), 1)
        const { order } = await read()
        assert.deepEqual([order.status, order.payment_status, order.hold], ['placed', 'paid', null])
        assert.deepEqual(await journalOf(id), ['authorize', 'capture'])
        assert.equal(await attemptOf(id, 'release'), 'approved')
        assert.equal((await app.release(shop, id, key, {})).status, 200)
      },
    )

    await t.test(
      `a cancelled hold whose void has no answer, lost ${when} it was made, ends`,
      async () => {
        const email = 'review@example.com'
        const held = await checkout(app, shop, cart(counted, { email, customer_ref: randomUUID() }))
        const { id } = held.body.order
        const gateway = silent('void', when)
        // An order that could not be cancelled is due again later.
        const expire = async (override?: Overrides) => {
          const due = `update charges set authorized_until = now() where order_id = $1`
          await app.superuser.query(due, [id])
          await app.expireClaims()
          return app.expire(override)
        }
        assert.equal(await expire({ gateway }), when === 'before' ? 0 : 1)
        if (when === 'before') {
          assert.equal(await attemptOf(id, 'void'), 'unknown')
          assert.equal(await expire({ gateway }), 0, 'still unknown')
          assert.equal(await app.expire(), 0, 'it is due again later')
          assert.equal(await expire(), 1)
        }
        const { order } = (await merchant.get(`/v1/merchant/orders/${id}`)).body
        assert.deepEqual([order.status, order.payment_status], ['cancelled', 'voided'])
        assert.deepEqual(await journalOf(id), ['authorize', 'void'])
        assert.equal(await attemptOf(id, 'void'), 'approved')
      },
    )
  }

  await t.test('a capture is not sent once a void may be in transit', async () => {
    const key = randomUUID()
    const onTheirWay: (() => Promise<unknown>)[] = []
    const gateway: GatewayOverride = (real) => ({
      capture: async () => ({ ...unknownResult(), outcome: 'error', reason: 'processing_error' }),
      async void(what) {
        onTheirWay.push(() => real.void(what))
        return unknownResult()
      },
    })
    await assert.rejects(app.place(shop, cart(counted), key, { gateway }), {
      code: 'payment_unconfirmed',
    })
    assert.equal((await orderOf(key)).payment_status, 'unknown')
    await app.expireClaims()
    await app.reconcile({ gateway })
    assert.equal((await orderOf(key)).status, 'pending_payment')
    await app.expireClaims()
    await app.reconcile()
    for (const arrive of onTheirWay) await arrive()
    const order = await orderOf(key)
    assert.deepEqual([order.status, order.payment_failure], ['payment_failed', 'processing_error'])
    assert.deepEqual(await journalOf(order.id), ['authorize', 'void'])
    assert.equal((await checkout(app, shop, cart(counted), key)).status, 402)
  })

  await t.test(
    'a capture is not sent by the process that resumes after a crash at the void',
    async () => {
      const key = randomUUID()
      const onTheirWay: (() => Promise<unknown>)[] = []
      const gateway: GatewayOverride = (real) => ({
        capture: async () => ({ ...unknownResult(), outcome: 'error', reason: 'processing_error' }),
        async void(what) {
          onTheirWay.push(() => real.void(what))
          return { ...unknownResult(), outcome: 'approved' }
        },
      })
      await app.crash(shop, cart(counted), 'voided', key, { gateway })
      await app.expireClaims()
      await app.reconcile()
      for (const arrive of onTheirWay) await arrive()
      const order = await orderOf(key)
      assert.deepEqual(
        [order.status, order.payment_failure],
        ['payment_failed', 'processing_error'],
      )
      assert.deepEqual(await journalOf(order.id), ['authorize', 'void'])
      assert.equal((await checkout(app, shop, cart(counted), key)).status, 402)
    },
  )

  await t.test('the bank’s warning of a stolen card counts after a resume, too', async () => {
    const key = randomUUID()
    const body = { ...(await suspect()), card: { ...MISMATCH.card, cvv: '999' } }
    await app.crash(shop, body, 'authorized', key)
    // No simulated card is approved with a warning, as banks do.
    const gateway: GatewayOverride = (real) => ({
      lookup: async (what) => ({ ...(await real.lookup(what)), code: '250' }),
    })
    await app.expireClaims()
    await app.reconcile({ gateway })
    const order = await orderOf(key)
    assert.deepEqual([order.status, order.payment_failure], ['payment_failed', 'fraud'])
    const { body: log } = await merchant.get(`/v1/merchant/fraud/decisions?order_id=${order.id}`)
    assert.deepEqual(
      log.decisions[0].signals.map(({ signal }: { signal: string }) => signal),
      ['ban', 'avs', 'fraud_signal'],
    )
  })
})
