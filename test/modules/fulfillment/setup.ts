import assert from 'node:assert/strict'
import type { Answer } from '../../harness/app.ts'
import { addVariant, stock } from '../checkout/setup.ts'
import type { OrderStore } from '../orders/setup.ts'

export const PARCELS = '/v1/merchant/fulfillments'

export const ok = (answer: Answer, status = 200) => {
  assert.equal(answer.status, status, answer.text)
  return answer.body
}

/** What tests do with the parcels of a store, which is opened before they run. */
export function parcelsOf(shared: { current: OrderStore }) {
  const merchant = () => shared.current.shop.merchant
  const pack = (order_id: string, body?: object) =>
    merchant().post(`/v1/merchant/orders/${order_id}/fulfillments`, body)
  return {
    pack,
    act: (id: string, verb: string, body?: object) =>
      merchant().post(`${PARCELS}/${id}/${verb}`, body),
    packed: async (order_id: string, body?: object) =>
      ok(await pack(order_id, body), 201).fulfillment,
    statusOf: async (id: string) => (await shared.current.read(id)).order.status as string,
    stockOf: async (variant: string) =>
      (await merchant().get(`/v1/merchant/inventory/${variant}`)).body.item,
    async tracked(on_hand: number) {
      const variant = await addVariant(merchant(), 1_000)
      await stock(merchant(), variant, on_hand)
      return variant
    },
    buy: async (variant: string, quantity: number, more: object = {}) =>
      (await shared.current.place({ items: [{ variant_id: variant, quantity }], ...more })) as {
        order: { id: string; order_number: number }
        items: { id: string }[]
      },
  }
}
