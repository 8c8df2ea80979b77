import { awaitAll } from '../../db/await-all.ts'
import type { Db, TenantDb, Tx } from '../../db/database.ts'
import type { ErrorCode } from '../../error-codes.ts'
import { ApiError } from '../../errors.ts'
import { isUuid } from '../../kernel/schema.ts'
import { HOUR_SECONDS } from '../../kernel/time.ts'
import { sha256 } from '../../kernel/tokens.ts'
import * as audit from '../../platform/audit.ts'
import { STARTED, type StoredAnswer } from '../../platform/idempotency.ts'
import { run } from '../../platform/idempotency-run.ts'
import { renewalOperation } from '../checkout/place-money.ts'
import type { PlaceRequest } from '../checkout/reserve-money.ts'
import type { CheckoutDeps } from '../checkout/service.ts'
import type { Caller } from '../operations/schema.ts'
import type { GatewayName } from '../payments/schema.ts'
import {
  type DueSubscription,
  type EndReason,
  StaleSubscriptionError,
} from '../subscriptions/cycle-schema.ts'
import * as cycles from '../subscriptions/cycles.ts'
import { subscriptionSkipped } from '../subscriptions/events.ts'
import { limitsOf } from './decline-rules.ts'
import { refuse } from './errors.ts'
import { retryTime, stop } from './outcome.ts'
import { hasUsableCard } from './plan-step.ts'
import { keptBy, requestOf } from './price.ts'

/**
 * Charges a cycle of a subscription, as a checkout without a shopper: its reservation, payment and settlement are those
 * of `checkout/place-money.ts`. The key of the order names subscription, cycle and attempt, so that none has two
 * (decision 0043).
 */

/** Thrown if the networks allow no attempt with this card before the time `until`. */
class TooManyAttemptsError extends Error {
  readonly until: string
  constructor(until: string) {
    super('the card was declined too often')
    this.until = until
  }
}

/** The key of a cycle's order. Each attempt after a decline has its own. */
const keyOf = ({ id, charge_cycle, next_cycle, attempt_count }: DueSubscription): string => {
  const tried = charge_cycle === next_cycle ? attempt_count : 0
  return `sub:${id}:${charge_cycle}${tried === 0 ? '' : `:${tried}`}`
}

function placingOf(subscription: DueSubscription): PlaceRequest {
  const { id, version, charge_cycle: cycle, next_cycle: from, gateway, vault_id } = subscription
  const { card_brand: brand, card_last4: last4, card_fingerprint: fingerprint } = subscription
  const card = { brand, last4, fingerprint }
  return {
    request: requestOf(subscription),
    // An empty id still marks the charge as one that the merchant makes without the shopper.
    source: { vault_id: vault_id ?? '', initial_txn_id: subscription.initial_txn_id ?? '' },
    renewal: {
      subscription_id: id,
      cycle,
      key: keyOf(subscription),
      kept: keptBy(subscription),
      currency: subscription.currency,
      gateway: gateway as GatewayName,
      card,
      isBackordered: subscription.on_out_of_stock === 'backorder',
      async begin(tx, { order_id, total_cents }) {
        await awaitAll([
          cycles.beginCycle(tx, { id, version, cycle, order_id, from }),
          requireAttemptsLeft(tx, subscription, total_cents),
        ])
      },
    },
  }
}

/** Requires that the limits of the card's network allow an attempt, over all subscriptions of the store. */
async function requireAttemptsLeft(tx: Tx, subscription: DueSubscription, amount_cents: number) {
  const { card_fingerprint, vault_id, card_brand, currency } = subscription
  const charge = { card: card_fingerprint ?? vault_id ?? '', amount_cents, currency }
  const times = await awaitAll(
    limitsOf(card_brand).map((limit) => cycles.findFreeTime(tx, charge, limit)),
  )
  const until = times
    .filter((at) => at !== null)
    .toSorted()
    .at(-1)
  if (until !== undefined) throw new TooManyAttemptsError(until)
}

/** Codes of an outcome that the reconciler finds later, or that another process has. */
const NOT_ENDED: readonly ErrorCode[] = ['payment_unconfirmed', 'idempotency_in_progress']

/** Charges the cycle that is due. If it cannot be charged, the reason is recorded, so that it is not due for ever. */
export async function chargeDue(
  deps: CheckoutDeps,
  db: TenantDb,
  subscription: DueSubscription,
): Promise<void> {
  const key = keyOf(subscription)
  const claim = {
    operation: 'renewal',
    key,
    fingerprint: sha256(key),
    passing: 'all' as const,
    waitMs: 0,
  }
  try {
    await run(db, claim, (held) =>
      renewalOperation.run(deps, db, { actor: audit.SYSTEM, claim: held }, placingOf(subscription)),
    )
  } catch (error) {
    if (error instanceof TooManyAttemptsError) return postpone(db, subscription, error.until)
    if (!(error instanceof ApiError)) throw error
    if (NOT_ENDED.includes(error.code)) return
    await onRefusal(deps, db, subscription, error.code)
  }
}

const postpone = (db: TenantDb, subscription: DueSubscription, when: number | string) =>
  db.transaction('renewals: postpone', (tx) => cycles.postpone(tx, subscription, when))

/**
 * Refusals that pause a subscription, because it can no longer be sold as before: only its merchant
 * can decide what happens to it.
 */
const PAUSES: Partial<Record<ErrorCode, EndReason>> = {
  variant_not_found: 'not_sellable',
  currency_mismatch: 'currency_changed',
  country_not_served: 'country_not_served',
  fraud_rejected: 'banned',
}

/** A renewal that was refused before anything was charged. */
async function onRefusal(
  deps: CheckoutDeps,
  db: TenantDb,
  subscription: DueSubscription,
  code: ErrorCode,
): Promise<void> {
  const reason = PAUSES[code]
  if (reason !== undefined) {
    return db.transaction('renewals: pause', (tx) =>
      stop(tx, subscription, { status: 'paused', reason }),
    )
  }
  if (code === 'insufficient_stock' && subscription.on_out_of_stock === 'skip')
    return skip(db, subscription)
  // The store is suspended, or has no stock: on the next morning this may have changed.
  if (code === 'insufficient_stock' || code === 'unknown_tenant')
    return postponeToMorning(db, subscription)
  if (code !== 'tax_provider_unavailable') {
    const about = { tenant: db.tenant, subscription_id: subscription.id, code }
    deps.onAlert(about, 'a renewal was refused and is tried again in an hour')
  }
  await postpone(db, subscription, HOUR_SECONDS)
}

const skip = (db: TenantDb, subscription: DueSubscription) =>
  db.transaction('renewals: out of stock', async (tx) => {
    const data = { cycle: subscription.charge_cycle, reason: 'out_of_stock' }
    await cycles.tellTimeline(tx, subscription, 'skipped', data)
    await cycles.skipDue(tx, subscription, data.reason)
    await subscriptionSkipped.emit(tx, subscription, data)
  })

const postponeToMorning = (db: TenantDb, subscription: DueSubscription) =>
  db.transaction('renewals: postpone', async (tx) =>
    cycles.postpone(tx, subscription, await retryTime(tx, subscription, { days: 1 })),
  )

const STALE_TRIES = 3

/**
 * Charges the next cycle now, at the merchant's request, or the one that the merchant names. The dates of the cycles
 * after it do not change.
 */
export async function chargeNow(
  deps: CheckoutDeps,
  db: TenantDb,
  caller: Caller,
  { id, cycle }: { id: string; cycle: number | undefined },
): Promise<StoredAnswer> {
  if (caller.claim.recoveryPoint !== STARTED) return renewalOperation.resume(deps, db, caller.claim)
  for (let tries = 1; ; tries++) {
    const subscription = isUuid(id) ? await cycles.findDue(db, id) : null
    if (subscription === null) throw new ApiError('subscription_not_found')
    requireChargeable(subscription)
    await requireCycle(db, subscription, cycle)
    const placing = audited(placingOf(subscription), caller.actor, subscription)
    try {
      return await renewalOperation.run(deps, db, caller, placing)
    } catch (error) {
      if (error instanceof TooManyAttemptsError) throw tooManyAttempts(error)
      if (!(error instanceof StaleSubscriptionError)) throw error
      if (tries === STALE_TRIES) throw new ApiError('charge_in_progress')
    }
  }
}

/** Records which actor has requested a charge, in the transaction that begins it. */
function audited(
  placing: PlaceRequest,
  actor: audit.Actor,
  { id, charge_cycle }: DueSubscription,
): PlaceRequest {
  const { renewal } = placing
  if (renewal === undefined) return placing
  const begin: typeof renewal.begin = async (tx, order) => {
    await renewal.begin(tx, order)
    await audit.record(tx, actor, {
      action: 'subscription.charged',
      entity: `subscription:${id}`,
      after: { cycle: charge_cycle, order_id: order.order_id },
    })
  }
  return { ...placing, renewal: { ...renewal, begin } }
}

const tooManyAttempts = ({ until }: TooManyAttemptsError) =>
  refuse('card_tries_exhausted', { body: { next_attempt_at: until } })

/**
 * Refuses another cycle than the one that is named, and a second one before its date: a customer who is charged ahead
 * twice has paid for what a click was repeated for. A charge that ends meanwhile changes the version of the row.
 */
async function requireCycle(
  db: Db,
  { id, charge_cycle, next_charge_at }: DueSubscription,
  named: number | undefined,
): Promise<void> {
  const isAhead = await cycles.isChargedAhead(db, id)
  if (!isAhead && (named === undefined || named === charge_cycle)) return
  throw refuse('cycle_not_chargeable', {
    body: {
      cycle: named ?? charge_cycle,
      chargeable_cycle: isAhead ? null : charge_cycle,
      next_charge_at,
    },
  })
}

function requireChargeable(subscription: DueSubscription): void {
  const { status, charging_cycle, paid_cycles, max_cycles } = subscription
  if (charging_cycle !== null) throw new ApiError('charge_in_progress')
  const isOver = max_cycles !== null && paid_cycles >= max_cycles
  if ((status !== 'active' && status !== 'past_due') || isOver) {
    throw new ApiError('invalid_transition', { body: { current_status: status, allowed: [] } })
  }
  if (!hasUsableCard(subscription)) throw new ApiError('card_unusable')
}
