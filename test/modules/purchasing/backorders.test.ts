import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertOrdersAddUp } from '../../harness/order-oracles.ts'
import { cart, checkout, openCheckoutApp, openShop } from '../checkout/setup.ts'
import { ok, ordered, receive, stockOf, tracked } from './setup.ts'

test('a receipt in two parts serves the oldest backorders first, while 50 shoppers buy', async (t) => {
  const app = await openCheckoutApp(t)
  const shop = await openShop(app)
  const { merchant } = shop
  const variant = await tracked(merchant, { allow_backorder: true })
  const buy = async () => {
    const answer = await checkout(app, shop, cart(variant))
    assert.equal(answer.status, 201, answer.text)
    return answer.body.order.id as string
  }
  const waiting: string[] = []
  for (let n = 0; n < 5; n++) waiting.push(await buy())
  const purchase = await ordered(merchant, [
    { variant_id: variant, quantity: 30, unit_cost_cents: 400 },
  ])
  const [{ id: line_id }] = purchase.lines
  const readyOf = async (id: string): Promise<number> => {
    const { open } = (await merchant.get(`/v1/merchant/orders/${id}`)).body
    return open[0].items[0].ready
  }
  const readyOfAll = (ids: readonly string[]) => Promise.all(ids.map(readyOf))
  assert.deepEqual(await readyOfAll(waiting), [0, 0, 0, 0, 0])

  const [bought] = await Promise.all([
    Promise.all(Array.from({ length: 50 }, buy)),
    receive(merchant, purchase.id, [{ line_id, quantity: 3 }]).then(async (first) => {
      ok(first)
      ok(await receive(merchant, purchase.id, [{ line_id, quantity: 30 }]))
    }),
  ])
  const all = [...waiting, ...bought].toSorted()
  const ready = await readyOfAll(all)
  assert.deepEqual(
    ready,
    all.map((_, place) => (place < 30 ? 1 : 0)),
    'the thirty oldest orders have the thirty units',
  )
  const { on_hand, allocated, incoming, available } = await stockOf(merchant, variant)
  assert.deepEqual([on_hand, allocated, incoming, available], [30, 55, 0, -25])
  const { body } = await merchant.post(`/v1/merchant/orders/${all[29]}/fulfillments`)
  ok(await merchant.post(`/v1/merchant/fulfillments/${body.fulfillment.id}/ship`))
  const late = await merchant.post(`/v1/merchant/orders/${all[30]}/fulfillments`)
  assert.equal(late.body.error.code, 'quantity_exceeds_open')
  await assertOrdersAddUp(app.superuser)
})
