import type { Database } from '../../db/database.ts'
import type { DueWork } from '../../platform/due-work.ts'
import { forEachStore } from '../../platform/for-each-store.ts'
import * as queries from './commission-queries.ts'

/** Stores in one step. The next step continues with the following stores. */
const STORES_MAX = 50

/** Commissions of one store that one statement approves. Other stores wait meanwhile. */
const BATCH = 500

/** Takes one step, as fd_worker: approves commissions whose delay is over. Returns how many. */
export async function approveDue(database: Database, signal?: AbortSignal): Promise<number> {
  const stores = await queries.approvalTurns.next(database.due, STORES_MAX)
  return forEachStore(stores, (tenant) => queries.approveDue(database.tenant(tenant), BATCH), {
    signal,
  })
}

export const dueApprovals: DueWork = {
  kind: 'commission_approval',
  nextDue: queries.nextApproval,
  async runDue(db) {
    const count = await queries.approveDue(db, BATCH)
    return { count, ran: count === 0 ? [] : [{ id: null, outcome: `${count} approved` }] }
  },
}
