import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { newId } from '../../kernel/id.ts'
import * as idempotency from '../../platform/idempotency.ts'
import { followOrder } from '../affiliates/follow-money.ts'
import * as orderStock from '../inventory/order-stock.ts'
import * as ledger from '../ledger/money.ts'
import { recallCharge, replyOf, unknownOf } from '../operations/replies.ts'
import type { Caller, GatewayReply } from '../operations/schema.ts'
import { type Begun, defineOperation, type Reach } from '../operations/service.ts'
import { OPERATIONS } from '../operations/table.ts'
import { actorOf, auditOrder, isShopper } from '../orders/actor.ts'
import { declinedPayment } from '../orders/declined.ts'
import type { ChargeRow, OrderRow, RefundRow } from '../orders/schema.ts'
import * as orders from '../orders/service.ts'
import { briefOf, forActor, shownCharge } from '../orders/show.ts'
import type { Source } from '../payments/adapters/gateway.ts'
import * as attempts from '../payments/attempts.ts'
import type { GatewayName } from '../payments/schema.ts'
import { shownReason } from '../payments/shown-reason.ts'
import { cancelOperation } from './cancel-money.ts'
import type { OrderChangeDeps } from './deps.ts'
import { editJournal } from './edit-journal.ts'
import { type Edited, isSame, priceEdit, requireUnshipped, withQuantities } from './edit-pricing.ts'
import { emitHeld, recordReview, reviewOf } from './edit-review.ts'
import { orderEdited } from './events.ts'
import { countDecline, requireAdmitted } from './fraud-check.ts'
import { beginPlan, endPlan, getPlan, type Plan, requireCharge } from './plan.ts'
import { writeLines, writeTotals } from './queries.ts'
import { auditRefund, refundFailed } from './refund-money.ts'
import { partsOfChange, splitOverTenders } from './refund-parts.ts'
import { sumReserved } from './refund-queries.ts'
import {
  askRefund,
  type RefundOutcome,
  type RefundReplies,
  recallRefund,
} from './refund-replies.ts'
import type { MerchantEdit, ShopperEdit } from './schema.ts'
import {
  closeAttempt,
  gatewayOf,
  reserveRefund,
  type SettledRefund,
  settleRefund,
} from './settle-refund-money.ts'

/**
 * Edits an order in one operation: prices the new quantities, charges or refunds the difference and
 * moves stock. Missing stock is reserved first. The order changes only once the money has moved; if
 * it has not, everything is as before.
 */

/** The tender that pays if the order becomes more expensive: a card that was sent, or the stored one. */
export type EditTender = { by: 'card'; source: Source | null } | { by: 'vault'; allowed: boolean }

export interface EditRequest {
  orderId: string
  body: ShopperEdit | MerchantEdit
  tender: EditTender
  note: string | null
}

/** The charge of the difference. */
interface DifferenceCharge {
  attempt_id: string
  gateway: GatewayName
  amount_cents: number
  card_brand: string | null
  card_last4: string | null
  card_fingerprint: string | null
}

interface EditPlan extends Plan, Edited {
  kind: 'edit'
  note: string | null
  refund_id: string | null
  charge: DifferenceCharge | null
  /** Bans that hold the order for review once it is edited. */
  ban_ids: string[]
}

interface Work {
  order: OrderRow
  plan: EditPlan
  charges: ChargeRow[]
  refund: RefundRow | null
}

interface EditOutcome extends RefundOutcome {
  /** The reply to the charge of the difference. */
  charge: GatewayReply | null
}

const outcomeOf = (refunds: RefundReplies, charge: GatewayReply | null): EditOutcome => ({
  refunds,
  charge,
  unknown: unknownOf(charge === null ? refunds.values() : [...refunds.values(), charge]),
})

export const editOperation = defineOperation<OrderChangeDeps, EditRequest, Work, EditOutcome>({
  name: 'edit',
  begin,
  async load(db, orderId) {
    const order = await orders.get(db, orderId)
    const plan = getPlan<EditPlan>(order, 'edit')
    const [charges, refund] = await Promise.all([
      orders.listCharges(db, order.id),
      plan.refund_id === null ? null : orders.getRefund(db, plan.refund_id),
    ])
    return { order, plan, charges, refund }
  },
  async ask(deps, db, { order, plan, charges, refund }, source) {
    const { refunds } = await askRefund(deps, db, refund, charges)
    if (plan.charge === null || source === null) return outcomeOf(refunds, null)
    const charge = await chargeCard(deps, db, order, { charge: plan.charge, source })
    return outcomeOf(refunds, charge)
  },
  async recall(deps, db, { plan, charges, refund }) {
    const { refunds } = await recallRefund(deps, db, refund, charges)
    const charge = plan.charge && (await recallCharge(deps, db, plan.charge.attempt_id))
    return outcomeOf(refunds, charge)
  },
  end: (tx, _, { claim, work, replies }) => end(tx, claim, work, replies),
  async after(deps, db, { order, plan }, { charge }) {
    if (plan.charge !== null && charge?.kind === 'refused') {
      await countDecline(deps, db, order, plan.charge)
    }
  },
  orderOf: ({ order }) => briefOf(order),
})

/**
 * Edits an order, or resumes the edit. An edit that leaves no units is resumed as a cancellation.
 */
export function editOrder(
  deps: OrderChangeDeps,
  db: TenantDb,
  caller: Caller,
  request: EditRequest,
): Promise<idempotency.StoredAnswer> {
  const { claim } = caller
  const isCancel = claim.recoveryPoint === OPERATIONS.cancel.recoveryPoint
  return isCancel
    ? cancelOperation.resume(deps, db, claim)
    : editOperation.run(deps, db, caller, request)
}

/** Prices the edit outside of a transaction, since a tax provider may be asked. Then reserves it. */
async function begin(
  deps: OrderChangeDeps,
  db: TenantDb,
  caller: Caller & { reach: Reach },
  request: EditRequest,
): Promise<Begun<Work> | idempotency.StoredAnswer> {
  const { body, tender, note, orderId } = request
  const order = await orders.get(db, orderId)
  const before = await orders.listItems(db, order.id)
  requireUnshipped(order, before, body)
  const after = withQuantities(before, body)
  const requireSame = async (tx: Tx, locked: OrderRow) => {
    if (!(await isSame(tx, order, locked, before))) throw orders.busy()
  }
  const actor = actorOf(caller.actor)
  if (after === null) {
    const reason = isShopper(actor) ? 'customer' : 'staff'
    const { charge_id } = body
    return cancelOperation.run(deps, db, caller, {
      orderId,
      reason,
      note,
      charge_id,
      restock: true,
      as: 'edit',
      also: requireSame,
    })
  }
  orders.requireAllowed(order, 'edit')
  const edited = await priceEdit(db, deps.tax, order, { before, after, request: body })
  const isCharged = edited.delta_cents > 0 && tender.by === 'card'
  const ban_ids =
    isCharged && tender.source !== null ? await requireAdmitted(deps, db, order, tender.source) : []
  return db.transaction('edit: begin', async (tx) => {
    const locked = await orders.lock(tx, order.id)
    await requireSame(tx, locked)
    const source = await reserve(tx, deps, locked, { edited, request, actor, ban_ids })
    return { state: 'begun', claim: await caller.reach(tx, order.id), source }
  })
}

interface EditToReserve {
  edited: Edited
  request: EditRequest
  actor: string
  ban_ids: string[]
}

/** Claims the order for this edit, reserves its stock, and reserves the refund or records the charge. */
async function reserve(
  tx: Tx,
  deps: OrderChangeDeps,
  order: OrderRow,
  { edited, request, actor, ban_ids }: EditToReserve,
): Promise<Source | null> {
  const [charges, reserved] = await Promise.all([
    orders.listCharges(tx, order.id),
    sumReserved(tx, order.id),
  ])
  orders.requireAllowed(order, 'edit', reserved.pending)
  requireCharge(charges, request.body.charge_id)
  const { delta_cents, take } = edited
  const plan: EditPlan = {
    ...edited,
    id: newId(),
    kind: 'edit',
    actor,
    note: request.note,
    refund_id: null,
    charge: null,
    ban_ids,
  }
  if (take.length > 0) await orderStock.reserveMore(tx, order.id, take, plan.id)
  if (delta_cents < 0) {
    plan.refund_id = await reserveRefund(tx, order, charges, {
      kind: 'adjustment',
      method: 'original',
      parts: partsOfChange(order, edited.totals),
      tenders: splitOverTenders(charges, -delta_cents, 'original'),
      reason: null,
      actor,
    })
  }
  const card = delta_cents > 0 ? cardToCharge(charges, request, delta_cents) : null
  if (card !== null) plan.charge = await beginCharge(tx, deps, order, { ...card, delta_cents })
  await beginPlan(tx, order, plan)
  return card?.source ?? null
}

interface CardToCharge {
  source: Source
  /** The gateway that stores the card: no other can charge it. A new card goes to the store's gateway. */
  gateway?: GatewayName
}

const NEEDS_CONSENT =
  'The edit raises the total. Send `charge_card: true` to charge the stored card.'
const NO_STORED_CARD =
  'The edit raises the total, and no card is stored for the order. Let the shopper make the edit.'

/** A shopper sends a card. A merchant may charge the stored one, and must say so. */
function cardToCharge(
  charges: readonly ChargeRow[],
  { tender, body }: EditRequest,
  amount_due_cents: number,
): CardToCharge {
  if (tender.by === 'card' && tender.source !== null) return { source: tender.source }
  const named = body.charge_id?.toLowerCase()
  const stored = charges.find(
    ({ charge_id, vault_id }) => vault_id !== null && (!named || named === charge_id),
  )
  if (tender.by === 'vault' && tender.allowed && stored?.vault_id) {
    const source = { vault_id: stored.vault_id, initial_txn_id: stored.txn_id }
    return { source, gateway: gatewayOf(stored) }
  }
  const message = tender.by === 'vault' ? (stored ? NEEDS_CONSENT : NO_STORED_CARD) : undefined
  throw new ApiError('card_required', { ...(message && { message }), body: { amount_due_cents } })
}

async function beginCharge(
  tx: Tx,
  deps: OrderChangeDeps,
  order: OrderRow,
  { source, gateway: storedAt, delta_cents: amount_cents }: CardToCharge & { delta_cents: number },
): Promise<DifferenceCharge> {
  const gateway = storedAt ?? (await deps.payments.forStore(tx)).name
  const attempt_id = newId()
  const card = 'card' in source ? source.card : null
  await attempts.beginAttempt(tx, {
    id: attempt_id,
    order_id: order.id,
    kind: 'edit',
    gateway,
    amount_cents,
    currency: order.currency,
    charge_id: attempt_id,
  })
  return {
    attempt_id,
    gateway,
    amount_cents,
    card_brand: card?.brand ?? null,
    card_last4: card?.last4 ?? null,
    card_fingerprint: card?.fingerprint(deps.keys.fingerprint) ?? null,
  }
}

async function chargeCard(
  deps: OrderChangeDeps,
  db: Db,
  order: OrderRow,
  { charge, source }: { charge: DifferenceCharge; source: Source },
): Promise<GatewayReply> {
  const { attempt_id, amount_cents } = charge
  const gateway = await deps.payments.forStore(db, charge.gateway)
  const { id: order_id, order_number, currency, email, ip, ship_to } = order
  const request = {
    ref: attempt_id,
    amount_cents,
    order_id,
    order_number,
    currency,
    email,
    ip,
    ship_to,
  }
  await deps.at?.('edit-sent')
  const result =
    'vault_id' in source
      ? await gateway.vaultCharge({ ...request, ...source })
      : await gateway.sale({ ...request, source })
  return replyOf(attempt_id, result)
}

/** Applies the edit, or leaves the order as it was if a gateway has refused. */
async function end(
  tx: Tx,
  claim: idempotency.WonClaim,
  { order: { id: order_id }, charges }: Work,
  { refunds, charge }: EditOutcome,
): Promise<idempotency.StoredAnswer> {
  const order = await orders.lock(tx, order_id)
  const plan = getPlan<EditPlan>(order, 'edit')
  await endPlan(tx, order, plan)
  const replies = charge === null ? [...refunds.values()] : [...refunds.values(), charge]
  await moveStock(
    tx,
    order,
    plan,
    replies.every(({ kind }) => kind === 'approved'),
  )
  const refund = plan.refund_id === null ? null : await orders.getRefund(tx, plan.refund_id)
  const settled = refund && (await settleRefund(tx, order, refund, { charges, replies: refunds }))
  if (refund !== null && settled?.state === 'failed') {
    await auditRefund(tx, { actor: plan.actor, claim }, refund, settled.refunded_cents)
    return idempotency.refuse(tx, claim, refundFailed(settled))
  }
  if (charge !== null) await closeAttempt(tx, charge)
  if (charge !== null && charge.kind !== 'approved') {
    return refuseCharge(tx, claim, order, { plan, reply: charge })
  }
  const refunded = settled?.state === 'succeeded' ? settled : null
  return apply(tx, claim, order, { plan, refunded, charge })
}

/** Sells or releases the units reserved for the edit, and releases the units that it removes. */
async function moveStock(tx: Tx, { id }: OrderRow, { take, keep }: EditPlan, isApproved: boolean) {
  if (take.length > 0) await (isApproved ? orderStock.sell : orderStock.releaseReserved)(tx, id)
  if (keep.length > 0 && isApproved) await orderStock.releaseExcess(tx, id, keep)
}

async function refuseCharge(
  tx: Tx,
  claim: idempotency.WonClaim,
  order: OrderRow,
  { plan: { actor, delta_cents }, reply }: { plan: EditPlan; reply: GatewayReply },
): Promise<idempotency.StoredAnswer> {
  const result = reply.kind === 'refused' ? reply.result : null
  const reason = shownReason(result?.reason ?? null)
  const data = { amount_cents: delta_cents, reason }
  await orders.addToTimeline(tx, order.id, { type: 'edit_declined', actor, data })
  return idempotency.refuse(tx, claim, declinedPayment(result, order))
}

interface Applied {
  plan: EditPlan
  refunded: Extract<SettledRefund, { state: 'succeeded' }> | null
  charge: GatewayReply | null
}

async function apply(
  tx: Tx,
  claim: idempotency.WonClaim,
  before: OrderRow,
  { plan, refunded, charge }: Applied,
): Promise<idempotency.StoredAnswer> {
  const { actor, delta_cents } = plan
  await Promise.all([
    writeLines(tx, { order_id: before.id, change_id: plan.id }, plan.lines),
    writeTotals(tx, before.id, plan.totals),
    plan.charge !== null && writeCharge(tx, before, plan.charge, charge),
  ])
  const hold = reviewOf(tx, before, plan)
  const order = await orders.change(tx, await orders.lock(tx, before.id), {
    captured_cents: before.captured_cents + delta_cents,
    ...(hold !== null && { hold }),
  })
  const [items, charges] = await Promise.all([
    orders.listItems(tx, order.id),
    orders.listCharges(tx, order.id),
    ledger.post(tx, editJournal(before, plan, refunded?.entries ?? [])),
    record(tx, claim, { before, order, plan }),
    plan.ban_ids.length > 0 && recordReview(tx, order, plan),
    hold !== null && emitHeld(tx, order, hold),
  ])
  await followOrder(tx, order, { reason: 'edit', ref: plan.id })
  const added = charges.find(({ charge_id }) => charge_id === plan.charge?.attempt_id)
  const body = {
    order: forActor(order, actor),
    items,
    charge: added === undefined ? null : shownCharge(added),
    refund: refunded?.refund ?? null,
    delta_cents,
  }
  return idempotency.finish(tx, claim, 200, JSON.stringify(body))
}

/** Adds the captured charge of the difference. */
async function writeCharge(
  tx: Tx,
  { id: order_id, currency }: OrderRow,
  { attempt_id, gateway, amount_cents, ...card }: DifferenceCharge,
  reply: GatewayReply | null,
): Promise<void> {
  const result = reply?.kind === 'approved' ? reply.result : null
  const charge = {
    charge_id: attempt_id,
    tender: 'card' as const,
    amount_cents,
    currency,
    gateway,
    card_brand: card.card_brand ?? result?.card?.brand ?? null,
    card_last4: card.card_last4 ?? result?.card?.last4 ?? null,
    card_fingerprint: card.card_fingerprint,
  }
  await orders.insertCharges(tx, order_id, [charge])
  const { txn_id = null, vault_id = null } = result ?? {}
  await orders.captureCharge(tx, attempt_id, { captured_cents: amount_cents, txn_id, vault_id })
}

/** Records an edit: note, timeline, event, audit log. */
async function record(
  tx: Tx,
  claim: idempotency.WonClaim,
  { before, order, plan }: { before: OrderRow; order: OrderRow; plan: EditPlan },
): Promise<void> {
  const { actor, note, delta_cents, lines } = plan
  const changes = {
    delta_cents,
    total_before_cents: before.total_cents,
    total_cents: order.total_cents,
    lines: lines.map(({ id, quantity }) => ({ order_item_id: id, quantity })),
  }
  await Promise.all([
    note !== null && orders.addNote(tx, order.id, { note, actor }),
    orders.addToTimeline(tx, order.id, { type: 'edited', actor, data: changes }),
    orderEdited.emit(tx, order, changes),
    auditOrder(tx, { actor, claim }, order.id, {
      action: 'order.edited',
      before: { total_cents: before.total_cents },
      after: { total_cents: order.total_cents, delta_cents },
    }),
  ])
}
