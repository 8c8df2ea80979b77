import type { Db, TenantDb, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { sum } from '../../kernel/money.ts'
import * as idempotency from '../../platform/idempotency.ts'
import * as giftCards from '../gift-cards/service.ts'
import * as pricing from '../pricing/service.ts'
import type { MerchantRefund, RefundPreview, ShopperRefund } from './change-schema.ts'
import { chargeOf, exceeds, type Giving, promise, settle } from './give-back-money.ts'
import { type Asked, actorOf, type By, isShopper, record, requireFree } from './operations.ts'
import { listCharges, listItems } from './queries.ts'
import {
  fitParts,
  leftOn,
  less,
  type Parts,
  partsOf,
  refundableOf,
  splitAmount,
  splitOverTenders,
  type TenderShare,
  totalOf,
} from './refund-plan.ts'
import * as queries from './refund-queries.ts'
import type { ChargeRow, OrderItem, OrderRow, RefundRow } from './schema.ts'
import { allowedOf, factsOf, forMerchant, forShopper, get, lock } from './service.ts'
import { allowedActions } from './status.ts'
import { askBack, leave, type OrderDeps, recallBack, unknownOf, whileHeld } from './words.ts'

/**
 * Gives money back, in three steps: `promise` takes it from the charges, so that however many ask at
 * once no more is given back than was paid; the gateways are asked; `settle` makes it true.
 */

/** The recovery point at which a refund waits for its gateways. The claim names the refund. */
const PROMISED = 'promised'

export type RefundWish =
  | { by: 'shopper'; body: ShopperRefund }
  | { by: 'merchant'; body: MerchantRefund }

export async function refund(
  deps: OrderDeps,
  db: TenantDb,
  { actor, claim }: Asked,
  orderId: string,
  wish: RefundWish,
): Promise<idempotency.Answer> {
  if (claim.recoveryPoint === PROMISED) return resumeRefund(deps, db, claim)
  const held = await db.transaction('orders: promise a refund', async (tx) => {
    const order = await lock(tx, orderId)
    requireFree(order, 'refund')
    const { charges, giving } = await plan(tx, order, wish, actorOf(actor))
    const refund_id = await promise(tx, order, charges, giving)
    return idempotency.advance(tx, claim, PROMISED, refund_id)
  })
  await deps.at?.('refund-promised')
  return conclude(deps, db, held, true)
}

/** Ends a refund that somebody left: the same way, by the gateways' own records. */
export const resumeRefund = (
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
  const row = await getRefund(db, claim.resourceId)
  const [order, charges] = await Promise.all([get(db, row.order_id), listCharges(db, row.order_id)])
  const sure = whileHeld(deps, db, claim)
  const words = await (isFirst ? askBack : recallBack)(sure, db, row, charges)
  const unknown = unknownOf(words.values())
  if (unknown.length > 0) return leave(deps, db, claim, order, unknown, isFirst)
  await deps.at?.('refund-answered')
  return db.transaction('orders: settle a refund', async (tx) => {
    const locked = await lock(tx, row.order_id)
    const settled = await settle(tx, locked, await getRefund(tx, row.refund_id), charges, words)
    const given = settled.state === 'failed' ? settled.refunded_cents : row.amount_cents
    await recordGiven(tx, { actor: row.actor, claim }, row, given)
    if (settled.state === 'failed') return idempotency.refuse(tx, claim, failure(settled))
    const isMerchants = !isShopper(row.actor)
    const shown = isMerchants ? forMerchant(settled.order) : forShopper(settled.order)
    const body = JSON.stringify({ order: shown, refund: settled.refund })
    return idempotency.finish(tx, claim, isMerchants ? 201 : 200, body)
  })
}

async function getRefund(db: Db, id: string | null) {
  const row = id === null ? null : await queries.findRefund(db, id)
  if (row === null) throw new Error('the refund of this key is gone')
  return row
}

/** Also of what was meant for a cancellation or an edit that did not happen. */
export async function recordGiven(
  tx: Tx,
  by: By,
  { order_id, refund_id, method }: RefundRow,
  amount_cents: number,
): Promise<void> {
  if (amount_cents === 0) return
  const after = { refund_id, amount_cents, method }
  await record(tx, by, order_id, { action: 'order.refunded', after })
}

export const failure = ({ reason, refunded_cents }: { reason: string; refunded_cents: number }) =>
  new ApiError('refund_failed', { body: { reason, refunded_cents } })

/** What a merchant's wish would come to. Promises nothing. */
export async function previewRefund(
  db: Db,
  orderId: string,
  body: MerchantRefund,
): Promise<RefundPreview> {
  const order = await get(db, orderId)
  const { charges, giving } = await plan(db, order, { by: 'merchant', body }, '')
  const amount_cents = totalOf(giving.parts)
  const refundable_cents = refundableOf(charges)
  return {
    amount_cents,
    ...giving.parts,
    currency: order.currency,
    tenders: await Promise.all(giving.tenders.map((share) => whereTo(db, charges, share))),
    refundable_cents,
    remaining_cents: refundable_cents - amount_cents,
  }
}

/** As the refund itself will find it: a gift card that can be used no more takes nothing back. */
async function whereTo(
  db: Db,
  charges: readonly ChargeRow[],
  share: TenderShare,
): Promise<TenderShare> {
  if (share.tender !== 'gift_card') return share
  const { gift_card_id } = chargeOf(charges, share.charge_id)
  const card = gift_card_id === null ? null : await giftCards.get(db, gift_card_id)
  return giftCards.isUsable(card) ? share : { ...share, tender: 'store_credit' }
}

/** What no refund has taken, and how many of them are under way. */
interface Left extends Parts {
  pending: number
}

async function plan(db: Db, order: OrderRow, wish: RefundWish, actor: string) {
  const [charges, promised] = await Promise.all([
    listCharges(db, order.id),
    queries.sumPromised(db, order.id),
  ])
  const left: Left = { ...less(partsOf(order), promised), pending: promised.pending }
  const reason = wish.body.reason ?? null
  const rest = { kind: 'refund' as const, reason, actor }
  if (wish.by === 'shopper') {
    const giving: Giving = {
      ...rest,
      method: 'original',
      ...ofCharge(order, charges, left, wish.body),
    }
    return { charges, giving }
  }
  requireRefundable(order, charges, left)
  const { method = 'original' } = wish.body
  const { parts, items } = await wantedParts(db, order, charges, left, wish.body)
  const tenders = splitOverTenders(charges, totalOf(parts), method)
  return { charges, giving: { ...rest, method, parts, items, tenders } satisfies Giving }
}

/** Refused with what may be done instead: before anything was captured, or with nothing left. */
function requireRefundable(order: OrderRow, charges: readonly ChargeRow[], left: Left): void {
  const { allowed } = allowedActions(factsOf(order))
  if (allowed.includes('refund') && refundableOf(charges) > 0) return
  throw notRefundable(order, left)
}

function notRefundable(order: OrderRow, { pending }: Left): ApiError {
  const allowed = allowedOf(order, pending).allowed.filter((each) => each !== 'refund')
  return new ApiError('not_refundable', { body: { current_status: order.status, allowed } })
}

/** A shopper names the charge, and gets back from that one alone. */
function ofCharge(
  order: OrderRow,
  charges: readonly ChargeRow[],
  left: Left,
  { charge_id, amount_cents }: ShopperRefund,
) {
  const charge = charges.find((each) => each.charge_id === charge_id.toLowerCase())
  if (charge === undefined) throw new ApiError('charge_not_found')
  requireRefundable(order, [charge], left)
  const most = leftOn(charge)
  const amount = amount_cents ?? most
  if (amount > most) throw exceeds(most)
  const share = { charge_id: charge.charge_id, tender: charge.tender, amount_cents: amount }
  return { parts: splitAmount(amount, left), tenders: [share] }
}

/** An amount of everything, or units at what was paid for them, or shipping; else all that is left. */
async function wantedParts(
  db: Db,
  order: OrderRow,
  charges: readonly ChargeRow[],
  left: Left,
  { amount_cents, items: wanted, shipping_cents: named }: MerchantRefund,
): Promise<{ parts: Parts; items: queries.NewRefundItem[] }> {
  const most = refundableOf(charges)
  const isByPart = wanted !== undefined || named !== undefined
  if (amount_cents !== undefined && isByPart) throw ambiguous()
  // Who names no shipping to be given back, and nothing else, has not asked for all of it.
  if (!isByPart) {
    const amount = amount_cents ?? most
    if (amount > most) throw exceeds(most)
    return { parts: splitAmount(amount, left), items: [] }
  }
  const shipping_cents = named ?? 0
  if (shipping_cents > left.shipping_cents) throw exceeds(left.shipping_cents)
  const lines = wanted === undefined ? [] : await unitsOf(db, order, wanted, most)
  const parts = {
    product_cents: sum(lines.map(({ share }) => share.product_cents)),
    tax_cents: sum(lines.map(({ share }) => share.tax_cents)),
    shipping_cents,
  }
  const total = totalOf(parts)
  if (total > most) throw exceeds(most)
  if (total === 0) throw notRefundable(order, left)
  return { parts: fitParts(parts, left), items: lines.map(({ item }) => item) }
}

const ambiguous = () =>
  new ApiError('invalid_body', {
    body: {
      issues: [{ path: 'amount_cents', message: 'must be sent without items and shipping_cents' }],
    },
  })

/** What units are worth by the shares that were stored with their line. Shipping is named apart. */
async function unitsOf(
  db: Db,
  order: OrderRow,
  wanted: readonly { order_item_id: string; quantity: number }[],
  refundable_cents: number,
) {
  const [lines, given] = await Promise.all([
    listItems(db, order.id),
    queries.listGivenUnits(db, order.id),
  ])
  const quantities = new Map<string, number>()
  for (const { order_item_id, quantity } of wanted) {
    const id = order_item_id.toLowerCase()
    quantities.set(id, (quantities.get(id) ?? 0) + quantity)
  }
  return [...quantities].map(([order_item_id, quantity]) => {
    const line = lines.find(({ id }) => id === order_item_id)
    if (line === undefined) throw new ApiError('order_item_not_found')
    const refundable_quantity = line.quantity - line.refunded_quantity
    if (quantity > refundable_quantity) {
      throw exceeds(refundable_cents, { items: [{ order_item_id, refundable_quantity }] })
    }
    const before = given.find((each) => each.order_item_id === order_item_id)
    const share = shareOf(line, quantity, before)
    const amount_cents = share.product_cents + share.tax_cents
    return { share, item: { order_item_id, quantity, amount_cents } }
  })
}

/**
 * The last units of a line take what is left of it. Their stored share is another one where later units
 * were given back while a refund of earlier ones was under way, and that has come to nothing.
 */
function shareOf(line: OrderItem, quantity: number, before: queries.GivenUnits | undefined) {
  const share = pricing.lineShare(line, line.refunded_quantity, quantity)
  const isLast = line.refunded_quantity + quantity === line.quantity
  // Of what was given back only in part no units count, and so no amount.
  if (!isLast || before?.quantity !== line.refunded_quantity) return share
  const all = line.line_total_cents - line.discount_cents + line.tax_cents
  const left = Math.max(0, all - before.amount_cents)
  const product_cents = Math.max(0, left - share.tax_cents)
  return { ...share, product_cents, tax_cents: left - product_cents }
}
