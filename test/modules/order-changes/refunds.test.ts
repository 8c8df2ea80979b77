import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { APPROVED, giveBalances, keyed, type OrderStore, shareOrderStore } from '../orders/setup.ts'

const shared = shareOrderStore()

describe('refunds', () => {
  let store: OrderStore
  before(() => {
    store = shared.current
  })

  test('a shopper is refunded a part, then the rest, and never more', async () => {
    const { order, charges } = await store.place()
    const { charge_id } = charges[0]
    const part = await store.shopper(order.id, 'refund', {
      charge_id,
      amount_cents: 500,
      reason: 'late',
    })
    assert.equal(part.status, 200, part.text)
    assert.equal(part.body.refund.amount_cents, 500)
    assert.equal(part.body.refund.status, 'succeeded')
    assert.equal(part.body.order.status, 'partially_refunded')
    assert.deepEqual(part.body.refund.tenders, [{ charge_id, tender: 'card', amount_cents: 500 }])
    assert.equal(await store.net(order.id), 1_500)

    const tooMuch = await store.shopper(order.id, 'refund', { charge_id, amount_cents: 1_501 })
    assert.equal(tooMuch.status, 422, tooMuch.text)
    assert.equal(tooMuch.body.error.code, 'amount_exceeds_refundable')
    assert.equal(tooMuch.body.refundable_cents, 1_500)

    const rest = await store.shopper(order.id, 'refund', { charge_id })
    assert.equal(rest.body.refund.amount_cents, 1_500, rest.text)
    assert.equal(rest.body.order.status, 'refunded')
    assert.equal(await store.net(order.id), 0)

    const again = await store.shopper(order.id, 'refund', { charge_id })
    assert.equal(again.status, 409)
    assert.equal(again.body.error.code, 'not_refundable')
  })

  test('units that are worth less than a cent are refunded one by one, and the last gets the rest', async () => {
    const coupon = { code: 'NEARLY', type: 'fixed', amount_cents: 997 }
    const made = await store.shop.merchant.post('/v1/merchant/marketing/coupons', coupon)
    assert.equal(made.status, 201, made.text)
    const bought = [{ variant_id: store.shop.variants[333], quantity: 3 }]
    const { order, items } = await store.place({ items: bought, coupon_code: 'NEARLY' })
    assert.equal(order.total_cents, 2)
    const one = { items: [{ order_item_id: items[0].id, quantity: 1 }] }
    const shown = await store.merchant(order.id, 'refunds/preview', one)
    assert.deepEqual([shown.status, shown.body.amount_cents], [200, 0], shown.text)
    for (const cents of [0, 0, 2]) {
      const answer = await store.merchant(order.id, 'refunds', one)
      assert.deepEqual([answer.status, answer.body.refund?.amount_cents], [201, cents], answer.text)
    }
    const read = await store.read(order.id)
    assert.deepEqual([read.order.status, read.items[0].refunded_quantity], ['refunded', 3])
    const more = await store.merchant(order.id, 'refunds', one)
    assert.deepEqual([more.status, more.body.error.code], [409, 'not_refundable'])
    await store.check()
  })

  test('units that are worth less than a cent end edits as other refunded units do, and the order can be cancelled', async () => {
    const coupon = { code: 'ALMOST', type: 'fixed', amount_cents: 3_332 }
    const made = await store.shop.merchant.post('/v1/merchant/marketing/coupons', coupon)
    assert.equal(made.status, 201, made.text)
    const { variants } = store.shop
    const bought = [
      { variant_id: variants[1_000], quantity: 3 },
      { variant_id: variants[333], quantity: 1 },
    ]
    for (const restock of [false, true]) {
      const { order, items } = await store.place({ items: bought, coupon_code: 'ALMOST' })
      const order_item_id = items.find((each: { quantity: number }) => each.quantity === 3).id
      const refund = { items: [{ order_item_id, quantity: 1 }], restock }
      const answer = await store.merchant(order.id, 'refunds', refund)
      assert.deepEqual([answer.status, answer.body.refund?.amount_cents], [201, 0], answer.text)
      for (const quantity of [0, 2]) {
        const edit = { edits: [{ order_item_id, quantity }], charge_card: true }
        const edited = await store.merchant(order.id, 'edit', edit)
        assert.deepEqual([edited.status, edited.body.reason], [409, 'already_refunded'])
      }
      const cancelled = await store.merchant(order.id, 'cancel', { reason: 'staff' })
      assert.equal(cancelled.status, 200, cancelled.text)
      assert.equal(await store.net(order.id), 0)
      await store.check()
    }
  })

  test('the same key refunds once and repeats the answer', async () => {
    const { order, charges } = await store.place()
    const body = { charge_id: charges[0].charge_id, amount_cents: 100 }
    const key = randomUUID()
    const answers = await Promise.all(
      [1, 2, 3].map(() => store.shopper(order.id, 'refund', body, key)),
    )
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1)
    assert.equal(await store.net(order.id), 1_900)
    const other = await store.shopper(order.id, 'refund', { ...body, amount_cents: 200 }, key)
    assert.equal(other.body.error.code, 'idempotency_key_reused')
  })

  test('unknown orders and charges are not found', async () => {
    const { order } = await store.place()
    const unknown = await store.shopper(order.id, 'refund', { charge_id: randomUUID() })
    assert.equal(unknown.body.error.code, 'charge_not_found')
    const nowhere = await store.shopper('nothing', 'refund', { charge_id: randomUUID() })
    assert.equal(nowhere.body.error.code, 'order_not_found')
    const item = { items: [{ order_item_id: randomUUID(), quantity: 1 }] }
    const noItem = await store.merchant(order.id, 'refunds', item)
    assert.equal(noItem.body.error.code, 'order_item_not_found')
  })

  test('bad input is refused and leaves the key free', async () => {
    const { order, items } = await store.place()
    const key = randomUUID()
    const both = { amount_cents: 5, items: [{ order_item_id: items[0].id, quantity: 1 }] }
    const none = { amount_cents: 5, shipping_cents: 0 }
    for (const body of [
      both,
      none,
      { amount_cents: 0 },
      { amount_cents: 1.5 },
      { method: 'cash' },
    ]) {
      const refused = await store.merchant(order.id, 'refunds', body, key)
      assert.equal(refused.body.error.code, 'invalid_body', refused.text)
    }
    assert.equal((await store.merchant(order.id, 'refunds', { amount_cents: 5 }, key)).status, 201)
    const keyless = await store.shop.merchant.post(`/v1/merchant/orders/${order.id}/refunds`, {})
    assert.equal(keyless.body.error.code, 'idempotency_key_required')
  })

  test('a misspelt member is named and nothing is refunded', async () => {
    const { order, items, charges } = await store.place()
    const key = randomUUID()
    const [item] = items
    const units = [{ order_item_id: item.id, quantity: 1, amount_cents: 5 }]
    const misspelt: [verb: string, body: object, path: string][] = [
      ['refunds', { amountCents: 500 }, 'amountCents'],
      ['refunds/preview', { amount: 500 }, 'amount'],
      ['refunds', { items: units }, 'items.0.amount_cents'],
      ['refunds', { '4111111111111111': 1 }, '*'],
    ]
    for (const [verb, body, path] of misspelt) {
      const refused = await store.merchant(order.id, verb, body, key)
      assert.equal(refused.status, 400, refused.text)
      assert.equal(refused.body.error.code, 'invalid_body')
      assert.equal(refused.body.issues.length, 1)
      assert.equal(refused.body.issues[0].path, path)
      assert.match(refused.body.issues[0].message, /^is not a known member; /)
    }
    const { charge_id } = charges[0]
    const shopper = await store.shopper(order.id, 'refund', { charge_id, amount: 500 }, key)
    assert.equal(shopper.body.issues?.[0].path, 'amount', shopper.text)
    assert.equal(await store.net(order.id), 2_000)
    assert.equal((await store.merchant(order.id, 'refunds', { amount_cents: 5 }, key)).status, 201)
  })

  test('units are refunded at the price paid, with their tax, and the last unit gets the rest', async () => {
    const { order, items } = await store.place({
      items: [{ variant_id: store.shop.variants[333], quantity: 3 }],
      shipping: { mode: 'flat', flat_rate_cents: 500, expedited_rate_cents: 900, max_cents: 900 },
      tax: { provider: 'flat_rate', rate_bps: 825 },
    })
    const [item] = items
    const request = { items: [{ order_item_id: item.id, quantity: 1 }] }
    const preview = await store.shop.merchant.post(
      `/v1/merchant/orders/${order.id}/refunds/preview`,
      request,
    )
    assert.equal(preview.status, 200, preview.text)
    const first = await store.merchant(order.id, 'refunds', request)
    assert.equal(first.status, 201, first.text)
    assert.equal(first.body.refund.amount_cents, preview.body.amount_cents)
    assert.equal(first.body.refund.product_cents, 333)
    assert.equal(first.body.refund.shipping_cents, 0)
    assert.equal(preview.body.remaining_cents, order.total_cents - preview.body.amount_cents)
    const rest = { items: [{ order_item_id: item.id, quantity: 2 }], shipping_cents: 500 }
    const last = await store.merchant(order.id, 'refunds', rest)
    assert.equal(last.body.order.status, 'refunded', last.text)
    const amounts = [first, last].map(({ body }) => body.refund.amount_cents)
    assert.equal(amounts[0] + amounts[1], order.total_cents)
    assert.equal((await store.read(order.id)).items[0].refunded_quantity, 3)
  })

  test('no more units and no more shipping are refunded than were bought', async () => {
    const { order, items } = await store.place()
    const three = { items: [{ order_item_id: items[0].id, quantity: 3 }] }
    const refused = await store.merchant(order.id, 'refunds', three)
    assert.equal(refused.body.error.code, 'amount_exceeds_refundable', refused.text)
    assert.equal(refused.body.items[0].refundable_quantity, 2)
    const twice = {
      items: [three.items[0], three.items[0]].map((each) => ({ ...each, quantity: 2 })),
    }
    assert.equal((await store.merchant(order.id, 'refunds', twice)).status, 422)
    const shipping = await store.merchant(order.id, 'refunds', { shipping_cents: 1 })
    assert.equal(shipping.body.refundable_cents, 0)
  })

  test('a refund of zero shipping is refused, and does not refund everything', async () => {
    const { order } = await store.place()
    for (const verb of ['refunds/preview', 'refunds']) {
      const none = await store.merchant(order.id, verb, { shipping_cents: 0 })
      assert.equal(none.status, 409, none.text)
      assert.equal(none.body.error.code, 'not_refundable')
    }
    assert.equal(await store.net(order.id), 2_000)
  })

  test('tenders are refunded in the reverse order of payment, each no more than it paid', async () => {
    const gift = await giveBalances(store, 300, 700)
    const { order, charges } = await store.place({
      apply_store_credit: true,
      gift_card_code: gift.code,
    })
    const [credit, giftCard, card] = charges
    assert.deepEqual(
      charges.map((each: { amount_cents: number }) => each.amount_cents),
      [300, 700, 1_000],
    )
    const first = await store.merchant(order.id, 'refunds', { amount_cents: 1_400 })
    assert.deepEqual(first.body.refund.tenders, [
      { charge_id: card.charge_id, tender: 'card', amount_cents: 1_000 },
      { charge_id: giftCard.charge_id, tender: 'gift_card', amount_cents: 400 },
    ])
    await store.shop.merchant.post(`/v1/merchant/gift-cards/${gift.gift_card.id}/disable`)
    const foreseen = await store.merchant(order.id, 'refunds/preview', {})
    assert.deepEqual(
      foreseen.body.tenders,
      [
        { charge_id: giftCard.charge_id, tender: 'store_credit', amount_cents: 300 },
        { charge_id: credit.charge_id, tender: 'store_credit', amount_cents: 300 },
      ],
      'the preview knows where it goes',
    )
    const rest = await store.merchant(order.id, 'refunds', {})
    assert.deepEqual(
      rest.body.refund.tenders
        .toSorted((a: { amount_cents: number }, b: { amount_cents: number }) =>
          a.amount_cents === b.amount_cents ? 0 : a.amount_cents - b.amount_cents,
        )
        .map((each: { tender: string }) => each.tender),
      ['store_credit', 'store_credit'],
      'a disabled gift card does not take it',
    )
    assert.equal(rest.body.order.status, 'refunded')
    const account = await store.shop.merchant.get('/v1/merchant/store-credit/ann')
    assert.equal(account.body.accounts[0].balance_cents, 600)
  })

  test('a preview names the tenders, also store credit in place of a gift card that cannot be used', async () => {
    const gift = await giveBalances(store, 300, 700)
    const { order } = await store.place({ apply_store_credit: true, gift_card_code: gift.code })
    await store.shop.merchant.post(`/v1/merchant/gift-cards/${gift.gift_card.id}/disable`)
    const preview = await store.merchant(order.id, 'refunds/preview', {})
    const given = await store.merchant(order.id, 'refunds', {})
    assert.equal(given.status, 201, given.text)
    const tenders = given.body.refund.tenders.map((each: { tender: string }) => each.tender)
    assert.deepEqual(tenders, ['card', 'store_credit', 'store_credit'])
    assert.deepEqual(preview.body.tenders, given.body.refund.tenders)
  })

  test('the later of two cards is refunded first, and is listed first everywhere', async () => {
    for (const method of ['original', 'store_credit']) {
      const { order, items } = await store.place({ customer_ref: 'two-cards' })
      const edits = [{ order_item_id: items[0].id, quantity: 3 }]
      await store.shopper(order.id, 'edit', { edits, card: APPROVED })
      // Ids are random: here the later charge has the id that would sort last.
      const { rows } = await store.superuser.query(
        `update charges as c set created_at = created_at + interval '1 hour'
           from (select max(charge_id::text) as id from charges where order_id = $1) as last
          where c.charge_id::text = last.id returning charge_id`,
        [order.id],
      )
      const preview = await store.merchant(order.id, 'refunds/preview', { method })
      const given = await store.merchant(order.id, 'refunds', { method })
      assert.equal(given.status, 201, given.text)
      const { tenders } = given.body.refund
      assert.deepEqual([tenders.length, tenders[0].charge_id], [2, rows[0].charge_id])
      assert.deepEqual(preview.body.tenders, tenders)
      assert.deepEqual((await store.read(order.id)).refunds[0].tenders, tenders)
    }
  })

  test("a shopper reads their own reason for a refund, and not the merchant's", async () => {
    const { order, charges } = await store.place()
    const [charge] = charges
    const own = { charge_id: charge.charge_id, amount_cents: 100, reason: 'came late' }
    await store.shopper(order.id, 'refund', own)
    const key = randomUUID()
    const reason = 'to be rid of them'
    await store.merchant(order.id, 'refunds', { amount_cents: 100, reason }, key)
    const read = await store.app.storefront.get(
      `/v1/tenants/acme/orders/${order.id}?customer_ref=ann`,
    )
    const reasons = read.body.refunds.map((each: { reason: unknown }) => each.reason)
    assert.deepEqual(reasons, ['came late', null])
    const lookup = await store.app.storefront.get(`/v1/tenants/acme/idempotency/refund/${key}`)
    assert.equal(lookup.status, 200, lookup.text)
    assert.ok(!lookup.text.includes(reason), lookup.text)
  })

  test('a merchant may refund to store credit, and no gateway is asked', async () => {
    const { order } = await store.place({ customer_ref: 'bea' })
    const answer = await store.merchant(order.id, 'refunds', { method: 'store_credit' })
    assert.equal(answer.status, 201, answer.text)
    assert.equal(answer.body.refund.method, 'store_credit')
    assert.equal(await store.net(order.id), 2_000)
    const account = await store.shop.merchant.get('/v1/merchant/store-credit/bea')
    assert.equal(account.body.accounts[0].balance_cents, 2_000)
  })

  test('a refund has one journal, one event and one entry in the timeline', async () => {
    const { order } = await store.place()
    await store.merchant(order.id, 'refunds', { amount_cents: 700 })
    const journals = await store.superuser.query(
      `select j.kind, e.account, e.amount_cents::int
         from ledger_journals j join ledger_entries e using (tenant_ref)
        where e.journal_id = j.id and j.order_id = $1 and j.kind = 'order.refunded'
        order by e.amount_cents`,
      [order.id],
    )
    assert.deepEqual(
      journals.rows.map(({ account, amount_cents }) => [account, amount_cents]),
      [
        ['card_clearing', -700],
        ['refund', 700],
      ],
    )
    const events = await store.superuser.query(
      `select count(*)::int from webhook_events
        where order_id = $1 and type = 'commerce.order.refunded.v1'`,
      [order.id],
    )
    assert.equal(events.rows[0].count, 1)
    const { timeline } = await store.read(order.id)
    assert.equal(timeline.at(-1).type, 'refunded')
  })

  test('two hundred refunds at once never exceed what was paid', async () => {
    const { order, charges } = await store.place()
    const { charge_id } = charges[0]
    const url = `/v1/tenants/acme/orders/${order.id}/refund`
    const answers = await Promise.all(
      Array.from({ length: 200 }, () =>
        store.app.storefront.post(url, { charge_id, amount_cents: 30 }, keyed()),
      ),
    )
    const statuses = Map.groupBy(answers, ({ status }) => status)
    assert.equal(statuses.get(200)?.length, 66, JSON.stringify([...statuses.keys()]))
    assert.equal(statuses.get(422)?.length, 134)
    assert.equal(await store.net(order.id), 20)
    assert.equal((await store.read(order.id)).order.refunded_cents, 1_980)
  })
})
