import type { Database, Tx } from '../../db/database.ts'
import { takeSteps } from '../../platform/follower.ts'
import { advance, GATHER_SECONDS } from './count.ts'
import * as queries from './count-queries.ts'

/** Runs one step of the loop, as fd_worker: counts the orders of new journals, the stores taking turns. */
export const countPeople = (database: Database, signal?: AbortSignal): Promise<number> =>
  takeSteps(
    database,
    { name: 'segments: count', queue: queries.countingQueue, step: advance },
    signal,
  )

/** Makes the people of new journals' orders be counted again, in the transaction that numbers the journals. */
export const onNewLinks = (tx: Tx, gatherSeconds = GATHER_SECONDS): Promise<number> =>
  queries.announceLinks(tx, gatherSeconds)
