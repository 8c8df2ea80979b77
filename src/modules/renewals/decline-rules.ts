import type { GatewayResult, Reason } from '../payments/adapters/schema.ts'
import type { TryLimit } from '../subscriptions/cycle-schema.ts'
import { DECLINE_CLASSES } from '../subscriptions/schema.ts'

/**
 * The rules of what may be done after a declined renewal, as data. The classes are those of the card
 * networks: they fine an attempt that they forbid, and the bank will not approve it. Each rule of a network names
 * its source and when that was read (decision 0044).
 */

/**
 * The class of a decline. `soft`: charged again by the store's ladder. `funds`: the same, on a payday. `wait`: the
 * same, after some days. `update`: the bank has other data of the card; only those help. `hard`: never again with
 * this card. `stop`: the customer has ended this agreement at the bank; `stop_all`: every agreement on the card.
 * `unsent`: no bank was asked.
 */
export type DeclineClass = (typeof DECLINE_CLASSES)[number] | 'unsent'

/** The class of each reason of a decline: the same for all gateways, whose adapters give the reasons. */
const CLASS_OF_REASON: Readonly<Record<Reason, DeclineClass>> = {
  card_declined: 'soft',
  insufficient_funds: 'funds',
  retry_in_days: 'wait',
  card_update_available: 'update',
  card_not_supported: 'hard',
  expired_card: 'hard',
  incorrect_cvv: 'hard',
  stop_recurring: 'stop',
  stop_all_recurring: 'stop_all',
  processing_error: 'unsent',
  duplicate: 'unsent',
  invalid_state: 'unsent',
  not_settled: 'unsent',
  already_settled: 'unsent',
  amount_exceeded: 'soft',
  card_not_stored: 'soft',
}

/** What the networks' advice means. */
interface AdviceRule {
  class: DeclineClass
  /** The network's codes. */
  codes: readonly string[]
  /** The networks' name of the code. */
  network: string
  source: string
  /** When the source was read. */
  asOf: string
}

const TABAPAY = 'developers.tabapay.com/docs/excessive-retry-rules'

/** The meanings of a network's advice, which some gateways pass on beside their own code. */
export const ADVICE_RULES: readonly AdviceRule[] = [
  {
    class: 'update',
    codes: ['01'],
    network: 'Mastercard advice 01: new account information is available',
    source: TABAPAY,
    asOf: '2026-10',
  },
  {
    class: 'soft',
    codes: ['02'],
    network: 'Mastercard advice 02: try again later',
    source: TABAPAY,
    asOf: '2026-10',
  },
  {
    class: 'hard',
    codes: ['03'],
    network: 'Mastercard advice 03: do not try again',
    source: TABAPAY,
    asOf: '2026-10',
  },
  {
    class: 'stop',
    codes: ['21'],
    network: 'Mastercard advice 21: this agreement was ended at the bank',
    source: TABAPAY,
    asOf: '2026-10',
  },
  {
    class: 'funds',
    codes: ['24', '25', '26', '27', '28', '29', '30'],
    network: 'Mastercard advice 24 to 30: try again after 1 hour, 1, 2, 4, 6, 8 or 10 days',
    source: TABAPAY,
    asOf: '2026-10',
  },
]

const CLASS_OF_ADVICE = new Map(
  ADVICE_RULES.flatMap((rule) => rule.codes.map((code) => [code, rule.class] as const)),
)

const BY_STRICTNESS: readonly DeclineClass[] = DECLINE_CLASSES

/** Returns the stricter class, of a gateway's answer and of a network's advice. */
const stricter = (one: DeclineClass, other: DeclineClass): DeclineClass =>
  BY_STRICTNESS.indexOf(other) > BY_STRICTNESS.indexOf(one) ? other : one

type Answer = Pick<GatewayResult, 'code' | 'reason' | 'retryable' | 'fraud_signal'>

/** Returns the class of a failed charge. The result is null if the gateway has no record of the charge. */
export function classOf(
  result: (Answer & Partial<Pick<GatewayResult, 'advice_code'>>) | null,
): DeclineClass {
  if (result === null) return 'unsent'
  const advised = CLASS_OF_ADVICE.get(result.advice_code ?? '')
  const answered = classOfAnswer(result)
  return advised === undefined || answered === 'unsent' ? answered : stricter(answered, advised)
}

/**
 * How many days some advice asks to wait. Advice to wait an hour means the next morning here,
 * which is the earliest attempt.
 */
const ADVICE_DAYS: Readonly<Record<string, number>> = {
  24: 1,
  25: 1,
  26: 2,
  27: 4,
  28: 6,
  29: 8,
  30: 10,
}

/** Returns how many days the network asks to wait, or 0 if it does not ask for that. */
export const adviceDays = (result: Pick<GatewayResult, 'advice_code'> | null): number =>
  ADVICE_DAYS[result?.advice_code ?? ''] ?? 0

function classOfAnswer({ code, reason, retryable, fraud_signal }: Answer): DeclineClass {
  // Without a code the charge was never sent, or an operator has decided how it ended.
  if (code === null) return retryable ? 'unsent' : 'soft'
  if (reason === null) return 'soft'
  // A plain decline to the shopper, but the card is lost, stolen or misused: its issuer will never approve.
  if (reason === 'card_declined' && fraud_signal) return 'hard'
  return CLASS_OF_REASON[reason]
}

/** The days after which a bank that replied "in some days" may be asked again. */
export const WAIT_DAYS = 3

/** How many declines of one card a network allows a merchant within some days. */
interface NetworkLimit extends TryLimit {
  source: string
  asOf: string
}

const VISA: NetworkLimit = {
  tries: 20,
  days: 30,
  ofAmount: true,
  source: 'Visa Core Rules of 2026-04-18, table 7-2 (15 before)',
  asOf: '2026-10',
}
const MASTERCARD_DAY: NetworkLimit = {
  tries: 10,
  days: 1,
  ofAmount: false,
  source: TABAPAY,
  asOf: '2026-10',
}
const MASTERCARD_MONTH: NetworkLimit = {
  tries: 35,
  days: 30,
  ofAmount: true,
  source: TABAPAY,
  asOf: '2026-10',
}

/** The limits by the brand of the card. A brand that is not listed gets the strictest of each. */
export const TRY_LIMITS: Readonly<Record<string, readonly NetworkLimit[]>> = {
  visa: [VISA],
  mastercard: [MASTERCARD_DAY, MASTERCARD_MONTH],
}

export const limitsOf = (brand: string | null): readonly TryLimit[] =>
  TRY_LIMITS[brand ?? ''] ?? [MASTERCARD_DAY, VISA]
