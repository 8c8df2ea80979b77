/** Reads query parameters. Like paging they are never refused: what makes no sense is not there. */

/** A text, the first when repeated. Blank counts as absent. */
export function readText(query: unknown, name: string): string | undefined {
  const raw = (query as Record<string, unknown>)[name]
  const value = Array.isArray(raw) ? raw[0] : raw
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

/** A date or a time, as ISO 8601 in UTC. */
export function readTimestamp(query: unknown, name: string): string | undefined {
  const value = readText(query, name)
  if (value === undefined || !/^\d{4}-\d{2}-\d{2}/.test(value)) return undefined
  const time = Date.parse(value)
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
}

export function readOneOf<T extends string>(
  query: unknown,
  name: string,
  all: readonly T[],
): T | undefined {
  const value = readText(query, name)
  return all.find((each) => each === value)
}
