import type { Db } from '../../db/database.ts'
import { chainHash, GENESIS } from './chain.ts'
import * as queries from './queries.ts'
import type { Link, Proof } from './schema.ts'

/** The journals of an order with all their entries, oldest first. */
export const entriesOf = queries.listEntriesOfOrder

/** Journals hashed between two turns of the event loop: a few milliseconds. */
const BATCH = 250

/** Journals that one call verifies; a longer chain is verified by going on at `next_from`. */
const VERIFIED_MAX = 10_000

/**
 * What the ledger says of itself, worked out anew from its rows: that debits and credits are equal,
 * that no journal is missing, and that the chain of hashes from `from` on is the one that was sealed.
 */
export async function proof(db: Db, from = 1): Promise<Proof> {
  // The counts come first: a journal posted later must not look as if it had never been queued.
  const counts = await queries.countJournals(db)
  const [trial_balance, head, before] = await Promise.all([
    queries.listBalances(db),
    queries.findHead(db),
    from > 1 ? queries.findSeal(db, from - 1) : null,
  ])
  const last = Math.min(head?.sequence ?? 0, from + VERIFIED_MAX - 1)
  const broken_at =
    from > 1 && from <= last && before === null
      ? from - 1
      : await findBreak(db, { from, last, hash: before?.hash ?? GENESIS })
  const complete = counts.journals === counts.sealed + counts.unsealed
  return {
    trial_balance,
    balanced: sumsToZero(trial_balance),
    journal_count: counts.journals,
    sealed_count: counts.sealed,
    unsealed_count: counts.unsealed,
    chain_head: head,
    verified: broken_at === null && complete,
    from,
    to: Math.max(last, from - 1),
    next_from: head !== null && last < head.sequence && from <= last ? last + 1 : null,
    broken_at,
  }
}

interface Stretch {
  from: number
  last: number
  /** The hash that the first link continues. */
  hash: string
}

/** The first link that is not what its journal makes it, or null. */
async function findBreak(db: Db, { from, last, hash }: Stretch): Promise<number | null> {
  let expected = from
  let previous = hash
  while (expected <= last) {
    const links = await queries.listLinks(db, expected, Math.min(BATCH, last - expected + 1))
    if (links.length === 0) return expected
    for (const link of links) {
      if (!continues(link, expected, previous)) return expected
      previous = link.hash
      expected++
    }
  }
  return null
}

const continues = ({ sequence, hash, journal }: Link, expected: number, previous: string) =>
  sequence === expected &&
  journal !== null &&
  chainHash(previous, sequence, journal).toString('hex') === hash

function sumsToZero(lines: Proof['trial_balance']): boolean {
  const sums = new Map<string, bigint>()
  for (const { currency, balance_cents } of lines) {
    sums.set(currency, (sums.get(currency) ?? 0n) + BigInt(balance_cents))
  }
  return [...sums.values()].every((sum) => sum === 0n)
}
