import type { Logger } from 'pino'
import type { Database, TenantDb } from '../../db/database.ts'
import { forEachStore } from '../../platform/for-each-store.ts'
import { LeaseLostError } from '../../platform/leases.ts'
import type { SafeFetch } from '../../platform/safe-fetch.ts'
import * as queries from './dispatch-queries.ts'
import { deliverLane, type Lane, splitLanes } from './lane.ts'
import { giveBack } from './lane-queries.ts'
import * as queue from './queue-queries.ts'
import { createKeyring } from './secrets.ts'

/**
 * Attempts under way at the same time. Most of the time of one is spent waiting, so there can be
 * many: five hundred endpoints that hang, each holding its two, leave room for the rest.
 */
const SLOTS = 1_200

/** Of those at most so many go to endpoints that failed the last time. */
const TROUBLED_SLOTS = 300

/** What one store may hold, however many endpoints it has. */
const PER_TENANT = 16

/** What one endpoint may hold. One each when slots are running out. */
const PER_ENDPOINT = 2

/** A store whose endpoints are all busy is not asked again for so long, unless one comes free. */
const BLOCKED_MS = 100

export interface DispatcherOptions {
  database: Database
  fetch: SafeFetch
  /** Opens the signing secrets. */
  key: Buffer
  /** The waits between attempts, in seconds. */
  ladder: readonly number[]
  logger: Logger
  /** Called when an attempt has ended: there is room for another. */
  onFree?: () => void
  slots?: number
  /** Other than the contract's, for drills. */
  timeoutMs?: number
}

export interface Dispatcher {
  /** One step of the loop, as fd_worker: begins as many attempts as there is room for. */
  step(signal: AbortSignal): Promise<number>
  /** Waits for the attempts under way, which their deadline bounds. */
  drain(): Promise<void>
}

/** Sends what is due. Slots are filled as they come free, so that nobody waits for the slowest. */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { database, logger, slots = SLOTS, onFree = () => {} } = options
  const underWay = new Set<Promise<void>>()
  const busy = new Map<string, number>()
  const blockedUntil = new Map<string, number>()
  let troubled = 0
  let draining = false

  function count(tenant: string, change: number): void {
    const now = (busy.get(tenant) ?? 0) + change
    if (now === 0) busy.delete(tenant)
    else busy.set(tenant, now)
  }

  async function claim(db: TenantDb, limit: number, signal: AbortSignal): Promise<Lane[]> {
    const rows = await queries.claimDue(db, {
      limit,
      perEndpoint: underWay.size > slots / 2 ? 1 : PER_ENDPOINT,
      calmOnly: troubled >= TROUBLED_SLOTS,
    })
    // Without any under way it is not its endpoints: others were quicker.
    if (rows.length === 0 && busy.has(db.tenant)) {
      blockedUntil.set(db.tenant, performance.now() + BLOCKED_MS)
    }
    const lanes = splitLanes(db.tenant, rows)
    if (signal.aborted) {
      await Promise.all(lanes.map((lane) => giveBack(db, lane)))
      return []
    }
    // At once: the first must not wait until the last store has been asked.
    for (const lane of lanes) begin(lane)
    return lanes
  }

  /** What a worker held that was not heard of any more is anybody's. */
  async function takeOver(signal: AbortSignal): Promise<void> {
    const lapsed = await queue.listLapsed(database.global)
    const putBack = (tenant: string) => queue.endLapsed(database.tenant(tenant))
    await forEachStore(lapsed, putBack, { signal }).catch((error: unknown) => {
      // One store's trouble is no reason to send nothing of the others.
      logger.error({ err: error }, 'deliveries of a stopped worker could not be queued again')
    })
  }

  /** What each store holds. One that had nothing to give counts as full for a moment. */
  function countBusy(): Map<string, number> {
    const counted = new Map(busy)
    const now = performance.now()
    for (const [tenant, until] of blockedUntil) {
      if (until > now) counted.set(tenant, PER_TENANT)
      else blockedUntil.delete(tenant)
    }
    return counted
  }

  /** A lane, and then the endpoint's next ones, while it takes them and nobody else needs the slot. */
  async function sendAll(first: Lane): Promise<void> {
    const line = await options.fetch.openClient()
    const keysOf = createKeyring(options.key, first.tenant_ref, first.subscription_id)
    const mayGoOn = () => !draining && underWay.size < slots
    const laneOptions = { ...options, line, keysOf, mayGoOn }
    try {
      for (let lane: Lane | null = first; lane !== null; )
        lane = await deliverLane(laneOptions, lane)
    } finally {
      line.close()
    }
  }

  async function run(first: Lane): Promise<void> {
    const { tenant_ref, subscription_id, due } = first
    const failed = due[0].troubled
    count(tenant_ref, 1)
    if (failed) troubled++
    await sendAll(first).catch((error: unknown) => {
      // Whoever took it over writes what comes of it.
      if (error instanceof LeaseLostError) return
      // The lease ends by itself, and somebody tries again. Nothing was counted.
      logger.error(
        { err: error, subscription: subscription_id },
        'the result of a delivery could not be recorded',
      )
    })
    if (failed) troubled--
    count(tenant_ref, -1)
    blockedUntil.delete(tenant_ref)
  }

  function begin(lane: Lane): void {
    const running = run(lane).finally(() => {
      underWay.delete(running)
      onFree()
    })
    underWay.add(running)
  }

  return {
    async step(signal) {
      const free = slots - underWay.size
      if (free <= 0 || signal.aborted) return 0
      await takeOver(signal)
      const take = { slots: free, perTenant: PER_TENANT, busy: countBusy() }
      const taken = await queue.turns.claimFairlyBy(database, take, (db, limit) =>
        claim(db, limit, signal),
      )
      return taken.length
    },
    async drain() {
      draining = true
      await Promise.all(underWay)
    },
  }
}
