import type { GatewayResult } from './schema.ts'

type Meaning = Pick<
  GatewayResult,
  'outcome' | 'reason' | 'retryable' | 'retry_class' | 'fraud_signal'
>

type Reason = NonNullable<Meaning['reason']>

const plain = { retryable: false, retry_class: null, fraud_signal: false } as const
const soft = { retryable: true, retry_class: 'soft', fraud_signal: false } as const
const hard = { retryable: false, retry_class: 'hard', fraud_signal: false } as const

const declined = (reason: Reason, retry: typeof soft | typeof hard | typeof plain): Meaning => ({
  outcome: 'declined',
  reason,
  ...retry,
})
const failed = (reason: Reason, retry: typeof soft | typeof plain): Meaning => ({
  outcome: 'error',
  reason,
  ...retry,
})

/** A decline because the card is lost, stolen or misused. The shopper only sees that it was declined. */
const suspect: Meaning = { ...declined('card_declined', hard), fraud_signal: true }
const unsupported = declined('card_not_supported', hard)
const uncertain: Meaning = { outcome: 'unknown', reason: 'processing_error', ...plain }

/** NMI's response codes. The simulated gateway uses them, too. */
const CODES: Readonly<Record<string, Meaning>> = {
  100: { outcome: 'approved', reason: null, ...plain },
  200: declined('card_declined', soft),
  201: declined('card_declined', soft),
  202: declined('insufficient_funds', soft),
  203: declined('insufficient_funds', soft),
  204: unsupported,
  220: unsupported,
  221: unsupported,
  222: unsupported,
  223: declined('expired_card', hard),
  224: declined('expired_card', hard),
  225: declined('incorrect_cvv', hard),
  240: declined('card_declined', soft),
  250: suspect,
  251: suspect,
  252: suspect,
  253: suspect,
  260: declined('card_declined', soft),
  261: declined('stop_all_recurring', hard),
  262: declined('stop_recurring', hard),
  263: declined('card_update_available', plain),
  264: declined('retry_in_days', soft),
  // Refused by the gateway itself. The text of the response says why, see nmi-response.ts.
  300: failed('processing_error', plain),
  400: failed('processing_error', soft),
  // The merchant's account is at fault. Another attempt does not help.
  410: failed('processing_error', plain),
  411: failed('processing_error', plain),
  // The gateway lost its connection to the card network half-way.
  420: uncertain,
  421: uncertain,
  430: failed('duplicate', plain),
  440: failed('processing_error', soft),
  441: failed('processing_error', soft),
  460: failed('processing_error', soft),
  461: unsupported,
}

const UNLISTED: Readonly<Record<string, Meaning>> = {
  2: declined('card_declined', soft),
  3: failed('processing_error', soft),
}

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

/**
 * The meaning of a response code. A code that is not listed is read by its first digit: the issuer has
 * declined (2), or the gateway has refused without asking a bank (3). Of any other the money may have
 * moved.
 */
export const meaningOf = (code: string): Meaning =>
  CODES[code] ?? UNLISTED[code[0] ?? ''] ?? uncertain
