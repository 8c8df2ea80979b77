import type { Db, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import * as fulfillment from '../fulfillment/service.ts'
import type { LabelOfParcel } from '../order-changes/correct-schema.ts'
import type { OrderRow } from '../orders/schema.ts'
import * as orders from '../orders/service.ts'
import * as queries from './queries.ts'
import type { LabelRow } from './schema.ts'
import { showsNumber } from './service.ts'
import { publishUnused } from './void-label.ts'

/** Labels of an order for an address that is being corrected. */

interface Found extends LabelOfParcel {
  label: LabelRow
}

/** The labels of parcels that have not left, without those that are being voided. */
async function findLabels(db: Db, order_id: string): Promise<Found[]> {
  const parcels = await fulfillment.listOfOrder(db, order_id)
  const found: Found[] = []
  for (const { id: fulfillment_id, status, fulfillment_number } of parcels) {
    const label = status === 'pending' ? await queries.findCurrent(db, fulfillment_id) : null
    if (label === null || label.unused || label.status === 'voiding') continue
    const { tracking_number } = label
    found.push({ fulfillment_id, fulfillment_number, tracking_number, label })
  }
  return found
}

const shown = ({ label: _, ...parcel }: Found): LabelOfParcel => parcel

export const listLabels = async (db: Db, order_id: string): Promise<LabelOfParcel[]> =>
  (await findLabels(db, order_id)).map(shown)

/**
 * Refuses to correct the address of parcels with labels, unless the merchant agrees to void them: the worker then does.
 * Their numbers leave the parcels at once, so that none is shipped with an old label.
 */
export async function giveUpLabels(
  tx: Tx,
  order: OrderRow,
  { isAllowed }: { isAllowed: boolean },
): Promise<void> {
  const found = await findLabels(tx, order.id)
  // The carrier has not said yet whether there is a label.
  if (found.some(({ label }) => label.status === 'buying')) throw orders.busy()
  if (found.length > 0 && !isAllowed) {
    throw new ApiError('labels_bought', { body: { labels: found.map(shown) } })
  }
  for (const { label, fulfillment_id } of found) {
    const locked = await fulfillment.lockParcel(tx, fulfillment_id)
    await queries.markUnused(tx, label.id)
    if (showsNumber(locked.parcel, label)) {
      const none = { carrier: null, service: null, tracking_number: null, tracking_url: null }
      await fulfillment.setTracking(tx, locked, none)
    }
    await publishUnused(tx, label)
  }
}
