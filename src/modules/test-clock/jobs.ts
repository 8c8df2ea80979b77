import { awaitAll } from '../../db/await-all.ts'
import type { Database, TenantDb } from '../../db/database.ts'
import type { Done, DueWork } from '../../platform/due-work.ts'
import { forEachStore } from '../../platform/for-each-store.ts'
import type { KnownClocks } from '../../platform/known-clocks.ts'
import { LeaseLostError } from '../../platform/leases.ts'
import * as queries from './queries.ts'

/**
 * How many clocks one step moves, and how many of them at the same time. No store waits until another has moved a
 * whole year.
 */
const CLOCKS_MAX = 50
const CLOCKS_AT_ONCE = 8

/** How long a step works on one clock, so that a worker stops in time. The next step goes on with it. */
const SLICE_MS = 2_000

/** How often a clock checks whether others have done the due work, and how long it waits until that is a failure. */
const WAIT_MS = 250
/** Longer than the lease of a stopped process lasts. */
const WAIT_MS_MAX = 180_000

/** How long to wait after each failure, before the move ends as failed. */
const RETRY_MS = [1_000, 5_000, 30_000] as const

export interface MoverDeps {
  /** As fd_worker. */
  database: Database
  clocks: Pick<KnownClocks, 'set' | 'settleMs'>
  /** Every kind of work that becomes due by a store's clock. */
  work: readonly DueWork[]
  onAlert: (alert: Record<string, unknown>, message: string) => void
}

/** Work that threw an error. */
class WorkError extends Error {
  readonly kind: string
  constructor(kind: string, cause: unknown) {
    super(`due work of the kind ${kind} failed`, { cause })
    this.kind = kind
  }
}

/**
 * Runs one step of the loop, as fd_worker: moves the clocks of stores forward, from one due time to the next, and
 * runs the work that is due there. The work is committed before time passes, so that another process goes on where a
 * killed one stopped. Returns the number of clocks. Why the loops leave such a store alone: decision 0041.
 */
export async function moveClocks(deps: MoverDeps, signal: AbortSignal): Promise<number> {
  const stores = await queries.listMoving(deps.database.due, CLOCKS_MAX)
  const move = (tenant: string) => moveOne(deps, tenant, signal)
  return forEachStore(stores, move, { signal, concurrency: CLOCKS_AT_ONCE })
}

async function moveOne(deps: MoverDeps, tenant: string, signal: AbortSignal): Promise<number> {
  const { database, clocks } = deps
  const [clock] = await queries.movingClocks.claim(database.tenant(tenant), 1)
  if (clock === undefined) return 0
  // Another process may have moved the clock until it was killed.
  clocks.set(tenant, { offsetMs: clock.offset_ms, isMoving: true })
  const db = database.tenant(tenant)
  await queries.movingClocks.runWithLease(db, clock, (lost) =>
    runSlice(deps, clock, AbortSignal.any([signal, lost])),
  )
  return 1
}

/** Works on a clock for some seconds. A process that was overtaken writes nothing more. */
async function runSlice(
  deps: MoverDeps,
  clock: queries.ClaimedClock,
  signal: AbortSignal,
): Promise<void> {
  const move: Move = { ...deps, clock, signal, lagging: new Set() }
  const db = deps.database.tenant(clock.tenant_ref)
  try {
    await goOnForAWhile(move, db).catch((error: unknown) => recordFailure(move, db, error))
  } catch (error) {
    if (!(error instanceof LeaseLostError)) throw error
  }
}

async function goOnForAWhile(move: Move, db: TenantDb): Promise<void> {
  const { clock, clocks, signal } = move
  if (clock.has_arrived) return endMove(move, db)
  await queries.deleteOldRuns(db, clock.move)
  const until = performance.now() + SLICE_MS
  while (!signal.aborted && performance.now() < until) {
    const went = await goOn(move)
    if (went === 'arrived') return queries.arrive(db, clock, clocks.settleMs)
    if (went === 'waits') return waitForOthers(move, db)
  }
  await queries.movingClocks.release(db, clock)
}

/** A clock under a lease, and the facts that this slice knows about it. */
interface Move extends MoverDeps {
  clock: queries.ClaimedClock
  signal: AbortSignal
  /** Kinds that a limit holds back: time passes without them. */
  lagging: Set<string>
}

/** Runs the work that is due, or lets time pass until some is, or until the target. */
async function goOn(move: Move): Promise<'went on' | 'waits' | 'arrived'> {
  const { database, work, clock, lagging } = move
  const db = database.tenant(clock.tenant_ref)
  const { due, next } = await queries.readDueTimes(db, work, clock.target)
  const ready = work.filter((each, place) => due.includes(place) && !lagging.has(each.kind))
  if (ready.length === 0) {
    await passTime(move, next ?? clock.target)
    return next === null ? 'arrived' : 'went on'
  }
  if ((await runAll(move, db, ready)) > 0) return 'went on'
  for (const { kind, mayLag } of ready) if (mayLag) lagging.add(kind)
  return ready.every(({ mayLag }) => mayLag) ? 'went on' : 'waits'
}

/** Runs some work of each kind. Returns how much was done. */
async function runAll(move: Move, db: TenantDb, ready: readonly DueWork[]): Promise<number> {
  const { clock, signal } = move
  let count = 0
  for (const each of ready) {
    if (signal.aborted) break
    const done: Done = await each.runDue(db, signal).catch((error: unknown) => {
      throw new WorkError(each.kind, error)
    })
    if (done.ran.length > 0) await queries.recordRuns(db, clock, each.kind, done.ran)
    count += done.count
  }
  return count
}

/** Moves the clock to a later time. Waits that go by the machine's clock become shorter by as much. */
async function passTime({ database, clocks, work, clock, lagging }: Move, at: string) {
  const db = database.tenant(clock.tenant_ref)
  clock.offset_ms = await db.transaction('test clock: move', async (tx) => {
    const offsetMs = await queries.moveTo(tx, clock, at)
    const byMs = offsetMs - clock.offset_ms
    if (byMs > 0) await awaitAll(work.map((each) => each.shorten?.(tx, byMs)))
    return offsetMs
  })
  clocks.set(clock.tenant_ref, { offsetMs: clock.offset_ms, isMoving: true })
  lagging.clear()
}

async function endMove({ clocks, clock }: Move, db: TenantDb): Promise<void> {
  await queries.endMove(db, clock)
  clocks.set(clock.tenant_ref, { offsetMs: clock.offset_ms, isMoving: false })
}

/**
 * Waits for others that work on what is due: a loop that began before the move, or a process whose lease must expire.
 * After WAIT_MS_MAX the move fails.
 */
async function waitForOthers(move: Move, db: TenantDb): Promise<void> {
  if (move.clock.waits * WAIT_MS < WAIT_MS_MAX) {
    return queries.waitForOthers(db, move.clock, WAIT_MS)
  }
  const { due } = await queries.readDueTimes(db, move.work, move.clock.target)
  const kinds = move.work.filter((_, place) => due.includes(place)).map(({ kind }) => kind)
  await giveUp(move, db, { kinds, error: new Error('due work is not done') })
}

/** Records a failure: the move is tried again a few times, and then fails; the time stands where the work was due. */
async function recordFailure(move: Move, db: TenantDb, error: unknown): Promise<void> {
  if (error instanceof LeaseLostError) throw error
  const retryMs = RETRY_MS[move.clock.failures]
  if (retryMs !== undefined) return queries.retryLater(db, move.clock, retryMs)
  await giveUp(move, db, { kinds: error instanceof WorkError ? [error.kind] : ['move'], error })
}

async function giveUp(
  { clocks, clock, onAlert }: Move,
  db: TenantDb,
  { kinds, error }: { kinds: readonly string[]; error: unknown },
): Promise<void> {
  const failed = [{ id: null, outcome: 'failed' }]
  for (const kind of kinds) await queries.recordRuns(db, clock, kind, failed)
  await queries.giveUp(db, clock)
  clocks.set(clock.tenant_ref, { offsetMs: clock.offset_ms, isMoving: false })
  onAlert(
    { err: error, tenant: clock.tenant_ref, kinds },
    'the time of a sandbox store stands still',
  )
}
