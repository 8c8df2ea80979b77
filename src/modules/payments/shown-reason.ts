import type { Reason } from './adapters/schema.ts'

const SHOWN: readonly (Reason | null)[] = [
  'card_declined',
  'insufficient_funds',
  'card_not_supported',
  'expired_card',
  'incorrect_cvv',
]

/** Reasons of banks for declined renewals. To a shopper who pays now they are a plain decline. */
const RENEWAL_REASONS: readonly (Reason | null)[] = [
  'stop_all_recurring',
  'stop_recurring',
  'card_update_available',
  'retry_in_days',
]

/** The reason that a shopper sees. Other reasons become `processing_error`. */
export function shownReason(reason: Reason | null): Reason {
  if (RENEWAL_REASONS.includes(reason)) return 'card_declined'
  return reason !== null && SHOWN.includes(reason) ? reason : 'processing_error'
}
