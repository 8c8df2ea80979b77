import type { Db } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import * as idempotency from '../../platform/idempotency.ts'
import { readStore } from '../documents/service.ts'
import * as fulfillment from '../fulfillment/service.ts'
import { nextAttemptSeconds } from '../operations/service.ts'
import type { OrderRow } from '../orders/schema.ts'
import * as orders from '../orders/service.ts'
import { deliveryAddress } from '../orders/ship-to.ts'
import type { CarrierDeps } from './adapters/adapter.ts'
import { adapterOf, CARRIER_NAMES } from './adapters/all.ts'
import { boundedCarrier, type Carrier } from './adapters/carrier.ts'
import type { CarrierParcel } from './adapters/schema.ts'
import { refuse } from './errors.ts'
import * as queries from './queries.ts'
import {
  type CarrierName,
  DEFAULT_WEIGHT_GRAMS,
  type LabelRow,
  type ShippingLabel,
  type ShippingRate,
} from './schema.ts'

/** The carriers that sell labels. */
export interface Carriers {
  /** A carrier, for one store. */
  open(db: Db, name: CarrierName): Carrier
}

/** How long a caller waits for a carrier, which responds within seconds. */
const DEADLINE_MS = 10_000
const PRINT_DEADLINE_MS = 60_000

export function openCarriers({
  onFault,
  ...deps
}: CarrierDeps & { onFault: (error: unknown) => void }): Carriers {
  const opened = new Map<CarrierName, (tenant: string) => Carrier>()
  const bounds = { deadlineMs: DEADLINE_MS, printDeadlineMs: PRINT_DEADLINE_MS, onFault }
  return {
    open({ tenant }, name) {
      const carrierOf = opened.get(name) ?? adapterOf(name).open(deps)
      opened.set(name, carrierOf)
      return boundedCarrier(carrierOf(tenant), bounds)
    },
  }
}

/** What the verbs of labels need. */
export interface LabelDeps {
  carriers: Carriers
  /** Called at each named step. Tests stop an operation there. */
  at?: (point: string) => void | Promise<void>
}

/** A label without the columns that are not shown. */
export const shownLabel = ({
  voids_refused: _refused,
  updated_at: _at,
  created_by: _by,
  ...label
}: LabelRow): ShippingLabel => label

/** A parcel of an order as its carrier needs to know it. */
export async function carrierParcelOf(
  db: Db,
  order: OrderRow,
  { weight_grams, note }: { weight_grams: number; note: string },
): Promise<CarrierParcel> {
  const to = deliveryAddress(order)
  if (to === null) throw refuse('ship_to_missing')
  const { letterhead } = await readStore(db)
  return { from: letterhead.seller, to, weight_grams, currency: order.currency, note }
}

/** Lists what each carrier asks for a parcel of an order. A carrier that does not respond is left out. */
export async function listRates(
  { carriers }: LabelDeps,
  db: Db,
  order_id: string,
  weight_grams = DEFAULT_WEIGHT_GRAMS,
): Promise<ShippingRate[]> {
  const order = await orders.get(db, order_id)
  const shipment = await carrierParcelOf(db, order, { weight_grams, note: '' })
  const asking = CARRIER_NAMES.map(async (name) => {
    const rates = await carriers.open(db, name).rates(shipment)
    return rates?.map((rate) => ({ carrier: name, ...rate })) ?? null
  })
  const answers = (await Promise.all(asking)).filter((rates) => rates !== null)
  if (answers.length === 0) throw unavailable()
  return answers.flat()
}

/** The label of a parcel, also one that is being bought or voided. */
export async function getLabel(db: Db, fulfillment_id: string): Promise<LabelRow> {
  const parcel = await fulfillment.get(db, fulfillment_id)
  const label = await queries.findCurrent(db, parcel.id)
  if (label === null) throw refuse('label_not_found')
  return label
}

/** The label in the carrier's print, by the carrier's own record. */
export async function printLabel(
  { carriers }: LabelDeps,
  db: Db,
  fulfillment_id: string,
): Promise<{ label: LabelRow; bytes: Buffer }> {
  const label = await getLabel(db, fulfillment_id)
  if (label.unused) throw refuse('label_not_found')
  // No parcel should leave with a label that is not confirmed.
  if (label.status !== 'bought') throw unconfirmed()
  const printed = await carriers.open(db, label.carrier).print(label.id)
  if (printed.found !== 'yes') {
    throw printed.found === 'no' ? refuse('label_not_found') : unavailable()
  }
  return { label, bytes: printed.bytes }
}

const unavailable = () =>
  refuse('carrier_unavailable', { headers: { 'retry-after': '10' }, kind: 'upstream' })

const foldNumber = (number: string): string => number.replaceAll(/\s/g, '').toUpperCase()

/** Whether a parcel shows the number of a label. Merchants type numbers, so spaces and case do not count. */
export const showsNumber = (
  { tracking_number: shown }: { tracking_number: string | null },
  { tracking_number: own }: { tracking_number: string | null },
): boolean => shown !== null && own !== null && foldNumber(shown) === foldNumber(own)

/** Postpones the lookup of a label whose carrier has not answered, by the ladder of all operations. */
export function lookUpLater(
  db: Db,
  claim: idempotency.WonClaim,
  { updated_at }: LabelRow,
): Promise<void> {
  return idempotency.postpone(
    db,
    claim,
    nextAttemptSeconds(db.clock.now() - Date.parse(updated_at)),
  )
}

/** The refusal while the carrier has not said how a request ended. The first lookup is ten seconds later. */
export const unconfirmed = () =>
  new ApiError('carrier_unconfirmed', { headers: { 'retry-after': '10' }, kind: 'upstream' })
