import type { Db, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import type { Page } from '../../kernel/page.ts'
import { isUuid } from '../../kernel/schema.ts'
import type { GiftCardPurchase } from '../gift-cards/purchase-schema.ts'
import { listPurchases } from '../gift-cards/purchases.ts'
import * as marketing from '../marketing/service.ts'
import * as notes from './note-queries.ts'
import type { Fulfillment, Work } from './parcel-schema.ts'
import { findOrder } from './queries.ts'
import * as reads from './read-queries.ts'
import { findRequest } from './request-queries.ts'
import type { Return, Returnable } from './return-schema.ts'
import { listReviews } from './review-queries.ts'
import type { OrderExchange, OrderItem, OrderRow, WorkFilters } from './schema.ts'
import { get, listCharges, listItems, listRefunds } from './service.ts'
import { forMerchant, forShopper, refundForShopper, shownCharge, shownRefund } from './show.ts'

/** Orders as merchants and shoppers read them. */

export async function list(db: Db, filters: reads.OrderFilters, page: Page) {
  const resolved = await withCode(db, filters)
  const { rows, shown } = await reads.listOrders(db, resolved, page)
  return { orders: rows, ...shown }
}

/** Orders that have units to pack and are not held, the oldest first. */
export const listWithWork = (db: Db, filters: WorkFilters, page: Page) =>
  reads.listWithWork(db, filters, page)

/**
 * Replaces the coupon code of a filter by the spelling of the merchant, which orders store. A filter may have the
 * spelling that shoppers type.
 */
export async function withCode(db: Db, filters: reads.OrderFilters): Promise<reads.OrderFilters> {
  const { coupon_code } = filters
  if (coupon_code === undefined) return filters
  const coupon = await marketing.findForCheckout(db, coupon_code)
  return coupon === null ? filters : { ...filters, coupon_code: coupon.code }
}

/** A customer's own orders, as the customer sees them. */
export async function listOfCustomer(db: Db, customer_ref: string, page: Page) {
  const found = await list(db, { customer_ref }, page)
  return { ...found, orders: found.orders.map(forShopper) }
}

const moneyOf = (db: Db, orderId: string) =>
  Promise.all([listCharges(db, orderId), listRefunds(db, orderId)])

/** The gift cards that an order buys; most orders buy none, and cost no statement. */
const giftCardsOf = async (db: Db, order: OrderRow): Promise<GiftCardPurchase[]> =>
  order.gift_card_cents === 0 ? [] : await listPurchases(db, order.id)

/** Whether an order can have units to pack: no unit of an unpaid or cancelled order is packed. */
const hasUnits = ({ placed_at, cancelled_at }: OrderRow) =>
  placed_at !== null && cancelled_at === null

/** How many parcels an order has, and their tracking numbers. */
export interface Tracked {
  parcels: number
  tracking_numbers: string[]
}

/** The functions of later modules that read facts about an order. */
export interface Parcels {
  listFulfillments(db: Db, order_id: string): Promise<Fulfillment[]>
  /** Lists the units to be packed. It waits for the order's lines, which are being read. */
  listWork(db: Db, order_id: string, lines: Promise<OrderItem[]>): Promise<Work[]>
  /** The parcels of each of these orders that are not cancelled. Orders without one are left out. */
  listTracking(db: Db, order_ids: readonly string[]): Promise<Map<string, Tracked>>
  listReturns(db: Db, order_id: string): Promise<Return[]>
  /** Finds the exchange that created the order. Returns null if there is none. */
  findExchange(db: Db, order_id: string): Promise<OrderExchange | null>
  /** Reads the returns as the shopper sees them, and the units that the shopper can send back. */
  readForShopper(
    db: Db,
    order: OrderRow,
    items: readonly OrderItem[],
    fulfillments: readonly Fulfillment[],
  ): Promise<{ returns: Return[]; returnable: Returnable[] }>
}

/** One order with its lines, charges, refunds, parcels, returns, timeline and notes. */
export async function read(db: Db, id: string, parcels: Parcels) {
  const order = await get(db, id)
  const lines = listItems(db, order.id)
  const [items, money, fulfillments, open, returns, gift_cards, facts, timeline, written] =
    await Promise.all([
      lines,
      moneyOf(db, order.id),
      parcels.listFulfillments(db, order.id),
      hasUnits(order) ? parcels.listWork(db, order.id, lines) : [],
      parcels.listReturns(db, order.id),
      giftCardsOf(db, order),
      exchangeFacts(db, order, parcels),
      notes.listTimeline(db, order.id),
      notes.listNotes(db, order.id),
    ])
  const [charges, refunds] = money
  return {
    order: forMerchant(order),
    items,
    customer_name: order.customer_name,
    charges: charges.map(shownCharge),
    refunds: refunds.map(shownRefund),
    fulfillments,
    open,
    returns,
    gift_cards,
    ...facts,
    timeline,
    notes: written,
    attestation: order.pricing.attestation ?? null,
  }
}

/** Reads the exchange and the payment request of an order. Most orders have none, and cost no statement for it. */
async function exchangeFacts(db: Db, order: OrderRow, { findExchange }: Parcels) {
  const { id, source } = order
  if (!mayBeAsked(order)) return { exchange: null, payment_request: null }
  const [exchange, payment_request] = await Promise.all([
    source === 'exchange' ? findExchange(db, id) : null,
    findRequest(db, id),
  ])
  return { exchange, payment_request }
}

/**
 * A shopper's own order. The order of another customer is not found, like that of another store.
 */
export async function readForShopper(
  db: Db,
  id: string,
  customer_ref: string | undefined,
  parcels: Parcels,
) {
  const order = isUuid(id) ? await findOrder(db, id) : null
  if (order === null || order.customer_ref !== customer_ref) throw new ApiError('order_not_found')
  const [items, [charges, refunds], fulfillments, gift_cards] = await Promise.all([
    listItems(db, order.id),
    moneyOf(db, order.id),
    parcels.listFulfillments(db, order.id),
    giftCardsOf(db, order),
  ])
  return {
    order: forShopper(order),
    items,
    charges: charges.map(shownCharge),
    refunds: refunds.map(refundForShopper),
    fulfillments,
    gift_cards,
    ...(await parcels.readForShopper(db, order, items, fulfillments)),
    payment_request: mayBeAsked(order) ? await findRequest(db, order.id) : null,
  }
}

/** Whether an order may have a payment request. */
const mayBeAsked = ({ source, payment }: OrderRow): boolean =>
  source === 'exchange' || payment === 'requested'

export async function readTimeline(db: Db, id: string, page: Page) {
  const order = await get(db, id)
  const { rows, shown } = await notes.listTimelinePage(db, order.id, page)
  return { timeline: rows, ...shown }
}

/** Orders held by the fraud check, each with its decision, the longest held first. */
export async function listHeldForReview(db: Db, page: Page) {
  const { rows, shown } = await listReviews(db, page)
  return { reviews: rows.map(({ decision, ...order }) => ({ order, decision })), ...shown }
}

/**
 * Finds an order by its number, and locks it against an erasure of its person until the transaction ends: rows that
 * are written for its address meanwhile are erased as well.
 */
export const lockByNumber = (tx: Tx, number: number) => reads.lockByNumber(tx, number)
