import type { Tx } from '../../db/database.ts'
import { newId } from '../../kernel/id.ts'
import { DAY_MS } from '../../kernel/time.ts'
import * as entitlements from '../entitlements/service.ts'
import type { NewJournal } from '../ledger/schema.ts'
import {
  type Buyer,
  commissionOf,
  type EarningTerms,
  selfReferral,
  type Traces,
} from './commission.ts'
import { findExchanged, insertAttribution } from './commission-queries.ts'
import type { ExchangedGoods, Referred, Refusal, Source } from './commission-schema.ts'
import { findReferred } from './queries.ts'
import { FEATURE } from './service.ts'

/** Books the commission of a placed order for the affiliate who sent it, in the transaction that places it. */

/** An order with a referral code, as it is placed. */
export interface ReferredSale {
  order_id: string
  currency: string
  code: string
  source: Source
  /** When the affiliate's link was followed, or the code was typed. */
  touched_at: string
  /** When the shopper checked out: a review may place the order days later. */
  ordered_at: string
  device_hash: Buffer | null
  /** Null if the order belongs to no exchange. */
  exchanged: ExchangedGoods | null
  /** Goods without discount, tax, shipping and gift cards. */
  base_cents: number
  buyer: Buyer
}

/** Reads the traces of an affiliate's own purchases. A parameter, since orders are on a higher tier. */
export type FindTraces = (
  tx: Tx,
  affiliate: Pick<Referred, 'email_folded' | 'customer_ref' | 'address'>,
) => Promise<Traces>

export interface Earned {
  /** Whether the order counts as the affiliate's. */
  isAttributed: boolean
  /** To be posted with the sale. */
  journals: NewJournal[]
}

const NOTHING: Earned = { isAttributed: false, journals: [] }

/**
 * Attributes an order, and books its commission as pending. An order that may not earn is recorded with
 * the reason. Nothing here can refuse the order: its shopper has paid.
 */
export async function earn(tx: Tx, sale: ReferredSale, findTraces: FindTraces): Promise<Earned> {
  const isOn = entitlements.featureIsOn(tx, FEATURE)
  const referred = await findReferred(tx, sale.code, sale.device_hash, isOn)
  if (referred === null) return NOTHING
  const isRenewal = sale.source === 'subscription'
  if (isRenewal && !referred.pays_renewals) return NOTHING
  const found = await termsOf(tx, sale, referred)
  if (found === null) return NOTHING
  const { declined, ...terms } = found
  const refusal =
    refusalOf(referred, sale, declined) ??
    selfReferral(referred, sale.buyer, await findTraces(tx, referred))
  const { order_id, currency, base_cents } = sale
  const amount_cents = commissionOf(terms, { base_cents, left_cents: base_cents })
  const id = newId()
  const earned = { id, type: isRenewal ? ('renewal' as const) : ('sale' as const), amount_cents }
  await insertAttribution(
    tx,
    {
      order_id,
      currency,
      base_cents,
      refusal,
      affiliate_id: referred.affiliate_id,
      code: referred.code,
      source: sale.source,
      touched_at: sale.touched_at,
      window_days: referred.cookie_days,
      ...terms,
      approval_delay_days: referred.approval_delay_days,
      booked_cents: refusal === null ? amount_cents : 0,
    },
    amount_cents === 0 ? null : earned,
  )
  if (refusal !== null) return NOTHING
  const of = { id, affiliate_id: referred.affiliate_id, currency }
  return { isAttributed: true, journals: [commissionJournal(of, amount_cents)] }
}

/**
 * Returns the terms of an order: for an exchange, those of the order whose goods it replaces. A sale earns a fixed
 * amount once, so that an exchange earns the part of it that that order has lost.
 */
async function termsOf(
  tx: Tx,
  { source, exchanged }: ReferredSale,
  { commission_type, rate_bps, amount_cents }: Referred,
): Promise<(EarningTerms & { declined: boolean }) | null> {
  if (source !== 'exchange') return { commission_type, rate_bps, amount_cents, declined: false }
  const found = exchanged === null ? null : await findExchanged(tx, exchanged)
  if (found === null) return null
  const { lost_cents, ...terms } = found
  return { ...terms, amount_cents: terms.commission_type === 'fixed' ? lost_cents : null }
}

/**
 * Returns why the affiliate or the code does not count, or null. The renewals of a subscription and the orders of
 * exchanges are attributed already, and keep their affiliate when the code ends. A commission that the merchant has
 * declined does not come back by an exchange.
 */
function refusalOf(
  { status, code_active, cookie_days }: Referred,
  { source, touched_at, ordered_at }: ReferredSale,
  isDeclined: boolean,
): Refusal | null {
  if (status !== 'active') return 'affiliate_not_active'
  if (isDeclined) return 'commission_declined'
  if (source === 'subscription' || source === 'exchange') return null
  if (!code_active) return 'code_inactive'
  const ageMs = Date.parse(ordered_at) - Date.parse(touched_at)
  return ageMs > cookie_days * DAY_MS ? 'window_expired' : null
}

/**
 * The journal of a commission: a cost of the store, and a debt to the affiliate; the reverse for a clawback. It belongs
 * to the commission and not to the order, whose journals are those of its sale.
 */
export const commissionJournal = (
  { id, affiliate_id, currency }: { id: string; affiliate_id: string; currency: string },
  amount_cents: number,
): NewJournal => ({
  kind: amount_cents < 0 ? 'commission.clawed_back' : 'commission.earned',
  currency,
  ref: id,
  entries: [
    { account: 'commission_expense', amount_cents },
    { account: 'affiliate_payable', ref: affiliate_id, amount_cents: -amount_cents },
  ],
})
