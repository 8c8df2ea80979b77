import type { Database } from '../../db/database.ts'
import type { Clock } from '../../kernel/clock.ts'
import { DAY_MS, HOUR_MS } from '../../kernel/time.ts'
import { forEachDue } from '../../platform/for-each-store.ts'
import { type Lease, LeaseLostError } from '../../platform/leases.ts'
import { compareDay } from './compare.ts'
import * as queries from './queries.ts'
import type { Payments } from './service.ts'

/**
 * How long after midnight a day is compared: the gateways have recorded the whole day, and the
 * machine has little other work.
 */
const DUE_AFTER_MS = 2 * HOUR_MS

/**
 * How many days back are compared: a worker that was down catches up with them. A day with differences
 * is compared again for as long.
 */
const DAYS_BACK = 30

/** How many of these days are compared even if we have no payment: the gateway may have one that we lack. */
const DAYS_BACK_UNPAID = 7

/** Stores compared at the same time. */
const SLOTS = 4

interface ComparisonDeps {
  /** As fd_worker. */
  database: Database
  payments: Payments
  clock: Clock
}

/**
 * The nightly comparison, as the step of a loop: two hours after midnight (UTC) each store's day is
 * compared with the record of its gateway. Returns how many days were compared.
 */
export function createComparison({ database, payments, clock }: ComparisonDeps) {
  let planned = ''
  return async (signal?: AbortSignal): Promise<number> => {
    if (signal?.aborted) return 0
    const last = dayOf(clock.now() - DAY_MS - DUE_AFTER_MS)
    if (planned !== last) await planDays(database, last, signal)
    if (signal?.aborted) return 0
    planned = last
    const due = await queries.dayQueue.claimFairly(database, { slots: SLOTS, perTenant: 1 })
    const done = await Promise.allSettled(due.map((each) => compare(database, payments, each)))
    for (const each of done) {
      if (each.status === 'rejected' && !(each.reason instanceof LeaseLostError)) throw each.reason
    }
    return due.length
  }
}

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10)

/** Plans the days to compare. Planned again, or by two workers, a day is planned once. */
async function planDays(database: Database, last: string, signal?: AbortSignal): Promise<void> {
  const days = { last, count: DAYS_BACK, countUnpaid: DAYS_BACK_UNPAID }
  await forEachDue(
    await queries.listUnplanned(database.due, days),
    (store) => queries.planDays(database.tenant(store.tenant_ref), store.days),
    { signal, concurrency: SLOTS },
  )
}

async function compare(database: Database, payments: Payments, due: Lease & { day: string }) {
  const db = database.tenant(due.tenant_ref)
  const open = await queries.dayQueue.runWithLease(db, due, () => compareDay(payments, db, due.day))
  if (open === null) await queries.postponeDay(db, due)
  else await queries.endDay(db, due, open > 0)
}
