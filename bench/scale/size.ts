/** How much the generator makes. */
export interface Size {
  /** Small stores beside those that are measured. */
  stores: number
  /** Orders of the big store. */
  orders: number
  /** Products of the store with the big catalog. */
  products: number
}

/** Small enough for `npm run torture`, large enough that a plan which reads everything is seen. */
export const REDUCED: Size = { stores: 100, orders: 20_000, products: 10_000 }

/** How many times the full size is that of the store it is compared with. */
export const TIMES = 100

/** A store of full size, and the store of a hundredth that it is compared with. */
export interface Pair {
  full: string
  hundredth: string
}

export const ORDERS: Pair = { full: 'orders-full', hundredth: 'orders-hundredth' }
export const CATALOG: Pair = { full: 'catalog-full', hundredth: 'catalog-hundredth' }

/** Stores without an order: one is compared with the big store, one shops beside it. */
export const FRESH = 'fresh'
export const NEIGHBOUR = 'neighbour'

export const storeOf = (n: number) => `store-${n}`

/** The rows of one store from which all others follow. */
export interface StoreSize {
  tenant: string
  orders: number
  products: number
  customers: number
}

/** Products, orders and customers of a small store. */
const SMALL = { orders: 10, products: 100, customers: 5 }

const hundredth = (count: number) => Math.max(1, Math.round(count / TIMES))
/** Gives each customer two orders, in a store of any size, so that a customer's own list is equally long. */
const customersOf = (orders: number) => Math.max(1, Math.round(orders / 2))

/** Every store of the database with its size. */
export function listStoreSizes({ stores, orders, products }: Size): StoreSize[] {
  const few = hundredth(orders)
  return [
    { ...SMALL, tenant: ORDERS.full, orders, customers: customersOf(orders) },
    { ...SMALL, tenant: ORDERS.hundredth, orders: few, customers: customersOf(few) },
    { ...SMALL, tenant: CATALOG.full, products },
    { ...SMALL, tenant: CATALOG.hundredth, products: hundredth(products) },
    { ...SMALL, tenant: FRESH, orders: 0 },
    { ...SMALL, tenant: NEIGHBOUR, orders: 0 },
    ...Array.from({ length: stores }, (_, n) => ({ ...SMALL, tenant: storeOf(n + 1) })),
  ]
}
