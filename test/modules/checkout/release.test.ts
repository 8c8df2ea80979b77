import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import * as jobs from '../../../src/modules/checkout/jobs.ts'
import { openCheckout } from '../../../src/modules/checkout/open.ts'
import { expireHold } from '../../../src/modules/checkout/operations-money.ts'
import { noRecord, refused, unknownResult } from '../../../src/modules/payments/adapters/results.ts'
import { essence } from '../../harness/refusals.ts'
import {
  addVariant,
  cardOf,
  cart,
  checkout,
  enable,
  type GatewayOverride,
  giveCredit,
  issueGiftCard,
  openCheckoutApp,
  openShop,
  stock,
} from './setup.ts'

const keyed = (key: string = randomUUID()) => ({ 'idempotency-key': key })

test('a held order', async (t) => {
  const app = await openCheckoutApp(t)
  const shop = await openShop(app)
  const { merchant } = shop
  await enable(merchant, 'gift_cards', 'store_credit')
  const counted = await addVariant(merchant, 2_000)
  await stock(merchant, counted, 100)
  const ban = { kind: 'email', value: 'review@example.com', action: 'review' }
  assert.equal((await merchant.post('/v1/merchant/fraud/bans', ban)).status, 201)
  const held = async (more: object = {}) => {
    const answer = await checkout(
      app,
      shop,
      cart(counted, { email: 'review@example.com', ...more }),
    )
    assert.equal(answer.status, 202, answer.text)
    for (const { tender, status } of answer.body.charges) assert.equal(status, 'authorized', tender)
    return answer.body.order.id as string
  }
  const read = async (id: string) => (await merchant.get(`/v1/merchant/orders/${id}`)).body
  const release = (id: string, key?: string) =>
    merchant.post(`/v1/merchant/orders/${id}/release`, undefined, keyed(key))
  const eventsOf = async (id: string) => {
    const { rows } = await app.superuser.query(
      `select type from webhook_events where order_id = $1 order by type`,
      [id],
    )
    return rows.map(({ type }) => type.split('.')[2])
  }
  const txnOf = async (id: string) => {
    const { rows } = await app.superuser.query(
      `select txn_id from charges where order_id = $1 and tender = 'card'`,
      [id],
    )
    return rows[0].txn_id as string
  }
  t.afterEach(() => app.assertAddsUp())

  await t.test('is captured and placed when it is released, once', async () => {
    const id = await held()
    const answer = await release(id, 'r1')
    assert.equal(answer.status, 200, answer.text)
    const { order } = answer.body
    assert.deepEqual([order.status, order.payment_status, order.hold], ['placed', 'paid', null])
    assert.deepEqual(await eventsOf(id), ['held', 'placed', 'released'])
    const again = await release(id, 'r1')
    assert.deepEqual([again.status, again.text], [200, answer.text])
    const { charges, timeline } = await read(id)
    assert.deepEqual([charges[0].status, charges[0].captured_cents], ['captured', 2_000])
    assert.deepEqual(timeline.map(({ type }: { type: string }) => type).toSorted(), [
      'created',
      'held',
      'placed',
      'released',
    ])
    const twice = await release(id)
    assert.deepEqual([twice.status, twice.body.error.code], [409, 'invalid_transition'])
    assert.equal(twice.body.current_status, 'placed')
  })

  await t.test('is placed when other tenders pay it, too', async () => {
    await giveCredit(merchant, 'credit', 5_000)
    const { code } = await issueGiftCard(merchant, 700)
    const byCredit = await held({ customer_ref: 'credit', apply_store_credit: true, card: null })
    assert.equal((await release(byCredit)).body.order.status, 'placed')
    const both = await held({ gift_card_code: code })
    const chargesOfBoth = (await read(both)).charges.map((each: Record<string, unknown>) => [
      each.tender,
      each.status,
      each.captured_cents,
    ])
    assert.deepEqual(chargesOfBoth, [
      ['gift_card', 'authorized', 0],
      ['card', 'authorized', 0],
    ])
    await app.assertAddsUp()
    assert.equal((await release(both)).body.order.status, 'placed')
    const { charges } = await read(both)
    assert.deepEqual(
      charges.map((each: Record<string, unknown>) => [each.tender, each.captured_cents]),
      [
        ['gift_card', 700],
        ['card', 1_300],
      ],
    )
  })

  await t.test('returns to its earlier status if it was paid before', async () => {
    const placed = await checkout(app, shop, cart(counted))
    const { id } = placed.body.order
    await merchant.post(`/v1/merchant/orders/${id}/process`)
    assert.equal((await merchant.post(`/v1/merchant/orders/${id}/hold`, {})).status, 200)
    const answer = await release(id)
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual([answer.body.order.status, answer.body.order.hold], ['processing', null])
    assert.deepEqual(await eventsOf(id), ['held', 'placed', 'released'])
  })

  await t.test('stays held when the bank declines the capture', async () => {
    const id = await held()
    const gateway = await app.runtime.payments.forStore(app.runtime.database.tenant('acme'))
    await gateway.void({ txn_id: await txnOf(id) })
    const answer = await release(id)
    assert.equal(answer.status, 402, answer.text)
    assert.equal(answer.body.error.code, 'payment_declined')
    assert.deepEqual(answer.body.decline.reason, 'processing_error')
    assert.equal(answer.body.order.status, 'on_hold')
    assert.equal((await read(id)).order.status, 'on_hold')
    const cancelled = await merchant.post(
      `/v1/merchant/orders/${id}/cancel`,
      { reason: 'fraud' },
      keyed(),
    )
    assert.equal(cancelled.status, 200, cancelled.text)
  })

  await t.test(
    'stays held, and can be cancelled, when its gateway has no record of it',
    async () => {
      const id = await held({ card: cardOf('5431111111111111') })
      const gateway: GatewayOverride = () => ({
        capture: async () => refused('invalid_state'),
        lookup: async () => noRecord(),
      })
      const answer = await app.release(shop, id, randomUUID(), { gateway })
      assert.equal(answer.status, 402)
      const { order, timeline } = await read(id)
      assert.deepEqual([order.status, timeline.at(-1).type], ['on_hold', 'release_failed'])
      const url = `/v1/merchant/orders/${id}/cancel`
      const cancelled = await merchant.post(url, { reason: 'staff' }, keyed())
      assert.equal(cancelled.status, 200, cancelled.text)
    },
  )

  for (const point of ['release-begun', 'release-answered']) {
    await t.test(`is released by the worker after a crash at ${point}`, async () => {
      const id = await held()
      await app.crashRelease(shop, id, point)
      const busy = await release(id)
      assert.deepEqual([busy.status, busy.body.error.code], [409, 'order_busy'])
      const cancel = await merchant.post(
        `/v1/merchant/orders/${id}/cancel`,
        { reason: 'staff' },
        keyed(),
      )
      assert.equal(cancel.body.error.code, 'order_busy')
      await app.expireClaims()
      await app.reconcile()
      assert.equal((await read(id)).order.status, 'placed')
      assert.deepEqual(await eventsOf(id), ['held', 'placed', 'released'])
    })
  }

  await t.test('is listed for review, approved, or rejected with a ban', async () => {
    const [first, second] = [await held(), await held({ customer_ref: 'crook', ip: '192.0.2.66' })]
    const list = await merchant.get('/v1/merchant/fraud/reviews')
    assert.deepEqual(
      list.body.reviews.map(({ order }: { order: { id: string } }) => order.id),
      [first, second],
    )
    assert.equal(list.body.total, 2)
    const log = await merchant.get(`/v1/merchant/fraud/decisions?order_id=${first}`)
    assert.deepEqual(list.body.reviews[0].decision, log.body.decisions[0])
    assert.deepEqual(list.body.reviews[0].order, (await read(first)).order)
    assert.equal(log.body.decisions[0].decision, 'review')
    const url = '/v1/merchant/fraud/reviews'
    const approved = await merchant.post(`${url}/${first}/approve`, undefined, keyed())
    assert.deepEqual([approved.status, approved.body.order?.status], [200, 'placed'])
    const body = { note: 'known', ban: { kinds: ['customer_ref', 'card_fingerprint', 'ip'] } }
    const rejected = await merchant.post(`${url}/${second}/reject`, body, keyed('no'))
    assert.equal(rejected.status, 200, rejected.text)
    assert.deepEqual(
      [rejected.body.order.status, rejected.body.order.payment_status],
      ['cancelled', 'voided'],
    )
    const replayed = await merchant.post(`${url}/${second}/reject`, body, keyed('no'))
    assert.equal(replayed.text, rejected.text)
    assert.equal((await merchant.get('/v1/merchant/fraud/reviews')).body.total, 0)
    const blocked = await checkout(app, shop, cart(counted, { customer_ref: 'crook' }))
    assert.equal(blocked.status, 403)
    const placed = await checkout(app, shop, cart(counted, { card: cardOf('4242424242424242') }))
    assert.equal(placed.status, 201)
    const wrong = await merchant.post(`${url}/${placed.body.order.id}/reject`, {}, keyed())
    assert.deepEqual([wrong.status, wrong.body.error.code], [409, 'invalid_transition'])
  })

  await t.test('is cancelled when its authorisation has lapsed', async () => {
    const id = await held({ card: cardOf('5431111111111111') })
    const deps = { ...openCheckout(app.runtime), database: app.runtime.workerDatabase }
    assert.equal(await jobs.expireAuthorizations(deps), 0)
    await app.superuser.query(`update charges set authorized_until = now() where order_id = $1`, [
      id,
    ])
    const ended = await Promise.all([
      jobs.expireAuthorizations(deps),
      jobs.expireAuthorizations(deps),
    ])
    assert.ok(ended.includes(1))
    const { order, timeline } = await read(id)
    assert.deepEqual([order.status, order.payment_status], ['cancelled', 'voided'])
    assert.equal(timeline.at(-1).data.reason, 'expired')
    assert.equal((await release(id)).body.error.code, 'invalid_transition')
    const own = encodeURIComponent(`expired hold ${id}`)
    const looked = await shop.merchant.get(`/v1/merchant/idempotency/cancel/${own}`)
    assert.equal(looked.body.error.code, 'idempotency_key_not_found', 'the key of no caller')
  })

  await t.test(
    'is held for as long as the bank honours the authorisation, however late the reply came',
    async () => {
      const late = async (age: string) => {
        const key = randomUUID()
        const card = cardOf('5431111111111111')
        await app.crash(shop, cart(counted, { email: ban.value, card }), 'authorized', key)
        await app.expireClaims()
        const url = `/v1/merchant/idempotency/checkout/${key}`
        const id = (await merchant.get(url)).body.resource_id as string
        for (const table of ['orders', 'payment_attempts']) {
          await app.superuser.query(
            `update ${table} set created_at = created_at - $2::interval
            where ${table === 'orders' ? 'id' : 'order_id'} = $1`,
            [id, age],
          )
        }
        await app.reconcile()
        assert.equal((await read(id)).order.status, 'on_hold')
        return id
      }
      const [young, old] = [await late('6 days 23 hours'), await late('7 days')]
      assert.equal(await app.expire(), 1)
      assert.equal((await read(young)).order.status, 'on_hold')
      const { order, timeline } = await read(old)
      assert.deepEqual([order.status, timeline.at(-1).data.reason], ['cancelled', 'expired'])
      assert.equal((await release(young)).status, 200)
    },
  )

  await t.test('does not expire if it was released after it was listed', async () => {
    const id = await held({ card: cardOf('5431111111111111') })
    assert.equal((await release(id)).status, 200)
    const db = app.runtime.workerDatabase.tenant('acme')
    assert.equal(await expireHold(openCheckout(app.runtime), db, id), false)
    const { order } = await read(id)
    assert.deepEqual([order.status, order.payment_status], ['placed', 'paid'])
  })

  await t.test('expires even if the gateway of another store is down', async () => {
    const away = await openShop(app, 'away')
    await away.merchant.post('/v1/merchant/fraud/bans', ban)
    const waiting: string[] = []
    for (let made = 0; made < 10; made++) {
      const { body } = await checkout(app, away, cart(away.variants[1_000], { email: ban.value }))
      waiting.push(body.order.id)
    }
    const id = await held({ card: cardOf('5431111111111111') })
    await app.superuser.query(
      `update charges set authorized_until = now() - case when order_id = $1 then interval '1 hour'
                                                          else interval '2 hours' end
        where order_id = any($2)`,
      [id, [id, ...waiting]],
    )
    const { rows } = await app.superuser.query(
      `select txn_id from charges where order_id = any($1)`,
      [waiting],
    )
    const theirs = rows.map(({ txn_id }) => txn_id)
    const gateway: GatewayOverride = (real) => ({
      void: async (what) => (theirs.includes(what.txn_id) ? unknownResult() : real.void(what)),
    })
    // Their holds expired earlier, and yet it has its turn in the first step.
    assert.equal(await app.expire({ gateway }), 1)
    assert.equal((await read(id)).order.status, 'cancelled')
    assert.equal(await app.expire({ gateway }), 0)
    await app.superuser.query(
      `update charges set authorized_until = now() where order_id = any($1)`,
      [waiting],
    )
    await app.expireClaims()
    assert.equal(await app.expire(), 10)
  })

  await t.test('bans its shopper by the facts of the order', async () => {
    const shop = await openShop(app, 'bans')
    const { merchant } = shop
    const shipping_address = {
      label: 'Ann',
      line1: '1 Main St',
      city: 'Springfield',
      state: 'IL',
      postal_code: '62704',
      country: 'US',
    }
    const facts = { email: 'ann@example.com', ip: '192.0.2.9', shipping_address }
    const order = await checkout(app, shop, cart(shop.variants[1_000], facts))
    const url = '/v1/merchant/fraud/bans/from-order'
    const kinds = ['email', 'ip', 'customer_ref', 'card_fingerprint', 'address', 'card_bin']
    const made = await merchant.post(url, {
      order_id: order.body.order.id,
      kinds,
      reason: 'a crook',
    })
    assert.equal(made.status, 201, made.text)
    assert.deepEqual(
      made.body.bans.map(({ kind }: { kind: string }) => kind).toSorted(),
      ['address', 'card_fingerprint', 'customer_ref', 'email', 'ip'],
      'the first digits of the card are not stored',
    )
    const again = await checkout(app, shop, cart(shop.variants[1_000], { customer_ref: 'another' }))
    assert.equal(again.status, 403, 'the card is known')
    for (const body of [
      {},
      { order_id: order.body.order.id },
      { order_id: order.body.order.id, kinds: [] },
    ]) {
      assert.equal((await merchant.post(url, body)).status, 400)
    }
    const unknown = await merchant.post(url, { order_id: randomUUID(), kinds })
    assert.deepEqual([unknown.status, unknown.body.error.code], [404, 'order_not_found'])
    for (const order_id of ['', 'no id', `${order.body.order.id}-`]) {
      assert.deepEqual(essence(await merchant.post(url, { order_id, kinds })), essence(unknown))
    }
  })

  await t.test(
    'has its shopper banned by a rejection, even if a ban that asks for review exists',
    async () => {
      const shop = await openShop(app, 'looked')
      const { merchant } = shop
      const url = '/v1/merchant/fraud'
      const look = { kind: 'customer_ref', value: 'crook', action: 'review', reason: 'odd' }
      const { ban } = (await merchant.post(`${url}/bans`, look)).body
      const crook = () => checkout(app, shop, cart(shop.variants[1_000], { customer_ref: 'crook' }))
      const held = await crook()
      assert.equal(held.status, 202, held.text)
      const body = { ban: { kinds: ['customer_ref'], reason: 'a crook' } }
      const id = held.body.order.id
      const rejected = await merchant.post(`${url}/reviews/${id}/reject`, body, keyed())
      assert.equal(rejected.status, 200, rejected.text)
      assert.equal((await crook()).status, 403)
      const listed = (await merchant.get(`${url}/bans?kind=customer_ref`)).body.bans
      assert.deepEqual(
        listed.map((each: Record<string, unknown>) => [each.action, each.reason, each.active]),
        [
          ['block', 'a crook', true],
          ['review', 'odd', false],
        ],
        'both are listed, and one is active',
      )
      const lifted = (await merchant.get(`${url}/bans/${ban.id}`)).body.ban
      assert.match(lifted.lifted_by, /^merchant_key:/)
      const again = await merchant.post(`${url}/bans/from-order`, {
        order_id: id,
        kinds: ['customer_ref'],
        action: 'review',
      })
      assert.deepEqual(again.body.bans, [listed[0]], 'what is blocked stays blocked')
    },
  )

  await t.test('shows its outcome under its key, like any other order', async () => {
    const shop = await openShop(app, 'keys')
    const { merchant } = shop
    const byShopper = (operation: string, key: string) =>
      app.storefront.get(`/v1/tenants/keys/idempotency/${operation}/${encodeURIComponent(key)}`)
    const byMerchant = (operation: string, key: string) =>
      merchant.get(`/v1/merchant/idempotency/${operation}/${encodeURIComponent(key)}`)
    const key = '50%off/of?all#'.padEnd(255, '/%')
    const placed = await checkout(
      app,
      shop,
      cart(shop.variants[1_000], { email: 'a@b.example' }),
      key,
    )
    assert.equal(placed.status, 201, placed.text)

    for (const ask of [byShopper, byMerchant]) {
      const { status, body } = await ask('checkout', key)
      assert.equal(status, 200)
      assert.deepEqual(
        [body.operation, body.key, body.state, body.status, body.resource_id],
        ['checkout', key, 'answered', 201, placed.body.order.id],
      )
      assert.deepEqual(body.answer, placed.body)
      for (const [operation, wanted] of [
        ['refund', key],
        ['checkout', 'never'],
        ['erase', key],
        ['checkout', 'sub:1'],
      ] as const) {
        const none = await ask(operation, wanted)
        assert.deepEqual([none.status, none.body.error?.code], [404, 'idempotency_key_not_found'])
      }
    }
    await app.crash(shop, cart(shop.variants[1_000]), 'authorized', 'left')
    const left = (await byShopper('checkout', 'left')).body
    assert.deepEqual(
      [left.state, left.recovery_point, left.status, left.answer],
      ['running', 'reserved', null, null],
    )
    const { id } = placed.body.order
    const refunded = await merchant.post(`/v1/merchant/orders/${id}/refunds`, {}, keyed('back'))
    assert.equal(refunded.status, 201, refunded.text)
    assert.equal((await byMerchant('refund', 'back')).body.answer.order.email, 'a@b.example')
    const shown = await byShopper('refund', 'back')
    assert.equal(shown.body.answer.order.id, id)
    assert.ok(!shown.text.includes('a@b.example'), 'what merchants see stays with them')
    const other = await openShop(app, 'other')
    assert.equal((await other.merchant.get('/v1/merchant/idempotency/refund/back')).status, 404)
    assert.equal(
      (await app.storefront.get('/v1/tenants/other/idempotency/refund/back')).status,
      404,
    )
    await app.expireClaims()
    await app.reconcile()
  })
})
