import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { cardOf, cart, checkout, counts, openCheckoutApp, openShop, stock } from './setup.ts'

test('the fraud check at a checkout', async (t) => {
  const app = await openCheckoutApp(t, { env: { CHECKOUT_VELOCITY_PER_MINUTE: '6' } })
  const shop = await openShop(app)
  const counted = shop.variants[1_000] ?? ''
  await stock(shop.merchant, counted, 50)
  const ban = (kind: string, value: string, action = 'block') =>
    shop.merchant.post('/v1/merchant/fraud/bans', { kind, value, action })
  t.afterEach(() => app.assertAddsUp())

  await t.test(
    'refuses a banned shopper before anything is reserved or a gateway is asked',
    async () => {
      await ban('email', 'bad@example.com')
      const before = await counts(app)
      const answer = await checkout(
        app,
        shop,
        cart(counted, { email: 'Bad@Example.com', customer_ref: 'x1' }),
      )
      assert.equal(answer.status, 403)
      assert.equal(answer.body.error.code, 'fraud_rejected')
      assert.ok(!/ban|email/i.test(answer.text), 'no rule is named')
      assert.deepEqual(await counts(app), before)
      const decisions = await shop.merchant.get('/v1/merchant/fraud/decisions')
      assert.equal(decisions.body.decisions[0].decision, 'rejected')
      assert.equal(decisions.body.decisions[0].order_id, null)
    },
  )

  await t.test(
    'holds the order of a shopper under review, and keeps the authorisation',
    async () => {
      await ban('customer_ref', 'odd', 'review')
      const answer = await checkout(app, shop, cart(counted, { customer_ref: 'odd' }), 'odd-1')
      assert.equal(answer.status, 202, answer.text)
      const { order, charges, fraud } = answer.body
      assert.deepEqual([order.status, order.payment_status], ['on_hold', 'authorized'])
      assert.equal(order.hold.reason, 'fraud_review')
      assert.equal(order.placed_at, null)
      assert.deepEqual(fraud, { decision: 'review' })
      assert.deepEqual([charges[0].status, charges[0].captured_cents], ['authorized', 0])
      const again = await checkout(app, shop, cart(counted, { customer_ref: 'odd' }), 'odd-1')
      assert.deepEqual([again.status, again.text], [202, answer.text])
    },
  )

  await t.test('refuses too many attempts for a while, and the key stays free', async () => {
    const card = cardOf('4242424242424242')
    const body = cart(counted, { customer_ref: 'hasty', card })
    const statuses: number[] = []
    for (let n = 0; n < 8; n++)
      statuses.push((await checkout(app, shop, body, `hasty-${n}`)).status)
    assert.deepEqual(statuses, [201, 201, 201, 201, 201, 201, 429, 429])
    const { rows } = await app.superuser.query(
      `select count(*)::int as count from idempotency_keys where key in ('hasty-6', 'hasty-7')`,
    )
    assert.equal(rows[0].count, 0)
    const refused = await checkout(app, shop, body, 'hasty-6')
    assert.equal(refused.body.error.code, 'velocity_exceeded')
    assert.match(refused.headers['retry-after'] ?? '', /^\d+$/)
    const other = await checkout(
      app,
      shop,
      cart(counted, { customer_ref: 'calm', card: cardOf('5431111111111111') }),
    )
    assert.equal(other.status, 201, 'other shoppers are not refused')
  })

  await t.test(
    'records no more refusals of a banned shopper than the velocity limit lets through',
    async () => {
      await ban('customer_ref', 'hammer')
      const body = cart(counted, { customer_ref: 'hammer', card: cardOf('4012888888881881') })
      const statuses: number[] = []
      for (let n = 0; n < 6; n++)
        statuses.push((await checkout(app, shop, body, `hammer-${n}`)).status)
      // Each refusal counts as three attempts, and six are allowed.
      assert.deepEqual(statuses, [403, 403, 429, 429, 429, 429])
      const { rows } = await app.superuser.query(
        `select (select count(*)::int from idempotency_keys where key like 'hammer-%') as keys,
              (select count(*)::int from fraud_decisions d
                 join fraud_bans b on b.tenant_ref = d.tenant_ref and b.id = any(d.ban_ids)
                where b.value = 'hammer') as decisions`,
      )
      assert.deepEqual(rows, [{ keys: 2, decisions: 2 }])
    },
  )

  await t.test(
    'counts a declined card as three attempts, for every shopper who sends it',
    async () => {
      const codes: string[] = []
      for (const customer_ref of ['first', 'second', 'third']) {
        const body = cart(counted, { customer_ref, card: cardOf('4000000000000002') })
        codes.push((await checkout(app, shop, body)).body.error.code)
      }
      assert.deepEqual(codes, ['payment_declined', 'payment_declined', 'velocity_exceeded'])
    },
  )

  await t.test('counts a card that is declined for an edit in the same way', async () => {
    const card = cardOf('4000000000009995')
    const codes: string[] = []
    for (const customer_ref of ['fourth', 'fifth', 'sixth']) {
      const paid = cart(counted, { customer_ref, card: cardOf('5555555555554444') })
      const { order, items } = (await checkout(app, shop, paid)).body
      const edits = [{ order_item_id: items[0].id, quantity: 2 }]
      const url = `/v1/tenants/${shop.tenant}/orders/${order.id}/edit`
      const key = { 'idempotency-key': randomUUID() }
      const answer = await app.storefront.post(url, { edits, card }, key)
      codes.push(answer.body.error.code)
    }
    assert.deepEqual(codes, ['payment_declined', 'payment_declined', 'velocity_exceeded'])
  })
})
