import type { Database, TenantDb, Tx } from '../../db/database.ts'
import { forEachStore } from '../../platform/for-each-store.ts'
import { CHECKPOINT_EVERY, chainHash, GENESIS } from './chain.ts'
import * as queries from './queries.ts'
import { announceLinks } from './verified-queries.ts'

/** The most stores of one step. The next step continues with the stores after them. */
const STORES_MAX = 200

/** Journals of one transaction: some milliseconds of hashing, and one write. */
const BATCH = 250

/** Stores that are worked on at the same time. */
const STORES_AT_ONCE = 4

interface ChainOptions {
  signal?: AbortSignal
  /** Called in the transaction that numbers journals of a store. */
  onLinks?: (tx: Tx) => Promise<unknown>
  /** Called when it has committed, with the time of the stopwatch before it began. */
  onNumbered?: (tenant: string, beganMs: number) => void
}

/**
 * One step of the loop, as fd_worker: numbers committed journals and adds them to the hash chain of their store. A
 * number never changes; a journal that commits late gets the next number. Returns the number of journals.
 */
export async function chainNewJournals(
  database: Database,
  { signal, onLinks, onNumbered }: ChainOptions = {},
): Promise<number> {
  const stores = await queries.unchainedTurns.next(database.due, STORES_MAX)
  const chain = async (tenant: string) => {
    const beganMs = performance.now()
    const numbered = await chainBatch(database.tenant(tenant), onLinks)
    if (numbered > 0) onNumbered?.(tenant, beganMs)
    return numbered
  }
  return forEachStore(stores, chain, { signal, concurrency: STORES_AT_ONCE })
}

const chainBatch = (db: TenantDb, onLinks: ChainOptions['onLinks']): Promise<number> =>
  db.transaction('ledger: number journals', async (tx) => {
    const { locked } = await queries.tryLockChain(tx)
    if (!locked) return 0
    const [head, journals] = await Promise.all([
      queries.findHead(tx),
      queries.listUnchained(tx, BATCH),
    ])
    if (journals.length === 0) return 0
    const first = (head?.sequence ?? 0) + 1
    let previous = head?.hash ?? GENESIS
    const hashes = journals.map((journal, index) => {
      const hash = chainHash(previous, first + index, journal)
      previous = hash.toString('hex')
      return hash
    })
    const ids = journals.map(({ id }) => id)
    const last = first + ids.length - 1
    const checkpoint = last - (last % CHECKPOINT_EVERY)
    await Promise.all([
      queries.insertLinks(tx, first, ids, hashes),
      queries.deleteUnchained(tx, ids),
      announceLinks(tx, last),
      onLinks?.(tx),
      // A batch is smaller than the distance of two checkpoints, so it reaches at most one.
      checkpoint >= first &&
        queries.insertCheckpoint(tx, checkpoint - CHECKPOINT_EVERY, checkpoint),
    ])
    return journals.length
  })
