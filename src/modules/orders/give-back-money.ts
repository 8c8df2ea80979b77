import { randomUUID } from 'node:crypto'
import type { Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { sum } from '../../kernel/money.ts'
import * as giftCards from '../gift-cards/money.ts'
import * as ledger from '../ledger/money.ts'
import type { NewJournal } from '../ledger/schema.ts'
import type { GatewayName } from '../payments/schema.ts'
import * as payments from '../payments/service.ts'
import * as storeCredit from '../store-credit/money.ts'
import * as webhooks from '../webhooks/service.ts'
import { type FactChange, insertTimeline } from './queries.ts'
import {
  atLeastNothing,
  type Parts,
  refundableOf,
  splitAmount,
  type TenderShare,
  totalOf,
} from './refund-plan.ts'
import * as queries from './refund-queries.ts'
import type { ChargeRow, OrderRefund, OrderRow, RefundRow } from './schema.ts'
import { change, forMerchant, shownRefund } from './service.ts'
import type { Word } from './words.ts'

/**
 * The two ends of giving money back, for refunds, cancellations and edits alike: `promise` takes it
 * from the charges before any gateway is asked, `settle` makes true what the gateways have said.
 */

export interface Giving {
  kind: 'refund' | 'adjustment'
  method: 'original' | 'store_credit'
  parts: Parts
  tenders: readonly TenderShare[]
  items?: readonly queries.NewRefundItem[]
  reason: string | null
  actor: string
  /** The bank has it already: no gateway is asked. */
  isTaken?: boolean
}

/** Under the order's lock. Of however many at once, no more is promised than was taken. */
export async function promise(
  tx: Tx,
  order: OrderRow,
  charges: readonly ChargeRow[],
  giving: Giving,
): Promise<string> {
  const { parts, tenders, items = [], isTaken = false, ...rest } = giving
  const refund_id = randomUUID()
  for (const { charge_id, amount_cents } of tenders) {
    if ((await queries.takeFromCharge(tx, charge_id, amount_cents)) === 0) {
      throw exceeds(refundableOf(charges))
    }
  }
  if (items.length > 0 && (await queries.countUnits(tx, items, 1)) < items.length) {
    throw exceeds(refundableOf(charges))
  }
  const asked = tenders.map((share) => ({
    ...share,
    attempt_id: share.tender === 'card' && !isTaken ? randomUUID() : null,
  }))
  const { id: order_id, currency } = order
  const amount_cents = totalOf(parts)
  await queries.insertRefund(tx, { refund_id, order_id, currency, amount_cents, ...parts, ...rest })
  await Promise.all([
    queries.insertTenders(tx, refund_id, asked),
    items.length > 0 && queries.insertRefundItems(tx, refund_id, items),
    ...asked.map((share) => beginAttempt(tx, order, charges, share)),
  ])
  return refund_id
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
  return payments.beginAttempt(tx, {
    id: attempt_id,
    order_id,
    kind: 'refund',
    gateway: gatewayOf(charge),
    amount_cents,
    currency,
    charge_id,
    parent_txn_id: charge.txn_id,
  })
}

export function chargeOf(charges: readonly ChargeRow[], charge_id: string): ChargeRow {
  const found = charges.find((each) => each.charge_id === charge_id)
  if (found === undefined) throw new Error('a tender without its charge')
  return found
}

/** What was paid by a gateway is given back there. */
export function gatewayOf({ gateway }: ChargeRow): GatewayName {
  if (gateway === null) throw new Error('a card charge without its gateway')
  return gateway
}

export type Settled =
  | {
      state: 'succeeded'
      order: OrderRow
      refund: OrderRefund
      /** What left the tenders, for the journal of whoever books an adjustment. */
      entries: NewJournal['entries']
    }
  /** Nothing counts, or less than was meant: then that much is a refund, and stands as one. */
  | { state: 'failed'; order: OrderRow; reason: string; refunded_cents: number }

/**
 * Makes true what the gateways have said, under the order's lock. A refund that succeeded has its
 * journal, its event and its place in the timeline; an adjustment's journal is its edit's. `also` is
 * true of the order once it succeeds, so that its event shows the order as it then is.
 */
export async function settle(
  tx: Tx,
  order: OrderRow,
  refund: RefundRow,
  charges: readonly ChargeRow[],
  words: ReadonlyMap<string, Word>,
  also: FactChange = {},
): Promise<Settled> {
  for (const word of words.values()) await closeAttempt(tx, word)
  const refusal = [...words.values()].find(
    (word) => word.kind === 'refused' || word.kind === 'lost',
  )
  if (refusal !== undefined) return settleRefused(tx, order, refund, { words, refusal })
  const entries = await giveTo(tx, order, refund, charges, refund.tenders)
  await queries.endRefund(tx, refund.refund_id, { ...refund, status: 'succeeded' })
  return succeed(tx, order, refund, entries, also)
}

async function closeAttempt(tx: Tx, word: Word): Promise<void> {
  if (word.kind === 'lost') await payments.markNotFound(tx, word.attempt_id)
  else if (word.kind !== 'unknown') await payments.closeAttempt(tx, word.attempt_id, word.result)
}

type Tenders = RefundRow['tenders']

/** Moves the value to where it goes, and answers the journal's side of it. */
async function giveTo(
  tx: Tx,
  order: OrderRow,
  refund: RefundRow,
  charges: readonly ChargeRow[],
  tenders: Tenders,
): Promise<
  { account: 'card_clearing' | 'gift_card' | 'store_credit'; ref?: string; amount_cents: number }[]
> {
  const entries = []
  // Store credit is locked before gift cards, here as everywhere.
  for (const share of tenders.toSorted((a, b) => RANK[a.tender] - RANK[b.tender])) {
    const { charge_id, amount_cents } = share
    const actor = { name: refund.actor }
    const { gift_card_id } = chargeOf(charges, charge_id)
    const tender = await whereTo(tx, order, share, { gift_card_id, actor })
    if (tender === 'store_credit') {
      const { customer_ref, currency, id: order_id } = order
      const wanted = { customer_ref, currency, amount_cents, order_id, actor }
      const { account_id } = await storeCredit.credit(tx, {
        ...wanted,
        event: 'refund',
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

/** A gift card that can be used no more cannot take it: then the customer has it as store credit. */
async function whereTo(
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

async function succeed(
  tx: Tx,
  order: OrderRow,
  refund: RefundRow,
  entries: Awaited<ReturnType<typeof giveTo>>,
  also: FactChange = {},
): Promise<Extract<Settled, { state: 'succeeded' }>> {
  const { amount_cents, kind, refund_id } = refund
  // An adjustment leaves the order's money and its total in step: the edit writes both.
  const changed =
    kind === 'refund'
      ? await change(tx, order, { ...also, refunded_cents: order.refunded_cents + amount_cents })
      : { ...order, captured_cents: order.captured_cents - amount_cents }
  const shown = shownRefund((await queries.findRefund(tx, refund_id)) ?? refund)
  await Promise.all([
    insertTimeline(tx, order.id, {
      type: kind === 'refund' ? 'refunded' : 'adjusted',
      actor: refund.actor,
      data: { refund_id, amount_cents, method: refund.method, tenders: shown.tenders },
    }),
    kind === 'refund' && ledger.post(tx, refundJournal(order, refund, entries)),
    kind === 'refund' && tellRefunded(tx, changed, shown),
  ])
  return { state: 'succeeded', order: changed, refund: shown, entries }
}

/** What the store no longer has, and where it went. */
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

/** The reason is the merchant's or the shopper's own words, and no part of what the world is told. */
const tellRefunded = (tx: Tx, order: OrderRow, { reason: _, ...refund }: OrderRefund) =>
  webhooks.emit(tx, {
    type: 'commerce.order.refunded.v1',
    order_id: order.id,
    customer_ref: order.customer_ref,
    data: { order: forMerchant(order), refund },
  })

/**
 * A gateway has refused. What another one gave back already cannot be undone: that much is a refund.
 * All the rest was never given, and is free to be given again.
 */
async function settleRefused(
  tx: Tx,
  order: OrderRow,
  refund: RefundRow,
  { words, refusal }: { words: ReadonlyMap<string, Word>; refusal: Word },
): Promise<Settled> {
  const isGiven = ({ charge_id }: Tenders[number]) => words.get(charge_id)?.kind === 'approved'
  const given = refund.tenders.filter(isGiven)
  for (const { charge_id, tender, amount_cents } of refund.tenders.filter((t) => !isGiven(t))) {
    await queries.returnToCharge(tx, charge_id, amount_cents)
    await queries.endTender(tx, refund.refund_id, { charge_id, tender, status: 'failed' })
  }
  if (refund.items.length > 0) await queries.countUnits(tx, refund.items, -1)
  const reason =
    refusal.kind === 'refused' ? (refusal.result.reason ?? 'processing_error') : 'processing_error'
  await insertTimeline(tx, order.id, {
    type: 'refund_failed',
    actor: refund.actor,
    data: { refund_id: refund.refund_id, amount_cents: refund.amount_cents, reason },
  })
  const refunded_cents = sum(given.map(({ amount_cents }) => amount_cents))
  const failed = { state: 'failed', reason, refunded_cents } as const
  if (given.length === 0) {
    await queries.endRefund(tx, refund.refund_id, { ...refund, status: 'failed' })
    return { ...failed, order }
  }
  const less: RefundRow = {
    ...refund,
    ...splitAmount(refunded_cents, atLeastNothing(refund)),
    kind: 'refund',
    amount_cents: refunded_cents,
  }
  const entries = given.map(({ amount_cents }) => ({
    account: 'card_clearing' as const,
    amount_cents: -amount_cents,
  }))
  for (const { charge_id, tender } of given) {
    await queries.endTender(tx, refund.refund_id, { charge_id, tender, status: 'succeeded' })
  }
  await queries.endRefund(tx, refund.refund_id, { ...less, status: 'succeeded' })
  return { ...failed, order: (await succeed(tx, order, less, entries)).order }
}
