import type { Step } from '../../bench/scale/fill/plan.ts'
import type { MailApp } from '../modules/shopper-mail/setup.ts'
import type { Answer, Caller, TestApp } from './app.ts'
import type { ListPlans } from './list-pages.ts'

/**
 * How to call a merchant route that names something by id: makes that thing in the caller's own store and answers
 * the path parameters.
 */
export type Fixture = (merchant: Caller, app: TestApp) => Promise<Record<string, string>>

/** A request that writes texts. */
export type Plant = readonly [method: string, url: string, body: unknown]

/**
 * What the generated tests need to know of a module: `test/modules/<module>/resources.ts` exports one, and so does each
 * `…-resources.ts`. Routes are named as in the route table (`GET /v1/…/:id`). Each test says what is missing.
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
  /** What a store without room can no longer make, by its limit. */
  readonly beyond?: Readonly<Record<string, (merchant: Caller) => Promise<Answer>>>
  /** The requests that become the examples of its operations in the API document. */
  readonly examples?: (shop: ExampleShop) => Promise<void>
  /** What its lists read in a store with many rows. */
  readonly pages?: PageReads
  /** Its rows in the stores of `npm run scale`. */
  readonly scale?: ScaleRows
}

/** The shop of the examples, with stock on its shelves and three paid orders. */
export interface ExampleShop {
  readonly app: MailApp
  /** Their requests are recorded. */
  readonly merchant: Caller
  readonly storefront: Caller
  readonly operator: Caller
  /** Two variants. */
  readonly tea: string
  readonly cup: string
  readonly orders: Readonly<Record<'first' | 'second' | 'third', ExampleOrder>>
}

export interface ExampleOrder {
  readonly order: { id: string }
  readonly items: readonly { id: string; variant_id: string }[]
}

export interface PageReads {
  /** Fills the store `BIG` with `MANY` rows. */
  readonly seed: string
  /** Reads each list, by every filter and however deep. */
  readonly read: (lists: ListPlans) => Promise<void>
}

export interface ScaleRows {
  /** Statements that fill all stores, as those in `bench/scale/fill/`. */
  readonly fill?: readonly Step[]
  /** Queries of an id in the store `$1`, by name. A filter of this name is measured with it. */
  readonly targets?: Readonly<Record<string, string>>
  /** The target that is the `id` of the paths with this beginning. */
  readonly paths?: Readonly<Record<string, string>>
}
