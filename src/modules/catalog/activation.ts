import { mapViolations } from '../../db/constraints.ts'
import type { AllStores, Database, TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import type { Page } from '../../kernel/page.ts'
import { isUuid } from '../../kernel/schema.ts'
import * as audit from '../../platform/audit.ts'
import type { Decision } from '../entitlements/schema.ts'
import * as queries from './activation-queries.ts'
import { closeRequest } from './activation-requests.ts'
import type { ActivationRequest, NewActivationRequest } from './activation-schema.ts'
import { listWarnings } from './activation-warnings.ts'
import { refuse } from './errors.ts'
import { updateStatus } from './queries.ts'
import { recordChange } from './record-change.ts'
import type { ProductRow } from './schema.ts'
import { change, entityOf, get, lock, refuseTransition, SLUG_EXISTS } from './service.ts'

/** Activates a draft product. Only an operator may. An open request for it is approved. */
export async function activate(db: TenantDb, actor: audit.Actor, id: string) {
  const product = await change(db, 'catalog: activate product', id, (tx, before) =>
    activateLocked(tx, actor, before, {}),
  )
  return { product, warnings: listWarnings(product) }
}

async function activateLocked(
  tx: Tx,
  actor: audit.Actor,
  before: ProductRow,
  { decision_note }: Pick<Decision, 'decision_note'>,
): Promise<void> {
  if (before.status === 'active') return
  if (before.status === 'archived') throw refuseTransition(before.status)
  const after = await updateStatus(tx, before.id, 'active')
  await recordChange(tx, actor, {
    action: 'product.activated',
    entity: entityOf(after),
    before,
    after,
  })
  await closeRequest(tx, actor, after, { status: 'approved', decision_note })
}

/**
 * Makes an archived product a draft again. Only an operator may. Its slug may belong to another
 * product by now; a product that is not archived stays as it is.
 */
export function unarchive(db: TenantDb, actor: audit.Actor, id: string) {
  return change(db, 'catalog: unarchive product', id, async (tx, before) => {
    if (before.status !== 'archived') return
    const after = await mapViolations(updateStatus(tx, id, 'draft'), SLUG_EXISTS, refuse)
    await recordChange(tx, actor, {
      action: 'product.unarchived',
      entity: entityOf(after),
      before,
      after,
    })
  })
}

/** Requests that the operator activates a draft. Where a request is open already, that one is returned. */
export function request(
  db: TenantDb,
  actor: audit.Actor,
  productId: string,
  { note }: NewActivationRequest,
) {
  return db.transaction('catalog: request activation', async (tx) => {
    const { status } = await lock(tx, productId)
    if (status !== 'draft') throw refuseTransition(status)
    const created = await queries.insertRequest(tx, productId, note ?? null, actor.name)
    const warnings = listWarnings(await get(tx, productId))
    if (created === null) {
      const open = await queries.findOpenRequest(tx, productId)
      if (open === null) throw new Error('the open request vanished under the lock of its product')
      return { request: open, warnings, already_requested: true }
    }
    await audit.record(tx, actor, {
      action: 'product.activation_requested',
      entity: `product:${productId}`,
      after: { request_id: created.id },
    })
    return { request: created, warnings, already_requested: false }
  })
}

export async function listAllRequests(
  operator: AllStores,
  status: ActivationRequest['status'] | undefined,
  page: Page,
) {
  const { rows, shown } = await queries.listAllRequests(operator, status, page)
  return { requests: rows, ...shown }
}

/** Decides a request. An approval activates the product in the same transaction. */
export async function decide(
  { operator, database }: { operator: AllStores; database: Database },
  actor: audit.Actor,
  id: string,
  decision: Decision,
) {
  const place = isUuid(id) ? await queries.findPlaceOfRequest(operator, id) : null
  if (place === null) throw new ApiError('request_not_found')
  const { tenant_ref, product_id } = place
  return database
    .tenantForOwnWork(tenant_ref)
    .transaction('catalog: decide activation', async (tx) => {
      const before = await lock(tx, product_id)
      const open = await queries.findOpenRequest(tx, product_id)
      if (open?.id !== id) throw new ApiError('request_decided')
      if (decision.status === 'approved') await activateLocked(tx, actor, before, decision)
      else await closeRequest(tx, actor, before, decision)
      const product = await get(tx, product_id)
      const decided = { product_id, ...(product.activation_request ?? open) }
      return { request: decided, warnings: listWarnings(product) }
    })
}
