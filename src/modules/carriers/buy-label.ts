import type { TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { newId } from '../../kernel/id.ts'
import { MINUTE_MS } from '../../kernel/time.ts'
import * as audit from '../../platform/audit.ts'
import * as idempotency from '../../platform/idempotency.ts'
import { inProgress } from '../../platform/idempotency-run.ts'
import * as fulfillment from '../fulfillment/service.ts'
import type { UnpostedOperation } from '../operations/table.ts'
import type { Fulfillment } from '../orders/parcel-schema.ts'
import * as orders from '../orders/service.ts'
import type { BuyResult } from './adapters/carrier.ts'
import type { SoldLabel } from './adapters/schema.ts'
import { refuse } from './errors.ts'
import * as queries from './queries.ts'
import { DEFAULT_WEIGHT_GRAMS, type LabelRow, type NewLabel } from './schema.ts'
import {
  carrierParcelOf,
  type LabelDeps,
  lookUpLater,
  shownLabel,
  showsNumber,
  unconfirmed,
} from './service.ts'
import { publishUnused } from './void-label.ts'

/**
 * Buys a label, in steps like those of an operation that moves money:
 *
 *   begin  (transaction)  writes the label down; its id is our reference at the carrier
 *   ask    (network)      buys it; a resume looks the reference up first
 *   end    (transaction)  writes the outcome to label and parcel, and stores the answer of the key
 *
 * No transaction is open while the carrier is asked. A process that stops leaves the key at its recovery
 * point, from which the same key or the reconciler resumes it (decision 0036).
 */
export const BUY = 'label' satisfies UnpostedOperation
const BUYING = 'buying'

/** How long after its begin a label is still bought that the carrier has no record of. */
const STILL_WANTED_MS = 15 * MINUTE_MS

interface Caller {
  actor: audit.Actor
  claim: idempotency.WonClaim
}

export async function buyLabel(
  deps: LabelDeps,
  db: TenantDb,
  caller: Caller,
  request: NewLabel & { fulfillment_id: string },
): Promise<idempotency.StoredAnswer> {
  if (caller.claim.recoveryPoint === BUYING) return resumeBuy(deps, db, caller.claim)
  const { services } = deps.carriers.open(db, request.carrier)
  if (!services.includes(request.service)) {
    throw refuse('unknown_service', { body: { services } })
  }
  const { claim, label } = await begin(db, caller, request)
  await deps.at?.('label-begun')
  const result = await ask(deps, db, claim, label)
  if (result.outcome !== 'unknown') return finish(deps, db, { claim, label }, result)
  await lookUpLater(db, claim, label)
  throw unconfirmed()
}

function begin(
  db: TenantDb,
  { actor, claim }: Caller,
  { fulfillment_id, carrier, service }: NewLabel & { fulfillment_id: string },
) {
  return db.transaction('label: begin', async (tx) => {
    const { parcel, order } = await fulfillment.lockParcel(tx, fulfillment_id)
    requirePending(parcel)
    fulfillment.requireOpen(order, 'ship')
    if (order.ship_to === null) throw refuse('ship_to_missing')
    if ((await queries.findCurrent(tx, parcel.id)) !== null) throw refuse('label_exists')
    const label = await queries.insertLabel(tx, {
      id: newId(),
      fulfillment_id: parcel.id,
      order_id: order.id,
      carrier,
      service,
      currency: order.currency,
      weight_grams: parcel.weight_grams ?? DEFAULT_WEIGHT_GRAMS,
      created_by: actor.name,
    })
    return { claim: await idempotency.advance(tx, claim, BUYING, label.id), label }
  })
}

/** Requires a parcel that is packed and has not left. */
function requirePending({ status }: Pick<Fulfillment, 'status'>): void {
  if (status === 'pending') return
  throw new ApiError('invalid_transition', { body: { current_status: status, allowed: [] } })
}

/** Buys the label at the carrier, unless another process has claimed the key. */
async function ask(
  { carriers }: LabelDeps,
  db: TenantDb,
  claim: idempotency.WonClaim,
  label: LabelRow,
): Promise<BuyResult> {
  const [order, parcel] = await Promise.all([
    orders.get(db, label.order_id),
    fulfillment.get(db, label.fulfillment_id),
  ])
  const { weight_grams } = label
  const about = { weight_grams, note: parcel.fulfillment_number }
  const shipment = await carrierParcelOf(db, order, about)
  await idempotency.renew(db, claim)
  return carriers.open(db, label.carrier).buy(label.id, label.service, shipment)
}

/** Resumes the purchase of a label from its recovery point, by the carrier's own record. */
export async function resumeBuy(
  deps: LabelDeps,
  db: TenantDb,
  claim: idempotency.WonClaim,
): Promise<idempotency.StoredAnswer> {
  const label = await queries.findLabel(db, claim.resourceId ?? '')
  if (label === null) throw new Error('a label that is being bought has a row')
  const result = await recall(deps, db, claim, label)
  if (result.outcome !== 'unknown') return finish(deps, db, { claim, label }, result)
  await lookUpLater(db, claim, label)
  throw inProgress()
}

async function recall(
  deps: LabelDeps,
  db: TenantDb,
  claim: idempotency.WonClaim,
  label: LabelRow,
): Promise<BuyResult> {
  const record = await deps.carriers.open(db, label.carrier).track(label.id)
  if (record.found === 'yes') {
    return record.is_voided
      ? { outcome: 'refused', reason: 'the label was voided at the carrier' }
      : { outcome: 'bought', label: record.label }
  }
  if (record.found === 'unreachable') return { outcome: 'unknown' }
  const isLate = db.clock.now() - Date.parse(label.created_at) > STILL_WANTED_MS
  if (isLate) return { outcome: 'refused', reason: 'the carrier did not answer in time' }
  const { status } = await fulfillment.get(db, label.fulfillment_id)
  // A parcel that has left needs no label; a label that is still being sold is found by the next lookup.
  return status === 'pending' ? ask(deps, db, claim, label) : { outcome: 'unknown' }
}

interface Bought {
  claim: idempotency.WonClaim
  label: LabelRow
}

async function finish(
  deps: LabelDeps,
  db: TenantDb,
  { claim, label }: Bought,
  result: Exclude<BuyResult, { outcome: 'unknown' }>,
): Promise<idempotency.StoredAnswer> {
  await deps.at?.('label-answered')
  return db.transaction('label: end', (tx) =>
    result.outcome === 'bought'
      ? endBought(tx, deps, { claim, label }, result.label)
      : endRefused(tx, { claim, label }, result.reason),
  )
}

/**
 * Whether a parcel has the label: it is packed and waits for one, or it left with the number of the label, which a
 * merchant may have typed. The numbers of an order that was erased are gone: its parcel has the label if it left.
 */
function hasLabel({ parcel, order }: fulfillment.LockedParcel, sold: SoldLabel): boolean {
  if (parcel.status === 'pending') return true
  const hasLeft = parcel.shipped_at !== null && parcel.cancel_reason !== 'error'
  return hasLeft && (isErased(order) || showsNumber(parcel, sold))
}

/** A label is bought for an address, which only an erasure removes. */
const isErased = ({ ship_to }: fulfillment.LockedParcel['order']): boolean => ship_to === null

async function endRefused(tx: Tx, { claim, label }: Bought, reason: string) {
  await queries.markRefused(tx, label.id, reason)
  return idempotency.refuse(tx, claim, refuse('label_refused', { body: { reason } }))
}

async function endBought(
  tx: Tx,
  { carriers }: LabelDeps,
  { claim, label: { id, fulfillment_id } }: Bought,
  sold: SoldLabel,
) {
  const locked = await fulfillment.lockParcel(tx, fulfillment_id)
  const { status } = locked.parcel
  const known = isErased(locked.order)
    ? { ...sold, tracking_number: null, tracking_url: null }
    : sold
  const label = await queries.markBought(tx, id, known, !hasLabel(locked, sold))
  if (label === null) throw new Error('a label that is being bought has ended before')
  await record(tx, label)
  if (label.unused) {
    await publishUnused(tx, label)
    const body = { current_status: status, allowed: [] }
    return idempotency.refuse(tx, claim, new ApiError('invalid_transition', { body }))
  }
  const shown = await fulfillment.setTracking(tx, locked, {
    carrier: carriers.open(tx, label.carrier).title,
    service: label.service,
    tracking_number: label.tracking_number,
    tracking_url: label.tracking_url,
  })
  const body = JSON.stringify({ fulfillment: shown, label: shownLabel(label) })
  return idempotency.finish(tx, claim, 201, body)
}

async function record(tx: Tx, label: LabelRow): Promise<void> {
  const { id, order_id, fulfillment_id, carrier, service, cost_cents, currency } = label
  const data = { label_id: id, fulfillment_id, carrier, service, cost_cents, currency }
  const actor = { name: label.created_by, correlationId: null }
  await orders.addToTimeline(tx, order_id, { type: 'label_bought', actor: actor.name, data })
  await audit.record(tx, actor, {
    action: 'label.bought',
    entity: `fulfillment:${fulfillment_id}`,
    after: data,
  })
}
