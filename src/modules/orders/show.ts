import { SYSTEM } from '../../platform/audit.ts'
import { isShopper } from './actor.ts'
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

/** Rows of an order as the API shows them: to its shopper, to its merchant. */

const SHOPPER_MEMBERS = Object.keys(StorefrontOrder.properties) as (keyof StorefrontOrder)[]
const MERCHANT_MEMBERS = Object.keys(MerchantOrder.properties) as (keyof MerchantOrder)[]

const pick = <T extends object, K extends keyof T>(from: T, names: readonly K[]) =>
  Object.fromEntries(names.map((name) => [name, from[name]])) as Pick<T, K>

/** The order as its shopper sees it, without a merchant's reason for a hold. */
export const forShopper = (order: OrderRow | MerchantOrder): StorefrontOrder => {
  const { hold } = order
  const isMerchants = hold !== null && hold.by !== SYSTEM.name
  const shown = isMerchants ? { ...hold, reason: MERCHANT_HOLD, by: 'merchant' } : hold
  return pick({ ...order, hold: shown }, SHOPPER_MEMBERS)
}

export const forMerchant = (order: OrderRow): MerchantOrder => pick(order, MERCHANT_MEMBERS)

/** The order as the actor of an operation sees it. */
export const forActor = (order: OrderRow, actor: string): StorefrontOrder | MerchantOrder =>
  isShopper(actor) ? forShopper(order) : forMerchant(order)

/** Returns the members of an order that a refusal shows. */
export const briefOf = ({ id, order_number, status }: OrderRow) => ({ id, order_number, status })

/** A charge without the gateway's transaction and the stored card. */
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

/** A refund without its attempts. A succeeded refund shows only the tenders that succeeded. */
export function shownRefund({ actor: _, tenders, items, ...refund }: RefundRow): OrderRefund {
  const paid =
    refund.status === 'succeeded' ? tenders.filter(({ status }) => status === 'succeeded') : tenders
  return {
    ...refund,
    tenders: paid.map(({ charge_id, tender, amount_cents }) => ({
      charge_id,
      tender,
      amount_cents,
    })),
    // A refund that succeeded only in part counts no units.
    items: paid.length < tenders.length ? [] : items,
  }
}

/** A refund as its shopper sees it, without the merchant's reason. */
export const refundForShopper = (refund: RefundRow): OrderRefund =>
  isShopper(refund.actor) ? shownRefund(refund) : { ...shownRefund(refund), reason: null }
