import pg from 'pg'
import { prepare, sql } from './sql.ts'

const ENTER = prepare(sql`select set_config('app.tenant', ${''}, true)`)

/** Sets the tenant for the transaction it runs in. One text, so that a connection parses it once. */
export const enterTenant = (tenant: string): pg.QueryConfig => ({ ...ENTER, values: [tenant] })

/** The parts of the driver's query that carry the wire protocol. Its declarations leave them out. */
interface Wire {
  bind(message: { portal: string; statement: string; values: unknown[] }): void
  execute(message: { portal: string }): void
}

interface DriverQuery {
  callback: (error: Error | null, result: pg.QueryResult) => void
  prepare(connection: Wire): void
  handleDataRow(message: unknown): void
  handleCommandComplete(message: unknown, connection: Wire): void
}

type ExtendedQuery = pg.QueryConfig & { queryMode: 'extended' }

const Query = pg.Query as unknown as new (config: ExtendedQuery) => DriverQuery

/**
 * A statement and the setting of its tenant before one and the same Sync: PostgreSQL runs both as
 * one transaction, and needs neither `begin` nor `commit` for it. That spares the key check and
 * every single read half of their messages.
 *
 * The connection must have parsed `enterTenant` before: the driver notes a parsed statement by the
 * query it belongs to, and this one belongs to none.
 */
class TenantQuery extends Query {
  readonly #enter: pg.QueryConfig
  #entered = false

  constructor(tenant: string, query: pg.QueryConfig) {
    // Never by simple protocol, which would pass `prepare` by.
    super({ ...query, queryMode: 'extended' })
    this.#enter = enterTenant(tenant)
  }

  override prepare(connection: Wire): void {
    const { name = '', values = [] } = this.#enter
    connection.bind({ portal: '', statement: name, values })
    connection.execute({ portal: '' })
    super.prepare(connection)
  }

  /** The first row is that of the setting. */
  override handleDataRow(message: unknown): void {
    if (this.#entered) super.handleDataRow(message)
  }

  override handleCommandComplete(message: unknown, connection: Wire): void {
    if (this.#entered) super.handleCommandComplete(message, connection)
    this.#entered = true
  }
}

export function runAsTenant(
  client: pg.PoolClient,
  tenant: string,
  query: pg.QueryConfig,
): Promise<pg.QueryResult> {
  return new Promise((resolve, reject) => {
    const sent = new TenantQuery(tenant, query)
    sent.callback = (error, result) => (error === null ? resolve(result) : reject(error))
    client.query(sent as unknown as pg.Submittable)
  })
}
