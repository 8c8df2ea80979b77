import { randomUUID } from 'node:crypto'
import type { Db } from '../../db/database.ts'
import * as catalog from '../catalog/service.ts'
import type { OrderItem, OrderRow } from '../orders/schema.ts'
import * as orders from '../orders/service.ts'
import type { NewSubscription, StartedSubscription } from '../subscriptions/schema.ts'
import type { NewEvent } from '../webhooks/service.ts'
import type { Settled } from './settle-money.ts'

/** Beyond this the event would be larger than receivers are asked to take. */
const ITEMS_MAX = 100

/** What the world is told of a placed order. No card data, and all that a receiver needs to act. */
export function placedEvent(
  { order, items, charges }: Settled,
  started: readonly StartedSubscription[],
): NewEvent {
  return {
    type: 'commerce.order.placed.v1',
    order_id: order.id,
    customer_ref: order.customer_ref,
    data: {
      order: orders.forMerchant(order),
      items: items.slice(0, ITEMS_MAX),
      ...(items.length > ITEMS_MAX ? { items_truncated: true } : {}),
      tenders: charges.map(({ tender, captured_cents }) => ({
        tender,
        amount_cents: captured_cents,
      })),
      shipping: { method: order.pricing.expedited === true ? 'expedited' : 'standard' },
      subscriptions: started.map(({ id, variant_id }) => ({ id, variant_id })),
      affiliate: order.referral_code === null ? null : { referral_code: order.referral_code },
    },
  }
}

/** What an order subscribes to, by the interval that its product has now. */
export async function startedOf(
  db: Db,
  order: OrderRow,
  items: readonly OrderItem[],
): Promise<NewSubscription[]> {
  const wanted = items.filter(({ is_subscription }) => is_subscription)
  if (wanted.length === 0 || order.pricing.subscribe !== true) return []
  const variants = await catalog.subscriptionTerms(
    db,
    wanted.map(({ variant_id }) => variant_id),
  )
  const byId = new Map(variants.map((each) => [each.variant_id, each]))
  return wanted.flatMap(({ product_id, variant_id, quantity, unit_price_cents }) => {
    const terms = byId.get(variant_id)
    if (!terms?.subscription_interval) return []
    return [
      {
        id: randomUUID(),
        product_id,
        variant_id,
        quantity,
        unit_price_cents,
        interval: terms.subscription_interval,
        interval_count: terms.subscription_interval_count ?? 1,
      },
    ]
  })
}
