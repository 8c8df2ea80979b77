import type { Db, Tx } from '../../db/database.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import { sum } from '../../kernel/money.ts'
import * as idempotency from '../../platform/idempotency.ts'
import { type CardUnits, chooseCards } from '../gift-cards/purchases.ts'
import { defineOperation } from '../operations/service.ts'
import { type Acting, actorOf, auditOrder, isShopper } from '../orders/actor.ts'
import type { ChargeRow, OrderItem, OrderRow, RefundRow } from '../orders/schema.ts'
import * as orders from '../orders/service.ts'
import { briefOf, forActor } from '../orders/show.ts'
import { allowedActions } from '../orders/status.ts'
import { takeBackAll } from './bought-cards.ts'
import type { OrderChangeDeps } from './deps.ts'
import { refuse } from './errors.ts'
import {
  fitParts,
  goodsOf,
  shippingLeft,
  shippingParts,
  splitAmount,
  splitOverTenders,
  totalOf,
} from './refund-parts.ts'
import { askRefund, type RefundOutcome, recallRefund } from './refund-replies.ts'
import {
  destinationsOf,
  type Left,
  listRefundedUnits,
  readRefundable,
  requireAnswered,
  requireSpendable,
  shareOf,
} from './refund-units.ts'
import type { MerchantRefund, Parts, RefundPreview, ShopperRefund } from './schema.ts'
import {
  exceeds,
  type RefundPlan,
  requireNoDispute,
  reserveRefund,
  settleRefund,
} from './settle-refund-money.ts'

/** Refunds an order: an amount, units or shipping, over the tenders that paid. */

export type RefundRequest =
  | { by: 'shopper'; body: ShopperRefund }
  | { by: 'merchant'; body: MerchantRefund }

interface Work {
  order: OrderRow
  charges: ChargeRow[]
  refund: RefundRow
}

/** The operation of a refund. The resource of its claim is the refund: several refunds of one order can run at once. */
export const refundOperation = defineOperation<
  OrderChangeDeps,
  { orderId: string; request: RefundRequest },
  Work,
  RefundOutcome
>({
  name: 'refund',
  begin: (_, db, { actor, reach }, { orderId, request }) =>
    db.transaction('refund: begin', async (tx) => {
      const order = await orders.lock(tx, orderId)
      orders.requireFree(order, 'refund')
      await requireAnswered(tx, order)
      const { charges, plan } = await planRefund(tx, order, request, actorOf(actor))
      const refund_id = await reserveRefund(tx, order, charges, plan)
      return { state: 'begun', claim: await reach(tx, refund_id) }
    }),
  async load(db, refundId) {
    const refund = await orders.getRefund(db, refundId)
    const { order_id } = refund
    const [order, charges] = await Promise.all([
      orders.get(db, order_id),
      orders.listCharges(db, order_id),
    ])
    return { order, charges, refund }
  },
  ask: (deps, db, { refund, charges }) => askRefund(deps, db, refund, charges),
  recall: (deps, db, { refund, charges }) => recallRefund(deps, db, refund, charges),
  async end(tx, _, { claim, work, replies: { refunds: replies } }) {
    const { charges } = work
    const order = await orders.lock(tx, work.order.id)
    const refund = await orders.getRefund(tx, work.refund.refund_id)
    const { actor, amount_cents } = refund
    const settled = await settleRefund(tx, order, refund, { charges, replies })
    const refunded = settled.state === 'failed' ? settled.refunded_cents : amount_cents
    await auditRefund(tx, { actor, claim }, refund, refunded)
    if (settled.state === 'failed') return idempotency.refuse(tx, claim, refundFailed(settled))
    const body = { order: forActor(settled.order, actor), refund: settled.refund }
    return idempotency.finish(tx, claim, isShopper(actor) ? 200 : 201, JSON.stringify(body))
  },
  orderOf: ({ order }) => briefOf(order),
})

/** Writes a refund to the audit log. The refunded part of a failed cancellation or edit is written, too. */
export async function auditRefund(
  tx: Tx,
  acting: Acting,
  { order_id, refund_id, method }: RefundRow,
  amount_cents: number,
): Promise<void> {
  if (amount_cents === 0) return
  const after = { refund_id, amount_cents, method }
  await auditOrder(tx, acting, order_id, { action: 'order.refunded', after })
}

export const refundFailed = ({
  reason,
  refunded_cents,
}: {
  reason: string
  refunded_cents: number
}) => new ApiError('refund_failed', { body: { reason, refunded_cents } })

/** Computes a merchant's refund without carrying it out. */
export async function previewRefund(
  db: Db,
  orderId: string,
  body: MerchantRefund,
): Promise<RefundPreview> {
  const order = await orders.get(db, orderId)
  const { charges, plan } = await planRefund(db, order, { by: 'merchant', body }, '')
  await requireNoDispute(db, order, charges, plan.tenders)
  const amount_cents = totalOf(plan.parts)
  const refundable_cents = orders.refundableOf(charges)
  return {
    amount_cents,
    ...plan.parts,
    currency: order.currency,
    tenders: await destinationsOf(db, charges, plan.tenders),
    refundable_cents,
    remaining_cents: refundable_cents - amount_cents,
  }
}

async function planRefund(
  db: Db,
  order: OrderRow,
  request: RefundRequest,
  actor: string,
): Promise<{ charges: ChargeRow[]; plan: RefundPlan }> {
  const { charges, left } = await readRefundable(db, order)
  const rest = { kind: 'refund' as const, reason: request.body.reason ?? null, actor }
  if (request.by === 'shopper') {
    const ofCharge = planOfCharge(order, charges, left, request.body)
    await requireSpendable(db, order, charges, ofCharge.tenders)
    const taken = await takeBackAll(db, order, ofCharge.parts)
    return { charges, plan: { ...rest, method: 'original', ...ofCharge, ...taken } }
  }
  requireRefundable(order, charges, left)
  const { method = 'original' } = request.body
  const planned = await partsOfRequest(db, order, { charges, left, request: request.body })
  const tenders = splitOverTenders(charges, totalOf(planned.parts), method)
  await requireSpendable(db, order, charges, tenders)
  return { charges, plan: { ...rest, method, ...planned, tenders } }
}

/** Refuses a refund if nothing was captured or nothing is left, and names the actions that are possible. */
function requireRefundable(order: OrderRow, charges: readonly ChargeRow[], left: Left): void {
  const { allowed } = allowedActions(orders.factsOf(order))
  if (allowed.includes('refund') && orders.refundableOf(charges) > 0) return
  throw notRefundable(order, left)
}

function notRefundable(order: OrderRow, { pending }: Left): ApiError {
  const allowed = orders.allowedOf(order, pending).allowed.filter((each) => each !== 'refund')
  return refuse('not_refundable', { body: { current_status: order.status, allowed } })
}

/** Plans the refund of a shopper, who names a charge: only this charge is refunded. */
function planOfCharge(
  order: OrderRow,
  charges: readonly ChargeRow[],
  left: Left,
  { charge_id, amount_cents }: ShopperRefund,
) {
  const charge = charges.find((each) => each.charge_id === charge_id.toLowerCase())
  if (charge === undefined) throw refuse('charge_not_found')
  requireRefundable(order, [charge], left)
  const most = orders.leftOn(charge)
  const amount = amount_cents ?? most
  if (amount > most) throw exceeds(most)
  requireAmountOfGoods(amount, left)
  const share = { charge_id: charge.charge_id, tender: charge.tender, amount_cents: amount }
  return { parts: splitAmount(amount, left), tenders: [share] }
}

/**
 * Refuses an amount that would include a part of the gift cards. An amount refunds goods, tax and shipping; gift
 * cards are refunded whole. Only the refund of everything that is left includes them.
 */
function requireAmountOfGoods(amount_cents: number, left: Left): void {
  if (left.gift_card_cents === 0) return
  const most = Math.max(0, goodsOf(left))
  if (amount_cents <= most || amount_cents === totalOf(left)) return
  throw exceeds(most)
}

/**
 * Refuses parts that need money paid for gift cards: it cannot replace the money of goods
 * that was refunded as amounts.
 */
function requireGoodsLeft(parts: Parts, left: Left): void {
  if (left.gift_card_cents === 0 || goodsOf(parts) <= goodsOf(left)) return
  throw exceeds(Math.max(0, goodsOf(left)))
}

/**
 * Returns the parts to refund: of an amount, of units at the price paid for them, or of shipping;
 * otherwise of everything that is left.
 */
async function partsOfRequest(
  db: Db,
  order: OrderRow,
  {
    charges,
    left,
    request: { amount_cents, items, shipping_cents: named, restock = false },
  }: { charges: readonly ChargeRow[]; left: Left; request: MerchantRefund },
): Promise<Pick<RefundPlan, 'parts' | 'items' | 'cards'>> {
  const most = orders.refundableOf(charges)
  const isByPart = items !== undefined || named !== undefined
  if (amount_cents !== undefined && isByPart) throw ambiguous()
  if (restock && items === undefined) throw invalidBody('restock', 'must be sent with items')
  if (!isByPart) {
    const amount = amount_cents ?? most
    if (amount > most) throw exceeds(most)
    requireAmountOfGoods(amount, left)
    const parts = splitAmount(amount, left)
    return { parts, ...(await takeBackAll(db, order, parts)) }
  }
  const shippable = shippingLeft(left)
  if ((named ?? 0) > shippable) throw exceeds(shippable)
  const shipping = shippingParts(left, named ?? 0)
  const units = { items: items ?? [], most, restock }
  const lines = items === undefined ? [] : await unitsOf(db, order, units)
  const parts = {
    product_cents: sum(lines.map(({ share }) => share.product_cents)),
    tax_cents: sum(lines.map(({ share }) => share.tax_cents)) + shipping.tax_cents,
    shipping_cents: shipping.shipping_cents,
    gift_card_cents: sum(lines.map(({ share }) => share.gift_card_cents)),
  }
  const total = totalOf(parts)
  if (total > most) throw exceeds(most)
  requireGoodsLeft(parts, left)
  if (total === 0 && !lines.some(({ isPaid }) => isPaid)) throw notRefundable(order, left)
  const cards = await chooseCards(
    db,
    order.id,
    lines.flatMap(({ cards }) => cards),
  )
  return { parts: fitParts(parts, left), items: lines.map(({ item }) => item), cards }
}

const ambiguous = () => invalidBody('amount_cents', 'must be sent without items and shipping_cents')

/** Returns the units with the amounts that were stored with their line. Shipping is refunded separately. */
async function unitsOf(
  db: Db,
  order: OrderRow,
  {
    items,
    most,
    restock,
  }: {
    items: readonly { order_item_id: string; quantity: number }[]
    most: number
    restock: boolean
  },
) {
  const [lines, refunded] = await Promise.all([
    orders.listItems(db, order.id),
    listRefundedUnits(db, order.id),
  ])
  const quantities = new Map<string, number>()
  for (const { order_item_id, quantity } of items) {
    const id = order_item_id.toLowerCase()
    quantities.set(id, (quantities.get(id) ?? 0) + quantity)
  }
  return [...quantities].map(([order_item_id, quantity]) => {
    const line = lines.find(({ id }) => id === order_item_id)
    if (line === undefined) throw new ApiError('order_item_not_found')
    const refundable_quantity = line.quantity - line.refunded_quantity
    if (quantity > refundable_quantity) {
      throw exceeds(most, { items: [{ order_item_id, refundable_quantity }] })
    }
    if (line.gift_card) return giftCardUnits(line, quantity)
    if (restock) requireOpenUnits(line, quantity)
    const before = refunded.find((each) => each.order_item_id === order_item_id)
    const share = { ...shareOf(order, line, quantity, before), gift_card_cents: 0 }
    const amount_cents = share.product_cents + share.tax_cents
    const restocked_quantity = restock ? quantity : 0
    const item = { order_item_id, quantity, amount_cents, restocked_quantity }
    // The units of a line that was paid for may be worth less than a cent each: they count, and move nothing.
    const isPaid = line.line_total_cents > line.discount_cents
    return { share, item, cards: [] as CardUnits[], isPaid }
  })
}

/** Returns units of gift cards. They cost what they are worth, and have no stock. */
function giftCardUnits({ id: order_item_id, unit_price_cents }: OrderItem, quantity: number) {
  const amount_cents = unit_price_cents * quantity
  return {
    share: { product_cents: 0, tax_cents: 0, gift_card_cents: amount_cents },
    item: { order_item_id, quantity, amount_cents, restocked_quantity: 0 },
    cards: [{ order_item_id, quantity }],
    isPaid: true,
  }
}

/** Refuses units that are packed or shipped: they come back in a return. */
function requireOpenUnits(line: OrderItem, requested: number): void {
  const { id, quantity, packed_quantity, shipped_quantity, restocked_quantity } = line
  const open = quantity - packed_quantity - shipped_quantity - restocked_quantity
  if (requested <= open) return
  throw new ApiError('quantity_exceeds_open', {
    message: 'Too few units are left to ship for `restock`. Take shipped units back with a return.',
    body: { items: [{ order_item_id: id, requested, open, ready: open }] },
  })
}
