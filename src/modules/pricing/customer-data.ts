import type { Db, Tx } from '../../db/database.ts'
import type { ErasedCustomer } from '../face-parts.ts'
import * as queries from './customer-queries.ts'

/** A customer's pricing groups, for their profile, the privacy export and erasure. */

/** The pricing groups of each customer. A customer without a group has no entry. */
export async function groupsOf(
  db: Db,
  customer_refs: readonly string[],
): Promise<Map<string, { id: string; name: string }[]>> {
  const groups = new Map<string, { id: string; name: string }[]>()
  for (const { customer_ref, id, name } of await queries.listGroupsOf(db, customer_refs)) {
    groups.set(customer_ref, [...(groups.get(customer_ref) ?? []), { id, name }])
  }
  return groups
}

/** Removes an erased customer from all groups. */
export async function eraseCustomer(tx: Tx, { customer_ref }: ErasedCustomer) {
  await queries.deleteMemberships(tx, customer_ref)
}
