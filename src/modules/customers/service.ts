import type { Db, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { foldEmail } from '../../kernel/email.ts'
import { hmacBytes } from '../../kernel/hmac.ts'
import type { Page } from '../../kernel/page.ts'
import * as queries from './queries.ts'
import type { Customer, Seen } from './schema.ts'

/**
 * A customer's row is found by a hash of the reference under a key of its own, which outlives the
 * erasure of everything else. The caller hands the key over: `runtime.key('customers')`.
 */
function hashRef(key: Buffer, tenant: string, customer_ref: string): Buffer {
  return hmacBytes(key, [`${tenant}\0${customer_ref}`])
}

/** As much of the hash as makes two of one store never the same. */
const PSEUDONYM_HEX = 32

/** What stands in other rows in place of an erased reference, so that they still belong together. */
export const pseudonym = (key: Buffer, tenant: string, customer_ref: string): string =>
  `erased:${hashRef(key, tenant, customer_ref).toString('hex').slice(0, PSEUDONYM_HEX)}`

/** Such a name, or an account's made from it. Nobody comes by it: who is erased has no name any more. */
export const isPseudonym = (customer_ref: string): boolean => PSEUDONYM.test(customer_ref)

const PSEUDONYM = new RegExp(`^erased:[0-9a-f]{${PSEUDONYM_HEX}}(/|$)`)

/**
 * Notes that a customer was seen: one statement, which waits for nobody but the same customer and
 * writes nothing when nothing is new. An erased customer is not restored.
 */
export async function touch(tx: Tx, key: Buffer, seen: Seen): Promise<void> {
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

/** Everybody with this e-mail address, however it is spelt: guests, too. */
export async function listByEmail(db: Db, email: string): Promise<Customer[]> {
  const folded = foldEmail(email)
  return folded === null ? [] : queries.listByEmail(db, folded)
}

export type Filters = queries.CustomerFilters
export const SORTS = queries.SORTS

/** By when they were first seen, newest first. */
export async function list(db: Db, filters: Filters, page: Page) {
  const [customers, { total }] = await Promise.all([
    queries.listCustomers(db, filters, page),
    queries.countCustomers(db, filters),
  ])
  return { customers, total, ...page }
}

/** Forgets a customer for good, known or not. Answers what other rows may call them from now on. */
export async function erase(tx: Tx, key: Buffer, customer_ref: string): Promise<string> {
  await queries.eraseCustomer(tx, hashRef(key, tx.tenant, customer_ref))
  return pseudonym(key, tx.tenant, customer_ref)
}

export const isErased = async (db: Db, key: Buffer, customer_ref: string): Promise<boolean> =>
  (await queries.findTombstone(db, hashRef(key, db.tenant, customer_ref))) !== null
