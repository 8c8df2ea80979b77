import { allocate, sum } from '../../kernel/money.ts'
import { taxInShipping } from '../pricing/price.ts'
import { MEASURES, type Measure, type Measures, NOTHING } from './definition-schema.ts'
import type {
  LineChange,
  LineRow,
  NumberedJournal,
  OrderHistory,
  RefundedItem,
} from './history-schema.ts'
import type { FactLine } from './schema.ts'

/**
 * What a numbered journal adds to the figures, and which lines it belongs to. Pure functions of rows
 * that never change: counted today or again in a year, a journal gives the same (decision 0049).
 */

/** The stored amounts of a line at one time. */
interface Shares {
  quantity: number
  line_total_cents: number
  discount_cents: number
  tax_cents: number
  shipping_cents: number
}

/** The kinds of journals of refunds, and of their reversal: a cancelled exchange returns the money to its order. */
const REFUNDS: readonly string[] = ['order.refunded', 'exchange.released']

/** The measures of a journal by its entries alone, so that they are what the ledger says. */
function measuresOf(journal: NumberedJournal): Measures {
  const { kind, sales_cents, discount_cents, refund_cents, tax_payable_cents } = journal
  const { shipping_income_cents, dispute_loss_cents } = journal
  const isRefund = REFUNDS.includes(kind)
  return {
    ...NOTHING,
    gross_cents: minus(sales_cents),
    discount_cents,
    refund_cents,
    dispute_loss_cents,
    ...(isRefund
      ? { refunded_tax_cents: tax_payable_cents, refunded_shipping_cents: shipping_income_cents }
      : { tax_cents: minus(tax_payable_cents), shipping_cents: minus(shipping_income_cents) }),
    orders_count: kind === 'order.placed' ? 1 : 0,
  }
}

/** Negates an amount, but never to minus zero, which readers of JSON do not take for an integer. */
const minus = (cents: number): number => 0 - cents

export interface Counted {
  measures: Measures
  lines: FactLine[]
}

/**
 * Divides a journal's measures, in all and by line. An amount that the lines do not explain is a part of its own, so
 * that all parts together are the journal: a loss by a dispute, or an edit from before changes of lines were stored.
 * Units and markdowns are not in the ledger, and come from the lines alone.
 */
export function countJournal(journal: NumberedJournal, history: OrderHistory): Counted {
  const parts = splitJournal(journal, history)
  const measures = {
    ...measuresOf(journal),
    units_count: sumOf(parts, 'units_count'),
    markdown_cents: sumOf(parts, 'markdown_cents'),
  }
  const rest = Object.fromEntries(MONEY.map((name) => [name, measures[name] - sumOf(parts, name)]))
  const lines = [...parts, { product_id: null, variant_id: null, measures: rest }]
  return {
    measures,
    lines: lines.map(withoutZeros).filter((line) => Object.keys(line.measures).length > 0),
  }
}

/** The measures that are amounts of the ledger. */
const MONEY = [
  'gross_cents',
  'discount_cents',
  'refund_cents',
  'tax_cents',
  'refunded_tax_cents',
  'shipping_cents',
  'refunded_shipping_cents',
  'dispute_loss_cents',
] as const satisfies readonly Measure[]

const sumOf = (parts: readonly FactLine[], name: Measure): number =>
  sum(parts.map(({ measures }) => measures[name] ?? 0))

const withoutZeros = ({ measures, ...line }: FactLine): FactLine => ({
  ...line,
  measures: Object.fromEntries(Object.entries(measures).filter(([, value]) => value !== 0)),
})

function splitJournal(journal: NumberedJournal, history: OrderHistory): FactLine[] {
  if (journal.kind === 'order.placed') return splitSale(history)
  if (journal.kind === 'order.edited') return splitEdit(journal, history)
  if (REFUNDS.includes(journal.kind)) return splitRefund(journal, history)
  return []
}

/** Splits a sale by its lines as they were sold: the present lines without any later change. */
function splitSale(history: OrderHistory): FactLine[] {
  const sold = valuesOf(history, history.changes)
  return history.lines.map((line, at) => partOf(line, sold[at] ?? {}))
}

/** Splits an edit: the lines after it minus the lines before it. */
function splitEdit({ ref }: NumberedJournal, history: OrderHistory) {
  const { lines, changes } = history
  const edits = [...Map.groupBy(changes, ({ change_id }) => change_id).values()]
  const at = edits.findIndex(([first]) => first?.change_id === ref)
  const own = edits[at] ?? []
  const later = edits.slice(at + 1).flat()
  const is = valuesOf(history, later)
  const was = valuesOf(history, [...later, ...own])
  return lines.map((line, at) => partOf(line, subtract(is[at] ?? {}, was[at] ?? {})))
}

/**
 * Splits a refund over the lines it names, in proportion to what each was refunded. A refund that names none
 * is split over all lines, in proportion to what they cost when it was made.
 */
function splitRefund(journal: NumberedJournal, history: OrderHistory): FactLine[] {
  const { lines, changes, refund_items } = history
  const items = refund_items.filter(({ refund_id }) => refund_id === journal.ref)
  const then = changes.filter(({ at_us }) => at_us > journal.at_us)
  const weights = weightsOf(lines, items, then)
  const split = (cents: number) =>
    allocate(Math.abs(cents), weights).map((share) => Math.sign(cents) * share)
  if (sum(weights) === 0) return []
  const refund = split(journal.refund_cents)
  const tax = split(journal.tax_payable_cents)
  const shipping = split(journal.shipping_income_cents)
  return lines.map((line, index) =>
    partOf(line, {
      refund_cents: refund[index] ?? 0,
      refunded_tax_cents: tax[index] ?? 0,
      refunded_shipping_cents: shipping[index] ?? 0,
    }),
  )
}

function weightsOf(
  lines: readonly LineRow[],
  items: readonly RefundedItem[],
  later: readonly LineChange[],
): number[] {
  const ofGoods = (weights: readonly number[]) =>
    weights.map((weight, at) => (lines[at]?.gift_card ? 0 : weight))
  const named = ofGoods(
    lines.map(({ id }) =>
      sum(items.filter((each) => each.order_item_id === id).map((each) => each.amount_cents)),
    ),
  )
  if (sum(named) > 0) return named
  const shares = lines.map((line) => before(line, later))
  const paid = ofGoods(shares.map((each) => each.line_total_cents - each.discount_cents))
  return sum(paid) > 0 ? paid : ofGoods(shares.map(({ quantity }) => quantity))
}

/** The amounts of a line without some changes. */
function before(line: LineRow, changes: readonly LineChange[]): Shares {
  const own = changes.filter(({ order_item_id }) => order_item_id === line.id)
  const less = (name: keyof Shares) => line[name] - sum(own.map((each) => each[name]))
  return {
    quantity: less('quantity'),
    line_total_cents: less('line_total_cents'),
    discount_cents: less('discount_cents'),
    tax_cents: less('tax_cents'),
    shipping_cents: less('shipping_cents'),
  }
}

/**
 * The measures of the lines without some changes. They are without tax, and add up to the amounts of `withoutTax` for
 * the order: the tax inside the shipping is computed once, and divided like the shipping itself.
 */
function valuesOf(
  { lines, prices_include_tax }: OrderHistory,
  changes: readonly LineChange[],
): Partial<Measures>[] {
  const shares = lines.map((line) => before(line, changes))
  const total = (name: keyof Shares) =>
    sum(shares.map((each, at) => (lines[at]?.gift_card ? 0 : each[name])))
  const goods_cents = total('line_total_cents') - total('discount_cents')
  const inside = prices_include_tax ? total('tax_cents') : 0
  const insideShipping = allocate(
    taxInShipping(inside, goods_cents, total('shipping_cents')),
    shares.map(({ shipping_cents }) => shipping_cents),
  )
  return lines.map((line, at) => {
    const share = shares[at] ?? NO_SHARES
    return lineValue(line, share, { prices_include_tax, insideShipping: insideShipping[at] ?? 0 })
  })
}

const NO_SHARES: Shares = {
  quantity: 0,
  line_total_cents: 0,
  discount_cents: 0,
  tax_cents: 0,
  shipping_cents: 0,
}

/** The measures of a line. Gift cards are owed until they are spent: they have units, and no sales. */
function lineValue(
  { list_price_cents, unit_price_cents, gift_card }: LineRow,
  { quantity, line_total_cents, discount_cents, tax_cents, shipping_cents }: Shares,
  { prices_include_tax, insideShipping }: { prices_include_tax: boolean; insideShipping: number },
): Partial<Measures> {
  const insideGoods = prices_include_tax ? tax_cents - insideShipping : 0
  return {
    gross_cents: gift_card ? 0 : line_total_cents - insideGoods,
    discount_cents,
    tax_cents,
    shipping_cents: shipping_cents - insideShipping,
    markdown_cents: (list_price_cents - unit_price_cents) * quantity,
    units_count: quantity,
  }
}

const subtract = (is: Partial<Measures>, was: Partial<Measures>): Partial<Measures> =>
  Object.fromEntries(MEASURES.map((name) => [name, (is[name] ?? 0) - (was[name] ?? 0)])) as Measures

const partOf = ({ product_id, variant_id }: LineRow, measures: Partial<Measures>): FactLine => ({
  product_id,
  variant_id,
  measures,
})
