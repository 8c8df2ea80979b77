import { randomUUID } from 'node:crypto'
import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import type { Page } from '../../kernel/page.ts'
import { isUuid } from '../../kernel/schema.ts'
import * as audit from '../../platform/audit.ts'
import type { Limits } from '../../platform/limits.ts'
import { WINDOW_SECONDS } from '../../platform/limits-store.ts'
import { SafeFetchError, UnsafeUrlError } from '../../platform/safe-address.ts'
import type { SafeFetch } from '../../platform/safe-fetch.ts'
import { type EventType, isDeliverable } from './events.ts'
import * as queries from './queries.ts'
import type { KeptSubscription, NewSubscription, Subscription } from './schema.ts'
import { newSecret, sealSecret } from './secrets.ts'

/** The name of the work that a new event means. */
export const WAKE_SEALING = 'webhook events'

/** More than any store has endpoints, and few enough for a checkout to write a row for each. */
const SUBSCRIPTIONS_MAX = 20

/** Each is a question to somebody's name server. */
const REGISTRATIONS_PER_MINUTE = 30

/** An order of a hundred lines is a fifth of this. Beyond it the emitter has made a mistake. */
const DATA_LENGTH_MAX = 262_144

export interface Webhooks {
  /** Seals the signing secrets. */
  key: Buffer
  fetch: SafeFetch
  limits: Pick<Limits, 'velocity'>
}

export interface NewEvent {
  type: EventType
  /** What happened, complete in itself. Its `sequence` is added later. */
  data: Record<string, unknown>
  order_id?: string | null
  /** Whose personal data it holds, if anybody's: what `eraseSome` goes by. */
  customer_ref?: string | null
}

/**
 * Tells the world, if and only if the caller's transaction commits: writes the event and a delivery
 * for every subscription that wants it, in one statement.
 */
export function emit(tx: Tx, event: NewEvent): Promise<{ event_id: string }> {
  const { sequence: _, ...rest } = event.data
  const data = JSON.stringify(rest)
  if (data.length > DATA_LENGTH_MAX) throw new RangeError(`the data of ${event.type} is too large`)
  tx.notifyAfterCommit(WAKE_SEALING)
  return queries.insertEvent(tx, {
    type: event.type,
    data,
    order_id: event.order_id ?? null,
    customer_ref: event.customer_ref ?? null,
  })
}

/** Registers an endpoint. One that was paused comes back under its own id, with a new secret. */
export async function subscribe(
  { key, fetch, limits }: Webhooks,
  db: TenantDb,
  actor: audit.Actor,
  wanted: NewSubscription,
) {
  const events = [...new Set(wanted.events)]
  const unknown = events.find((name) => !isDeliverable(name))
  if (unknown !== undefined) throw unknownEvent(unknown)
  await passLimit(limits, `webhooks:${db.tenant}`, REGISTRATIONS_PER_MINUTE)
  await checkUrl(fetch, wanted.url)
  const secret = newSecret()
  return db.transaction('webhooks: subscribe', async (tx) => {
    await queries.lockSubscriptions(tx)
    const paused = await queries.findPaused(tx, wanted.url)
    const id = paused?.id ?? randomUUID()
    const row = {
      id,
      url: wanted.url,
      events,
      description: wanted.description ?? null,
      secret_sealed: sealSecret(key, secret, tx.tenant, id),
    }
    if (paused === null) await refuseTooMany(tx)
    const after = await (paused === null
      ? queries.insertSubscription(tx, row)
      : queries.reviveSubscription(tx, row))
    await audit.record(tx, actor, {
      action: paused === null ? 'webhook.created' : 'webhook.reactivated',
      entity: `webhook:${id}`,
      ...(paused === null ? {} : { before: essence(paused) }),
      after: essence(after),
    })
    return { subscription: after, secret }
  })
}

const essence = ({ url, events, description, active }: Subscription) => ({
  url,
  events,
  description,
  active,
})

const unknownEvent = (name: string) =>
  new ApiError('unknown_event', {
    message: `Endpoints cannot subscribe to the event ${JSON.stringify(name.slice(0, 100))}. \`commerce.order.placed.v1\` is available.`,
  })

async function refuseTooMany(tx: Tx) {
  const { total } = await queries.countSubscriptions(tx)
  if (total < SUBSCRIPTIONS_MAX) return
  throw new ApiError('webhook_limit_reached', {
    message: `A store has at most ${SUBSCRIPTIONS_MAX} endpoints. Delete one first.`,
  })
}

export async function passLimit(limits: Webhooks['limits'], bucket: string, perMinute: number) {
  if (await limits.velocity(bucket, perMinute)) return
  throw new ApiError('rate_limited', {
    message: `Too many attempts: at most ${perMinute} per minute. Try again later.`,
    headers: { 'retry-after': String(WINDOW_SECONDS) },
  })
}

/**
 * A name that does not resolve yet is taken: nothing is known against it, and every dispatch asks
 * again. What the refusal was about is not told, or registering would be a way to map our network.
 */
async function checkUrl(fetch: SafeFetch, url: string): Promise<void> {
  try {
    await fetch.check(url)
  } catch (error) {
    if (!(error instanceof SafeFetchError)) throw error
    if (!(error instanceof UnsafeUrlError)) return
    if (error.reason !== 'malformed') throw new ApiError('unsafe_url')
    throw invalidBody('url', 'must be a URL, such as https://shop.example/hooks')
  }
}

export const list = queries.listSubscriptions

/** One that is there. Of a deleted one nothing is told. */
export async function get(db: Db, id: string): Promise<KeptSubscription> {
  const found = isUuid(id) ? await queries.findSubscription(db, id) : null
  if (found === null || found.deleted_at !== null) throw new ApiError('webhook_not_found')
  return found
}

/** What waits for it is dead-lettered when it is due. Repeating it is harmless. */
export async function remove(db: TenantDb, actor: audit.Actor, id: string) {
  const found = isUuid(id) ? await queries.findSubscription(db, id) : null
  if (found === null) throw new ApiError('webhook_not_found')
  await db.transaction('webhooks: delete', async (tx) => {
    if ((await queries.markDeleted(tx, id)) === 0) return
    await audit.record(tx, actor, {
      action: 'webhook.deleted',
      entity: `webhook:${found.id}`,
      before: essence(found),
    })
  })
  return { id: found.id, deleted: true as const }
}

/** A new secret. The one before signs beside it for a day, so that receivers can move. */
export async function rotate({ key }: Webhooks, db: TenantDb, actor: audit.Actor, id: string) {
  const { id: found } = await get(db, id)
  const secret = newSecret()
  return db.transaction('webhooks: rotate secret', async (tx) => {
    const sealed = sealSecret(key, secret, tx.tenant, found)
    const rotated = await queries.rotateSecret(tx, found, sealed)
    if (rotated === null) {
      await get(tx, found)
      throw new ApiError('rotation_in_progress')
    }
    await audit.record(tx, actor, { action: 'webhook.secret_rotated', entity: `webhook:${found}` })
    const { previous_until, ...subscription } = rotated
    return { subscription, secret, previous_valid_until: previous_until }
  })
}

/** The ledger, newest first. */
export async function listDeliveries(db: Db, filters: queries.DeliveryFilters, page: Page) {
  const [deliveries, { total }] = await Promise.all([
    queries.listDeliveries(db, filters, page),
    queries.countDeliveries(db, filters),
  ])
  return { deliveries, total, ...page }
}

export async function getDelivery(db: Db, id: string) {
  const found = isUuid(id) ? await queries.findDelivery(db, id) : null
  if (found === null) throw new ApiError('delivery_not_found')
  return { ...found, attempts: await queries.listAttempts(db, found.id) }
}

/** What has happened after a position. Every number up to `sealed_to` has been given. */
export async function readFeed(db: Db, after: number, limit: number) {
  const { sealed_to } = (await queries.findSealedTo(db)) ?? { sealed_to: 0 }
  const events = await queries.listFeed(db, after, sealed_to, limit)
  return { tenant_ref: db.tenant, events, sealed_to, after, limit }
}
