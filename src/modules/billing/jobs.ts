import type { Database, Tx } from '../../db/database.ts'
import { HOUR_MS } from '../../kernel/time.ts'
import { takeSteps } from '../../platform/follower.ts'
import type { Lease } from '../../platform/leases.ts'
import * as stores from '../stores/service.ts'
import * as apiCalls from './api-call-queries.ts'
import { remind } from './dunning.ts'
import { reminderQueue } from './invoice-queries.ts'
import { closeMonth, discardDraft, writeDraft } from './invoices.ts'
import { countFacts } from './meter.ts'
import { deleteCountedCalls, hasUnnumbered } from './meter-queries.ts'
import { endOf, issueAt, nextMonth } from './months.ts'
import type { Account } from './plan-schema.ts'
import * as queries from './queries.ts'
import type { Month } from './schema.ts'

/** How often the usage of a store is brought up to date. Its merchant sees when that was. */
const EVERY_MS = 3 * HOUR_MS

/** How long a month waits for facts without a number: the loops that number them are quick. */
const WAIT_MS = 60_000

/** Rows of calls that one step deletes. */
const DELETED = 500

/** Takes one step of the loop, as fd_worker: counts usage, and closes months that are over. */
export const countAndClose = (database: Database, signal?: AbortSignal): Promise<number> =>
  takeSteps(
    database,
    { name: 'billing: account', queue: queries.accountQueue, step: advance },
    signal,
  )

/** Takes one step of the loop, as fd_worker: reminds of unpaid invoices. */
export const remindDue = (database: Database, signal?: AbortSignal): Promise<number> =>
  takeSteps(database, { name: 'billing: remind', queue: reminderQueue, step: remind }, signal)

/** Takes one step of the loop, as fd_worker: deletes the rows of processes that no longer count calls. */
export const deleteIdleWriters = ({ directory }: Database): Promise<number> =>
  apiCalls.deleteIdleWriters(directory)

/**
 * Takes one step of a store: counts what is new, then writes its draft or its invoice. Returns 0 where the
 * lease was lost.
 */
export async function advance(tx: Tx, lease: Lease): Promise<number> {
  const account = await queries.accountQueue.lockLeased(tx, lease)
  if (account === null) return 0
  const { sandbox } = await stores.get(tx)
  const counted = await countFacts(tx, account, sandbox)
  const { isCaughtUp } = counted
  const closed = isCaughtUp ? await closeDue(tx, account, sandbox) : null
  const open_month = closed === null ? account.open_month : nextMonth(closed)
  if (closed !== null) await deleteCountedCalls(tx, open_month, DELETED)
  const hasMore = !isCaughtUp || closed !== null
  const nextAtMs = hasMore ? tx.clock.now() : nextLook(tx.clock.now(), open_month)
  await queries.finishStep(tx, lease, { ...counted, open_month, nextAtMs })
  return 1
}

/** Brings the draft of a month that is over up to date, and closes it after the grace period. */
async function closeDue(tx: Tx, account: Account, isSandbox: boolean): Promise<Month | null> {
  const { open_month } = account
  const now = tx.clock.now()
  if (now < endOf(open_month)) return null
  if (now < issueAt(open_month)) {
    if (!isSandbox) await writeDraft(tx, account, open_month)
    return null
  }
  if (isSandbox) {
    await discardDraft(tx, open_month)
    return open_month
  }
  // After an absence of all workers the loops that number facts may be behind this one.
  if (await hasUnnumbered(tx, new Date(endOf(open_month)).toISOString())) return null
  await closeMonth(tx, account)
  return open_month
}

/**
 * Returns when a store is looked at again: in some hours, or when its month ends or is issued; soon, if facts still
 * wait for their number.
 */
function nextLook(now: number, month: Month): number {
  if (now >= issueAt(month)) return now + WAIT_MS
  const turns = [endOf(month), issueAt(month)].filter((at) => at > now)
  return Math.min(now + EVERY_MS, ...turns)
}
