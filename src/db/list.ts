import { type Static, type TObject, Type } from 'typebox'
import { ApiError } from '../errors.ts'
import { readCursor, writeCursor } from '../kernel/cursor.ts'
import type { Page } from '../kernel/page.ts'
import { TenantDb } from './database.ts'
import { join, type Runner, type Sql, sql } from './sql.ts'

/** Up to this many rows are counted. The time of a count grows with the rows, a page's does not. */
const COUNTED_MAX = 10_000

/**
 * One more than is counted. In the text, not a value: a plan for any number expects a tenth of the rows, seems cheaper than
 * one for this number, and is kept.
 */
const countedLimit = sql`limit 10001`

/** A column that a list is ordered by. Never null. */
export interface KeyColumn {
  name: Sql
  type: keyof typeof KEY_TYPES
}

/** How a value of a key column is written into a cursor, recognised in one, and read from it. */
interface KeyType {
  write(column: Sql): Sql
  isValid(text: string): boolean
  read(text: string): Sql
}

/** A time as microseconds since 1970, exactly, and the time again. */
export const microsecondsOf = (time: Sql) => sql`(extract(epoch from ${time}) * 1000000)::bigint`
export const timeOf = (microseconds: string | number | null) =>
  sql`(timestamptz 'epoch' + ${microseconds}::bigint * interval '1 microsecond')`

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/
const TEXT_MAX = 1_000

const KEY_TYPES = {
  /** In microseconds since 1970: a timestamp's text would have to be checked day by day. */
  timestamp: {
    write: (column) => sql`${microsecondsOf(column)}::text`,
    isValid: (text) => /^-?\d{1,16}$/.test(text),
    read: timeOf,
  },
  integer: {
    write: (column) => sql`${column}::text`,
    isValid: (text) => /^-?\d{1,16}$/.test(text),
    read: (text) => sql`${text}::bigint`,
  },
  uuid: {
    write: (column) => sql`${column}::text`,
    isValid: (text) => UUID.test(text),
    read: (text) => sql`${text}::uuid`,
  },
  bytes: {
    write: (column) => sql`encode(${column}, 'hex')`,
    isValid: (text) => /^(?:[\da-f]{2}){0,64}$/.test(text),
    read: (text) => sql`decode(${text}, 'hex')`,
  },
  text: {
    write: (column) => sql`${column}`,
    isValid: (text) => text.length <= TEXT_MAX && text.isWellFormed() && !text.includes('\0'),
    read: (text) => sql`${text}::text`,
  },
} satisfies Record<string, KeyType>

/** The key of a list whose rows have a time and an id. */
export const NEWEST_KEY: readonly KeyColumn[] = [
  { name: sql`created_at`, type: 'timestamp' },
  { name: sql`id`, type: 'uuid' },
]

/** A list of which callers read one page at a time. All SQL in it is code, its gaps are values. */
export interface List<S extends TObject> {
  shape: S
  table: Sql
  /** The name of a row of the table in all SQL here. */
  as: Sql
  /** Which rows the caller may see: those of a store. */
  scope: Sql
  filters: readonly Sql[]
  /**
   * Conditions of which each row of the list meets exactly one, where no single index has all of
   * them. Each has an index in the order of the key, or few rows.
   */
  parts?: readonly Sql[]
  /** In this order an index has the rows. Together with the scope the columns are unique. */
  key: readonly KeyColumn[]
  /** Greatest key first. */
  descending: boolean
  /** What is answered of a row. It is computed for the rows of the page alone. */
  columns: Sql
  /** Other tables that `columns` names. */
  joins?: Sql
}

/** Which part of a list was read: the members beside the rows that every list answers. */
export interface ShownPage {
  total: number
  total_is_estimate?: true
  limit: number
  offset: number
  next_after?: string
}

/**
 * A page is chosen by an index in a few milliseconds. A filter that no index serves may take longer,
 * and does not take the database from others for long.
 */
const TIME_LIMIT = sql`select set_config('statement_timeout', '4s', true)`

/**
 * Reads one page of a list. The page is chosen first, by the index of its key; what is shown is
 * read for its rows alone.
 */
export async function readList<S extends TObject>(
  database: Runner,
  list: List<S>,
  page: Page,
): Promise<{ rows: Static<S>[]; shown: ShownPage }> {
  const db = database instanceof TenantDb ? database.after(TIME_LIMIT) : database
  const found = await db.many(
    Type.Object({ ...list.shape.properties, list_key: Type.Array(Type.String()) }),
    pageOf(list, page),
  )
  const rows = found.slice(0, page.limit)
  const last = rows.at(-1)
  const hasMore = found.length > rows.length
  const counted = await countRows(db, list, page, { read: rows.length, hasMore })
  const { limit, offset } = page
  return {
    rows: rows.map(({ list_key, ...row }) => row as Static<S>),
    shown: {
      ...counted,
      limit,
      offset,
      ...(hasMore && last !== undefined && { next_after: writeCursor(last.list_key) }),
    },
  }
}

/** One row more than the page has: whether there is another page. */
function pageOf<S extends TObject>(list: List<S>, { limit, offset, after }: Page): Sql {
  const { table, as, scope, key, columns, joins = sql``, descending } = list
  const keyOf = (name: Sql) => key.map((column) => sql`${name}.${column.name}`)
  const ordered = (name: Sql) =>
    join(
      keyOf(name).map((column) => (descending ? sql`${column} desc` : column)),
      ', ',
    )
  const later = after === undefined ? [] : [following(list, after)]
  const keysIn = (part: readonly Sql[], rows: Sql) => sql`
    select ${join(keyOf(as), ', ')}
      from ${table} as ${as}
     where ${join([...matching(list), ...part, ...later], ' and ')}
     order by ${ordered(as)}
     ${rows}`
  const onPage = sql`limit ${limit + 1} offset ${offset}`
  const chosen =
    list.parts === undefined
      ? keysIn([], onPage)
      : sql`select ${join(keyOf(sql`part`), ', ')}
              from (${unionOf(list.parts, (part) => keysIn([part], sql`limit ${offset + limit + 1}`))}) as part
             order by ${ordered(sql`part`)}
             ${onPage}`
  const written = key.map(({ name, type }) => KEY_TYPES[type].write(sql`${as}.${name}`))
  return sql`
    select ${columns}, json_build_array(${join(written, ', ')}) as list_key
      from (${chosen}) as chosen
      join ${table} as ${as}
        on ${scope} and (${join(keyOf(as), ', ')}) = (${join(keyOf(sql`chosen`), ', ')})
      ${joins}
     order by ${ordered(sql`chosen`)}`
}

const matching = ({ scope, filters }: Pick<List<TObject>, 'scope' | 'filters'>) => [
  scope,
  ...filters,
]

const unionOf = (parts: readonly Sql[], select: (part: Sql) => Sql): Sql =>
  join(
    parts.map((part) => sql`(${select(part)})`),
    ' union all ',
  )

/** The rows after the one that the cursor names: one comparison of all columns, as the index has them. */
function following({ as, key, descending }: Omit<List<TObject>, 'shape'>, after: string): Sql {
  const texts = readCursor(after)
  if (texts?.length !== key.length) throw new ApiError('invalid_query')
  const values = key.map(({ type }, i) => {
    const text = texts[i]
    const isValid = typeof text === 'string' && KEY_TYPES[type].isValid(text)
    if (!isValid) throw new ApiError('invalid_query')
    return KEY_TYPES[type].read(text)
  })
  const columns = key.map(({ name }) => sql`${as}.${name}`)
  const than = descending ? sql`<` : sql`>`
  return sql`(${join(columns, ', ')}) ${than} (${join(values, ', ')})`
}

/**
 * Counts the rows of all pages. A list that ends on this page needs no count. Above a number of
 * rows the planner's estimate is answered, and never less than what is known to be there: a reader
 * that asks for pages while `offset < total` reads everything.
 */
async function countRows<S extends TObject>(
  db: Runner,
  list: List<S>,
  { offset, after }: Page,
  { read, hasMore }: { read: number; hasMore: boolean },
): Promise<Pick<ShownPage, 'total' | 'total_is_estimate'>> {
  const isEnd = after === undefined && !hasMore && (read > 0 || offset === 0)
  if (isEnd) return { total: offset + read }
  const { counted } = await db.one(
    Type.Object({ counted: Type.Integer() }),
    sql`select count(*)::int as counted from (${rowsOf(list, countedLimit)}) as counted_rows`,
  )
  const least = Math.max(counted, read === 0 ? 0 : offset + read + (hasMore ? 1 : 0))
  if (counted <= COUNTED_MAX) return { total: least }
  // Past the last page nothing is to come, and a reader may stop.
  const most = after === undefined && !hasMore ? Math.max(least, offset) : Number.MAX_SAFE_INTEGER
  const estimate = await estimateRows(db, rowsOf(list, sql``))
  return { total: Math.min(Math.max(estimate, least), most), total_is_estimate: true }
}

/** A row with nothing in it for each row of the list. */
function rowsOf(list: Omit<List<TObject>, 'shape'>, atMost: Sql): Sql {
  const rowsIn = (part: readonly Sql[]) => sql`
    select 1 from ${list.table} as ${list.as}
     where ${join([...matching(list), ...part], ' and ')} ${atMost}`
  if (list.parts === undefined) return rowsIn([])
  return sql`select 1 from (${unionOf(list.parts, (part) => rowsIn([part]))}) as part ${atMost}`
}

async function estimateRows(db: Runner, rows: Sql): Promise<number> {
  const plan = await db.one(
    Type.Object({ 'QUERY PLAN': Type.Array(Type.Object({ Plan: Type.Object({}) })) }),
    sql`explain (format json) ${rows}`,
  )
  const [explained] = plan['QUERY PLAN'] as { Plan: { 'Plan Rows': number } }[]
  return Math.round(explained?.Plan['Plan Rows'] ?? 0)
}
