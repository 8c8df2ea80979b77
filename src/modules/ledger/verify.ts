import type { Db } from '../../db/database.ts'
import { CHECKPOINT_EVERY, chainHash, GENESIS } from './chain.ts'
import * as queries from './queries.ts'
import type { LinkWithJournal, Proof } from './schema.ts'

/** Journals that are read and hashed together. Hashing them takes a few milliseconds. */
const BATCH = 250

/**
 * Finds the first link from `from` to `last` whose hash does not match its journal, or whose checkpoint
 * does not match the sum of the journals. Null: all match. The link before `from` is trusted.
 */
export async function findBreak(db: Db, from: number, last: number): Promise<number | null> {
  const before = from > 1 ? await queries.findLink(db, from - 1) : { hash: GENESIS }
  if (before === null) return from - 1
  const sums = await openSums(db, from - 1)
  let expected = from
  let previous = before.hash
  while (expected <= last) {
    const links = await queries.listLinks(db, expected, Math.min(BATCH, last - expected + 1))
    if (links.length === 0) return expected
    for (const link of links) {
      if (!continues(link, expected, previous)) return expected
      sums.add(link)
      if (expected % CHECKPOINT_EVERY === 0 && !(await sums.match(expected))) return expected
      previous = link.hash
      expected++
    }
  }
  return null
}

const continues = (
  { sequence, hash, journal }: LinkWithJournal,
  expected: number,
  previous: string,
) =>
  sequence === expected &&
  journal !== null &&
  chainHash(previous, sequence, journal).toString('hex') === hash

/** Adds up the journals between checkpoints. Begun between two, it compares from the next one on. */
async function openSums(db: Db, after: number) {
  let sums = new Map<string, bigint>()
  let known = after % CHECKPOINT_EVERY === 0
  const put = (account: string, currency: string, cents: number) => {
    const key = `${account}/${currency}`
    sums.set(key, (sums.get(key) ?? 0n) + BigInt(cents))
  }
  const start = (lines: Proof['trial_balance']) => {
    sums = new Map()
    for (const each of lines) put(each.account, each.currency, each.balance_cents)
  }
  if (known && after > 0) start(await queries.listCheckpoint(db, after))
  return {
    add({ journal }: LinkWithJournal): void {
      for (const [, account, , currency, cents] of journal?.entries ?? []) {
        put(account, currency, cents)
      }
    },
    async match(sequence: number): Promise<boolean> {
      const lines = await queries.listCheckpoint(db, sequence)
      const same =
        lines.length === sums.size &&
        lines.every(
          (each) => sums.get(`${each.account}/${each.currency}`) === BigInt(each.balance_cents),
        )
      const matches = known ? same : lines.length > 0
      start(lines)
      known = true
      return matches
    },
  }
}
