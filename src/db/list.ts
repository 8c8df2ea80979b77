import { type Static, type TObject, Type } from 'typebox'
import { ApiError } from '../errors.ts'
import { readCursor, writeCursor } from '../kernel/cursor.ts'
import type { Page } from '../kernel/page.ts'
import { Nullable } from '../kernel/schema.ts'
import type { AllStores, Db, TenantDb } from './database.ts'
import { join, type Runner, type Sql, sql } from './sql.ts'

/**
 * How many rows of a list are counted at most. The time of a count grows with the rows, the time of a page does not.
 */
const COUNTED_MAX = 10_000

/**
 * The limit of a count: one row more than is counted. The number is part of the text and not a value: a plan for any
 * number expects a tenth of the rows, seems cheaper than one for this number, and is kept.
 */
const countedLimit = sql`limit 10001`

/** How many rows are counted of a list whose filter costs more than one index entry for each row. */
const COSTLY_MAX = 1_000
const costlyLimit = sql`limit 1001`

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

/** Converts a time to microseconds since 1970, exactly. `timeOf` converts them back. */
export const microsecondsOf = (time: Sql) => sql`(extract(epoch from ${time}) * 1000000)::bigint`
export const timeOf = (microseconds: string | number | null) =>
  sql`(timestamptz 'epoch' + ${microseconds}::bigint * interval '1 microsecond')`

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/
const TEXT_MAX = 1_000

const KEY_TYPES = {
  /** Written as microseconds since 1970: the text of a timestamp would have to be checked day by day. */
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

/** Rows of a list by their keys: those that meet the scope and all filters, each once. */
export interface Found {
  /** A select of the key's columns by their names, from any source that has them in an index. */
  keys: Sql
  /**
   * True if all keys are found before the first is known, as by a search: the select then runs once, for the page and
   * for the count. Otherwise the keys come in the order of the list, and no more are read than are needed.
   */
  isSearch: boolean
}

/** A list that callers read one page at a time. All SQL in it is code, its gaps are values. */
export interface List<S extends TObject> {
  shape: S
  table: Sql
  /** The name of a row of the table in all SQL here. */
  as: Sql
  /** The condition for rows that the caller may see: those of a store. */
  scope: Sql
  filters: readonly Sql[]
  /**
   * Conditions that divide the list: each row meets exactly one of them. Used where no single index has all of them.
   * Each has an index in the order of the key, or few rows.
   */
  parts?: readonly Sql[]
  /** The rows, where something other than the table's own indexes finds them. */
  found?: Found
  /** True where the filter reads tables for each row: fewer rows are counted before `total` is an estimate. */
  isCostly?: boolean
  /** The columns of the list's order, which an index has in this order. Together with the scope they are unique. */
  key: readonly KeyColumn[]
  /** Whether the greatest key comes first. */
  descending: boolean
  /** What the answer shows of a row. It is computed for the rows of the page alone. */
  columns: Sql
  /** Other tables that `columns` names. */
  joins?: Sql
}

/** Which part of a list was read: the members that every list answers beside its rows. */
export interface ShownPage {
  total: number
  total_is_estimate?: true
  limit: number
  offset: number
  next_after?: string
}

/**
 * Settings for reading a list: a time limit and a plan for each read. An index chooses a page in a few milliseconds.
 * A filter that no index serves may take longer, but does not keep the database from others for long. Each read is
 * planned for its store: a plan for all stores suits small ones, and would sort all rows of a big store for each
 * page (decision 0065).
 */
const HEAVY_READ = sql`
  select set_config('statement_timeout', '4s', true),
         set_config('plan_cache_mode', 'force_custom_plan', true)`

/**
 * Returns the database with the settings for heavy reads before each statement. A transaction keeps the settings of
 * its caller.
 */
export function forHeavyRead(database: Db): Db
export function forHeavyRead(database: Runner): Runner
export function forHeavyRead(database: Runner): Runner {
  return takesSettings(database) ? database.after(HEAVY_READ) : database
}

const takesSettings = (database: Runner): database is TenantDb | AllStores => 'after' in database

/**
 * Reads one page of a list. The page is chosen first, by the index of its key; what is shown is
 * read for its rows alone.
 */
export async function readList<S extends TObject>(
  database: Runner,
  list: List<S>,
  page: Page,
): Promise<{ rows: Static<S>[]; shown: ShownPage }> {
  const db = forHeavyRead(database)
  const { limit, offset } = page
  const read = await db.many(
    Type.Object({
      ...list.shape.properties,
      list_key: Type.Array(Type.String()),
      list_total: Nullable(Type.Integer()),
    }),
    pageOf(list, page),
  )
  const rows = read.slice(0, page.limit)
  const last = rows.at(-1)
  const hasMore = read.length > rows.length
  const total = last?.list_total ?? null
  const counted =
    total === null
      ? await countRows(db, list, page, { read: rows.length, hasMore })
      : { total: Math.max(total, offset + rows.length) }
  return {
    rows: rows.map(({ list_key, list_total, ...row }) => row as Static<S>),
    shown: {
      ...counted,
      limit,
      offset,
      ...(hasMore && last !== undefined && { next_after: writeCursor(last.list_key) }),
    },
  }
}

/**
 * Limits a select to one row more than the page has, which shows whether there is another page. The limit is a number
 * in the text and not a value. With a limit or an offset that it does not know, PostgreSQL expects a tenth of all rows,
 * and would sort them, or read the whole table with the rows of every store, instead of using an index. There are few
 * sizes of pages, so that a list is few statements.
 */
const atMostOf = (limit: number): Sql => {
  if (limit <= 10) return sql`limit 11`
  if (limit <= 25) return sql`limit 26`
  return limit <= 100 ? sql`limit 101` : sql`limit ${limit + 1}`
}

const onPage = ({ limit, offset }: Page, chosen: Sql): Sql =>
  offset === 0
    ? sql`${chosen} ${atMostOf(limit)}`
    : sql`select * from (${chosen} limit ${limit + 1} offset ${offset}) as page ${atMostOf(limit)}`

/**
 * Selects the rows of a page. Each row is looked up by its key, which is unique: the `limit 1` tells the planner so.
 * Without it, the planner would expect a hundred times as many rows when many stores have the same SKU or address, and
 * read all of the store's rows in the other tables for them.
 */
function pageOf<S extends TObject>(list: List<S>, page: Page): Sql {
  const { table, as, scope, key, columns, joins = sql``, found } = list
  const written = key.map(({ name, type }) => KEY_TYPES[type].write(sql`${as}.${name}`))
  const isSearch = found?.isSearch === true
  const searched = isSearch ? sql`with found as materialized (${found.keys})` : sql``
  const total = isSearch ? sql`(select count(*)::int from found)` : sql`null::int`
  return sql`
    ${searched}
    select ${columns}, json_build_array(${join(written, ', ')}) as list_key, ${total} as list_total
      from (${onPage(page, chosenOf(list, page))}) as chosen
     cross join lateral (
           select ${as}.*
             from ${table} as ${as}
            where ${scope} and (${join(keyOf(list, as), ', ')}) = (${join(keyOf(list, sql`chosen`), ', ')})
            limit 1) as ${as}
      ${joins}
     order by ${ordered(list, sql`chosen`)}`
}

type Listed = Omit<List<TObject>, 'shape'>

const keyOf = ({ key }: Listed, name: Sql) => key.map((column) => sql`${name}.${column.name}`)

const ordered = (list: Listed, name: Sql): Sql => join(directed(list, name), ', ')

const directed = (list: Listed, name: Sql): Sql[] =>
  keyOf(list, name).map((column) => (list.descending ? sql`${column} desc` : column))

/** Selects the keys from which the page is cut, in order. */
function chosenOf(list: Listed, { limit, offset, after }: Page): Sql {
  const { as, parts, found } = list
  const later = after === undefined ? [] : [following(list, after)]
  const keysIn = (from: Sql, where: readonly Sql[]) => sql`
    select ${join(keyOf(list, as), ', ')}
      from ${from} as ${as}
     where ${join(where, ' and ')}
     order by ${ordered(list, as)}`
  if (found !== undefined) {
    // A first page limits the inner select, too: otherwise the planner would plan for all keys and sort them.
    const isFirst = offset === 0 && after === undefined
    const keys = isFirst ? sql`(${found.keys} ${atMostOf(limit)})` : sql`(${found.keys})`
    return keysIn(found.isSearch ? sql`found` : keys, [sql`true`, ...later])
  }
  const where = [...matching(list), ...later]
  if (parts === undefined) return keysIn(list.table, where)
  const atMost = offset === 0 ? atMostOf(limit) : sql`limit ${offset + limit + 1}`
  const firstOf = (part: Sql) => sql`${keysIn(list.table, [...where, part])} ${atMost}`
  return sql`select ${join(keyOf(list, sql`part`), ', ')}
               from (${unionOf(parts, firstOf)}) as part
              order by ${ordered(list, sql`part`)}`
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

/**
 * The condition for the rows after the one that the cursor names: one comparison of all columns, as the index has
 * them.
 */
function following({ as, key, descending }: Listed, after: string): Sql {
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
 * Counts the rows of all pages. A list that ends on this page needs no count. Above a number of rows the total is the
 * planner's estimate, but never less than what is known to be there: a reader that asks for pages while `offset <
 * total` reads everything.
 */
async function countRows<S extends TObject>(
  db: Runner,
  list: List<S>,
  { offset, after }: Page,
  { read, hasMore }: { read: number; hasMore: boolean },
): Promise<Pick<ShownPage, 'total' | 'total_is_estimate'>> {
  const isEnd = after === undefined && !hasMore && (read > 0 || offset === 0)
  if (isEnd) return { total: offset + read }
  const [countedMax, atMost] =
    list.isCostly === true ? [COSTLY_MAX, costlyLimit] : [COUNTED_MAX, countedLimit]
  const { counted } = await db.one(
    Type.Object({ counted: Type.Integer() }),
    sql`select count(*)::int as counted from (${rowsOf(list, atMost)}) as counted_rows`,
  )
  const least = Math.max(counted, read === 0 ? 0 : offset + read + (hasMore ? 1 : 0))
  if (counted <= countedMax) return { total: least }
  // After the last page there are no more rows, and a reader may stop.
  const most = after === undefined && !hasMore ? Math.max(least, offset) : Number.MAX_SAFE_INTEGER
  const estimate = await estimateRows(db, rowsOf(list, null))
  return { total: Math.min(Math.max(estimate, least), most), total_is_estimate: true }
}

/**
 * Selects an empty row for each row of the list. Counted rows are read in the list's order: the planner then takes
 * the index that has this order, and not the pages of the table. The first column says which index; the others may be
 * in no index, and would be read from the table.
 */
function rowsOf(list: Listed, atMost: Sql | null): Sql {
  const { table, as, parts, found } = list
  if (found !== undefined) return sql`select 1 from (${found.keys}) as ${as} ${atMost ?? sql``}`
  const [first = sql`1`] = directed(list, as)
  const cut = atMost === null ? sql`` : sql`order by ${first} ${atMost}`
  const rowsIn = (part: readonly Sql[]) => sql`
    select 1 from ${table} as ${as}
     where ${join([...matching(list), ...part], ' and ')} ${cut}`
  if (parts === undefined) return rowsIn([])
  return sql`select 1 from (${unionOf(parts, (part) => rowsIn([part]))}) as part ${atMost ?? sql``}`
}

async function estimateRows(db: Runner, rows: Sql): Promise<number> {
  const plan = await db.one(
    Type.Object({ 'QUERY PLAN': Type.Array(Type.Object({ Plan: Type.Object({}) })) }),
    sql`explain (format json) ${rows}`,
  )
  const [explained] = plan['QUERY PLAN'] as { Plan: { 'Plan Rows': number } }[]
  return Math.round(explained?.Plan['Plan Rows'] ?? 0)
}
