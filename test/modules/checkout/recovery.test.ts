import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { systemClock } from '../../../src/kernel/clock.ts'
import { refused } from '../../../src/modules/payments/adapters/results.ts'
import { readCard } from '../../../src/modules/payments/card.ts'
import { DUE_NOW } from '../../harness/operations.ts'
import {
  APPROVED,
  addVariant,
  type CheckoutApp,
  cart,
  checkout,
  DECLINED,
  enable,
  type GatewayOverride,
  giveCredit,
  issueGiftCard,
  LOST_AFTER_CHARGE,
  LOST_BEFORE_CHARGE,
  openCheckoutApp,
  openShop,
  type Shop,
  stock,
} from './setup.ts'

const STEPS = [
  'claimed',
  'priced',
  'checkout-begun',
  'authorize-sent',
  'authorized',
  'captured',
  'checkout-ended',
] as const

const orderOf = async ({ superuser }: CheckoutApp, { tenant }: Shop, key: string) => {
  const { rows } = await superuser.query(
    `select id, status, payment_status, captured_cents, total_cents, payment_failure
       from orders where tenant_ref = $1 and idempotency_key = $2`,
    [tenant, key],
  )
  assert.ok(rows.length <= 1)
  return rows[0] ?? null
}

const journalOf = async (app: CheckoutApp, { tenant }: Shop, ref: string) => {
  const { rows } = await app.superuser.query(
    `select j.kind from sim_journal j join charges c on c.charge_id = j.ref
      where j.tenant_ref = $1 and c.order_id = $2 order by j.created_at`,
    [tenant, ref],
  )
  return rows.map(({ kind }) => kind)
}

test('an interrupted checkout', async (t) => {
  const app = await openCheckoutApp(t)
  const shop = await openShop(app, 'acme', [1_000])
  await enable(shop.merchant, 'gift_cards', 'store_credit')
  await giveCredit(shop.merchant, 'ann', 100_000)
  const counted = await addVariant(shop.merchant, 2_500)
  await stock(shop.merchant, counted, 1_000)
  const coupon = await shop.merchant.post('/v1/merchant/marketing/coupons', {
    code: 'TEN',
    type: 'percent',
    percent_bps: 1_000,
  })
  assert.equal(coupon.status, 201, coupon.text)

  const byCard = cart(counted, { coupon_code: 'TEN' })
  const byCredit = { ...cart(counted, { apply_store_credit: true }), card: null }
  /** A cart paid by some store credit, some of a gift card, and a card for the rest. */
  const byAll = async () => {
    const customer_ref = randomUUID()
    await giveCredit(shop.merchant, customer_ref, 300)
    const { code } = await issueGiftCard(shop.merchant, 400)
    const tenders = { apply_store_credit: true, gift_card_code: code }
    return cart(counted, { customer_ref, coupon_code: 'TEN', ...tenders })
  }

  for (const step of STEPS) {
    for (const how of ['byCard', 'byAll', 'byCredit'] as const) {
      if (how === 'byCredit' && ['authorize-sent', 'authorized', 'captured'].includes(step))
        continue
      await t.test(`is resumed by the worker after a crash when ${step}, paid ${how}`, async () => {
        const body = how === 'byAll' ? await byAll() : { byCard, byCredit }[how]
        const key = randomUUID()
        await app.crash(shop, body, step, key)
        await app.expireClaims()
        app.clock.advance(10_000)
        await app.reconcile()
        app.clock.reset()
        const order = await orderOf(app, shop, key)
        if (step === 'claimed' || step === 'priced') {
          assert.equal(order, null)
          assert.equal((await checkout(app, shop, body, key)).status, 201, 'the key is free')
        } else {
          const isLost =
            how !== 'byCredit' && (step === 'checkout-begun' || step === 'authorize-sent')
          assert.equal(order.status, isLost ? 'payment_failed' : 'placed')
          const again = await checkout(app, shop, body, key)
          assert.equal(again.status, isLost ? 402 : 201, again.text)
          assert.equal(again.headers['idempotent-replayed'], 'true')
          if (!isLost) assert.equal(again.body.order.id, order.id)
          if (!isLost && how !== 'byCredit')
            assert.deepEqual(await journalOf(app, shop, order.id), ['authorize', 'capture'])
        }
        await app.assertAddsUp()
      })
    }
  }

  for (const how of ['captured', 'authorised']) {
    await t.test(`answers its slow caller with the worker's outcome, once ${how}`, async () => {
      const key = randomUUID()
      const overtake = async () => {
        await app.expireClaims()
        assert.equal(await app.reconcile(), 1)
      }
      const reply = await app.place(shop, byCard, key, {
        gateway: (real) => ({
          async authorize(what) {
            const answer = await real.authorize(what)
            if (how === 'authorised') await overtake()
            return answer
          },
          async capture(what) {
            const answer = await real.capture(what)
            if (how === 'captured') await overtake()
            return answer
          },
        }),
      })
      const order = await orderOf(app, shop, key)
      assert.deepEqual([reply.status, reply.headers['idempotent-replayed']], [201, 'true'])
      assert.equal(JSON.parse(reply.body).order.id, order.id)
      assert.equal(order.status, 'placed')
      assert.deepEqual(await journalOf(app, shop, order.id), ['authorize', 'capture'])
      await app.assertAddsUp()
    })
  }

  await t.test("keeps the worker's capture if the slow caller's capture is refused", async () => {
    const key = randomUUID()
    const reply = await app.place(shop, byCard, key, {
      gateway: (real) => ({
        // Like a gateway that captures once: the second capture is refused.
        async capture(what) {
          await app.expireClaims()
          assert.equal(await app.reconcile(), 1)
          await real.capture(what)
          return refused('invalid_state')
        },
      }),
    })
    assert.deepEqual([reply.status, reply.headers['idempotent-replayed']], [201, 'true'])
    const order = await orderOf(app, shop, key)
    assert.equal(order.status, 'placed')
    assert.deepEqual(await journalOf(app, shop, order.id), ['authorize', 'capture'])
    await app.assertAddsUp()
  })

  for (const point of ['claimed', 'priced']) {
    await t.test(`makes one order, even if the database lost its key when ${point}`, async () => {
      const key = randomUUID()
      // The commit of a key does not wait for the disk: a crashed server may have lost the last
      // ones.
      let crashes = 1
      const at = async (reached: string) => {
        if (reached !== point || crashes-- !== 1) return
        await app.superuser.query('delete from idempotency_keys where key = $1', [key])
      }
      const body = cart(shop.variants[1_000])
      assert.equal((await app.place(shop, body, key, { at })).status, 201)
      const again = await checkout(app, shop, body, key)
      assert.deepEqual([again.status, again.headers['idempotent-replayed']], [201, 'true'])
      await app.assertAddsUp()
    })
  }

  await t.test('is also resumed by the same key', async () => {
    const key = randomUUID()
    await app.crash(shop, byCard, 'authorized', key)
    await app.expireClaims()
    const answer = await checkout(app, shop, byCard, key)
    assert.equal(answer.status, 201, answer.text)
    assert.equal(answer.headers['idempotent-replayed'], undefined)
    assert.equal((await checkout(app, shop, byCard, key)).text, answer.text)
    await app.assertAddsUp()
  })

  await t.test('ends once, however many processes resume it', async () => {
    const key = randomUUID()
    await app.crash(shop, byCard, 'authorized', key)
    await app.expireClaims()
    const answers = await Promise.all([
      ...Array.from({ length: 4 }, () => checkout(app, shop, byCard, key)),
      ...Array.from({ length: 4 }, () => app.reconcile()),
    ])
    const statuses = answers.flatMap((each) => (typeof each === 'number' ? [] : [each.status]))
    assert.deepEqual([...new Set(statuses)], [201])
    const order = await orderOf(app, shop, key)
    assert.deepEqual(await journalOf(app, shop, order.id), ['authorize', 'capture'])
    await app.assertAddsUp()
  })

  await t.test(
    'a checkout that was charged without an answer is 503, then 409, and after ten seconds the order is placed',
    async () => {
      const key = randomUUID()
      const body = { ...byCard, card: LOST_AFTER_CHARGE }
      const first = await checkout(app, shop, body, key)
      assert.equal(first.status, 503, first.text)
      assert.equal(first.body.error.code, 'payment_unconfirmed')
      const order = await orderOf(app, shop, key)
      assert.deepEqual([order.status, order.payment_status], ['pending_payment', 'unknown'])
      assert.equal(first.body.order.id, order.id)
      assert.equal(first.body.order.status, 'pending_payment')
      await app.expireClaims()
      assert.equal(await app.reconcile(), 1)
      const answer = await checkout(app, shop, body, key)
      assert.equal(answer.status, 201, answer.text)
      assert.equal(answer.body.order.id, order.id)
      await app.assertAddsUp()
    },
  )

  await t.test(
    'a checkout that was never charged is 503, 409 while unknown, then 402 with nothing reserved',
    async () => {
      const key = randomUUID()
      const body = { ...(await byAll()), card: LOST_BEFORE_CHARGE }
      const unknown = await checkout(app, shop, body, key)
      assert.deepEqual([unknown.status, unknown.headers['retry-after']], [503, '10'])
      await app.expireClaims()
      const early = await checkout(app, shop, body, key)
      assert.equal(early.status, 409, 'ten seconds are not over')
      assert.equal(early.body.error.code, 'idempotency_in_progress')
      assert.equal(early.headers['retry-after'], '2')
      app.clock.advance(10_000)
      await app.expireClaims()
      await app.reconcile()
      const answer = await checkout(app, shop, body, key)
      assert.equal(answer.status, 402, answer.text)
      assert.deepEqual(answer.body.decline, { reason: 'processing_error', retryable: true })
      assert.match(answer.body.error.message, /No bank declined it, and it is not charged/)
      assert.equal(answer.body.order.status, 'payment_failed')
      const again = await checkout(app, shop, body, key)
      assert.equal(again.text, answer.text)
      assert.equal(answer.body.error.correlationId, undefined, 'the worker has no request to name')
      const [one, other] = [answer, again].map(({ headers }) => headers['x-correlation-id'])
      assert.ok(one && other && one !== other)
      await app.assertAddsUp()
    },
  )

  await t.test(
    'a late approval of a failed order is voided with an alert, and the order stays failed',
    async () => {
      const key = randomUUID()
      await app.crash(shop, byCard, 'authorize-sent', key)
      app.clock.advance(10_000)
      await app.expireClaims()
      await app.reconcile()
      const order = await orderOf(app, shop, key)
      assert.equal(order.status, 'payment_failed')
      assert.ok((await app.watchLate()) > 0, 'another lookup is due')
      assert.equal(app.alerts.length, 0)
      const db = app.runtime.database.tenant(shop.tenant)
      const gateway = await app.runtime.payments.forStore(db)
      const { rows } = await app.superuser.query(
        `select id, amount_cents from payment_attempts where order_id = $1`,
        [order.id],
      )
      const late = await gateway.sale({
        ref: rows[0].id,
        amount_cents: rows[0].amount_cents * 1,
        currency: 'USD',
        source: { card: readCard(APPROVED, systemClock) },
        order_id: order.id,
      })
      assert.equal(late.outcome, 'approved')
      await app.superuser.query(`update payment_attempts set next_check_at = now() where id = $1`, [
        rows[0].id,
      ])
      const refusing = { gateway: () => ({ void: async () => refused('invalid_state') }) }
      const newAlerts = async () => {
        await app.watchLate(refusing)
        return app.alerts.splice(0).map(({ message }) => message)
      }
      const [alert, ...others] = await newAlerts()
      assert.match(alert ?? '', /could not be reversed/)
      assert.deepEqual(others, [])
      for (let n = 0; n < 3; n++) assert.deepEqual(await newAlerts(), [], 'one alert')
      const yesterday = `update payment_attempts set alerted_at = now() - interval '1 day' where id = $1`
      await app.superuser.query(yesterday, [rows[0].id])
      assert.deepEqual(
        [await newAlerts(), await newAlerts()],
        [[alert], []],
        'and once a day after that',
      )
      const setLease = (token: string) =>
        app.superuser.query(`update payment_attempts set lease_token = ${token} where id = $1`, [
          rows[0].id,
        ])
      let reversals = 0
      await app.watchLate({
        gateway: (real) => ({
          lookup: async (request) => {
            const found = await real.lookup(request)
            await setLease('gen_random_uuid()')
            return found
          },
          void: (request) => {
            reversals++
            return real.void(request)
          },
        }),
      })
      assert.equal(reversals, 0, 'a process that another one has overtaken reverses nothing')
      await setLease('null, lease_until = null')
      await app.watchLate()
      assert.deepEqual(
        app.alerts.map(({ order_id }) => order_id),
        [order.id],
      )
      assert.equal((await orderOf(app, shop, key)).status, 'payment_failed')
      assert.equal((await gateway.lookup({ ref: rows[0].id })).state, 'voided')
      assert.equal((await checkout(app, shop, byCard, key)).status, 402)
      await app.watchLate()
      assert.equal(app.alerts.length, 1, 'one alert')
      await app.assertAddsUp()
    },
  )

  await t.test('a decline is answered as a decline, and releases everything', async () => {
    const answer = await checkout(app, shop, { ...(await byAll()), card: DECLINED })
    assert.equal(answer.status, 402)
    assert.deepEqual(answer.body.decline, { reason: 'card_declined', retryable: true })
    await app.assertAddsUp()
  })

  await t.test('an error of our own is an alert, and the operation stays open', async () => {
    const key = randomUUID()
    await app.crash(shop, byCard, 'authorized', key)
    await app.superuser.query(
      `update idempotency_keys set resource_id = gen_random_uuid(), ${DUE_NOW} where key = $1`,
      [key],
    )
    const before = app.alerts.length
    await app.reconcile()
    assert.equal(app.alerts.length, before + 1)
    assert.equal(await app.reconcile(), 0, 'not due again at once')
    for (let minutes = 0; minutes < 3; minutes++) {
      await app.expireClaims()
      assert.equal(await app.reconcile(), 1)
    }
    assert.equal(app.alerts.length, before + 1, 'one alert')
    const yesterday = `update idempotency_keys set alerted_at = now() - interval '1 day' where key = $1`
    await app.superuser.query(yesterday, [key])
    for (let minutes = 0; minutes < 2; minutes++) {
      await app.expireClaims()
      assert.equal(await app.reconcile(), 1)
    }
    assert.equal(app.alerts.length, before + 2, 'and once a day after that')
    await app.superuser.query(
      `update idempotency_keys k set resource_id = o.id, ${DUE_NOW} from orders o where k.key = $1 and o.idempotency_key = k.key`,
      [key],
    )
    await app.reconcile()
    assert.equal((await orderOf(app, shop, key)).status, 'placed')
    await app.assertAddsUp()
  })

  await t.test(
    'a late approval that cannot be looked up raises one alert, and delays no other',
    async () => {
      const giveUp = async () => {
        const key = randomUUID()
        await app.crash(shop, byCard, 'authorize-sent', key)
        await app.expireClaims()
        app.clock.advance(11_000)
        await app.reconcile()
        app.clock.reset()
        const { id, status } = await orderOf(app, shop, key)
        assert.equal(status, 'payment_failed')
        return id as string
      }
      const [stuck, other] = [await giveUp(), await giveUp()]
      const checks = async (id: string) => {
        const { rows } = await app.superuser.query(
          `select checks, lease_token from payment_attempts where order_id = $1`,
          [id],
        )
        return rows[0]
      }
      const { rows } = await app.superuser.query(
        'select id from payment_attempts where order_id = $1',
        [stuck],
      )
      const gateway: GatewayOverride = (real) => ({
        lookup: (what) => {
          if ('ref' in what && what.ref === rows[0].id) throw new Error('the key is another one')
          return real.lookup(what)
        },
      })
      app.alerts.length = 0
      for (let looks = 0; looks < 3; looks++) await app.watchLate({ gateway })
      const alerted = app.alerts.map(({ order_id }) => order_id)
      assert.deepEqual(alerted, [stuck])
      assert.deepEqual(await checks(stuck), { checks: 3, lease_token: null })
      assert.ok((await checks(other)).checks > 0)
      await app.watchLate()
      assert.equal(app.alerts.length, 1)
      await app.assertAddsUp()
    },
  )
})
