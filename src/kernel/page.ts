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

/** Bounds of the lists of the merchant and operator planes. */
export const LIST: Bounds = { limitDefault: 25, limitMax: 100 }

/**
 * Reads `limit` and `offset` of a query string. The contract never refuses them: absent or not a
 * number means the default, a fraction is floored, and a value out of range is clamped.
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

/** The number of rows of all pages of a list, as the database answers it. */
export const Total = Type.Object({ total: Type.Integer() })

/** The two parameters as the documentation shows them. */
export const PAGE_QUERY = {
  limit: Type.Integer({ minimum: 1, maximum: LIST.limitMax, default: LIST.limitDefault }),
  offset: Type.Integer({ minimum: 0, default: 0 }),
}
