import { keyed, type OrderStore } from '../orders/setup.ts'
import { ok, RETURNS, returnsOf, type Shipped } from '../returns/setup.ts'
import { APPROVED } from './setup.ts'

/** What tests do with exchanges of a store, beside what they do with its returns. */
export function exchangesOf(store: OrderStore) {
  const { merchant } = store.shop
  const returns = returnsOf(store)

  const exchange = (id: string, body: object, key?: string) =>
    merchant.post(`${RETURNS}/${id}/exchange`, body, keyed(key))

  /** A shipped order of one variant, and the return of all its units. */
  const returned = async (variant_id: string, quantity = 1, more: object = {}) => {
    const order: Shipped = await returns.shipped({ items: [{ variant_id, quantity }], ...more })
    return { order, made: await returns.returned(order, quantity) }
  }

  return {
    ...returns,
    exchange,
    preview: (id: string, body: object) => merchant.post(`${RETURNS}/${id}/exchange/preview`, body),
    previewReceipt: returns.preview,
    returnedOf: returned,
    pay: (order_id: string, more: object = {}, key?: string) =>
      store.shopper(order_id, 'pay', { customer_ref: 'ann', card: APPROVED, ...more }, key),
    withdraw: (order_id: string, key?: string) =>
      merchant.post(
        `/v1/merchant/orders/${order_id}/payment-request/withdraw`,
        undefined,
        keyed(key),
      ),
    send: (order_id: string) =>
      merchant.post(`/v1/merchant/orders/${order_id}/payment-request/send`),
    readReturn: async (id: string) => ok(await merchant.get(`${RETURNS}/${id}`)).return,
    /** An exchange that its shopper has to pay something for. */
    async asked(price = 1_000, dearer = 1_500) {
      const from = await returns.tracked(5, price)
      const to = await returns.tracked(5, dearer)
      const { order, made } = await returned(from)
      const items = [{ variant_id: to, quantity: 1 }]
      const body = ok(await exchange(made.id, { items, advance: true }), 201)
      return { from, to, order, made, exchanged: body.order as { id: string }, body }
    },
  }
}

export type Exchanges = ReturnType<typeof exchangesOf>

/** A receipt without lines: it settles what came before. */
export const settlement = (method: string) => ({ lines: [], refund: { method } })
