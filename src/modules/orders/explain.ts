import type { Explanation } from './change-schema.ts'
import type { OrderRow } from './schema.ts'
import { factsOf } from './service.ts'
import { allowedActions, deriveStatus } from './status.ts'

/** Each rule of the status, in words, by its number. */
const MEANINGS: readonly string[] = [
  'The order was cancelled, whether it was paid for or not.',
  'Nothing was paid, and the last attempt to pay has failed for good.',
  'The payment is authorised and held back until somebody has looked at the order.',
  'Nothing was paid yet.',
  'All that was paid has been given back.',
  'The order is held back, and something of it has not been shipped.',
  'Some of what was paid has been given back.',
  'Everything that is still wanted has been delivered.',
  'Everything that is still wanted has been shipped.',
  'Some of it has been shipped.',
  'Somebody is at work on it.',
  'It is paid for, and nobody has begun to work on it.',
]

const REASONS: Readonly<Record<string, string>> = {
  already_shipped: 'Something has been shipped: what was shipped comes back as a return.',
  nothing_shipped: 'Nothing has been shipped.',
  nothing_unshipped: 'Nothing is left to be shipped.',
  not_captured: 'Nothing was captured.',
  payment_unconfirmed: 'The outcome of the payment is not known yet.',
  already_processing: 'Somebody is at work on it already.',
  nothing_to_deliver: 'Nothing is on its way.',
  no_open_fulfillment: 'No parcel waits to be shipped.',
  nothing_to_recall: 'Nothing is on its way.',
  already_refunded: 'Money was given back already: give back the rest instead.',
}

const wordsOf = (reason: string): string =>
  REASONS[reason] ?? `It cannot be done with an order that is ${reason.replace(/^order_/, '')}.`

/** Why an order is where it is, and what may be done with it. */
export function explain(order: OrderRow): Explanation {
  const facts = factsOf(order)
  const { status, rule, payment_status, fulfillment_status } = deriveStatus(facts)
  const { allowed, refused } = allowedActions(facts)
  return {
    status,
    payment_status,
    fulfillment_status,
    facts: { ...facts },
    rule: { number: rule, status, meaning: MEANINGS[rule - 1] ?? '' },
    busy: order.busy ?? false,
    allowed,
    refused: refused.map((each) => ({ ...each, meaning: wordsOf(each.reason) })),
  }
}
