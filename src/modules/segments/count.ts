import type { Tx } from '../../db/database.ts'
import { FOLLOWED_ROWS } from '../../platform/follower.ts'
import type { Lease } from '../../platform/leases.ts'
import { mayHaveLinksAfter } from '../ledger/service.ts'
import * as queries from './count-queries.ts'

/**
 * Counts what people have ordered. A step reads the journals after the position of a store, counts all orders of the
 * people that they are about from the beginning, and moves the position, in one transaction. A count from the
 * beginning needs no memory of the last one: it is right after a refund, after a test flag and after an erasure
 * (decision 0051).
 */

/** How long new journals wait for the next ones of their store: counting many costs little more than counting one. */
export const GATHER_SECONDS = 30

/**
 * An address with more orders is a placeholder of a storefront and belongs to no person. It is left out: mail to it
 * reaches no person, and for each of its orders all others would be read again.
 */
const ORDERS_MAX = 5_000

/** Runs one step of a store. Returns how many journals it read; 0 where the lease was lost. */
export async function advance(tx: Tx, lease: Lease): Promise<number> {
  const found = await queries.countingQueue.lockLeased(tx, lease)
  if (found === null) return 0
  const touched = await queries.listTouched(tx, found.sequence, FOLLOWED_ROWS)
  const emails = touched.map(({ email_folded }) => email_folded).filter((each) => each !== null)
  await recountLocked(tx, emails)
  const sequence = touched.at(-1)?.sequence ?? found.sequence
  const hasMore = touched.length === FOLLOWED_ROWS
  const nextSeconds = hasMore ? 0 : await restSecondsOf(tx, sequence)
  await queries.finishStep(tx, lease, { sequence, nextSeconds })
  return touched.length
}

/** Returns how long a count that has caught up may rest; null where it may rest until there are new journals. */
const restSecondsOf = async (tx: Tx, sequence: number): Promise<number | null> =>
  (await mayHaveLinksAfter(tx, sequence)) ? GATHER_SECONDS : null

/** Counts the orders of some addresses again. The lock makes this wait for a running step. */
export async function recount(tx: Tx, emails: readonly string[]): Promise<void> {
  if (emails.length === 0) return
  await queries.lock(tx)
  await recountLocked(tx, emails)
}

async function recountLocked(tx: Tx, emails: readonly string[]): Promise<void> {
  const addresses = [...new Set(emails)].sort()
  if (addresses.length === 0) return
  const sums = await queries.sumOrders(tx, addresses, ORDERS_MAX)
  const isPerson = ({ orders_count }: queries.PersonSums) =>
    orders_count > 0 && orders_count <= ORDERS_MAX
  const people = sums.filter(isPerson)
  const others = sums.filter((each) => !isPerson(each))
  if (people.length > 0) {
    await queries.savePeople(tx, people)
    await queries.savePurchases(
      tx,
      people.map(({ email_folded }) => email_folded),
    )
  }
  if (others.length > 0) {
    await queries.clearOrders(
      tx,
      others.map(({ email_folded }) => email_folded),
    )
  }
}

/** Counts a person again, in the transaction that marks an order of the person as a test or removes the mark. */
export const onTestFlag = (tx: Tx, { email }: { email: string | null }): Promise<void> =>
  recount(tx, email === null ? [] : [email.toLowerCase()])
