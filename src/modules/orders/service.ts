import { allOf } from '../../db/all-of.ts'
import type { Db, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { isUuid } from '../../kernel/schema.ts'
import { SYSTEM } from '../../platform/audit.ts'
import { isShopper, requireFree, underWayOf } from './operations.ts'
import * as queries from './queries.ts'
import {
  type ChargeRow,
  MERCHANT_HOLD,
  MerchantOrder,
  type OrderCharge,
  type OrderRefund,
  type OrderRow,
  type RefundRow,
  StorefrontOrder,
} from './schema.ts'
import {
  type Action,
  type Allowed,
  allowedActions,
  deriveStatus,
  type OrderFacts,
} from './status.ts'

export { listCharges, listItems, orderColumns } from './queries.ts'
export { listRefunds } from './refund-queries.ts'

/** What the status is derived from. Fulfilments have rows of their own once they exist. */
export const factsOf = (order: OrderRow): OrderFacts => ({
  total_cents: order.total_cents,
  captured_cents: order.captured_cents,
  refunded_cents: order.refunded_cents,
  placed_at: order.placed_at,
  cancelled_at: order.cancelled_at,
  processing_at: order.processing_at,
  live_hold: order.hold !== null,
  disputed: order.disputed,
  payment: order.payment,
  q_ordered: order.q_ordered,
  q_cancelled: order.q_cancelled,
  q_shipped: order.q_shipped,
  q_delivered: order.q_delivered,
  open_fulfillments: 0,
})

export async function get(db: Db, id: string): Promise<OrderRow> {
  const order = isUuid(id) ? await queries.findOrder(db, id) : null
  if (order === null) throw new ApiError('order_not_found')
  return order
}

/** How many orders a customer has placed. */
export const countPlaced = async (db: Db, customerRef: string): Promise<number> =>
  (await queries.countPlaced(db, customerRef)).total

/**
 * The order, under its lock: nobody else changes it before this transaction ends. Read by a statement
 * of its own, since one that has waited for the lock shows the lines as they were before.
 */
export async function lock(tx: Tx, id: string): Promise<OrderRow> {
  const [, order] = await allOf([isUuid(id) && queries.lockOrder(tx, id), get(tx, id)])
  return order
}

/** What may be done with the order now, beside all that is under way. */
export const allowedOf = (order: OrderRow, pendingRefunds = 0): Allowed =>
  allowedActions(factsOf(order), underWayOf(order, pendingRefunds))

/** Refuses what has to wait, and what the order's facts do not allow; says what they do. */
export function requireAllowed(order: OrderRow, action: Action, pendingRefunds = 0): void {
  requireFree(order, action, pendingRefunds)
  const { allowed, refused } = allowedOf(order, pendingRefunds)
  if (allowed.includes(action)) return
  const reason = refused.find((each) => each.action === action)?.reason
  throw new ApiError('invalid_transition', {
    body: { current_status: order.status, allowed, ...(reason === undefined ? {} : { reason }) },
  })
}

/** The order as it is once these facts hold, with the status that follows from them. */
export function withFacts(order: OrderRow, facts: queries.FactChange, at: string): OrderRow {
  const { hold, disputed_at, ...plain } = facts
  const changed: OrderRow = {
    ...order,
    ...(plain as Partial<OrderRow>),
    disputed: disputed_at === undefined ? order.disputed : disputed_at !== null,
    ...(hold === undefined
      ? {}
      : { hold: hold === null ? null : { reason: hold.reason, by: hold.by, placed_at: hold.at } }),
    updated_at: at,
  }
  const { status, payment_status, fulfillment_status } = deriveStatus(factsOf(changed))
  return { ...changed, status, payment_status, fulfillment_status }
}

/** Writes facts down, with an order that `withFacts` has made of them. */
export const writeFacts = (tx: Tx, after: OrderRow, facts: queries.FactChange) =>
  queries.writeFacts(tx, after.id, writtenFacts(after, facts))

/** The same, for a statement that writes more than that. */
export const writtenFacts = (after: OrderRow, facts: queries.FactChange) => ({
  facts,
  derived: deriveStatus(factsOf(after)),
  at: after.updated_at,
})

/**
 * Writes down what has become of an order, and the status that follows from it. Called under the
 * order's lock, with the order as it was read there; answers it as it is now.
 */
export async function change(
  tx: Tx,
  order: OrderRow,
  facts: queries.FactChange,
  at: string = new Date().toISOString(),
): Promise<OrderRow> {
  const after = withFacts(order, facts, at)
  await writeFacts(tx, after, facts)
  return after
}

const SHOPPERS = Object.keys(StorefrontOrder.properties) as (keyof StorefrontOrder)[]
const MERCHANTS = Object.keys(MerchantOrder.properties) as (keyof MerchantOrder)[]

const pick = <T extends object, K extends keyof T>(from: T, names: readonly K[]) =>
  Object.fromEntries(names.map((name) => [name, from[name]])) as Pick<T, K>

/** An order as its shopper sees it. What a merchant holds it for, and who does, is not for them. */
export const forShopper = (order: OrderRow | MerchantOrder): StorefrontOrder => {
  const { hold } = order
  const isMerchants = hold !== null && hold.by !== SYSTEM.name
  const shown = isMerchants ? { ...hold, reason: MERCHANT_HOLD, by: 'merchant' } : hold
  return pick({ ...order, hold: shown }, SHOPPERS)
}

/** An order as its merchant sees it. */
export const forMerchant = (order: OrderRow): MerchantOrder => pick(order, MERCHANTS)

/** A charge without what only the gateway and we need to know. */
export const shownCharge = (charge: ChargeRow): OrderCharge => ({
  charge_id: charge.charge_id,
  tender: charge.tender,
  amount_cents: charge.amount_cents,
  captured_cents: charge.captured_cents,
  refunded_cents: charge.refunded_cents,
  currency: charge.currency,
  status: charge.status,
  card: charge.card,
  gift_card_last4: charge.gift_card_last4,
})

/** A refund without what only the gateway and we need to know. */
export function shownRefund({ actor: _, tenders, items, ...refund }: RefundRow): OrderRefund {
  const given =
    refund.status === 'succeeded' ? tenders.filter(({ status }) => status === 'succeeded') : tenders
  return {
    ...refund,
    tenders: given.map(({ charge_id, tender, amount_cents }) => ({
      charge_id,
      tender,
      amount_cents,
    })),
    // Of what was given back only in part no units count.
    items: given.length < tenders.length ? [] : items,
  }
}

/** A refund as the shopper sees it: a merchant's words for it are the merchant's own. */
export const refundForShopper = (refund: RefundRow): OrderRefund =>
  isShopper(refund.actor) ? shownRefund(refund) : { ...shownRefund(refund), reason: null }
