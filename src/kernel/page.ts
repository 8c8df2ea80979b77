import { Type } from 'typebox'

export interface Page {
  limit: number
  offset: number
}

interface Bounds {
  limitDefault: number
  limitMax: number
  offsetMax?: number
}

/** Lists of the merchant and operator planes. */
export const LIST: Bounds = { limitDefault: 25, limitMax: 100 }

/**
 * Reads `limit` and `offset` of a query string. The contract clamps them and never refuses:
 * absent or not a number is the default, a fraction is floored, the rest is moved into range.
 */
export function readPage(query: unknown, bounds: Bounds = LIST): Page {
  const { limit, offset } = query as { limit?: unknown; offset?: unknown }
  return {
    limit: clamp(limit, { min: 1, max: bounds.limitMax, otherwise: bounds.limitDefault }),
    offset: clamp(offset, {
      min: 0,
      max: bounds.offsetMax ?? Number.MAX_SAFE_INTEGER,
      otherwise: 0,
    }),
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

/** How many rows all pages of a list have together, as it comes from the database. */
export const Total = Type.Object({ total: Type.Integer() })

/** How the two parameters stand in the documentation. */
export const PAGE_QUERY = {
  limit: Type.Integer({ minimum: 1, maximum: LIST.limitMax, default: LIST.limitDefault }),
  offset: Type.Integer({ minimum: 0, default: 0 }),
}
