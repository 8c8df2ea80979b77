import { Type } from 'typebox'
import { readText } from './query.ts'

export interface Page {
  limit: number
  offset: number
  /** The cursor of the row that the page follows. With a cursor, `offset` is ignored. */
  after?: string
}

interface Bounds {
  limitDefault: number
  limitMax: number
  offsetMax?: number
}

/** More rows than any list has, as a number that PostgreSQL's `offset` accepts. */
const OFFSET_MAX = Number.MAX_SAFE_INTEGER

/** Bounds of the lists of the merchant and operator planes. */
export const LIST: Bounds = { limitDefault: 25, limitMax: 100 }

/**
 * Reads `limit`, `offset` and `after` of a query string. The contract never refuses the first two: absent or not a
 * number means the default, a fraction is floored, and a value out of range is clamped. A cursor that cannot be read
 * is refused by the list: the first page in its place would make a reader read the same pages for ever.
 */
export function readPage(query: unknown, bounds: Bounds = LIST): Page {
  const { limit, offset } = query as { limit?: unknown; offset?: unknown }
  const after = readText(query, 'after')
  return {
    limit: clamp(limit, { min: 1, max: bounds.limitMax, otherwise: bounds.limitDefault }),
    offset:
      after === undefined
        ? clamp(offset, { min: 0, max: bounds.offsetMax ?? OFFSET_MAX, otherwise: 0 })
        : 0,
    ...(after !== undefined && { after }),
  }
}

export function clamp(
  raw: unknown,
  { min, max, otherwise }: { min: number; max: number; otherwise: number },
): number {
  const text = Array.isArray(raw) ? raw[0] : raw
  if (typeof text !== 'string' || text.trim() === '') return otherwise
  const value = Math.floor(Number(text))
  if (Number.isNaN(value)) return otherwise
  return Math.min(Math.max(value, min), max)
}

const After = Type.String({
  description:
    'The `next_after` of the page before. Costs the same on every page, and neither skips nor ' +
    'repeats a row when others are added meanwhile; `offset` then counts for nothing.',
})

/** The parameters of a list with these bounds, as the documentation shows them. */
export const pageQuery = ({ limitMax, limitDefault }: Bounds) => ({
  limit: Type.Integer({ minimum: 1, maximum: limitMax, default: limitDefault }),
  offset: Type.Integer({ minimum: 0, default: 0 }),
  after: After,
})

export const PAGE_QUERY = pageQuery(LIST)
