import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { Id } from '../../kernel/schema.ts'
import type { Progress } from './adapters/schema.ts'
import { type BoughtLabel, LabelRow } from './schema.ts'

const columns = sql`
  id, fulfillment_id, order_id, carrier, service, status, refusal, tracking_number, tracking_url,
  cost_cents, currency, weight_grams, progress, progress_at, created_at, bought_at, voided_at, voids_refused,
  unused, updated_at, created_by`

/** The label of a parcel that is not voided or refused; there is at most one. */
export const findCurrent = (db: Db, fulfillment_id: string) =>
  db.maybe(
    LabelRow,
    sql`
    select ${columns}
      from carrier_labels
     where tenant_ref = ${db.tenant} and fulfillment_id = ${fulfillment_id}
       and status in ('buying', 'bought', 'voiding')`,
  )

export const findLabel = (db: Db, id: string) =>
  db.maybe(
    LabelRow,
    sql`select ${columns} from carrier_labels where tenant_ref = ${db.tenant} and id = ${id}`,
  )

export type NewLabelRow = Pick<
  LabelRow,
  | 'id'
  | 'fulfillment_id'
  | 'order_id'
  | 'carrier'
  | 'service'
  | 'currency'
  | 'weight_grams'
  | 'created_by'
>

export const insertLabel = (tx: Tx, label: NewLabelRow) =>
  tx.one(
    LabelRow,
    sql`
    insert into carrier_labels (tenant_ref, id, fulfillment_id, order_id, carrier, service,
                                currency, weight_grams, created_by)
    values (${tx.tenant}, ${label.id}, ${label.fulfillment_id}, ${label.order_id},
            ${label.carrier}, ${label.service}, ${label.currency}, ${label.weight_grams},
            ${label.created_by})
    returning ${columns}`,
  )

/** Marks a label as unused by its parcel. */
export const markUnused = (tx: Tx, id: string) =>
  tx.run(sql`
    update carrier_labels set unused = true, updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and id = ${id}`)

/**
 * Writes the label that the carrier has sold, and whether its parcel is unused by now. Returns null if that was written
 * before, or the label was given up.
 */
export const markBought = (tx: Tx, id: string, sold: BoughtLabel, unused: boolean) =>
  tx.maybe(
    LabelRow,
    sql`
    update carrier_labels
       set status = 'bought', unused = ${unused}, tracking_number = ${sold.tracking_number},
           tracking_url = ${sold.tracking_url}, cost_cents = ${sold.cost_cents},
           currency = ${sold.currency}, bought_at = fd_now(), updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and id = ${id} and status = 'buying'
    returning ${columns}`,
  )

export const markRefused = (tx: Tx, id: string, refusal: string) =>
  tx.run(sql`
    update carrier_labels set status = 'refused', refusal = ${refusal}, updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and id = ${id} and status = 'buying'`)

export const markVoiding = (tx: Tx, id: string) =>
  tx.one(
    LabelRow,
    sql`
    update carrier_labels set status = 'voiding', updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and id = ${id} and status = 'bought'
    returning ${columns}`,
  )

export const markVoided = (tx: Tx, id: string) =>
  tx.one(
    LabelRow,
    sql`
    update carrier_labels set status = 'voided', voided_at = fd_now(), updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and id = ${id} and status = 'voiding'
    returning ${columns}`,
  )

/** Marks a label as bought again, because the carrier has not voided it. */
export const keepBought = (tx: Tx, id: string) =>
  tx.run(sql`
    update carrier_labels
       set status = 'bought', voids_refused = voids_refused + 1, updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and id = ${id} and status = 'voiding'`)

/** Writes the progress of a parcel. Returns 0 if it is not further than before. */
export const writeProgress = (tx: Tx, id: string, progress: Progress, at: string) =>
  tx.run(sql`
    update carrier_labels
       set progress = ${progress}, progress_at = ${at}, updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and id = ${id}
       and (progress is null or (progress = 'in_transit' and ${progress}::text <> 'in_transit'))`)

/**
 * Erases the tracking numbers and links of orders: a carrier shows name and address under them. Returns the
 * labels.
 */
export const eraseTracking = (tx: Tx, order_ids: readonly string[]) =>
  tx.many(
    Type.Object({ id: Id }),
    sql`
    update carrier_labels
       set tracking_number = null, tracking_url = null, updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and order_id = any (${order_ids}::uuid[])
    returning id`,
  )
