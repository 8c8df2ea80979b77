import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { newId } from '../../kernel/id.ts'
import * as idempotency from '../../platform/idempotency.ts'
import { defineOperation, type Ending } from '../operations/service.ts'
import { type Acting, actorOf, auditOrder } from '../orders/actor.ts'
import { requestPayment } from '../orders/payment-request.ts'
import type { PaymentRequest } from '../orders/payment-request-schema.ts'
import type { ChargeRow, OrderRefund, OrderRow, RefundRow } from '../orders/schema.ts'
import * as orders from '../orders/service.ts'
import { briefOf, forMerchant } from '../orders/show.ts'
import { applyCorrection } from './apply-correction-money.ts'
import { type CorrectionPreview, type OrderCorrection, PAY_DAYS } from './correct-schema.ts'
import {
  type Correction,
  type Planned,
  planCorrection,
  requireFresh,
  requireKnown,
} from './correction.ts'
import type { OrderChangeDeps } from './deps.ts'
import { isSame } from './edit-pricing.ts'
import { beginPlan, endPlan, getPlan, type Plan } from './plan.ts'
import { auditRefund, refundFailed } from './refund-money.ts'
import { partsOf, splitOverTenders, subtractParts } from './refund-parts.ts'
import { sumReserved } from './refund-queries.ts'
import { askRefund, type RefundOutcome, recallRefund } from './refund-replies.ts'
import { requireNoDispute, reserveRefund, settleRefund } from './settle-refund-money.ts'

/**
 * Corrects the address, the e-mail address and the name of an order of which nothing has shipped, in one operation. If
 * the order costs less then, the difference is refunded first. If it costs more, the shopper is asked to pay, and the
 * order stays as it is until then: nothing is ever charged automatically.
 */

interface CorrectPlan extends Plan {
  kind: 'correct'
  correction: Correction
  refund_id: string | null
  days: number
}

interface Work {
  order: OrderRow
  plan: CorrectPlan
  charges: ChargeRow[]
  refund: RefundRow | null
}

export const correctOperation = defineOperation<
  OrderChangeDeps,
  { orderId: string; body: OrderCorrection },
  Work,
  RefundOutcome
>({
  name: 'correct',
  async begin(deps, db, { actor, reach }, { orderId, body }) {
    const planned = await planCorrection(deps, db, orderId, body)
    return db.transaction('correct: begin', async (tx) => {
      const locked = await orders.lock(tx, planned.order.id)
      requireKnown(locked)
      await requireUnchanged(tx, locked, planned)
      requireFresh(locked, body)
      await begin(tx, deps, locked, { planned, body, actor: actorOf(actor) })
      return { state: 'begun' as const, claim: await reach(tx, locked.id) }
    })
  },
  async load(db, orderId) {
    const order = await orders.get(db, orderId)
    const plan = getPlan<CorrectPlan>(order, 'correct')
    const [charges, refund] = await Promise.all([
      orders.listCharges(db, order.id),
      plan.refund_id === null ? null : orders.getRefund(db, plan.refund_id),
    ])
    return { order, plan, charges, refund }
  },
  ask: (deps, db, { refund, charges }) => askRefund(deps, db, refund, charges),
  recall: (deps, db, { refund, charges }) => recallRefund(deps, db, refund, charges),
  end,
  orderOf: ({ order }) => briefOf(order),
})

/** Refuses if another change came between the pricing and the lock. */
async function requireUnchanged(tx: Tx, locked: OrderRow, { order, items }: Planned) {
  const isFresh = locked.updated_at === order.updated_at
  if (!isFresh || !(await isSame(tx, order, locked, items))) throw orders.busy()
}

interface Beginning {
  planned: Planned
  body: OrderCorrection
  actor: string
}

/** Claims the order for the correction, gives up labels of the old address, and reserves the refund. */
async function begin(
  tx: Tx,
  deps: OrderChangeDeps,
  order: OrderRow,
  { planned: { correction }, body, actor }: Beginning,
): Promise<void> {
  const { pending } = await sumReserved(tx, order.id)
  orders.requireAllowed(order, 'correct', pending)
  if (correction.changed.includes('ship_to')) {
    await deps.giveUpLabels(tx, order, { isAllowed: body.void_labels ?? false })
  }
  const plan: CorrectPlan = {
    id: newId(),
    kind: 'correct',
    actor,
    correction,
    refund_id: null,
    days: body.expires_in_days ?? PAY_DAYS,
  }
  if (correction.priced !== null && correction.delta_cents < 0) {
    const charges = await orders.listCharges(tx, order.id)
    plan.refund_id = await reserveRefund(tx, order, charges, {
      kind: 'adjustment',
      method: 'original',
      parts: subtractParts(partsOf(order), partsOf({ ...order, ...correction.priced.totals })),
      tenders: splitOverTenders(charges, -correction.delta_cents, 'original'),
      reason: null,
      actor,
    })
  }
  await beginPlan(tx, order, plan)
}

async function end(
  tx: Tx,
  _: OrderChangeDeps,
  { claim, work, replies: { refunds: replies } }: Ending<Work, RefundOutcome>,
): Promise<idempotency.StoredAnswer> {
  const order = await orders.lock(tx, work.order.id)
  const plan = getPlan<CorrectPlan>(order, 'correct')
  await endPlan(tx, order, plan)
  const { correction, actor } = plan
  const acting = { actor, claim }
  const refund = plan.refund_id === null ? null : await orders.getRefund(tx, plan.refund_id)
  const { charges } = work
  const settled = refund && (await settleRefund(tx, order, refund, { charges, replies }))
  if (refund !== null && settled?.state === 'failed') {
    await auditRefund(tx, acting, refund, settled.refunded_cents)
    return idempotency.refuse(tx, claim, refundFailed(settled))
  }
  if (correction.delta_cents > 0) return ask(tx, acting, order, plan)
  const paid = settled?.state === 'succeeded' ? settled : null
  const after =
    correction.changed.length === 0
      ? order
      : await applyCorrection(tx, order, correction, {
          id: plan.id,
          refunded: paid?.entries ?? [],
          acting,
        })
  const ended = { correction, refund: paid?.refund ?? null, request: null }
  return answer(tx, claim, after, ended)
}

/** Asks the shopper for the difference, and holds the order until then. */
async function ask(
  tx: Tx,
  acting: Acting,
  found: OrderRow,
  { id, correction, days }: CorrectPlan,
): Promise<idempotency.StoredAnswer> {
  const before = await applyReach(tx, acting, found, { id, correction })
  const { order, request } = await requestPayment(tx, before, {
    amount_cents: correction.delta_cents,
    days,
    actor: acting.actor,
    correction: { id, ...correction },
  })
  await auditOrder(tx, acting, order.id, {
    action: 'order.correction_requested',
    before: { total_cents: order.total_cents },
    after: { changed: correction.changed, amount_due_cents: correction.delta_cents },
  })
  return answer(tx, acting.claim, order, { correction, refund: null, request })
}

/**
 * Corrects the e-mail address and the name at once, also if the address waits for a payment: the request has to reach
 * the shopper.
 */
async function applyReach(
  tx: Tx,
  acting: Acting,
  order: OrderRow,
  { id, correction }: Pick<CorrectPlan, 'id' | 'correction'>,
): Promise<OrderRow> {
  const { changed, contact } = correction
  const reach = changed.filter((each) => each === 'email' || each === 'name')
  if (reach.length === 0 || contact === null) return order
  const now = { ...contact, ship_to: order.ship_to }
  const part: Correction = { changed: reach, contact: now, priced: null, delta_cents: 0 }
  return applyCorrection(tx, order, part, { id, acting })
}

interface Ended {
  correction: Correction
  refund: OrderRefund | null
  request: PaymentRequest | null
}

async function answer(
  tx: Tx,
  claim: idempotency.WonClaim,
  order: OrderRow,
  { correction: { changed, delta_cents }, refund, request }: Ended,
): Promise<idempotency.StoredAnswer> {
  const now = await orders.get(tx, order.id)
  const body = {
    order: forMerchant(now),
    items: await orders.listItems(tx, order.id),
    customer_name: now.customer_name,
    changed,
    delta_cents,
    applied: request === null,
    refund,
    payment_request: request,
  }
  return idempotency.finish(tx, claim, 200, JSON.stringify(body))
}

/** Computes a correction without making it. */
export async function previewCorrection(
  deps: OrderChangeDeps,
  db: TenantDb,
  id: string,
  body: OrderCorrection,
): Promise<CorrectionPreview> {
  const { order, correction } = await planCorrection(deps, db, id, body)
  const { changed, delta_cents, priced } = correction
  const totals = priced?.totals ?? order
  return {
    changed,
    delta_cents,
    subtotal_cents: totals.subtotal_cents,
    discount_cents: totals.discount_cents,
    shipping_cents: totals.shipping_cents,
    tax_cents: totals.tax_cents,
    total_before_cents: order.total_cents,
    total_cents: totals.total_cents,
    currency: order.currency,
    settlement: delta_cents < 0 ? 'refund' : delta_cents > 0 ? 'payment_request' : 'none',
    tenders: delta_cents < 0 ? await tendersOf(db, order, -delta_cents) : [],
    labels: changed.includes('ship_to') ? await deps.listLabels(db, order.id) : [],
    updated_at: order.updated_at,
  }
}

async function tendersOf(db: Db, order: OrderRow, amount_cents: number) {
  const charges = await orders.listCharges(db, order.id)
  const tenders = splitOverTenders(charges, amount_cents, 'original')
  await requireNoDispute(db, order, charges, tenders)
  return tenders.map(({ charge_id, tender, amount_cents }) => ({ charge_id, tender, amount_cents }))
}
