import type { Db, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { newId } from '../../kernel/id.ts'
import { sum } from '../../kernel/money.ts'
import { followOrder } from '../affiliates/follow-money.ts'
import * as giftCards from '../gift-cards/money.ts'
import { cardEntries, reserveCards, takeCards } from '../gift-cards/purchase-money.ts'
import type { CardShare } from '../gift-cards/purchase-schema.ts'
import * as orderStock from '../inventory/order-stock.ts'
import * as ledger from '../ledger/money.ts'
import type { NewJournal } from '../ledger/schema.ts'
import type { GatewayReply } from '../operations/schema.ts'
import { disputeWaits, firstOrderOf, isDisputed } from '../orders/chain.ts'
import type { ChargeRow, FactChange, OrderRefund, OrderRow, RefundRow } from '../orders/schema.ts'
import {
  addToTimeline,
  change,
  changeUnits,
  factsOf,
  getRefund,
  listItems,
  refundableOf,
  underWayOf,
} from '../orders/service.ts'
import { shownRefund } from '../orders/show.ts'
import { allowedActions } from '../orders/status.ts'
import * as attempts from '../payments/attempts.ts'
import type { GatewayName } from '../payments/schema.ts'
import * as storeCredit from '../store-credit/money.ts'
import { orderRefunded, withoutReason } from './events.ts'
import { splitAmount, type TenderShare, totalOf, withoutNegatives } from './refund-parts.ts'
import * as queries from './refund-queries.ts'
import type { RefundReplies } from './refund-replies.ts'
import type { Parts } from './schema.ts'

/**
 * Both ends of a refund, for refunds, cancellations, edits and disputes alike: `reserveRefund`
 * reserves the money on the charges before a gateway is asked, `settleRefund` writes what the
 * gateways replied.
 */

export interface RefundPlan {
  kind: 'refund' | 'adjustment'
  method: queries.RefundMethod
  parts: Parts
  tenders: readonly TenderShare[]
  items?: readonly queries.NewRefundItem[]
  /** Gift cards that the order has bought, and that the refund takes back. */
  cards?: readonly CardShare[]
  reason: string | null
  actor: string
  /** Whether the bank has already taken the money, by a lost dispute: no gateway is asked. */
  isTaken?: boolean
}

/**
 * Reserves a refund, under the order's lock. Even if many refunds begin at once, no charge
 * refunds more than it captured.
 */
export async function reserveRefund(
  tx: Tx,
  order: OrderRow,
  charges: readonly ChargeRow[],
  plan: RefundPlan,
): Promise<string> {
  const { parts, tenders, items = [], cards = [], isTaken = false, ...rest } = plan
  const asksGateway = !isTaken && plan.method !== 'exchange'
  if (asksGateway) await requireNoDispute(tx, order, charges, tenders)
  const refund_id = newId()
  for (const { charge_id, amount_cents } of tenders) {
    if ((await queries.reserveFromCharge(tx, charge_id, amount_cents)) === 0) {
      throw exceeds(refundableOf(charges))
    }
  }
  if (items.length > 0 && (await queries.countRefundedUnits(tx, items, 1)) < items.length) {
    throw exceeds(refundableOf(charges))
  }
  await withdrawUnits(tx, order, items, 1)
  await reserveCards(tx, refund_id, cards)
  const shares = tenders.map((share) => ({
    ...share,
    attempt_id: share.tender === 'card' && asksGateway ? newId() : null,
  }))
  const { id: order_id, currency } = order
  const amount_cents = totalOf(parts)
  await queries.insertRefund(tx, { refund_id, order_id, currency, amount_cents, ...parts, ...rest })
  await Promise.all([
    queries.insertTenders(tx, refund_id, shares),
    items.length > 0 && queries.insertRefundItems(tx, refund_id, items),
    ...shares.map((share) => beginAttempt(tx, order, charges, share)),
  ])
  return refund_id
}

/**
 * Subtracts units that are to be restocked from the open quantity, or adds them again with -1: no parcel is packed
 * with a unit whose refund is on its way.
 */
async function withdrawUnits(
  tx: Tx,
  order: OrderRow,
  items: readonly queries.NewRefundItem[],
  sign: 1 | -1,
): Promise<OrderRow> {
  const units = items
    .filter(({ restocked_quantity }) => restocked_quantity > 0)
    .map(({ order_item_id, restocked_quantity }) => ({
      order_item_id,
      restocked: sign * restocked_quantity,
    }))
  if (units.length === 0) return order
  const [changed] = await changeUnits(tx, [{ order, units }])
  return changed ?? order
}

/** Releases the stock of units that will not ship, of the variants that a refund restocks. */
async function restock(tx: Tx, { id }: OrderRow, { items }: RefundRow): Promise<void> {
  const withdrawn = items.filter(({ restocked_quantity }) => restocked_quantity > 0)
  if (withdrawn.length === 0) return
  const lines = await listItems(tx, id)
  const isWithdrawn = (item: { id: string }) =>
    withdrawn.some(({ order_item_id }) => order_item_id === item.id)
  const variants = new Set(lines.filter(isWithdrawn).map(({ variant_id }) => variant_id))
  await orderStock.releaseExcess(
    tx,
    id,
    lines
      .filter(({ variant_id }) => variants.has(variant_id))
      .map(({ variant_id, quantity, shipped_quantity, restocked_quantity }) => ({
        variant_id,
        quantity: quantity - shipped_quantity - restocked_quantity,
      })),
  )
}

/**
 * Refuses to return the money of a card while its dispute is open, to any tender: if the bank takes it as well, the
 * shopper has it twice. Exchanges may have moved the money, and then the dispute is that of any order of the chain.
 */
export async function requireNoDispute(
  db: Db,
  order: OrderRow,
  charges: readonly ChargeRow[],
  tenders: readonly TenderShare[],
): Promise<void> {
  const cards = tenders
    .map(({ charge_id }) => charge_id)
    .filter((id) => chargeOf(charges, id).tender === 'card')
  if (cards.length === 0) return
  if (order.disputed || (await isDisputed(db, cards))) throw await disputed(db, order, charges)
}

/** The refusal of an action because the bank may still take the money. */
export async function disputed(
  db: Db,
  order: OrderRow,
  charges: readonly ChargeRow[],
): Promise<ApiError> {
  const waits = [...underWayOf(order), ...(await disputeWaits(db, order, charges))]
  const { allowed } = allowedActions(factsOf(order), waits)
  return new ApiError('disputed', { body: { current_status: order.status, allowed } })
}

export const exceeds = (refundable_cents: number, body: Record<string, unknown> = {}) =>
  new ApiError('amount_exceeds_refundable', { body: { refundable_cents, ...body } })

function beginAttempt(
  tx: Tx,
  { id: order_id, currency }: OrderRow,
  charges: readonly ChargeRow[],
  { attempt_id, charge_id, amount_cents }: TenderShare & { attempt_id: string | null },
) {
  if (attempt_id === null) return null
  const charge = chargeOf(charges, charge_id)
  return attempts.beginAttempt(tx, {
    id: attempt_id,
    order_id,
    kind: 'refund',
    gateway: gatewayOf(charge),
    amount_cents,
    currency,
    charge_id,
    parent_txn_id: charge.txn_id,
    isUnsent: true,
  })
}

export function chargeOf(charges: readonly ChargeRow[], charge_id: string): ChargeRow {
  const found = charges.find((each) => each.charge_id === charge_id)
  if (found === undefined) throw new Error('the tender of a refund has no charge')
  return found
}

/** The gateway of a card charge: a charge is captured, voided and refunded where it was made. */
export function gatewayOf({ gateway }: ChargeRow): GatewayName {
  if (gateway === null) throw new Error('a card charge has no gateway')
  return gateway
}

export type SettledRefund =
  | {
      state: 'succeeded'
      order: OrderRow
      refund: OrderRefund
      /** The entries of the tenders, for the journal of the edit that an adjustment belongs to. */
      entries: NewJournal['entries']
    }
  /** Nothing was refunded, or less than planned; that part then counts as a refund. */
  | { state: 'failed'; order: OrderRow; reason: string; refunded_cents: number }

interface Settling {
  charges: readonly ChargeRow[]
  replies: RefundReplies
  also?: FactChange
  /** Whether the money has already left: amounts that its gift cards no longer have are then a loss of the store. */
  mayLose?: boolean
}

/**
 * Settles a refund with the gateways' replies, under the order's lock. A refund that succeeds gets its journal, its
 * event and its entry in the timeline; the journal of an adjustment is that of its edit. `also` are facts of the
 * order that hold once it succeeds, so that its event shows them.
 */
export async function settleRefund(
  tx: Tx,
  order: OrderRow,
  refund: RefundRow,
  { charges, replies, also = {}, mayLose = false }: Settling,
): Promise<SettledRefund> {
  for (const reply of replies.values()) await closeAttempt(tx, reply)
  const refusal = [...replies.values()].find(
    ({ kind }) => kind === 'refused' || kind === 'not_found',
  )
  if (refusal !== undefined) return settleRefused(tx, order, refund, { replies, refusal })
  // Stock is locked before balances, here and everywhere else.
  await restock(tx, order, refund)
  const entries = await creditTenders(tx, order, refund, charges)
  const taken = await takeBack(tx, refund, mayLose)
  await queries.endRefund(tx, refund.refund_id, { ...refund, status: 'succeeded' })
  return succeed(tx, order, refund, { entries, taken, also })
}

/** Takes the gift cards of a refund back, and returns the journal's entries for it. */
async function takeBack(
  tx: Tx,
  refund: RefundRow,
  mayLose: boolean,
): Promise<NewJournal['entries']> {
  if (refund.gift_card_cents === 0) return []
  const { shares, missing_cents } = await takeCards(tx, refund)
  const entries = cardEntries(shares, 1)
  if (missing_cents === 0) return entries
  if (!mayLose) throw new Error('a refund takes back more than its gift cards have')
  return [...entries, { account: 'dispute_loss', amount_cents: missing_cents }]
}

/** Closes the attempt of a reply; an unknown reply leaves it open. */
export async function closeAttempt(tx: Tx, reply: GatewayReply): Promise<void> {
  if (reply.kind === 'not_found') await attempts.markNotFound(tx, reply.attempt_id)
  else if (reply.kind !== 'unknown') {
    await attempts.closeAttempt(tx, reply.attempt_id, reply.result)
  }
}

type Tenders = RefundRow['tenders']

/** Credits each tender with its share, and returns the journal's entries for it. */
async function creditTenders(
  tx: Tx,
  order: OrderRow,
  refund: RefundRow,
  charges: readonly ChargeRow[],
): Promise<
  { account: 'card_clearing' | 'gift_card' | 'store_credit'; ref?: string; amount_cents: number }[]
> {
  const entries = []
  // Store credit is locked before gift cards, here and everywhere else.
  for (const share of refund.tenders.toSorted((a, b) => RANK[a.tender] - RANK[b.tender])) {
    const { charge_id, amount_cents } = share
    const actor = { name: refund.actor }
    const charge = chargeOf(charges, charge_id)
    const { gift_card_id, tender: paidBy } = charge
    const tender = await creditGiftCard(tx, order, share, { gift_card_id, actor })
    if (tender === 'store_credit') {
      const { customer_ref, currency, id: order_id } = order
      const credit = { customer_ref, currency, amount_cents, order_id, actor }
      const { account_id } = await storeCredit.credit(tx, {
        ...credit,
        event: 'refund',
        ...(paidBy === 'store_credit' && { returnedFrom: await firstOrderOf(tx, charge) }),
        post: false,
      })
      entries.push({ account: tender, ref: account_id, amount_cents: -amount_cents })
    } else if (tender === 'gift_card') {
      entries.push({ account: tender, ref: gift_card_id ?? '', amount_cents: -amount_cents })
    } else {
      entries.push({ account: 'card_clearing' as const, amount_cents: -amount_cents })
    }
    await queries.endTender(tx, refund.refund_id, { charge_id, tender, status: 'succeeded' })
  }
  return entries
}

const RANK = { store_credit: 0, gift_card: 1, card: 2 } as const

/** Credits a gift card's share, and returns its tender: store credit if the card is no longer usable. */
async function creditGiftCard(
  tx: Tx,
  { id: order_id }: OrderRow,
  { tender, amount_cents }: Tenders[number],
  { gift_card_id, actor }: { gift_card_id: string | null; actor: { name: string } },
) {
  if (tender !== 'gift_card') return tender
  if (gift_card_id === null) return 'store_credit' as const
  const taken = await giftCards.credit(tx, { gift_card_id, amount_cents, order_id, actor })
  return taken === 'gift_card' ? tender : ('store_credit' as const)
}

interface Succeeding {
  /** The entries of the tenders that got the money. */
  entries: NewJournal['entries']
  /** The entries of gift cards, which owe less. */
  taken?: NewJournal['entries']
  also?: FactChange
}

/** Records a refund whose money has moved: facts, timeline, journal, event and commission. */
export async function succeed(
  tx: Tx,
  order: OrderRow,
  refund: RefundRow,
  { entries, taken = [], also = {} }: Succeeding,
): Promise<Extract<SettledRefund, { state: 'succeeded' }>> {
  const { amount_cents, kind, refund_id } = refund
  // An adjustment is no refund of the order: its edit writes the new total and the captured amount.
  const changed =
    kind === 'refund'
      ? await change(tx, order, { ...also, refunded_cents: order.refunded_cents + amount_cents })
      : { ...order, captured_cents: order.captured_cents - amount_cents }
  const shown = shownRefund(await getRefund(tx, refund_id))
  await Promise.all([
    addToTimeline(tx, order.id, {
      type: kind === 'refund' ? 'refunded' : 'adjusted',
      actor: refund.actor,
      data: { refund_id, amount_cents, method: refund.method, tenders: shown.tenders },
    }),
    kind === 'refund' && ledger.post(tx, refundJournal(order, refund, [...taken, ...entries])),
    kind === 'refund' && orderRefunded.emit(tx, changed, { refund: withoutReason(shown) }),
  ])
  if (kind === 'refund') {
    const reason = refund.method === 'exchange' ? 'exchange' : 'refund'
    await followOrder(tx, changed, { reason, ref: refund_id })
  }
  return { state: 'succeeded', order: changed, refund: shown, entries }
}

/** The journal of a refund: what the store no longer has or owes, and where the money went. */
const refundJournal = (
  { id: order_id, currency }: OrderRow,
  { refund_id, product_cents, tax_cents, shipping_cents }: RefundRow,
  entries: NewJournal['entries'],
): NewJournal => ({
  kind: 'order.refunded',
  currency,
  order_id,
  ref: refund_id,
  entries: [
    { account: 'refund', amount_cents: product_cents },
    { account: 'tax_payable', amount_cents: tax_cents },
    { account: 'shipping_income', amount_cents: shipping_cents },
    ...entries,
  ],
})

/**
 * Settles a refund that a gateway refused. The part that another gateway has refunded already
 * cannot be undone and counts as a refund. The rest is released, and can be refunded again.
 */
async function settleRefused(
  tx: Tx,
  before: OrderRow,
  refund: RefundRow,
  { replies, refusal }: { replies: RefundReplies; refusal: GatewayReply },
): Promise<SettledRefund> {
  const isPaid = ({ charge_id }: Tenders[number]) => replies.get(charge_id)?.kind === 'approved'
  const paid = refund.tenders.filter(isPaid)
  for (const { charge_id, tender, amount_cents } of refund.tenders.filter((t) => !isPaid(t))) {
    await queries.releaseToCharge(tx, charge_id, amount_cents)
    await queries.endTender(tx, refund.refund_id, { charge_id, tender, status: 'failed' })
  }
  const order = await withdrawUnits(tx, before, refund.items, -1)
  if (refund.items.length > 0) await queries.countRefundedUnits(tx, refund.items, -1)
  const reason =
    refusal.kind === 'refused' ? (refusal.result.reason ?? 'processing_error') : 'processing_error'
  await addToTimeline(tx, order.id, {
    type: 'refund_failed',
    actor: refund.actor,
    data: { refund_id: refund.refund_id, amount_cents: refund.amount_cents, reason },
  })
  const refunded_cents = sum(paid.map(({ amount_cents }) => amount_cents))
  const failed = { state: 'failed', reason, refunded_cents } as const
  if (paid.length === 0) {
    if (refund.gift_card_cents > 0) await takeCards(tx, { ...refund, gift_card_cents: 0 })
    await queries.endRefund(tx, refund.refund_id, { ...refund, status: 'failed' })
    return { ...failed, order }
  }
  const less: RefundRow = {
    ...refund,
    ...splitAmount(refunded_cents, withoutNegatives(refund)),
    kind: 'refund',
    amount_cents: refunded_cents,
  }
  const entries = paid.map(({ amount_cents }) => ({
    account: 'card_clearing' as const,
    amount_cents: -amount_cents,
  }))
  for (const { charge_id, tender } of paid) {
    await queries.endTender(tx, refund.refund_id, { charge_id, tender, status: 'succeeded' })
  }
  const taken = refund.gift_card_cents > 0 ? (await takeCards(tx, less)).shares : []
  await queries.endRefund(tx, refund.refund_id, { ...less, status: 'succeeded' })
  const settled = await succeed(tx, order, less, { entries, taken: cardEntries(taken, 1) })
  return { ...failed, order: settled.order }
}
