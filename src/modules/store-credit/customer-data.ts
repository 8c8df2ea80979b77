import type { Db, Tx } from '../../db/database.ts'
import type { ErasedCustomer } from '../face-parts.ts'
import * as queries from './customer-queries.ts'

/** A customer's store credit, for their profile, the privacy export and erasure. */

/** Returns the balance of each customer who has an account in this currency. */
export async function balancesOf(
  db: Db,
  customer_refs: readonly string[],
  currency: string,
): Promise<Map<string, number>> {
  const rows = await queries.listBalances(db, customer_refs, currency)
  return new Map(rows.map(({ customer_ref, balance_cents }) => [customer_ref, balance_cents]))
}

/** Erases the person from their accounts. Every amount stays. */
export async function eraseCustomer(tx: Tx, { customer_ref, pseudonym }: ErasedCustomer) {
  await queries.eraseReasons(tx, customer_ref)
  await queries.eraseAccounts(tx, customer_ref, pseudonym)
}

/** Reads the accounts and their transactions, for the privacy export. */
export async function exportOf(db: Db, customer_ref: string) {
  const [accounts, transactions] = await Promise.all([
    queries.listAccounts(db, customer_ref),
    queries.listTransactions(db, customer_ref),
  ])
  return {
    accounts: accounts.map(({ data }) => data),
    transactions: transactions.map(({ data }) => data),
  }
}
