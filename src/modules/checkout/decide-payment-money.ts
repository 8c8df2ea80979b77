import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import { isUuid } from '../../kernel/schema.ts'
import { HOUR_MS } from '../../kernel/time.ts'
import * as audit from '../../platform/audit.ts'
import * as idempotency from '../../platform/idempotency.ts'
import { claimWaiting } from '../../platform/idempotency-due.ts'
import { LeaseLostError } from '../../platform/leases.ts'
import { findRefundOfAttempt } from '../order-changes/service.ts'
import * as orders from '../orders/service.ts'
import { forMerchant } from '../orders/show.ts'
import { findAttempt, getAttempt } from '../payments/attempts.ts'
import { ANSWER_WAIT_HOURS, type Attempt, type AttemptKind } from '../payments/schema.ts'
import { closeByOperator, isTxnTaken } from '../payments/unsettled.ts'
import type { Resolution, Resolved } from './decide-payment-schema.ts'
import { refuse } from './errors.ts'
import { resumeOperation } from './operations-money.ts'
import type { CheckoutDeps } from './service.ts'

/**
 * Ends an operation whose gateway never replies, as an operator decides. The operation is resumed first, so
 * that the gateway is asked once more. Only if it is still silent, the operator's decision is stored as the
 * outcome of the attempt, and the operation is resumed by it.
 */
export async function resolvePayment(
  deps: CheckoutDeps,
  db: TenantDb,
  actor: audit.Actor,
  { attemptId, decision }: { attemptId: string; decision: Resolution },
): Promise<Resolved> {
  const attempt = await requireResolvable(db, attemptId, decision)
  const first = await resume(deps, db, await takeOver(db, actor, attempt))
  if (first === 'overtaken') throw busy()
  if (first === 'ended') {
    await db.transaction('resolve: decided by the gateway', (tx) =>
      record(tx, actor, attempt, { decision, decided_by: 'gateway' }),
    )
    return answer(db, attempt, 'gateway')
  }
  await requireSilent(db, attempt)
  const claim = await takeOver(db, actor, attempt)
  await decide(db, claim, attempt, { actor, decision })
  await deps.at?.('resolved')
  // Another attempt of the operation may still be unknown; then the operation ends with that one. A
  // process that has overtaken us continues by the decision.
  await resume(deps, db, claim)
  return answer(db, attempt, 'operator')
}

const ANSWER_WAIT_MS = ANSWER_WAIT_HOURS * HOUR_MS

async function requireResolvable(
  db: TenantDb,
  attemptId: string,
  decision: Resolution,
): Promise<Attempt> {
  const attempt = isUuid(attemptId) ? await findAttempt(db, attemptId) : null
  if (attempt === null) throw refuse('payment_not_found')
  requireOpen(attempt)
  if (db.clock.now() - Date.parse(attempt.created_at) < ANSWER_WAIT_MS) {
    throw refusal(
      'too_early',
      `The gateway has ${ANSWER_WAIT_HOURS} hours to answer. Try again after that.`,
    )
  }
  if (decision.outcome === 'approved') await requireApproval(db, attempt, decision)
  return attempt
}

function requireOpen({ state }: Attempt): void {
  if (state === 'begun' || state === 'unknown') return
  throw refusal('decided', 'The outcome of this payment is already known. See `state`.', { state })
}

/** Kinds that act on another transaction, and are known by that one. A refund may have its own. */
const OF_ANOTHER: readonly AttemptKind[] = ['release', 'void']

/** Refuses an approval that does not name the transaction and its whole amount: a part is no payment. */
async function requireApproval(
  db: Db,
  attempt: Attempt,
  { txn_id, amount_cents }: Resolution,
): Promise<void> {
  const { kind, reason, parent_txn_id } = attempt
  if (txn_id === undefined) throw invalidBody('txn_id', 'must be sent when `outcome` is `approved`')
  if (amount_cents !== attempt.amount_cents) {
    throw invalidBody('amount_cents', 'must be the whole amount of the payment')
  }
  if (OF_ANOTHER.includes(kind)) {
    if (txn_id !== parent_txn_id)
      throw invalidBody(
        'txn_id',
        'must be the transaction that the payment acts on (parent_txn_id)',
      )
    return
  }
  if (kind === 'refund') return
  if (reason !== null) {
    const message =
      'This payment is being reversed. Make sure that the shopper has the money, then send `declined`.'
    throw refusal('taken_back', message)
  }
  if (await isTxnTaken(db, attempt, txn_id)) throw taken()
}

const taken = () =>
  refusal('txn_taken', 'That transaction belongs to another payment of the store. Check `txn_id`.')

const refusal = (reason: string, message: string, body: Record<string, unknown> = {}) =>
  refuse('payment_not_resolvable', { message, body: { reason, ...body } })

/** Claims the open key that waits for an attempt. */
async function takeOver(
  db: TenantDb,
  { correlationId }: audit.Actor,
  { id, order_id, kind }: Attempt,
): Promise<idempotency.WonClaim> {
  const refundId = kind === 'refund' ? await findRefundOfAttempt(db, order_id, id) : null
  // A refund has a key of its own; the refund of a cancellation or an edit has that of the order.
  const ofRefund = refundId === null ? null : await claimWaiting(db, refundId)
  const claim = ofRefund ?? (await claimWaiting(db, order_id))
  if (claim === 'busy') throw busy()
  if (claim !== null) return { ...claim, ...(correlationId === null ? {} : { correlationId }) }
  requireOpen(await getAttempt(db, id))
  throw busy()
}

/** The refusal while a process asks the gateway: that is done within a minute. */
const busy = () => new ApiError('order_busy', { headers: { 'retry-after': '60' } })

async function resume(
  deps: CheckoutDeps,
  db: TenantDb,
  claim: idempotency.WonClaim,
): Promise<'ended' | 'silent' | 'overtaken'> {
  try {
    await resumeOperation(deps, db, claim)
    return 'ended'
  } catch (error) {
    if (error instanceof LeaseLostError) return 'overtaken'
    if (error instanceof ApiError && error.code === 'idempotency_in_progress') return 'silent'
    throw error
  }
}

/**
 * Refuses where the gateway is not silent about the attempt. A lookup in vain counts on the attempt; where
 * none counts, the operation waits for another attempt.
 */
async function requireSilent(db: TenantDb, before: Attempt): Promise<void> {
  const now = await getAttempt(db, before.id)
  requireOpen(now)
  if (now.state !== before.state || now.checks > before.checks) return
  const message =
    'The gateway has answered for this payment. The order waits for another one: resolve that.'
  throw refusal('answered', message)
}

async function decide(
  db: TenantDb,
  claim: idempotency.WonClaim,
  attempt: Attempt,
  { actor, decision }: { actor: audit.Actor; decision: Resolution },
): Promise<void> {
  const { id: attempt_id, kind, order_id, amount_cents } = attempt
  try {
    await db.transaction('resolve: decided by an operator', async (tx) => {
      await idempotency.renew(tx, claim)
      if (!(await closeByOperator(tx, attempt, decision))) throw busy()
      // Checked again under the lock: two operators may name one transaction at once.
      if (decision.outcome === 'approved') await requireApproval(tx, attempt, decision)
      await record(tx, actor, attempt, { decision, decided_by: 'operator' })
      await orders.addToTimeline(tx, order_id, {
        type: 'payment_resolved',
        actor: actor.name,
        data: { attempt_id, kind, amount_cents, outcome: decision.outcome },
      })
    })
  } catch (error) {
    throw error instanceof LeaseLostError ? busy() : error
  }
}

interface Decided {
  decision: Resolution
  decided_by: Resolved['decided_by']
}

const record = (
  tx: Tx,
  actor: audit.Actor,
  { id: attempt_id, order_id, kind, amount_cents }: Attempt,
  { decision: { outcome, txn_id, reason }, decided_by }: Decided,
) =>
  audit.record(tx, actor, {
    action: 'payment.resolved',
    entity: `order:${order_id}`,
    after: { attempt_id, kind, amount_cents, outcome, txn_id: txn_id ?? null, decided_by },
    reason,
  })

async function answer(
  db: TenantDb,
  { id, order_id }: Attempt,
  decided_by: Resolved['decided_by'],
): Promise<Resolved> {
  const [attempt, order] = await Promise.all([getAttempt(db, id), orders.get(db, order_id)])
  const { kind, gateway, amount_cents, currency, state, txn_id, parent_txn_id } = attempt
  const { created_at, closed_at } = attempt
  const amounts = { amount_cents, currency, txn_id, parent_txn_id }
  return {
    payment: { attempt_id: id, order_id, kind, gateway, state, created_at, closed_at, ...amounts },
    decided_by,
    order: forMerchant(order),
  }
}
