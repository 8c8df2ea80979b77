import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import { newId } from '../../kernel/id.ts'
import type { Page } from '../../kernel/page.ts'
import { isUuid } from '../../kernel/schema.ts'
import * as audit from '../../platform/audit.ts'
import type { Limits } from '../../platform/rate-limits.ts'
import { WINDOW_SECONDS } from '../../platform/rate-limits-store.ts'
import { SafeFetchError, UnsafeUrlError } from '../../platform/safe-address.ts'
import type { SafeFetch } from '../../platform/safe-fetch.ts'
import * as entitlements from '../entitlements/service.ts'
import { type Events, EXTENDED_EVENTS, isForEveryStore } from './define-event.ts'
import { refuse } from './errors.ts'
import * as queries from './queries.ts'
import type {
  ListedSubscription,
  NewSubscription,
  Subscription,
  SubscriptionWithSecrets,
} from './schema.ts'
import { encryptSecret, newSecret } from './secrets.ts'

/**
 * The most endpoints of a store: more than a store needs, and few enough for a checkout to write a delivery for each.
 */
export const SUBSCRIPTIONS_MAX = 20

/** How many registrations a store may make per minute: each one causes a name lookup. */
const REGISTRATIONS_PER_MINUTE = 30

export interface Webhooks {
  /** Encrypts and decrypts the signing secrets. */
  key: Buffer
  fetch: SafeFetch
  limits: Pick<Limits, 'velocity'>
  events: Events
}

/** Registers an endpoint. A paused one becomes active again, with the same id and a new secret. */
export async function subscribe(
  { key, fetch, limits, events: known }: Webhooks,
  db: TenantDb,
  actor: audit.Actor,
  request: NewSubscription,
) {
  const events = [...new Set(request.events)]
  await assertAvailable(known, db, events)
  await assertWithinRate(limits, `webhooks:${db.tenant}`, REGISTRATIONS_PER_MINUTE)
  await checkUrl(fetch, request.url)
  const secret = newSecret()
  return db.transaction('webhooks: subscribe', async (tx) => {
    await queries.lockSubscriptions(tx)
    const paused = await queries.findPaused(tx, request.url)
    const id = paused?.id ?? newId()
    const row = {
      id,
      url: request.url,
      events,
      description: request.description ?? null,
      secret_sealed: encryptSecret(key, secret, tx.tenant, id),
    }
    if (paused === null) await assertBelowMaximum(tx)
    const after = await (paused === null
      ? queries.insertSubscription(tx, row)
      : queries.reactivateSubscription(tx, row))
    await audit.record(tx, actor, {
      action: paused === null ? 'webhook.created' : 'webhook.reactivated',
      entity: `webhook:${id}`,
      ...(paused === null ? {} : { before: auditedFields(paused) }),
      after: auditedFields(after),
    })
    return { subscription: after, secret }
  })
}

const auditedFields = ({ url, events, description, active }: Subscription) => ({
  url,
  events,
  description,
  active,
})

/** Refuses an event that the store's endpoints cannot subscribe to. */
async function assertAvailable(known: Events, db: Db, names: readonly string[]): Promise<void> {
  const unknown = names.find((name) => !known.has(name))
  if (unknown !== undefined) throw unknownEvent(known, unknown)
  const extended = names.find((name) => !isForEveryStore(known, name))
  if (extended !== undefined && !(await hasExtendedEvents(db))) throw unknownEvent(known, extended)
}

export const hasExtendedEvents = async (db: Db): Promise<boolean> =>
  (await entitlements.findState(db, EXTENDED_EVENTS)).state === 'on'

function unknownEvent(known: Events, name: string) {
  const text = `Endpoints cannot subscribe to the event ${JSON.stringify(name.slice(0, 100))}. \`commerce.order.placed.v1\` is available.`
  const more = ` The others of the feed need the add-on \`${EXTENDED_EVENTS}\`, which a store requests.`
  return refuse('unknown_event', { message: known.has(name) ? text + more : text })
}

/** Counts the endpoints of the store. */
export const countSubscriptions = async (db: Db) => (await queries.countSubscriptions(db)).existing

async function assertBelowMaximum(tx: Tx) {
  const { existing } = await queries.countSubscriptions(tx)
  if (existing < SUBSCRIPTIONS_MAX) return
  throw refuse('webhook_limit_reached', {
    message: `A store has at most ${SUBSCRIPTIONS_MAX} endpoints. Delete one first.`,
    body: { max: SUBSCRIPTIONS_MAX, used: existing },
  })
}

export async function assertWithinRate(
  limits: Webhooks['limits'],
  bucket: string,
  perMinute: number,
) {
  if (await limits.velocity(bucket, perMinute)) return
  throw new ApiError('rate_limited', {
    message: `Too many attempts: at most ${perMinute} per minute. Try again later.`,
    headers: { 'retry-after': String(WINDOW_SECONDS) },
  })
}

/**
 * Refuses a URL that leads into our own network. A name that does not resolve yet is accepted, since every attempt
 * checks it again. Only a refusal because of the written name says why: other reasons could be used to map our
 * network.
 */
async function checkUrl(fetch: SafeFetch, url: string): Promise<void> {
  try {
    await fetch.check(url)
  } catch (error) {
    if (!(error instanceof SafeFetchError)) throw error
    if (!(error instanceof UnsafeUrlError)) return
    if (error.reason === 'host') throw unsafeHost()
    if (error.reason !== 'malformed') throw refuse('unsafe_url')
    throw invalidBody('url', 'must be a URL, such as https://shop.example/hooks')
  }
}

const unsafeHost = () =>
  refuse('unsafe_url', {
    message:
      'The host of the URL must be a full public domain name, such as hooks.example.com: no name of a private network, no dot too many.',
  })

/** Lists the endpoints, each with those of its events that are not delivered because the store lacks the add-on. */
export async function list(
  { events: known }: Pick<Webhooks, 'events'>,
  db: Db,
): Promise<ListedSubscription[]> {
  const found = await queries.listSubscriptions(db)
  const needsAddOn = (name: string) => !isForEveryStore(known, name)
  const isExtended = found.some(({ events }) => events.some(needsAddOn))
  const isMuted = isExtended && !(await hasExtendedEvents(db))
  return found.map((each) => ({
    ...each,
    muted_events: isMuted ? each.events.filter(needsAddOn) : [],
  }))
}

/** Gets a subscription. A deleted one is not found. */
export async function get(db: Db, id: string): Promise<SubscriptionWithSecrets> {
  const found = isUuid(id) ? await queries.findSubscription(db, id) : null
  if (found === null || found.deleted_at !== null) throw refuse('webhook_not_found')
  return found
}

/** Deletes a subscription. Its pending deliveries become dead letters when due. It may be repeated. */
export async function remove(db: TenantDb, actor: audit.Actor, id: string) {
  const found = isUuid(id) ? await queries.findSubscription(db, id) : null
  if (found === null) throw refuse('webhook_not_found')
  await db.transaction('webhooks: delete', async (tx) => {
    if ((await queries.markDeleted(tx, id)) === 0) return
    await audit.record(tx, actor, {
      action: 'webhook.deleted',
      entity: `webhook:${found.id}`,
      before: auditedFields(found),
    })
  })
  return { id: found.id, deleted: true as const }
}

/** Replaces the secret. The previous secret signs as well for a day, so that receivers can change to the new one. */
export async function rotate({ key }: Webhooks, db: TenantDb, actor: audit.Actor, id: string) {
  const { id: found } = await get(db, id)
  const secret = newSecret()
  return db.transaction('webhooks: rotate secret', async (tx) => {
    const encrypted = encryptSecret(key, secret, tx.tenant, found)
    const rotated = await queries.rotateSecret(tx, found, encrypted)
    if (rotated === null) {
      await get(tx, found)
      throw refuse('rotation_in_progress')
    }
    await audit.record(tx, actor, { action: 'webhook.secret_rotated', entity: `webhook:${found}` })
    const { previous_until, ...subscription } = rotated
    return { subscription, secret, previous_valid_until: previous_until }
  })
}

/** Lists deliveries, newest first. */
export async function listDeliveries(db: Db, filters: queries.DeliveryFilters, page: Page) {
  const { rows, shown } = await queries.listDeliveries(db, filters, page)
  return { deliveries: rows, ...shown }
}

export async function getDelivery(db: Db, id: string) {
  const found = isUuid(id) ? await queries.findDelivery(db, id) : null
  if (found === null) throw refuse('delivery_not_found')
  return { ...found, attempts: await queries.listAttempts(db, found.id) }
}

/** Reads the events after a position. Every number up to `sealed_to` has been assigned. */
export async function readFeed(db: Db, after: number, limit: number) {
  const { sealed_to } = (await queries.findNumberedTo(db)) ?? { sealed_to: 0 }
  const events = await queries.listFeed(db, after, sealed_to, limit)
  return { tenant_ref: db.tenant, events, sealed_to, after, limit }
}
