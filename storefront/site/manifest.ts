/** Readers for the values of a manifest, which may hold anything. */

export type JsonObject = Record<string, unknown>

export const asObject = (value: unknown): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}

/** Null for a text that is missing or blank. */
export const asText = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value : null

/** More entries than any page shows of one list. */
const LIST_MAX = 200

export const asList = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value.slice(0, LIST_MAX) : []
