import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { isUuid } from '../../kernel/schema.ts'
import * as audit from '../../platform/audit.ts'
import * as idempotency from '../../platform/idempotency.ts'
import { inProgress } from '../../platform/idempotency-run.ts'
import { takeWaiting } from '../../platform/idempotency-upkeep.ts'
import { LeaseLostError } from '../../platform/leases.ts'
import * as orderRows from '../orders/money.ts'
import * as orders from '../orders/service.ts'
import { type Attempt, type AttemptKind, PATIENCE_HOURS } from '../payments/schema.ts'
import * as payments from '../payments/service.ts'
import type { Resolution, Resolved } from './resolve-schema.ts'
import { endExpired, RESUMES } from './resume-money.ts'
import type { CheckoutDeps } from './service.ts'

/**
 * Ends by hand what a gateway never speaks of again. Whoever says it takes the work over as the
 * reconciler does, and asks the gateway once more. Only where that is silent still, the word of the
 * person is written down as how the attempt ended, and the same function goes on by it.
 */
export async function resolve(
  deps: CheckoutDeps,
  db: TenantDb,
  actor: audit.Actor,
  attemptId: string,
  said: Resolution,
): Promise<Resolved> {
  const attempt = await requireResolvable(deps, db, attemptId, said)
  const work = await takeOver(deps, db, actor, attempt)
  const heard = await hear(work)
  if (heard === 'overtaken') throw busy()
  if (heard === 'ended') {
    await db.transaction('checkout: resolved by the gateway', (tx) =>
      record(tx, actor, attempt, said, 'gateway'),
    )
    return answer(db, attempt, 'gateway')
  }
  await requireSilent(db, attempt)
  await decide(db, work, actor, attempt, said)
  await deps.at?.('resolved')
  // What else the same operation waits for may be silent still: then it ends with that. Whoever has
  // overtaken us goes on by what was said.
  await hear(work)
  return answer(db, attempt, 'operator')
}

const PATIENCE_MS = PATIENCE_HOURS * 3_600_000

async function requireResolvable(
  { clock }: CheckoutDeps,
  db: TenantDb,
  attemptId: string,
  said: Resolution,
): Promise<Attempt> {
  const attempt = isUuid(attemptId) ? await payments.findAttempt(db, attemptId) : null
  if (attempt === null) throw new ApiError('payment_not_found')
  requireOpen(attempt)
  if (clock.now() - Date.parse(attempt.created_at) < PATIENCE_MS) {
    throw refusal(
      'too_early',
      `The gateway has ${PATIENCE_HOURS} hours to answer. Try again after that.`,
    )
  }
  if (said.outcome === 'approved') await requireApproval(db, attempt, said)
  return attempt
}

function requireOpen({ state }: Attempt): void {
  if (state === 'begun' || state === 'unknown') return
  throw refusal('decided', 'The outcome of this payment is already known. See `state`.', { state })
}

/** What acts on another transaction is known by that one. A refund may have one of its own. */
const OF_ANOTHER: readonly AttemptKind[] = ['release', 'void']

/** An approval names what it is about, and all of it: a part is no payment. */
async function requireApproval(
  db: Db,
  attempt: Attempt,
  { txn_id, amount_cents }: Resolution,
): Promise<void> {
  const { kind, reason, parent_txn_id } = attempt
  if (txn_id === undefined) throw invalid('txn_id', 'must be sent with the outcome approved')
  if (amount_cents !== attempt.amount_cents) {
    throw invalid('amount_cents', 'must be the whole amount of the payment')
  }
  if (OF_ANOTHER.includes(kind)) {
    if (txn_id !== parent_txn_id)
      throw invalid('txn_id', 'must be the transaction that the payment acts on (parent_txn_id)')
    return
  }
  if (kind === 'refund') return
  if (reason !== null) {
    const words =
      'This payment is being reversed. Make sure that the shopper has the money, then send `declined`.'
    throw refusal('taken_back', words)
  }
  if (await payments.isTxnTaken(db, attempt, txn_id)) throw taken()
}

const taken = () =>
  refusal('txn_taken', 'That transaction belongs to another payment of the store. Check `txn_id`.')

const invalid = (path: string, message: string) =>
  new ApiError('invalid_body', { body: { issues: [{ path, message }] } })

const refusal = (reason: string, message: string, body: Record<string, unknown> = {}) =>
  new ApiError('payment_not_resolvable', { message, body: { reason, ...body } })

/** What waits for an attempt, in our hands. */
interface Work {
  /** Asks what is not known yet, and ends it if it can. */
  goOn(): Promise<unknown>
  /** Throws where somebody has taken it over since. */
  hold(tx: Tx): Promise<void>
}

async function takeOver(
  deps: CheckoutDeps,
  db: TenantDb,
  { correlationId }: audit.Actor,
  attempt: Attempt,
): Promise<Work> {
  const { id, order_id, kind } = attempt
  const refund = kind === 'refund' ? await orderRows.findOfAttempt(db, order_id, id) : null
  // A refund of its own has a key of its own; that of a cancellation or an edit goes by the order.
  const claim =
    (refund && (await takeWaiting(db, refund.refund_id))) ?? (await takeWaiting(db, order_id))
  if (claim === 'busy') throw busy()
  if (claim !== null) {
    const held = { ...claim, ...(correlationId === null ? {} : { correlationId }) }
    const resume = RESUMES[held.operation]
    if (resume === undefined) throw new Error(`nobody takes up a ${held.operation}`)
    return { goOn: () => resume(deps, db, held), hold: (tx) => idempotency.renew(tx, held) }
  }
  // It has ended meanwhile; or it is a hold that ran out, which is cancelled without a key.
  const [now, order] = await Promise.all([payments.findAttempt(db, id), orders.get(db, order_id)])
  requireOpen(now ?? attempt)
  if (kind !== 'void' || !order.busy) throw busy()
  const goOn = async () => {
    if ((await endExpired(deps, db, order_id)) === null) throw inProgress()
  }
  return { goOn, hold: async () => {} }
}

/** The worker that is asking the gateway now is done within a minute, and then waits for five. */
const busy = () => new ApiError('order_busy', { headers: { 'retry-after': '60' } })

async function hear(work: Work): Promise<'ended' | 'silent' | 'overtaken'> {
  try {
    await work.goOn()
    return 'ended'
  } catch (error) {
    if (error instanceof LeaseLostError) return 'overtaken'
    if (error instanceof ApiError && error.code === 'idempotency_in_progress') return 'silent'
    throw error
  }
}

/** Whoever asks in vain writes that down. Otherwise the silence is about another payment of the order. */
async function requireSilent(db: TenantDb, before: Attempt): Promise<void> {
  const now = (await payments.findAttempt(db, before.id)) ?? before
  requireOpen(now)
  if (now.state !== before.state || now.checks > before.checks) return
  const words =
    'The gateway has answered for this payment. The order waits for another one: resolve that.'
  throw refusal('answered', words)
}

async function decide(
  db: TenantDb,
  work: Work,
  actor: audit.Actor,
  attempt: Attempt,
  said: Resolution,
): Promise<void> {
  try {
    await db.transaction('checkout: resolve by hand', async (tx) => {
      await work.hold(tx)
      if (!(await payments.closeByHand(tx, attempt, said))) throw busy()
      // Asked again, since the gateway was asked in between, and it may be said of two at once.
      if (said.outcome === 'approved') await requireApproval(tx, attempt, said)
      await record(tx, actor, attempt, said, 'operator')
      const { id: attempt_id, kind, order_id, amount_cents } = attempt
      await orderRows.insertTimeline(tx, order_id, {
        type: 'payment_resolved',
        actor: actor.name,
        data: { attempt_id, kind, amount_cents, outcome: said.outcome },
      })
    })
  } catch (error) {
    throw error instanceof LeaseLostError ? busy() : error
  }
}

const record = (
  tx: Tx,
  actor: audit.Actor,
  { id: attempt_id, order_id, kind, amount_cents }: Attempt,
  { outcome, txn_id, reason }: Resolution,
  decided_by: Resolved['decided_by'],
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
  const [attempt, order] = await Promise.all([
    payments.findAttempt(db, id),
    orders.get(db, order_id),
  ])
  if (attempt === null) throw new Error('the attempt is gone')
  const { kind, gateway, amount_cents, currency, state, txn_id, parent_txn_id } = attempt
  const { created_at, closed_at } = attempt
  return {
    payment: {
      ...{ attempt_id: id, order_id, kind, gateway, amount_cents, currency, state },
      ...{ txn_id, parent_txn_id, created_at, closed_at },
    },
    decided_by,
    order: orders.forMerchant(order),
  }
}
