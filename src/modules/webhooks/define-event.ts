import type { Static, TSchema } from 'typebox'
import type { Tx } from '../../db/database.ts'
import * as entitlements from '../entitlements/service.ts'
import type { EventFace } from '../face-parts.ts'
import * as queries from './queries.ts'

/** The topic that wakes the numbering loop when there are new events. */
export const WAKE_NUMBERING = 'webhook events'

/** The add-on of a store whose endpoints may subscribe to every event of its feed. */
export const EXTENDED_EVENTS = 'extended_events'

/**
 * The longest data of an event. An order of a hundred lines has a fifth of this; larger data is an error of the
 * emitter.
 */
const DATA_LENGTH_MAX = 262_144

/** The rows that an event is about, by which it is found when a customer is erased. */
export interface About {
  order_id?: string | null
  /** The customer whose personal data the event has. */
  customer_ref?: string | null
}

/** Checks data as they are emitted, in tests alone: elsewhere the compiler has checked them (decision 0078). */
export const whenEmitted: { check: ((event: EventFace, data: unknown) => void) | null } = {
  check: null,
}

/**
 * Defines a kind of events. Its `emit` writes an event if the caller's transaction commits, and a delivery for every
 * endpoint that is subscribed to it, in one statement.
 */
export function defineEvent<S extends TSchema>(
  type: string,
  {
    forEveryStore = false,
    ...face
  }: Pick<EventFace<S>, 'when' | 'data'> & Partial<Pick<EventFace, 'forEveryStore'>>,
) {
  const event: EventFace<S> = { type, ...face, forEveryStore }
  const emit = (
    tx: Tx,
    facts: Static<S>,
    { order_id = null, customer_ref = null }: About = {},
  ): Promise<{ event_id: string }> => {
    const data = JSON.stringify(facts)
    if (data.length > DATA_LENGTH_MAX) throw new RangeError(`the data of ${type} is too large`)
    whenEmitted.check?.(event, JSON.parse(data))
    tx.notifyAfterCommit(WAKE_NUMBERING)
    const allowed = forEveryStore ? null : entitlements.featureIsOn(tx, EXTENDED_EVENTS)
    return queries.insertEvent(tx, { type, data, order_id, customer_ref }, allowed)
  }
  return { ...event, emit }
}

/** The kinds of events of all modules, by their type. */
export type Events = ReadonlyMap<string, EventFace>

/** Whether endpoints of a store without the add-on may subscribe to an event of this name. */
export const isForEveryStore = (events: Events, name: string): boolean =>
  events.get(name)?.forEveryStore ?? false
