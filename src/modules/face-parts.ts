import type { TSchema } from 'typebox'
import type { Db, Tx } from '../db/database.ts'

/** The parts of faces that modules write in files of their own. */

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
