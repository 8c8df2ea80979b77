import type pg from 'pg'
import type { Static, TSchema } from 'typebox'

/** SQL text with gaps, and their values. Created by `sql`; a value may be another `Sql`. */
export class Sql {
  readonly strings: readonly string[]
  readonly values: readonly unknown[]
  constructor(strings: readonly string[], values: readonly unknown[]) {
    this.strings = strings
    this.values = values
  }
}
export const sql = (strings: TemplateStringsArray, ...values: unknown[]) => new Sql(strings, values)

/**
 * Machine time: for leases, limits, timeouts, metrics, credentials and the audit log. Promises to a
 * merchant or a shopper go by `fd_now()`, the store's business time (decision 0011).
 */
export const machineTime = sql`now()`

/** Writes a time inside JSON that PostgreSQL builds, in the format in which the driver writes times. */
export const jsonTime = (at: Sql): Sql =>
  sql`to_char(${at} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/**
 * Joins conditions or assignments, e.g. `join(filters, ' and ')`. The separator is code, never
 * input.
 */
export function join(parts: readonly Sql[], separator: string): Sql {
  const [first, ...rest] = parts
  if (first === undefined) return sql``
  return new Sql(['', ...rest.map(() => separator), ''], [first, ...rest])
}

/** SQL whose text a caller's request has built, see `unnamed`. */
class UnnamedSql extends Sql {}

/**
 * Marks a statement whose text depends on the request. There is no end of such texts, and they must not use up the
 * places of the statements that connections keep parsed. The statement is planned for its own values.
 */
export const unnamed = ({ strings, values }: Sql): Sql => new UnnamedSql(strings, values)

/** The result of a statement. `command` is the first word of PostgreSQL's command tag. */
export interface Result {
  command: string
  rows: Record<string, unknown>[]
  rowCount: number
}

export type Send = (query: pg.QueryConfig) => Promise<Result>

/** Runs SQL. Each method says how many rows it expects. */
export class Runner {
  /** Checks every row against its shape. Set in tests, so that no query drifts from its schema. */
  static checkRow: ((shape: TSchema, row: unknown) => void) | null = null
  readonly #send: Send
  constructor(send: Send) {
    this.#send = send
  }

  async many<S extends TSchema>(shape: S, query: Sql): Promise<Static<S>[]> {
    const { rows } = await this.#send(prepare(query))
    if (Runner.checkRow !== null) for (const row of rows) Runner.checkRow(shape, row)
    return rows as Static<S>[]
  }

  async maybe<S extends TSchema>(shape: S, query: Sql): Promise<Static<S> | null> {
    const rows = await this.many(shape, query)
    if (rows.length > 1) throw new Error(`expected at most one row, got ${rows.length}`)
    return rows[0] ?? null
  }

  async one<S extends TSchema>(shape: S, query: Sql): Promise<Static<S>> {
    const row = await this.maybe(shape, query)
    if (row === null) throw new Error('expected one row, got none')
    return row
  }

  /** Runs a statement and returns how many rows it touched. */
  async run(query: Sql): Promise<number> {
    return (await this.#send(prepare(query))).rowCount
  }
}

/** How many statements each connection keeps parsed. A text beyond that is parsed at every call. */
const STATEMENTS_MAX = 1_000
const names = new Map<string, string>()

/**
 * A node in the tree of known statements: the parts so far lead to it, and each next part leads on.
 */
interface Path {
  /** The statement that ends here, if any. */
  statement?: { name: string; text: string }
  parts: WeakMap<readonly string[], Path>
  value?: Path
}

const rootPath: Path = { parts: new WeakMap() }

/**
 * Returns the node after a part. Returns null for joined SQL, which has new arrays at every call and is not looked
 * up.
 */
function pathAfter(path: Path | null, part: readonly string[]): Path | null {
  if (path === null || !('raw' in part)) return null
  const known = path.parts.get(part)
  if (known !== undefined) return known
  const next: Path = { parts: new WeakMap() }
  path.parts.set(part, next)
  return next
}

/**
 * Numbers the gaps and names the text, so that each connection parses it only once. A template has
 * the same array of strings at every call, so that its text is built once, and not at every call.
 */
export function prepare(query: Sql): pg.QueryConfig {
  const values: unknown[] = []
  let path: Path | null = rootPath
  const walk = ({ strings, values: filled }: Sql): void => {
    path = pathAfter(path, strings)
    for (const value of filled) {
      if (value instanceof Sql) walk(value)
      else {
        values.push(value)
        if (path !== null) path = path.value ??= { parts: new WeakMap() }
      }
    }
  }
  walk(query)
  if (query instanceof UnnamedSql) return { text: write(query), values }
  if (path?.statement !== undefined) return { ...path.statement, values }
  const text = write(query)
  const name = names.get(text) ?? (names.size < STATEMENTS_MAX ? `s${names.size}` : undefined)
  if (name === undefined) return { text, values }
  names.set(text, name)
  if (path !== null) path.statement = { name, text }
  return { name, text, values }
}

function write(query: Sql): string {
  let gaps = 0
  const writePart = ({ strings, values }: Sql): string =>
    strings.reduce((text, next, i) => {
      const value = values[i - 1]
      return text + (value instanceof Sql ? writePart(value) : `$${++gaps}`) + next
    })
  return writePart(query)
}
