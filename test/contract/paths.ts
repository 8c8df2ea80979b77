import { randomUUID } from 'node:crypto'

/** Reads that name an order in their query, and are no lists. Their own tests ask for a foreign one. */
export const ABOUT_AN_ORDER: readonly string[] = ['/v1/merchant/fulfillments/rates']

/** Routes whose path contains a name of the caller's choice, so that any name may be new. */
export const CALLERS_WORD: readonly string[] = [
  'POST /v1/merchant/store-credit/:customer_ref/credit',
]

/** A path with its parameters filled in; a missing parameter becomes an id that does not exist. */
export const fillPath = (url: string, params: Record<string, string> = {}): string =>
  url.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? randomUUID()))
