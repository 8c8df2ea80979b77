import type { Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import * as idempotency from '../../platform/idempotency.ts'
import * as inventory from '../inventory/money.ts'
import * as ledger from '../ledger/money.ts'
import type { NewJournal } from '../ledger/schema.ts'
import type { GatewayName, GatewayResult } from '../payments/schema.ts'
import * as payments from '../payments/service.ts'
import * as webhooks from '../webhooks/service.ts'
import type { Edited } from './edit-plan.ts'
import { recordReview, reviewOf, tellHeld } from './edit-review-money.ts'
import { type Settled, settle } from './give-back-money.ts'
import { insertNote } from './note-queries.ts'
import * as operations from './operation-queries.ts'
import { isShopper, type Plan, planOf, record, vacate } from './operations.ts'
import { captureCharge, insertCharges, insertTimeline, listCharges, listItems } from './queries.ts'
import { failure, recordGiven } from './refund-money.ts'
import * as refunds from './refund-queries.ts'
import type { ChargeRow, OrderRow } from './schema.ts'
import { change, forMerchant, forShopper, lock, shownCharge } from './service.ts'
import type { Word } from './words.ts'

/** How an edit ends: the order is changed with its money, or everything is as it was. */

/** A card that the difference is charged to. */
export interface NewCard {
  attempt_id: string
  gateway: GatewayName
  amount_cents: number
  card_brand: string | null
  card_last4: string | null
  card_fingerprint: string | null
}

/** What an edit means to do, kept with the order until it has ended. */
export interface EditPlan extends Plan, Edited {
  kind: 'edit'
  note: string | null
  refund_id: string | null
  charge: NewCard | null
  /** Bans that ask for a person to look before the order goes on. */
  ban_ids: string[]
}

/** What the gateways have said to an edit. */
export interface Heard {
  charges: ChargeRow[]
  /** To what is given back. */
  words: Map<string, Word>
  /** To what is charged. */
  charged: Word | null
}

export function requirePlan(order: OrderRow): EditPlan {
  const plan = planOf<EditPlan>(order, 'edit')
  if (plan === null) throw new Error('nothing is being edited')
  return plan
}

/** Makes the edit true, or leaves the order as it was. */
export async function end(
  tx: Tx,
  claim: idempotency.WonClaim,
  orderId: string,
  heard: Heard,
): Promise<idempotency.Answer> {
  const order = await lock(tx, orderId)
  const plan = requirePlan(order)
  await vacate(tx, order, plan)
  const words = [...heard.words.values(), ...(heard.charged === null ? [] : [heard.charged])]
  const isRefused = words.some(({ kind }) => kind !== 'approved')
  await moveStock(tx, order, plan, isRefused)
  const refund = plan.refund_id === null ? null : await refunds.findRefund(tx, plan.refund_id)
  const given = refund && (await settle(tx, order, refund, heard.charges, heard.words))
  if (refund !== null && given?.state === 'failed') {
    await recordGiven(tx, { actor: plan.actor, claim }, refund, given.refunded_cents)
    return idempotency.refuse(tx, claim, failure(given))
  }
  const charged = await closeCharge(tx, heard.charged)
  if (charged === 'refused') return refuseCharge(tx, claim, order, plan, heard.charged)
  const succeeded = given?.state === 'succeeded' ? given : null
  return apply(tx, claim, order, plan, succeeded, charged)
}

/** What more was wanted has been reserved already: it is given back where nothing comes of it. */
async function moveStock(tx: Tx, { id }: OrderRow, { take, keep }: EditPlan, isRefused: boolean) {
  if (take.length > 0) await (isRefused ? inventory.letGo : inventory.sell)(tx, id)
  if (keep.length > 0 && !isRefused) await inventory.keep(tx, id, keep)
}

async function closeCharge(tx: Tx, word: Word | null): Promise<GatewayResult | 'refused' | null> {
  if (word === null || word.kind === 'unknown') return null
  if (word.kind === 'lost') await payments.markNotFound(tx, word.attempt_id)
  else await payments.closeAttempt(tx, word.attempt_id, word.result)
  return word.kind === 'approved' ? word.result : 'refused'
}

async function refuseCharge(
  tx: Tx,
  claim: idempotency.WonClaim,
  order: OrderRow,
  { actor, delta_cents }: EditPlan,
  word: Word | null,
): Promise<idempotency.Answer> {
  const result = word?.kind === 'refused' ? word.result : null
  const reason = payments.shownReason(result?.reason ?? null)
  const data = { amount_cents: delta_cents, reason }
  await insertTimeline(tx, order.id, { type: 'edit_declined', actor, data })
  const { id, order_number, status } = order
  const decline = { reason, retryable: result?.retryable ?? true }
  return idempotency.refuse(
    tx,
    claim,
    new ApiError('payment_declined', { body: { decline, order: { id, order_number, status } } }),
  )
}

async function apply(
  tx: Tx,
  claim: idempotency.WonClaim,
  before: OrderRow,
  plan: EditPlan,
  given: Extract<Settled, { state: 'succeeded' }> | null,
  charged: GatewayResult | null,
): Promise<idempotency.Answer> {
  const { actor, delta_cents, note, charge } = plan
  await Promise.all([
    operations.writeLines(tx, plan.lines),
    operations.writeTotals(tx, before.id, plan.totals),
    charge !== null && insertCharges(tx, before.id, [cardCharge(before, charge, charged)]),
  ])
  if (charge !== null) {
    const { txn_id = null, vault_id = null } = charged ?? {}
    const captured = { captured_cents: charge.amount_cents, txn_id, vault_id }
    await captureCharge(tx, charge.attempt_id, captured)
  }
  const captured_cents = before.captured_cents + delta_cents
  const hold = reviewOf(before, plan)
  const order = await change(tx, await lock(tx, before.id), {
    captured_cents,
    ...(hold !== null && { hold }),
  })
  const [items, charges] = await Promise.all([
    listItems(tx, order.id),
    listCharges(tx, order.id),
    note !== null && insertNote(tx, order.id, { note, actor }),
    ledger.post(tx, journalOf(before, plan, given?.entries ?? [])),
    insertTimeline(tx, order.id, { type: 'edited', actor, data: changesOf(before, plan) }),
    webhooks.emit(tx, {
      type: 'commerce.order.edited.v1',
      order_id: order.id,
      customer_ref: order.customer_ref,
      data: { order: forMerchant(order), ...changesOf(before, plan) },
    }),
    record(tx, { actor, claim }, order.id, {
      action: 'order.edited',
      before: { total_cents: before.total_cents },
      after: { total_cents: order.total_cents, delta_cents },
    }),
    plan.ban_ids.length > 0 && recordReview(tx, order, plan),
    hold !== null && tellHeld(tx, order, hold),
  ])
  const added = charges.find(({ charge_id }) => charge_id === charge?.attempt_id)
  const body = {
    order: isShopper(actor) ? forShopper(order) : forMerchant(order),
    items,
    charge: added === undefined ? null : shownCharge(added),
    refund: given?.refund ?? null,
    delta_cents,
  }
  return idempotency.finish(tx, claim, 200, JSON.stringify(body))
}

const cardCharge = (
  { currency }: OrderRow,
  { attempt_id, gateway, amount_cents, card_brand, card_last4, card_fingerprint }: NewCard,
  charged: GatewayResult | null,
) => ({
  ...{ charge_id: attempt_id, tender: 'card' as const, amount_cents, currency, gateway },
  card_brand: card_brand ?? charged?.card?.brand ?? null,
  card_last4: card_last4 ?? charged?.card?.last4 ?? null,
  card_fingerprint,
})

const changesOf = (before: OrderRow, { delta_cents, lines, totals }: EditPlan) => ({
  delta_cents,
  total_before_cents: before.total_cents,
  total_cents: totals.total_cents,
  lines: lines.map(({ id, quantity }) => ({ order_item_id: id, quantity })),
})

/** The difference between two sales, and the money that made up for it. */
function journalOf(
  before: OrderRow,
  { totals, charge, id }: EditPlan,
  given: NewJournal['entries'],
): NewJournal {
  const more = (name: 'subtotal_cents' | 'discount_cents' | 'shipping_cents' | 'tax_cents') =>
    totals[name] - before[name]
  return {
    kind: 'order.edited',
    currency: before.currency,
    order_id: before.id,
    ref: id,
    entries: [
      { account: 'card_clearing', amount_cents: charge?.amount_cents ?? 0 },
      ...given,
      { account: 'sales', amount_cents: -more('subtotal_cents') },
      { account: 'discount', amount_cents: more('discount_cents') },
      { account: 'shipping_income', amount_cents: -more('shipping_cents') },
      { account: 'tax_payable', amount_cents: -more('tax_cents') },
    ],
  }
}
