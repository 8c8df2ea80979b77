import type { Database } from '../../db/database.ts'
import type { Clock } from '../../kernel/clock.ts'
import { type Lease, LeaseLostError } from '../../platform/leases.ts'
import { compareDay } from './compare.ts'
import * as queries from './queries.ts'
import type { Payments } from './service.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** By then the gateways have written the day down, and nobody needs the machine. */
const DUE_AFTER_MS = 2 * HOUR_MS

/** Days that a worker which was down catches up with, as many as one with differences is looked at. */
const DAYS_BACK = 30

/** So many of them also where we know of no payment: there may be one in the gateway's record alone. */
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
 * held against the record of its gateway. Answers how many days were looked at.
 */
export function createComparison({ database, payments, clock }: ComparisonDeps) {
  let planned = ''
  return async (signal?: AbortSignal): Promise<number> => {
    if (signal?.aborted) return 0
    const last = dayOf(clock.now() - DAY_MS - DUE_AFTER_MS)
    if (planned !== last) await planDays(database, last)
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

/** Planning a day twice, or by two workers, plans it once. */
async function planDays(database: Database, last: string): Promise<void> {
  for (let back = DAYS_BACK - 1; back >= 0; back--) {
    const begin = new Date(Date.parse(last) - back * DAY_MS)
    const day = dayOf(begin.getTime())
    const isUnpaidToo = back < DAYS_BACK_UNPAID
    for (const { tenant_ref } of await queries.listUnplanned(database.global, day, isUnpaidToo)) {
      await queries.planDay(database.tenant(tenant_ref), day)
    }
  }
}

async function compare(database: Database, payments: Payments, due: Lease & { day: string }) {
  const db = database.tenant(due.tenant_ref)
  const open = await queries.dayQueue.runWithLease(db, due, () => compareDay(payments, db, due.day))
  if (open === null) await queries.postponeDay(db, due)
  else await queries.endDay(db, due, open > 0)
}
