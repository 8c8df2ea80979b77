import { readCursor, writeCursor } from '../../kernel/cursor.ts'
import { isUuid } from '../../kernel/schema.ts'

/** A place in a list of products: the sort key of a product, and its id if several have the same key. */
export interface ListPlace {
  at: number
  id: string
}

export const writePlace = ({ at, id }: ListPlace): string => writeCursor([at, id])

/** Reads a place. Returns null for a text that is not a place. */
export function readPlace(text: string | undefined): ListPlace | null {
  const [at, id] = (text === undefined ? null : readCursor(text)) ?? []
  const isPlace = Number.isSafeInteger(at) && typeof id === 'string' && isUuid(id)
  return isPlace ? { at: at as number, id } : null
}
