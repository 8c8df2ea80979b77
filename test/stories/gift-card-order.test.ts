import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { Answer } from '../harness/app.ts'
import { suiteScope } from '../harness/scope.ts'
import { addVariant, enable } from '../modules/checkout/setup.ts'
import { codeOf } from '../modules/gift-cards/setup.ts'
import { type OrderStore, openOrderStore } from '../modules/orders/setup.ts'
import { ok, refusal, returnsOf } from '../modules/returns/setup.ts'

/**
 * A gift card is bought for Robin, who pays for a part of an order with it, sends goods back and gets
 * their money on the card again. The buyer's own refund is refused while the card is spent.
 */
describe('a return for a gift-card order', () => {
  let store: OrderStore
  const scope = suiteScope()
  before(async () => {
    store = await openOrderStore(scope)
  })

  const cardOf = async (id: string) =>
    ok(await store.shop.merchant.get(`/v1/merchant/gift-cards/${id}`)).gift_card as Answer['body']

  test('refunds goods to the card that paid, and the gift card to its buyer only while it is unspent', async () => {
    const { merchant, variants } = store.shop
    await enable(merchant, 'gift_cards')
    const giftCard = await addVariant(merchant, 3_000, { name: 'Gift card' }, { gift_card: true })

    // Ann buys a card for Robin: nothing to ship, 3,000 owed, no sale.
    const bought = await store.place({
      customer_ref: 'ann',
      items: [
        {
          variant_id: giftCard,
          quantity: 1,
          gift_card: { recipient_email: 'robin@example.com', recipient_name: 'Robin' },
        },
      ],
    })
    assert.equal(bought.order.status, 'delivered')
    const gift = (await store.read(bought.order.id)).gift_cards[0].cards[0].gift_card_id
    await store.check()

    // Robin pays 3,000 of 4,500 with it, the rest by card, and gets two parcels' worth of goods.
    const code = await codeOf(store.app, 'acme', gift)
    const spent = await store.place({
      customer_ref: 'robin',
      items: [
        { variant_id: variants[1_000], quantity: 2 },
        { variant_id: variants[2_500], quantity: 1 },
      ],
      gift_card_code: code,
    })
    assert.deepEqual(
      spent.charges.map(({ tender, amount_cents }: Answer['body']) => [tender, amount_cents]),
      [
        ['gift_card', 3_000],
        ['card', 1_500],
      ],
    )
    assert.equal((await cardOf(gift)).status, 'depleted')
    const { ship, create, receive } = returnsOf(store)
    await ship(spent.order.id)
    await store.check()

    // Ann wants her money back, and cannot have it: the card is spent.
    const refused = await store.merchant(bought.order.id, 'refunds')
    assert.deepEqual(refusal(refused), [409, 'gift_card_spent'])
    const cancelled = await store.merchant(bought.order.id, 'cancel', { reason: 'customer' })
    assert.deepEqual(refusal(cancelled), [409, 'gift_card_spent'])

    // Robin sends the goods back: first the card's 1,500, then the gift card.
    const lines = spent.items.map(({ id, quantity }: Answer['body']) => ({
      order_item_id: id,
      quantity,
    }))
    const { return: returned } = ok(await create(spent.order.id, lines), 201)
    const received = ok(
      await receive(returned.id, {
        lines: returned.lines.map((line: Answer['body']) => ({
          return_line_id: line.id,
          received_quantity: line.quantity,
          disposition: 'restock',
        })),
        refund: { method: 'original' },
      }),
    )
    assert.deepEqual(
      received.refund.tenders.map(({ tender, amount_cents }: Answer['body']) => [
        tender,
        amount_cents,
      ]),
      [
        ['card', 1_500],
        ['gift_card', 3_000],
      ],
    )
    const restored = await cardOf(gift)
    assert.deepEqual([restored.status, restored.balance_cents], ['active', 3_000])
    await store.check()

    // The card is whole again, so that Ann can be refunded; after that it cannot be spent.
    const refunded = await store.merchant(bought.order.id, 'refunds')
    assert.equal(refunded.status, 201, refunded.text)
    assert.equal(refunded.body.order.status, 'refunded')
    assert.deepEqual(
      [(await cardOf(gift)).status, (await cardOf(gift)).balance_cents],
      ['disabled', 0],
    )
    const late = await store.app.storefront.post('/v1/tenants/acme/gift-cards/balance', { code })
    assert.equal(late.status, 404)
    await store.check()
  })
})
