import type { Logger } from 'pino'
import type { Database, TenantDb, Tx } from '../../db/database.ts'
import { type Clock, systemClock } from '../../kernel/clock.ts'
import * as audit from '../../platform/audit.ts'
import { type Lease, LeaseLostError } from '../../platform/leases.ts'
import * as mail from '../../platform/mail.ts'
import type { SafeFetch, SafeLine } from '../../platform/safe-fetch.ts'
import * as stores from '../stores/service.ts'
import { attempt, type Outcome } from './attempt.ts'
import * as queries from './dispatch-queries.ts'
import type { SigningKey } from './envelope.ts'
import type { DueDelivery } from './schema.ts'
import { openKeys } from './secrets.ts'
import { emit } from './service.ts'

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

/** The contract's number of failures in a row after which an endpoint is paused. */
const PAUSE_AFTER = 10

export interface DispatcherOptions {
  database: Database
  fetch: SafeFetch
  /** Opens the signing secrets. */
  key: Buffer
  /** The waits between attempts, in seconds. */
  ladder: readonly number[]
  logger: Logger
  clock?: Clock
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

type Due = DueDelivery & Lease

/** Deliveries to one endpoint, sent one after another. */
type Lane = readonly [Due, ...Due[]]

const laneOf = (rows: readonly Due[]): Lane | null => {
  const [first, ...rest] = rows
  return first === undefined ? null : [first, ...rest]
}

/** What waits in a lane is leased; well before that lease ends it is somebody else's turn. */
const LANE_MS = 5_000

/** What has arrived is written down before the next is sent, once this has passed. A killed worker's lanes send so much twice. */
const WRITE_MS = 1_000

const splitLanes = (rows: readonly (Due & { lane: number })[]): Lane[] =>
  [...Map.groupBy(rows, ({ lane }) => lane).values()].map(laneOf).filter((lane) => lane !== null)

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

  async function claim(db: TenantDb, limit: number, signal: AbortSignal): Promise<Due[]> {
    const rows = await queries.claimDue(db, {
      limit,
      perEndpoint: underWay.size > slots / 2 ? 1 : PER_ENDPOINT,
      calmOnly: troubled >= TROUBLED_SLOTS,
    })
    // Without any under way it is not its endpoints: the event has no bytes yet, or others were quicker.
    if (rows.length === 0 && busy.has(db.tenant)) {
      blockedUntil.set(db.tenant, performance.now() + BLOCKED_MS)
    }
    if (signal.aborted) {
      await queries.giveBack(db, rows)
      return []
    }
    const lanes = splitLanes(rows)
    // At once: the first must not wait until the last store has been asked.
    for (const lane of lanes) begin(lane)
    return lanes.map(([first]) => first)
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

  /** Answers with the endpoint's next ones, while it takes them and nobody else needs the slot. */
  async function tryLane(lane: Lane, line: SafeLine): Promise<Lane | null> {
    const mayGoOn = () => !draining && underWay.size < slots
    try {
      return await deliverLane({ ...options, line, mayGoOn }, lane)
    } catch (error) {
      // Whoever took it over writes what comes of it.
      if (error instanceof LeaseLostError) return null
      // Their leases end by themselves, and somebody tries again. Nothing was counted.
      logger.error({ err: error, delivery: lane[0].id }, 'a delivery could not be settled')
      return null
    }
  }

  async function run(first: Lane): Promise<void> {
    const [{ tenant_ref, troubled: failed }] = first
    count(tenant_ref, 1)
    if (failed) troubled++
    const line = await options.fetch.openLine()
    for (let lane: Lane | null = first; lane !== null; ) lane = await tryLane(lane, line)
    line.close()
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
      const take = { slots: free, perTenant: PER_TENANT, busy: countBusy() }
      const taken = await queries.queue.takeFairBy(database, take, (db, limit) =>
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

interface LaneOptions extends DispatcherOptions {
  /** What the lane is sent over: one connection, as far as the endpoint keeps it open. */
  line: SafeLine
  mayGoOn(): boolean
}

/**
 * Sends what stands in a lane. What arrived is written down together: every now and then, and before
 * anything else is written. The first failure ends the lane, and what was behind it is anybody's
 * again.
 */
async function deliverLane(options: LaneOptions, lane: Lane): Promise<Lane | null> {
  const [{ tenant_ref, subscription_id }] = lane
  const db = options.database.tenant(tenant_ref)
  const keys = openKeys(options.key, lane[0], tenant_ref, subscription_id)
  const since = performance.now()
  let arrived: queries.Delivered[] = []
  let writtenAt = since
  const write = async (take: number) => {
    const rows = await queries.settleDelivered(db, subscription_id, arrived, take)
    arrived = []
    writtenAt = performance.now()
    return rows
  }
  for (const [index, due] of lane.entries()) {
    const late = index > 0 && performance.now() - since > LANE_MS
    const outcome = late || due.deleted || !due.active ? null : await send(options, due, keys)
    if (outcome?.delivered) {
      arrived.push({ due, attempt: outcome })
      const isLast = index === lane.length - 1
      if (!isLast && performance.now() - writtenAt > WRITE_MS) await write(0)
      continue
    }
    if (arrived.length > 0) await write(0)
    if (!late) await stopAt(options, db, due, outcome)
    await queries.giveBack(db, lane.slice(late ? index : index + 1))
    return null
  }
  return laneOf(await write(options.mayGoOn() ? queries.LANE_LENGTH : 0))
}

function send(
  { line, timeoutMs, clock = systemClock }: LaneOptions,
  due: Due,
  keys: readonly SigningKey[],
) {
  return attempt(
    { fetch: line, clock, timeoutMs },
    {
      url: due.endpoint_url,
      event_id: due.event_id,
      event_type: due.event_type,
      payload: Buffer.from(due.payload),
      keys,
      attempt: due.attempt_count + 1,
    },
  )
}

/** One that failed, or that nobody listens for any more. */
async function stopAt(
  { ladder }: DispatcherOptions,
  db: TenantDb,
  due: Due,
  outcome: Outcome | null,
): Promise<void> {
  if (outcome === null) {
    const error = due.deleted ? 'subscription_deleted' : 'subscription_inactive'
    await queries.deadLetter(db, due, error)
  } else {
    await db.transaction('webhooks: failure', (tx) => fail(tx, due, outcome, ladder))
  }
}

/** The wait begins when the attempt has ended, which is now. */
async function fail(tx: Tx, due: Due, outcome: Outcome, ladder: readonly number[]) {
  const steps = due.attempt_count - due.ladder_from
  const endpoint = await queries.settleFailed(tx, due, outcome, {
    retrySeconds: ladder[steps] ?? null,
    pauseAfter: PAUSE_AFTER,
  })
  if (endpoint?.paused) await announcePause(tx, endpoint)
}

interface PausedEndpoint {
  id: string
  url: string
  consecutive_failures: number
}

async function announcePause(tx: Tx, { id, url, consecutive_failures }: PausedEndpoint) {
  await audit.record(tx, audit.SYSTEM, {
    action: 'webhook.auto_paused',
    entity: `webhook:${id}`,
    before: { active: true },
    after: { active: false, consecutive_failures },
  })
  await emit(tx, {
    type: 'platform.webhook.paused.v1',
    data: { subscription_id: id, url, consecutive_failures },
  })
  const { owner_email, display_name } = await stores.get(tx)
  if (owner_email === null) return
  const letter = {
    to: owner_email,
    subject: 'A webhook endpoint of your store was paused',
    text: `Your store ${display_name} could not reach one of its webhook endpoints ${consecutive_failures} times in a row:

  ${url}

Nothing more is sent to it. Events for it are kept in the delivery ledger, and can be sent again. To bring it back, mend the endpoint and register the same address anew; it then gets a new signing secret.
`,
    tenant_ref: tx.tenant,
  }
  await mail.send(tx, letter).catch((error: unknown) => {
    // An address that no mail can go to must not keep the failure from being written down.
    if (!(error instanceof mail.InvalidMailError)) throw error
  })
}
