import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { Id } from '../../kernel/schema.ts'
import {
  type NewSubscription,
  type Origin,
  StartedSubscription,
  SubscriptionOfOrder,
} from './schema.ts'

/** Writes the subscriptions of an order, and the order as the first cycle of each. */
export const insertSubscriptions = (
  tx: Tx,
  origin: Origin,
  requested: readonly NewSubscription[],
) => {
  const expiry = origin.card !== null && 'exp_year' in origin.card ? origin.card : null
  return tx.many(
    StartedSubscription,
    sql`
    with counted as (
      insert into subscription_counters as c (tenant_ref, last_number)
      values (${tx.tenant}, 1000 + ${requested.length})
          on conflict (tenant_ref) do update set last_number = c.last_number + ${requested.length}
      returning last_number
    ), dated as (
      select s.*, (${origin.at}::timestamptz at time zone ${origin.time_zone})::date as anchor_on
        from rows from (jsonb_to_recordset(${JSON.stringify(requested)})
             as (id uuid, product_id uuid, variant_id uuid, quantity int, interval text,
                 interval_count int, unit_price_cents bigint)) with ordinality
             as s (id, product_id, variant_id, quantity, interval, interval_count,
                   unit_price_cents, position)
    ), started as (
      insert into subscriptions (tenant_ref, id, subscription_number, customer_ref, person_id, email,
                                 product_id, variant_id, quantity, interval, interval_count,
                                 unit_price_cents, currency, pricing, origin_order_id,
                                 last_order_id, anchor_on, current_period_start, next_charge_at,
                                 due_at, gateway, vault_id, initial_txn_id, card_brand, card_last4,
                                 card_exp_month, card_exp_year, card_fingerprint, ship_to)
      select ${tx.tenant}, d.id, c.last_number - ${requested.length} + d.position,
             ${origin.customer_ref}, ${origin.person_id}, ${origin.email}, d.product_id,
             d.variant_id, d.quantity, d.interval, d.interval_count, d.unit_price_cents,
             ${origin.currency}, ${JSON.stringify(origin.pricing)}, ${origin.order_id},
             ${origin.order_id}, d.anchor_on, ${origin.at}, first.at, first.at, ${origin.gateway},
             ${origin.vault_id}, ${origin.initial_txn_id}, ${origin.card?.brand ?? null},
             ${origin.card?.last4 ?? null}, ${expiry?.exp_month ?? null},
             ${expiry?.exp_year ?? null}, ${origin.card_fingerprint},
             ${origin.ship_to === null ? null : JSON.stringify(origin.ship_to)}
        from dated d, counted c,
             fd_period_start(d.anchor_on, d.interval, d.interval_count, 1, ${origin.time_zone})
             as first (at)
      returning id, product_id, variant_id, interval, interval_count, next_charge_at
    ), first_cycle as (
      insert into subscription_cycles (tenant_ref, subscription_id, cycle, state, due_at, order_id)
      select ${tx.tenant}, id, 1, 'paid', ${origin.at}, ${origin.order_id} from started
    )
    select * from started`,
  )
}

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
    update subscriptions set status = 'cancelled', next_charge_at = null, due_at = null,
                             cancelled_at = fd_now(), cancel_reason = 'order_cancelled',
                             version = version + 1, updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and origin_order_id = ${order_id}
       and status in ('active', 'paused', 'past_due')
    returning id, product_id, variant_id, customer_ref`,
  )
