import { RETURN_DAYS_MAX } from '../../../manifest/behavior-props.ts'
import type { Db } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { DAY_MS } from '../../kernel/time.ts'
import { productsIn } from '../catalog/collections.ts'
import type { Fulfillment } from '../orders/parcel-schema.ts'
import type { Returnable } from '../orders/return-schema.ts'
import type { OrderItem } from '../orders/schema.ts'
import { member, switchesReader } from '../sites/switches.ts'
import * as stores from '../stores/service.ts'
import { refuse } from './errors.ts'
import type { RequestedUnits } from './schema.ts'

/**
 * The rules of what shoppers may send back, by `behavior.returns` of the published manifest. A merchant can make a
 * return of any units that have shipped.
 */

export interface ReturnPolicy {
  /** Days from the delivery; null if there is no limit. */
  windowDays: number | null
  finalSaleCollections: readonly string[]
}

const NO_LIMIT: ReturnPolicy = { windowDays: null, finalSaleCollections: [] }

/** Reads the policy of a manifest. Manifests may hold anything: a missing or malformed member limits nothing. */
export function toPolicy(manifest: unknown): ReturnPolicy {
  const returns = member(member(manifest, 'behavior'), 'returns')
  const days = member(returns, 'windowDays')
  const slugs = member(returns, 'finalSaleCollections')
  const isDays =
    Number.isInteger(days) && (days as number) >= 0 && (days as number) <= RETURN_DAYS_MAX
  return {
    windowDays: isDays ? (days as number) : null,
    finalSaleCollections: Array.isArray(slugs)
      ? slugs.filter((slug): slug is string => typeof slug === 'string')
      : [],
  }
}

const policyOf = switchesReader(NO_LIMIT, toPolicy)

/** How many days a parcel is assumed to travel if its delivery is not known. */
const TRAVEL_DAYS = 14

/** Returns when the window of a parcel closes, or null if the parcel has not been sent. */
function closesAt({ shipped_at, delivered_at, status }: Fulfillment, days: number): number | null {
  if (status !== 'shipped' && status !== 'delivered') return null
  if (delivered_at !== null) return Date.parse(delivered_at) + days * DAY_MS
  return shipped_at === null ? null : Date.parse(shipped_at) + (TRAVEL_DAYS + days) * DAY_MS
}

export interface Sent {
  items: readonly OrderItem[]
  fulfillments: readonly Fulfillment[]
}

/** Lists the units that the shopper of an order can send back now, by line. */
export async function readReturnable(db: Db, { items, fulfillments }: Sent): Promise<Returnable[]> {
  const { activeVersion } = await stores.get(db)
  const policy = await policyOf(db, activeVersion)
  const products = items.map(({ product_id }) => product_id)
  const finalSale = await productsIn(db, policy.finalSaleCollections, products)
  const terms = { windowDays: policy.windowDays, finalSale, now: db.clock.now() }
  return items.map((item) => returnableOf(item, fulfillments, terms))
}

export interface Terms {
  windowDays: number | null
  /** Products that cannot be returned. */
  finalSale: ReadonlySet<string>
  now: number
}

export function returnableOf(
  item: OrderItem,
  fulfillments: readonly Fulfillment[],
  { windowDays, finalSale, now }: Terms,
): Returnable {
  const none = (reason: Returnable['reason'], until: string | null = null): Returnable => ({
    order_item_id: item.id,
    quantity: 0,
    until,
    reason,
  })
  const left = item.shipped_quantity - item.returning_quantity - item.returned_quantity
  if (item.gift_card) return none('final_sale')
  if (item.shipped_quantity === 0) return none('not_shipped')
  if (left <= 0) return none('nothing_left')
  if (finalSale.has(item.product_id)) return none('final_sale')
  if (windowDays === null) {
    return { order_item_id: item.id, quantity: left, until: null, reason: null }
  }
  const parcels = fulfillments.flatMap((parcel) => {
    const until = closesAt(parcel, windowDays)
    const quantity = parcel.items.find((each) => each.order_item_id === item.id)?.quantity ?? 0
    return until === null || quantity === 0 ? [] : [{ until, quantity }]
  })
  const last = Math.max(...parcels.map(({ until }) => until))
  const until = Number.isFinite(last) ? new Date(last).toISOString() : null
  // Units are alike: those that came back already count as the older ones.
  const inTime = parcels.reduce((sum, each) => sum + (each.until >= now ? each.quantity : 0), 0)
  const quantity = Math.min(left, inTime)
  return quantity === 0
    ? none('window_closed', until)
    : { order_item_id: item.id, quantity, until, reason: null }
}

/** Refuses units that a shopper cannot send back, and names the reasons. */
export function requireReturnable(
  request: RequestedUnits,
  items: readonly OrderItem[],
  returnable: readonly Returnable[],
): void {
  const units = request.map(({ order_item_id, quantity: requested }) => {
    const found = returnable.find((each) => each.order_item_id === order_item_id)
    if (found === undefined) throw new ApiError('order_item_not_found')
    const item = items.find(({ id }) => id === order_item_id) as OrderItem
    const left = item.shipped_quantity - item.returning_quantity - item.returned_quantity
    return { ...found, requested, left }
  })
  const refuseUnits = (code: 'final_sale' | 'return_window_closed', refused: typeof units) => {
    const items = refused.map(({ order_item_id, requested, quantity, until }) => ({
      order_item_id,
      requested,
      returnable: quantity,
      until,
    }))
    return refuse(code, { body: { items } })
  }
  const final = units.filter(({ reason }) => reason === 'final_sale')
  if (final.length > 0) throw refuseUnits('final_sale', final)
  const tooMany = units.filter(({ requested, left }) => requested > left)
  if (tooMany.length > 0) throw exceedsReturnable(tooMany)
  const late = units.filter(({ requested, quantity }) => requested > quantity)
  if (late.length > 0) throw refuseUnits('return_window_closed', late)
}

/** The refusal of more units than have shipped and are in no return. */
export const exceedsReturnable = (
  lines: readonly { order_item_id: string; requested: number; left: number }[],
) =>
  refuse('quantity_exceeds_returnable', {
    body: {
      items: lines.map(({ order_item_id, requested, left }) => ({
        order_item_id,
        requested,
        returnable: Math.max(0, left),
      })),
    },
  })
