import type { Db } from '../../db/database.ts'
import { CHECKPOINT_EVERY, chainHash, GENESIS } from './chain.ts'
import * as queries from './queries.ts'
import type { Balance, CanonicalJournal, Fault, LinkWithJournal } from './schema.ts'

/** Journals that are read and hashed together. Hashing them takes a few milliseconds. */
const BATCH = 250

/** A place in the hash chain, with the hash and the sums up to this link. */
export interface Position {
  sequence: number
  hash: string
  /** The sums of the accounts up to this link. Null if they are unknown. */
  balances: readonly Balance[] | null
}

/** The place before the first link. */
export const START: Position = { sequence: 0, hash: GENESIS, balances: [] }

/**
 * Verifies the links after `start` up to `last`: each hash matches its journal, and each checkpoint the sum of the
 * journals. Returns the last place that verifies, and the fault after it, if any. `goesOn` is called at each
 * checkpoint; false ends the walk there, where another walk can begin and know the sums. Anywhere else it would
 * have to trust the next checkpoint.
 */
export async function verifyLinks(
  db: Db,
  start: Position,
  last: number,
  goesOn: (position: { sequence: number }) => boolean = () => true,
): Promise<{ position: Position; fault: Fault | null }> {
  const sums = openSums(start.balances)
  let { sequence, hash } = start
  const end = (kind?: Fault['kind']) => ({
    position: { sequence, hash, balances: sums.lines() },
    fault: kind === undefined ? null : { kind, at: String(sequence + 1) },
  })
  while (sequence < last) {
    const toCheckpoint = CHECKPOINT_EVERY - (sequence % CHECKPOINT_EVERY)
    const count = Math.min(BATCH, last - sequence, toCheckpoint)
    const links = await queries.listLinks(db, sequence + 1, count)
    if (links.length === 0) return end('broken_link')
    for (const link of links) {
      const { journal } = link
      if (journal === null || !continues(link, journal, { sequence, hash })) {
        return end('broken_link')
      }
      const next = sums.plus(journal)
      if (next === 'out_of_range') return end(next)
      const isCheckpoint = link.sequence % CHECKPOINT_EVERY === 0
      const checkpoint = isCheckpoint ? await queries.listCheckpoint(db, link.sequence) : null
      if (!sums.accept(next, checkpoint)) return end('wrong_checkpoint')
      sequence = link.sequence
      hash = link.hash
    }
    if (sequence % CHECKPOINT_EVERY === 0 && !goesOn({ sequence })) break
  }
  return end()
}

/**
 * Reads the place before a link from the tables: it is trusted, not verified. Returns null
 * if there is no link before it.
 */
export async function readPosition(db: Db, sequence: number): Promise<Position | null> {
  if (sequence === 0) return START
  const link = await queries.findLink(db, sequence)
  if (link === null) return null
  const isCheckpoint = sequence % CHECKPOINT_EVERY === 0
  return { ...link, balances: isCheckpoint ? await queries.listCheckpoint(db, sequence) : null }
}

const continues = (
  { sequence, hash }: LinkWithJournal,
  journal: CanonicalJournal,
  before: { sequence: number; hash: string },
) =>
  sequence === before.sequence + 1 &&
  chainHash(before.hash, sequence, journal).toString('hex') === hash

type Sums = Map<string, Balance>

const sumsOf = (lines: readonly Balance[]): Sums =>
  new Map(lines.map((line) => [keyOf(line), line]))

/** Adds up journals. If the sums at the start are unknown, they are known from the next checkpoint on. */
function openSums(start: readonly Balance[] | null) {
  let sums = start === null ? null : sumsOf(start)
  return {
    lines: () => (sums === null ? null : [...sums.values()].toSorted(byKey)),
    /** Returns the sums with a journal added. Null if the sums are unknown. */
    plus({ entries }: CanonicalJournal): Sums | null | 'out_of_range' {
      if (sums === null) return null
      const next = new Map(sums)
      for (const [, account, , currency, amount_cents] of entries) {
        const line = { account: account as Balance['account'], currency }
        const balance_cents = (next.get(keyOf(line))?.balance_cents ?? 0) + amount_cents
        // Neither an answer nor a row can hold such a sum. It is a fault of this store
        // alone, and stops no other store.
        if (!Number.isSafeInteger(balance_cents)) return 'out_of_range'
        next.set(keyOf(line), { ...line, balance_cents })
      }
      return next
    },
    /** Accepts new sums. Returns false, and keeps the old sums, if there is a checkpoint with other sums. */
    accept(next: Sums | null, checkpoint: readonly Balance[] | null): boolean {
      const same =
        checkpoint === null || (next === null ? checkpoint.length > 0 : isEqual(next, checkpoint))
      if (same) sums = next ?? (checkpoint && sumsOf(checkpoint))
      return same
    },
  }
}

const isEqual = (sums: Sums, checkpoint: readonly Balance[]): boolean =>
  checkpoint.length === sums.size &&
  checkpoint.every((line) => sums.get(keyOf(line))?.balance_cents === line.balance_cents)

const keyOf = ({ account, currency }: Pick<Balance, 'account' | 'currency'>) =>
  `${account}/${currency}`

const byKey = (a: Balance, b: Balance) => (keyOf(a) < keyOf(b) ? -1 : 1)
