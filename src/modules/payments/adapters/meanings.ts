import type { GatewayResult, Reason } from './schema.ts'

type MeaningFacts = Pick<
  GatewayResult,
  'outcome' | 'reason' | 'retryable' | 'retry_class' | 'fraud_signal'
>

const plain = { retryable: false, retry_class: null, fraud_signal: false } as const
const soft = { retryable: true, retry_class: 'soft', fraud_signal: false } as const
const hard = { retryable: false, retry_class: 'hard', fraud_signal: false } as const

const declined = (
  reason: Reason,
  retry: typeof soft | typeof hard | typeof plain,
): MeaningFacts => ({ outcome: 'declined', reason, ...retry })
const failed = (reason: Reason, retry: typeof soft | typeof plain): MeaningFacts => ({
  outcome: 'error',
  reason,
  ...retry,
})

/**
 * What a gateway may say of a request, in the words of the platform. Each adapter says which of its own codes has
 * which meaning; no other code knows these codes (decision 0076).
 */
const MEANINGS = {
  approved: { outcome: 'approved', reason: null, ...plain },
  declined: declined('card_declined', soft),
  insufficient_funds: declined('insufficient_funds', soft),
  card_not_supported: declined('card_not_supported', hard),
  expired_card: declined('expired_card', hard),
  incorrect_cvv: declined('incorrect_cvv', hard),
  /** The card is lost, stolen or misused. The shopper only sees that it was declined. */
  card_misused: { ...declined('card_declined', hard), fraud_signal: true },
  /** The customer has ended this agreement at the bank, or every agreement on the card. */
  agreement_ended: declined('stop_recurring', hard),
  all_agreements_ended: declined('stop_all_recurring', hard),
  /** The bank has new data of the card. */
  card_updated: declined('card_update_available', plain),
  retry_in_days: declined('retry_in_days', soft),
  /** The gateway itself refuses: the request or the account is at fault, and no bank was asked. */
  refused: failed('processing_error', plain),
  /** The gateway or its connection to the banks is out of order, and no bank was asked. */
  unavailable: failed('processing_error', soft),
  duplicate: failed('duplicate', plain),
  /** The money may have moved. */
  uncertain: { outcome: 'unknown', reason: 'processing_error', ...plain },
} as const satisfies Readonly<Record<string, MeaningFacts>>

export type Meaning = keyof typeof MEANINGS

export const factsOfMeaning = (meaning: Meaning): MeaningFacts => MEANINGS[meaning]

/** Codes of a gateway with one meaning. */
export interface CodeMeaning {
  codes: readonly string[]
  means: Meaning
  /** The card networks' name of these codes. */
  network?: string
  source: string
  /** When the source was read. */
  asOf: string
}

/** Meanings that the platform infers from a gateway's record, where the record has no code of its own for them. */
type Inferred = 'approved' | 'declined' | 'insufficient_funds' | 'refused'

/** The codes of a gateway, and what they mean. */
export interface Vocabulary {
  meaningOf(code: string): Meaning
  /** The codes by which the gateway itself would say what is inferred. */
  readonly codes: Readonly<Record<Inferred, string>>
}

/** Makes a vocabulary of a table. Codes that are not in it have the meaning of `unlisted`. */
export function vocabularyOf(
  table: readonly CodeMeaning[],
  unlisted: (code: string) => Meaning,
  codes: Vocabulary['codes'],
): Vocabulary {
  const meanings = new Map(
    table.flatMap((row) => row.codes.map((code) => [code, row.means] as const)),
  )
  return { codes, meaningOf: (code) => meanings.get(code) ?? unlisted(code) }
}
