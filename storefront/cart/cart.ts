import { createHash, randomBytes } from 'node:crypto'
import type { Item } from '../api/types.ts'
import { cleanText } from '../http/forms.ts'

/** A cart. It lives in a signed cookie of the shopper's browser; the server stores nothing. */
export interface Cart {
  /** Part of the idempotency key of a checkout. A new one after each order. */
  id: string
  items: readonly Item[]
  coupon: string | null
  /** How many checkouts of this cart the platform has refused for good. Each needs another key. */
  refusals: number
}

/** A cookie has at most 4 KB. */
export const LINES_MAX = 40
export const QUANTITY_MAX = 99

const ID = /^[A-Za-z0-9_-]{16}$/
const COUPON_LENGTH_MAX = 64

/** The time comes first, so that new keys stand side by side in the platform's indexes. */
const newCartId = () => `${Date.now().toString(36)}${randomBytes(6).toString('base64url')}`

export const emptyCart = (): Cart => ({
  id: newCartId(),
  items: [],
  coupon: null,
  refusals: 0,
})

/**
 * The form that a cart has in the cookie: arrays without names, and ids as 16 bytes, to save space.
 */
export const packCart = ({ id, items, coupon, refusals }: Cart): unknown => [
  id,
  items.map((item) => [packId(item.variant_id), item.quantity]),
  coupon,
  refusals,
]

/**
 * Reads what `packCart` has written. Any other value, also of an older release, is an empty cart.
 */
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

/** How many units are in a cart. */
export const cartCount = ({ items }: Cart): number =>
  items.reduce((sum, { quantity }) => sum + quantity, 0)

/** Adds units to a cart. `fits` is false where there is no room for another line. */
export function addItem(cart: Cart, { variant_id, quantity }: Item): { cart: Cart; fits: boolean } {
  const present = cart.items.find((item) => item.variant_id === variant_id)
  if (present === undefined && cart.items.length >= LINES_MAX) return { cart, fits: false }
  const wanted = Math.min((present?.quantity ?? 0) + quantity, QUANTITY_MAX)
  const items =
    present === undefined
      ? [...cart.items, { variant_id, quantity: wanted }]
      : cart.items.map((item) => (item === present ? { ...item, quantity: wanted } : item))
  return { cart: { ...cart, items }, fits: true }
}

/** Sets quantities by variant. Zero removes the line. */
export const setQuantities = (cart: Cart, wanted: ReadonlyMap<string, number>): Cart => ({
  ...cart,
  items: cart.items
    .map((item) => ({ ...item, quantity: wanted.get(item.variant_id) ?? item.quantity }))
    .filter(({ quantity }) => quantity > 0),
})

export const setCoupon = (cart: Cart, code: string): Cart => ({
  ...cart,
  coupon: cleanText(code, COUPON_LENGTH_MAX) || null,
})

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Null for a text that cannot be the id of a variant. */
export function readItem(variant: string | null, quantity: string | null): Item | null {
  const variant_id = (variant ?? '').toLowerCase()
  if (!UUID.test(variant_id)) return null
  return { variant_id, quantity: readQuantity(quantity ?? '1', 1) }
}

/** A typed quantity, between `least` and the maximum. 1 for a text that is no number. */
export function readQuantity(text: string, least: number): number {
  const number = Number.parseInt(text, 10)
  return Number.isNaN(number) ? 1 : Math.min(Math.max(number, least), QUANTITY_MAX)
}

/**
 * The idempotency key of a checkout. It does not depend on what is in the cart: a cart that is sent
 * twice, from two tabs or after a change, makes one order, even where the first answer never
 * reached the browser. After a refusal the key is another one, and after an order the cart is.
 */
export const checkoutKey = ({ id, refusals }: Cart): string => `shop-${id}-${refusals}`

/**
 * Identifies the items of a cart: a checkout page that showed other items must not pay for these.
 */
export const itemsFingerprint = ({ items }: Cart): string =>
  createHash('sha256').update(JSON.stringify(items)).digest('base64url').slice(0, 16)

/**
 * Counts a refusal, and so changes the idempotency key: the platform keeps an answer under its key.
 */
export const countRefusal = (cart: Cart): Cart => ({ ...cart, refusals: cart.refusals + 1 })

/** A new cart with the items that an order does not contain. */
export function removeOrdered({ items }: Cart, ordered: readonly Item[]): Cart {
  const remaining = (item: Item) =>
    ordered
      .filter(({ variant_id }) => variant_id === item.variant_id)
      .reduce((quantity, each) => quantity - each.quantity, item.quantity)
  const rest = items.map((item) => ({ ...item, quantity: remaining(item) }))
  return { ...emptyCart(), items: rest.filter(({ quantity }) => quantity > 0) }
}
