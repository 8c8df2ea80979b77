import type { Db, Tx } from '../../db/database.ts'
import { isoNow, systemClock } from '../../kernel/clock.ts'
import { CHECKPOINT_EVERY } from './chain.ts'
import * as queries from './queries.ts'
import type { Fault, Proof, Verified } from './schema.ts'
import { findUntrue, isGenuine, positionOf } from './verified.ts'
import { findVerified } from './verified-queries.ts'
import { type Position, readPosition, START, verifyLinks } from './verify.ts'

/** Lists the entries of an order's journals, oldest first. */
export const listEntriesOfOrder = queries.listEntriesOfOrder

/** Lists the pending holds on one account, oldest first. */
export const listHolds = queries.listHolds

/** Journals that one call verifies. For a longer chain, the next call continues at `next_from`. */
const VERIFIED_MAX = 10_000

/**
 * The time after which a call ends at the next checkpoint, so that its answer comes within about a second, even if
 * the database is busy or far away.
 */
const VERIFIED_MS = 500

/**
 * Up to this many journals are counted. In a larger ledger their number follows from the newest
 * link, and the loop finds a journal that has no number.
 */
const COUNTED_MAX = 10_000

interface ProofOptions {
  /** The key that signs how far a ledger is verified. */
  key: Buffer
  /** The number of the first journal to verify. Null means the first after those that the platform has verified. */
  from?: number | null
  /** After how long it ends at the next checkpoint. */
  afterMs?: number
}

/**
 * Proves the ledger by computing it again from its rows: debits and credits are equal, no journal is
 * missing, no checkpoint is wrong, and the hashes from `from` on match the stored chain.
 */
export async function proof(
  db: Db,
  { key, from: requested = null, afterMs = VERIFIED_MS }: ProofOptions,
): Promise<Proof> {
  const stored = await findVerified(db)
  const checkpoint = stored !== null && isGenuine(key, db.tenant, stored) ? stored : null
  const base = checkpoint === null ? START : positionOf(checkpoint)
  const from = requested ?? base.sequence + 1
  const [untrue, counts, trial_balance, head] = await Promise.all([
    stored && findUntrue(db, stored, { key, floor: 0 }),
    queries.countJournals(db, {
      checkpointEvery: CHECKPOINT_EVERY,
      after: base.sequence,
      limit: COUNTED_MAX + 1,
    }),
    queries.listBalances(db, { sequence: base.sequence, balances: base.balances ?? [] }),
    queries.findHead(db),
  ])
  const last = Math.min(head?.sequence ?? 0, checkpointBefore(from + VERIFIED_MAX))
  const { to, brokenAt: found } =
    from <= last
      ? await verifyFrom(db, { from, last, base, afterMs })
      : { to: from - 1, brokenAt: null }
  const fault = faultOf(stored, untrue)
  const numbered = counts.chained + counts.unchained
  const isCounted = counts.journals <= COUNTED_MAX
  const complete = (!isCounted || counts.journals === numbered) && counts.doubled === 0
  return {
    trial_balance,
    balanced: sumsToZero(trial_balance),
    journal_count: isCounted ? counts.journals : numbered,
    sealed_count: counts.chained,
    unsealed_count: counts.unchained,
    chain_head: head,
    verified: found === null && fault === null && complete && counts.stray === 0,
    from,
    to,
    next_from: head !== null && from <= to && to < head.sequence ? to + 1 : null,
    broken_at: found ?? brokenAt(fault),
    checkpoint: checkpoint && checkpointOf(checkpoint),
    fault,
  }
}

/** The last checkpoint before a link: there the next call knows the sums, and needs to trust no other. */
const checkpointBefore = (sequence: number): number =>
  Math.floor((sequence - 1) / CHECKPOINT_EVERY) * CHECKPOINT_EVERY

interface Walk {
  from: number
  last: number
  base: Position
  afterMs: number
}

/**
 * Verifies the links from `from` to `last`, or as many as the time allows. Returns the last link that it looked at,
 * and the first one that does not verify. The position before `from` is trusted.
 */
async function verifyFrom(db: Db, { from, last, base, afterMs }: Walk) {
  const start = from - 1 === base.sequence ? base : await readPosition(db, from - 1)
  if (start === null) return { to: last, brokenAt: from - 1 }
  const ends = performance.now() + afterMs
  const { position, fault } = await verifyLinks(db, start, last, () => performance.now() < ends)
  // A fault ends this walk. `to` is `last` all the same, so the next call continues behind the fault.
  return fault === null
    ? { to: position.sequence, brokenAt: null }
    : { to: last, brokenAt: Number(fault.at) }
}

function checkpointOf({ sequence, hash, verified_at, walked_at }: Verified): Proof['checkpoint'] {
  return hash === null || verified_at === null ? null : { sequence, hash, verified_at, walked_at }
}

/** Returns the fault of the stored checkpoint now, or the fault that the loop has found. */
function faultOf(stored: Verified | null, untrue: Fault | null): Proof['fault'] {
  const kind = untrue?.kind ?? stored?.fault ?? null
  if (kind === null) return null
  const isKnown = stored?.fault === kind
  return {
    kind,
    at: untrue?.at ?? stored?.fault_at ?? '',
    since: (isKnown && stored?.fault_since) || isoNow(systemClock),
  }
}

const brokenAt = (fault: Proof['fault']): number | null =>
  fault !== null &&
  ['broken_link', 'wrong_checkpoint', 'rewritten', 'out_of_range'].includes(fault.kind)
    ? Number(fault.at)
    : null

function sumsToZero(lines: Proof['trial_balance']): boolean {
  const sums = new Map<string, bigint>()
  for (const { currency, balance_cents } of lines) {
    sums.set(currency, (sums.get(currency) ?? 0n) + BigInt(balance_cents))
  }
  return [...sums.values()].every((sum) => sum === 0n)
}

/**
 * Whether the chain has links behind a position, or may be getting some at this moment. It is for the end of a
 * transaction that follows the chain: if it returns false, no journal is numbered until that transaction commits,
 * so the process that numbers the next journal sees that nothing waits for it.
 */
export async function mayHaveLinksAfter(tx: Tx, sequence: number): Promise<boolean> {
  const { locked } = await queries.tryLockChain(tx)
  return !locked || (await queries.hasLinksAfter(tx, sequence)).has
}
