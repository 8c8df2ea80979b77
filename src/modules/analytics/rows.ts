import type { Db } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { readCursor, writeCursor } from '../../kernel/cursor.ts'
import { isDay } from '../../kernel/time.ts'
import { FIGURE_NAMES, type Figure } from './definition-schema.ts'
import type { ReportRequest } from './period.ts'
import * as queries from './read-queries.ts'
import { ALL, partOf, type Restriction, scopeOf } from './reports.ts'
import type { Row } from './schema.ts'

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

interface RowsRequest {
  figure: Figure
  of: Restriction | null
  after: string | undefined
  limit: number
}

/**
 * Lists a page of the rows behind a figure. The rows of all pages add up to it. The days are chosen first, from the
 * sums: a day in which the figure is 0 is not read. Days are read until the page is full, few at first: one is enough
 * in a store that sells much (decision 0058).
 */
export async function listRows(
  db: Db,
  request: ReportRequest,
  { figure, of, after, limit }: RowsRequest,
) {
  const scope = scopeOf(request, of === null ? ALL : await partOf(db, of.group_by, of.key))
  const begins = readAfter(after)
  const { period } = request
  const from = begins === null || begins.day < period.from ? period.from : begins.day
  const days = await queries.listDaysWith(db, { scope, figure }, { from, to: period.to })
  const found: Row[] = []
  for (let at = 0, step = 1; found.length <= limit && at < days.length; step *= DAYS_FACTOR) {
    const page = {
      days: days
        .slice(at, at + step)
        .map(({ day }) => ({ day, after: day === begins?.day ? begins.journal : 0 })),
      limit: limit + 1 - found.length,
    }
    found.push(...(await queries.listRows(db, { scope, figure }, page)))
    at += step
  }
  const rows = found.slice(0, limit)
  const last = rows.at(-1)
  return {
    figure,
    rows,
    ...(found.length > limit &&
      last !== undefined && { next_after: writeCursor([last.day, last.journal]) }),
  }
}

/** By which factor the number of days to read grows, if the previous days have not filled the page. */
const DAYS_FACTOR = 4

/** The place of a row in its list. */
interface RowKey {
  day: string
  journal: number
}

function readAfter(after: string | undefined): RowKey | null {
  if (after === undefined) return null
  const [day, journal] = readCursor(after) ?? []
  if (typeof day !== 'string' || !isDay(day) || !Number.isSafeInteger(journal)) {
    throw new ApiError('invalid_query')
  }
  return { day, journal: journal as number }
}

export const isFigure = (name: string | undefined): name is Figure =>
  FIGURE_NAMES.some((each) => each === name)
