import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { unknownResult, unreachable } from '../../../src/modules/payments/adapters/results.ts'
import { OPERATOR_REASON, openResolveApp, txnOf, unanswered } from './decide-payment-setup.ts'
import { APPROVED, addVariant, cart, checkout, openShop, stock } from './setup.ts'

test('a change of an order that its gateway never answers', async (t) => {
  const app = await openResolveApp(t)
  const shop = await openShop(app)
  const { merchant } = shop
  const counted = await addVariant(merchant, 2_000)
  await stock(merchant, counted, 100)
  const ban = { kind: 'email', value: 'review@example.com', action: 'review' }
  assert.equal((await merchant.post('/v1/merchant/fraud/bans', ban)).status, 201)
  t.afterEach(async () => {
    app.useGateway(null)
    await app.assertAddsUp()
  })

  const place = async (more: object = {}) => {
    const answer = await checkout(app, shop, cart(counted, { customer_ref: randomUUID(), ...more }))
    assert.ok(answer.status < 300, answer.text)
    return answer.body.order.id as string
  }
  const placeHeld = () => place({ email: ban.value })
  /** Begins a change that stays open, since the gateway does not answer. Returns its key. */
  const begin = async (id: string, verb: string, body: object = {}, key: string = randomUUID()) => {
    const url = `/v1/merchant/orders/${id}/${verb}`
    const answer = await merchant.post(url, body, { 'idempotency-key': key })
    assert.equal(answer.body.error.code, 'payment_unconfirmed', answer.text)
    return key
  }
  const read = async (id: string) => (await merchant.get(`/v1/merchant/orders/${id}`)).body
  const statusOfKey = async (operation: string, key: string) =>
    (await merchant.get(`/v1/merchant/idempotency/${operation}/${key}`)).body.status
  const approvalOf = async (attempt: string, txn_id: string) => {
    const { amount_cents } = await app.attempt(attempt)
    return { ...OPERATOR_REASON, outcome: 'approved', txn_id, amount_cents }
  }
  const chargeTxn = async (id: string) => {
    const { rows } = await app.superuser.query(
      `select txn_id from charges where order_id = $1 and txn_id is not null order by created_at`,
      [id],
    )
    return rows.map(({ txn_id }) => txn_id as string)
  }
  const resolved = async (attempt: string, decision: object) => {
    const answer = await app.resolve(attempt, decision)
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.body.decided_by, 'operator')
    return answer.body
  }

  await t.test('a refund counts as the operator decided', async () => {
    const id = await place()
    app.useGateway(unanswered('done', 'refund'))
    const key = await begin(id, 'refunds', { amount_cents: 500 })
    const attempt = await app.agedAttempt(id, 'refund')
    await resolved(attempt, await approvalOf(attempt, 'refund-1'))
    const { order, refunds } = await read(id)
    assert.deepEqual([order.status, order.refunded_cents], ['partially_refunded', 500])
    assert.equal(refunds[0].status, 'succeeded')
    assert.equal(await statusOfKey('refund', key), 201)
  })

  for (const outcome of ['declined', 'not_found'] as const) {
    await t.test(`a refund that was ${outcome} fails, and can be made again`, async () => {
      const id = await place()
      app.useGateway(unanswered('lost', 'refund'))
      const key = await begin(id, 'refunds', { amount_cents: 500 })
      const attempt = await app.agedAttempt(id, 'refund')
      const { order } = await resolved(attempt, { ...OPERATOR_REASON, outcome })
      assert.deepEqual([order.status, order.refunded_cents], ['placed', 0])
      assert.equal(await statusOfKey('refund', key), 409)
      app.useGateway(null)
      const again = await merchant.post(
        `/v1/merchant/orders/${id}/refunds`,
        {},
        { 'idempotency-key': randomUUID() },
      )
      assert.equal(again.body.refund.amount_cents, 2_000, again.text)
    })
  }

  await t.test('a cancellation ends with its refund', async () => {
    const id = await place()
    app.useGateway(unanswered('done', 'void'))
    const key = await begin(id, 'cancel', { reason: 'staff' })
    const attempt = await app.agedAttempt(id, 'refund')
    const { order } = await resolved(attempt, await approvalOf(attempt, 'refund-2'))
    assert.deepEqual([order.status, order.refunded_cents], ['cancelled', 2_000])
    assert.equal(await statusOfKey('cancel', key), 200)
  })

  await t.test(
    'an edit is applied when the operator decides that its card was charged',
    async () => {
      const id = await place()
      const [item] = (await read(id)).items
      app.useGateway(unanswered('done', 'sale'))
      const edit = { edits: [{ order_item_id: item.id, quantity: 3 }], card: APPROVED }
      const { order } = await read(id)
      const key = randomUUID()
      const answer = await app.storefront.post(
        `/v1/tenants/acme/orders/${id}/edit`,
        { ...edit, customer_ref: order.customer_ref },
        { 'idempotency-key': key },
      )
      assert.equal(answer.body.error.code, 'payment_unconfirmed', answer.text)
      const attempt = await app.agedAttempt(id, 'edit')
      await resolved(attempt, await approvalOf(attempt, await txnOf(app, attempt)))
      const edited = (await read(id)).order
      assert.deepEqual([edited.total_cents, edited.captured_cents], [6_000, 6_000])
      assert.equal(await statusOfKey('edit', key), 200)
    },
  )

  await t.test('a release places the order, if its capture was made', async () => {
    const id = await placeHeld()
    app.useGateway(unanswered('done', 'capture'))
    const key = await begin(id, 'release')
    const attempt = await app.agedAttempt(id, 'release')
    const foreign = await app.resolve(attempt, await approvalOf(attempt, 'another-one'))
    assert.deepEqual([foreign.status, foreign.body.issues[0].path], [400, 'txn_id'])
    const [txn_id = ''] = await chargeTxn(id)
    const { order } = await resolved(attempt, await approvalOf(attempt, txn_id))
    assert.deepEqual([order.status, order.payment_status], ['placed', 'paid'])
    assert.equal(await statusOfKey('release', key), 200)
  })

  for (const outcome of ['declined', 'not_found'] as const) {
    await t.test(`a release whose capture was ${outcome} leaves the order held`, async () => {
      const id = await placeHeld()
      app.useGateway(unanswered('lost', 'capture'))
      const key = await begin(id, 'release')
      const attempt = await app.agedAttempt(id, 'release')
      const { order, payment } = await resolved(attempt, { ...OPERATOR_REASON, outcome })
      assert.deepEqual([order.status, payment.state], ['on_hold', 'declined'])
      assert.equal(await statusOfKey('release', key), 402)
      app.useGateway(null)
      const again = await merchant.post(
        `/v1/merchant/orders/${id}/release`,
        {},
        { 'idempotency-key': randomUUID() },
      )
      assert.equal(again.body.order.status, 'placed', again.text)
    })
  }

  for (const outcome of ['approved', 'declined'] as const) {
    await t.test(`a held order is cancelled, with its void ${outcome}`, async () => {
      const id = await placeHeld()
      app.useGateway(unanswered('done', 'void'))
      const key = await begin(id, 'cancel', { reason: 'staff' })
      const attempt = await app.agedAttempt(id, 'void')
      const [txn_id = ''] = await chargeTxn(id)
      const decision =
        outcome === 'approved' ? await approvalOf(attempt, txn_id) : { ...OPERATOR_REASON, outcome }
      const { order, payment } = await resolved(attempt, decision)
      assert.deepEqual(
        [order.status, order.payment_status, payment.state],
        ['cancelled', 'voided', outcome],
      )
      assert.equal(await statusOfKey('cancel', key), 200)
    })
  }

  await t.test("an expired hold is cancelled, although it has no caller's key", async () => {
    const id = await placeHeld()
    app.useGateway(unanswered('done', 'void'))
    await app.superuser.query(`update charges set authorized_until = now() where order_id = $1`, [
      id,
    ])
    assert.equal(await app.expire(), 0)
    const attempt = await app.agedAttempt(id, 'void')
    const [txn_id = ''] = await chargeTxn(id)
    const { order } = await resolved(attempt, await approvalOf(attempt, txn_id))
    assert.equal(order.status, 'cancelled')
    const { timeline } = await read(id)
    const entry = timeline.find(({ type }: { type: string }) => type === 'cancelled')
    assert.deepEqual([entry.actor, entry.data.reason], ['system', 'expired'])
  })

  await t.test(
    'only the unanswered one of two cards is decided, and the reply of the other counts',
    async () => {
      const id = await place()
      const { order, items } = await read(id)
      const edit = await app.storefront.post(
        `/v1/tenants/acme/orders/${id}/edit`,
        {
          customer_ref: order.customer_ref,
          edits: [{ order_item_id: items[0].id, quantity: 2 }],
          card: APPROVED,
        },
        { 'idempotency-key': randomUUID() },
      )
      assert.equal(edit.status, 200, edit.text)
      const [first] = await chargeTxn(id)
      app.useGateway((real) => ({
        async void(what) {
          const result = await real.void(what)
          return what.txn_id === first ? unknownResult() : result
        },
        lookup: async (what) =>
          'txn_id' in what && what.txn_id === first ? unreachable() : real.lookup(what),
      }))
      const key = await begin(id, 'cancel', { reason: 'staff' })
      await app.agedAttempt(id, 'refund')
      const { rows } = await app.superuser.query(
        `select id, parent_txn_id from payment_attempts where order_id = $1 and kind = 'refund'`,
        [id],
      )
      const silent = rows.find(({ parent_txn_id }) => parent_txn_id === first).id
      const answered = rows.find(({ parent_txn_id }) => parent_txn_id !== first).id
      const other = await app.resolve(answered, { ...OPERATOR_REASON, outcome: 'declined' })
      assert.deepEqual([other.status, other.body.reason], [409, 'answered'])
      const ended = await resolved(silent, await approvalOf(silent, 'refund-3'))
      assert.deepEqual([ended.order.status, ended.order.refunded_cents], ['cancelled', 4_000])
      assert.equal(await statusOfKey('cancel', key), 200)
    },
  )

  await t.test(
    'each of two unanswered cards is decided, and the second ends the operation',
    async () => {
      const id = await place()
      const { order, items } = await read(id)
      await app.storefront.post(
        `/v1/tenants/acme/orders/${id}/edit`,
        {
          customer_ref: order.customer_ref,
          edits: [{ order_item_id: items[0].id, quantity: 2 }],
          card: APPROVED,
        },
        { 'idempotency-key': randomUUID() },
      )
      app.useGateway(unanswered('done', 'void'))
      const key = await begin(id, 'cancel', { reason: 'staff' })
      await app.agedAttempt(id, 'refund')
      const { rows } = await app.superuser.query(
        `select id from payment_attempts where order_id = $1 and kind = 'refund'`,
        [id],
      )
      const [one, two] = rows.map((row) => row.id as string)
      assert.ok(one && two)
      const half = await resolved(one, await approvalOf(one, 'refund-4'))
      assert.deepEqual([half.payment.state, half.order.status], ['approved', 'placed'])
      assert.equal(await statusOfKey('cancel', key), null)
      const whole = await resolved(two, await approvalOf(two, 'refund-5'))
      assert.deepEqual([whole.order.status, whole.order.refunded_cents], ['cancelled', 4_000])
      assert.equal(await statusOfKey('cancel', key), 200)
    },
  )
})
