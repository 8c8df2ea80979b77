import type { Database, TenantDb, Tx } from '../../db/database.ts'
import type { Clock } from '../../kernel/clock.ts'
import * as audit from '../../platform/audit.ts'
import * as mail from '../../platform/mail.ts'
import type { SafeClient } from '../../platform/safe-fetch.ts'
import * as stores from '../stores/service.ts'
import { attempt, type Outcome } from './attempt.ts'
import { LANE_LENGTH } from './dispatch-queries.ts'
import type { SigningKey } from './envelope.ts'
import { endpointPaused } from './events.ts'
import * as queries from './lane-queries.ts'
import type { DueDelivery, LaneLease } from './schema.ts'
import type { createKeyring } from './secrets.ts'

/** Deliveries to one endpoint, sent one after another. */
export interface Lane extends LaneLease {
  tenant_ref: string
  due: readonly [DueDelivery, ...DueDelivery[]]
}

const laneOf = (
  tenant_ref: string,
  { subscription_id, lane, lease_token }: LaneLease,
  [first, ...rest]: readonly DueDelivery[],
): Lane | null =>
  first === undefined
    ? null
    : { tenant_ref, subscription_id, lane, lease_token, due: [first, ...rest] }

export const splitLanes = (tenant: string, rows: readonly (DueDelivery & LaneLease)[]): Lane[] =>
  [...Map.groupBy(rows, ({ lane }) => lane).values()]
    .map((due) => due[0] && laneOf(tenant, due[0], due))
    .filter((lane) => lane != null)

/** How long a lane sends. It must end well before its lease expires. */
const LANE_MS = 5_000

/** How often results are stored. A killed worker's lanes send the deliveries of this time twice. */
const WRITE_MS = 1_000

/** The contract's number of failures in a row after which an endpoint is paused. */
const PAUSE_AFTER = 10

export interface LaneOptions {
  database: Database
  /** The waits between attempts, in seconds. */
  ladder: readonly number[]
  /** Replaces the contract's timeout in tests. */
  timeoutMs?: number
  keysOf: ReturnType<typeof createKeyring>
  /** One connection for the whole lane, as long as the endpoint keeps it open. */
  client: SafeClient
  mayContinue(): boolean
}

/**
 * Sends the deliveries of a lane and returns the endpoint's next lane, or null. Successes are stored together: once a
 * second, and before anything else is stored. The first failure ends the lane; its unsent deliveries go back to the
 * queue.
 */
export async function deliverLane(options: LaneOptions, lane: Lane): Promise<Lane | null> {
  const { tenant_ref, due } = lane
  const [endpoint] = due
  const db = options.database.tenant(tenant_ref)
  const { url } = endpoint
  if (!endpoint.active || url === null) {
    const error = endpoint.deleted ? 'subscription_deleted' : 'subscription_inactive'
    await queries.deadLetter(db, lane, error)
    return null
  }
  const keys = options.keysOf(endpoint)
  const since = performance.now()
  let arrived: queries.Delivered[] = []
  let writtenAt = since
  const write = async (rest: readonly DueDelivery[]) => {
    await queries.recordDelivered(db, lane, arrived, rest)
    arrived = []
    writtenAt = performance.now()
  }
  for (const [index, each] of due.entries()) {
    const timeUp = index > 0 && performance.now() - since > LANE_MS
    const outcome = timeUp ? null : await send(options, db.clock, each, { url, keys })
    if (outcome?.delivered) {
      arrived.push({ due: each, attempt: outcome })
      const isLast = index === due.length - 1
      if (!isLast && performance.now() - writtenAt > WRITE_MS) await write(due.slice(index + 1))
      continue
    }
    if (arrived.length > 0) await write(due.slice(index))
    if (outcome === null) await queries.releaseLane(db, lane)
    else await recordFailure(options.ladder, db, lane, { due: each, attempt: outcome })
    return null
  }
  const take = options.mayContinue() ? LANE_LENGTH : 0
  return laneOf(tenant_ref, lane, await queries.recordAndTakeNext(db, lane, arrived, take))
}

function send(
  { client, timeoutMs }: LaneOptions,
  clock: Clock,
  due: DueDelivery,
  { url, keys }: { url: string; keys: readonly SigningKey[] },
) {
  return attempt(
    { fetch: client, clock, timeoutMs },
    {
      url,
      event_id: due.event_id,
      event_type: due.event_type,
      payload: Buffer.from(due.payload),
      keys,
      attempt: due.attempt_count + 1,
      replay: due.replay,
    },
  )
}

/** Records a failed attempt, and ends the lane. */
async function recordFailure(
  ladder: readonly number[],
  db: TenantDb,
  lane: Lane,
  failed: { due: DueDelivery; attempt: Outcome },
): Promise<void> {
  const { attempt_count, ladder_from } = failed.due
  const retrySeconds = ladder[attempt_count - ladder_from] ?? null
  await db.transaction('webhooks: failure', async (tx) => {
    // The wait is counted from the end of the attempt, which is now.
    const options = { retrySeconds, pauseAfter: PAUSE_AFTER }
    const endpoint = await queries.recordFailed(tx, lane, failed, options)
    if (endpoint?.paused) await announcePause(tx, endpoint)
  })
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
  await endpointPaused.emit(tx, { subscription_id: id, url, consecutive_failures })
  const { owner_email, display_name } = await stores.get(tx)
  if (owner_email === null) return
  const letter = {
    to: owner_email,
    subject: 'A webhook endpoint of your store was paused',
    text: `Your store ${display_name} could not reach one of its webhook endpoints ${consecutive_failures} times in a row:

  ${url}

The endpoint is paused: nothing more is sent to it. Its events stay in the list of deliveries and can be sent again. To resume, repair the endpoint and register the same URL again; it then gets a new signing secret.
`,
    tenant_ref: tx.tenant,
  }
  await mail.send(tx, letter).catch((error: unknown) => {
    // A failure must be recorded even if the owner's address is invalid.
    if (!(error instanceof mail.InvalidMailError)) throw error
  })
}
