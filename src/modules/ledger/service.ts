import type { Db } from '../../db/database.ts'
import { CHECKPOINT_EVERY } from './chain.ts'
import * as queries from './queries.ts'
import type { Proof } from './schema.ts'
import { findBreak } from './verify.ts'

/** Lists the entries of an order's journals, oldest first. */
export const listEntriesOfOrder = queries.listEntriesOfOrder

/** Lists the pending holds on one account, oldest first. */
export const listHolds = queries.listHolds

/** Journals that one call verifies. For a longer chain, the next call continues at `next_from`. */
const VERIFIED_MAX = 10_000

/**
 * Proves the ledger by computing it again from its rows: debits and credits are equal, no journal is
 * missing, no checkpoint is wrong, and the hashes from `from` on match the stored chain.
 */
export async function proof(db: Db, from = 1): Promise<Proof> {
  const [counts, trial_balance, head] = await Promise.all([
    queries.countJournals(db, CHECKPOINT_EVERY),
    queries.listBalances(db),
    queries.findHead(db),
  ])
  const last = Math.min(head?.sequence ?? 0, from + VERIFIED_MAX - 1)
  const broken_at = from <= last ? await findBreak(db, from, last) : null
  const complete = counts.journals === counts.chained + counts.unchained && counts.doubled === 0
  return {
    trial_balance,
    balanced: sumsToZero(trial_balance),
    journal_count: counts.journals,
    sealed_count: counts.chained,
    unsealed_count: counts.unchained,
    chain_head: head,
    verified: broken_at === null && complete && counts.stray === 0,
    from,
    to: Math.max(last, from - 1),
    next_from: head !== null && from <= last && last < head.sequence ? last + 1 : null,
    broken_at,
  }
}

function sumsToZero(lines: Proof['trial_balance']): boolean {
  const sums = new Map<string, bigint>()
  for (const { currency, balance_cents } of lines) {
    sums.set(currency, (sums.get(currency) ?? 0n) + BigInt(balance_cents))
  }
  return [...sums.values()].every((sum) => sum === 0n)
}
