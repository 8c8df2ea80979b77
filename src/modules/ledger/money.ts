import type { Tx } from '../../db/database.ts'
import { newId } from '../../kernel/id.ts'
import * as queries from './queries.ts'
import type { Entry, HeldKind, Hold, NewHold, NewJournal } from './schema.ts'

/**
 * Posts a journal: amounts that move between accounts, so that its entries sum to zero. It takes one
 * round trip and locks no row that another journal needs. The database checks the sum again at the
 * commit. Entries of zero are left out; a journal without entries is not written, unless figures count it.
 */
export async function post(tx: Tx, journal: NewJournal): Promise<{ journal_id: string | null }> {
  const [written] = await postAll(tx, [journal])
  return { journal_id: written ?? null }
}

/** Posts many journals in one round trip. Returns the ids of the written ones. */
export async function postAll(tx: Tx, journals: readonly NewJournal[]): Promise<string[]> {
  const rows = journals
    .filter(({ isCounted = false, entries }) => isCounted || entries.some(isMoved))
    .map(prepare)
  if (rows.length > 0) await queries.insertJournals(tx, rows)
  return rows.map(({ id }) => id)
}

const isMoved = ({ amount_cents }: { amount_cents: number }): boolean => amount_cents !== 0

function prepare({ kind, currency, entries, ...named }: NewJournal) {
  const { order_id = null, ref = null, at = null } = named
  const moved = entries.filter(isMoved).map((entry): Entry => ({ ref: '', ...entry }))
  requireZeroSum(kind, moved)
  return { id: newId(), kind, currency, order_id, ref, at, entries: moved }
}

/** Checks that the entries of a journal sum to zero. It uses BigInt, since a sum of safe integers may not be safe. */
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

/** Writes a hold for an order. The caller has checked the balance under the lock of its own row. */
export async function hold(tx: Tx, newHold: NewHold): Promise<{ hold_id: string }> {
  const { id } = await queries.insertHold(tx, newHold)
  return { hold_id: id }
}

interface CloseHolds {
  order_id: string
  to: 'posted' | 'voided' | 'expired'
  /** Closes only the holds on accounts of this kind. */
  account?: HeldKind
}

/** Closes the pending holds of an order, and returns them. A closed hold never changes. */
export const closeHolds = (tx: Tx, { order_id, to, account }: CloseHolds): Promise<Hold[]> =>
  queries.closeHolds(tx, order_id, to, account ?? null)
