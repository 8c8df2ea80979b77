import { awaitAll } from '../../db/await-all.ts'
import type { TenantDb, Tx } from '../../db/database.ts'
import { isoNow } from '../../kernel/clock.ts'
import type * as audit from '../../platform/audit.ts'
import * as fulfillment from '../fulfillment/service.ts'
import * as orders from '../orders/service.ts'
import type { Outcome, WebhookReceived } from '../provider-events/schema.ts'
import * as providerEvents from '../provider-events/service.ts'
import type { CarrierAdapter } from './adapters/adapter.ts'
import { ADAPTERS } from './adapters/all.ts'
import type { TrackRecord } from './adapters/carrier.ts'
import type { Progress } from './adapters/schema.ts'
import * as queries from './queries.ts'
import type { LabelRow } from './schema.ts'
import type { LabelDeps } from './service.ts'

const findAdapter = ({ provider }: WebhookReceived): CarrierAdapter | undefined =>
  ADAPTERS.find((each) => each.provider === provider)

export const isOfCarrier = (event: WebhookReceived): boolean => findAdapter(event) !== undefined

/**
 * Acts on a carrier's event. An event is only a reason to track the parcel: events come twice, late and in any order,
 * while the carrier's own record is true now. An unchanged record changes nothing.
 */
export async function onCarrierEvent(
  deps: LabelDeps,
  db: TenantDb,
  event: WebhookReceived,
): Promise<void> {
  const body = await providerEvents.readEventBody(db, event)
  const adapter = findAdapter(event)
  if (body === null || adapter === undefined) return
  await providerEvents.recordOutcome(db, event, await act(deps, db, adapter, body))
}

async function act(
  { carriers }: LabelDeps,
  db: TenantDb,
  { name, readEvent }: CarrierAdapter,
  body: Readonly<Record<string, unknown>>,
): Promise<Outcome> {
  const event = readEvent(body)
  if (event === null) return { status: 'ignored', reason: 'other_type' }
  const label = await queries.findLabel(db, event.ref)
  if (label?.carrier !== name) return { status: 'ignored', reason: 'no_parcel_of_ours' }
  const carrier = carriers.open(db, name)
  await carrier.receive(event)
  const record = await carrier.track(label.id)
  // Thrown, so that the event is handled again later.
  if (record.found === 'unreachable') throw new Error('the carrier did not answer about a parcel')
  const isNew = await follow(db, label, record)
  return isNew
    ? { status: 'applied', reason: 'parcel_followed' }
    : { status: 'ignored', reason: 'nothing_new' }
}

/** Writes the carrier's record of a parcel. Returns false if it is known already. */
function follow(db: TenantDb, label: LabelRow, record: TrackRecord): Promise<boolean> {
  return db.transaction('label: follow', async (tx) => {
    if (record.found !== 'yes' || record.progress === null) return false
    const locked = await fulfillment.lockParcel(tx, label.fulfillment_id)
    const { progress } = record
    // The merchant has already marked the parcel as delivered.
    if (progress === 'in_transit' && locked.parcel.status === 'delivered') return false
    const at = timeOf(tx, locked, record.at)
    if ((await queries.writeProgress(tx, label.id, progress, at)) === 0) return false
    const actor = { name: `carrier:${label.carrier}`, correlationId: null }
    await note(tx, actor, { locked, label, progress })
    if (progress === 'delivered' && locked.parcel.status === 'shipped') {
      await fulfillment.deliverLocked(tx, actor, locked, at)
    }
    return true
  })
}

/**
 * Returns the time of an event, but never one before the parcel was shipped, or in the future: a carrier's
 * clock may be wrong.
 */
function timeOf(tx: Tx, { parcel }: fulfillment.LockedParcel, at: string): string {
  const earliest = parcel.shipped_at ?? parcel.created_at
  const times = [at, earliest].map((each) => Date.parse(each))
  return new Date(Math.min(Math.max(...times), Date.parse(isoNow(tx.clock)))).toISOString()
}

interface Followed {
  locked: fulfillment.LockedParcel
  label: LabelRow
  progress: Progress
}

/**
 * Notes a carrier's report that the parcel's own status does not show: an entry of the timeline, and an alert if a
 * person has to look. Returned goods are on hand when the merchant recalls the parcel.
 */
async function note(tx: Tx, actor: audit.Actor, { locked, label, progress }: Followed) {
  const { status, fulfillment_number } = locked.parcel
  const alert = alertOf(progress, status)
  const data = { fulfillment_id: label.fulfillment_id, fulfillment_number, label_id: label.id }
  const entries = [
    // A delivery writes its own entry.
    ...(progress === 'delivered' && alert === null ? [] : [{ type: `carrier_${progress}`, data }]),
    ...(alert === null ? [] : [{ type: 'carrier_alert', data: { ...data, alert } }]),
  ]
  await awaitAll(
    entries.map((entry) =>
      orders.addToTimeline(tx, label.order_id, { ...entry, actor: actor.name }),
    ),
  )
}

function alertOf(progress: Progress, status: fulfillment.LockedParcel['parcel']['status']) {
  if (progress === 'returned') return 'returned_to_sender'
  if (status === 'cancelled') return `${progress}_after_recall`
  return status === 'pending' ? `${progress}_before_shipping` : null
}
