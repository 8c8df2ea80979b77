import type { Tx } from '../../db/database.ts'
import * as idempotency from '../../platform/idempotency.ts'
import * as giftCards from '../gift-cards/money.ts'
import * as inventory from '../inventory/money.ts'
import * as coupons from '../marketing/money.ts'
import * as payments from '../payments/service.ts'
import * as storeCredit from '../store-credit/money.ts'
import * as webhooks from '../webhooks/service.ts'
import type { CancelReason } from './change-schema.ts'
import { type Settled, settle } from './give-back-money.ts'
import { insertNote } from './note-queries.ts'
import { isShopper, type Plan, planOf, vacate } from './operations.ts'
import { endCharges, insertTimeline, listItems } from './queries.ts'
import * as refunds from './refund-queries.ts'
import type { ChargeRow, OrderRefund, OrderRow, RefundRow } from './schema.ts'
import { change, forMerchant, forShopper, lock, refundForShopper, shownRefund } from './service.ts'
import type { OrderDeps, Word } from './words.ts'

/** How a cancellation ends: all is given back and free again, or the order is as it was. */

export interface CancelWish {
  reason: CancelReason
  /** Somebody's own words, for the merchant's eyes. */
  note: string | null
  /** False: what was to be sent is not there to be sold again. */
  restock: boolean
  /** An edit that leaves nothing is answered as an edit; only what is held can be rejected. */
  as: 'cancel' | 'edit' | 'reject'
}

/** What a cancellation means to do, kept with the order until it has ended. */
export interface CancelPlan extends Plan, CancelWish {
  kind: 'cancel'
  refund_id: string | null
  voids: { charge_id: string; attempt_id: string }[]
}

/** What a gateway has said to a void, and what it keeps of an order that it should not have taken. */
export type VoidWord = Word & { kept_cents?: number }

/** What the gateways have said to a cancellation. */
export interface Heard {
  refund: RefundRow | null
  charges: ChargeRow[]
  words: Map<string, Word>
  voids: VoidWord[]
  unknown: string[]
}

export function requirePlan(order: OrderRow): CancelPlan {
  const plan = planOf<CancelPlan>(order, 'cancel')
  if (plan === null) throw new Error('nothing is being cancelled')
  return plan
}

export type Ended =
  | { state: 'cancelled'; order: OrderRow; refunds: OrderRefund[]; plan: CancelPlan }
  | Extract<Settled, { state: 'failed' }>

export async function end(tx: Tx, deps: OrderDeps, orderId: string, heard: Heard): Promise<Ended> {
  const order = await lock(tx, orderId)
  const plan = requirePlan(order)
  const isRefused = [...heard.words.values()].some(({ kind }) => kind !== 'approved')
  // Stock is locked before balances, here as everywhere.
  if (!isRefused) {
    const isKept = plan.restock || order.placed_at === null
    await (isKept ? inventory.release : inventory.writeOff)(tx, order.id)
  }
  const { refund, charges, words } = heard
  const facts = {
    cancelled_at: new Date(deps.clock.now()).toISOString(),
    cancel_reason: plan.reason,
    hold: null,
  }
  const settled = refund && (await settle(tx, order, refund, charges, words, facts))
  await vacate(tx, order, plan)
  if (settled?.state === 'failed') return settled
  for (const word of heard.voids) await closeVoid(tx, order.id, word)
  await letGo(tx, order)
  const cancelled = settled?.order ?? (await change(tx, order, facts))
  const given = settled === null ? [] : [settled.refund]
  await tell(tx, cancelled, plan, given)
  for (const { id: subscription_id } of await deps.endSubscriptions(tx, order.id)) {
    await insertTimeline(tx, order.id, {
      type: 'subscription_cancelled',
      actor: plan.actor,
      data: { subscription_id },
    })
  }
  return { state: 'cancelled', order: cancelled, refunds: given, plan }
}

async function closeVoid(tx: Tx, order_id: string, word: VoidWord): Promise<void> {
  const { attempt_id, kept_cents: amount_cents } = word
  if (word.kind !== 'approved' && word.kind !== 'refused') return
  await payments.closeAttempt(tx, attempt_id, word.result)
  if (amount_cents === undefined) return
  const data = { attempt_id, amount_cents }
  await insertTimeline(tx, order_id, { type: 'payment_not_returned', actor: 'system', data })
}

/** What was held and never taken is free again, and so is the coupon. */
async function letGo(tx: Tx, { id: order_id }: OrderRow): Promise<void> {
  await storeCredit.voidHold(tx, { order_id })
  await giftCards.voidHold(tx, { order_id })
  await endCharges(tx, order_id, 'voided')
  await coupons.release(tx, { order_id })
}

/** Words of a person stand in a note, which can be erased; the timeline cannot. */
async function tell(
  tx: Tx,
  order: OrderRow,
  { actor, reason, restock, note }: CancelPlan,
  given: readonly OrderRefund[],
): Promise<void> {
  const amounts = given.map(({ refund_id, amount_cents }) => ({ refund_id, amount_cents }))
  await Promise.all([
    note !== null && insertNote(tx, order.id, { note, actor }),
    insertTimeline(tx, order.id, {
      type: 'cancelled',
      actor,
      data: { reason, restock, refunds: amounts },
    }),
    webhooks.emit(tx, {
      type: 'commerce.order.cancelled.v1',
      order_id: order.id,
      customer_ref: order.customer_ref,
      data: { order: forMerchant(order), reason, refunds: amounts },
    }),
  ])
}

/** The second cancellation changes nothing, and says so. */
export async function repeat(
  tx: Tx,
  claim: idempotency.WonClaim,
  order: OrderRow,
  { actor, as }: Pick<CancelPlan, 'actor' | 'as'>,
): Promise<idempotency.Answer> {
  if (as === 'edit') return answerEdit(tx, claim, { order, actor, given: [] })
  const given = (await refunds.listRefunds(tx, order.id))
    .filter(({ status }) => status === 'succeeded')
    .map(isShopper(actor) ? refundForShopper : shownRefund)
  const body = { order: shown(order, actor), refunds: given, already_cancelled: true }
  return idempotency.finish(tx, claim, 200, JSON.stringify(body))
}

const shown = (order: OrderRow, actor: string) =>
  isShopper(actor) ? forShopper(order) : forMerchant(order)

export async function answer(
  tx: Tx,
  claim: idempotency.WonClaim,
  { order, refunds: given, plan }: Extract<Ended, { state: 'cancelled' }>,
  already_cancelled: boolean,
): Promise<idempotency.Answer> {
  if (plan.as === 'edit') return answerEdit(tx, claim, { order, actor: plan.actor, given })
  const body = { order: shown(order, plan.actor), refunds: given, already_cancelled }
  return idempotency.finish(tx, claim, 200, JSON.stringify(body))
}

async function answerEdit(
  tx: Tx,
  claim: idempotency.WonClaim,
  { order, actor, given }: { order: OrderRow; actor: string; given: readonly OrderRefund[] },
): Promise<idempotency.Answer> {
  const view = shown(order, actor)
  const delta_cents = -given.reduce((cents, { amount_cents }) => cents + amount_cents, 0)
  const items = await listItems(tx, order.id)
  const body = { order: view, items, charge: null, refund: given[0] ?? null, delta_cents }
  return idempotency.finish(tx, claim, 200, JSON.stringify(body))
}
