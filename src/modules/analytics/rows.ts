import type { Db } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { readCursor, writeCursor } from '../../kernel/cursor.ts'
import { FIGURE_NAMES, type Figure } from './definition-schema.ts'
import { type Asked, isDay } from './period.ts'
import * as queries from './read-queries.ts'
import { ALL, partOf, type Restriction, scopeOf } from './reports.ts'

/** The groups that rows can be restricted to. */
export const ROW_GROUPINGS = [
  'product',
  'variant',
  'collection',
  'coupon',
  'affiliate',
  'source',
  'place',
  'customer',
  'cohort',
] as const

interface RowsAsked {
  figure: Figure
  of: Restriction | null
  after: string | undefined
  limit: number
}

/** A page of the rows behind a figure. Those of all pages add up to it. */
export async function listRows(db: Db, asked: Asked, { figure, of, after, limit }: RowsAsked) {
  const scope = scopeOf(asked, of === null ? ALL : await partOf(db, of.group_by, of.key))
  const page = { after: readAfter(after), limit: limit + 1 }
  const found = await queries.listRows(db, { scope, period: asked.period, figure }, page)
  const rows = found.slice(0, limit)
  const last = rows.at(-1)
  return {
    figure,
    rows,
    ...(found.length > limit &&
      last !== undefined && { next_after: writeCursor([last.day, last.journal]) }),
  }
}

function readAfter(after: string | undefined): queries.RowKey | null {
  if (after === undefined) return null
  const [day, journal] = readCursor(after) ?? []
  if (typeof day !== 'string' || !isDay(day) || !Number.isSafeInteger(journal)) {
    throw new ApiError('invalid_query')
  }
  return { day, journal: journal as number }
}

export const isFigure = (name: string | undefined): name is Figure =>
  FIGURE_NAMES.some((each) => each === name)
