import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { NEWEST_KEY, readList } from '../../db/list.ts'
import { sql } from '../../db/sql.ts'
import type { Page } from '../../kernel/page.ts'
import { Id } from '../../kernel/schema.ts'
import { defineBalance } from '../../platform/held-balance.ts'
import { createTurns } from '../../platform/store-turns.ts'
import {
  OpenLot,
  type Share,
  SpentLot,
  StoreCreditAccount,
  StoreCreditTransaction,
} from './schema.ts'

const columns = sql`store_credit_accounts.id, customer_ref, currency, balance_cents, held_cents,
                    store_credit_accounts.created_at, updated_at`

/** Creates the account if it does not exist. */
export const ensureAccount = (tx: Tx, customerRef: string, currency: string) =>
  tx.run(sql`
    insert into store_credit_accounts (tenant_ref, customer_ref, currency)
    values (${tx.tenant}, ${customerRef}, ${currency})
        on conflict do nothing`)

/** The statements that change balances and holds. The lock of an account covers its lots too. */
const { lock, addHeld, releaseHeld, captureHeld, addBalance } = defineBalance({
  table: sql`store_credit_accounts`,
  columns,
  shape: StoreCreditAccount,
})

export { addBalance, addHeld, captureHeld, releaseHeld }

export const lockAccountOf = (tx: Tx, customerRef: string, currency: string) =>
  lock(tx, sql`customer_ref = ${customerRef} and currency = ${currency}`)

export const lockAccount = (tx: Tx, id: string) => lock(tx, sql`id = ${id}`)

export const findAccount = (db: Db, customerRef: string, currency: string) =>
  db.maybe(
    StoreCreditAccount,
    sql`
    select ${columns}
      from store_credit_accounts
     where tenant_ref = ${db.tenant} and customer_ref = ${customerRef} and currency = ${currency}`,
  )

export const listAccountsOf = (db: Db, customerRef: string) =>
  db.many(
    StoreCreditAccount,
    sql`
    select ${columns}
      from store_credit_accounts
     where tenant_ref = ${db.tenant} and customer_ref = ${customerRef}
     order by currency`,
  )

/** Lists the accounts of a store, or those of a customer, newest first. */
export const listAccounts = (db: Db, customerRef: string | undefined, page: Page) =>
  readList(
    db,
    {
      shape: StoreCreditAccount,
      table: sql`store_credit_accounts`,
      as: sql`store_credit_accounts`,
      scope: sql`store_credit_accounts.tenant_ref = ${db.tenant}`,
      filters: customerRef === undefined ? [] : [sql`customer_ref = ${customerRef}`],
      key: NEWEST_KEY,
      descending: true,
      columns,
    },
    page,
  )

export const insertLot = (tx: Tx, accountId: string, cents: number, expiresAt: string | null) =>
  tx.run(sql`
    insert into store_credit_lots
           (tenant_ref, account_id, amount_cents, remaining_cents, expires_at, due_at)
    values (${tx.tenant}, ${accountId}, ${cents}, ${cents}, ${expiresAt}, ${expiresAt})`)

/** Lists lots in the order in which they are spent. `expired` is as of `at`, by default now. */
export const listOpenLots = (db: Db, accountId: string, at: string | null = null) =>
  db.many(
    OpenLot,
    sql`
    select id, remaining_cents,
           coalesce(expires_at <= coalesce(${at}::timestamptz, fd_now()), false) as expired,
           expires_at
      from store_credit_lots
     where tenant_ref = ${db.tenant} and account_id = ${accountId} and remaining_cents > 0
     order by expires_at, created_at, id`,
  )

/** Lists the lots of all accounts of a customer, each with its account. */
export const listOpenLotsOf = (db: Db, customerRef: string) =>
  db.many(
    Type.Object({ ...OpenLot.properties, account_id: Id }),
    sql`
    select l.id, l.remaining_cents, coalesce(l.expires_at <= fd_now(), false) as expired,
           l.expires_at, l.account_id
      from store_credit_lots l
      join store_credit_accounts a on a.tenant_ref = l.tenant_ref and a.id = l.account_id
     where l.tenant_ref = ${db.tenant} and a.customer_ref = ${customerRef} and l.remaining_cents > 0
     order by l.expires_at, l.created_at, l.id`,
  )

export const reduceLots = (tx: Tx, shares: readonly Share[]) =>
  tx.run(sql`
    update store_credit_lots l set remaining_cents = l.remaining_cents - s.amount_cents
      from unnest(${shares.map(({ id }) => id)}::uuid[],
                  ${shares.map(({ amount_cents }) => amount_cents)}::bigint[])
           as s (id, amount_cents)
     where l.tenant_ref = ${tx.tenant} and l.id = s.id`)

/** Records which lots an order was paid from. Orders paid from lots without a date need no record. */
export const insertSpent = (tx: Tx, orderId: string, shares: readonly Share[]) =>
  tx.run(sql`
    insert into store_credit_spent (tenant_ref, order_id, lot_id, amount_cents)
    select ${tx.tenant}, ${orderId}, s.id, s.amount_cents
      from unnest(${shares.map(({ id }) => id)}::uuid[],
                  ${shares.map(({ amount_cents }) => amount_cents)}::bigint[])
           as s (id, amount_cents)
        on conflict (tenant_ref, order_id, lot_id) do update
       set amount_cents = store_credit_spent.amount_cents + excluded.amount_cents`)

/** Lists the lots that an order was paid from, with the amounts that have not come back, the longest valid first. */
export const listSpent = (tx: Tx, orderId: string) =>
  tx.many(
    SpentLot,
    sql`
    select s.lot_id as id, s.amount_cents - s.returned_cents as spent_cents, l.expires_at
      from store_credit_spent s
      join store_credit_lots l on l.tenant_ref = s.tenant_ref and l.id = s.lot_id
     where s.tenant_ref = ${tx.tenant} and s.order_id = ${orderId}
       and s.returned_cents < s.amount_cents
     order by l.expires_at desc nulls first, s.lot_id`,
  )

export const returnSpent = (tx: Tx, orderId: string, lotId: string, cents: number) =>
  tx.run(sql`
    update store_credit_spent set returned_cents = returned_cents + ${cents}
     where tenant_ref = ${tx.tenant} and order_id = ${orderId} and lot_id = ${lotId}`)

type NewTransaction = Pick<StoreCreditTransaction, 'type' | 'event' | 'amount_cents' | 'actor'> & {
  order_id?: string | null
  reason?: string | null
}

/** Inserts a transaction, with the balance that the account has now. */
export const logTransaction = (tx: Tx, accountId: string, line: NewTransaction) =>
  tx.one(
    StoreCreditTransaction,
    sql`
    with account as (
      select id, currency, balance_cents
        from store_credit_accounts
       where tenant_ref = ${tx.tenant} and id = ${accountId}
    )
    insert into store_credit_transactions (tenant_ref, account_id, type, event, amount_cents,
                                           balance_after_cents, order_id, reason, actor)
    select ${tx.tenant}, id, ${line.type}, ${line.event}, ${line.amount_cents}, balance_cents,
           ${line.order_id ?? null}, ${line.reason ?? null}, ${line.actor}
      from account
    returning id, (select currency from account) as currency, type, event, amount_cents,
              balance_after_cents, order_id, reason, actor, created_at`,
  )

/**
 * Lists the transactions of accounts, newest first. For one account the index has them in that order, and few
 * customers have more than one.
 */
export const listTransactions = (db: Db, accountIds: readonly string[], page: Page) =>
  readList(
    db,
    {
      shape: StoreCreditTransaction,
      table: sql`store_credit_transactions`,
      as: sql`t`,
      scope: sql`t.tenant_ref = ${db.tenant}`,
      filters: [
        accountIds.length === 1
          ? sql`t.account_id = ${accountIds[0]}`
          : sql`t.account_id = any(${accountIds}::uuid[])`,
      ],
      key: NEWEST_KEY,
      descending: true,
      columns: sql`t.id, a.currency, t.type, t.event, t.amount_cents, t.balance_after_cents,
                   t.order_id, t.reason, t.actor, t.created_at`,
      joins: sql`join store_credit_accounts a
                   on a.tenant_ref = t.tenant_ref and a.id = t.account_id`,
    },
    page,
  )

const hasRemaining = sql`remaining_cents > 0`
const due = sql`due_at <= fd_now() and ${hasRemaining}`

/** The turns of the stores with expired lots, by which the expiry loop chooses stores. */
export const expiryTurns = createTurns({
  table: sql`store_credit_lots`,
  due: sql`due_at`,
  only: hasRemaining,
})

export const listAccountsToExpire = (db: Db, limit: number) =>
  db.many(
    Type.Object({ account_id: Id }),
    sql`
    select distinct account_id
      from (select account_id
              from store_credit_lots
             where tenant_ref = ${db.tenant} and ${due}
             order by due_at
             limit ${limit}) as oldest`,
  )

/** A query of the time at which the next lot expires. */
export const nextExpiry = (db: Db) => sql`
  select min(due_at) from store_credit_lots where tenant_ref = ${db.tenant} and ${hasRemaining}`

/** Makes expired lots that are held for an order due again in an hour. */
export const postponeExpiry = (tx: Tx, accountId: string) =>
  tx.run(sql`
    update store_credit_lots set due_at = fd_now() + interval '1 hour'
     where tenant_ref = ${tx.tenant} and account_id = ${accountId} and ${due}`)

/** Makes expired lots due at once when the hold of an order is released. */
export const resumeExpiry = (tx: Tx, accountId: string) =>
  tx.run(sql`
    update store_credit_lots set due_at = expires_at
     where tenant_ref = ${tx.tenant} and account_id = ${accountId}
       and remaining_cents > 0 and expires_at <= fd_now()`)
