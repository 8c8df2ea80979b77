import { awaitAll } from '../../db/await-all.ts'
import type { TenantDb, Tx } from '../../db/database.ts'
import { isUuid } from '../../kernel/schema.ts'
import * as audit from '../../platform/audit.ts'
import { actorOf, isShopper } from '../orders/actor.ts'
import * as orders from '../orders/service.ts'
import type { Store } from '../stores/schema.ts'
import * as stores from '../stores/service.ts'
import { requireAllowed } from './actions.ts'
import * as dates from './dates.ts'
import { refuse } from './errors.ts'
import {
  type CHANGES,
  type subscriptionCancelled,
  type subscriptionPaused,
  type subscriptionResumed,
  subscriptionUpdated,
} from './events.ts'
import * as queries from './queries.ts'
import { find, type Whose } from './read.ts'
import type { Action, Subscription, SubscriptionRow } from './schema.ts'
import { show, standingOf } from './show.ts'

/**
 * Makes every change of a subscription: under its lock, if it is allowed, and with its timeline entry, audit line and
 * event.
 */

/** The actor of a change, and the subscription to change. */
export interface Changing {
  actor: audit.Actor
  whose: Whose
  id: string
  /** The version that the change was decided on, if the caller names it. */
  version?: number | undefined
}

/** The word of a change for timeline and audit log, and its event. */
type Told =
  | {
      verb: 'paused' | 'resumed' | 'cancelled'
      event: typeof subscriptionPaused | typeof subscriptionResumed | typeof subscriptionCancelled
    }
  /** A change that has no event of its own: that of all others says which it was. */
  | { verb: (typeof CHANGES)[number]; event?: never }

/** The result of a change. */
export type Done = Told & {
  /** The row to write; null where only cycles have changed. */
  row: SubscriptionRow | null
  /**
   * The further data of the event, the timeline and the audit log: ids, numbers and dates, and no texts that a person
   * wrote.
   */
  data?: Record<string, unknown>
  /** Sets the dates where the row alone does not say them. */
  reschedule?: (tx: Tx, id: string, zone: string) => Promise<unknown>
}

export interface Work {
  tx: Tx
  store: Store
  row: SubscriptionRow
}

/**
 * Changes a subscription. `apply` returns null where there is nothing to change, so that a request that is sent twice
 * acts once.
 */
export function changeSubscription(
  db: TenantDb,
  changing: Changing,
  action: Action,
  apply: (work: Work) => Promise<Done | null>,
): Promise<Subscription> {
  return db.transaction(`subscriptions: ${action}`, async (tx) => {
    const store = await stores.get(tx)
    const row = await lock(tx, store, changing, action)
    const done = await apply({ tx, store, row })
    if (done === null) return show(tx, store, row)
    const after = await write(tx, store, row, done)
    await record(tx, changing.actor, after, done)
    return show(tx, store, after)
  })
}

/** Locks a subscription, and refuses an action that it does not allow. */
export async function lock(
  tx: Tx,
  store: Store,
  { id, whose, version }: Changing,
  action: Action,
): Promise<SubscriptionRow> {
  if (isUuid(id)) await queries.lock(tx, id)
  const row = await find(tx, store, id, whose)
  if (version !== undefined && version !== row.version) throw stale(row)
  requireAllowed(row, action)
  return row
}

const stale = ({ version }: SubscriptionRow) =>
  refuse('stale_subscription', { body: { current_version: version } })

async function write(
  tx: Tx,
  store: Store,
  before: SubscriptionRow,
  { row, reschedule = dates.reschedule }: Done,
): Promise<SubscriptionRow> {
  await queries.write(tx, row ?? before)
  await reschedule(tx, before.id, store.time_zone)
  return find(tx, store, before.id, null)
}

/** Why a subscription was skipped, paused or cancelled by a verb: because the shopper or the merchant asked for it. */
export const reasonOf = (actor: audit.Actor): 'shopper' | 'merchant' =>
  isShopper(actorOf(actor)) ? 'shopper' : 'merchant'

/** Writes a change to the timeline of the origin order and to the audit log, and emits its event. */
export async function record(
  tx: Tx,
  actor: audit.Actor,
  row: SubscriptionRow,
  { data = {}, ...told }: Told & Pick<Done, 'data'>,
): Promise<void> {
  const { verb } = told
  const name = actorOf(actor)
  const { id: subscription_id, subscription_number, origin_order_id, status } = row
  await awaitAll([
    orders.addToTimeline(tx, origin_order_id, {
      type: `subscription_${verb}`,
      actor: name,
      data: { subscription_id, subscription_number, ...data },
    }),
    // Actions of shoppers are in the timeline only.
    !isShopper(name) &&
      audit.record(tx, actor, {
        action: `subscription.${verb}`,
        entity: `subscription:${subscription_id}`,
        after: { status, ...data },
      }),
    emit(tx, actor, row, told),
  ])
}

function emit(tx: Tx, actor: audit.Actor, row: SubscriptionRow, { verb, event }: Told) {
  const standing = standingOf(row)
  return event === undefined
    ? subscriptionUpdated.emit(tx, row, { ...standing, change: verb })
    : event.emit(tx, row, { ...standing, reason: reasonOf(actor) })
}
