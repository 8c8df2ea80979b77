import { allocate, shareOfPart } from '../../kernel/money.ts'
import type { ChargeRow, OrderRow, Tender } from '../orders/schema.ts'
import { leftOn } from '../orders/service.ts'
import { withoutTax } from '../pricing/price.ts'
import type { Parts } from './schema.ts'

/** Divides a refund: into what it was paid for, and among tenders. Pure functions. */

/** Returns the parts of an order's price, with the tax as a part of its own. */
export function partsOf(order: OrderRow): Parts {
  const { sales_cents, discount_cents, ...rest } = withoutTax(order)
  return { product_cents: sales_cents - discount_cents, ...rest }
}

/** The parts that can still be refunded. */
export interface PartsLeft extends Parts {
  /** The part of `tax_cents` that is contained in the price of the shipping. */
  shipping_tax_cents: number
}

/** The amounts that refunds of shipping alone have taken: its price, and the contained tax. */
export interface ShippingAlone {
  shipping_alone_cents: number
  shipping_alone_tax_cents: number
}

/**
 * Adds how much of the remaining tax belongs to the shipping. Refunds of shipping alone store it, so that they add up
 * to the amount paid; other refunds store it with the tax of their goods, and it is computed in proportion.
 */
export function withShippingTax(
  order: OrderRow,
  left: Parts,
  { shipping_alone_cents, shipping_alone_tax_cents }: ShippingAlone,
): PartsLeft {
  const untaxed_cents = withoutTax(order).shipping_cents
  const inside_cents = order.shipping_cents - untaxed_cents
  const before_cents = Math.min(left.shipping_cents + shipping_alone_cents, untaxed_cents)
  const tax_cents = shareOfPart(inside_cents, Math.max(0, before_cents), untaxed_cents)
  return { ...left, shipping_tax_cents: Math.max(0, tax_cents - shipping_alone_tax_cents) }
}

/** The rest of the shipping as it was paid: with its tax, if the prices contain tax. */
export const shippingLeft = ({ shipping_cents, shipping_tax_cents }: PartsLeft): number =>
  shipping_cents + shipping_tax_cents

/**
 * Divides an amount that was paid for the shipping into its price, rounded down, and the contained tax: so some of the
 * price is left until the last part of it is refunded.
 */
export function shippingParts(
  left: PartsLeft,
  cents: number,
): Pick<Parts, 'shipping_cents' | 'tax_cents'> {
  const shipping_cents = shareOfPart(left.shipping_cents, cents, shippingLeft(left))
  return { shipping_cents, tax_cents: cents - shipping_cents }
}

/** The rest of the goods and gift cards: without the shipping and its contained tax. */
export const withoutShipping = ({ shipping_tax_cents, ...left }: PartsLeft): Parts => ({
  product_cents: left.product_cents,
  tax_cents: left.tax_cents - shipping_tax_cents,
  shipping_cents: 0,
  gift_card_cents: left.gift_card_cents,
})

/** Goods with their tax and their shipping: all but the gift cards. */
export const goodsOf = ({ product_cents, tax_cents, shipping_cents }: Parts): number =>
  product_cents + tax_cents + shipping_cents

export const totalOf = (parts: Parts): number => goodsOf(parts) + parts.gift_card_cents

export const subtractParts = (from: Parts, taken: Parts): Parts => ({
  product_cents: from.product_cents - taken.product_cents,
  tax_cents: from.tax_cents - taken.tax_cents,
  shipping_cents: from.shipping_cents - taken.shipping_cents,
  gift_card_cents: from.gift_card_cents - taken.gift_card_cents,
})

/**
 * The amounts that a change of an order refunds. If its shipping stays, so does the amount paid for it: a cent by which
 * the contained tax may be divided differently belongs to the goods.
 */
export function partsOfChange(before: OrderRow, totals: Partial<OrderRow>): Parts {
  const after = { ...before, ...totals }
  const parts = subtractParts(partsOf(before), partsOf(after))
  if (before.shipping_cents !== after.shipping_cents) return parts
  return { ...parts, product_cents: parts.product_cents + parts.shipping_cents, shipping_cents: 0 }
}

export const withoutNegatives = (parts: Parts): Parts => ({
  product_cents: Math.max(0, parts.product_cents),
  tax_cents: Math.max(0, parts.tax_cents),
  shipping_cents: Math.max(0, parts.shipping_cents),
  gift_card_cents: Math.max(0, parts.gift_card_cents),
})

/**
 * Divides an amount over goods, tax and shipping in proportion; only the rest beyond them comes from gift cards. No
 * part gives more than it has.
 */
export function splitAmount(amount_cents: number, left: Parts): Parts {
  const weights = [left.product_cents, left.tax_cents, left.shipping_cents]
  const gift_card_cents = Math.max(0, amount_cents - goodsOf(left))
  const goods_cents = amount_cents - gift_card_cents
  const [product_cents = 0, tax_cents = 0, shipping_cents = 0] = allocate(goods_cents, weights)
  return { product_cents, tax_cents, shipping_cents, gift_card_cents }
}

/**
 * Fits wanted parts to what each part has left; if one part lacks money, the others give it. Gift
 * cards neither lack nor give any.
 */
export function fitParts(requested: Parts, left: Parts): Parts {
  const lower = (a: number, b: number) => Math.max(0, Math.min(a, b))
  const had: Parts = {
    product_cents: lower(requested.product_cents, left.product_cents),
    tax_cents: lower(requested.tax_cents, left.tax_cents),
    shipping_cents: lower(requested.shipping_cents, left.shipping_cents),
    gift_card_cents: requested.gift_card_cents,
  }
  const lacking = totalOf(requested) - totalOf(had)
  if (lacking === 0) return had
  const more = splitAmount(lacking, subtractParts(left, had))
  return {
    product_cents: had.product_cents + more.product_cents,
    tax_cents: had.tax_cents + more.tax_cents,
    shipping_cents: had.shipping_cents + more.shipping_cents,
    gift_card_cents: had.gift_card_cents,
  }
}

export interface TenderShare {
  charge_id: string
  /** The tender that gets the money. */
  tender: Tender
  amount_cents: number
}

/** The reverse of the order in which tenders pay. */
const REFUND_ORDER: readonly Tender[] = ['card', 'gift_card', 'store_credit']

/**
 * Divides an amount over the charges: cards first, then the gift card, then store credit, the later
 * charge before the earlier. No charge refunds more than it has left; an excess is left out.
 */
export function splitOverTenders(
  charges: readonly ChargeRow[],
  amount_cents: number,
  method: 'original' | 'store_credit',
): TenderShare[] {
  const shares: TenderShare[] = []
  let left = amount_cents
  for (const from of REFUND_ORDER) {
    for (const charge of charges.filter(({ tender }) => tender === from).toReversed()) {
      const share = Math.min(left, leftOn(charge))
      if (share <= 0) continue
      const tender = method === 'store_credit' ? 'store_credit' : charge.tender
      shares.push({ charge_id: charge.charge_id, tender, amount_cents: share })
      left -= share
    }
  }
  return shares
}
