import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { NEWEST_KEY, readList } from '../../db/list.ts'
import { sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { Id, Nullable } from '../../kernel/schema.ts'
import { Payout, type PayoutStatus } from './commission-schema.ts'

/**
 * The columns of a payout. Its reference is the end of its id, which is random enough for a bank statement:
 * ids begin with the time.
 */
const columns = sql`
  p.id, p.affiliate_id, p.currency, p.amount_cents, p.status,
  'AP-' || upper(right(p.id::text, 10)) as reference, p.created_by, p.created_at, p.paid_at,
  p.cancelled_at`

const Due = Type.Object({
  affiliate_id: Id,
  currency: Type.String(),
  approved_cents: Type.Integer(),
  payout_minimum_cents: Type.Integer(),
})

interface DueFilter {
  /** Null: all active affiliates whose balance is large enough. */
  affiliate_ids: readonly string[] | null
  currency: string | null
  limit: number
}

/** Lists the sums of approved commissions that are in no payout, by affiliate and currency. */
export const listDue = (tx: Tx, { affiliate_ids, currency, limit }: DueFilter) =>
  tx.many(
    Due,
    sql`
    select c.affiliate_id, c.currency, sum(c.amount_cents)::bigint as approved_cents,
           a.payout_minimum_cents
      from affiliate_commissions c
      join affiliates a on a.tenant_ref = c.tenant_ref and a.id = c.affiliate_id
     where c.tenant_ref = ${tx.tenant} and c.status = 'approved' and c.payout_id is null
       and (${currency}::text is null or c.currency = ${currency})
       and (case when ${affiliate_ids}::uuid[] is null then a.status = 'active'
                 else c.affiliate_id = any(${affiliate_ids}::uuid[]) end)
     group by c.affiliate_id, c.currency, a.payout_minimum_cents
    having ${affiliate_ids}::uuid[] is not null
           or sum(c.amount_cents) >= greatest(a.payout_minimum_cents, 1)
     order by c.affiliate_id, c.currency
     limit ${limit}`,
  )

export const countKnown = (db: Db, ids: readonly string[]) =>
  db.one(
    Type.Object({ count: Type.Integer() }),
    sql`
    select count(*)::integer as count from affiliates
     where tenant_ref = ${db.tenant} and id = any(${ids}::uuid[])`,
  )

interface NewPayout {
  id: string
  affiliate_id: string
  currency: string
  minimum_cents: number
  created_by: string
}

/**
 * Makes a payout of everything that an affiliate is due, clawbacks included. It adds up the rows that it has locked: of
 * two calls at the same time, the second finds none left. Returns null if the sum is too small by then.
 */
export const makePayout = (tx: Tx, payout: NewPayout) =>
  tx.maybe(
    Payout,
    sql`
    with due as materialized (
      select id, amount_cents
        from affiliate_commissions
       where tenant_ref = ${tx.tenant} and affiliate_id = ${payout.affiliate_id}
         and currency = ${payout.currency} and status = 'approved' and payout_id is null
       order by id
         for update
    ), p as (
      insert into affiliate_payouts (tenant_ref, id, affiliate_id, currency, amount_cents,
                                     created_by)
      select ${tx.tenant}, ${payout.id}::uuid, ${payout.affiliate_id}::uuid,
             ${payout.currency}::text, sum, ${payout.created_by}::text
        from (select sum(amount_cents)::bigint as sum from due) as total
       where sum >= greatest(${payout.minimum_cents}::bigint, 1)
      returning *
    ), taken as (
      update affiliate_commissions c set payout_id = p.id
        from due, p
       where c.tenant_ref = ${tx.tenant} and c.id = due.id
    )
    select ${columns} from p`,
  )

export const findPayout = (db: Db, id: string) =>
  db.maybe(
    Payout,
    sql`select ${columns} from affiliate_payouts p where p.tenant_ref = ${db.tenant} and p.id = ${id}`,
  )

export const lockPayout = (tx: Tx, id: string) =>
  tx.maybe(
    Payout,
    sql`
    select ${columns} from affiliate_payouts p
     where p.tenant_ref = ${tx.tenant} and p.id = ${id}
       for update`,
  )

export interface PayoutFilters {
  affiliate_id: string | undefined
  status: PayoutStatus | undefined
}

/** Lists payouts, newest first. */
export const listPayouts = (db: Db, { affiliate_id, status }: PayoutFilters, page: Page) =>
  readList(
    db,
    {
      shape: Payout,
      table: sql`affiliate_payouts`,
      as: sql`p`,
      scope: sql`p.tenant_ref = ${db.tenant}`,
      filters: [
        ...(affiliate_id === undefined ? [] : [sql`p.affiliate_id = ${affiliate_id}`]),
        ...(status === undefined ? [] : [sql`p.status = ${status}`]),
      ],
      key: NEWEST_KEY,
      descending: true,
      columns,
    },
    page,
  )

/** Marks a payout and its commissions as paid. They never change again. */
export const markPaid = (tx: Tx, id: string) =>
  tx.run(sql`
    with paid as (
      update affiliate_commissions set status = 'paid'
       where tenant_ref = ${tx.tenant} and payout_id = ${id} and status = 'approved'
    )
    update affiliate_payouts set status = 'paid', paid_at = fd_now()
     where tenant_ref = ${tx.tenant} and id = ${id}`)

/** Cancels a payout. Its commissions are due again. */
export const cancelPayout = (tx: Tx, id: string) =>
  tx.run(sql`
    with released as (
      update affiliate_commissions set payout_id = null
       where tenant_ref = ${tx.tenant} and payout_id = ${id} and status = 'approved'
    )
    update affiliate_payouts set status = 'cancelled', cancelled_at = fd_now()
     where tenant_ref = ${tx.tenant} and id = ${id}`)

/** Lists a page of the payouts of one status, by id, for the bank. */
export const listForBank = (db: Db, status: PayoutStatus, after: string, limit: number) =>
  db.many(
    Type.Object({
      ...Payout.properties,
      name: Type.String(),
      payout_account: Nullable(Type.Unsafe<Buffer>({})),
    }),
    sql`
    select ${columns}, a.name, a.payout_account
      from affiliate_payouts p
      join affiliates a on a.tenant_ref = p.tenant_ref and a.id = p.affiliate_id
     where p.tenant_ref = ${db.tenant} and p.status = ${status} and p.id > ${after}
     order by p.id
     limit ${limit}`,
  )
