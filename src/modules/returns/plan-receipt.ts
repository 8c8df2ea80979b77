import { ApiError, invalidBody } from '../../errors.ts'
import { allocate, sum } from '../../kernel/money.ts'
import { DEFAULT_LOCATION, type PlacedUnits } from '../inventory/schema.ts'
import {
  fitParts,
  shippingLeft,
  shippingParts,
  splitAmount,
  splitOverTenders,
  subtractParts,
  type TenderShare,
  totalOf,
  withoutNegatives,
  withoutShipping,
} from '../order-changes/refund-parts.ts'
import { type Refundable, type RefundedUnits, shareOf } from '../order-changes/refund-units.ts'
import type { Parts } from '../order-changes/schema.ts'
import type { Disposition } from '../orders/return-schema.ts'
import type { OrderItem, OrderRow } from '../orders/schema.ts'
import { refundableOf } from '../orders/service.ts'
import { refuse } from './errors.ts'
import type { Receipt, ReturnLineRow, ReturnRow, SettledUnits } from './schema.ts'

/**
 * Plans a receipt: which units have come, their dispositions, and the refund to each tender. Pure functions, for
 * the receipt and for its preview.
 */

/** The facts that a receipt is planned by, read under the lock of the order. */
export interface MoneyFacts {
  order: Pick<OrderRow, 'prices_include_tax'>
  returned: ReturnRow
  items: readonly OrderItem[]
  refundable: Refundable
  refundedUnits: readonly RefundedUnits[]
  /** The units that all returns of the order's lines have settled. */
  settled: readonly SettledUnits[]
  /** The variants whose stock is counted. */
  tracked: ReadonlySet<string>
  /**
   * The amount that the shopper has already got for this return, and that no receipt has deducted: by exchanges,
   * and by gateways although a refund failed. If it is negative, it is owed to the shopper, because an exchange
   * returned an amount that a receipt had deducted.
   */
  given_cents: number
  /** The amount that receipts have not refunded because the merchant chose so, and that no exchange has taken. */
  waived_cents: number
}

/** Units of a line with one disposition. */
export interface Arrival {
  return_line_id: string
  variant_id: string
  disposition: Disposition
  quantity: number
  stock_quantity: number
}

/** The changes of a line of the return by a receipt. */
export interface PlannedLine {
  /** The line as it is afterwards. */
  after: ReturnLineRow
  received_quantity: number
  missing_quantity: number
  refunded_quantity: number
  already_refunded_quantity: number
  /** The refund of the units, with the fee deducted. */
  refund_cents: number
  /** The price of the refunded units. */
  amount_cents: number
}

export interface ReceiptPlan {
  location_id: string
  method: Receipt['refund']['method']
  arrivals: Arrival[]
  /** Lines that change, or whose money is settled. */
  lines: PlannedLine[]
  /** The units that are put on hand. */
  stock: PlacedUnits[]
  restocking_fee_cents: number
  refund_shipping_cents: number
  /** Negative if the receipt also refunds an amount that is owed to the shopper. */
  deducted_cents: number
  /** The amount that is not refunded because the merchant chooses so. */
  waived_cents: number
  amount_cents: number
  parts: Parts
  tenders: TenderShare[]
}

type Method = ReceiptPlan['method']

/** Whether a method refunds money. The other methods refund nothing: for good, or until the merchant decides. */
export const isRefunded = (method: Method): method is 'original' | 'store_credit' =>
  method === 'original' || method === 'store_credit'

export function planReceipt(facts: MoneyFacts, request: Receipt): ReceiptPlan {
  const { location_id = DEFAULT_LOCATION, refund } = request
  const { method, restocking_fee_cents = 0, refund_shipping_cents = 0 } = refund
  if (!isRefunded(method) && restocking_fee_cents + refund_shipping_cents > 0) {
    throw invalidBody('refund.method', `must not be ${method} when a fee or shipping is sent`)
  }
  const arrivals = readArrivals(facts, request)
  const settled = facts.returned.lines
    .map((line) => settleLine(facts, line, { arrivals, location_id, method }))
    .filter((line) => line !== null)
  const isOwed = isRefunded(method) && facts.given_cents < 0
  if (settled.length === 0 && !isOwed) {
    throw invalidBody('lines', 'must name units: no unit that came earlier is left to refund')
  }
  const money = planMoney(facts, settled, { method, restocking_fee_cents, refund_shipping_cents })
  return {
    location_id,
    method,
    arrivals,
    stock: arrivals
      .filter(({ stock_quantity }) => stock_quantity > 0)
      .map(({ variant_id, stock_quantity: quantity }) => ({ variant_id, location_id, quantity })),
    ...money,
  }
}

/** Reads the named units, by line and disposition. */
function readArrivals({ returned, tracked }: MoneyFacts, { lines }: Receipt): Arrival[] {
  const arrivals = new Map<string, Arrival>()
  for (const { return_line_id, received_quantity, disposition } of lines) {
    const line = returned.lines.find(({ id }) => id === return_line_id.toLowerCase())
    if (line === undefined) throw refuse('return_line_not_found')
    const key = `${line.id} ${disposition}`
    const quantity = (arrivals.get(key)?.quantity ?? 0) + received_quantity
    const isStock = disposition === 'restock' && tracked.has(line.variant_id)
    arrivals.set(key, {
      return_line_id: line.id,
      variant_id: line.variant_id,
      disposition,
      quantity,
      stock_quantity: isStock ? quantity : 0,
    })
  }
  const all = [...arrivals.values()]
  requireExpected(returned, all)
  return all
}

function requireExpected({ lines }: ReturnRow, arrivals: readonly Arrival[]): void {
  const tooMany = lines.flatMap((line) => {
    const requested = unitsOf(arrivals, line, () => true)
    const expected = expectedOf(line)
    return requested > expected ? [{ return_line_id: line.id, requested, expected }] : []
  })
  if (tooMany.length > 0) throw exceedsExpected(tooMany)
}

export const exceedsExpected = (
  lines: readonly { return_line_id: string; requested: number; expected: number }[],
) => refuse('quantity_exceeds_expected', { body: { lines } })

const unitsOf = (
  arrivals: readonly Arrival[],
  { id }: ReturnLineRow,
  isCounted: (disposition: Disposition) => boolean,
): number =>
  sum(
    arrivals
      .filter((each) => each.return_line_id === id && isCounted(each.disposition))
      .map(({ quantity }) => quantity),
  )

/** Returns how many units of a line have come back. */
export const receivedOf = (line: ReturnLineRow): number =>
  line.restocked_quantity + line.damaged_quantity + line.quarantined_quantity

/** Returns how many units of a line are still to come. */
export const expectedOf = (line: ReturnLineRow): number =>
  line.quantity - receivedOf(line) - line.missing_quantity

/**
 * Returns how many units have come without a decision about their money: their refund has failed,
 * or the merchant decides later.
 */
export const unsettledOf = (line: ReturnLineRow): number =>
  receivedOf(line) - line.refunded_quantity - line.already_refunded_quantity - line.waived_quantity

type SettledLine = Omit<PlannedLine, 'refund_cents'> & { share: Parts }

/** Settles a line: the units that have come, and their money. Returns null if there is nothing to settle. */
function settleLine(
  facts: MoneyFacts,
  line: ReturnLineRow,
  { arrivals, location_id, method }: Pick<ReceiptPlan, 'arrivals' | 'location_id' | 'method'>,
): SettledLine | null {
  const of = (disposition: Disposition) => unitsOf(arrivals, line, (each) => each === disposition)
  const missing_quantity = of('missing')
  const received_quantity = unitsOf(arrivals, line, (each) => each !== 'missing')
  const units = received_quantity + unsettledOf(line)
  if (units + missing_quantity === 0) return null
  const { already, rest, refundable, share: whole } = worthOf(facts, line, units)
  const refunded = method === 'later' ? 0 : refundable
  const share = method === 'later' ? NOTHING : whole
  // Another receipt decides the money of these units.
  const open = method === 'later' ? rest : 0
  return {
    received_quantity,
    missing_quantity,
    refunded_quantity: refunded,
    already_refunded_quantity: already,
    share,
    amount_cents: share.product_cents + share.tax_cents,
    after: {
      ...line,
      restocked_quantity: line.restocked_quantity + of('restock'),
      damaged_quantity: line.damaged_quantity + of('damaged'),
      quarantined_quantity: line.quarantined_quantity + of('quarantine'),
      missing_quantity: line.missing_quantity + missing_quantity,
      quarantine_location_id: of('quarantine') > 0 ? location_id : line.quarantine_location_id,
      refunded_quantity: line.refunded_quantity + refunded,
      already_refunded_quantity: line.already_refunded_quantity + already,
      waived_quantity: line.waived_quantity + rest - refunded - open,
    },
  }
}

/**
 * Returns the worth of some units of a line: of those that were not refunded before, as
 * far as the line has such units.
 */
export function worthOf(facts: MoneyFacts, line: ReturnLineRow, units: number) {
  const item = itemOf(facts.items, line)
  const already = Math.min(units, refundedElsewhere(facts, item))
  const rest = units - already
  // If a line was refunded in full by amounts, none of its units can be counted as refunded.
  const refundable = Math.min(rest, item.quantity - item.refunded_quantity)
  const before = facts.refundedUnits.find(({ order_item_id }) => order_item_id === item.id)
  const share =
    refundable === 0
      ? NOTHING
      : shareOf(
          facts.order,
          { ...item, refunded_quantity: placeOf(facts, item, refundable) },
          refundable,
          before,
        )
  return { already, rest, refundable, share: { ...share, shipping_cents: 0, gift_card_cents: 0 } }
}

const NOTHING: Parts = {
  product_cents: 0,
  tax_cents: 0,
  shipping_cents: 0,
  gift_card_cents: 0,
}

function itemOf(items: readonly OrderItem[], { order_item_id }: ReturnLineRow): OrderItem {
  const found = items.find(({ id }) => id === order_item_id)
  if (found === undefined) throw new Error('a line of a return has no line of the order')
  return found
}

/**
 * Returns how many units of a line were refunded in another way and have not come back yet. They count as the units
 * that come first, so that no unit is refunded both before and after it comes. A refund that was made after units
 * came back without money is for those units (decision 0034).
 */
function refundedElsewhere({ settled }: MoneyFacts, item: OrderItem): number {
  const elsewhere = item.refunded_quantity - item.restocked_quantity - settledOf(settled, item)
  return Math.max(0, elsewhere)
}

/** Returns for how many units of a line returns have decided about the money. */
function settledOf(settled: MoneyFacts['settled'], { id }: OrderItem): number {
  const sums = settled.find(({ order_item_id }) => order_item_id === id)
  return sums === undefined ? 0 : sums.refunded + sums.already_refunded + sums.waived
}

/**
 * Returns how many units of a line have their share: refunded, or settled otherwise, as those that an exchange has paid
 * for. The next units get the shares after these, so that the last one gets the rest of the line.
 */
function placeOf({ settled }: MoneyFacts, item: OrderItem, refundable: number): number {
  const settledUnits = settledOf(settled, item) + item.restocked_quantity
  const place = Math.max(item.refunded_quantity, settledUnits)
  return Math.min(place, item.quantity - refundable)
}

type Money = Pick<
  ReceiptPlan,
  | 'lines'
  | 'restocking_fee_cents'
  | 'refund_shipping_cents'
  | 'deducted_cents'
  | 'waived_cents'
  | 'amount_cents'
  | 'parts'
  | 'tenders'
>

/**
 * Plans the money of settled lines. Goods are refunded only from what is left of the goods: if an amount was
 * refunded before, only the rest.
 */
function planMoney(
  { refundable: { charges, left: all }, given_cents }: MoneyFacts,
  settled: readonly SettledLine[],
  {
    method,
    restocking_fee_cents,
    refund_shipping_cents,
  }: Pick<ReceiptPlan, 'method' | 'restocking_fee_cents' | 'refund_shipping_cents'>,
): Money {
  const left = withoutNegatives(withoutShipping(all))
  const most = refundableOf(charges)
  requireShipping(refund_shipping_cents, Math.min(Math.max(0, shippingLeft(all)), most))
  const share = {
    product_cents: sum(settled.map((line) => line.share.product_cents)),
    tax_cents: sum(settled.map((line) => line.share.tax_cents)),
  }
  const worth = share.product_cents + share.tax_cents
  if (restocking_fee_cents > worth) {
    throw refuse('fee_exceeds_refund', { body: { goods_cents: worth } })
  }
  const deducted = Math.min(worth - restocking_fee_cents, Math.max(0, given_cents))
  const limit = Math.min(left.product_cents + left.tax_cents, most - refund_shipping_cents)
  const refundable = Math.min(worth - restocking_fee_cents - deducted, limit)
  const goods_cents = isRefunded(method) ? refundable : 0
  const owed = isRefunded(method) ? Math.min(Math.max(0, -given_cents), limit - refundable) : 0
  const goods = withOwed(goodsParts(share, goods_cents, left), owed, left)
  const shipping = shippingParts(all, refund_shipping_cents)
  const parts = { ...goods, ...shipping, tax_cents: goods.tax_cents + shipping.tax_cents }
  const amount_cents = totalOf(parts)
  const cents = allocate(
    goods_cents + deducted,
    settled.map(({ amount_cents: weight }) => weight),
  )
  const paid = { isCovered: deducted > 0 && refundable === 0, amount_cents }
  return {
    lines: settled.map((line, at) => withMoney(line, cents[at] ?? 0, paid)),
    restocking_fee_cents,
    refund_shipping_cents,
    deducted_cents: deducted - owed,
    waived_cents: method === 'none' ? refundable : 0,
    amount_cents,
    parts,
    tenders: isRefunded(method) ? splitOverTenders(charges, amount_cents, method) : [],
  }
}

/** Adds an amount owed to the shopper, from any goods: an exchange had taken it from goods, whichever they were. */
function withOwed(goods: Parts, owed: number, left: Parts): Parts {
  if (owed === 0) return goods
  const others = { shipping_cents: 0, gift_card_cents: 0 }
  const more = splitAmount(owed, { ...subtractParts(left, goods), ...others })
  return {
    product_cents: goods.product_cents + more.product_cents,
    tax_cents: goods.tax_cents + more.tax_cents,
    ...others,
  }
}

function requireShipping(shipping_cents: number, refundable_cents: number): void {
  if (shipping_cents <= refundable_cents) return
  throw new ApiError('amount_exceeds_refundable', { body: { refundable_cents } })
}

/** Returns the parts of an amount for goods. The fee and earlier refunds reduce the price first, and then the tax. */
function goodsParts(
  { product_cents, tax_cents }: Pick<Parts, 'product_cents' | 'tax_cents'>,
  cents: number,
  left: Parts,
): Parts {
  const tax = Math.min(tax_cents, cents)
  const goods = { product_cents: Math.min(product_cents, cents - tax), tax_cents: tax }
  const others = { shipping_cents: 0, gift_card_cents: 0 }
  return fitParts({ ...goods, ...others }, { ...left, ...others })
}

interface PaidFor {
  /** Whether the amount that the shopper got before pays for all units: they then count as refunded before. */
  isCovered: boolean
  amount_cents: number
}

/**
 * Returns a line with its money. Without money for a refund no unit counts as refunded: it was free,
 * or was refunded as an amount.
 */
function withMoney(
  { share: _, ...line }: SettledLine,
  refund_cents: number,
  { isCovered, amount_cents }: PaidFor,
): PlannedLine {
  const { after, refunded_quantity } = line
  const paid = { ...after, refund_cents: after.refund_cents + refund_cents }
  if (amount_cents > 0) return { ...line, refund_cents, after: paid }
  const before = isCovered ? refunded_quantity : 0
  return {
    ...line,
    refund_cents,
    refunded_quantity: 0,
    already_refunded_quantity: line.already_refunded_quantity + before,
    after: {
      ...paid,
      refunded_quantity: after.refunded_quantity - refunded_quantity,
      already_refunded_quantity: after.already_refunded_quantity + before,
      waived_quantity: after.waived_quantity + refunded_quantity - before,
    },
  }
}
