import type { Database, TenantDb } from '../../db/database.ts'
import type { Runner } from '../../db/sql.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import { isUuid } from '../../kernel/schema.ts'
import { toUtc } from '../../kernel/time.ts'
import * as audit from '../../platform/audit.ts'
import * as queries from './queries.ts'
import * as redriving from './redrive-queries.ts'
import type { Redrive } from './schema.ts'
import { getDelivery } from './service.ts'

export interface OperatorDeps {
  database: Database
  /** Reads over all stores. */
  operator: Runner
}

/** The name of the work that a delivery which is due means. */
export const WAKE_DISPATCH = 'webhook deliveries'

/** Sends a delivery again: the same bytes, up a new ladder. */
export async function redrive(
  { database, operator }: OperatorDeps,
  actor: audit.Actor,
  id: string,
) {
  const owner = isUuid(id) ? await queries.findTenantOf(operator, 'delivery', id) : null
  if (owner === null) throw new ApiError('delivery_not_found')
  const db = database.tenant(owner.tenant_ref)
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
  new ApiError('not_redrivable', {
    message:
      status === 'pending'
        ? 'The delivery is still pending. Wait until it is delivered or a dead letter.'
        : 'A test, an erased event and a delivery to an inactive endpoint cannot be sent again.',
    body: { current_status: status },
  })

/** How many deliveries are looked at in one commit: a second's work, of the ten that a statement has. */
const PAGE = 10_000
/** How long one call goes on: a proxy before us may have given up after thirty seconds. */
const PATIENCE_MS = 20_000
const ZERO_ID = '00000000-0000-0000-0000-000000000000'

/**
 * Sends the dead letters of one endpoint again, those made in `[from, to)`. Of very many it takes the
 * oldest, and says from when on there may be more.
 */
export async function redriveAll(
  { database, operator }: OperatorDeps,
  actor: audit.Actor,
  { subscription_id, from, to }: Redrive,
  patienceMs = PATIENCE_MS,
) {
  const owner = await queries.findTenantOf(operator, 'subscription', subscription_id)
  if (owner === null) throw new ApiError('webhook_not_found')
  const span = { subscription_id, from: requireTime('from', from), to: requireTime('to', to) }
  const db = database.tenant(owner.tenant_ref)
  const until = performance.now() + patienceMs
  let redriven = 0
  let after: redriving.Place = { made_at: span.from, id: ZERO_ID }
  do {
    const page = await redrivePage(db, actor, span, after)
    if (page === null) return { redriven, next_from: null }
    redriven += page.redriven
    // What dies again meanwhile lies behind us, and is not taken twice.
    after = page
  } while (performance.now() < until)
  return { redriven, next_from: new Date(after.made_at).toISOString() }
}

const redrivePage = (
  db: TenantDb,
  actor: audit.Actor,
  { subscription_id, from, to }: Redrive,
  after: redriving.Place,
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
