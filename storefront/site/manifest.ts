/** Readers for the values of a manifest, which may hold anything. */

export type JsonObject = Record<string, unknown>

export const asObject = (value: unknown): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}

/** More than any page shows of one text. */
const TEXT_LENGTH_MAX = 100_000

/** More than one line shows: a name, or a title. Every page repeats these. */
const LINE_LENGTH_MAX = 500

/** Returns a text of a manifest; null for one that is missing or blank. A text that is too long is cut off. */
export const asText = (value: unknown, lengthMax = TEXT_LENGTH_MAX): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value.slice(0, lengthMax).toWellFormed() : null

/** A text that every page repeats. */
export const asLine = (value: unknown): string | null => asText(value, LINE_LENGTH_MAX)

/** More entries than any page shows of one list. */
const LIST_MAX = 200

export const asList = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value.slice(0, LIST_MAX) : []
