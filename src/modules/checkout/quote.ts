import { ApiError, invalidBody } from '../../errors.ts'
import type { Clock } from '../../kernel/clock.ts'
import { MINUTE_MS } from '../../kernel/time.ts'
import { sign, verify } from '../../kernel/tokens.ts'

const PREFIX = 'fdqt_'
const QUOTE_MS = 10 * MINUTE_MS

/**
 * The total that a preview showed. A checkout compares with it, and never takes its price from it.
 */
export interface Quote {
  tenant: string
  total_cents: number
  currency: string
}

export interface Quoting {
  key: Buffer
  clock: Clock
}

export function makeQuote({ key, clock }: Quoting, quote: Quote): string {
  const payload = {
    t: quote.tenant,
    c: quote.total_cents,
    m: quote.currency,
    e: clock.now() + QUOTE_MS,
  }
  return PREFIX + sign(key, Buffer.from(JSON.stringify(payload)))
}

/** Refuses a total that differs from the quoted one, and a token that this store did not sign. */
export function requireQuoted({ key, clock }: Quoting, token: string, now: Quote): void {
  const payload = token.startsWith(PREFIX) ? verify(key, token.slice(PREFIX.length)) : null
  if (payload === null) throw invalid('must be the quote_token of a preview of this store')
  const { t, c, m, e } = JSON.parse(payload.toString()) as {
    t: string
    c: number
    m: string
    e: number
  }
  if (t !== now.tenant) throw invalid('must be the quote_token of a preview of this store')
  if (clock.now() >= e) throw invalid('is older than ten minutes; get a new preview')
  if (c === now.total_cents && m === now.currency) return
  throw new ApiError('price_changed', { body: { quoted_cents: c, current_cents: now.total_cents } })
}

const invalid = (message: string) => invalidBody('quote_token', message)
