import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadEvents } from '../../../src/compose/events.ts'
import { numberNewEvents } from '../../../src/modules/webhooks/jobs.ts'
import { enable, issueGiftCard, stock } from '../checkout/setup.ts'
import { openOrderStore } from '../orders/setup.ts'
import { emit, PLACED, URL } from './setup.ts'

const EVENTS = await loadEvents()

test('lists every event of a store in its feed, and delivers only the deliverable types', async (t) => {
  const desk = await openOrderStore(t)
  const { merchant, variants } = desk.shop
  const hook = { url: 'https://hook.test/', events: [PLACED] }
  assert.equal((await merchant.post(URL, hook)).status, 201)

  await enable(merchant, 'gift_cards')
  const { code } = await issueGiftCard(merchant, 700, { note: 'for Ann', customer_ref: 'ann' })
  const variant = variants[1_000] ?? ''
  await stock(merchant, variant, 4)
  await merchant.put(`/v1/merchant/inventory/${variant}`, {
    track_inventory: true,
    low_stock_threshold: 2,
  })
  const { order } = await desk.place()
  const [line] = (await desk.read(order.id)).items
  const steps: [string, object][] = [
    ['hold', {}],
    ['release', {}],
    ['edit', { edits: [{ order_item_id: line.id, quantity: 1 }] }],
    ['refunds', { amount_cents: 100 }],
    ['cancel', { reason: 'customer' }],
  ]
  for (const [verb, body] of steps) {
    const answer = await desk.merchant(order.id, verb, body)
    assert.ok(answer.status < 300, `${verb}: ${answer.text}`)
  }
  while ((await numberNewEvents(desk.app.runtime.workerDatabase)) > 0);

  const feed = await merchant.get('/v1/merchant/events?after=0')
  const types: string[] = feed.body.events.map((each: { type: string }) => each.type)
  assert.deepEqual([...new Set(types)].toSorted(), [
    'commerce.giftcard.issued.v1',
    'commerce.inventory.low.v1',
    'commerce.order.cancelled.v1',
    'commerce.order.edited.v1',
    'commerce.order.held.v1',
    PLACED,
    'commerce.order.refunded.v1',
    'commerce.order.released.v1',
  ])
  const dataOf = (type: string) =>
    feed.body.events.find((each: { type: string }) => each.type === type).data
  const { sequence: _, ...low } = dataOf('commerce.inventory.low.v1')
  assert.deepEqual(low, { variant_id: variant, remaining: 2, low_stock_threshold: 2 })
  const { gift_card } = dataOf('commerce.giftcard.issued.v1')
  assert.deepEqual(
    [gift_card.initial_balance_cents, gift_card.code_last4, gift_card.customer_ref],
    [700, code.slice(-4), 'ann'],
  )
  assert.ok(!feed.text.includes(code) && !feed.text.includes('for Ann'))

  const { body } = await merchant.get('/v1/merchant/deliveries')
  assert.deepEqual(
    body.deliveries.map((each: { event_type: string }) => each.event_type),
    [PLACED],
  )
  const known = new Set(types)
  const others = [...EVENTS.keys()].filter((type) => !known.has(type))
  const db = desk.app.runtime.database.tenant(desk.shop.tenant)
  await db.transaction('test: emit', async (tx) => {
    for (const type of others) await emit(tx, { type, data: {} })
  })
  while ((await numberNewEvents(desk.app.runtime.workerDatabase)) > 0);
  const rest = await merchant.get(`/v1/merchant/events?after=${feed.body.sealed_to}`)
  assert.deepEqual(
    rest.body.events.map((each: { type: string }) => each.type).toSorted(),
    others.toSorted(),
    'also event types that nothing emits yet',
  )
  assert.equal((await merchant.get('/v1/merchant/deliveries')).body.total, 1)
  const open = [...EVENTS.values()].filter(({ forEveryStore }) => forEveryStore)
  assert.deepEqual(
    open.map(({ type }) => type),
    [PLACED],
  )
})
