import { randomUUID } from 'node:crypto'

/**
 * A shopper and their last orders, as the browser's cookie knows them. There is no sign-in: an
 * order is shown to the browser that placed it.
 */
export interface Shopper {
  /** The `customer_ref` that orders are placed under. */
  ref: string
  /** The orders that this browser placed, newest first. */
  orders: readonly ShopperOrder[]
}

export interface ShopperOrder {
  id: string
  /** The idempotency key that placed it, so that a form sent again finds its order. */
  key: string
  /** Whether the outcome of its payment was unknown when we last asked. */
  isPending: boolean
}

/** A cookie has at most 4 KB. */
const ORDERS_MAX = 12

/** The time comes first, so that the rows of new shoppers stand side by side in the platform's indexes. */
export const newShopper = (): Shopper => ({
  ref: `guest-${Date.now().toString(36)}-${randomUUID()}`,
  orders: [],
})

/** Reads what `packShopper` has written. */
export function unpackShopper(packed: unknown): Shopper | null {
  if (!Array.isArray(packed)) return null
  const [ref, orders] = packed as [string, [string, string, 1?][]]
  return {
    ref,
    orders: orders.map(([id, key, pending]) => ({ id, key, isPending: pending === 1 })),
  }
}

/** The form that a shopper has in the cookie: arrays without names, to save space. */
export const packShopper = ({ ref, orders }: Shopper): unknown => [
  ref,
  orders.map(({ id, key, isPending }) => (isPending ? [id, key, 1] : [id, key])),
]

export const addOrder = (shopper: Shopper, order: ShopperOrder): Shopper => ({
  ...shopper,
  orders: [order, ...shopper.orders.filter(({ id }) => id !== order.id)].slice(0, ORDERS_MAX),
})

/** An order that a mailed link has opened in this browser, and the customer that placed it. */
export interface OpenedOrder {
  id: string
  customerRef: string
}

const OPENED_MAX = 6

/** Reads what `packOpened` has written. */
export const unpackOpened = (packed: unknown): readonly OpenedOrder[] =>
  Array.isArray(packed)
    ? (packed as [string, string][]).map(([id, customerRef]) => ({ id, customerRef }))
    : []

export const packOpened = (opened: readonly OpenedOrder[]): unknown =>
  opened.slice(0, OPENED_MAX).map(({ id, customerRef }) => [id, customerRef])

/** Records that the outcome of an order's payment is known. */
export const endPending = (shopper: Shopper, id: string): Shopper => ({
  ...shopper,
  orders: shopper.orders.map((order) => (order.id === id ? { ...order, isPending: false } : order)),
})
