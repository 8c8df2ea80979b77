import pg from 'pg'
import { prepareValue } from 'pg/lib/utils.js'
import { awaitAll, SkippedError } from './await-all.ts'
import { prepare, type Result, type Send, sql } from './sql.ts'
import { types } from './wire-types.ts'

const setTenant = sql`set_config('app.tenant', ${''}, true)`
const setOffset = sql`set_config('app.clock_offset', ${''}, true)`
const setAsyncCommit = sql`set_config('synchronous_commit', 'off', true)`
const setGenericPlan = sql`set_config('plan_cache_mode', 'force_generic_plan', true)`

/**
 * Makes the statement that sets a store for a transaction. There are two texts, so that a
 * connection parses each once, and only a store with a clock offset pays for setting it.
 */
function tenantStatement(unmoved: pg.QueryConfig, moved: pg.QueryConfig) {
  return (tenant: string, clockOffsetMs: number): pg.QueryConfig =>
    clockOffsetMs === 0
      ? { ...unmoved, values: [tenant] }
      : { ...moved, values: [tenant, `${clockOffsetMs} milliseconds`] }
}

/** Sets the store and its clock offset for the transaction it runs in. */
export const setTenantConfig = tenantStatement(
  prepare(sql`select ${setTenant}`),
  prepare(sql`select ${setTenant}, ${setOffset}`),
)

/** Sets the store like `setTenantConfig`, for a transaction whose commit does not wait for the disk. */
export const setTenantAsyncCommit = tenantStatement(
  prepare(sql`select ${setTenant}, ${setAsyncCommit}`),
  prepare(sql`select ${setTenant}, ${setOffset}, ${setAsyncCommit}`),
)

/**
 * Sets the store like `setTenantAsyncCommit`, for a statement with one plan for every store: planning takes longer
 * than running.
 */
export const setTenantAsyncGeneric = tenantStatement(
  prepare(sql`select ${setTenant}, ${setAsyncCommit}, ${setGenericPlan}`),
  prepare(sql`select ${setTenant}, ${setOffset}, ${setAsyncCommit}, ${setGenericPlan}`),
)

/** A statement as it is sent, and the callbacks for its result. */
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

/**
 * The part of the driver's connection that speaks the wire protocol. Its type declarations leave it
 * out.
 */
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

/** The part of the driver's query that the driver reads. */
interface DriverQuery {
  name: string
  text: string
  /** Set by the driver when it has a timer to stop. */
  callback?: (error: Error | null) => void
}

const Query = pg.Query as unknown as new (config: { text: string }) => DriverQuery

/** The columns of each statement that a connection has described. They stay valid while the statement is parsed. */
const knownColumns = new WeakMap<Wire, Map<string, readonly Column[]>>()

/**
 * Several statements before one Sync of the wire protocol. PostgreSQL runs them one after the other, answers them all
 * at once, and skips those after one that fails. The driver alone sends a Sync after each statement and waits for its
 * answer: for the twelve statements that write an order, eleven needless round trips. The columns of a statement are
 * also requested once, and not at every call (decision 0002).
 *
 * Outside of a transaction block the statements of a batch are one transaction: a single read is sent together with the
 * statement that sets its store, and needs neither `begin` nor `commit`.
 */
class Batch extends Query {
  readonly statements: readonly Statement[]
  readonly #results: BatchResult[] = []
  #known: Map<string, readonly Column[]> = new Map()
  #columns: readonly Column[] | undefined
  #rows: Record<string, unknown>[] = []
  #readError: unknown

  constructor(statements: readonly Statement[]) {
    super({ text: '' })
    this.statements = statements
  }

  submit(connection: Wire): null {
    this.#known = knownColumns.get(connection) ?? new Map()
    knownColumns.set(connection, this.#known)
    connection.stream.cork()
    for (const statement of this.statements) this.#write(connection, statement)
    connection.sync()
    connection.stream.uncork()
    this.#startReading(0)
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

  /**
   * Prepares for the rows of a statement. The driver reads `name` and `text` from here when it
   * notes the statement as parsed.
   */
  #startReading(index: number): void {
    const { name = '', text = '' } = this.statements[index] ?? {}
    this.name = name
    this.text = text
    this.#columns = this.#known.get(name)
    this.#rows = []
    this.#readError = undefined
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
      this.#readError = error
    }
  }

  handleCommandComplete({ text }: { text: string }): void {
    if (this.name !== '') this.#known.set(this.name, this.#columns ?? [])
    const result = { command: text, rows: this.#rows, rowCount: countOf(text) }
    this.#results.push({ result, readError: this.#readError })
    this.#startReading(this.#results.length)
  }

  handleReadyForQuery(): void {
    this.callback?.(null)
    this.#settle()
  }

  #settle(): void {
    this.#results.forEach(({ result, readError }, i) => {
      if (readError === undefined) this.statements[i]?.resolve(result)
      else this.statements[i]?.reject(readError)
    })
  }

  /**
   * Rejects the statement that failed. Those after it were skipped, and not even parsed. When every statement has its
   * result, the commit or the connection failed: then nothing was committed.
   */
  handleError(error: Error, connection: Wire): void {
    this.callback?.(error)
    const [failed, ...skipped] = this.statements.slice(this.#results.length)
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

/** The result of one statement, or why its rows could not be read. */
interface BatchResult {
  result: Result
  readError: unknown
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

/** Reads the number of rows from a command tag: `INSERT 0 3`, `UPDATE 3`, `SELECT 3`; 0 where it has none. */
const countOf = (tag: string): number => Number(/\d+$/.exec(tag)?.[0] ?? 0)

/**
 * Serialises the values before the statement joins a batch: a value that cannot be serialised is
 * the caller's mistake, and must not fail the other statements.
 */
const serialize = ({ name = '', text, values = [] }: pg.QueryConfig) => ({
  name,
  text,
  values: values.map(prepareValue),
})

/**
 * Collects the statements of one turn of the event loop and sends them together. `flush` sends at
 * once what is collected so far.
 */
export function openBatch(client: pg.PoolClient): { send: Send; flush: () => void } {
  let pending: Statement[] = []
  const flush = () => {
    if (pending.length === 0) return
    const batch = new Batch(pending)
    pending = []
    client.query(batch as unknown as pg.Submittable)
  }
  const send: Send = (query) =>
    new Promise((resolve, reject) => {
      const statement = { ...serialize(query), resolve, reject }
      if (pending.push(statement) === 1) process.nextTick(flush)
    })
  return { send, flush }
}

/** Sends statements together, as one transaction, and returns the result of the last. */
export async function sendTogether(
  client: pg.PoolClient,
  queries: readonly pg.QueryConfig[],
): Promise<Result> {
  const sent = queries.map((query) => ({ ...serialize(query), ...Promise.withResolvers<Result>() }))
  client.query(new Batch(sent) as unknown as pg.Submittable)
  const results = await awaitAll(sent.map(({ promise }) => promise))
  return results.at(-1) as Result
}

/** Sends all that this turn of the event loop writes to the connection as one packet instead of many. */
export function writeTogether(client: pg.PoolClient): void {
  const { stream } = (client as unknown as { connection: Wire }).connection
  stream.cork()
  process.nextTick(() => stream.uncork())
}
