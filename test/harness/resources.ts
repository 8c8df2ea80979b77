import type { Caller, TestApp } from './app.ts'

/**
 * How to call a merchant route that names something by id: makes that thing in the caller's own store and answers
 * the path parameters.
 */
export type Fixture = (merchant: Caller, app: TestApp) => Promise<Record<string, string>>

/** A request that writes texts. */
export type Plant = readonly [method: string, url: string, body: unknown]

/**
 * What the generated tests need to know of a module: `test/modules/<module>/resources.ts` exports one. Routes are named
 * as in the route table (`GET /v1/…/:id`). Each test says what is missing.
 */
export interface Resources {
  /** For each merchant route with a parameter. */
  readonly fixtures?: Readonly<Record<string, Fixture>>
  /** The bodies for these routes, for the caller and for another store alike. */
  readonly bodies?: Readonly<Record<string, unknown>>
  /** Writes a marker into every free text of the store. */
  readonly texts?: (canary: string) => readonly Plant[]
  /** An `insert` of one row for a store, `$1`, for each table that `texts` leaves empty. */
  readonly rows?: Readonly<Record<string, string>>
}
