import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { readTyped } from './typed.ts'
import type { Item } from './types.ts'

/**
 * A cart lives in the shopper's browser, signed by us: nothing is kept on the server. Short names,
 * because a cookie has four kilobytes.
 */
export interface Cart {
  /** Made with the first thing that is put in, and anew after each order. */
  id: string
  items: readonly Item[]
  coupon: string | null
  /** How many attempts to pay were refused for good. Each needs a key of its own. */
  refusals: number
}

export const LINES_MAX = 40
export const QUANTITY_MAX = 99

const ID = /^[A-Za-z0-9_-]{16}$/
const COUPON_LENGTH_MAX = 64

export const emptyCart = (): Cart => ({
  id: randomBytes(12).toString('base64url'),
  items: [],
  coupon: null,
  refusals: 0,
})

/** As it stands in the cookie. Ids are 16 bytes, not 36 letters. */
export const packCart = ({ id, items, coupon, refusals }: Cart): unknown => [
  id,
  items.map((item) => [packId(item.variant_id), item.quantity]),
  coupon,
  refusals,
]

/** What was packed by us. Anything else, also of an older form, is an empty cart. */
export function unpackCart(packed: unknown): Cart {
  if (!Array.isArray(packed)) return emptyCart()
  const [id, lines, coupon, refusals] = packed
  if (!ID.test(String(id)) || !Array.isArray(lines)) return emptyCart()
  const items = lines.map(([variant, quantity]) => ({
    variant_id: unpackId(String(variant)),
    quantity: Number(quantity),
  }))
  return { id, items, coupon: coupon ?? null, refusals: Number(refusals) || 0 }
}

const packId = (uuid: string) => Buffer.from(uuid.replaceAll('-', ''), 'hex').toString('base64url')

function unpackId(packed: string): string {
  const hex = Buffer.from(packed, 'base64url').toString('hex')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

export const countOf = ({ items }: Cart): number =>
  items.reduce((sum, { quantity }) => sum + quantity, 0)

/** Adds to what is there already. False in `fits` when there is no room for another line. */
export function addItem(cart: Cart, { variant_id, quantity }: Item): { cart: Cart; fits: boolean } {
  const there = cart.items.find((item) => item.variant_id === variant_id)
  if (there === undefined && cart.items.length >= LINES_MAX) return { cart, fits: false }
  const wanted = Math.min((there?.quantity ?? 0) + quantity, QUANTITY_MAX)
  const items =
    there === undefined
      ? [...cart.items, { variant_id, quantity: wanted }]
      : cart.items.map((item) => (item === there ? { ...item, quantity: wanted } : item))
  return { cart: { ...cart, items }, fits: true }
}

/** Nought takes the line away. */
export const setQuantities = (cart: Cart, wanted: ReadonlyMap<string, number>): Cart => ({
  ...cart,
  items: cart.items
    .map((item) => ({ ...item, quantity: wanted.get(item.variant_id) ?? item.quantity }))
    .filter(({ quantity }) => quantity > 0),
})

export const setCoupon = (cart: Cart, code: string): Cart => ({
  ...cart,
  coupon: readTyped(code, COUPON_LENGTH_MAX) || null,
})

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Null for what names no variant. */
export function readItem(variant: string | null, quantity: string | null): Item | null {
  const variant_id = (variant ?? '').toLowerCase()
  if (!UUID.test(variant_id)) return null
  return { variant_id, quantity: readQuantity(quantity ?? '1', 1) }
}

export function readQuantity(text: string, least: number): number {
  const number = Number.parseInt(text, 10)
  return Number.isNaN(number) ? 1 : Math.min(Math.max(number, least), QUANTITY_MAX)
}

/**
 * The Idempotency-Key of an attempt to buy a cart, however often it is sent, from however many tabs and
 * whatever was put in meanwhile: the platform makes one order of it, also where the browser never heard
 * of that. After a refusal the next attempt is another, and after an order the cart is.
 */
export const checkoutKey = ({ id, refusals }: Cart): string => `shop-${id}-${refusals}`

/** Of what is in a cart: a form that was shown with other things in it pays for none of these. */
export const markOf = ({ items }: Cart): string =>
  createHash('sha256').update(JSON.stringify(items)).digest('base64url').slice(0, 16)

/** An answer is kept by the platform for ever, so that another attempt needs another key. */
export const nextAttempt = (cart: Cart): Cart => ({ ...cart, refusals: cart.refusals + 1 })

/** Another cart, of what an order has not brought. */
export function withoutBought({ items }: Cart, bought: readonly Item[]): Cart {
  const left = (item: Item) =>
    bought
      .filter(({ variant_id }) => variant_id === item.variant_id)
      .reduce((quantity, each) => quantity - each.quantity, item.quantity)
  const rest = items.map((item) => ({ ...item, quantity: left(item) }))
  return { ...emptyCart(), items: rest.filter(({ quantity }) => quantity > 0) }
}

/** Who shops here, and what they ordered last. Nobody signs in: the cookie is all there is. */
export interface Shopper {
  ref: string
  /** Newest first. */
  orders: readonly OwnOrder[]
}

interface OwnOrder {
  id: string
  /** It was placed by this, so that a form sent again finds its order. */
  key: string
  /** When last heard of, its bank had not said whether it is paid. */
  waiting: boolean
}

const ORDERS_MAX = 12

export const newShopper = (): Shopper => ({ ref: `guest-${randomUUID()}`, orders: [] })

export function unpackShopper(packed: unknown): Shopper | null {
  if (!Array.isArray(packed)) return null
  const [ref, orders] = packed as [string, [string, string, 1?][]]
  return { ref, orders: orders.map(([id, key, waiting]) => ({ id, key, waiting: waiting === 1 })) }
}

export const packShopper = ({ ref, orders }: Shopper): unknown => [
  ref,
  orders.map(({ id, key, waiting }) => (waiting ? [id, key, 1] : [id, key])),
]

export const withOrder = (shopper: Shopper, order: OwnOrder): Shopper => ({
  ...shopper,
  orders: [order, ...shopper.orders.filter(({ id }) => id !== order.id)].slice(0, ORDERS_MAX),
})

export const notWaiting = (shopper: Shopper, id: string): Shopper => ({
  ...shopper,
  orders: shopper.orders.map((order) => (order.id === id ? { ...order, waiting: false } : order)),
})
