import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { type OvertakeApp, REVIEWED, shareOvertakeApp } from './overtaken-setup.ts'
import { cart, checkout, enable, giveCredit } from './setup.ts'

const shared = shareOvertakeApp()
let app: OvertakeApp
before(() => {
  app = shared.current
})

const orderOf = async (key: string) => {
  const { rows } = await app.superuser.query(
    'select id, status from orders where idempotency_key = $1',
    [key],
  )
  return rows[0] as { id: string; status: string }
}

const journalOf = async ({ id }: { id: string }) => {
  const { rows } = await app.superuser.query(
    `select j.kind from sim_journal j join payment_attempts a on a.id = j.ref
      where a.order_id = $1 order by j.created_at`,
    [id],
  )
  return rows.map(({ kind }) => kind)
}

describe('an overtaken process', () => {
  for (const [point, by] of [
    ['claimed', 'the worker'],
    ['claimed', 'the same key'],
    ['priced', 'the worker'],
  ] as const) {
    test(`overtaken by ${by} before it began makes one order, paused at ${point}`, async () => {
      const key = randomUUID()
      const body = cart(app.counted)
      let isPaused = false
      const at = async (reached: string) => {
        if (reached !== point || isPaused) return
        isPaused = true
        if (by === 'the worker') return app.overtake()
        await app.expireClaims()
        assert.equal((await checkout(app, app.shop, body, key)).status, 201)
      }
      const reply = await app.place(app.shop, body, key, { at })
      assert.equal(reply.status, 201, reply.body)
      const order = await orderOf(key)
      assert.equal(JSON.parse(reply.body).order.id, order.id)
      assert.deepEqual(await journalOf(order), ['authorize', 'capture'])
      await app.assertAddsUp()
    })
  }

  for (const point of ['checkout-begun', 'authorize-sent']) {
    test(`charges nothing for an order that has failed, paused at ${point}`, async () => {
      const key = randomUUID()
      const at = async (reached: string) => {
        if (reached === point) await app.overtake()
      }
      const reply = await app.place(app.shop, cart(app.counted), key, { at })
      assert.deepEqual([reply.status, reply.headers['idempotent-replayed']], [402, 'true'])
      const order = await orderOf(key)
      assert.equal(order.status, 'payment_failed')
      assert.deepEqual(await journalOf(order), [])
      await app.assertAddsUp()
    })
  }

  test('captures no payment that was authorised too late, and voids the authorisation', async () => {
    const key = randomUUID()
    const reply = await app.place(app.shop, cart(app.counted), key, {
      gateway: (real) => ({
        async authorize(what) {
          await app.overtake()
          return real.authorize(what)
        },
      }),
    })
    assert.deepEqual([reply.status, reply.headers['idempotent-replayed']], [402, 'true'])
    const order = await orderOf(key)
    await app.watchLate()
    assert.deepEqual(await journalOf(order), ['authorize', 'void'])
    assert.equal(app.alerts[0]?.order_id, order.id)
    await app.assertAddsUp()
  })

  test('does not void the authorisation of a held order, whatever its own result', async () => {
    const key = randomUUID()
    const reply = await app.place(app.shop, cart(app.counted, REVIEWED), key, {
      gateway: (real) => ({
        async authorize(what) {
          const answer = await real.authorize(what)
          await app.overtake()
          return { ...answer, avs: 'N', cvv: 'N', fraud_signal: true }
        },
      }),
    })
    assert.deepEqual([reply.status, reply.headers['idempotent-replayed']], [202, 'true'])
    assert.deepEqual(await journalOf(await orderOf(key)), ['authorize'])
    await app.assertAddsUp()
  })

  test('answers that other tenders have paid the order', async () => {
    await enable(app.shop.merchant, 'store_credit')
    await giveCredit(app.shop.merchant, 'rich', 5_000)
    const body = cart(app.counted, { customer_ref: 'rich', apply_store_credit: true, card: null })
    const at = async (reached: string) => {
      if (reached === 'checkout-begun') await app.overtake()
    }
    const reply = await app.place(app.shop, body, randomUUID(), { at })
    assert.deepEqual([reply.status, reply.headers['idempotent-replayed']], [201, 'true'])
    await app.assertAddsUp()
  })

  test('a worker that is overtaken by a worker raises no alert', async () => {
    const key = randomUUID()
    await app.crash(app.shop, cart(app.counted), 'authorized', key)
    await app.expireClaims()
    const slow = app.reconcile({
      gateway: (real) => ({
        async capture(what) {
          const answer = await real.capture(what)
          await app.overtake()
          return answer
        },
      }),
    })
    assert.equal(await slow, 1)
    assert.deepEqual(app.alerts, [])
    assert.deepEqual(await journalOf(await orderOf(key)), ['authorize', 'capture'])
    await app.assertAddsUp()
  })

  test('an overtaken process that watches late approvals still reports what it has reversed', async () => {
    const key = randomUUID()
    await app.place(app.shop, cart(app.counted), key, {
      gateway: (real) => ({
        async authorize(what) {
          await app.overtake()
          return real.authorize(what)
        },
      }),
    })
    const order = await orderOf(key)
    const slow = app.watchLate({
      gateway: (real) => ({
        async void(what) {
          const answer = await real.void(what)
          await app.superuser.query(
            'update payment_attempts set lease_until = now() where lease_until is not null',
          )
          await app.watchLate()
          return answer
        },
      }),
    })
    await slow
    assert.deepEqual(
      app.alerts.map(({ order_id }) => order_id),
      [order.id],
    )
    const { body } = await app.shop.merchant.get(`/v1/merchant/orders/${order.id}`)
    assert.equal(body.timeline.at(-1).type, 'late_approval_returned')
    assert.deepEqual(await journalOf(order), ['authorize', 'void'])
    await app.assertAddsUp()
  })
})
