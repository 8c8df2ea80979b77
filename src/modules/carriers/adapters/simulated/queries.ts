import { type Static, Type } from 'typebox'
import type { Db, Tx } from '../../../../db/database.ts'
import { sql } from '../../../../db/sql.ts'
import { Cents, Id, Nullable, Timestamp } from '../../../../kernel/schema.ts'
import type { CarrierEvent, CarrierParcel } from '../schema.ts'

/** The statements of the simulated carrier, which uses its own table and none of the platform's. */

export const SimShipment = Type.Object({
  ref: Id,
  service: Type.String(),
  tracking_number: Type.String(),
  cost_cents: Cents,
  currency: Type.String(),
  shipment: Nullable(Type.Unsafe<CarrierParcel>({})),
  state: Type.Enum(['bought', 'in_transit', 'delivered', 'returned', 'voided']),
  state_at: Timestamp,
})
export type SimShipment = Static<typeof SimShipment>

const columns = sql`ref, service, tracking_number, cost_cents, currency, shipment, state, state_at`

export const findShipment = (db: Db, ref: string) =>
  db.maybe(
    SimShipment,
    sql`select ${columns} from sim_shipments where tenant_ref = ${db.tenant} and ref = ${ref}`,
  )

export type NewShipment = Pick<
  SimShipment,
  'ref' | 'service' | 'tracking_number' | 'cost_cents' | 'currency'
> & { shipment: CarrierParcel }

/** Writes a shipment down, once for each reference. */
export const insertShipment = (db: Db, each: NewShipment) =>
  db.run(sql`
    insert into sim_shipments (tenant_ref, ref, service, tracking_number, cost_cents, currency,
                               shipment)
    values (${db.tenant}, ${each.ref}, ${each.service}, ${each.tracking_number},
            ${each.cost_cents}, ${each.currency}, ${JSON.stringify(each.shipment)}::jsonb)
        on conflict do nothing`)

/** Voids a label that was not used. Returns 1 if it is void now, and 0 otherwise. */
export const voidShipment = (db: Db, ref: string) =>
  db.run(sql`
    update sim_shipments
       set state = 'voided',
           state_at = case when state = 'voided' then state_at else fd_now() end
     where tenant_ref = ${db.tenant} and ref = ${ref} and state in ('bought', 'voided')`)

/** Moves a parcel on, and never back: the first end stays. */
export const moveShipment = (db: Db, { ref, progress, at }: CarrierEvent) =>
  db.run(sql`
    update sim_shipments
       set state = ${progress}, state_at = ${at}
     where tenant_ref = ${db.tenant} and ref = ${ref}
       and (state = 'bought' or (state = 'in_transit' and ${progress}::text <> 'in_transit'))`)

export const eraseShipments = (tx: Tx, refs: readonly string[]) =>
  tx.run(sql`
    update sim_shipments set shipment = null
     where tenant_ref = ${tx.tenant} and ref = any (${refs}::uuid[])`)
