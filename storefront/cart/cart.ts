import { createHash, randomBytes } from 'node:crypto'
import type { GiftRecipient, Item } from '../api/types.ts'
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

/** A cookie has at most 4 KB, and base64 makes four characters of three bytes. */
export const LINES_MAX = 40
const BYTES_MAX = 2_800
export const QUANTITY_MAX = 99

const ID = /^[A-Za-z0-9_-]{16}$/
const COUPON_LENGTH_MAX = 64

/** The time comes first, so that new keys stand side by side in the platform's indexes. */
const newCartId = () => `${Date.now().toString(36)}${randomBytes(6).toString('base64url')}`

/** Most pages show a cart that no shopper fills: its id is drawn when it is first read. */
export function emptyCart(): Cart {
  let id: string | undefined
  return {
    get id() {
      id ??= newCartId()
      return id
    },
    items: [],
    coupon: null,
    refusals: 0,
  }
}

/**
 * The form that a cart has in the cookie: arrays without names, and ids as 16 bytes, to save space.
 */
export const packCart = ({ id, items, coupon, refusals }: Cart): unknown => [
  id,
  items.map(({ variant_id, quantity, gift_card, subscribe }) => [
    packId(variant_id),
    quantity,
    ...(gift_card === undefined ? [] : [gift_card]),
    // A gift card is never subscribed to, so that the two facts share one element of the array.
    ...(subscribe ? [REPEATED_MARK] : []),
  ]),
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
  const items = lines.map(([variant, quantity, more]) => ({
    variant_id: unpackId(String(variant)),
    quantity: Number(quantity),
    ...(more && more !== REPEATED_MARK && { gift_card: more as GiftRecipient }),
    ...(more === REPEATED_MARK && { subscribe: true as const }),
  }))
  return { id, items, coupon: coupon ?? null, refusals: Number(refusals) || 0 }
}

/** Marks an item in the cookie that is subscribed to. */
const REPEATED_MARK = 1

/** The value of the field `plan` that means a subscription. */
export const REPEATED = 'subscribe'

const packId = (uuid: string) => Buffer.from(uuid.replaceAll('-', ''), 'hex').toString('base64url')

function unpackId(packed: string): string {
  const hex = Buffer.from(packed, 'base64url').toString('hex')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** How many units are in a cart. */
export const cartCount = ({ items }: Cart): number =>
  items.reduce((sum, { quantity }) => sum + quantity, 0)

/** Names a line of a cart: its variant, whether it is subscribed to, and the recipient of a gift card. */
export function lineKey({ variant_id, gift_card, subscribe }: Item): string {
  if (subscribe) return `${variant_id}.again`
  if (gift_card === undefined) return variant_id
  const hash = createHash('sha256').update(JSON.stringify(gift_card)).digest('base64url')
  return `${variant_id}.${hash.slice(0, 12)}`
}

/** Adds units to a cart. `fits` is false if there is no room for another line. */
export function addItem(cart: Cart, added: Item): { cart: Cart; fits: boolean } {
  const key = lineKey(added)
  const present = cart.items.find((item) => lineKey(item) === key)
  if (present === undefined && cart.items.length >= LINES_MAX) return { cart, fits: false }
  const quantity = Math.min((present?.quantity ?? 0) + added.quantity, QUANTITY_MAX)
  const items =
    present === undefined
      ? [...cart.items, { ...added, quantity }]
      : cart.items.map((item) => (item === present ? { ...item, quantity } : item))
  const full = { ...cart, items }
  if (Buffer.byteLength(JSON.stringify(packCart(full))) > BYTES_MAX) return { cart, fits: false }
  return { cart: full, fits: true }
}

/** Sets quantities by the keys of lines. Zero removes the line. */
export const setQuantities = (cart: Cart, quantities: ReadonlyMap<string, number>): Cart => ({
  ...cart,
  items: cart.items
    .map((item) => ({ ...item, quantity: quantities.get(lineKey(item)) ?? item.quantity }))
    .filter(({ quantity }) => quantity > 0),
})

/**
 * Changes a line, found by its key, between a single purchase and a subscription. It joins a line that is equal then.
 */
export function switchPlan(cart: Cart, key: string | null): Cart {
  const found = cart.items.find((item) => lineKey(item) === key)
  if (found === undefined) return cart
  const { subscribe, ...once } = found
  const changed: Item = subscribe ? once : { ...once, subscribe: true }
  const at = cart.items.indexOf(found)
  const twin = cart.items.find((item) => lineKey(item) === lineKey(changed))
  const quantity = Math.min(found.quantity + (twin?.quantity ?? 0), QUANTITY_MAX)
  const items = cart.items.with(at, { ...changed, quantity }).filter((item) => item !== twin)
  return { ...cart, items }
}

export const setCoupon = (cart: Cart, code: string): Cart => ({
  ...cart,
  coupon: cleanText(code, COUPON_LENGTH_MAX) || null,
})

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Reads the item of a form. Returns null for a text that cannot be the id of a variant. */
export function readItem(form: URLSearchParams): Item | null {
  const variant_id = (form.get('variant') ?? '').toLowerCase()
  if (!UUID.test(variant_id)) return null
  const isRepeated = form.get('plan') === REPEATED
  return {
    variant_id,
    quantity: readQuantity(form.get('quantity') ?? '1', 1),
    ...(isRepeated && { subscribe: true as const }),
  }
}

/** A typed quantity, between `least` and the maximum. 1 for a text that is no number. */
export function readQuantity(text: string, least: number): number {
  const number = Number.parseInt(text, 10)
  return Number.isNaN(number) ? 1 : Math.min(Math.max(number, least), QUANTITY_MAX)
}

/**
 * The idempotency key of a checkout. It does not depend on the items of the cart: a cart that is sent twice, from two
 * tabs or after a change, makes one order, even if the first answer never reached the browser. After a refusal the key
 * changes; after an order there is a new cart.
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
export function removeOrdered(
  { items }: Cart,
  ordered: readonly Pick<Item, 'variant_id' | 'quantity'>[],
): Cart {
  const remaining = (item: Item) =>
    ordered
      .filter(({ variant_id }) => variant_id === item.variant_id)
      .reduce((quantity, each) => quantity - each.quantity, item.quantity)
  const rest = items.map((item) => ({ ...item, quantity: remaining(item) }))
  return { ...emptyCart(), items: rest.filter(({ quantity }) => quantity > 0) }
}
