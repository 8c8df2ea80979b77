import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { numberNewEvents } from '../../../src/modules/webhooks/jobs.ts'
import type { Answer } from '../../harness/app.ts'
import { addVariant, checkout, DECLINED, enable } from '../checkout/setup.ts'
import { APPROVED, giveBalances, keyed, type OrderStore, openOrderStore } from '../orders/setup.ts'

interface FeedEvent {
  type: string
  sequence: number
  data: Record<string, unknown> & {
    order?: Record<string, unknown>
    items?: unknown
    refund?: { refund_id: string }
  }
}

/** Reads the events since the last call. */
function openFeed({ app, shop }: OrderStore) {
  let after = 0
  return async (): Promise<FeedEvent[]> => {
    while ((await numberNewEvents(app.runtime.workerDatabase)) > 0);
    const { body } = await shop.merchant.get(`/v1/merchant/events?after=${after}&limit=500`)
    after = body.sealed_to
    return body.events
  }
}

/** The envelope of an event as openapi.json describes it, with every `$ref` replaced by its shape. */
const published = JSON.parse(
  readFileSync(new URL('../../../generated/openapi.json', import.meta.url), 'utf8'),
)
const inlineRefs = (shape: unknown): unknown => {
  if (Array.isArray(shape)) return shape.map(inlineRefs)
  if (typeof shape !== 'object' || shape === null) return shape
  const { $ref } = shape as { $ref?: string }
  if ($ref !== undefined)
    return inlineRefs(published.components.schemas[$ref.split('/').at(-1) ?? ''])
  const inner = Object.entries(shape).map(([name, value]) => [name, inlineRefs(value)])
  const { type, properties } = shape as { type?: string; properties?: object }
  const isClosed = type === 'object' && properties !== undefined
  return { ...Object.fromEntries(inner), ...(isClosed && { additionalProperties: false }) }
}
const envelopeOf = (type: string) =>
  inlineRefs(
    published.webhooks[type].post.requestBody.content['application/json'].schema,
  ) as TSchema

const PERSONAL = [APPROVED.ccnumber.replaceAll(' ', ''), '203.0.113.9', 'my own words', 'For Bea']

test('emits each change of an order once, with what the merchant then reads', async (t) => {
  const desk = await openOrderStore(t)
  const { app, shop } = desk
  const readNewEvents = openFeed(desk)
  const { merchant, variants } = shop
  await enable(merchant, 'subscriptions')
  const monthly = { is_subscription: true, subscription_interval: 'month' }
  const box = await addVariant(merchant, 700, monthly)
  await merchant.post('/v1/merchant/fraud/bans', {
    kind: 'email',
    value: 'odd@shop.test',
    action: 'review',
  })
  const gift = await giveBalances(desk, 500, 600)
  await readNewEvents()

  /** Does the work, and compares its events with what the merchant can read. */
  const expect = async (types: string, work: () => Promise<Answer>, ...orderIds: string[]) => {
    const answer = await work()
    const emitted = await readNewEvents()
    const names = emitted.map(({ type }) => type.replace(/^commerce\.|\.v1$/g, '')).join(' ')
    assert.equal(names, types, answer.text)
    const ids = orderIds.length > 0 ? orderIds : [answer.body.order?.id]
    for (const { sequence, type, data, ...rest } of emitted) {
      const envelope = { ...rest, type, tenant_ref: 'acme', data }
      assert.deepEqual([...Value.Errors(envelopeOf(type), envelope)], [], `${sequence}`)
      const text = JSON.stringify(data)
      for (const word of PERSONAL) assert.ok(!text.includes(word), `${type} has ${word}`)
      if (data.order === undefined) continue
      assert.ok(ids.includes(data.order.id), type)
      const { order, items, refunds } = await desk.read(String(data.order.id))
      assert.deepEqual(data.order, order, type)
      if (data.items !== undefined) assert.deepEqual(data.items, items, type)
      if (data.refund === undefined) continue
      const { refund_id } = data.refund
      const { reason: _, ...refund } = refunds.find(
        (each: { refund_id: string }) => each.refund_id === refund_id,
      )
      assert.deepEqual(data.refund, refund)
    }
    return answer.body
  }
  const buy = (more: object = {}, key?: string) => {
    const items = [{ variant_id: variants[1_000], quantity: 2 }]
    const who = { customer_ref: 'ann', email: 'ann@shop.test', ip: '203.0.113.9' }
    return () => checkout(app, shop, { ...who, items, card: APPROVED, ...more }, key)
  }
  const dispute = (id: string, body: object) => () =>
    app.operator.post(`/v1/stores/acme/orders/${id}/dispute`, body)
  const by =
    (who: 'merchant' | 'shopper', id: string, verb: string, body: object = {}, key?: string) =>
    () =>
      desk[who](id, verb, body, key)

  await t.test('emits one event for a checkout, its replay, and a declined one', async () => {
    const key = randomUUID()
    await expect('order.placed', buy({}, key))
    await expect('', buy({}, key))
    await expect('', buy({ card: DECLINED }))
  })

  await t.test('emits one event each for holding, editing, refunding and cancelling', async () => {
    const { order, items } = await expect('order.placed', buy())
    const edits = (quantity: number) => ({ edits: [{ order_item_id: items[0].id, quantity }] })
    const of = (types: string, verb: string, body: object = {}, key?: string) =>
      expect(types, by('merchant', order.id, verb, body, key), order.id)
    await of('order.held', 'hold', { reason: 'to be looked at' })
    await of('', 'hold')
    await of('order.released', 'release')
    const more = { ...edits(3), card: APPROVED }
    await expect('order.edited', by('shopper', order.id, 'edit', more), order.id)
    const key = randomUUID()
    await of('order.edited', 'edit', edits(2), key)
    await of('', 'edit', edits(2), key)
    await of('order.refunded', 'refunds', { amount_cents: 100, reason: 'my own words' })
    await of('', 'refunds', { amount_cents: 1_000_000 })
    await of('order.refunded order.cancelled', 'cancel', {
      reason: 'customer',
      note: 'my own words',
    })
    await of('', 'cancel', { reason: 'customer' })
  })

  await t.test(
    'emits one event for cancelling an order of several tenders, and one with a subscription',
    async () => {
      const tenders = { gift_card_code: gift.code, apply_store_credit: true }
      const { order } = await expect('order.placed', buy(tenders))
      const all = 'order.refunded order.cancelled'
      await expect(all, by('shopper', order.id, 'cancel'), order.id)
      const lines = { subscribe: true, items: [{ variant_id: box, quantity: 1 }] }
      const { order: begun, items } = await expect('order.placed', buy(lines))
      const none = { edits: [{ order_item_id: items[0].id, quantity: 0 }] }
      const ended = `${all} subscription.cancelled`
      await expect(ended, by('merchant', begun.id, 'edit', none), begun.id)
    },
  )

  await t.test('emits one event for an order held before its payment', async () => {
    const odd = { customer_ref: 'odd', email: 'odd@shop.test' }
    const { order } = await expect('order.held', buy(odd))
    const both = 'order.placed order.released'
    await expect(both, by('merchant', order.id, 'release'), order.id)
    const { order: other } = await expect('order.held', buy(odd))
    const url = `/v1/merchant/fraud/reviews/${other.id}/reject`
    await expect('order.cancelled', () => merchant.post(url, {}, keyed()), other.id)
  })

  await t.test('emits one event each for a dispute and its outcome', async () => {
    const { order } = await expect('order.placed', buy())
    const of = (types: string, body: object) => expect(types, dispute(order.id, body), order.id)
    await of('dispute.opened order.held', { outcome: 'opened' })
    await of('', { outcome: 'opened' })
    await of('order.released', { outcome: 'won' })
    await of('dispute.opened order.held', { outcome: 'opened' })
    await of('order.refunded order.released', { outcome: 'lost', amount_cents: 500 })
    await of('dispute.opened order.held', { outcome: 'opened' })
    await of('order.refunded', { outcome: 'lost' })
  })

  await t.test(
    'emits an event when a dispute that takes nothing more lets the remaining units ship',
    async () => {
      await merchant.post(`/v1/merchant/gift-cards/${gift.gift_card.id}/enable`)
      const { order } = await expect('order.placed', buy({ gift_card_code: gift.code }))
      const card = { amount_cents: order.total_cents - 600 }
      await expect('order.refunded', by('merchant', order.id, 'refunds', card), order.id)
      await expect('dispute.opened order.held', dispute(order.id, { outcome: 'opened' }), order.id)
      await expect('order.released', dispute(order.id, { outcome: 'lost', ...card }), order.id)
    },
  )

  await t.test(
    'emits one event each for a return: requested, replayed, approved, received, and its earlier refund',
    async () => {
      const { order, items } = await expect('order.placed', buy())
      const packed = await merchant.post(`/v1/merchant/orders/${order.id}/fulfillments`)
      const ship = `/v1/merchant/fulfillments/${packed.body.fulfillment.id}/ship`
      await expect('order.shipped', () => merchant.post(ship), order.id)
      const lines = [{ order_item_id: items[0].id, quantity: 1, reason: 'my own words' }]
      const key = keyed()
      const url = `/v1/tenants/acme/orders/${order.id}/returns`
      const ask = () => app.storefront.post(url, { customer_ref: 'ann', lines }, key)
      const { return: asked } = await expect('return.requested', ask, order.id)
      await expect('', ask, order.id)
      const own = `/v1/merchant/returns/${asked.id}`
      const approval = { instructions: 'my own words' }
      await expect('return.approved', () => merchant.post(`${own}/approve`, approval), order.id)
      const body = {
        lines: [
          { return_line_id: asked.lines[0].id, received_quantity: 1, disposition: 'damaged' },
        ],
        refund: { method: 'original' },
      }
      const receive = () => merchant.post(`${own}/receive`, body, keyed())
      await expect('order.refunded return.received', receive, order.id)
    },
  )

  await t.test(
    'emits one event each for an exchange: asked to pay, sent again, paid, and another one cancelled',
    async () => {
      const items = [{ variant_id: variants[1_000], quantity: 1 }]
      const returned = async () => {
        const { order, ...bought } = await expect('order.placed', buy({ items }))
        const packed = await merchant.post(`/v1/merchant/orders/${order.id}/fulfillments`)
        await merchant.post(`/v1/merchant/fulfillments/${packed.body.fulfillment.id}/ship`)
        const lines = [{ order_item_id: bought.items[0].id, quantity: 1 }]
        const made = await merchant.post('/v1/merchant/returns', { order_id: order.id, lines })
        await readNewEvents()
        return { id: order.id as string, url: `/v1/merchant/returns/${made.body.return.id}` }
      }
      const exchange = (url: string, quantity: number) => () => {
        const body = { items: [{ variant_id: variants[1_000], quantity }], advance: true }
        return merchant.post(`${url}/exchange`, body, keyed())
      }
      const first = await returned()
      const dear = (await expect('order.payment_requested', exchange(first.url, 2))).order.id
      const again = `/v1/merchant/orders/${dear}/payment-request/send`
      await expect('order.payment_requested', () => merchant.post(again), dear)
      const pay = by('shopper', dear, 'pay', { customer_ref: 'ann', card: APPROVED })
      await expect('order.refunded return.exchanged order.placed', pay, dear, first.id)
      const second = await returned()
      const both = 'order.refunded return.exchanged order.placed'
      const made = await exchange(second.url, 1)()
      const { id } = made.body.order
      await expect(both, async () => made, id, second.id)
      await expect(
        'order.refunded return.exchange_released order.cancelled',
        by('merchant', id, 'cancel', { reason: 'customer' }),
        id,
        second.id,
      )
    },
  )

  await t.test(
    'emits one event for a gift card, also when it is issued again with the same key',
    async () => {
      const body = { initial_balance_cents: 5, note: 'For Bea' }
      const key = keyed()
      const issue = () => merchant.post('/v1/merchant/gift-cards', body, key)
      await expect('giftcard.issued', issue)
      await expect('', issue)
    },
  )
})
