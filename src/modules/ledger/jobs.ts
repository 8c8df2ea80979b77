import type { Database, TenantDb } from '../../db/database.ts'
import { forEachStore } from '../../platform/for-each-store.ts'
import { CHECKPOINT_EVERY, chainHash, GENESIS } from './chain.ts'
import * as queries from './queries.ts'

/** Stores looked at in one step. Only their names are read, so there can be many. */
const TENANTS_MAX = 2_000

/** Journals sealed in one transaction: some milliseconds of hashing, and one write. */
const BATCH = 250

/** Stores sealed at the same time. */
const LANES = 4

/**
 * One step of the sealing loop, as fd_worker: numbers journals that have been committed and adds them
 * to their store's chain. A number once given stays; a journal that commits late gets the next one.
 * Answers how many were sealed.
 */
export async function sealDue(database: Database, signal?: AbortSignal): Promise<number> {
  const stores = await queries.listTenantsToSeal(database.global, TENANTS_MAX)
  const seal = (tenant: string) => sealBatch(database.tenant(tenant))
  return forEachStore(stores, seal, { signal, concurrency: LANES })
}

const sealBatch = (db: TenantDb): Promise<number> =>
  db.transaction('ledger: seal', async (tx) => {
    const { mine } = await queries.tryLockChain(tx)
    if (!mine) return 0
    const [head, journals] = await Promise.all([
      queries.findHead(tx),
      queries.listUnsealed(tx, BATCH),
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
    const mark = last - (last % CHECKPOINT_EVERY)
    await Promise.all([
      queries.insertSeals(tx, first, ids, hashes),
      queries.deleteUnsealed(tx, ids),
      // A batch is smaller than the stretch between two checkpoints, so it passes one at most.
      mark >= first && queries.insertCheckpoint(tx, mark - CHECKPOINT_EVERY, mark),
    ])
    return journals.length
  })
