import type { Logger } from 'pino'
import type { Database, TenantDb } from '../../db/database.ts'
import type { Done, DueWork } from '../../platform/due-work.ts'
import { forEachStore } from '../../platform/for-each-store.ts'
import { LeaseLostError } from '../../platform/leases.ts'
import type { SafeFetch } from '../../platform/safe-fetch.ts'
import * as queries from './dispatch-queries.ts'
import { deliverLane, type Lane, splitLanes } from './lane.ts'
import { releaseLane } from './lane-queries.ts'
import * as queue from './queue-queries.ts'
import { createKeyring } from './secrets.ts'

/**
 * The maximum number of lanes at the same time. An attempt mostly waits, so there can be many: five
 * hundred endpoints that hang, with two lanes each, still leave slots for the others.
 */
const SLOTS = 1_200

/** The maximum number of slots for endpoints whose last attempt failed. */
const FAILING_SLOTS = 300

/** The maximum number of slots of one store, for any number of endpoints. */
const PER_TENANT = 16

/** The maximum number of slots of one endpoint. It is 1 while more than half of all slots are used. */
const PER_ENDPOINT = 2

/** How long a store whose endpoints are all busy is left out, unless one of them becomes free. */
const BLOCKED_MS = 100

export interface DispatcherOptions {
  database: Database
  fetch: SafeFetch
  /** Decrypts the signing secrets. */
  key: Buffer
  /** The waits between attempts, in seconds. */
  ladder: readonly number[]
  logger: Logger
  /** Called when a lane has ended and its slot is free. */
  onFree?: () => void
  slots?: number
  /** Replaces the contract's timeout in tests. */
  timeoutMs?: number
}

export interface Dispatcher {
  /** Runs one step of the loop, as fd_worker: begins as many lanes as there are free slots. */
  step(signal: AbortSignal): Promise<number>
  /** Waits for the lanes under way; the timeout of each attempt bounds the wait. */
  drain(): Promise<void>
}

/** Sends due deliveries. A free slot is filled at once, so that no delivery waits for the slowest lane. */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { database, logger, slots = SLOTS, onFree = () => {} } = options
  const underWay = new Set<Promise<void>>()
  const usage = createSlotUsage()
  let draining = false
  const mayContinue = () => !draining && underWay.size < slots

  async function claim(db: TenantDb, limit: number, signal: AbortSignal): Promise<Lane[]> {
    const rows = await queries.claimDue(db, {
      limit,
      perEndpoint: underWay.size > slots / 2 ? 1 : PER_ENDPOINT,
      healthyOnly: usage.failing() >= FAILING_SLOTS,
    })
    // A store without lanes under way is not blocked: other workers claimed its deliveries first.
    if (rows.length === 0 && usage.isBusy(db.tenant)) usage.block(db.tenant)
    const lanes = splitLanes(db.tenant, rows)
    if (signal.aborted) {
      await Promise.all(lanes.map((lane) => releaseLane(db, lane)))
      return []
    }
    // The lanes begin at once: the first one must not wait for the claims of the other stores.
    for (const lane of lanes) begin(lane)
    return lanes
  }

  async function run(first: Lane): Promise<void> {
    usage.take(first)
    await sendLanes(options, mayContinue, first).catch((error: unknown) => {
      // Another worker took the lane over, and records its results.
      if (error instanceof LeaseLostError) return
      // The lease expires and another worker sends the deliveries again. No attempt was counted.
      logger.error(
        { err: error, subscription: first.subscription_id },
        'the result of a delivery could not be recorded',
      )
    })
    usage.free(first)
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
      await requeueExpired(options, signal)
      const take = { slots: free, perTenant: PER_TENANT, busy: usage.byStore() }
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

type SendOptions = Omit<DispatcherOptions, 'onFree' | 'slots'>

/**
 * The deliveries of one store as due work, for a store whose clock is being moved: their retries follow its clock.
 * Their signatures have machine time, because receivers compare them with their own clock.
 */
export const dueDeliveries = (options: SendOptions): DueWork => ({
  kind: 'webhook_delivery',
  nextDue: queue.nextDelivery,
  async runDue(db) {
    await queue.endExpiredLanes(db)
    const claim = { limit: PER_TENANT, perEndpoint: PER_ENDPOINT, healthyOnly: false }
    const rows = await queries.claimDue(db, claim)
    const lanes = splitLanes(db.tenant, rows)
    await Promise.all(lanes.map((lane) => sendUnlessLost(options, lane)))
    return resultsOf(db, rows)
  },
})

const sendUnlessLost = (options: SendOptions, lane: Lane): Promise<void> =>
  sendLanes(options, () => false, lane).catch((error: unknown) => {
    // Another worker took the lane over, and records its results.
    if (!(error instanceof LeaseLostError)) throw error
  })

/** Reports the deliveries that were sent. A delivery that its lane did not reach is still due. */
async function resultsOf(
  db: TenantDb,
  rows: readonly { id: string; attempt_count: number }[],
): Promise<Done> {
  const before = new Map(rows.map(({ id, attempt_count }) => [id, attempt_count]))
  const results = await queue.listResults(db, [...before.keys()])
  const ended = results.filter(
    ({ id, attempt_count, status }) => status !== 'pending' || attempt_count !== before.get(id),
  )
  const ran = ended.map(({ id, status }) => ({
    id,
    outcome: status === 'pending' ? 'failed' : status,
  }))
  return { count: ran.length, ran }
}

/** Counts the slots that each store uses, and those of failing endpoints. */
function createSlotUsage() {
  const busy = new Map<string, number>()
  const blockedUntil = new Map<string, number>()
  let failing = 0

  function count(lane: Lane, change: 1 | -1): void {
    const { tenant_ref, due } = lane
    const used = (busy.get(tenant_ref) ?? 0) + change
    if (used === 0) busy.delete(tenant_ref)
    else busy.set(tenant_ref, used)
    if (due[0].failing) failing += change
  }

  return {
    failing: () => failing,
    isBusy: (tenant: string) => busy.has(tenant),
    /** Leaves a store out for a while, since all its endpoints are busy. */
    block: (tenant: string) => void blockedUntil.set(tenant, performance.now() + BLOCKED_MS),
    take: (lane: Lane) => count(lane, 1),
    free(lane: Lane): void {
      count(lane, -1)
      blockedUntil.delete(lane.tenant_ref)
    },
    /** Returns the slots that each store uses. A blocked store counts as full. */
    byStore(): Map<string, number> {
      const counted = new Map(busy)
      const now = performance.now()
      for (const [tenant, until] of blockedUntil) {
        if (until > now) counted.set(tenant, PER_TENANT)
        else blockedUntil.delete(tenant)
      }
      return counted
    },
  }
}

/** Queues the deliveries of stopped workers, whose leases have expired. */
async function requeueExpired(
  { database, logger }: DispatcherOptions,
  signal: AbortSignal,
): Promise<void> {
  const expired = await queue.listStoresWithExpiredLanes(database.due)
  const requeue = (tenant: string) => queue.endExpiredLanes(database.tenant(tenant))
  await forEachStore(expired, requeue, { signal }).catch((error: unknown) => {
    // An error in one store must not stop the deliveries of the others.
    logger.error({ err: error }, 'deliveries of a stopped worker could not be queued again')
  })
}

/** Sends a lane, and then the endpoint's next ones while there are any and `mayContinue` allows it. */
async function sendLanes(
  options: SendOptions,
  mayContinue: () => boolean,
  first: Lane,
): Promise<void> {
  const client = await options.fetch.openClient()
  const keysOf = createKeyring(options.key, first.tenant_ref, first.subscription_id)
  const laneOptions = { ...options, client, keysOf, mayContinue }
  try {
    for (let lane: Lane | null = first; lane !== null; ) lane = await deliverLane(laneOptions, lane)
  } finally {
    client.close()
  }
}
