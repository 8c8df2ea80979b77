import { type Static, Type } from 'typebox'
import type { TenantDb, Tx } from '../../db/database.ts'
import type { ErrorCode } from '../../error-codes.ts'
import { ApiError } from '../../errors.ts'
import { Id } from '../../kernel/schema.ts'
import { sha256 } from '../../kernel/tokens.ts'
import * as audit from '../../platform/audit.ts'
import * as idempotency from '../../platform/idempotency.ts'
import { inProgress, run, type SentAnswer } from '../../platform/idempotency-run.ts'
import * as outbox from '../../platform/outbox.ts'
import * as fulfillment from '../fulfillment/service.ts'
import * as orders from '../orders/service.ts'
import type { VoidResult } from './adapters/carrier.ts'
import { refuse } from './errors.ts'
import * as queries from './queries.ts'
import type { LabelRow } from './schema.ts'
import {
  getLabel,
  type LabelDeps,
  lookUpLater,
  shownLabel,
  showsNumber,
  unconfirmed,
} from './service.ts'

/**
 * Voids a label: begin (transaction), ask (network), end (transaction), as a label is bought. Its key is made
 * of the label, and no caller can send it because of its spaces: so the label is voided once, however many
 * callers ask, and the reconciler resumes it (decision 0036).
 */
export const VOID = 'label_void'
const VOIDING = 'voiding'

/** Refusals that may pass: they free the key. */
const PASSING = ['invalid_transition', 'label_not_found', 'order_busy'] as const

/** Voids the label of a parcel that has not left. */
export async function voidLabel(
  deps: LabelDeps,
  db: TenantDb,
  actor: audit.Actor,
  fulfillment_id: string,
): Promise<SentAnswer> {
  const label = await getLabel(db, fulfillment_id)
  return runVoid(deps, db, { actor, label })
}

/** An event of the outbox: a carrier sold a label when its parcel had left or was cancelled. */
export const LABEL_UNUSED = {
  type: 'label.unused.v1',
  payload: Type.Object({ label_id: Id }),
} satisfies outbox.Topic

export type LabelUnused = Static<typeof LABEL_UNUSED.payload>

/** Leaves a label to the worker, which voids it: so a process that stops after the commit leaves no unused label. */
export const publishUnused = (tx: Tx, { id }: LabelRow) =>
  outbox.publish(tx, LABEL_UNUSED, { label_id: id })

/** Voids a label that its parcel does not need. */
export async function voidUnused(
  deps: LabelDeps,
  db: TenantDb,
  { label_id }: LabelUnused,
): Promise<void> {
  const label = await queries.findLabel(db, label_id)
  if (label?.status === 'bought') await startVoid(deps, db, label)
}

/**
 * Voids the label of a parcel that was cancelled. A label that is being bought is left to its buyer, who finds the
 * parcel cancelled; a label that the carrier does not void stays bought, and the timeline says so.
 */
export async function voidOfCancelled(
  deps: LabelDeps,
  db: TenantDb,
  { fulfillment_id }: fulfillment.ParcelCancelled,
): Promise<void> {
  const label = await queries.findCurrent(db, fulfillment_id)
  if (label?.status === 'bought') await startVoid(deps, db, label)
}

/**
 * Refusals after which no void is begun: the label was voided, its parcel has left, or the reconciler has the
 * key.
 */
const SETTLED: readonly ErrorCode[] = [
  'label_not_found',
  'invalid_transition',
  'carrier_unconfirmed',
]

/**
 * Voids a label in the background. A refusal that is not in `SETTLED` is thrown, so that the outbox tries
 * again: the process that has the key may have stopped before it began.
 */
async function startVoid(deps: LabelDeps, db: TenantDb, label: LabelRow): Promise<void> {
  await runVoid(deps, db, { actor: audit.SYSTEM, label, waitMs: 0 }).catch((error: unknown) => {
    if (!(error instanceof ApiError && SETTLED.includes(error.code))) throw error
  })
}

interface Voiding {
  actor: audit.Actor
  label: LabelRow
  /** How long to wait for another process that voids it. Absent: as long as a request waits. */
  waitMs?: number
}

function runVoid(deps: LabelDeps, db: TenantDb, { actor, label, waitMs }: Voiding) {
  const key = `void ${label.id} ${label.voids_refused}`
  const wait = waitMs === undefined ? {} : { waitMs }
  const request = { operation: VOID, key, fingerprint: sha256(key), passing: PASSING, ...wait }
  return run(db, request, async (claim) => {
    if (claim.recoveryPoint === VOIDING) return resumeVoid(deps, db, claim)
    const { held, voiding } = await begin(db, actor, claim, label.id)
    await deps.at?.('void-begun')
    const result = await ask(deps, db, held, voiding)
    if (result !== 'unknown') return finish(deps, db, held, result)
    await lookUpLater(db, held, voiding)
    throw unconfirmed()
  })
}

/**
 * Voids at the carrier, unless another process has claimed the key: that process may have written that the
 * label is good.
 */
async function ask(
  { carriers }: LabelDeps,
  db: TenantDb,
  claim: idempotency.WonClaim,
  label: LabelRow,
): Promise<VoidResult> {
  await idempotency.renew(db, claim)
  return carriers.open(db, label.carrier).void(label.id)
}

/**
 * Removes the label from its parcel, so that no parcel is shipped with a number that the carrier is about to
 * void.
 */
function begin(db: TenantDb, actor: audit.Actor, claim: idempotency.WonClaim, id: string) {
  return db.transaction('label: begin void', async (tx) => {
    const { locked, label } = await lockLabel(tx, id)
    // The carrier has not said yet whether there is a label.
    if (label.status === 'buying') throw orders.busy()
    if (label.status !== 'bought') throw refuse('label_not_found')
    const { status } = locked.parcel
    const isOnParcel = showsNumber(locked.parcel, label)
    // The carrier decides whether the label of a recalled parcel can be voided.
    const hasLeft = status === 'shipped' || status === 'delivered'
    if (hasLeft && (isOnParcel || !label.unused)) {
      throw new ApiError('invalid_transition', { body: { current_status: status, allowed: [] } })
    }
    const voiding = await queries.markVoiding(tx, id)
    if (isOnParcel) {
      const none = { carrier: null, service: null, tracking_number: null, tracking_url: null }
      await fulfillment.setTracking(tx, locked, none)
    }
    await audit.record(tx, actor, {
      action: 'label.void_requested',
      entity: `fulfillment:${label.fulfillment_id}`,
      after: { label_id: id },
    })
    return { held: await idempotency.advance(tx, claim, VOIDING, id), voiding }
  })
}

/** Locks the order of a label's parcel, and with it everything about the parcel. */
async function lockLabel(tx: Tx, id: string) {
  const known = await queries.findLabel(tx, id)
  if (known === null) throw new Error('a label that is voided has a row')
  const locked = await fulfillment.lockParcel(tx, known.fulfillment_id)
  return { locked, label: (await queries.findLabel(tx, id)) as LabelRow }
}

/** Resumes a void from its recovery point: a label can be voided again without harm. */
export async function resumeVoid(
  deps: LabelDeps,
  db: TenantDb,
  claim: idempotency.WonClaim,
): Promise<idempotency.StoredAnswer> {
  const label = await queries.findLabel(db, claim.resourceId ?? '')
  if (label === null) throw new Error('a label that is voided has a row')
  const result = await ask(deps, db, claim, label)
  if (result !== 'unknown') return finish(deps, db, claim, result)
  await lookUpLater(db, claim, label)
  throw inProgress()
}

async function finish(
  { carriers, at }: LabelDeps,
  db: TenantDb,
  claim: idempotency.WonClaim,
  result: Exclude<VoidResult, 'unknown'>,
): Promise<idempotency.StoredAnswer> {
  await at?.('void-answered')
  return db.transaction('label: end void', async (tx) => {
    const { locked, label } = await lockLabel(tx, claim.resourceId ?? '')
    if (result === 'voided') {
      const voided = await queries.markVoided(tx, label.id)
      await recordEnd(tx, 'label_voided', voided)
      const body = JSON.stringify({ label: shownLabel(voided) })
      return idempotency.finish(tx, claim, 200, body)
    }
    await queries.keepBought(tx, label.id)
    const { status, tracking_number } = locked.parcel
    // The label is valid as before, unless the parcel has another number by now.
    if (!label.unused && status !== 'delivered' && tracking_number === null) {
      await fulfillment.setTracking(tx, locked, {
        carrier: carriers.open(tx, label.carrier).title,
        service: label.service,
        tracking_number: label.tracking_number,
        tracking_url: label.tracking_url,
      })
    }
    await recordEnd(tx, 'label_not_voided', label)
    return idempotency.refuse(tx, claim, refuse('label_not_voidable'))
  })
}

/** Records in the timeline whether a label still costs money. */
async function recordEnd(
  tx: Tx,
  type: 'label_voided' | 'label_not_voided',
  label: LabelRow,
): Promise<void> {
  const { id: label_id, fulfillment_id, cost_cents, currency } = label
  await orders.addToTimeline(tx, label.order_id, {
    type,
    actor: audit.SYSTEM.name,
    data: { label_id, fulfillment_id, cost_cents, currency },
  })
}
