import type { Database, Db } from '../../db/database.ts'
import { machineNow } from '../../kernel/clock.ts'
import * as queries from './queries.ts'
import type { Fault } from './schema.ts'
import { acceptPosition, findUntrue } from './verified.ts'
import * as verifiedQueries from './verified-queries.ts'
import { type Position, START, verifyLinks } from './verify.ts'

/** Lists the stores that have a ledger, as fd_operator. */
export const listStoresWithLinks = verifiedQueries.listStoresWithLinks

/** The state of the verification over all stores, as fd_operator. */
export const summarizeVerification = verifiedQueries.summarize

/** Journals that one statement looks up by their id. */
const JOURNALS = 1_000

export interface Whole {
  position: Position
  /** The fault of the journals and links. */
  fault: Fault | null
  /** The fault of the record of how far they were verified before. */
  untrue: Fault | null
}

/** Verifies the ledger of a store from its first journal to its last, in bounded statements. */
export async function verifyWhole(db: Db, key: Buffer): Promise<Whole> {
  const stored = await verifiedQueries.findVerified(db)
  const head = await queries.findHead(db)
  const { position, fault } = await verifyLinks(db, START, head?.sequence ?? 0)
  return {
    position,
    fault: fault ?? (await findStray(db)),
    untrue: stored && (await findUntrue(db, stored, { key, floor: 0 })),
  }
}

async function findStray(db: Db): Promise<Fault | null> {
  let after: string | null = null
  for (;;) {
    const { count, last, stray } = await verifiedQueries.readJournals(db, after, JOURNALS)
    if (stray !== null) return { kind: 'stray_journal', at: stray }
    if (count < JOURNALS) return null
    after = last
  }
}

/**
 * Records, as fd_worker, that a ledger is verified up to a position. This replaces the earlier record, of which an
 * operator knows why it was untrue.
 */
export async function accept(database: Database, tenant: string, key: Buffer, position: Position) {
  const accepted = acceptPosition(key, tenant, position, machineNow())
  await database.tenant(tenant).transaction('ledger: accept', async (tx) => {
    await verifiedQueries.announceLinks(tx, position.sequence)
    await verifiedQueries.replace(tx, accepted)
  })
}
