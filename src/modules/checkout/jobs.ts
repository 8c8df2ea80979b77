import type { Database } from '../../db/database.ts'
import { type DueWork, runEach } from '../../platform/due-work.ts'
import { LeaseLostError } from '../../platform/leases.ts'
import { createReconciler, dueOperations } from '../../platform/reconciler.ts'
import type { StoreTurns } from '../../platform/store-turns.ts'
import { OPERATION_NAMES } from '../operations/table.ts'
import * as paymentRequests from '../orders/payment-request.ts'
import * as attempts from '../payments/attempts.ts'
import { type LateAttempt, watchLate } from './late-replies-money.ts'
import { expireHold, expireRequest, resumeOperation } from './operations-money.ts'
import { expiryTurns, listExpired, nextLapse } from './queries.ts'
import type { CheckoutDeps } from './service.ts'

const reconciler = createReconciler(OPERATION_NAMES)

/** What the loops need: the checkout's deps, and the database as fd_worker. */
export interface JobDeps extends CheckoutDeps {
  database: Database
}

/** The reconciler of every operation that moves money. */
export const reconcile = (deps: JobDeps, signal?: AbortSignal): Promise<number> =>
  reconciler({ ...deps, resume: (db, claim) => resumeOperation(deps, db, claim) }, signal)

/** The due work of a store whose clock is being moved: its operations, late lookups and lapsed holds. */
export const duePayments = (deps: JobDeps): DueWork[] => [
  dueOperations('operation', OPERATION_NAMES, {
    ...deps,
    resume: (db, claim) => resumeOperation(deps, db, claim),
  }),
  {
    kind: 'late_lookup',
    nextDue: attempts.nextLateLookup,
    runDue: async (db, signal) =>
      runEach(
        await attempts.lateQueue.claim(db, LATE_SLOTS),
        async (late) => {
          await watchOne(deps, late)
          return { id: late.id, outcome: 'looked up' }
        },
        signal,
      ),
  },
  dueExpiry(deps, 'hold_expiry', { nextDue: nextLapse, list: listExpired, expire: expireHold }),
  dueExpiry(deps, 'payment_request_expiry', {
    nextDue: paymentRequests.nextExpiry,
    list: paymentRequests.listExpired,
    expire: expireRequest,
  }),
]

interface DueExpiry extends Pick<Expiring, 'list' | 'expire'> {
  nextDue: DueWork['nextDue']
}

const dueExpiry = (deps: JobDeps, kind: string, { nextDue, list, expire }: DueExpiry): DueWork => ({
  kind,
  nextDue,
  runDue: async (db, signal) =>
    runEach(
      await list(db, EXPIRED_AT_ONCE),
      async ({ order_id: id }) =>
        (await expire(deps, db, id)) ? { id, outcome: 'cancelled' } : null,
      signal,
    ),
})

/** Attempts closed as `not_found` that are looked up at once. */
const LATE_SLOTS = 10

export async function watchLateApprovals(deps: JobDeps, signal?: AbortSignal): Promise<number> {
  if (signal?.aborted) return 0
  const due = await attempts.lateQueue.claimFairly(deps.database, { slots: LATE_SLOTS })
  await settleAll(due.map((late) => watchOne(deps, late)))
  return due.length
}

/**
 * Looks up one late attempt. A fault of our own postpones the lookup like a gateway that does not reply. It
 * alerts once a day.
 */
async function watchOne(deps: JobDeps, late: LateAttempt): Promise<void> {
  try {
    await watchLate(deps, deps.database, late)
  } catch (error) {
    if (error instanceof LeaseLostError) return
    const db = deps.database.tenant(late.tenant_ref)
    await attempts.postponeLookup(db, late)
    if (!(await attempts.isAlertDue(db, late.id))) return
    const about = { err: error, tenant: db.tenant, order_id: late.order_id, attempt_id: late.id }
    deps.onAlert(about, 'a payment without a record at its gateway could not be looked up again')
  }
}

const EXPIRED_AT_ONCE = 10

/**
 * Cancels held orders whose authorisation has lapsed. An order that cannot be cancelled now goes behind the others, so
 * that a gateway that does not reply delays no other store.
 */
export const expireAuthorizations = (deps: JobDeps, signal?: AbortSignal): Promise<number> =>
  expireAll(deps, { turns: expiryTurns, list: listExpired, expire: expireHold }, signal)

/** Cancels orders whose shoppers were asked to pay and have not paid, like `expireAuthorizations`. */
export const expirePaymentRequests = (deps: JobDeps, signal?: AbortSignal): Promise<number> => {
  const { requestTurns: turns, listExpired: list } = paymentRequests
  return expireAll(deps, { turns, list, expire: expireRequest }, signal)
}

interface Expiring {
  turns: StoreTurns
  list: typeof listExpired
  expire: typeof expireHold
}

async function expireAll(
  deps: JobDeps,
  { turns, list, expire }: Expiring,
  signal?: AbortSignal,
): Promise<number> {
  if (signal?.aborted) return 0
  const { database } = deps
  const stores = await turns.next(database.due, EXPIRED_AT_ONCE)
  const perStore = Math.ceil(EXPIRED_AT_ONCE / Math.max(1, stores.length))
  const listed = stores.map(({ tenant_ref }) => list(database.tenant(tenant_ref), perStore))
  const expired = (await Promise.all(listed)).flat()
  const ended = await settleAll(
    expired.map(({ tenant_ref, order_id }) => expire(deps, database.tenant(tenant_ref), order_id)),
  )
  return ended.filter((isEnded) => isEnded).length
}

/** Waits for all work, and then throws the first fault, which the loop logs. */
async function settleAll<T>(work: Promise<T>[]): Promise<T[]> {
  const settled = await Promise.allSettled(work)
  const failed = settled.find(
    (each) => each.status === 'rejected' && !(each.reason instanceof LeaseLostError),
  )
  if (failed?.status === 'rejected') throw failed.reason
  return settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
}
