import { meaningOf } from './codes.ts'
import { refused, resultOf, unknownResult } from './gateway.ts'
import { toCents } from './nmi-amount.ts'
import type { GatewayResult } from './schema.ts'

/** What is asked of NMI, and what its answer must repeat to be an answer to it. */
export interface Asked {
  ref?: string
  txn_id?: string
  currency?: string
}

export interface Answered {
  result: GatewayResult
  /** Less than was asked for where the issuer approved a part. Null: not said. */
  authorised_cents: number | null
  /** A word for the log where neither the shopper nor the card is at fault, and nothing of the text. */
  trouble: string | null
}

const CODE = /^[0-9]{3}$/
const TOKEN = /^[\x21-\x7e]{1,100}$/
const SHORT = /^[\x20-\x7e]{1,20}$/

/** Reads `a=b&c=d`. Whatever is cut short, twice there or not ours says nothing: unknown. */
export function readAnswer(body: string, asked: Asked): Answered {
  const fields = new URLSearchParams(body.trim())
  const authorised_cents = toCents(fields.get('amount_authorized') ?? '', asked.currency ?? null)
  const result = readResult(fields, asked)
  return { result, authorised_cents, trouble: troubleOf(result, fields.get('responsetext') ?? '') }
}

/** What only somebody who looks after the account can mend, though each shopper meets it. */
function troubleOf({ outcome, reason, code }: GatewayResult, text: string): string | null {
  if (outcome !== 'error') return null
  if (NOT_TAKEN.test(text)) return 'type_or_currency_refused'
  if (reason !== 'processing_error') return null
  return /authentication failed/i.test(text) ? 'authentication_failed' : `code_${code}`
}

/** The account does not take cards of that brand, or nothing in that currency: the text says no more. */
const NOT_TAKEN = /payment type .* is not accepted/i

function readResult(fields: URLSearchParams, asked: Asked): GatewayResult {
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
    isSame(one('orderid'), asked.ref) && (response !== '1' || isSame(txn_id, asked.txn_id))
  if (response === null || code === null || !isOurs) return unknownResult()
  const facts = {
    txn_id,
    auth_code: matching('authcode', SHORT),
    avs: matching('avsresponse', SHORT),
    cvv: matching('cvvresponse', SHORT),
    vault_id: matching('customer_vault_id', TOKEN),
  }
  if (response === '1') return resultOf('100', { ...facts, code })
  if (code === '300') return readRefusal(one('responsetext') ?? '', facts)
  const isApproval = meaningOf(code).outcome === 'approved'
  return resultOf(isApproval ? fallback(response) : code, facts)
}

/** NMI leaves out what it was not told, so only a different value is somebody else's answer. */
const isSame = (said: string | null, asked: string | undefined) =>
  said === null || asked === undefined || said === asked

/** A refusal with the code of an approval: the plain word counts. */
const fallback = (response: string) => (response === '2' ? '200' : '400')

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

/** Code 300 is the gateway's own, and only its text says which of many things it means. */
function readRefusal(text: string, facts: Partial<GatewayResult>): GatewayResult {
  const reason = REFUSALS.find(([pattern]) => pattern.test(text))?.[1] ?? 'processing_error'
  const isCard = ['card_not_supported', 'expired_card', 'incorrect_cvv'].includes(reason)
  return refused(reason, {
    ...facts,
    retryable: reason === 'not_settled',
    retry_class: isCard ? 'hard' : reason === 'not_settled' ? 'soft' : null,
  })
}
