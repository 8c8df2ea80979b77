import type { Tx } from '../../db/database.ts'
import { newId } from '../../kernel/id.ts'
import { sum } from '../../kernel/money.ts'
import { followOrder } from '../affiliates/follow-money.ts'
import * as ledger from '../ledger/money.ts'
import type { NewJournal } from '../ledger/schema.ts'
import type { ChargeRow, OrderRow, RefundRow } from '../orders/schema.ts'
import * as orders from '../orders/service.ts'
import {
  partsOf,
  splitAmount,
  splitOverTenders,
  subtractParts,
  withoutNegatives,
} from './refund-parts.ts'
import * as queries from './refund-queries.ts'
import type { Parts } from './schema.ts'
import { chargeOf, reserveRefund, succeed } from './settle-refund-money.ts'

/**
 * Moves money from one order to another, for an exchange. No gateway is asked: the money stays where it is,
 * and the charges of the second order name the charges of the first order that it comes from. So a later
 * refund of the second order goes to the tenders that paid for the first. In the books, the first order is
 * refunded and the second is paid (decision 0042).
 */

interface MoveRequest {
  amount_cents: number
  parts: Parts
  actor: string
}

/** Reserves money of an order that no bank may take. Until it is moved, it is neither refunded nor moved elsewhere. */
export async function reserveMove(
  tx: Tx,
  from: OrderRow,
  charges: readonly ChargeRow[],
  { amount_cents, parts, actor }: MoveRequest,
): Promise<string> {
  const tenders = splitOverTenders(charges, amount_cents, 'original')
  const plan = { kind: 'refund', method: 'exchange', parts, tenders, reason: null, actor } as const
  return reserveRefund(tx, from, charges, plan)
}

/** Cancels a move that is reserved and not settled. */
export async function cancelMove(tx: Tx, refund: RefundRow): Promise<void> {
  for (const { charge_id, tender, amount_cents } of refund.tenders) {
    await queries.releaseToCharge(tx, charge_id, amount_cents)
    await queries.endTender(tx, refund.refund_id, { charge_id, tender, status: 'failed' })
  }
  await queries.endRefund(tx, refund.refund_id, { ...refund, status: 'failed' })
}

/** Moves reserved money to another order. Both orders are locked. Returns the first order as it is now. */
export async function settleMove(
  tx: Tx,
  from: OrderRow,
  refund: RefundRow,
  to_order_id: string,
): Promise<OrderRow> {
  const charges = await orders.listCharges(tx, from.id)
  for (const { charge_id, tender, amount_cents } of refund.tenders) {
    await insertMoved(tx, to_order_id, chargeOf(charges, charge_id), amount_cents)
    await queries.endTender(tx, refund.refund_id, { charge_id, tender, status: 'succeeded' })
  }
  await queries.endRefund(tx, refund.refund_id, { ...refund, status: 'succeeded' })
  const entries = exchangeEntry(-refund.amount_cents)
  return (await succeed(tx, from, refund, { entries })).order
}

/** Inserts a captured charge of the second order, with the gateway's transaction of the first order's charge. */
async function insertMoved(
  tx: Tx,
  order_id: string,
  from: ChargeRow,
  amount_cents: number,
): Promise<void> {
  const { tender, currency, gateway, card, card_fingerprint, txn_id, vault_id } = from
  const charge_id = newId()
  const moved = {
    charge_id,
    tender,
    amount_cents,
    currency,
    gateway,
    card_brand: card?.brand ?? null,
    card_last4: card?.last4 ?? null,
    card_fingerprint,
    gift_card_id: from.gift_card_id,
    gift_card_last4: from.gift_card_last4,
    moved_from: from.charge_id,
  }
  await orders.insertCharges(tx, order_id, [moved])
  await orders.captureCharge(tx, charge_id, { captured_cents: amount_cents, txn_id, vault_id })
}

/** The account is empty after each exchange: both journals are of one transaction. */
const exchangeEntry = (amount_cents: number): NewJournal['entries'] => [
  { account: 'exchange', amount_cents },
]

interface Moved {
  from: OrderRow
  /** The refund that moved the money. */
  refund: RefundRow
  to: OrderRow
  actor: string
}

/**
 * Moves back the moved money that the second order has not refunded. The refund that moved it then has
 * failed, or is lower by this amount.
 */
export async function reverseMove(
  tx: Tx,
  { from, refund, to, actor }: Moved,
): Promise<{ to: OrderRow; from: OrderRow; amount_cents: number }> {
  const charges = await orders.listCharges(tx, to.id)
  const back = charges.filter((each) => each.moved_from !== null && orders.leftOn(each) > 0)
  const amount_cents = sum(back.map(orders.leftOn))
  if (amount_cents === 0) return { to, from, amount_cents }
  const refunded = await refundMoved(tx, to, charges, { back, amount_cents, actor })
  for (const charge of back) {
    const cents = orders.leftOn(charge)
    await queries.releaseToCharge(tx, charge.moved_from ?? '', cents)
    await queries.lowerTender(tx, refund.refund_id, charge.moved_from ?? '', cents)
  }
  const parts = splitAmount(amount_cents, refund)
  await queries.lowerRefund(tx, refund.refund_id, { amount_cents, ...parts })
  await ledger.post(tx, releaseJournal(from, refund, parts))
  await followOrder(tx, from, { reason: 'exchange', ref: refund.refund_id })
  const refunded_cents = from.refunded_cents - amount_cents
  return { to: refunded, from: await orders.change(tx, from, { refunded_cents }), amount_cents }
}

interface Back {
  back: readonly ChargeRow[]
  amount_cents: number
  actor: string
}

/** Refunds to the second order the money that moves back to the first. */
async function refundMoved(
  tx: Tx,
  to: OrderRow,
  charges: readonly ChargeRow[],
  { back, amount_cents, actor }: Back,
): Promise<OrderRow> {
  const left = withoutNegatives(subtractParts(partsOf(to), await queries.sumReserved(tx, to.id)))
  const tenders = back.map((charge) => ({
    charge_id: charge.charge_id,
    tender: charge.tender,
    amount_cents: orders.leftOn(charge),
  }))
  const parts = splitAmount(amount_cents, left)
  const plan = { kind: 'refund', method: 'exchange', parts, tenders, reason: null, actor } as const
  const refund = await orders.getRefund(tx, await reserveRefund(tx, to, charges, plan))
  for (const { charge_id, tender } of tenders) {
    await queries.endTender(tx, refund.refund_id, { charge_id, tender, status: 'succeeded' })
  }
  await queries.endRefund(tx, refund.refund_id, { ...refund, status: 'succeeded' })
  return (await succeed(tx, to, refund, { entries: exchangeEntry(-amount_cents) })).order
}

/** The journal that reverses the refund of the first order, for the amount that moves back. */
const releaseJournal = (
  { id: order_id, currency }: OrderRow,
  { refund_id }: RefundRow,
  { product_cents, tax_cents, shipping_cents }: Parts,
): NewJournal => ({
  kind: 'exchange.released',
  currency,
  order_id,
  ref: refund_id,
  entries: [
    { account: 'refund', amount_cents: -product_cents },
    { account: 'tax_payable', amount_cents: -tax_cents },
    { account: 'shipping_income', amount_cents: -shipping_cents },
    ...exchangeEntry(product_cents + tax_cents + shipping_cents),
  ],
})
