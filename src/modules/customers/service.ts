import type { Db, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { foldEmail } from '../../kernel/email.ts'
import { hmacBytes } from '../../kernel/hmac.ts'
import type { Page } from '../../kernel/page.ts'
import * as queries from './queries.ts'
import type { Customer, SeenCustomer } from './schema.ts'

/**
 * The hash by which a customer's row is found. It stays after an erasure, and has its own key, which the
 * caller passes: `runtime.key('customers')`.
 */
function hashRef(key: Buffer, tenant: string, customer_ref: string): Buffer {
  return hmacBytes(key, [`${tenant}\0${customer_ref}`])
}

/** Enough of the hash that no two customers of a store have the same pseudonym. */
const PSEUDONYM_HEX = 32

/** Makes the pseudonym that replaces an erased reference in other rows, so that these still belong together. */
export const pseudonym = (key: Buffer, tenant: string, customer_ref: string): string =>
  `erased:${hashRef(key, tenant, customer_ref).toString('hex').slice(0, PSEUDONYM_HEX)}`

/** Whether a reference is a pseudonym, or an account's name made from one. No customer may use it. */
export const isPseudonym = (customer_ref: string): boolean => PSEUDONYM.test(customer_ref)

const PSEUDONYM = new RegExp(`^erased:[0-9a-f]{${PSEUDONYM_HEX}}(/|$)`)

/**
 * Records that a customer was seen. It is one statement, which waits only for the same customer and
 * writes nothing if nothing is new. An erased customer is not restored.
 */
export async function recordSeen(tx: Tx, key: Buffer, seen: SeenCustomer): Promise<void> {
  const { customer_ref, person_id = null, email = null, name = null } = seen
  const ref_hash = hashRef(key, tx.tenant, customer_ref)
  const email_folded = email === null ? null : foldEmail(email)
  await queries.upsertCustomer(tx, { ref_hash, customer_ref, person_id, email, email_folded, name })
}

export async function get(db: Db, key: Buffer, customer_ref: string): Promise<Customer> {
  const customer = await find(db, key, customer_ref)
  if (customer === null) throw new ApiError('customer_not_found')
  return customer
}

export const find = (db: Db, key: Buffer, customer_ref: string): Promise<Customer | null> =>
  queries.findCustomer(db, hashRef(key, db.tenant, customer_ref))

/** Lists the customers with this e-mail address in any spelling, guests too. */
export async function listByEmail(db: Db, email: string): Promise<Customer[]> {
  const folded = foldEmail(email)
  return folded === null ? [] : queries.listByEmail(db, folded)
}

export type Filters = queries.CustomerFilters
export const SORTS = queries.SORTS

/** Lists customers by the time they were first seen, newest first by default. */
export async function list(db: Db, filters: Filters, page: Page) {
  const { rows, shown } = await queries.listCustomers(db, filters, page)
  return { customers: rows, ...shown }
}

/** Erases a customer for ever, also an unknown one. Returns the pseudonym for other rows. */
export async function erase(tx: Tx, key: Buffer, customer_ref: string): Promise<string> {
  await queries.eraseCustomer(tx, hashRef(key, tx.tenant, customer_ref))
  return pseudonym(key, tx.tenant, customer_ref)
}

export const isErased = async (db: Db, key: Buffer, customer_ref: string): Promise<boolean> =>
  (await queries.findTombstone(db, hashRef(key, db.tenant, customer_ref))) !== null
