import { randomUUID } from 'node:crypto'
import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { sum } from '../../kernel/money.ts'
import * as idempotency from '../../platform/idempotency.ts'
import type { GatewayResult, Reason } from '../payments/schema.ts'
import * as payments from '../payments/service.ts'
import {
  answer,
  type CancelPlan,
  type CancelWish,
  end,
  type Heard,
  repeat,
  requirePlan,
  type VoidWord,
} from './cancel-end-money.ts'
import type { CancelReason } from './change-schema.ts'
import { chargeOf, gatewayOf, promise } from './give-back-money.ts'
import { type Asked, actorOf, occupy, planOf, record, requireCharge } from './operations.ts'
import { listCharges } from './queries.ts'
import { failure, recordGiven } from './refund-money.ts'
import { less, partsOf, refundableOf, splitAmount, splitOverTenders } from './refund-plan.ts'
import * as refunds from './refund-queries.ts'
import type { ChargeRow, OrderRow } from './schema.ts'
import { get, lock, requireAllowed } from './service.ts'
import {
  askBack,
  closedWord,
  leave,
  type OrderDeps,
  recallBack,
  recallVoid,
  unknownOf,
  type Word,
  whileHeld,
  wordOf,
} from './words.ts'

/**
 * Cancels an order in one act: what was only authorised is voided, what was paid is given back to
 * every tender, stock and coupon are free again. `begin` takes the order for it and promises the
 * money, the gateways are asked, `end` makes it true; or the order is as it was.
 */

/** The recovery point at which a cancellation waits for its gateways. */
export const CANCELLING = 'cancelling'

export interface Cancelling extends CancelWish {
  /** Whoever names a charge means the order that has it. */
  charge_id?: string | null | undefined
  /** Done with the order in hand, once it may be cancelled: what it throws leaves all as it was. */
  also?: (tx: Tx, order: OrderRow) => Promise<void>
}

export async function cancel(
  deps: OrderDeps,
  db: TenantDb,
  { actor, claim }: Asked,
  orderId: string,
  { also, charge_id, ...wish }: Cancelling,
): Promise<idempotency.Answer> {
  if (claim.recoveryPoint === CANCELLING) return resumeCancel(deps, db, claim)
  const begun = await db.transaction('orders: begin to cancel', async (tx) => {
    const order = await lock(tx, orderId)
    if (charge_id) requireCharge(await listCharges(tx, order.id), charge_id)
    if (order.cancelled_at !== null) {
      return repeat(tx, claim, order, { actor: actorOf(actor), as: wish.as })
    }
    await begin(tx, order, wish, actorOf(actor))
    await also?.(tx, order)
    return idempotency.advance(tx, claim, CANCELLING, order.id)
  })
  if (begun.state === 'answered') return begun
  await deps.at?.('cancel-begun')
  return conclude(deps, db, begun, true)
}

/** Ends a cancellation that somebody left: the same way, by the gateways' own records. */
export const resumeCancel = (
  deps: OrderDeps,
  db: TenantDb,
  claim: idempotency.WonClaim,
): Promise<idempotency.Answer> => conclude(deps, db, claim, false)

async function conclude(
  deps: OrderDeps,
  db: TenantDb,
  claim: idempotency.WonClaim,
  isFirst: boolean,
): Promise<idempotency.Answer> {
  const order = await get(db, claim.resourceId ?? '')
  const heard = await hear(whileHeld(deps, db, claim), db, order, isFirst)
  if (heard.unknown.length > 0) return leave(deps, db, claim, order, heard.unknown, isFirst)
  await deps.at?.('cancel-answered')
  return db.transaction('orders: cancel', async (tx) => {
    const ended = await end(tx, deps, order.id, heard)
    const { actor, reason, restock } = requirePlan(order)
    if (ended.state === 'failed') {
      if (heard.refund) await recordGiven(tx, { actor, claim }, heard.refund, ended.refunded_cents)
      return idempotency.refuse(tx, claim, failure(ended))
    }
    await record(tx, { actor, claim }, order.id, {
      action: 'order.cancelled',
      before: { status: order.status },
      after: { reason, restock, refunded_cents: sum(ended.refunds.map((r) => r.amount_cents)) },
    })
    return answer(tx, claim, ended, false)
  })
}

/**
 * Cancels an order without a key, for whoever finds its authorisation expired. Harmless to repeat:
 * what was begun by it is ended. Null: a gateway did not say, or somebody is at the order under a key
 * of theirs, and ends that themselves, or has released it; again later, if it is held still.
 */
export async function cancelHeld(
  deps: OrderDeps,
  db: TenantDb,
  wanted: { order_id: string; reason: CancelReason; actor: string },
): Promise<OrderRow | null> {
  const { order_id, reason, actor } = wanted
  const isFirst = await db.transaction('orders: begin to cancel', async (tx) => {
    const order = await lock(tx, order_id)
    const plan = planOf<CancelPlan>(order, 'cancel')
    const isBegun = plan?.actor === actor && plan.reason === reason
    if (order.cancelled_at !== null || isBegun) return false
    // Released meanwhile, it is paid for, and is nobody's to take back but the merchant's.
    if (order.busy || order.placed_at !== null) return null
    await begin(tx, order, { reason, note: null, restock: true, as: 'cancel' }, actor)
    return true
  })
  if (isFirst === null) return null
  const order = await get(db, order_id)
  if (order.cancelled_at !== null) return order
  const heard = await hear(deps, db, order, isFirst)
  if (heard.unknown.length > 0) {
    for (const id of heard.unknown) await payments.markUnknown(db, id)
    return null
  }
  const ended = await db.transaction('orders: cancel', async (tx) => {
    const locked = await lock(tx, order_id)
    // Two workers at once: the other has ended it.
    if (locked.cancelled_at !== null) return { state: 'cancelled', order: locked } as const
    return end(tx, deps, order_id, heard)
  })
  if (ended.state === 'failed') throw failure(ended)
  return ended.order
}

/** Takes the order, promises all that was paid, and writes down what is to be voided. */
async function begin(tx: Tx, order: OrderRow, wish: CancelWish, actor: string): Promise<void> {
  const [charges, promised] = await Promise.all([
    listCharges(tx, order.id),
    refunds.sumPromised(tx, order.id),
  ])
  // What was never paid cannot be edited; an edit that leaves nothing of it lets go of it all the same.
  const action = wish.as === 'edit' && order.placed_at === null ? 'cancel' : wish.as
  requireAllowed(order, action, promised.pending)
  const amount = refundableOf(charges)
  const refund_id =
    amount === 0
      ? null
      : await promise(tx, order, charges, {
          kind: 'refund',
          method: 'original',
          parts: splitAmount(amount, less(partsOf(order), promised)),
          tenders: splitOverTenders(charges, amount, 'original'),
          // Its words are the note's alone, which only the merchant sees.
          reason: null,
          actor,
        })
  const voids = charges
    .filter(({ tender, status }) => tender === 'card' && status === 'authorized')
    .map(({ charge_id }) => ({ charge_id, attempt_id: randomUUID() }))
  for (const each of voids) await beginVoid(tx, order, chargeOf(charges, each.charge_id), each)
  const plan: CancelPlan = { id: randomUUID(), kind: 'cancel', actor, refund_id, voids, ...wish }
  await occupy(tx, order, plan)
}

const beginVoid = (
  tx: Tx,
  { id: order_id, currency }: OrderRow,
  charge: ChargeRow,
  { attempt_id, charge_id }: CancelPlan['voids'][number],
) =>
  payments.beginAttempt(tx, {
    id: attempt_id,
    order_id,
    kind: 'void',
    gateway: gatewayOf(charge),
    amount_cents: charge.amount_cents,
    currency,
    charge_id,
    parent_txn_id: charge.txn_id,
  })

/** What the gateways say to it, or have said. */
async function hear(deps: OrderDeps, db: Db, order: OrderRow, isFirst: boolean): Promise<Heard> {
  const plan = requirePlan(order)
  const [charges, refund] = await Promise.all([
    listCharges(db, order.id),
    plan.refund_id === null ? null : refunds.findRefund(db, plan.refund_id),
  ])
  const ask = isFirst ? askBack : recallBack
  const words = refund === null ? new Map<string, Word>() : await ask(deps, db, refund, charges)
  const voids = await Promise.all(
    plan.voids.map((each) => voidCharge(deps, db, chargeOf(charges, each.charge_id), each)),
  )
  return { refund, charges, words, voids, unknown: unknownOf([...words.values(), ...voids]) }
}

/** Reasons that pass by themselves: something is wrong at the gateway, or it is not that far yet. */
const PASSING: readonly (Reason | null)[] = ['processing_error', 'not_settled']

/** So long they are waited for. What is still refused then is refused. */
const PASSING_MS = 3_600_000

/**
 * To void twice is to void once, so that it is simply asked for again. What turns out to be taken and
 * settled is refunded: by a release that was given up, or at the gateway's own desk. One that will not
 * void has nothing held any more, or lets go of it by itself within days: the order is cancelled all
 * the same. One that will not refund either keeps money of a cancelled order, and somebody is told. One
 * that was not reached, or has some trouble, has said nothing yet.
 */
async function voidCharge(
  deps: OrderDeps,
  db: Db,
  charge: ChargeRow,
  { attempt_id }: CancelPlan['voids'][number],
): Promise<VoidWord> {
  const attempt = await payments.findAttempt(db, attempt_id)
  if (attempt === null) throw new Error('the attempt is gone')
  const closed = closedWord(attempt)
  if (closed !== null) return closed
  const isYoung = deps.clock.now() - Date.parse(attempt.created_at) < PASSING_MS
  const saidNothing = (result: GatewayResult) =>
    payments.wasNotSent(result) || (isYoung && PASSING.includes(result.reason))
  const gateway = await deps.payments.forStore(db, gatewayOf(charge))
  const result = await gateway.void({ txn_id: charge.txn_id ?? '' })
  if (result.reason === 'already_settled') {
    const given = await refundOnce(gateway, charge, attempt_id)
    if (saidNothing(given)) return { kind: 'unknown', attempt_id }
    const word = wordOf(attempt_id, given)
    if (word.kind !== 'refused') return word
    const { order_id, charge_id, amount_cents } = charge
    const about = { tenant: db.tenant, order_id, charge_id, amount_cents }
    deps.onAlert(about, 'the payment of a cancelled order could be neither voided nor refunded')
    return { ...word, kept_cents: amount_cents }
  }
  if (result.outcome === 'unknown')
    return (await recallVoid(gateway, attempt)) ?? { kind: 'unknown', attempt_id }
  return saidNothing(result) ? { kind: 'unknown', attempt_id } : wordOf(attempt_id, result)
}

/** To refund twice is to refund twice: whoever comes later asks first whether it was done, and not in vain. */
async function refundOnce(
  gateway: payments.Gateway,
  { txn_id, amount_cents, currency }: ChargeRow,
  ref: string,
): Promise<GatewayResult> {
  const found = await gateway.lookup({ ref })
  const isDone = found.found !== 'no' && found.state !== 'failed'
  if (isDone) return payments.resultOfLookup(found)
  return gateway.refund({ ref, txn_id: txn_id ?? '', amount_cents, currency })
}
