import { randomUUID } from 'node:crypto'
import type { Tx } from '../../db/database.ts'
import * as queries from './queries.ts'
import type { Entry, HeldKind, Hold, NewHold, NewJournal } from './schema.ts'

/**
 * Writes a journal: value that moved from some accounts to others, so that its entries sum to zero.
 * One round trip, and no row that another journal would wait for. The database checks the sum again
 * at the commit. Entries of zero are left out; a journal without entries is not written.
 */
export async function post(tx: Tx, journal: NewJournal): Promise<{ journal_id: string | null }> {
  const [written] = await postAll(tx, [journal])
  return { journal_id: written ?? null }
}

/** Writes many journals, in one round trip too. Answers the ids of those that were written. */
export async function postAll(tx: Tx, journals: readonly NewJournal[]): Promise<string[]> {
  const rows = journals.map(prepare).filter(({ entries }) => entries.length > 0)
  if (rows.length > 0) await queries.insertJournals(tx, rows)
  return rows.map(({ id }) => id)
}

function prepare({ kind, currency, order_id = null, ref = null, entries }: NewJournal) {
  const moved = entries
    .map((entry): Entry => ({ ref: '', ...entry }))
    .filter(({ amount_cents }) => amount_cents !== 0)
  requireZeroSum(kind, moved)
  return { id: randomUUID(), kind, currency, order_id, ref, entries: moved }
}

/** In BigInt, because a sum of safe integers need not be one. */
function requireZeroSum(kind: string, entries: readonly Entry[]): void {
  let sum = 0n
  for (const { account, amount_cents } of entries) {
    if (!Number.isSafeInteger(amount_cents)) {
      throw new Error(`the journal '${kind}' has no whole number of cents for ${account}`)
    }
    sum += BigInt(amount_cents)
  }
  if (sum !== 0n) throw new Error(`the journal '${kind}' is off by ${sum} cents`)
}

/** Sets value aside for an order. Its owner has made sure, under its own lock, that it is there. */
export async function hold(tx: Tx, wanted: NewHold): Promise<{ hold_id: string }> {
  const { id } = await queries.insertHold(tx, wanted)
  return { hold_id: id }
}

interface CloseHolds {
  order_id: string
  to: 'posted' | 'voided' | 'expired'
  /** Only the holds on such accounts. */
  account?: HeldKind
}

/** Ends the pending holds of an order, and answers which. What is closed stays as it was closed. */
export const closeHolds = (tx: Tx, { order_id, to, account }: CloseHolds): Promise<Hold[]> =>
  queries.closeHolds(tx, order_id, to, account ?? null)
