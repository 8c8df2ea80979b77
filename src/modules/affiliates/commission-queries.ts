import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { NEWEST_KEY, readList } from '../../db/list.ts'
import { jsonTime, sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { createTurns } from '../../platform/store-turns.ts'
import {
  AttributionRow,
  Commission,
  type CommissionStatus,
  CountingCommission,
  type ExchangedGoods,
  ExchangedTerms,
  MODEL,
  type Refusal,
  type Source,
} from './commission-schema.ts'
import { Balance } from './schema.ts'

const commissionColumns = sql`
  c.id, c.affiliate_id, c.order_id, c.type, c.currency, c.base_cents, c.amount_cents, c.status,
  c.reason, c.cause_ref, c.approves_at, c.payout_id, c.created_at,
  jsonb_build_object(
    'code', t.code, 'source', t.source, 'touched_at',
    ${jsonTime(sql`t.touched_at`)},
    'window_days', t.window_days, 'model', t.model) as attribution`

const withAttribution = sql`
  join affiliate_attributions t on t.tenant_ref = c.tenant_ref and t.order_id = c.order_id`

export const findCommission = (db: Db, id: string) =>
  db.maybe(
    Commission,
    sql`
    select ${commissionColumns}
      from affiliate_commissions c ${withAttribution}
     where c.tenant_ref = ${db.tenant} and c.id = ${id}`,
  )

export interface CommissionFilters {
  affiliate_id: string | undefined
  order_id: string | undefined
  status: CommissionStatus | undefined
}

/** Lists commissions, newest first. */
export const listCommissions = (db: Db, filters: CommissionFilters, page: Page) => {
  const { affiliate_id, order_id, status } = filters
  return readList(
    db,
    {
      shape: Commission,
      table: sql`affiliate_commissions`,
      as: sql`c`,
      scope: sql`c.tenant_ref = ${db.tenant}`,
      filters: [
        ...(affiliate_id === undefined ? [] : [sql`c.affiliate_id = ${affiliate_id}`]),
        ...(order_id === undefined ? [] : [sql`c.order_id = ${order_id}`]),
        ...(status === undefined ? [] : [sql`c.status = ${status}`]),
      ],
      key: NEWEST_KEY,
      descending: true,
      columns: commissionColumns,
      joins: withAttribution,
    },
    page,
  )
}

export interface NewAttribution extends Omit<AttributionRow, 'left_cents' | 'declined'> {
  code: string
  source: Source
  touched_at: string
  window_days: number
  refusal: Refusal | null
}

export interface NewCommission {
  id: string
  type: 'sale' | 'renewal' | 'clawback'
  base_cents: number
  amount_cents: number
  status: 'pending' | 'approved' | 'declined'
  reason: string | null
  cause_ref: string | null
}

/**
 * Writes the affiliate that an order came from, and its commission, if any, in one statement. If another process has
 * settled the order meanwhile, its row exists and this writes nothing: the conflict shows in the version of the order,
 * and not here.
 */
export const insertAttribution = (
  tx: Tx,
  row: NewAttribution,
  earned: Pick<NewCommission, 'id' | 'type' | 'amount_cents'> | null,
) =>
  tx.run(sql`
    with attribution as (
      insert into affiliate_attributions
             (tenant_ref, order_id, affiliate_id, code, source, touched_at, window_days, model,
              refusal, currency, commission_type, rate_bps, amount_cents, approval_delay_days,
              base_cents, left_cents, booked_cents)
      values (${tx.tenant}, ${row.order_id}, ${row.affiliate_id}, ${row.code}, ${row.source},
              ${row.touched_at}, ${row.window_days}, ${MODEL}, ${row.refusal}, ${row.currency},
              ${row.commission_type}, ${row.rate_bps}, ${row.amount_cents},
              ${row.approval_delay_days}, ${row.base_cents}, ${row.base_cents},
              ${row.booked_cents})
          on conflict (tenant_ref, order_id) do nothing
      returning tenant_ref, order_id
    )
    insert into affiliate_commissions
           (tenant_ref, id, affiliate_id, order_id, type, currency, base_cents, amount_cents,
            status, reason, approves_at)
    select a.tenant_ref, ${earned?.id ?? null}::uuid, ${row.affiliate_id}::uuid, a.order_id,
           ${earned?.type ?? ''}::text, ${row.currency}::text, ${row.base_cents}::bigint,
           ${earned?.amount_cents ?? 0}::bigint,
           case when ${row.refusal}::text is null then 'pending' else 'declined' end,
           ${row.refusal}::text,
           fd_now() + make_interval(days => ${row.approval_delay_days})
      from attribution a
     where ${earned !== null}::boolean`)

/** Locks the attribution of an order, which has its terms. Returns null if no affiliate sent the order. */
export const lockAttribution = (tx: Tx, order_id: string) =>
  tx.maybe(
    AttributionRow,
    sql`
    select order_id, affiliate_id, refusal, currency, commission_type, rate_bps, amount_cents,
           approval_delay_days, base_cents, left_cents, booked_cents, declined
      from affiliate_attributions
     where tenant_ref = ${tx.tenant} and order_id = ${order_id}
       for no key update`,
  )

/** Finds the code of an order that counts as its affiliate's. */
export const findAttributed = (db: Db, order_id: string) =>
  db.maybe(
    Type.Object({ code: Type.String() }),
    sql`
    select code from affiliate_attributions
     where tenant_ref = ${db.tenant} and order_id = ${order_id} and refusal is null`,
  )

/** Finds the terms of an order whose goods an exchange replaces, and what its affiliate has lost by that refund. */
export const findExchanged = (tx: Tx, { order_id, refund_id }: ExchangedGoods) =>
  tx.maybe(
    ExchangedTerms,
    sql`
    select t.commission_type, t.rate_bps, t.declined,
           coalesce((select -sum(c.amount_cents)
                       from affiliate_commissions c
                      where c.tenant_ref = t.tenant_ref and c.order_id = t.order_id
                        and c.cause_ref = ${refund_id}), 0)::bigint as lost_cents
      from affiliate_attributions t
     where t.tenant_ref = ${tx.tenant} and t.order_id = ${order_id} and t.refusal is null`,
  )

export const findSource = (tx: Tx, order_id: string) =>
  tx.one(
    Type.Object({ source: Type.String() }),
    sql`
    select source from affiliate_attributions
     where tenant_ref = ${tx.tenant} and order_id = ${order_id}`,
  )

/** Locks and lists the commissions of an order that count, paid ones too. */
export const lockCounting = (tx: Tx, order_id: string) =>
  tx.many(
    CountingCommission,
    sql`
    select id, status, amount_cents, payout_id
      from affiliate_commissions
     where tenant_ref = ${tx.tenant} and order_id = ${order_id}
       and status in ('pending', 'approved', 'paid')
     order by id
       for update`,
  )

interface Follow {
  order_id: string
  left_cents: number
  booked_cents: number
}

/** Writes how much of an order's goods is left, and how much commission is booked for it. */
export const writeLeft = (tx: Tx, { order_id, left_cents, booked_cents }: Follow) =>
  tx.run(sql`
    update affiliate_attributions
       set left_cents = ${left_cents}, booked_cents = ${booked_cents}
     where tenant_ref = ${tx.tenant} and order_id = ${order_id}`)

/**
 * Writes a commission or a clawback of an order. A clawback is due at the same microsecond as the earliest
 * commission of the order that counts, so that both are approved together.
 */
export const insertCommission = (
  tx: Tx,
  of: Pick<AttributionRow, 'order_id' | 'affiliate_id' | 'currency' | 'approval_delay_days'>,
  row: NewCommission,
) =>
  tx.run(sql`
    insert into affiliate_commissions
           (tenant_ref, id, affiliate_id, order_id, type, currency, base_cents, amount_cents,
            status, reason, cause_ref, approves_at)
    values (${tx.tenant}, ${row.id}, ${of.affiliate_id}, ${of.order_id}, ${row.type},
            ${of.currency}, ${row.base_cents}, ${row.amount_cents}, ${row.status}, ${row.reason},
            ${row.cause_ref},
            coalesce((select min(approves_at)
                        from affiliate_commissions
                       where tenant_ref = ${tx.tenant} and order_id = ${of.order_id}
                         and ${row.type === 'clawback'}::boolean
                         and status in ('pending', 'approved', 'paid')),
                     fd_now() + make_interval(days => ${of.approval_delay_days})))`)

/**
 * Reverses the unpaid commissions of an order whose rows add up to zero: everything was clawed back before it was paid.
 */
export const reverseAll = (tx: Tx, order_id: string) =>
  tx.run(sql`
    update affiliate_commissions set status = 'reversed'
     where tenant_ref = ${tx.tenant} and order_id = ${order_id}
       and status in ('pending', 'approved')`)

export const approveOf = (tx: Tx, order_id: string) =>
  tx.run(sql`
    update affiliate_commissions set status = 'approved'
     where tenant_ref = ${tx.tenant} and order_id = ${order_id} and status = 'pending'`)

/** Declines commissions. A clawback keeps its own reason: the change that caused it. */
export const declineAll = (tx: Tx, ids: readonly string[], reason: string) =>
  tx.run(sql`
    update affiliate_commissions
       set status = 'declined', reason = case when type = 'clawback' then reason else ${reason} end
     where tenant_ref = ${tx.tenant} and id = any(${ids}::uuid[])`)

export const markDeclined = (tx: Tx, order_id: string, booked_cents: number) =>
  tx.run(sql`
    update affiliate_attributions set booked_cents = ${booked_cents}, declined = true
     where tenant_ref = ${tx.tenant} and order_id = ${order_id}`)

/** Lists the balances of an affiliate by currency: pending, approved, in a payout and paid. */
export const listBalances = (db: Db, affiliate_id: string) =>
  db.many(
    Balance,
    sql`
    with open as (
      select currency,
             coalesce(sum(amount_cents) filter (where status = 'pending'), 0) as pending,
             coalesce(sum(amount_cents)
                        filter (where status = 'approved' and payout_id is null), 0) as approved
        from affiliate_commissions
       where tenant_ref = ${db.tenant} and affiliate_id = ${affiliate_id}
         and status in ('pending', 'approved')
       group by currency
    ), payouts as (
      select currency,
             coalesce(sum(amount_cents) filter (where status = 'pending'), 0) as in_payout,
             coalesce(sum(amount_cents) filter (where status = 'paid'), 0) as paid
        from affiliate_payouts
       where tenant_ref = ${db.tenant} and affiliate_id = ${affiliate_id}
       group by currency
    )
    select currency, coalesce(pending, 0)::bigint as pending_cents,
           coalesce(approved, 0)::bigint as approved_cents,
           coalesce(in_payout, 0)::bigint as in_payout_cents,
           coalesce(paid, 0)::bigint as paid_cents
      from open full join payouts using (currency)
     order by currency`,
  )

const isPending = sql`status = 'pending'`

/** The turns of the stores with commissions whose delay is over. */
export const approvalTurns = createTurns({
  table: sql`affiliate_commissions`,
  due: sql`approves_at`,
  only: isPending,
})

/**
 * Approves some commissions that are due. A commission that a refund is changing at this moment is left for the next
 * step.
 */
export const approveDue = (db: Db, limit: number) =>
  db.run(sql`
    update affiliate_commissions set status = 'approved'
     where tenant_ref = ${db.tenant} and ${isPending}
       and id = any(array(select id
                            from affiliate_commissions
                           where tenant_ref = ${db.tenant} and approves_at <= fd_now()
                             and ${isPending}
                           order by approves_at
                           limit ${limit}
                             for update skip locked))`)

/** A query of the time at which the next commission is approved. */
export const nextApproval = (db: Db) => sql`
  select min(approves_at) from affiliate_commissions
   where tenant_ref = ${db.tenant} and ${isPending}`
