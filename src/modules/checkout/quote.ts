import { ApiError, invalidBody } from '../../errors.ts'
import type { Clock } from '../../kernel/clock.ts'
import { MINUTE_MS } from '../../kernel/time.ts'
import { sha256, sign, verify } from '../../kernel/tokens.ts'
import type { Changed } from '../orders/terms-schema.ts'
import type { Sale } from './service.ts'

const PREFIX = 'fdqt_'
const QUOTE_MS = 10 * MINUTE_MS

/**
 * What a preview showed. A checkout compares with it, and never takes its price from it.
 */
export interface Quote {
  tenant: string
  total_cents: number
  currency: string
  shipping_cents: number
  tax_cents: number
  /**
   * A digest of the goods, fixed by a quote whose total is not final because the tax needs an address that is missing.
   * Null: the quote fixes the total.
   */
  goods: string | null
}

export interface Quoting {
  key: Buffer
  clock: Clock
}

/** The quote in its token. The names are short, since shoppers' forms and URLs carry it. */
interface Payload {
  t: string
  c: number
  m: string
  s: number
  x: number
  g: string | null
  e: number
}

export function makeQuote({ key, clock }: Quoting, quote: Quote): string {
  const payload: Payload = {
    t: quote.tenant,
    c: quote.total_cents,
    m: quote.currency,
    s: quote.shipping_cents,
    x: quote.tax_cents,
    g: quote.goods,
    e: clock.now() + QUOTE_MS,
  }
  return PREFIX + sign(key, Buffer.from(JSON.stringify(payload)))
}

/**
 * Refuses a price that differs from the quoted one, and a token that this store did not sign. The tax may differ if the
 * quote had no address: the differences are returned.
 */
export function requireQuoted(
  { key, clock }: Quoting,
  token: string,
  tenant: string,
  { priced, options }: Sale,
): Changed | null {
  const payload = token.startsWith(PREFIX) ? verify(key, token.slice(PREFIX.length)) : null
  if (payload === null) throw invalid('must be the quote_token of a preview of this store')
  const { t, c, m, s, x, g, e } = JSON.parse(payload.toString()) as Payload
  if (t !== tenant) throw invalid('must be the quote_token of a preview of this store')
  if (clock.now() >= e) throw invalid('is older than ten minutes; get a new preview')
  const { total_cents, currency, shipping_cents, tax_cents } = priced
  const isSame = g === null ? c === total_cents : g === goodsOf({ priced, options })
  if (!isSame || m !== currency) {
    throw new ApiError('price_changed', { body: { quoted_cents: c, current_cents: total_cents } })
  }
  return changedBy([
    ['shipping_cents', s, shipping_cents],
    ['tax_cents', x, tax_cents],
    ['total_cents', c, total_cents],
  ])
}

function changedBy(
  figures: readonly [member: keyof Changed, quoted_cents: number, placed_cents: number][],
): Changed | null {
  const changed = figures.filter(([, quoted, placed]) => quoted !== placed)
  if (changed.length === 0) return null
  return Object.fromEntries(
    changed.map(([member, quoted_cents, placed_cents]) => [member, { quoted_cents, placed_cents }]),
  )
}

/**
 * A digest of everything that does not depend on the address: the items with their prices and discounts, the shipping
 * (no policy prices it by the destination), and whether the tax is inside.
 */
export function goodsOf({ priced, options }: Pick<Sale, 'priced' | 'options'>): string {
  const lines = priced.lines.map((line) =>
    [line.variant_id, line.quantity, line.unit_price_cents, line.discount_cents].join(' '),
  )
  const bound = [lines.sort(), priced.shipping_cents, options.pricesIncludeTax]
  return sha256(JSON.stringify(bound)).toString('base64url').slice(0, DIGEST_LENGTH)
}

/** 132 bits: the token is signed, so that no caller can search for another cart with the same digest. */
const DIGEST_LENGTH = 22

const invalid = (message: string) => invalidBody('quote_token', message)
