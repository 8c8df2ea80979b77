import type { Db } from '../../db/database.ts'
import { invalidBody } from '../../errors.ts'
import type { Page } from '../../kernel/page.ts'
import { isCustomerRef } from '../../kernel/schema.ts'
import * as customers from '../customers/service.ts'
import { listHolds } from '../ledger/service.ts'
import { refuse } from './errors.ts'
import { type Lot, sumOf, unheldExpired } from './lots.ts'
import * as queries from './queries.ts'
import type { Share, StoreCreditAccount } from './schema.ts'

export const FEATURE = 'store_credit'

/**
 * Returns how much a customer can spend now: money that is neither held nor expired. An erased customer can spend
 * nothing.
 */
export const available = async (db: Db, customerRef: string, currency: string): Promise<number> =>
  (await availableByCurrency(db, customerRef)).get(currency) ?? 0

export async function availableByCurrency(
  db: Db,
  customerRef: string,
): Promise<Map<string, number>> {
  if (customers.isPseudonym(customerRef)) return new Map()
  const [accounts, lots] = await Promise.all([
    queries.listAccountsOf(db, customerRef),
    queries.listOpenLotsOf(db, customerRef),
  ])
  const spendable = accounts.map(async (account) => {
    const { id, currency, balance_cents, held_cents } = account
    const own = lots.filter(({ account_id }) => account_id === id)
    const expired = sumOf(await listExpired(db, account, own))
    return [currency, Math.max(0, balance_cents - held_cents - expired)] as const
  })
  return new Map(await Promise.all(spendable))
}

/** Lists the expired amounts of an account's lots that are not held for an order. */
export async function listExpired(
  db: Db,
  { id, held_cents }: StoreCreditAccount,
  lots: readonly Lot[],
): Promise<Share[]> {
  if (!lots.some(({ expired }) => expired)) return []
  return unheldExpired(lots, held_cents === 0 ? [] : await listHolds(db, 'store_credit', id))
}

/** Lists the accounts of a store, newest first. */
export async function list(db: Db, customerRef: string | undefined, page: Page) {
  const { rows, shown } = await queries.listAccounts(db, customerRef, page)
  return { accounts: rows, ...shown }
}

/** Gets a customer's accounts, one for each currency and at least one. */
export async function get(db: Db, customerRef: string): Promise<StoreCreditAccount[]> {
  const accounts = isCustomerRef(customerRef) ? await queries.listAccountsOf(db, customerRef) : []
  if (accounts.length === 0) throw refuse('store_credit_not_found')
  return accounts
}

/** Lists the transactions of a customer in all currencies, newest first. */
export async function listTransactions(db: Db, customerRef: string, page: Page) {
  const ids = (await get(db, customerRef)).map(({ id }) => id)
  const { rows, shown } = await queries.listTransactions(db, ids, page)
  return { transactions: rows, ...shown }
}

/** Checks a reference from a path, since no schema checks path parameters. */
export function checkCustomerRef(text: string): void {
  if (isCustomerRef(text)) return
  throw invalidBody('customer_ref', 'must be 1 to 200 characters without control characters')
}
