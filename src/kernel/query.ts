import { isUtf8 } from 'node:buffer'
import { isUuid } from './schema.ts'
import { toUtc } from './time.ts'

/** Reads query parameters: an invalid one counts as absent, where no plane refuses it (`http/check-filters.ts`). */

/** Reads a text; the first one if it is repeated. Blank counts as absent. */
export function readText(query: unknown, name: string): string | undefined {
  const raw = (query as Record<string, unknown>)[name]
  const value = Array.isArray(raw) ? raw[0] : raw
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

/** An id that no row has. */
const NO_ID = '00000000-0000-0000-0000-000000000000'

/** Reads an id. A text that is not an id becomes `NO_ID`, so that a list is empty and not whole. */
export function readId(query: unknown, name: string): string | undefined {
  const text = readText(query, name)
  return text === undefined || isUuid(text) ? text : NO_ID
}

/**
 * Reads a date or a time, as ISO 8601 in UTC. A plus that was not URL-encoded arrives as a space.
 */
export function readTimestamp(query: unknown, name: string): string | undefined {
  const value = readText(query, name)?.replace(/ (?=\d\d:?\d\d$)/, (space, at) =>
    at > 10 ? '+' : space,
  )
  return value === undefined ? undefined : (toUtc(value) ?? undefined)
}

export function readOneOf<T extends string>(
  query: unknown,
  name: string,
  all: readonly T[],
): T | undefined {
  const value = readText(query, name)
  return all.find((each) => each === value)
}

/** Decodes a header: its bytes arrive as Latin-1, and most are UTF-8. Blank counts as absent. */
export function headerText(header: unknown): string | undefined {
  if (typeof header !== 'string') return undefined
  const bytes = Buffer.from(header, 'latin1')
  const text = isUtf8(bytes) ? bytes.toString('utf8') : header
  return text.trim() === '' ? undefined : text
}
