import { factsOfMeaning, type Meaning, type Vocabulary } from './meanings.ts'
import type { GatewayResult, Lookup, Reason } from './schema.ts'

const EMPTY_RESULT: GatewayResult = {
  outcome: 'unknown',
  txn_id: null,
  auth_code: null,
  avs: null,
  cvv: null,
  code: null,
  network_code: null,
  advice_code: null,
  reason: null,
  retryable: false,
  retry_class: null,
  fraud_signal: false,
  vault_id: null,
  card: null,
}

/** Returns the result of an answer with this meaning, with the other facts of the answer. */
export const resultOf = (meaning: Meaning, facts: Partial<GatewayResult> = {}): GatewayResult => ({
  ...EMPTY_RESULT,
  ...factsOfMeaning(meaning),
  ...facts,
})

/** The result of a request without a usable answer: the gateway may or may not have carried it out. */
export const unknownResult = (facts: Partial<GatewayResult> = {}): GatewayResult => ({
  ...EMPTY_RESULT,
  reason: 'processing_error',
  ...facts,
})

/** The result of a request that was never sent: there was no connection to the gateway. */
export const notSent = (): GatewayResult => ({
  ...EMPTY_RESULT,
  outcome: 'error',
  reason: 'processing_error',
  retryable: true,
  retry_class: 'soft',
})

/** A request that the gateway understood and refuses, because of the request itself. */
export const refused = (reason: Reason, facts: Partial<GatewayResult> = {}): GatewayResult => ({
  ...EMPTY_RESULT,
  outcome: 'error',
  reason,
  ...facts,
})

/** The results of a gateway that answers with codes. */
export const resultsOf = (words: Vocabulary) => ({
  /** The result of one of its codes. */
  resultOfCode: (code: string, facts: Partial<GatewayResult> = {}): GatewayResult =>
    resultOf(words.meaningOf(code), { code, ...facts }),
  /** The result of a request that it refuses. */
  refused: (reason: Reason, facts: Partial<GatewayResult> = {}): GatewayResult =>
    refused(reason, { code: words.codes.refused, ...facts }),
})

const EMPTY_LOOKUP: Lookup = {
  found: 'no',
  state: null,
  amount_cents: 0,
  captured_cents: 0,
  refunded_cents: 0,
  txn_id: null,
  auth_code: null,
  avs: null,
  cvv: null,
  code: null,
  network_code: null,
  advice_code: null,
  card: null,
  vault_id: null,
  refunds: [],
  disputed: false,
}

/** The lookup of a transaction of which the gateway has no record. */
export const noRecord = (): Lookup => ({ ...EMPTY_LOOKUP })

/** The lookup if the gateway gives no usable answer, which proves nothing. */
export const unreachable = (): Lookup => ({ ...EMPTY_LOOKUP, found: 'unreachable' })

/** The result of a charge, as a lookup at its gateway shows it. */
export function resultOfLookup(words: Vocabulary, lookup: Lookup): GatewayResult {
  const { txn_id, auth_code, avs, cvv, card, vault_id, network_code, advice_code } = lookup
  // The issuer's warning about the card holds, however the charge ended.
  const code = lookup.code ?? words.codes.approved
  const { fraud_signal } = factsOfMeaning(words.meaningOf(code))
  const codes = { network_code, advice_code }
  const facts = { txn_id, auth_code, avs, cvv, card, vault_id, fraud_signal, ...codes }
  if (lookup.found !== 'yes') return unknownResult()
  // The charge was approved and then voided: the gateway holds no money, and no bank declined.
  if (lookup.state === 'voided') {
    return refused('invalid_state', { ...facts, code: words.codes.refused })
  }
  if (lookup.state === 'failed') return failedResult(words, code, facts)
  return resultOf('approved', { ...facts, code })
}

/**
 * Returns the result of a charge that has failed by the gateway's record. With the code of an approval it counts as
 * a plain decline. With a code of an uncertain outcome it is certain now: otherwise it would be looked up for ever.
 */
function failedResult(
  words: Vocabulary,
  code: string,
  facts: Partial<GatewayResult>,
): GatewayResult {
  const meaning = words.meaningOf(code)
  if (meaning === 'approved') return resultOf('declined', { ...facts, code: words.codes.declined })
  return resultOf(meaning === 'uncertain' ? 'unavailable' : meaning, { ...facts, code })
}
