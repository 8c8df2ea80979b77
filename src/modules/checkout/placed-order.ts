import { newId } from '../../kernel/id.ts'
import type { FraudScore } from '../fraud/score.ts'
import type { PlacedFacts } from '../orders/events.ts'
import type { OrderItem, OrderRow, WholeOrder } from '../orders/schema.ts'
import type { GatewayResult } from '../payments/adapters/schema.ts'
import { recurringTerms } from '../pricing/coupon.ts'
import { methodOf } from '../shipping/terms.ts'
import type { NewSubscription, StartedSubscription } from '../subscriptions/schema.ts'

/** With more lines the event would exceed the size that endpoints are asked to accept. */
const ITEMS_MAX = 100

/** The members of the event of a placed order beside the order. */
export function placedFacts(
  { order, items, charges }: WholeOrder,
  started: readonly StartedSubscription[],
): PlacedFacts {
  return {
    items: items.slice(0, ITEMS_MAX),
    ...(items.length > ITEMS_MAX ? { items_truncated: true } : {}),
    tenders: charges.map(({ tender, captured_cents }) => ({
      tender,
      amount_cents: captured_cents,
    })),
    shipping: { method: methodOf(order.pricing) },
    subscriptions: started.map(({ id, variant_id }) => ({ id, variant_id })),
    affiliate: order.referral_code === null ? null : { referral_code: order.referral_code },
  }
}

/** The subscriptions that an order starts, at the intervals at which it was sold. */
export function startedOf(order: OrderRow, items: readonly OrderItem[]): NewSubscription[] {
  const { subscriptions = [], ...pricing } = order.pricing
  const recurring = pricing.coupon_recurs ? (pricing.coupon ?? null) : null
  const terms = new Map(subscriptions.map((each) => [each.variant_id, each]))
  const couponOf = (item: OrderItem) => {
    const terms = recurring && recurringTerms(recurring, item)
    return terms && { code: order.coupon_code ?? '', ...terms }
  }
  return items.flatMap((item) => {
    const { product_id, variant_id, quantity, unit_price_cents } = item
    const term = item.is_subscription ? terms.get(variant_id) : undefined
    if (term === undefined) return []
    const { interval, interval_count } = term
    const bought = { product_id, variant_id, quantity, unit_price_cents }
    return [{ id: newId(), ...bought, interval, interval_count, coupon: couponOf(item) }]
  })
}

/** Refuses an order that no longer waits for its payment: an order is placed once. */
export function requireWaiting(order: OrderRow): void {
  if (
    order.status === 'pending_payment' ||
    (order.status === 'on_hold' && order.placed_at === null)
  )
    return
  throw new Error(`the order is ${order.status} and not waiting to be paid`)
}

/** The fraud check's decision about an order, for its log. */
export const decisionOf = (order: OrderRow, { score, signals, decision }: FraudScore) => ({
  order_id: order.id,
  decision,
  score,
  signals,
  ban_ids: (order.risk.ban_ids as string[] | undefined) ?? [],
})

/** A card charge after the gateway's reply. */
export const cardOf = (status: 'captured' | 'authorized', result: GatewayResult | null) => ({
  status,
  txn_id: result?.txn_id ?? null,
  vault_id: result?.vault_id ?? null,
  card: result?.card ?? null,
})
