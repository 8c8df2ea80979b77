import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { NEWEST_KEY, readList } from '../../db/list.ts'
import { jsonTime, type Sql, sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { Timestamp } from '../../kernel/schema.ts'
import { comingCycles, lastCycle, skippedCycles } from './schedule-queries.ts'
import {
  Cycle,
  MerchantCycle,
  type NewSubscription,
  type Origin,
  StartedSubscription,
  SubscriptionOfOrder,
  SubscriptionRow,
  type SubscriptionStatus,
  SubscriptionTerms,
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
                 interval_count int, unit_price_cents bigint, coupon jsonb)) with ordinality
             as s (id, product_id, variant_id, quantity, interval, interval_count,
                   unit_price_cents, coupon, position)
    ), started as (
      insert into subscriptions (tenant_ref, id, subscription_number, customer_ref, person_id, email,
                                 product_id, variant_id, quantity, interval, interval_count,
                                 unit_price_cents, prices_include_tax, currency, pricing,
                                 origin_order_id,
                                 last_order_id, anchor_on, current_period_start, next_charge_at,
                                 due_at, gateway, vault_id, initial_txn_id, card_brand, card_last4,
                                 card_exp_month, card_exp_year, card_fingerprint, ship_to)
      select ${tx.tenant}, d.id, c.last_number - ${requested.length} + d.position,
             ${origin.customer_ref}, ${origin.person_id}, ${origin.email}, d.product_id,
             d.variant_id, d.quantity, d.interval, d.interval_count, d.unit_price_cents,
             ${origin.prices_include_tax}, ${origin.currency},
             ${JSON.stringify(origin.pricing)}::jsonb || jsonb_build_object('coupon', d.coupon),
             ${origin.order_id}, ${origin.order_id}, d.anchor_on, ${origin.at}, first.at, first.at,
             ${origin.gateway}, ${origin.vault_id}, ${origin.initial_txn_id},
             ${origin.card?.brand ?? null}, ${origin.card?.last4 ?? null},
             ${expiry?.exp_month ?? null}, ${expiry?.exp_year ?? null}, ${origin.card_fingerprint},
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
    select id, variant_id, status,
           case when not cancel_at_period_end then next_charge_at end as next_charge_at
      from subscriptions
     where tenant_ref = ${db.tenant} and origin_order_id = ${order_id}
     order by created_at, id`,
  )

/** The terms of a subscription, as its events have them. */
export const termColumns = sql`
  id, subscription_number, product_id, variant_id, quantity, interval, interval_count,
  unit_price_cents, currency`

export const cancelOfOrder = (tx: Tx, order_id: string) =>
  tx.many(
    Type.Object({ ...SubscriptionTerms.properties, customer_ref: Type.String() }),
    sql`
    update subscriptions set status = 'cancelled', next_charge_at = null, due_at = null,
                             cancelled_at = fd_now(), cancel_reason = 'order_cancelled',
                             version = version + 1, updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and origin_order_id = ${order_id}
       and status in ('active', 'paused', 'past_due')
    returning ${termColumns}, customer_ref`,
  )

/** Cycles and their times as JSON. */
const asJson = (cycles: Sql): Sql => sql`
  (select coalesce(json_agg(json_build_object('cycle', cycle, 'at', ${jsonTime(sql`at`)})
                            order by cycle), '[]')
     from (${cycles}) as listed)`

/** The columns of the shape `stored`. */
export const storedColumns = sql`
  s.id, s.subscription_number, s.customer_ref, s.person_id, s.email, s.product_id, s.variant_id,
  s.quantity, s.interval, s.interval_count, s.unit_price_cents, s.prices_include_tax, s.currency,
  s.price_policy, s.pricing, s.status, s.origin_order_id, s.paid_cycles, s.max_cycles, s.next_charge_at,
  s.paused_until, s.cancel_at_period_end, s.gateway, s.vault_id, s.initial_txn_id, s.card_brand,
  s.card_last4, s.card_exp_month, s.card_exp_year, s.card_fingerprint, s.dunning_attempt,
  s.dunning_next_at, s.dunning_reason, s.ship_to, s.version`

const columnsIn = (zone: string): Sql => sql`
  ${storedColumns}, s.last_order_id, ${lastCycle} as cycle, s.anchor_on, s.anchor_cycle,
  s.current_period_start, s.cancelled_at, s.cancel_reason, s.created_at, s.updated_at,
  exists (select from subscription_cycles c
           where c.tenant_ref = s.tenant_ref and c.subscription_id = s.id
             and c.cycle > ${lastCycle} and c.state = 'charging') as charging,
  ${asJson(sql`${comingCycles(zone)} limit 3`)} as coming, ${asJson(skippedCycles(zone))} as skipped`

export const find = (db: Db, zone: string, id: string) =>
  db.maybe(
    SubscriptionRow,
    sql`
    select ${columnsIn(zone)} from subscriptions s where s.tenant_ref = ${db.tenant} and s.id = ${id}`,
  )

/** Locks a subscription. It must be read after this, so that everything that was written before the lock is seen. */
export const lock = (tx: Tx, id: string) =>
  tx.run(sql`
    select from subscriptions where tenant_ref = ${tx.tenant} and id = ${id} for no key update`)

export interface Filters {
  status: SubscriptionStatus | undefined
  customer_ref: string | undefined
  due_before: string | undefined
}

const CHARGE_KEY = [
  { name: sql`next_charge_at`, type: 'timestamp' },
  { name: sql`id`, type: 'uuid' },
] as const

/**
 * Lists the subscriptions of the store, newest first. With `due_before` it lists those that are due before a time,
 * the next one first.
 */
export const list = (
  db: Db,
  zone: string,
  { status, customer_ref, due_before }: Filters,
  page: Page,
) =>
  readList(
    db,
    {
      shape: SubscriptionRow,
      table: sql`subscriptions`,
      as: sql`s`,
      scope: sql`s.tenant_ref = ${db.tenant}`,
      filters: [
        ...(status === undefined ? [] : [sql`s.status = ${status}`]),
        ...(customer_ref === undefined ? [] : [sql`s.customer_ref = ${customer_ref}`]),
        ...(due_before === undefined
          ? []
          : [sql`s.next_charge_at < ${due_before}`, sql`not s.cancel_at_period_end`]),
      ],
      key: due_before === undefined ? NEWEST_KEY : CHARGE_KEY,
      descending: due_before === undefined,
      columns: columnsIn(zone),
    },
    page,
  )

const cycleList = (db: Db, subscription_id: string) => ({
  table: sql`subscription_cycles`,
  as: sql`c`,
  scope: sql`c.tenant_ref = ${db.tenant} and c.subscription_id = ${subscription_id}`,
  filters: [],
  key: [{ name: sql`cycle`, type: 'integer' as const }] as const,
  descending: true,
  columns: sql`c.cycle, c.state, c.due_at, c.order_id, c.reason, c.attempt_count, c.created_at,
               c.updated_at`,
})

/** Lists the cycles of a subscription, newest first. */
export const listCycles = (db: Db, subscription_id: string, page: Page) =>
  readList(db, { ...cycleList(db, subscription_id), shape: Cycle }, page)

/**
 * How many declines of a cycle are shown: more than any store's ladder has steps, so that nearly every cycle shows
 * all.
 */
const DECLINES_SHOWN = 20

const declines = sql`
  (select coalesce(json_agg(json_build_object(
            'declined_at', ${jsonTime(sql`declined_at`)}, 'order_id', order_id,
            'amount_cents', amount_cents, 'currency', currency, 'code', code,
            'network_code', network_code, 'advice_code', advice_code, 'class', class)
            order by declined_at desc), '[]')
     from (select *
             from subscription_declines d
            where d.tenant_ref = c.tenant_ref and d.subscription_id = c.subscription_id
              and d.cycle = c.cycle
            order by d.declined_at desc
            limit ${DECLINES_SHOWN}) as shown) as declines`

/** Lists the cycles like `listCycles`, with the replies of banks and networks, for the merchant. */
export const listMerchantCycles = (db: Db, subscription_id: string, page: Page) => {
  const list = cycleList(db, subscription_id)
  const columns = sql`${list.columns}, ${declines}`
  return readList(db, { ...list, columns, shape: MerchantCycle }, page)
}

/** Writes a subscription with its changes. The caller has locked it, and sets its dates by `reschedule`. */
export const write = (tx: Tx, s: SubscriptionRow) =>
  tx.run(sql`
    update subscriptions
       set product_id = ${s.product_id}, variant_id = ${s.variant_id}, quantity = ${s.quantity},
           interval = ${s.interval}, interval_count = ${s.interval_count},
           unit_price_cents = ${s.unit_price_cents},
           prices_include_tax = ${s.prices_include_tax}, price_policy = ${s.price_policy},
           status = ${s.status}, max_cycles = ${s.max_cycles}, anchor_on = ${s.anchor_on},
           anchor_cycle = ${s.anchor_cycle}, paused_until = ${s.paused_until},
           cancel_at_period_end = ${s.cancel_at_period_end}, cancelled_at = ${s.cancelled_at},
           cancel_reason = ${s.cancel_reason}, gateway = ${s.gateway}, vault_id = ${s.vault_id},
           initial_txn_id = ${s.initial_txn_id}, card_brand = ${s.card_brand},
           card_last4 = ${s.card_last4}, card_exp_month = ${s.card_exp_month},
           card_exp_year = ${s.card_exp_year}, card_fingerprint = ${s.card_fingerprint},
           dunning_attempt = ${s.dunning_attempt}, dunning_next_at = ${s.dunning_next_at},
           dunning_reason = ${s.dunning_reason},
           ship_to = ${s.ship_to === null ? null : JSON.stringify(s.ship_to)},
           next_charge_at = case when ${s.status} in ('active', 'past_due') then next_charge_at end,
           due_at = case when ${s.status} in ('active', 'past_due', 'paused') then due_at end,
           version = version + 1, updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and id = ${s.id}`)

/** Marks a cycle as skipped. Returns 0 where a charge of it is under way, or was made. */
export const skipCycle = (
  tx: Tx,
  id: string,
  { cycle, at, reason }: { cycle: number; at: string; reason: string },
) =>
  tx.run(sql`
    insert into subscription_cycles as c (tenant_ref, subscription_id, cycle, state, due_at, reason)
    values (${tx.tenant}, ${id}, ${cycle}, 'skipped', ${at}, ${reason})
        on conflict (tenant_ref, subscription_id, cycle)
        do update set state = 'skipped', due_at = excluded.due_at, reason = excluded.reason,
                      updated_at = fd_now()
        where c.state = 'scheduled'`)

export const unskipCycle = (tx: Tx, id: string, cycle: number) =>
  tx.run(sql`
    update subscription_cycles set state = 'scheduled', reason = null, updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and subscription_id = ${id} and cycle = ${cycle}
       and state = 'skipped'`)

/** Returns the time of a cycle, by the calendar. */
export const timeOfCycle = (db: Db, id: string, { cycle, zone }: { cycle: number; zone: string }) =>
  db.one(
    Type.Object({ at: Timestamp }),
    sql`
    select fd_period_start(anchor_on, interval, interval_count, ${cycle} - anchor_cycle, ${zone}) as at
      from subscriptions
     where tenant_ref = ${db.tenant} and id = ${id}`,
  )

/** Whether a card may never be charged again, because its bank said so in any running subscription. */
export const isCardBlocked = (db: Db, card_fingerprint: string) =>
  db.one(
    Type.Object({ blocked: Type.Boolean() }),
    sql`
    select exists (select from subscriptions
                    where tenant_ref = ${db.tenant} and card_fingerprint = ${card_fingerprint}
                      and card_blocked and status in ('active', 'paused', 'past_due')) as blocked`,
  )

/** Whether another subscription that still runs is charged by this stored card. */
export const isVaultInUse = (db: Db, { vault_id, except }: { vault_id: string; except: string }) =>
  db.one(
    Type.Object({ in_use: Type.Boolean() }),
    sql`
    select exists (select from subscriptions
                    where tenant_ref = ${db.tenant} and vault_id = ${vault_id} and id <> ${except}
                      and status in ('active', 'paused', 'past_due')) as in_use`,
  )
