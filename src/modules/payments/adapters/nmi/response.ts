import { unknownResult } from '../results.ts'
import { type GatewayResult, NETWORK_CODE } from '../schema.ts'
import { toCents } from './amount.ts'
import { NMI_VOCABULARY, REFUSED, refused, resultOfCode } from './meanings.ts'

/**
 * Facts of a request to NMI that its response repeats. A response with other values is not ours.
 */
export interface RequestFacts {
  ref?: string
  txn_id?: string
  currency?: string
  /** The type of the request, e.g. `refund`. NMI repeats it. */
  type?: string | undefined
}

export interface NmiResponse {
  result: GatewayResult
  /**
   * The authorised amount: less than the requested one if the issuer approved a part.
   * Null if the response has none.
   */
  authorised_cents: number | null
  /** A word for the log if neither shopper nor card is at fault. It has nothing of NMI's text. */
  accountProblem: string | null
}

const CODE = /^[0-9]{3}$/
const TOKEN = /^[\x21-\x7e]{1,100}$/
const SHORT = /^[\x20-\x7e]{1,20}$/

/**
 * Reads a response of the form `a=b&c=d`. A response that is incomplete, has a field twice,
 * contradicts itself or belongs to another request proves nothing: its result is unknown.
 */
export function readResponse(body: string, sent: RequestFacts): NmiResponse {
  const fields = new URLSearchParams(body.trim())
  const authorised_cents = toCents(fields.get('amount_authorized') ?? '', sent.currency ?? null)
  const result = readResult(fields, sent)
  const accountProblem = accountProblemOf(result, fields.get('responsetext') ?? '')
  return { result, authorised_cents, accountProblem }
}

/** Names a fault of the account at NMI, which every shopper meets and only an operator can repair. */
function accountProblemOf({ outcome, reason, code }: GatewayResult, text: string): string | null {
  if (outcome !== 'error') return null
  if (NOT_TAKEN.test(text)) return 'type_or_currency_refused'
  if (reason !== 'processing_error') return null
  return /authentication failed/i.test(text) ? 'authentication_failed' : `code_${code}`
}

/**
 * The text of a refusal because the account accepts no cards of that brand, or no payments in that
 * currency. NMI does not say which.
 */
const NOT_TAKEN = /payment type .* is not accepted/i

function readResult(fields: URLSearchParams, sent: RequestFacts): GatewayResult {
  const one = (name: string) => {
    const [value, ...more] = fields.getAll(name)
    return more.length === 0 && value ? value : null
  }
  const matching = (name: string, pattern: RegExp) => {
    const value = one(name)
    return value !== null && pattern.test(value) ? value : null
  }
  const [response, code] = [matching('response', /^[123]$/), matching('response_code', CODE)]
  const txn_id = matching('transactionid', TOKEN)
  const isOurs =
    isSame(one('orderid'), sent.ref) &&
    isSame(one('type'), sent.type) &&
    (response !== '1' || isSame(txn_id, sent.txn_id))
  if (response === null || code === null || !isOurs) return unknownResult()
  const facts = {
    txn_id,
    auth_code: matching('authcode', SHORT),
    avs: matching('avsresponse', SHORT),
    cvv: matching('cvvresponse', SHORT),
    vault_id: matching('customer_vault_id', TOKEN),
    // Not every processor behind NMI passes these codes on.
    network_code: matching('processor_response_code', NETWORK_CODE),
    advice_code: matching('merchant_advice_code', NETWORK_CODE),
  }
  // A response that contradicts itself proves neither.
  if ((NMI_VOCABULARY.meaningOf(code) === 'approved') !== (response === '1')) return unknownResult()
  return code === REFUSED
    ? readRefusal(one('responsetext') ?? '', facts)
    : resultOfCode(code, facts)
}

/**
 * Whether a response belongs to the request. NMI leaves out fields that it did not get, so only a different
 * value shows another request.
 */
const isSame = (received: string | null, sent: string | undefined) =>
  received === null || sent === undefined || received === sent

const REFUSALS: readonly (readonly [text: RegExp, reason: NonNullable<GatewayResult['reason']>])[] =
  [
    [/duplicate transaction/i, 'duplicate'],
    [/only transactions pending settlement can be voided/i, 'already_settled'],
    [/must be settled|not (yet )?(been )?settled|unsettled/i, 'not_settled'],
    [/exceeds?\b|may not exceed/i, 'amount_exceeded'],
    [
      /requires that the existing transaction|transaction not found|invalid transaction id/i,
      'invalid_state',
    ],
    [NOT_TAKEN, 'card_not_supported'],
    [/(card|cc) ?number|ccnumber|card type|payment token|customer vault/i, 'card_not_supported'],
    [/expir|ccexp/i, 'expired_card'],
    [/cvv/i, 'incorrect_cvv'],
  ]

/** Reads a refusal of the gateway itself. All have the code 300, and only the text says why. */
function readRefusal(text: string, facts: Partial<GatewayResult>): GatewayResult {
  const reason = REFUSALS.find(([pattern]) => pattern.test(text))?.[1] ?? 'processing_error'
  const isCard = ['card_not_supported', 'expired_card', 'incorrect_cvv'].includes(reason)
  return refused(reason, {
    ...facts,
    retryable: reason === 'not_settled',
    retry_class: isCard ? 'hard' : reason === 'not_settled' ? 'soft' : null,
  })
}
