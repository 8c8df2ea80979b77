import type { Db, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { sum } from '../../kernel/money.ts'
import { isPseudonym } from '../customers/service.ts'
import * as giftCards from '../gift-cards/service.ts'
import type { ChargeRow, OrderItem, OrderRow } from '../orders/schema.ts'
import * as orders from '../orders/service.ts'
import * as attempts from '../payments/attempts.ts'
import { lineShare } from '../pricing/price.ts'
import {
  type PartsLeft,
  partsOf,
  splitOverTenders,
  subtractParts,
  type TenderShare,
  withShippingTax,
} from './refund-parts.ts'
import * as queries from './refund-queries.ts'

/** The facts by which refunds are planned, those of merchants and those of received returns. */

/** The parts that no refund has taken or reserved, and how many refunds are pending. */
export interface Left extends PartsLeft {
  pending: number
}

export interface Refundable {
  charges: ChargeRow[]
  left: Left
}

export async function readRefundable(db: Db, order: OrderRow): Promise<Refundable> {
  const [charges, reserved] = await Promise.all([
    orders.listCharges(db, order.id),
    queries.sumReserved(db, order.id),
  ])
  return {
    charges,
    left: {
      ...withShippingTax(order, subtractParts(partsOf(order), reserved), reserved),
      pending: reserved.pending,
    },
  }
}

/**
 * Refuses a refund while another one of the order is unanswered. A caller that repeats that one under a
 * new key would refund it twice.
 */
export async function requireAnswered(tx: Tx, order: OrderRow): Promise<void> {
  const open = await attempts.listAttempts(tx, order.id)
  if (open.some((each) => attempts.isUnansweredRefund(tx, each))) throw orders.busy()
}

/** Units of a line that are refunded or reserved for a refund, with their amount. */
export type RefundedUnits = queries.RefundedUnits

/** Lists the refunded units of each line of an order. */
export const listRefundedUnits = (db: Db, order_id: string): Promise<RefundedUnits[]> =>
  queries.listRefundedUnits(db, order_id)

/**
 * Returns the amount of some units of a line, by the amounts that were stored with it. The last units get the
 * rest of the line: their stored share differs if later units were refunded while a refund of earlier units
 * was pending and then failed.
 */
export function shareOf(
  { prices_include_tax }: Pick<OrderRow, 'prices_include_tax'>,
  line: OrderItem,
  quantity: number,
  before: RefundedUnits | undefined,
) {
  const share = lineShare(line, line.refunded_quantity, quantity, prices_include_tax)
  const isLast = line.refunded_quantity + quantity === line.quantity
  // A refund that succeeded only in part counts no units, and so no amount.
  if (!isLast || before?.quantity !== line.refunded_quantity) return share
  const goods_cents = line.line_total_cents - line.discount_cents
  const all = prices_include_tax ? goods_cents : goods_cents + line.tax_cents
  const left = Math.max(0, all - before.amount_cents)
  const product_cents = Math.max(0, left - share.tax_cents)
  return { ...share, product_cents, tax_cents: left - product_cents }
}

/**
 * Refuses a refund of which a part would become store credit of an erased customer: it could never be spent. A
 * cancellation or an edit is not refused for this, and the store keeps it: an order must not be sent just because of
 * its money.
 */
export async function requireSpendable(
  db: Db,
  { customer_ref }: OrderRow,
  charges: readonly ChargeRow[],
  shares: readonly TenderShare[],
): Promise<void> {
  if (!isPseudonym(customer_ref)) return
  const planned = await destinationsOf(db, charges, shares)
  if (planned.every(({ tender }) => tender !== 'store_credit')) return
  const all = splitOverTenders(charges, orders.refundableOf(charges), 'original')
  const spendable = (await destinationsOf(db, charges, all)).filter(
    ({ tender }) => tender !== 'store_credit',
  )
  const refundable_cents = sum(spendable.map(({ amount_cents }) => amount_cents))
  throw new ApiError('credit_unspendable', { body: { refundable_cents } })
}

/** Returns the shares with their tenders: store credit replaces a gift card that is no longer usable. */
export const destinationsOf = (
  db: Db,
  charges: readonly ChargeRow[],
  shares: readonly TenderShare[],
): Promise<TenderShare[]> =>
  Promise.all(
    shares.map(async (share) => {
      if (share.tender !== 'gift_card') return share
      const gift_card_id = charges.find((each) => each.charge_id === share.charge_id)?.gift_card_id
      const card = gift_card_id ? await giftCards.get(db, gift_card_id) : null
      return giftCards.isUsable(card) ? share : { ...share, tender: 'store_credit' as const }
    }),
  )
