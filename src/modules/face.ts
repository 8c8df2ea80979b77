import type { TSchema } from 'typebox'
import type { Db, Tx } from '../db/database.ts'
import type { ErrorTable } from '../error-codes.ts'
import type { Lives } from '../platform/retention.ts'

/**
 * A module's description of itself for the rest of the program, in its `module.ts`: data that loads nothing heavy.
 * Lower layers never read faces; `compose/` passes them what they need (decision 0075).
 */
export interface Face {
  /** The folder of the module. */
  readonly name: string
  /** The module in one line, as ARCHITECTURE.md shows it. */
  readonly is: string
  /** The modules that it enters. The import check refuses others, and names that no import needs. */
  readonly uses: readonly string[]
  /** Its tables, and how long the rows of each are kept. */
  readonly tables?: Lives
  /** What triggers of its tables count for each store, by the key of the limit, and what it means. */
  readonly counted?: Readonly<Record<string, string>>
  /** Its limits that no trigger counts. */
  readonly limits?: () => Promise<LimitsFace>
  /** The codes that it alone answers with, with their texts. */
  readonly errors?: ErrorTable
  /** Its share in the erasure of a customer. `privacy/erase-order.ts` has its rank, the order of locks. */
  readonly customerData?: () => Promise<CustomerData>
  /** Its events, as the API document and the guide describe them to integrators. */
  readonly events?: () => Promise<{ readonly events: readonly EventFace[] }>
}

export interface CustomerData {
  /** Erases what names the customer and no order. */
  readonly eraseCustomer?: (tx: Tx, person: ErasedCustomer) => Promise<void>
  /**
   * Erases the person from these orders. Returns the ids of its rows that stored answers name, beside those of the
   * orders.
   */
  readonly eraseOrders?: (
    tx: Tx,
    order_ids: readonly string[],
    renamed: Renamed,
  ) => Promise<readonly string[]>
}

export interface ErasedCustomer {
  readonly customer_ref: string
  /** In lower case. */
  readonly emails: readonly string[]
  readonly pseudonym: string
}

/** The references of an erased person, and the pseudonym of each. */
export interface Renamed {
  readonly customer_refs: readonly string[]
  readonly pseudonyms: readonly string[]
}

export interface LimitsFace {
  /** Counts what the store has of it now. Its routes refuse by the same number. */
  readonly readOwn?: (db: Db, settings: LimitSettings) => Promise<OwnLimit>
  /** What bounds each thing alone, where there is nothing to count for the store. */
  readonly bounds?: readonly Bound[]
}

/** The limits that the operator sets for all stores, in the environment. */
export interface LimitSettings {
  readonly mediaBytesMax: number
}

export interface Bound {
  readonly limit: string
  readonly description: string
  readonly max: number
}

export interface OwnLimit extends Bound {
  readonly used: number
}

/** An event of a store, as the API document describes it. */
export interface EventFace<S extends TSchema = TSchema> {
  /** Stored with each event and named by endpoints, so that it never changes. */
  readonly type: string
  /** When it is emitted, as a sentence. */
  readonly when: string
  /**
   * The shape of its data, to which the numbering loop adds `sequence`. A member that is added later is optional: old
   * events stay as they are, and processes of two releases run side by side.
   */
  readonly data: S
  /** Whether endpoints of any store may subscribe to it, or only of those with the add-on `extended_events`. */
  readonly forEveryStore: boolean
}

/** A floor of the house: modules about one matter, which enter their own floor and those below it. */
export interface Area {
  readonly name: string
  readonly is: string
  readonly modules: readonly Face[]
}
