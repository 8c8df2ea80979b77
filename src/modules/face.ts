import type { ErrorTable } from '../error-codes.ts'
import type { LiveRead } from '../http/live.ts'
import type { Plane, Routes } from '../http/route.ts'
import type { DueWork } from '../platform/due-work.ts'
import type { Handler } from '../platform/outbox.ts'
import type { Lives } from '../platform/retention.ts'
import type { CustomerData, EventFace, LimitsFace } from './face-parts.ts'
import type { House, Senders, ServingHouse, WorkingHouse } from './house.ts'

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
  /** Its routes. Loaded only where the API is served. */
  readonly routes?: (house: ServingHouse) => Promise<PlaneRoutes>
  /** Its public reads whose answers are kept in memory. */
  readonly liveReads?: (house: House) => Promise<readonly LiveRead[]>
  /** What it does in the background. Loaded only where work is done. */
  readonly loops?: (house: WorkingHouse) => Promise<readonly LoopFace[]>
  /** Its handlers of internal events. Where several modules hear an event, each takes what is its own. */
  readonly hears?: (house: House) => Promise<Readonly<Record<string, Handler>>>
  /** Its work that is due by a store's clock, which the test clock does at its time. */
  readonly due?: (house: House & Senders) => Promise<readonly RankedWork[]>
}

/** What a module registers under each plane. */
export type PlaneRoutes = Readonly<Partial<Record<Plane, readonly Routes[]>>>

/** A background loop. Its name is shown by metrics and written down for tables, so that it never changes. */
export interface LoopFace {
  readonly name: string
  /** How long it waits after a step that found nothing to do. */
  readonly everyMs: number
  /** The topics of notifications that wake it. */
  readonly wakeOn?: readonly string[]
  /** Opens its step once. `wake` starts the next one at once, as when a slot is free again. */
  open(wake: () => void): LoopSteps
}

export interface LoopSteps {
  /** Does a bounded amount of work, and returns how much. When the signal fires, the step starts nothing new. */
  step(signal: AbortSignal): Promise<number>
  /** Ends what steps have left under way, and releases its leases. Called after the last step. */
  drain?(): Promise<void>
}

/** A loop that opens nothing. */
export const loop = (name: string, everyMs: number, step: LoopSteps['step']): LoopFace => ({
  name,
  everyMs,
  open: () => ({ step }),
})

/**
 * The order of work that is due at the same time of a store's clock: interrupted work first, then what money and goods
 * wait for, then mails and deliveries about it. It is a promise of the test clock.
 */
export const DUE_RANKS = [
  'interrupted',
  'payments',
  'renewals',
  'labels',
  'gift cards',
  'store credit',
  'parcels',
  'commissions',
  'readers',
  'campaigns',
  'events',
  'mails',
  'reminders',
  'campaign mails',
] as const

export interface RankedWork {
  readonly rank: (typeof DUE_RANKS)[number]
  readonly work: readonly DueWork[]
}

/** A floor of the house: modules about one matter, which enter their own floor and those below it. */
export interface Area {
  readonly name: string
  readonly is: string
  readonly modules: readonly Face[]
}
