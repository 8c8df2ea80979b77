import pg from 'pg'
import { prepareValue } from 'pg/lib/utils.js'
import { allOf, SkippedError } from './all-of.ts'
import { prepare, type Result, type Send, sql } from './sql.ts'
import { types } from './wire-types.ts'

const setTenant = sql`set_config('app.tenant', ${''}, true)`
const setOffset = sql`set_config('app.clock_offset', ${''}, true)`
const setLight = sql`set_config('synchronous_commit', 'off', true)`

/** Two texts, so that a connection parses each once, and a store whose clock is not moved pays for none. */
function entering(unmoved: pg.QueryConfig, moved: pg.QueryConfig) {
  return (tenant: string, clockOffsetMs: number): pg.QueryConfig =>
    clockOffsetMs === 0
      ? { ...unmoved, values: [tenant] }
      : { ...moved, values: [tenant, `${clockOffsetMs} milliseconds`] }
}

/** Sets the tenant, and how far its clock is moved, for the transaction it runs in. */
export const enterTenant = entering(
  prepare(sql`select ${setTenant}`),
  prepare(sql`select ${setTenant}, ${setOffset}`),
)

/** The same, for a transaction whose commit is not waited for on the disk. */
export const enterLightly = entering(
  prepare(sql`select ${setTenant}, ${setLight}`),
  prepare(sql`select ${setTenant}, ${setOffset}, ${setLight}`),
)

/** A statement as it goes over the wire, and who waits for its answer. */
interface Statement {
  name: string
  text: string
  values: (string | Buffer | null)[]
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}

/** How the rows of a statement are read. */
interface Column {
  name: string
  parse: (text: string) => unknown
}

/** The part of the driver's connection that carries the wire protocol. Its declarations leave it out. */
interface Wire {
  stream: { cork(): void; uncork(): void }
  parsedStatements: Record<string, string>
  submittedNamedStatements: Record<string, string>
  parse(message: { name: string; text: string }): void
  bind(message: { statement: string; values: unknown[] }): void
  describe(message: { type: 'P' }): void
  execute(message: object): void
  sync(): void
}

/** As much of the driver's query as others read of it. */
interface DriverQuery {
  name: string
  text: string
  /** Set by the driver where it has a timer to stop. */
  callback?: (error: Error | null) => void
}

const Query = pg.Query as unknown as new (config: { text: string }) => DriverQuery

/** What each connection has been told of the rows of a statement. It stays so while it is parsed. */
const columnsKnown = new WeakMap<Wire, Map<string, readonly Column[]>>()

/**
 * Statements before one and the same Sync. PostgreSQL runs them one after the other, answers them all
 * at once, and skips those behind one that fails. The driver by itself has a Sync, and with it an
 * answer of its own, after each: for the twelve statements that write an order, eleven needless turns
 * of both processes. The columns of an answer are asked for once, too, and not at every call.
 *
 * Outside of a transaction block all of them are one transaction: a single read travels with the
 * setting of its tenant, and needs neither `begin` nor `commit`.
 */
class Batch extends Query {
  readonly statements: readonly Statement[]
  /** How long the driver waits for the answer before it cuts the connection. */
  readonly query_timeout: number | undefined
  readonly #answers: Answer[] = []
  #known: Map<string, readonly Column[]> = new Map()
  #columns: readonly Column[] | undefined
  #rows: Record<string, unknown>[] = []
  #unreadable: unknown

  constructor(statements: readonly Statement[], timeoutMs?: number) {
    super({ text: '' })
    this.statements = statements
    this.query_timeout = timeoutMs
  }

  submit(connection: Wire): null {
    this.#known = columnsKnown.get(connection) ?? new Map()
    columnsKnown.set(connection, this.#known)
    connection.stream.cork()
    for (const statement of this.statements) this.#write(connection, statement)
    connection.sync()
    connection.stream.uncork()
    this.#turnTo(0)
    return null
  }

  #write(connection: Wire, { name, text, values }: Statement): void {
    const { parsedStatements, submittedNamedStatements } = connection
    if (parsedStatements[name] === undefined && submittedNamedStatements[name] === undefined) {
      connection.parse({ name, text })
      if (name !== '') submittedNamedStatements[name] = text
    }
    connection.bind({ statement: name, values })
    if (!this.#known.has(name)) connection.describe({ type: 'P' })
    connection.execute({})
  }

  /** The driver notes as parsed the name and the text that stand here when it hears so. */
  #turnTo(index: number): void {
    const { name = '', text = '' } = this.statements[index] ?? {}
    this.name = name
    this.text = text
    this.#columns = this.#known.get(name)
    this.#rows = []
    this.#unreadable = undefined
  }

  handleRowDescription({ fields }: { fields: { name: string; dataTypeID: number }[] }): void {
    this.#columns = fields.map(({ name, dataTypeID }) => ({
      name,
      parse: types.getTypeParser(dataTypeID),
    }))
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    try {
      this.#rows.push(readRow(this.#columns ?? [], fields))
    } catch (error) {
      this.#unreadable = error
    }
  }

  handleCommandComplete({ text }: { text: string }): void {
    if (this.name !== '') this.#known.set(this.name, this.#columns ?? [])
    const result = { command: text, rows: this.#rows, rowCount: countOf(text) }
    this.#answers.push({ result, unreadable: this.#unreadable })
    this.#turnTo(this.#answers.length)
  }

  handleReadyForQuery(): void {
    this.callback?.(null)
    this.#settle()
  }

  #settle(): void {
    this.#answers.forEach(({ result, unreadable }, i) => {
      if (unreadable === undefined) this.statements[i]?.resolve(result)
      else this.statements[i]?.reject(unreadable)
    })
  }

  /**
   * Of the statement under way. Those behind it have been skipped, and not even been parsed. Where none
   * is under way, it is the commit that failed, or the connection: then nothing of it was done.
   */
  handleError(error: Error, connection: Wire): void {
    this.callback?.(error)
    const [failed, ...skipped] = this.statements.slice(this.#answers.length)
    if (failed === undefined) {
      for (const { reject } of this.statements) reject(error)
      return
    }
    this.#settle()
    failed.reject(error)
    for (const { name, reject } of skipped) {
      delete connection.submittedNamedStatements[name]
      reject(new SkippedError())
    }
  }
}

/** What became of a statement that was run. */
interface Answer {
  result: Result
  unreadable: unknown
}

function readRow(columns: readonly Column[], fields: readonly (string | null)[]) {
  const row: Record<string, unknown> = {}
  for (let i = 0; i < columns.length; i++) {
    const { name, parse } = columns[i] as Column
    const text = fields[i]
    row[name] = text === null || text === undefined ? null : parse(text)
  }
  return row
}

/** `INSERT 0 3`, `UPDATE 3`, `SELECT 3`; and no number where there are no rows. */
const countOf = (tag: string): number => Number(/\d+$/.exec(tag)?.[0] ?? 0)

/** Values are written down first: what cannot be is the caller's mistake, and stops nobody else. */
const written = ({ name = '', text, values = [] }: pg.QueryConfig) => ({
  name,
  text,
  values: values.map(prepareValue),
})

/** What is sent in one turn travels together; `depart` sends off what has been gathered so far. */
export function gathering(client: pg.PoolClient): { send: Send; depart: () => void } {
  let gathered: Statement[] = []
  const depart = () => {
    if (gathered.length === 0) return
    const batch = new Batch(gathered)
    gathered = []
    client.query(batch as unknown as pg.Submittable)
  }
  const send: Send = (query) =>
    new Promise((resolve, reject) => {
      const statement = { ...written(query), resolve, reject }
      if (gathered.push(statement) === 1) process.nextTick(depart)
    })
  return { send, depart }
}

/** Sends statements at once, as one transaction, and answers what the last of them says. */
export async function sendTogether(
  client: pg.PoolClient,
  queries: readonly pg.QueryConfig[],
  timeoutMs?: number,
): Promise<Result> {
  const sent = queries.map((query) => ({ ...written(query), ...Promise.withResolvers<Result>() }))
  client.query(new Batch(sent, timeoutMs) as unknown as pg.Submittable)
  const answers = await allOf(sent.map(({ promise }) => promise))
  return answers.at(-1) as Result
}
