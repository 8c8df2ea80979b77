import type { AllStores, Database, TenantDb } from '../../db/database.ts'
import { invalidBody } from '../../errors.ts'
import { isUuid } from '../../kernel/schema.ts'
import { toUtc } from '../../kernel/time.ts'
import * as audit from '../../platform/audit.ts'
import { refuse } from './errors.ts'
import * as queries from './queries.ts'
import * as redriving from './redrive-queries.ts'
import type { Redrive } from './schema.ts'
import { getDelivery } from './service.ts'

export interface OperatorDeps {
  database: Database
  /** Reads the rows of all stores. */
  operator: AllStores
}

/** The topic that wakes the dispatcher when deliveries are due. */
export const WAKE_DISPATCH = 'webhook deliveries'

/** Sends a delivery again: the same bytes, with a new ladder of attempts. */
export async function redrive(
  { database, operator }: OperatorDeps,
  actor: audit.Actor,
  id: string,
) {
  const owner = isUuid(id) ? await queries.findTenantOf(operator, 'delivery', id) : null
  if (owner === null) throw refuse('delivery_not_found')
  const db = database.tenantForOwnWork(owner.tenant_ref)
  const before = await getDelivery(db, id)
  await db.transaction('webhooks: redrive', async (tx) => {
    await queries.lockContents(tx)
    const sent = await redriving.redriveOne(tx, id)
    if (!sent?.redriven) throw refusal(before.status)
    await audit.record(tx, actor, {
      action: 'webhook.delivery_redriven',
      entity: `delivery:${before.id}`,
      before: { status: before.status, attempt_count: before.attempt_count },
    })
    tx.notifyAfterCommit(WAKE_DISPATCH)
  })
  return getDelivery(db, id)
}

const refusal = (status: string) =>
  refuse('not_redrivable', {
    message:
      status === 'pending'
        ? 'The delivery is still pending. Wait until it is delivered or a dead letter.'
        : 'A test, an erased event and a delivery to an inactive endpoint cannot be sent again.',
    body: { current_status: status },
  })

/** How many deliveries one transaction reads: about a second's work, of the ten that a statement may take. */
const PAGE = 10_000
/** How long one call works: a proxy in front of us may time out after thirty seconds. */
const CALL_MS = 20_000
const ZERO_ID = '00000000-0000-0000-0000-000000000000'

/**
 * Sends the dead letters of one endpoint again that were created in `[from, to)`, oldest first. If the
 * time of one call is too short for all, `next_from` says where the next call continues.
 */
export async function redriveAll(
  { database, operator }: OperatorDeps,
  actor: audit.Actor,
  { subscription_id, from, to }: Redrive,
  limitMs = CALL_MS,
) {
  const owner = await queries.findTenantOf(operator, 'subscription', subscription_id)
  if (owner === null) throw refuse('webhook_not_found')
  const span = { subscription_id, from: requireTime('from', from), to: requireTime('to', to) }
  const db = database.tenantForOwnWork(owner.tenant_ref)
  const until = performance.now() + limitMs
  let redriven = 0
  let after: redriving.Position = { made_at: span.from, id: ZERO_ID }
  do {
    const page = await redrivePage(db, actor, span, after)
    if (page === null) return { redriven, next_from: null }
    redriven += page.redriven
    // A delivery that becomes a dead letter again lies before this position, so it is not redriven twice.
    after = page
  } while (performance.now() < until)
  return { redriven, next_from: new Date(after.made_at).toISOString() }
}

const redrivePage = (
  db: TenantDb,
  actor: audit.Actor,
  { subscription_id, from, to }: Redrive,
  after: redriving.Position,
) =>
  db.transaction('webhooks: redrive some', async (tx) => {
    await queries.lockContents(tx)
    const page = await redriving.redriveSome(tx, { subscription_id, after, to }, PAGE)
    if (!page?.redriven) return page
    await audit.record(tx, actor, {
      action: 'webhook.deliveries_redriven',
      entity: `webhook:${subscription_id}`,
      after: { from, to, redriven: page.redriven },
    })
    tx.notifyAfterCommit(WAKE_DISPATCH)
    return page
  })

function requireTime(path: string, text: string): string {
  const at = toUtc(text)
  if (at !== null) return at
  throw invalidBody(path, 'must be a time in the years 1 to 9999')
}
