import { isDeepStrictEqual } from 'node:util'
import type { Db } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { sum } from '../../kernel/money.ts'
import * as catalog from '../catalog/service.ts'
import type { StockLine } from '../inventory/schema.ts'
import * as marketing from '../marketing/service.ts'
import type { ShippingPolicy, TaxPolicy } from '../pricing/schema.ts'
import * as pricing from '../pricing/service.ts'
import type { MerchantEdit, ShopperEdit } from './change-schema.ts'
import type { EditedLine, NewTotals } from './operation-queries.ts'
import { listItems } from './queries.ts'
import type { OrderItem, OrderRow } from './schema.ts'

/** What an edit comes to: the order priced again as it was priced, with other quantities. */

export interface Edited {
  lines: EditedLine[]
  totals: NewTotals
  /** Charged, or given back where it is below zero. */
  delta_cents: number
  /** More units of each variant. */
  take: StockLine[]
  /** How many are left of each that has fewer. */
  keep: StockLine[]
}

type Wish = Pick<ShopperEdit & MerchantEdit, 'edits' | 'shipping' | 'tax' | 'expedited'>

/** What a checkout kept of how it priced the order. */
interface PricedBy {
  shipping?: ShippingPolicy | null
  tax?: TaxPolicy | null
  expedited?: boolean
  coupon?: pricing.DiscountTerms | null
}

/** By the terms that it was used under, whatever has become of them since. */
const couponOf = async (db: Db, order_id: string, { coupon }: PricedBy) =>
  coupon ?? (await marketing.findOfOrder(db, order_id))

/** The items as they are to be; null where nothing is to be left. */
export function withQuantities(items: readonly OrderItem[], { edits }: Wish): OrderItem[] | null {
  const wanted = new Map(edits.map((edit) => [edit.order_item_id.toLowerCase(), edit.quantity]))
  if (wanted.size < edits.length) throw twice()
  for (const id of wanted.keys()) {
    if (!items.some((item) => item.id === id)) throw new ApiError('order_item_not_found')
  }
  const edited = items.map((item) => ({ ...item, quantity: wanted.get(item.id) ?? item.quantity }))
  return edited.some(({ quantity }) => quantity > 0) ? edited : null
}

const twice = () => invalid('must name each line only once')

const invalid = (message: string) =>
  new ApiError('invalid_body', { body: { issues: [{ path: 'edits', message }] } })

/**
 * Prices an edit. Unit prices are those it was bought for; the coupon is held against what is left. A
 * tax provider is asked over the network, so that no transaction is open here.
 */
export async function priceEdit(
  db: Db,
  provider: pricing.TaxProvider | null,
  order: OrderRow,
  { before, after, wish }: { before: readonly OrderItem[]; after: OrderItem[]; wish: Wish },
): Promise<Edited> {
  const kept = order.pricing as PricedBy
  const shipping = wish.shipping ?? kept.shipping ?? null
  const policy = wish.tax ?? kept.tax ?? null
  const expedited = wish.expedited ?? kept.expedited ?? false
  const coupon = order.coupon_code === null ? null : await couponOf(db, order.id, kept)
  const isByCollection = (coupon?.applies_to?.collection_slugs.length ?? 0) > 0
  const slugs = isByCollection ? await collectionsOf(db, after) : new Map<string, string[]>()
  const lines = after.map((item) => ({
    ...item,
    list_price_cents: item.unit_price_cents,
    collection_slugs: slugs.get(item.variant_id) ?? [],
  }))
  const input = { lines, currency: order.currency, coupon, shipping, expedited }
  const untaxed = reprice({ ...input, tax: null })
  const tax = await pricing.resolveTax(provider, policy, questionOf(order, untaxed))
  const priced = reprice({ ...input, ...tax })
  const { subtotal_cents, discount_cents, shipping_cents, tax_cents, total_cents } = priced
  return {
    lines: priced.lines.map(lineOf),
    totals: {
      ...{ subtotal_cents, discount_cents, shipping_cents, tax_cents, total_cents },
      pricing: { ...order.pricing, shipping, tax: policy, expedited },
    },
    delta_cents: total_cents - order.total_cents,
    ...stockOf(before, after),
  }
}

/**
 * For an order that did not keep what its coupon is for. Of what is for sale no more the collections are
 * not known: a coupon for one no longer fits it.
 */
async function collectionsOf(db: Db, items: readonly OrderItem[]) {
  const found = await catalog.variantsForSale(
    db,
    items.map(({ variant_id }) => variant_id),
  )
  return new Map(found.map((each) => [each.variant_id, each.collection_slugs]))
}

const questionOf = (
  { currency, ship_to }: OrderRow,
  { lines, shipping_cents }: ReturnType<typeof reprice>,
): pricing.TaxQuestion => ({
  currency,
  shipping_cents,
  ship_to,
  lines: lines.map(({ variant_id, quantity, line_total_cents, discount_cents }) => ({
    variant_id,
    quantity,
    amount_cents: line_total_cents - discount_cents,
  })),
})

/** Sums beyond what an order may have are the caller's mistake. */
function reprice(input: Parameters<typeof pricing.reprice<OrderItem & RepricedLine>>[0]) {
  try {
    return pricing.reprice(input)
  } catch (error) {
    if (!(error instanceof pricing.PriceLimitError)) throw error
    throw invalid(
      error.limit === 'line_quantity'
        ? 'must leave at most 10,000 units of one variant'
        : 'must come to at most 100,000,000,000 cents',
    )
  }
}

interface RepricedLine {
  list_price_cents: number
  collection_slugs: readonly string[]
}

const lineOf = (line: EditedLine): EditedLine => ({
  id: line.id,
  quantity: line.quantity,
  line_total_cents: line.line_total_cents,
  discount_cents: line.discount_cents,
  tax_cents: line.tax_cents,
  shipping_cents: line.shipping_cents,
})

/** By variant and not by line, so that what moves from one line to another moves no stock. */
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

/** Whether nobody has changed the order between its pricing and its lock. */
export async function isSame(
  db: Db,
  { total_cents, refunded_cents, captured_cents, pricing }: OrderRow,
  now: OrderRow,
  before: readonly OrderItem[],
): Promise<boolean> {
  const items = await listItems(db, now.id)
  return (
    now.total_cents === total_cents &&
    now.refunded_cents === refunded_cents &&
    now.captured_cents === captured_cents &&
    // It may cost the same otherwise, such as sooner.
    isDeepStrictEqual(now.pricing, pricing) &&
    items.every((item, at) => item.quantity === before[at]?.quantity)
  )
}
