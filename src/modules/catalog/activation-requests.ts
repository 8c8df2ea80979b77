import type { Tx } from '../../db/database.ts'
import * as audit from '../../platform/audit.ts'
import * as mail from '../../platform/mail.ts'
import * as stores from '../stores/service.ts'
import * as queries from './activation-queries.ts'
import type { ActivationRequest } from './activation-schema.ts'
import type { ProductRow } from './schema.ts'

type Outcome = Parameters<typeof queries.closeOpenRequest>[2]

/**
 * Closes the open request of a product, if it has one, and mails the operator's decision to the
 * owner. Call it under the product's lock.
 */
export async function closeRequest(
  tx: Tx,
  actor: audit.Actor,
  product: Pick<ProductRow, 'id' | 'name'>,
  outcome: Outcome,
): Promise<ActivationRequest | null> {
  const closed = await queries.closeOpenRequest(tx, product.id, outcome)
  if (closed === null) return null
  await audit.record(tx, actor, {
    action: `product.activation_${outcome.status}`,
    entity: `product:${product.id}`,
    after: { request_id: closed.id },
    reason: outcome.decision_note,
  })
  if (outcome.status !== 'withdrawn') await mailDecision(tx, product.name, closed)
  return closed
}

async function mailDecision(tx: Tx, name: string, request: ActivationRequest) {
  const { owner_email, display_name } = await stores.get(tx)
  if (owner_email === null) return
  const isApproved = request.status === 'approved'
  const outcome = isApproved
    ? `The product is active now: shoppers see it while the store is live.`
    : `The product stays a draft. You can change it and request its activation again.`
  const note = request.decision_note ? `\nThe operator's note:\n\n${request.decision_note}\n` : ''
  await mail.send(tx, {
    to: owner_email,
    subject: isApproved ? 'Your product is active' : 'Your product was not activated',
    text: `The operator has ${request.status} the activation of "${name}" in your store ${display_name}.

${outcome}
${note}`,
    tenant_ref: tx.tenant,
  })
}
