import assert from 'node:assert/strict'
import type { Answer } from '../../harness/app.ts'
import { addVariant, stock } from '../checkout/setup.ts'
import { keyed, type OrderStore } from '../orders/setup.ts'

export const RETURNS = '/v1/merchant/returns'

export function ok(answer: Answer, status = 200): Answer['body'] {
  assert.equal(answer.status, status, answer.text)
  return answer.body
}

export const refusal = ({ status, body }: Answer) => [status, body.error?.code]

export interface Shipped {
  order: { id: string; order_number: number; total_cents: number }
  items: { id: string; variant_id: string }[]
  parcels: string[]
}

/** What tests do with returns of a store. */
export function returnsOf(store: OrderStore) {
  const { merchant } = store.shop

  /** Ships all open units of an order, or those that are named. */
  const ship = async (order_id: string, body?: object): Promise<string[]> => {
    const { fulfillments } = ok(
      await merchant.post(`/v1/merchant/orders/${order_id}/fulfillments`, body),
      201,
    )
    for (const { id } of fulfillments)
      ok(await merchant.post(`/v1/merchant/fulfillments/${id}/ship`))
    return fulfillments.map(({ id }: { id: string }) => id)
  }

  /** Places an order, and ships all of it. */
  const shipped = async (more: object = {}): Promise<Shipped> => {
    const { order, items } = await store.place(more)
    return { order, items, parcels: await ship(order.id) }
  }

  const create = (order_id: string, lines: object[], more: object = {}) =>
    merchant.post(RETURNS, { order_id, lines, ...more })

  const receive = (id: string, body: object, key?: string) =>
    merchant.post(`${RETURNS}/${id}/receive`, body, keyed(key))

  return {
    ship,
    shipped,
    create,
    receive,
    act: (id: string, verb: string, body?: object) =>
      merchant.post(`${RETURNS}/${id}/${verb}`, body),
    preview: (id: string, body: object) => merchant.post(`${RETURNS}/${id}/receive/preview`, body),
    request: (order_id: string, lines: object[], customer_ref = 'ann', key?: string) =>
      store.app.storefront.post(
        `/v1/tenants/acme/orders/${order_id}/returns`,
        { customer_ref, lines },
        keyed(key),
      ),
    /** A return that the merchant made of some units of the first line. */
    async returned({ order, items }: Shipped, quantity: number) {
      const lines = [{ order_item_id: items[0]?.id, quantity }]
      return ok(await create(order.id, lines), 201).return
    },
    async tracked(on_hand: number, price = 1_000): Promise<string> {
      const variant = await addVariant(merchant, price)
      await stock(merchant, variant, on_hand)
      return variant
    },
    stockOf: async (variant: string) =>
      (await merchant.get(`/v1/merchant/inventory/${variant}`)).body.item,
    readShopper: async (id: string, customer_ref = 'ann') =>
      ok(
        await store.app.storefront.get(
          `/v1/tenants/acme/orders/${id}?customer_ref=${customer_ref}`,
        ),
      ),
  }
}

export type Returns = ReturnType<typeof returnsOf>

/** A receipt of some units of the first line of a return. */
export const receipt = (
  { lines }: { lines: { id: string }[] },
  received_quantity: number,
  more: { disposition?: string; refund?: object; location_id?: string } = {},
) => ({
  lines: [
    {
      return_line_id: lines[0]?.id,
      received_quantity,
      disposition: more.disposition ?? 'restock',
    },
  ],
  refund: more.refund ?? { method: 'original' },
  ...(more.location_id !== undefined && { location_id: more.location_id }),
})
