import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { Id } from '../../kernel/schema.ts'
import {
  type DatedSubscription,
  type Origin,
  StartedSubscription,
  SubscriptionOfOrder,
} from './schema.ts'

export const insertSubscriptions = (
  tx: Tx,
  origin: Origin,
  requested: readonly DatedSubscription[],
) =>
  tx.many(
    StartedSubscription,
    sql`
    insert into subscriptions (tenant_ref, id, customer_ref, person_id, product_id, variant_id,
                               quantity, interval, interval_count, unit_price_cents, currency,
                               origin_order_id, anchor_day, current_period_start, next_charge_at,
                               vault_id, initial_txn_id, card_brand, card_last4, ship_to)
    select ${tx.tenant}, s.id, ${origin.customer_ref}, ${origin.person_id}, s.product_id,
           s.variant_id, s.quantity, s.interval, s.interval_count, s.unit_price_cents,
           ${origin.currency}, ${origin.order_id}, s.anchor_day, ${origin.at}, s.next_charge_at,
           ${origin.vault_id}, ${origin.initial_txn_id}, ${origin.card?.brand ?? null},
           ${origin.card?.last4 ?? null},
           ${origin.ship_to === null ? null : JSON.stringify(origin.ship_to)}
      from jsonb_to_recordset(${JSON.stringify(requested)})
           as s (id uuid, product_id uuid, variant_id uuid, quantity int, interval text,
                 interval_count int, unit_price_cents bigint, anchor_day int,
                 next_charge_at timestamptz)
    returning id, product_id, variant_id, interval, interval_count, next_charge_at`,
  )

export const listOfOrder = (db: Db, order_id: string) =>
  db.many(
    SubscriptionOfOrder,
    sql`
    select id, variant_id, status, next_charge_at
      from subscriptions
     where tenant_ref = ${db.tenant} and origin_order_id = ${order_id}
     order by created_at, id`,
  )

export const cancelOfOrder = (tx: Tx, order_id: string) =>
  tx.many(
    Type.Object({ id: Id, product_id: Id, variant_id: Id, customer_ref: Type.String() }),
    sql`
    update subscriptions set status = 'cancelled', next_charge_at = null, updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and origin_order_id = ${order_id}
       and status in ('active', 'paused', 'past_due')
    returning id, product_id, variant_id, customer_ref`,
  )
