import type { Tx } from '../../db/database.ts'
import type { UnnumberedEvent } from './schema.ts'

/** Called with new events in the transaction that numbers them, once for each event. */
export type OnNumbered = (tx: Tx, events: readonly UnnumberedEvent[]) => Promise<unknown>

/** What webhooks ask of modules that stand above them. */
export interface WebhookPorts {
  eventsNumbered: OnNumbered
}
