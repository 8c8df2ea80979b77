import type { Db, TenantDb } from '../../db/database.ts'
import { invalidBody } from '../../errors.ts'
import { toUtc } from '../../kernel/time.ts'
import * as audit from '../../platform/audit.ts'
import { isForEveryStore } from './define-event.ts'
import { refuse } from './errors.ts'
import * as queries from './queries.ts'
import { WAKE_DISPATCH } from './redrive.ts'
import * as replaying from './replay-queries.ts'
import type { Replay, Replayed } from './schema.ts'
import { assertWithinRate, get, hasExtendedEvents, type Webhooks } from './service.ts'

/** How many events one call reads: about a second's work, of the ten that a statement may take. */
export const REPLAY_EVENTS_MAX = 5_000

/** How many replays a store may request per minute: enough for a program that follows `next_from`. */
export const REPLAYS_PER_MINUTE = 10

export interface ReplayDeps extends Pick<Webhooks, 'limits' | 'events'> {
  /** How many events one call reads; REPLAY_EVENTS_MAX unless a test sets another number. */
  eventsMax?: number
}

/**
 * Sends to an endpoint the events again that it has missed since a position: dead letters, and events that were never
 * sent to it. A delivery that is pending already is left as it is, so that two simultaneous replays send each event
 * once. Erased events have no data left to send. Why by the queue of all deliveries: decision 0048.
 */
export async function replay(
  { limits, events: known, eventsMax = REPLAY_EVENTS_MAX }: ReplayDeps,
  db: TenantDb,
  actor: audit.Actor,
  request: Replay & { id: string },
): Promise<Replayed> {
  const subscription = await get(db, request.id)
  if (!subscription.active) throw refuse('webhook_paused')
  await assertWithinRate(limits, `webhook replays:${db.tenant}`, REPLAYS_PER_MINUTE)
  const isExtended = await hasExtendedEvents(db)
  const types = subscription.events.filter((name) => isExtended || isForEveryStore(known, name))
  const span = await findSpan(db, request.from)
  return db.transaction('webhooks: replay', async (tx) => {
    await queries.lockContents(tx)
    const page = await replaying.replaySome(tx, {
      ...span,
      types,
      subscription,
      includeDelivered: request.include_delivered ?? false,
      limit: eventsMax,
    })
    const replayed = {
      subscription_id: subscription.id,
      queued: page.queued,
      from_sequence: span.from,
      to_sequence: page.last,
      next_from: page.last !== null && page.last < span.to ? page.last + 1 : null,
      gone_before: span.gone_before,
    }
    if (page.queued === 0) return replayed
    await audit.record(tx, actor, {
      action: 'webhook.replayed',
      entity: `webhook:${subscription.id}`,
      after: { from: span.from, to: page.last, queued: page.queued },
    })
    tx.notifyAfterCommit(WAKE_DISPATCH)
    return replayed
  })
}

interface Span {
  from: number
  to: number
  gone_before: number | null
}

/** Finds the range of numbers that was requested, as far as its events are still kept. */
async function findSpan(db: Db, from: number | string): Promise<Span> {
  const at = typeof from === 'string' ? requireTime(from) : null
  const { sealed_to: to } = (await queries.findNumberedTo(db)) ?? { sealed_to: 0 }
  const first = (await replaying.findEventFrom(db, 1, at))?.sequence ?? to + 1
  const requested = at === null ? Number(from) : await findSequenceAt(db, at, first, to)
  // A time does not show whether the deleted events before the first one were later than it.
  const isGone = first > 1 && (at === null ? requested < first : requested === first)
  return { from: Math.max(requested, first), to, gone_before: isGone ? first : null }
}

function requireTime(text: string): string {
  const at = toUtc(text)
  if (at !== null) return at
  throw invalidBody(
    'from',
    'must be the number of an event, or a time such as 2026-01-31T08:00:00Z',
  )
}

/**
 * Finds the number of the first event at a time or after it. Times grow with the numbers, and have no index: so it is
 * found by bisection, in as many steps as the last number has binary digits.
 */
async function findSequenceAt(db: Db, at: string, first: number, last: number): Promise<number> {
  let low = first
  let high = last + 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const found = await replaying.findEventFrom(db, middle, at)
    if (found?.is_before && found.sequence < high) low = found.sequence + 1
    else high = middle
  }
  return low
}
