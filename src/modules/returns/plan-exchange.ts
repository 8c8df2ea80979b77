import { sum } from '../../kernel/money.ts'
import {
  fitParts,
  splitAmount,
  totalOf,
  withoutNegatives,
  withoutShipping,
} from '../order-changes/refund-parts.ts'
import type { Parts } from '../order-changes/schema.ts'
import type { ReturnState } from '../orders/return-schema.ts'
import { refundableOf } from '../orders/service.ts'
import { expectedOf, type MoneyFacts, unsettledOf, worthOf } from './plan-receipt.ts'

/** Plans the money that an exchange takes from a return's refund. Pure functions, for the exchange and its preview. */

/** States in which units are on their way. */
const EXPECTING: readonly ReturnState[] = ['approved', 'partially_received']

export interface Credit {
  /** The most that an order can take. */
  available_cents: number
  /** The part of it that receipts have waived. */
  waived_cents: number
  /** The worth of the units whose money is not decided. */
  worth: Parts
  /** What is left to refund of the goods of the returned order. */
  left: Parts
}

/**
 * Plans how much an exchange can take: the worth of units that came and are not settled, and the amounts that
 * receipts have waived; in advance also the worth of units that are still to come. Amounts that the shopper has
 * already got for the return are deducted, and amounts that are owed to the shopper are added.
 */
export function planCredit(facts: MoneyFacts, advance: boolean): Credit {
  const { returned, refundable, given_cents, waived_cents } = facts
  const isExpecting = advance && EXPECTING.includes(returned.status)
  const shares = returned.lines.map((line) => {
    const coming = isExpecting ? expectedOf(line) : 0
    return worthOf(facts, line, unsettledOf(line) + coming).share
  })
  const worth = {
    product_cents: sum(shares.map(({ product_cents }) => product_cents)),
    tax_cents: sum(shares.map(({ tax_cents }) => tax_cents)),
    shipping_cents: 0,
    gift_card_cents: 0,
  }
  const left = { ...withoutNegatives(withoutShipping(refundable.left)), gift_card_cents: 0 }
  const most = Math.min(totalOf(left), refundableOf(refundable.charges))
  const entitled = totalOf(worth) - given_cents + waived_cents
  return {
    available_cents: Math.max(0, Math.min(entitled, most)),
    waived_cents,
    worth,
    left,
  }
}

export interface Taken {
  amount_cents: number
  from_waived_cents: number
  parts: Parts
}

/** Returns how much an order with a total takes. Waived money is taken first: its goods are there. */
export function takeOf(
  { available_cents, waived_cents, worth, left }: Credit,
  total_cents: number,
): Taken {
  const amount_cents = Math.min(available_cents, total_cents)
  const from = totalOf(worth) >= amount_cents ? worth : left
  return {
    amount_cents,
    from_waived_cents: Math.min(amount_cents, waived_cents),
    parts: fitParts(splitAmount(amount_cents, from), left),
  }
}
