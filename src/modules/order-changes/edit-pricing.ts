import { isDeepStrictEqual } from 'node:util'
import type { Db } from '../../db/database.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import { sum } from '../../kernel/money.ts'
import * as catalog from '../catalog/service.ts'
import type { StockLine } from '../inventory/schema.ts'
import * as marketing from '../marketing/service.ts'
import type { OrderItem, OrderRow } from '../orders/schema.ts'
import * as orders from '../orders/service.ts'
import type { OrderTerms } from '../orders/terms-schema.ts'
import { PriceLimitError, priceOrder, repriceGoods } from '../pricing/price.ts'
import { resolveTax, type Tax, type TaxProvider, taxQuestion } from '../pricing/tax.ts'
import { resolveShipping } from '../shipping/resolve.ts'
import type { ShippingChange } from '../shipping/schema.ts'
import { refuse } from './errors.ts'
import type { EditedLine, NewTotals } from './queries.ts'
import type { MerchantEdit, ShopperEdit } from './schema.ts'

/** The price of an edit: the order priced again by its own terms, with other quantities. */

export interface Edited {
  lines: EditedLine[]
  totals: NewTotals
  /** The amount to charge, or to refund if it is negative. */
  delta_cents: number
  /** Additional units of each variant that has more. */
  take: StockLine[]
  /** Remaining units of each variant that has fewer. */
  keep: StockLine[]
}

type EditTerms = Pick<ShopperEdit & MerchantEdit, 'edits' | 'tax'> & ShippingChange

/** The coupon as it was when the order was placed. */
const couponOf = async (db: Db, order_id: string, { coupon }: OrderTerms) =>
  coupon ?? (await marketing.findOfOrder(db, order_id))

/**
 * Refuses an edit of an order of which something has shipped. Fewer units of a line that has wholly shipped would be a
 * return; any other edit would change an order of which a part is on its way.
 */
export function requireUnshipped(
  order: OrderRow,
  items: readonly OrderItem[],
  { edits }: EditTerms,
): void {
  if (order.q_shipped === 0) return
  orders.requireFree(order, 'edit')
  const lowersShipped = items.some(({ id, quantity, shipped_quantity }) => {
    const edit = edits.find(({ order_item_id }) => order_item_id.toLowerCase() === id)
    return edit !== undefined && edit.quantity < quantity && shipped_quantity === quantity
  })
  const isPartly = order.q_shipped < order.q_ordered - order.q_cancelled
  if (lowersShipped || !isPartly) orders.requireAllowed(order, 'edit')
  const { allowed } = orders.allowedOf(order)
  throw new ApiError('already_shipped', { body: { current_status: order.status, allowed } })
}

/** Returns the lines with their new quantities, or null if no unit is left. */
export function withQuantities(
  items: readonly OrderItem[],
  { edits }: EditTerms,
): OrderItem[] | null {
  const quantities = new Map(edits.map((edit) => [edit.order_item_id.toLowerCase(), edit.quantity]))
  if (quantities.size < edits.length) throw twice()
  for (const id of quantities.keys()) {
    if (!items.some((item) => item.id === id)) throw new ApiError('order_item_not_found')
  }
  const edited = items.map((item) => ({
    ...item,
    quantity: quantities.get(item.id) ?? item.quantity,
  }))
  if (edited.every(({ quantity }) => quantity === 0)) return null
  requireIssued(items, edited)
  requireUnpacked(items, edited)
  return edited
}

/** Refuses changes of gift cards: they are already issued, and stay in the order until a refund takes them back. */
function requireIssued(items: readonly OrderItem[], edited: readonly OrderItem[]): void {
  const changed = edited.filter(
    ({ gift_card, quantity }, at) => gift_card && quantity !== items[at]?.quantity,
  )
  if (changed.length === 0) return
  throw refuse('gift_card_issued', {
    body: { items: changed.map(({ id }) => ({ order_item_id: id })) },
  })
}

/** Refuses to remove units in a parcel: the parcel must be cancelled first. */
function requireUnpacked(items: readonly OrderItem[], edited: readonly OrderItem[]): void {
  const packed = edited.filter(
    ({ quantity, packed_quantity, shipped_quantity }) =>
      quantity < packed_quantity + shipped_quantity,
  )
  if (packed.length === 0) return
  throw new ApiError('quantity_exceeds_open', {
    body: {
      items: packed.map(({ id, quantity, packed_quantity, shipped_quantity }) => {
        const before = items.find((item) => item.id === id)?.quantity ?? quantity
        const open = before - packed_quantity - shipped_quantity
        return { order_item_id: id, requested: before - quantity, open, ready: open }
      }),
    },
  })
}

const twice = () => invalid('must name each line only once')

const invalid = (message: string) => invalidBody('edits', message)

/**
 * Prices an edit. Unit prices stay; the coupon applies to the lines that are left. A tax provider
 * is asked over the network, so no transaction may be open here.
 */
export async function priceEdit(
  db: Db,
  provider: TaxProvider | null,
  order: OrderRow,
  {
    before,
    after,
    request,
  }: { before: readonly OrderItem[]; after: OrderItem[]; request: EditTerms },
): Promise<Edited> {
  const kept = order.pricing
  const policy = request.tax ?? kept.tax ?? null
  const coupon = order.coupon_code === null ? null : await couponOf(db, order.id, kept)
  const isByCollection = (coupon?.applies_to?.collection_slugs.length ?? 0) > 0
  const slugs = isByCollection ? await collectionsOf(db, after) : new Map<string, string[]>()
  const lines = after.map((item) => ({
    ...item,
    list_price_cents: item.unit_price_cents,
    collection_slugs: slugs.get(item.variant_id) ?? [],
  }))
  const { currency, prices_include_tax, ship_to } = order
  const goods = withinLimits(() => repriceGoods({ lines, currency, coupon }))
  const shipping = resolveShipping({ sent: request, kept }, goods)
  const price = (taxed: Tax) =>
    withinLimits(() => priceOrder(goods, { shipping, prices_include_tax, ...taxed }))
  const question = taxQuestion(price({ tax: null }), { prices_include_tax, ship_to })
  const tax =
    question.lines.length === 0 ? { tax: null } : await resolveTax(provider, policy, question)
  const priced = price(tax)
  const { subtotal_cents, discount_cents, shipping_cents, tax_cents, total_cents } = priced
  return {
    lines: priced.lines.map(lineOf),
    totals: {
      subtotal_cents,
      discount_cents,
      shipping_cents,
      tax_cents,
      total_cents,
      pricing: { ...kept, ...shipping.terms, tax: policy },
    },
    delta_cents: total_cents - order.total_cents,
    ...stockOf(before, after),
  }
}

/**
 * The collections of the lines, for orders that did not store the terms of their coupon. Variants
 * that are no longer for sale have none, so that a coupon for a collection does not apply to them.
 */
async function collectionsOf(db: Db, items: readonly OrderItem[]) {
  const found = await catalog.variantsForSale(
    db,
    items.map(({ variant_id }) => variant_id),
  )
  return new Map(found.map((each) => [each.variant_id, each.collection_slugs]))
}

/** Refuses a sum above the limits of an order: it is a mistake of the caller. */
function withinLimits<T>(price: () => T): T {
  try {
    return price()
  } catch (error) {
    if (!(error instanceof PriceLimitError)) throw error
    throw invalid(
      error.limit === 'line_quantity'
        ? 'must leave at most 10,000 units of one variant'
        : 'must come to at most 100,000,000,000 cents',
    )
  }
}

const lineOf = (line: EditedLine): EditedLine => ({
  id: line.id,
  quantity: line.quantity,
  line_total_cents: line.line_total_cents,
  discount_cents: line.discount_cents,
  tax_cents: line.tax_cents,
  shipping_cents: line.shipping_cents,
})

/** Returns the changes of stock by variant and not by line, so that units that move between lines move no stock. */
function stockOf(before: readonly OrderItem[], after: readonly OrderItem[]) {
  const had = unitsOf(before)
  const take: StockLine[] = []
  const keep: StockLine[] = []
  for (const [variant_id, quantity] of unitsOf(after)) {
    const more = quantity - (had.get(variant_id) ?? 0)
    if (more > 0) take.push({ variant_id, quantity: more })
    if (more < 0) keep.push({ variant_id, quantity })
  }
  return { take, keep }
}

function unitsOf(items: readonly OrderItem[]): Map<string, number> {
  const lines = Map.groupBy(items, ({ variant_id }) => variant_id)
  return new Map([...lines].map(([id, all]) => [id, sum(all.map(({ quantity }) => quantity))]))
}

/** Whether the order is unchanged since it was read for pricing. */
export async function isSame(
  db: Db,
  { total_cents, refunded_cents, captured_cents, pricing }: OrderRow,
  now: OrderRow,
  before: readonly OrderItem[],
): Promise<boolean> {
  const items = await orders.listItems(db, now.id)
  return (
    now.total_cents === total_cents &&
    now.refunded_cents === refunded_cents &&
    now.captured_cents === captured_cents &&
    // Another edit may have kept the total and changed the shipping.
    isDeepStrictEqual(now.pricing, pricing) &&
    items.every(
      (item, at) =>
        item.quantity === before[at]?.quantity &&
        item.packed_quantity === before[at]?.packed_quantity,
    )
  )
}
