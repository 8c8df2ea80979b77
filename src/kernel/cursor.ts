import { isUuid } from './schema.ts'

/**
 * A place in a list: the sort key of a row, and its id where several rows have the same key. A page
 * begins after it, so that rows that come or go before it move nothing.
 */
export interface ListPlace {
  at: number
  id: string
}

/** Writes a place as the opaque text that callers send back as `after` or `before`. */
export const writeCursor = ({ at, id }: ListPlace): string =>
  Buffer.from(JSON.stringify([at, id])).toString('base64url')

/** Reads what `writeCursor` wrote. Null for any other text, which counts as absent. */
export function readCursor(text: string | undefined): ListPlace | null {
  if (text === undefined || !/^[A-Za-z0-9_-]{1,200}$/.test(text)) return null
  try {
    const [at, id] = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[]
    const isPlace = Number.isSafeInteger(at) && typeof id === 'string' && isUuid(id)
    return isPlace ? { at: at as number, id } : null
  } catch {
    return null
  }
}
