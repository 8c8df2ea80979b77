import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Answer } from '../../harness/app.ts'
import { APPROVED } from '../checkout/setup.ts'
import { keyed, type OrderStore, shareOrderStore } from '../orders/setup.ts'
import { codeOf, RECIPIENT, refusal, sellGiftCard, spend } from './setup.ts'

const shared = shareOrderStore()

interface Bought {
  id: string
  lines: string[]
  cards: string[]
}

/** An order of one unit of goods at 1,000 and some gift cards of 5,000. */
async function buy(store: OrderStore, quantity: number, withGoods = true): Promise<Bought> {
  const variant_id = await sellGiftCard(store.shop)
  const goods = { variant_id: store.shop.variants[1_000], quantity: 1 }
  const cards = { variant_id, quantity, gift_card: RECIPIENT }
  const { order, items } = await store.place({ items: withGoods ? [goods, cards] : [cards] })
  const { gift_cards } = await store.read(order.id)
  return {
    id: order.id,
    lines: items.map(({ id }: { id: string }) => id),
    cards: gift_cards[0].cards.map((each: { gift_card_id: string }) => each.gift_card_id),
  }
}

const readCard = async ({ shop }: OrderStore, id: string): Promise<Answer['body']> =>
  (await shop.merchant.get(`/v1/merchant/gift-cards/${id}`)).body.gift_card

const spendSome = (store: OrderStore, gift_card_id: string) =>
  spend(store.app, store.shop, { gift_card_id, variant_id: store.shop.variants[333] })

describe('a refund of a bought gift card', () => {
  test('disables the card and ends the debt to its holder, and leaves sales as they were', async () => {
    const store = shared.current
    const { id, lines, cards } = await buy(store, 2)
    const wanted = { items: [{ order_item_id: lines[1], quantity: 1 }] }
    const shown = await store.merchant(id, 'refunds/preview', wanted)
    const answer = await store.merchant(id, 'refunds', wanted)
    assert.equal(answer.status, 201, answer.text)
    const { refund } = answer.body
    assert.deepEqual(
      [refund.amount_cents, refund.gift_card_cents, refund.product_cents, refund.tax_cents],
      [5_000, 5_000, 0, 0],
    )
    assert.deepEqual(
      [shown.body.amount_cents, shown.body.gift_card_cents],
      [refund.amount_cents, refund.gift_card_cents],
      'the preview is the same function',
    )
    const { rows } = await store.superuser.query(
      `select e.account, sum(e.amount_cents)::int as cents from ledger_journals j
         join ledger_entries e on e.tenant_ref = j.tenant_ref and e.journal_id = j.id
        where j.order_id = $1 and j.kind = 'order.refunded' and e.amount_cents <> 0
        group by 1 order by 1`,
      [id],
    )
    assert.deepEqual(rows, [
      { account: 'card_clearing', cents: -5_000 },
      { account: 'gift_card', cents: 5_000 },
    ])
    const states = await Promise.all(cards.map((card) => readCard(store, card)))
    assert.deepEqual(
      states.map(({ status, balance_cents }) => [status, balance_cents]).toSorted(),
      [
        ['active', 5_000],
        ['disabled', 0],
      ],
    )
    assert.equal(answer.body.order.status, 'partially_refunded')
  })

  test('is refused once a part of the card is spent, and refunds another card of the line instead', async () => {
    const store = shared.current
    const { id, lines, cards } = await buy(store, 2)
    await spendSome(store, cards[0] ?? '')
    const both = { items: [{ order_item_id: lines[1], quantity: 2 }] }
    const refused = await store.merchant(id, 'refunds', both)
    assert.deepEqual(refusal(refused), [409, 'gift_card_spent'])
    assert.deepEqual(refused.body.items, [
      { order_item_id: lines[1], requested: 2, refundable_quantity: 1 },
    ])
    assert.deepEqual(refusal(await store.merchant(id, 'refunds/preview', both)), [
      409,
      'gift_card_spent',
    ])
    const one = { items: [{ order_item_id: lines[1], quantity: 1 }] }
    assert.equal((await store.merchant(id, 'refunds', one)).status, 201)
    assert.equal((await readCard(store, cards[0] ?? '')).status, 'active')
    assert.equal((await readCard(store, cards[1] ?? '')).status, 'disabled')
    const again = await store.merchant(id, 'refunds', one)
    assert.deepEqual(refusal(again), [409, 'gift_card_spent'])
  })

  test('a refund of a bought gift card by an amount takes nothing from gift cards, and a full refund takes all of them', async () => {
    const store = shared.current
    const { id, cards } = await buy(store, 1)
    const much = await store.merchant(id, 'refunds', { amount_cents: 1_001 })
    assert.deepEqual(refusal(much), [422, 'amount_exceeds_refundable'])
    assert.equal(much.body.refundable_cents, 1_000)
    const some = await store.merchant(id, 'refunds', { amount_cents: 400 })
    assert.deepEqual([some.status, some.body.refund.gift_card_cents], [201, 0])
    assert.equal((await readCard(store, cards[0] ?? '')).balance_cents, 5_000)
    const rest = await store.merchant(id, 'refunds')
    assert.deepEqual([rest.status, rest.body.refund.amount_cents], [201, 5_600])
    assert.equal(rest.body.refund.gift_card_cents, 5_000)
    assert.deepEqual(
      [rest.body.order.status, (await readCard(store, cards[0] ?? '')).status],
      ['refunded', 'disabled'],
    )
  })

  test('a refund of a bought gift card by a shopper takes the whole charge with its cards, or an amount of the goods', async () => {
    const store = shared.current
    const { id, cards } = await buy(store, 1)
    const { charges } = await store.read(id)
    const [{ charge_id }] = charges
    const much = await store.shopper(id, 'refund', { charge_id, amount_cents: 2_000 })
    assert.deepEqual(refusal(much), [422, 'amount_exceeds_refundable'])
    const all = await store.shopper(id, 'refund', { charge_id })
    assert.equal(all.status, 200, all.text)
    assert.equal((await readCard(store, cards[0] ?? '')).status, 'disabled')
  })

  test('leaves goods refundable when a card is spent, up to what the goods cost', async () => {
    const store = shared.current
    const { id, lines, cards } = await buy(store, 1)
    await spendSome(store, cards[0] ?? '')
    assert.deepEqual(refusal(await store.merchant(id, 'refunds')), [409, 'gift_card_spent'])
    const goods = { items: [{ order_item_id: lines[0], quantity: 1 }] }
    assert.equal((await store.merchant(id, 'refunds', goods)).status, 201)
    const more = await store.merchant(id, 'refunds', { amount_cents: 1 })
    assert.deepEqual(refusal(more), [422, 'amount_exceeds_refundable'])
  })

  test('runs once when many begin at once, also beside a shopper who spends the card', async () => {
    const store = shared.current
    const { id, lines, cards } = await buy(store, 1)
    const code = await codeOf(store.app, 'acme', cards[0] ?? '')
    const wanted = { items: [{ order_item_id: lines[1], quantity: 1 }] }
    const pay = () =>
      store.app.storefront.post(
        '/v1/tenants/acme/checkout',
        {
          customer_ref: 'robin',
          items: [{ variant_id: store.shop.variants[333], quantity: 1 }],
          gift_card_code: code,
          card: APPROVED,
        },
        keyed(),
      )
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, at) =>
        at % 2 === 0 ? store.merchant(id, 'refunds', wanted) : pay(),
      ),
    )
    const refunds = answers.filter((_, at) => at % 2 === 0)
    const done = refunds.filter(({ status }) => status === 201).length
    const paid = answers.filter((answer, at) => at % 2 === 1 && answer.status === 201).length
    assert.ok(done + Math.min(paid, 1) >= 1)
    assert.ok(done <= 1, 'no card is refunded twice')
    if (done === 1) assert.equal(paid, 0, 'what is refunded was not spent')
    const { balance_cents } = await readCard(store, cards[0] ?? '')
    assert.equal(balance_cents, done === 1 ? 0 : 5_000 - 333 * paid)
  })
})

describe('a cancellation', () => {
  test('a cancellation of an order of gift cards alone disables them', async () => {
    const store = shared.current
    const { id, cards } = await buy(store, 2, false)
    const answer = await store.merchant(id, 'cancel', { reason: 'customer' })
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.body.order.status, 'cancelled')
    for (const card of cards) assert.equal((await readCard(store, card)).status, 'disabled')
  })

  test('is refused once a part of a card is spent', async () => {
    const store = shared.current
    const { id, cards } = await buy(store, 1)
    await spendSome(store, cards[0] ?? '')
    const refused = await store.merchant(id, 'cancel', { reason: 'customer' })
    assert.deepEqual(refusal(refused), [409, 'gift_card_spent'])
    assert.equal((await store.read(id)).order.status, 'placed')
  })

  test('a cancellation of the rest of a partly shipped order keeps its gift cards', async () => {
    const store = shared.current
    const variant_id = await sellGiftCard(store.shop)
    const { order, items } = await store.place({
      items: [
        { variant_id: store.shop.variants[1_000], quantity: 2 },
        { variant_id, quantity: 1, gift_card: RECIPIENT },
      ],
    })
    const { merchant } = store.shop
    const packed = await merchant.post(`/v1/merchant/orders/${order.id}/fulfillments`, {
      items: [{ order_item_id: items[0].id, quantity: 1 }],
    })
    await merchant.post(`/v1/merchant/fulfillments/${packed.body.fulfillment.id}/ship`)
    const rest = await store.merchant(order.id, 'cancel-remaining', { reason: 'inventory' })
    assert.deepEqual([rest.status, rest.body.delta_cents], [200, -1_000], rest.text)
    assert.equal(rest.body.order.status, 'shipped')
    const [{ gift_card_id }] = (await store.read(order.id)).gift_cards[0].cards
    assert.equal((await readCard(store, gift_card_id)).balance_cents, 5_000)
  })
})

describe('an edit', () => {
  test('cannot change the number of gift cards, and changes the goods beside them', async () => {
    const store = shared.current
    const { id, lines, cards } = await buy(store, 1)
    for (const quantity of [0, 2]) {
      const refused = await store.shopper(id, 'edit', {
        edits: [{ order_item_id: lines[1], quantity }],
        card: APPROVED,
      })
      assert.deepEqual(refusal(refused), [409, 'gift_card_issued'])
    }
    const edits = [
      { order_item_id: lines[0], quantity: 3 },
      { order_item_id: lines[1], quantity: 1 },
    ]
    const more = await store.shopper(id, 'edit', { edits, card: APPROVED })
    assert.deepEqual([more.status, more.body.delta_cents], [200, 2_000], more.text)
    const none = await store.shopper(id, 'edit', {
      edits: [{ order_item_id: lines[0], quantity: 0 }],
    })
    assert.deepEqual([none.status, none.body.delta_cents], [200, -3_000], none.text)
    assert.equal(none.body.order.status, 'delivered', 'only gift cards are left')
    assert.equal((await readCard(store, cards[0] ?? '')).balance_cents, 5_000)
  })

  test('an edit that removes everything cancels the order with its gift cards', async () => {
    const store = shared.current
    const { id, lines, cards } = await buy(store, 1)
    const edits = lines.map((order_item_id) => ({ order_item_id, quantity: 0 }))
    const answer = await store.shopper(id, 'edit', { edits })
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.body.order.status, 'cancelled')
    assert.equal((await readCard(store, cards[0] ?? '')).status, 'disabled')
  })
})

describe('a lost dispute', () => {
  const dispute = (store: OrderStore, id: string, outcome: string) =>
    store.app.operator.post(`/v1/stores/acme/orders/${id}/dispute`, { outcome })

  test('takes what is left on the cards, and books the spent part as a loss', async () => {
    const store = shared.current
    const { id, cards } = await buy(store, 2)
    await spendSome(store, cards[0] ?? '')
    assert.equal((await dispute(store, id, 'opened')).status, 200)
    const lost = await dispute(store, id, 'lost')
    assert.equal(lost.status, 200, lost.text)
    assert.equal(lost.body.order.status, 'refunded')
    for (const card of cards) {
      const { status, balance_cents } = await readCard(store, card)
      assert.deepEqual([status, balance_cents], ['disabled', 0])
    }
    const { rows } = await store.superuser.query(
      `select sum(e.amount_cents)::int as cents from ledger_journals j
         join ledger_entries e on e.tenant_ref = j.tenant_ref and e.journal_id = j.id
        where j.order_id = $1 and e.account = 'dispute_loss'`,
      [id],
    )
    assert.equal(rows[0].cents, 333)
  })
})

describe('gift cards', () => {
  test('are never packed and never returned', async () => {
    const store = shared.current
    const { id, lines } = await buy(store, 1)
    const { merchant } = store.shop
    const packed = await merchant.post(`/v1/merchant/orders/${id}/fulfillments`, {
      items: [{ order_item_id: lines[1], quantity: 1 }],
    })
    assert.deepEqual(refusal(packed), [422, 'quantity_exceeds_open'])
    const all = await merchant.post(`/v1/merchant/orders/${id}/fulfillments`)
    const { fulfillment } = all.body
    assert.equal(fulfillment.items.length, 1)
    const shipped = await merchant.post(`/v1/merchant/fulfillments/${fulfillment.id}/ship`)
    assert.equal(shipped.status, 200, shipped.text)
    assert.equal((await store.read(id)).order.status, 'shipped')
    const back = await store.app.storefront.post(
      `/v1/tenants/acme/orders/${id}/returns`,
      { customer_ref: 'ann', lines: [{ order_item_id: lines[1], quantity: 1 }] },
      keyed(),
    )
    assert.deepEqual(refusal(back), [409, 'final_sale'])
    const made = await merchant.post('/v1/merchant/returns', {
      order_id: id,
      lines: [{ order_item_id: lines[1], quantity: 1 }],
    })
    assert.deepEqual(refusal(made), [422, 'quantity_exceeds_returnable'])
  })

  test('gift cards of a pending refund cannot be spent, adjusted or expired', async () => {
    const store = shared.current
    const { cards } = await buy(store, 1)
    const [card = ''] = cards
    await store.superuser.query(
      `update gift_cards set pending_refund_id = gen_random_uuid(), pending_refund_cents = 5000
        where id = $1`,
      [card],
    )
    const { status, refund_pending } = await readCard(store, card)
    assert.deepEqual([status, refund_pending], ['disabled', true])
    const { merchant } = store.shop
    const path = `/v1/merchant/gift-cards/${card}`
    const adjusted = await merchant.post(
      `${path}/adjust`,
      { delta_cents: -1, reason: 'a test' },
      keyed(),
    )
    assert.deepEqual(refusal(adjusted), [409, 'invalid_transition'])
    await merchant.post(`${path}/enable`)
    const code = await codeOf(store.app, 'acme', card)
    const balance = '/v1/tenants/acme/gift-cards/balance'
    assert.equal((await store.app.storefront.post(balance, { code })).status, 404)
    await store.superuser.query(
      `update gift_cards set pending_refund_id = null, pending_refund_cents = null where id = $1`,
      [card],
    )
    assert.equal((await store.app.storefront.post(balance, { code })).status, 200)
  })
})
