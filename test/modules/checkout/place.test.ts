import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { DAY_MS } from '../../../src/kernel/time.ts'
import { showsCard } from '../../harness/card-digits.ts'
import {
  APPROVED,
  addVariant,
  cart,
  checkout,
  enable,
  giveCredit,
  issueGiftCard,
  openCheckoutApp,
  openShop,
  preview,
} from './setup.ts'

const SHIPPING = {
  mode: 'flat',
  flat_rate_cents: 500,
  expedited_rate_cents: 1_500,
  max_cents: 1_200,
  free_shipping_threshold_cents: null,
}
const TAX = { provider: 'flat_rate', rate_bps: 825 }
const TO = {
  label: 'Ann Example',
  line1: '888',
  city: 'Springfield',
  state: 'IL',
  postal_code: '77777',
  country: 'US',
}

test('a checkout', async (t) => {
  const app = await openCheckoutApp(t)
  const shop = await openShop(app, 'acme', [1_000, 333])
  const { merchant, variants } = shop
  await enable(merchant, 'gift_cards', 'store_credit', 'pricing_groups')
  await enable(merchant, 'subscriptions', 'subscribe_and_save')
  const [thousand, third] = [variants[1_000], variants[333]]
  const coupon = async (code: string, more: object) => {
    const made = await merchant.post('/v1/merchant/marketing/coupons', { code, ...more })
    assert.equal(made.status, 201, made.text)
    return made.body.coupon
  }
  await coupon('HALF', { type: 'percent', percent_bps: 5_000 })
  await coupon('ALL', { type: 'percent', percent_bps: 10_000 })
  t.afterEach(() => app.assertAddsUp())

  await t.test('answers with the lines and the charges', async () => {
    const person_id = randomUUID()
    const body = cart(thousand, {
      items: [
        { variant_id: thousand, quantity: 2 },
        { variant_id: third?.toUpperCase(), quantity: 3 },
      ],
      person_id,
      email: 'ann@example.com',
      ip: '192.0.2.7',
      shipping_address: TO,
      shipping: SHIPPING,
      tax: TAX,
      expedited: true,
      coupon_code: 'HALF',
      referral_code: 'friend_1',
      whatever: { else: true },
    })
    const { status, body: answer, text } = await checkout(app, shop, body, 'first')
    assert.equal(status, 201, text)
    const { order, items, charges } = answer
    assert.equal(order.order_number, 1001)
    assert.equal(order.idempotency_key, 'first')
    assert.deepEqual(
      [order.status, order.payment_status, order.fulfillment_status, order.hold],
      ['placed', 'paid', 'unfulfilled', null],
    )
    assert.equal(order.customer_ref, 'ann')
    assert.equal(order.person_id, person_id)
    assert.equal(order.coupon_code, 'HALF')
    assert.deepEqual(order.ship_to, { ...TO, line2: null })
    // 2,999 of goods less half, rounded up; 1,200 of shipping, its maximum; 8.25 % tax of both.
    assert.equal(order.subtotal_cents, 2_999)
    assert.equal(order.discount_cents, 1_500)
    assert.equal(order.shipping_cents, 1_200)
    assert.equal(order.total_cents, 2_999 - 1_500 + 1_200 + order.tax_cents)
    assert.equal(items.length, 2)
    assert.equal(items[1].variant_id, third)
    assert.equal(charges.length, 1)
    assert.deepEqual(
      [charges[0].tender, charges[0].amount_cents, charges[0].status, charges[0].card],
      ['card', order.total_cents, 'captured', { brand: 'visa', last4: '1111' }],
    )
    assert.deepEqual(answer.subscriptions, [])
    assert.equal(answer.amount_due_cents, 0)
    assert.deepEqual(answer.fraud, { decision: 'accepted' })
    assert.ok(!text.includes('192.0.2.7'), 'no facts about the shopper are answered')
  })

  await t.test('ships to countries without states and without postcodes', async () => {
    const to = { ...TO, line1: '7 Harbour Road', state: '', postal_code: '', country: 'Qatar' }
    const body = cart(thousand, { shipping_address: to, customer_ref: randomUUID() })
    const { status, body: answer, text } = await checkout(app, shop, body)
    assert.equal(status, 201, text)
    assert.deepEqual(answer.order.ship_to, { ...to, line2: null })
    const { id, order_number } = answer.order
    const csv = await merchant.get(`/v1/merchant/orders/export.csv?q=${order_number}`)
    assert.match(csv.text, /"Ann Example","7 Harbour Road",,"Springfield","","","Qatar"/)
    // Such an address can be banned.
    const ban = { order_id: id, kinds: ['address'], action: 'block' }
    const banned = await merchant.post('/v1/merchant/fraud/bans/from-order', ban)
    assert.equal(banned.status, 201, banned.text)
    const refused = await checkout(app, shop, { ...body, customer_ref: randomUUID() })
    assert.equal(refused.status, 403, refused.text)
    const elsewhere = { ...to, line1: '8 Harbour Road' }
    assert.equal((await checkout(app, shop, { ...body, shipping_address: elsewhere })).status, 201)
  })

  await t.test('stores only the known members of an address and an attestation', async () => {
    const withMore = { ...TO, phone: '4111111111111112', deep: { a: 1 }, line2: '2nd floor' }
    const body = cart(thousand, { shipping_address: withMore, customer_ref: randomUUID() })
    const { status, body: answer, text } = await checkout(app, shop, body)
    assert.equal(status, 201, text)
    assert.deepEqual(answer.order.ship_to, { ...TO, line2: '2nd floor' })
    const { rows } = await app.superuser.query(
      `select ship_to, (select data from webhook_events where order_id = o.id) as data
         from orders o where id = $1`,
      [answer.order.id],
    )
    assert.deepEqual(rows[0].ship_to, { ...TO, line2: '2nd floor' })
    assert.ok(!JSON.stringify(rows).includes('4111111111111112'))
  })

  await t.test('answers the same as a later read, for every tender', async () => {
    const customer_ref = randomUUID()
    await giveCredit(merchant, customer_ref, 300)
    const { code } = await issueGiftCard(merchant, 400)
    const body = cart(thousand, {
      customer_ref,
      person_id: randomUUID().toUpperCase(),
      email: 'Ann@Example.com',
      shipping_address: TO,
      tax: TAX,
      apply_store_credit: true,
      gift_card_code: code,
    })
    const placed = await checkout(app, shop, body)
    assert.equal(placed.status, 201, placed.text)
    const { order, items, charges } = placed.body
    const read = await merchant.get(`/v1/merchant/orders/${order.id}`)
    const same = Object.fromEntries(Object.keys(order).map((name) => [name, read.body.order[name]]))
    assert.deepEqual(order, same)
    assert.deepEqual(items, read.body.items)
    assert.deepEqual(charges, read.body.charges)
    assert.deepEqual(
      charges.map(({ tender }: { tender: string }) => tender),
      ['store_credit', 'gift_card', 'card'],
    )
  })

  await t.test('shows the order as it is now, if it was changed meanwhile', async () => {
    const key = randomUUID()
    const flag = `update orders set email = 'new@example.com', is_test = true
                   where tenant_ref = 'acme' and idempotency_key = $1`
    const reply = await app.place(shop, cart(thousand, { email: 'old@example.com' }), key, {
      gateway: (real) => ({
        async capture(what) {
          const captured = await real.capture(what)
          await app.superuser.query(flag, [key])
          return captured
        },
      }),
    })
    assert.equal(reply.status, 201, reply.body)
    const { id } = JSON.parse(reply.body).order
    const { rows } = await app.superuser.query(
      `select data::jsonb -> 'order' as shown from webhook_events
        where tenant_ref = 'acme' and order_id = $1 and type = 'commerce.order.placed.v1'`,
      [id],
    )
    assert.equal(rows.length, 1)
    assert.deepEqual([rows[0].shown.email, rows[0].shown.is_test], ['new@example.com', true])
    const { body } = await merchant.get(`/v1/merchant/orders/${id}`)
    assert.deepEqual([body.order.status, body.order.email], ['placed', 'new@example.com'])
    assert.equal(body.charges[0].status, 'captured')
  })

  await t.test('answers the same key with the same bytes, and charges once', async () => {
    const key = 'again and again'.replaceAll(' ', '-')
    const first = await checkout(app, shop, cart(thousand, { ip: '192.0.2.1' }), key)
    assert.equal(first.headers['idempotent-replayed'], undefined)
    const spelt = { ...APPROVED, ccnumber: '4111-1111-1111-1111', cvv: '123' }
    for (const body of [cart(thousand), cart(thousand, { ip: '192.0.2.2', card: spelt })]) {
      const again = await checkout(app, shop, body, key)
      assert.equal(again.status, 201)
      assert.equal(again.text, first.text)
      assert.equal(again.headers['idempotent-replayed'], 'true')
    }
    const other = await checkout(app, shop, cart(third), key)
    assert.equal(other.status, 422)
    assert.equal(other.body.error.code, 'idempotency_key_reused')
    const { rows } = await app.superuser.query(
      `select count(*)::int as count from sim_journal j join charges c on c.charge_id = j.ref
        where c.order_id = $1`,
      [first.body.order.id],
    )
    assert.equal(rows[0].count, 2, 'one authorisation, one capture')
  })

  await t.test('repeats the answer of its key after the card has expired', async () => {
    t.after(() => app.clock.reset())
    const now = new Date(app.clock.now())
    const month = String(now.getUTCMonth() + 1).padStart(2, '0')
    const card = { ...APPROVED, ccexp: `${month}/${now.getUTCFullYear() % 100}` }
    const key = randomUUID()
    const first = await checkout(app, shop, cart(thousand, { card }), key)
    assert.equal(first.status, 201, first.text)
    app.clock.advance(40 * DAY_MS)
    const again = await checkout(app, shop, cart(thousand, { card }), key)
    assert.equal(again.text, first.text)
    assert.equal(again.headers['idempotent-replayed'], 'true')
    const fresh = await checkout(app, shop, cart(thousand, { card }))
    app.clock.reset()
    assert.equal(fresh.status, 400)
    assert.equal(fresh.body.issues[0].path, 'card.ccexp')
  })

  await t.test(
    'repeats the answer of its key with another quote and a later statement',
    async () => {
      const quote = async () => {
        const quoted = await preview(app, shop, { items: cart(thousand).items })
        return quoted.body.quote_token as string
      }
      const at = (accepted_at: string) => ({ statement_version: '1', accepted_at })
      const key = randomUUID()
      const once = { quote_token: await quote(), attestation: at('2026-01-01T00:00:00Z') }
      const first = await checkout(app, shop, cart(thousand, once), key)
      assert.equal(first.status, 201, first.text)
      app.clock.advance(1_000)
      const later = { quote_token: await quote(), attestation: at('2026-01-02T00:00:00Z') }
      app.clock.reset()
      assert.notEqual(later.quote_token, once.quote_token)
      const again = await checkout(app, shop, cart(thousand, later), key)
      assert.equal(again.text, first.text)
      assert.equal(again.status, 201)
    },
  )

  await t.test('is paid by store credit, then the gift card, then the card', async () => {
    await giveCredit(merchant, 'bob', 300)
    const { code, gift_card } = await issueGiftCard(merchant, 200)
    const tenders = { apply_store_credit: true, gift_card_code: code.toLowerCase() }
    const first = await checkout(app, shop, cart(thousand, { customer_ref: 'bob', ...tenders }))
    assert.equal(first.status, 201, first.text)
    const paid = first.body.charges.map((each: Record<string, unknown>) => [
      each.tender,
      each.amount_cents,
      each.captured_cents,
      each.gift_card_last4,
    ])
    assert.deepEqual(paid, [
      ['store_credit', 300, 300, null],
      ['gift_card', 200, 200, code.slice(-4)],
      ['card', 500, 500, null],
    ])
    const { rows } = await app.superuser.query(
      `select account, amount_cents::int from ledger_entries e join ledger_journals j on j.tenant_ref = e.tenant_ref and j.id = e.journal_id
        where j.order_id = $1 order by account`,
      [first.body.order.id],
    )
    assert.deepEqual(rows, [
      { account: 'card_clearing', amount_cents: 500 },
      { account: 'gift_card', amount_cents: 200 },
      { account: 'sales', amount_cents: -1_000 },
      { account: 'store_credit', amount_cents: 300 },
    ])
    const card = await merchant.get(`/v1/merchant/gift-cards/${gift_card.id}`)
    assert.equal(card.body.gift_card.balance_cents, 0)
    const second = await checkout(app, shop, cart(third, { customer_ref: 'bob', ...tenders }))
    assert.deepEqual(
      second.body.charges.map(({ tender }: { tender: string }) => tender),
      ['card'],
      'what is empty pays nothing',
    )
  })

  await t.test(
    'needs no card if other tenders cover the total, and leaves them their remaining balance',
    async () => {
      await giveCredit(merchant, 'cleo', 5_000)
      const { code } = await issueGiftCard(merchant, 5_000)
      const tenders = { customer_ref: 'cleo', apply_store_credit: true, gift_card_code: code }
      const { card: _, ...body } = cart(thousand, tenders)
      const answer = await checkout(app, shop, body)
      assert.equal(answer.status, 201, answer.text)
      assert.deepEqual(
        answer.body.charges.map(({ tender }: { tender: string }) => tender),
        ['store_credit'],
      )
      const withCard = await checkout(
        app,
        shop,
        cart(thousand, { ...tenders, customer_ref: 'dan' }),
      )
      assert.deepEqual(
        withCard.body.charges.map(({ tender }: { tender: string }) => tender),
        ['gift_card'],
        'a card that is not needed is not charged',
      )
    },
  )

  await t.test('a checkout finds a coupon and a SKU in any spelling', async () => {
    const named = await addVariant(merchant, 900, {}, { sku: 'Caf\u00e9-1' })
    const answer = await checkout(app, shop, cart(named, { coupon_code: ' half ' }))
    assert.equal(answer.status, 201, answer.text)
    const { id, coupon_code } = answer.body.order
    assert.equal(coupon_code, 'HALF', 'as the merchant named it')
    for (const query of [
      'coupon_code=Half&sku=Cafe%CC%81-1',
      'coupon_code=HALF&sku=Caf%C3%A9-1',
      // Full-width letters, as an East Asian keyboard types them, are the same coupon.
      `coupon_code=${encodeURIComponent('ｈａｌｆ')}&sku=Caf%C3%A9-1`,
      'q=Cafe%CC%81',
    ]) {
      const { orders } = (await merchant.get(`/v1/merchant/orders?${query}`)).body
      assert.deepEqual(
        orders.map((each: { id: string }) => each.id),
        [id],
        query,
      )
    }
    const wide = `coupon_code=${encodeURIComponent('ｈａｌｆ')}`
    const table = await merchant.get(`/v1/merchant/orders/export.csv?${wide}`)
    assert.ok(table.text.includes(id), table.text)
  })

  await t.test(
    "is paid by a token of the gateway's own form, inside or outside of `card`",
    async () => {
      const { rows } = await app.superuser.query(
        `insert into sim_vault (tenant_ref, vault_id, card, fingerprint, behaviour)
       values ($1, gen_random_uuid(), $2, 'f', '100') returning vault_id`,
        [
          shop.tenant,
          JSON.stringify({ brand: 'visa', last4: '1111', exp_month: 1, exp_year: 2040 }),
        ],
      )
      const payment_token = rows[0].vault_id as string
      for (const paid of [{ card: { payment_token } }, { card: null, payment_token }]) {
        const answer = await checkout(app, shop, cart(thousand, paid))
        assert.equal(answer.status, 201, answer.text)
        assert.deepEqual(answer.body.charges[0].card, { brand: 'visa', last4: '1111' })
      }
      const none = await checkout(app, shop, cart(thousand, { card: {} }))
      assert.equal(none.status, 400)
      assert.deepEqual(
        none.body.issues.map(({ path }: { path: string }) => path),
        ['card.ccnumber'],
      )
    },
  )

  await t.test('a checkout with a total of zero is placed without a card', async () => {
    const { card: _, ...body } = cart(thousand, { coupon_code: 'all' })
    const answer = await checkout(app, shop, body)
    assert.equal(answer.status, 201, answer.text)
    assert.deepEqual([answer.body.order.total_cents, answer.body.charges], [0, []])
    assert.deepEqual(
      [answer.body.order.status, answer.body.order.payment_status],
      ['placed', 'paid'],
    )
    const free = await addVariant(merchant, 0)
    const { card: __, ...gift } = cart(free)
    assert.equal((await checkout(app, shop, gift)).status, 201)
  })

  await t.test("starts a subscription on the day of the store's time zone", async () => {
    const tokyo = await openShop(app, 'tokyo')
    await enable(tokyo.merchant, 'subscriptions')
    const zone = await tokyo.merchant.patch('/v1/my/store', { time_zone: 'Asia/Tokyo' })
    assert.equal(zone.status, 200, zone.text)
    const terms = { is_subscription: true, subscription_interval: 'month' }
    const tea = await addVariant(tokyo.merchant, 1_000, terms)
    // The 31st of January in Japan, where February has no such day.
    app.clock.advance(Date.parse('2031-01-30T23:30:30Z') - Date.now())
    const answer = await checkout(app, tokyo, cart(tea, { subscribe: true }))
    app.clock.reset()
    assert.equal(answer.status, 201, answer.text)
    const [started] = answer.body.subscriptions
    assert.equal(started.next_charge_at, '2031-02-27T21:00:00.000Z')
    const { rows } = await app.superuser.query(
      'select anchor_on::text from subscriptions where id = $1',
      [started.id],
    )
    assert.deepEqual(rows, [{ anchor_on: '2031-01-31' }])
  })

  await t.test('keeps the day of the subscription across a change to winter time', async () => {
    const berlin = await openShop(app, 'berlin')
    await enable(berlin.merchant, 'subscriptions')
    const zone = await berlin.merchant.patch('/v1/my/store', { time_zone: 'Europe/Berlin' })
    assert.equal(zone.status, 200, zone.text)
    const terms = { is_subscription: true, subscription_interval: 'month' }
    const tea = await addVariant(berlin.merchant, 1_000, terms)
    // Half an hour into October, at the end of which winter time begins.
    app.clock.advance(Date.parse('2031-09-30T22:30:30Z') - Date.now())
    const answer = await checkout(app, berlin, cart(tea, { subscribe: true }))
    app.clock.reset()
    assert.equal(answer.status, 201, answer.text)
    const [started] = answer.body.subscriptions
    assert.equal(started.next_charge_at, '2031-11-01T05:00:00.000Z')
    const { rows } = await app.superuser.query(
      'select anchor_on::text from subscriptions where id = $1',
      [started.id],
    )
    assert.deepEqual(rows, [{ anchor_on: '2031-10-01' }])
  })

  await t.test('starts a subscription for each line that can be subscribed to', async () => {
    const terms = {
      is_subscription: true,
      subscription_interval: 'month',
      subscription_interval_count: 2,
      subscription_price_cents: 800,
    }
    const coffee = await addVariant(merchant, 1_000, terms)
    const items = [
      { variant_id: coffee, quantity: 3 },
      { variant_id: thousand, quantity: 1 },
    ]
    const answer = await checkout(app, shop, cart(coffee, { items, subscribe: true }))
    assert.equal(answer.status, 201, answer.text)
    assert.equal(answer.body.order.subtotal_cents, 3 * 800 + 1_000)
    const [started, ...more] = answer.body.subscriptions
    assert.deepEqual(more, [])
    assert.deepEqual(
      [started.variant_id, started.interval, started.interval_count],
      [coffee, 'month', 2],
    )
    assert.ok(Date.parse(started.next_charge_at) > Date.now() + 50 * DAY_MS)
    const once = await checkout(app, shop, cart(coffee))
    assert.deepEqual([once.body.subscriptions, once.body.order.total_cents], [[], 1_000])
    const nothing = await checkout(app, shop, cart(thousand, { subscribe: true }))
    assert.deepEqual([nothing.status, nothing.body.subscriptions], [201, []])
    const { rows } = await app.superuser.query(
      'select vault_id is not null as is_stored from charges where order_id = any($1) order by created_at',
      [[answer.body.order.id, once.body.order.id, nothing.body.order.id]],
    )
    assert.deepEqual(
      rows.map(({ is_stored }) => is_stored),
      [true, false, false],
      'only the card of a subscription is stored',
    )
  })

  await t.test(
    'uses the lowest price of the customer, and ignores a malformed referral code',
    async () => {
      const group = await merchant.post('/v1/merchant/pricing-groups', { name: 'wholesale' })
      const url = `/v1/merchant/pricing-groups/${group.body.pricing_group.id}`
      await merchant.post(`${url}/members`, { customer_ref: 'eve' })
      await merchant.put(`${url}/prices`, { variant_id: thousand, price_cents: 700 })
      const answer = await checkout(
        app,
        shop,
        cart(thousand, { customer_ref: 'eve', referral_code: 7 }),
      )
      assert.equal(answer.status, 201, answer.text)
      assert.equal(answer.body.order.total_cents, 700)
      for (const referral_code of ['', 'with space', 'x'.repeat(65), null, { a: 1 }, 'Ok_-9']) {
        const { status, body } = await checkout(app, shop, cart(third, { referral_code }))
        assert.equal(status, 201)
        const { rows } = await app.superuser.query(
          'select referral_code from orders where id = $1',
          [body.order.id],
        )
        assert.equal(rows[0].referral_code, referral_code === 'Ok_-9' ? 'Ok_-9' : null)
      }
    },
  )

  await t.test('emits one event, complete and without card data', async () => {
    const { body } = await checkout(app, shop, cart(thousand, { email: 'ann@example.com' }))
    const { rows } = await app.superuser.query(
      `select type, data from webhook_events where order_id = $1`,
      [body.order.id],
    )
    assert.deepEqual(
      rows.map(({ type }) => type),
      ['commerce.order.placed.v1'],
    )
    const data = JSON.parse(rows[0].data)
    assert.deepEqual(data.tenders, [{ tender: 'card', amount_cents: 1_000 }])
    assert.equal(data.order.id, body.order.id)
    assert.ok(!showsCard(rows[0].data, APPROVED.ccnumber, APPROVED.cvv))
  })
})
