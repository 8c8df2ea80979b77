import { bpsOf } from '../../kernel/money.ts'
import type { AttributionRow, Referred, Refusal } from './commission-schema.ts'

/** What an order earns its affiliate, and whether it may earn at all: pure functions. */

export type EarningTerms = Pick<AttributionRow, 'commission_type' | 'rate_bps' | 'amount_cents'>

/** The goods of an order: as sold, and what is left of them after refunds and edits. */
export interface Goods {
  base_cents: number
  left_cents: number
}

/**
 * The commission for the goods that are left of an order, rounding half a cent up. It is the only place that rounds: a
 * refund claws back the difference of two results. So the clawbacks of partial refunds, in any number and order, add up
 * to exactly the commission, and never exceed it: the result grows with the goods that are left, and is 0 without any.
 * It is never more than the goods themselves (decision 0052).
 */
export function commissionOf(terms: EarningTerms, { base_cents, left_cents }: Goods): number {
  const left = Math.max(0, left_cents)
  if (terms.commission_type === 'percent') return bpsOf(left, terms.rate_bps ?? 0)
  const whole = Math.min(terms.amount_cents ?? 0, base_cents)
  return base_cents === 0 ? 0 : proportion(whole, Math.min(left, base_cents), base_cents)
}

/**
 * Computes a share of an amount, half a cent up. In BigInt, since the product of two amounts exceeds the safe
 * integers.
 */
const proportion = (cents: number, some: number, whole: number): number =>
  Number((2n * BigInt(cents) * BigInt(some) + BigInt(whole)) / (2n * BigInt(whole)))

/** The amount to book when the goods that are left of an order change. */
export interface Change {
  left_cents: number
  /** Negative: a clawback. */
  amount_cents: number
  booked_cents: number
}

/**
 * Computes the amount to book when goods worth `left` are left of an order. After the merchant has declined a
 * commission of the order, it earns no more, and can still lose.
 */
export function changeOf(attribution: AttributionRow, left: number): Change {
  const left_cents = Math.max(0, left)
  const { base_cents, booked_cents: before, declined } = attribution
  const due = commissionOf(attribution, { base_cents, left_cents }) - before
  const amount_cents = declined ? Math.min(0, due) : due
  return { left_cents, amount_cents, booked_cents: before + amount_cents }
}

/** The buyer, in spellings that can be compared. */
export interface Buyer {
  customer_ref: string
  person_id: string | null
  email_folded: string | null
  /** Fingerprints of the cards that pay. */
  cards: readonly string[]
  /** Folded. */
  address: string | null
}

/** The affiliate's own purchases, as far as known: cards that paid for them, and addresses they went to. */
export interface Traces {
  cards: ReadonlySet<string>
  addresses: ReadonlySet<string>
}

/** Returns why an order counts as the affiliate's own, or null where it does not. */
export function selfReferral(
  affiliate: Pick<Referred, 'email_folded' | 'customer_ref' | 'person_id' | 'is_device'>,
  buyer: Buyer,
  own: Traces,
): Refusal | null {
  const isSame = (a: string | null, b: string | null) => a !== null && a === b
  if (
    isSame(affiliate.customer_ref, buyer.customer_ref) ||
    isSame(affiliate.person_id, buyer.person_id) ||
    isSame(mailboxOf(affiliate.email_folded), mailboxOf(buyer.email_folded))
  )
    return 'self_person'
  if (buyer.cards.some((card) => own.cards.has(card))) return 'self_card'
  if (affiliate.is_device) return 'self_device'
  return buyer.address !== null && own.addresses.has(buyer.address) ? 'self_address' : null
}

/** Drops the part of an address after a plus: almost everywhere it is the same mailbox. */
const mailboxOf = (folded: string | null): string | null =>
  folded === null ? null : folded.replace(/\+[^@]*(?=@)/, '')
