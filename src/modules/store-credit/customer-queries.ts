import { Type } from 'typebox'
import type { Db, Tx } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import { Cents, OpenObject } from '../../kernel/schema.ts'

/**
 * Lists the balances of customers. Each is looked up alone: for a list of customers PostgreSQL may read all accounts
 * of the store.
 */
export const listBalances = (db: Db, customer_refs: readonly string[], currency: string) =>
  db.many(
    Type.Object({ customer_ref: Type.String(), balance_cents: Cents }),
    sql`
    select wanted.customer_ref, account.balance_cents
      from unnest(${customer_refs}::text[]) as wanted (customer_ref)
     cross join lateral (
           select balance_cents
             from store_credit_accounts
            where tenant_ref = ${db.tenant} and customer_ref = wanted.customer_ref
              and currency = ${currency}
            limit 1) as account`,
  )

const ofCustomer = (db: Db, customer_ref: string) =>
  sql`(select id from store_credit_accounts
        where tenant_ref = ${db.tenant} and customer_ref = ${customer_ref})`

/** Erases the merchant's free texts, which may name the person. */
export const eraseReasons = (tx: Tx, customer_ref: string) =>
  tx.run(sql`
    update store_credit_transactions set reason = '[erased]'
     where tenant_ref = ${tx.tenant} and account_id in ${ofCustomer(tx, customer_ref)}
       and reason is not null`)

/**
 * Renames the accounts to a pseudonym. The balance stays, and no customer can spend it. The pseudonym has
 * the account's id, since a customer who returns can be erased again.
 */
export const eraseAccounts = (tx: Tx, customer_ref: string, pseudonym: string) =>
  tx.run(sql`
    update store_credit_accounts set customer_ref = ${pseudonym} || '/' || id, updated_at = fd_now()
     where tenant_ref = ${tx.tenant} and customer_ref = ${customer_ref}`)

export const listAccounts = (db: Db, customer_ref: string) =>
  db.many(
    Type.Object({ data: OpenObject }),
    sql`
    select to_jsonb(a) - 'tenant_ref' as data
      from store_credit_accounts a
     where a.tenant_ref = ${db.tenant} and a.customer_ref = ${customer_ref}
     order by a.currency`,
  )

export const listTransactions = (db: Db, customer_ref: string) =>
  db.many(
    Type.Object({ data: OpenObject }),
    sql`
    select to_jsonb(t) - 'tenant_ref' as data
      from store_credit_transactions t
     where t.tenant_ref = ${db.tenant} and t.account_id in ${ofCustomer(db, customer_ref)}
     order by t.created_at, t.id`,
  )
