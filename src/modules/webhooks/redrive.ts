import type { Database } from '../../db/database.ts'
import type { Runner } from '../../db/sql.ts'
import { ApiError } from '../../errors.ts'
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
    if ((await redriving.redriveOne(tx, id)) === 0) throw refusal(before.status)
    await audit.record(tx, actor, {
      action: 'webhook.delivery_redriven',
      entity: `delivery:${before.id}`,
      before: { status: before.status, attempt_count: before.attempt_count },
    })
    tx.wakeAfterCommit(WAKE_DISPATCH)
  })
  return getDelivery(db, id)
}

const refusal = (status: string) =>
  new ApiError('not_redrivable', {
    message:
      status === 'pending'
        ? 'The delivery is still under way.'
        : 'Only an event of the store goes out again, with its content, to an active endpoint.',
    body: { current_status: status },
  })

/** Sends the dead letters of one endpoint again, those made in `[from, to)`. */
export async function redriveAll(
  { database, operator }: OperatorDeps,
  actor: audit.Actor,
  { subscription_id, from, to }: Redrive,
) {
  const owner = await queries.findTenantOf(operator, 'subscription', subscription_id)
  if (owner === null) throw new ApiError('webhook_not_found')
  const span = { from: requireTime('from', from), to: requireTime('to', to) }
  const db = database.tenant(owner.tenant_ref)
  return db.transaction('webhooks: redrive all', async (tx) => {
    await queries.lockContents(tx)
    const redriven = await redriving.redriveAll(tx, { subscription_id, ...span })
    await audit.record(tx, actor, {
      action: 'webhook.deliveries_redriven',
      entity: `webhook:${subscription_id}`,
      after: { ...span, redriven },
    })
    tx.wakeAfterCommit(WAKE_DISPATCH)
    return { redriven }
  })
}

function requireTime(path: string, text: string): string {
  const at = toUtc(text)
  if (at !== null) return at
  const message = 'must be a time between the years 1 and 9999'
  throw new ApiError('invalid_body', { body: { issues: [{ path, message }] } })
}
