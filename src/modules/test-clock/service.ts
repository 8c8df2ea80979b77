import type { Database, Db, TenantDb, Tx } from '../../db/database.ts'
import { invalidBody } from '../../errors.ts'
import { addDuration } from '../../kernel/duration.ts'
import type { Page } from '../../kernel/page.ts'
import { DAY_MS, toUtc } from '../../kernel/time.ts'
import * as audit from '../../platform/audit.ts'
import type { DueWork } from '../../platform/due-work.ts'
import type { KnownClocks } from '../../platform/known-clocks.ts'
import * as orders from '../orders/service.ts'
import * as payments from '../payments/service.ts'
import type { Store } from '../stores/schema.ts'
import * as stores from '../stores/service.ts'
import { refuse } from './errors.ts'
import * as queries from './queries.ts'
import type { ClockMove, ClockRow } from './schema.ts'

/** The longest single move: two years and a day, so that `P2Y` is possible. A longer way takes several moves. */
const MOVE_MS_MAX = 732 * DAY_MS

/** How far a clock may be ahead. Dates far beyond it would reach limits that no real store ever reaches. */
const AHEAD_MS_MAX = 3_653 * DAY_MS

export interface ClockDeps {
  clocks: Pick<KnownClocks, 'set' | 'settleMs'>
  /** As fd_worker, which may look for all due work. */
  workerDatabase: Database
  /** The kinds of work that become due by a store's clock. They are only asked when they are due. */
  work: readonly DueWork[]
}

/** Begins to move the store's time. A worker moves it, and does all the work that becomes due on the way. */
export async function move(
  { clocks }: Pick<ClockDeps, 'clocks'>,
  db: TenantDb,
  actor: audit.Actor,
  request: ClockMove,
) {
  const { offset_ms, now } = await db.transaction('test clock: begin a move', async (tx) => {
    const store = await lockSandbox(tx)
    const clock = await readClock(tx)
    requireStill(clock)
    const target = readTarget(store, clock, request)
    const moved = await queries.beginMove(tx, target, clocks.settleMs)
    await audit.record(tx, actor, {
      action: 'test_clock.moved',
      entity: `store:${tx.tenant}`,
      before: { now: clock.now },
      after: { now: target },
    })
    return moved
  })
  clocks.set(db.tenant, { offsetMs: offset_ms, isMoving: true })
  return { now, state: 'advancing' as const }
}

/**
 * Returns the store's time, the work that its last move ran, and the next that becomes due. A store that is not a
 * sandbox has machine time.
 */
export async function read({ workerDatabase, work }: ClockDeps, db: Db, page: Page) {
  const { now, state, move } = await readClock(db)
  const { rows, shown } = await queries.listRuns(db, move, page)
  const waits = state !== 'advancing' && (await stores.get(db)).sandbox
  const next_due = waits ? await queries.findNextDue(workerDatabase.tenant(db.tenant), work) : null
  return { now, state, next_due, ran: rows, ...shown }
}

/** Sets the clock of a store without orders back to machine time. */
export async function reset(
  { clocks }: Pick<ClockDeps, 'clocks'>,
  db: TenantDb,
  actor: audit.Actor,
) {
  const now = await db.transaction('test clock: reset', async (tx) => {
    await lockSandbox(tx)
    const clock = await readClock(tx)
    requireStill(clock)
    if (await orders.hasOrders(tx)) throw refuse('clock_has_orders')
    await queries.resetClock(tx)
    await audit.record(tx, actor, {
      action: 'test_clock.reset',
      entity: `store:${tx.tenant}`,
      before: { now: clock.now },
    })
    return queries.findMachineTime(tx)
  })
  clocks.set(db.tenant, { offsetMs: 0, isMoving: false })
  return { now, state: 'ready' as const }
}

/** Makes a store a sandbox, or makes it an ordinary store again. Real money and moved time exclude each other. */
export const setSandbox = (
  db: TenantDb,
  actor: audit.Actor,
  deps: payments.PaymentDeps,
  sandbox: boolean,
): Promise<Store> =>
  stores.setSandbox(db, actor, sandbox, async (tx) => {
    if (!sandbox && (await queries.findClock(tx)) !== null) throw refuse('sandbox_fixed')
    if (!sandbox) return
    const hasOrders = await orders.hasOrders(tx)
    if (await payments.mayHaveRealMoney(tx, deps, hasOrders)) throw refuse('real_gateway')
  })

/** Locks the store, so that its moves begin one after another. Refuses a store that is not a sandbox. */
async function lockSandbox(tx: Tx): Promise<Store> {
  const store = await stores.lock(tx)
  if (!store.sandbox) throw refuse('not_sandbox')
  return store
}

function requireStill({ state, now }: Pick<ClockRow, 'state' | 'now'>): void {
  if (state === 'advancing') throw refuse('clock_advancing', { body: { now, state } })
}

/** Reads the clock of a store. A store that never moved its time has machine time. */
async function readClock(db: Db): Promise<ClockRow> {
  const clock = await queries.findClock(db)
  if (clock !== null) return clock
  return { now: await queries.findMachineTime(db), state: 'ready', offset_ms: 0, move: 0 }
}

/** Reads the time to which the clock is moved, in UTC. */
function readTarget(
  { time_zone }: Store,
  { now, offset_ms }: ClockRow,
  { advance, set }: ClockMove,
): string {
  if ((advance === undefined) === (set === undefined)) {
    throw invalidBody(advance === undefined ? 'advance' : 'set', 'send either `advance` or `set`')
  }
  const path = advance === undefined ? 'set' : 'advance'
  const target =
    advance === undefined ? readTime(set ?? '') : addDuration(time_zone, new Date(now), advance)
  if (target === null) {
    throw invalidBody(path, path === 'set' ? 'must be a time of RFC 3339' : NO_DURATION)
  }
  const byMs = target.getTime() - Date.parse(now)
  if (byMs <= 0) throw invalidBody(path, `must lead to a time after ${now}: time only goes forward`)
  if (byMs > MOVE_MS_MAX) throw invalidBody(path, 'must lead at most two years ahead')
  if (offset_ms + byMs > AHEAD_MS_MAX) {
    throw invalidBody(path, 'must not lead further than ten years ahead of real time')
  }
  return target.toISOString()
}

const NO_DURATION = 'must be a duration of ISO 8601 in whole units, such as P1M or P3DT12H'

function readTime(text: string): Date | null {
  const at = toUtc(text)
  return at === null ? null : new Date(at)
}
