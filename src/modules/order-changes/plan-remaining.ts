import { sum } from '../../kernel/money.ts'
import type { OrderItem, OrderRow, UnitChange } from '../orders/schema.ts'
import { lineShare } from '../pricing/price.ts'
import type { EditedLine, NewTotals } from './queries.ts'

/** Computes how an order changes when its units that have not shipped are cancelled. A pure function. */

export interface Remaining {
  /** The lines that lose units, with the rest of each. */
  lines: EditedLine[]
  totals: NewTotals
  /** The amount to refund to the shopper, as a negative number. */
  delta_cents: number
  /** Refunded units that will not be shipped any more. They stay in their lines. */
  withdrawn: UnitChange[]
  /** All units that are cancelled. */
  cancelled: { order_item_id: string; quantity: number }[]
}

/**
 * Plans the cancellation. Each unit is worth its stored share: the order is not priced again, so that a coupon does
 * not drop because the merchant could not deliver. Shipping stays paid, since something has shipped.
 *
 * Units that were refunded and have not come back count as units that have not shipped. They are withdrawn
 * without money, so that no unit is refunded twice.
 */
export function planRemaining(order: OrderRow, items: readonly OrderItem[]): Remaining {
  // Gift cards are already issued, and stay with the shopper.
  const goods = items.filter(({ gift_card }) => !gift_card)
  const open = goods.map((item) => ({ item, ...splitOpen(item) }))
  const taken = open.map(({ item, cancelled }) => ({ item, ...takeLast(order, item, cancelled) }))
  const total = (name: 'line_total_cents' | 'discount_cents' | 'tax_cents' | 'amount_cents') =>
    sum(taken.map((each) => each[name]))
  return {
    lines: taken
      .filter(({ quantity }) => quantity > 0)
      .map(({ item, quantity, line_total_cents, discount_cents, tax_cents }) => ({
        id: item.id,
        quantity: item.quantity - quantity,
        line_total_cents: item.line_total_cents - line_total_cents,
        discount_cents: item.discount_cents - discount_cents,
        tax_cents: item.tax_cents - tax_cents,
        shipping_cents: item.shipping_cents,
      })),
    totals: {
      subtotal_cents: order.subtotal_cents - total('line_total_cents'),
      discount_cents: order.discount_cents - total('discount_cents'),
      shipping_cents: order.shipping_cents,
      tax_cents: order.tax_cents - total('tax_cents'),
      total_cents: order.total_cents - total('amount_cents'),
      pricing: order.pricing,
    },
    delta_cents: -total('amount_cents'),
    withdrawn: open
      .filter(({ withdrawn }) => withdrawn > 0)
      .map(({ item, withdrawn }) => ({ order_item_id: item.id, restocked: withdrawn })),
    cancelled: open
      .map(({ item, cancelled, withdrawn }) => ({
        order_item_id: item.id,
        quantity: cancelled + withdrawn,
      }))
      .filter(({ quantity }) => quantity > 0),
  }
}

/** How many open units of a line are cancelled with their money, and how many were refunded before. */
function splitOpen(item: OrderItem) {
  const { quantity, shipped_quantity, restocked_quantity, refunded_quantity } = item
  const open = quantity - shipped_quantity - restocked_quantity
  const refunded = Math.max(0, refunded_quantity - restocked_quantity - item.returned_quantity)
  const withdrawn = Math.min(open, refunded)
  return { cancelled: open - withdrawn, withdrawn }
}

/** Returns the stored amounts of the last units of a line. The units before them keep theirs. */
function takeLast({ prices_include_tax }: OrderRow, item: OrderItem, quantity: number) {
  const share = lineShare(item, item.quantity - quantity, quantity, prices_include_tax)
  const goods_cents = share.product_cents + (prices_include_tax ? share.tax_cents : 0)
  const line_total_cents = item.unit_price_cents * quantity
  return {
    quantity,
    line_total_cents,
    discount_cents: line_total_cents - goods_cents,
    tax_cents: share.tax_cents,
    amount_cents: share.product_cents + share.tax_cents,
  }
}
