/**
 * Writes a cursor: the key of a row as opaque text. A page begins after that row, so that rows that are added or
 * removed before it move nothing.
 */

export const writeCursor = (key: readonly (string | number)[]): string =>
  Buffer.from(JSON.stringify(key)).toString('base64url')

/** Reads what `writeCursor` wrote; null for any text that it cannot have written. */
export function readCursor(text: string): unknown[] | null {
  if (!/^[\w-]+$/.test(text)) return null
  try {
    const key: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    return Array.isArray(key) ? key : null
  } catch {
    return null
  }
}
