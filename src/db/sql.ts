import type pg from 'pg'
import type { Static, TSchema } from 'typebox'

/** SQL text with gaps, and what fills them. Made by `sql`; one may fill a gap of another. */
export class Sql {
  readonly strings: readonly string[]
  readonly values: readonly unknown[]
  constructor(strings: readonly string[], values: readonly unknown[]) {
    this.strings = strings
    this.values = values
  }
}
export const sql = (strings: TemplateStringsArray, ...values: unknown[]) => new Sql(strings, values)

/** Joins conditions or assignments, e.g. `join(filters, ' and ')`. The separator is code, not input. */
export function join(parts: readonly Sql[], separator: string): Sql {
  const [first, ...rest] = parts
  if (first === undefined) return sql``
  return new Sql(['', ...rest.map(() => separator), ''], [first, ...rest])
}

/** What a statement answers. The command is PostgreSQL's own word for what was done. */
export interface Result {
  command: string
  rows: Record<string, unknown>[]
  rowCount: number
}

export type Send = (query: pg.QueryConfig) => Promise<Result>

/** Somewhere to run SQL. Each method says how many rows it expects. */
export class Runner {
  /** Holds every row against its shape. Set in tests, so that no query drifts from its schema. */
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

  /** Answers how many rows the statement touched. */
  async run(query: Sql): Promise<number> {
    return (await this.#send(prepare(query))).rowCount
  }
}

/** Statements that each connection keeps parsed. A text beyond that is parsed at every call. */
const STATEMENTS_MAX = 1_000
const names = new Map<string, string>()

/** Numbers the gaps, and names the text so that each connection parses it only once. */
export function prepare(query: Sql): pg.QueryConfig {
  const values: unknown[] = []
  const write = (part: Sql): string =>
    part.strings.reduce((text, next, i) => {
      const value = part.values[i - 1]
      return text + (value instanceof Sql ? write(value) : `$${values.push(value)}`) + next
    })
  const text = write(query)
  let name = names.get(text)
  if (name === undefined && names.size < STATEMENTS_MAX) {
    name = `s${names.size}`
    names.set(text, name)
  }
  return name === undefined ? { text, values } : { name, text, values }
}
