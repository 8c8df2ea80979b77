import { sum } from '../../kernel/money.ts'
/**
 * What each figure means. The fields of the API, their descriptions in the API document, the rows of a
 * drill-down and docs/reference/analytics.md are all made from this file, so that no two of them can differ.
 */

/** Raised when a figure changes its meaning: a reader who stores figures must not mix two. */
export const DEFINITION_VERSION = 1

/** The measures that are stored for each fact and each day. All of them add up. */
export const MEASURES = [
  'gross_cents',
  'discount_cents',
  'refund_cents',
  'tax_cents',
  'refunded_tax_cents',
  'shipping_cents',
  'refunded_shipping_cents',
  'dispute_loss_cents',
  'markdown_cents',
  'orders_count',
  'units_count',
  'new_customers_count',
  'repeat_customers_count',
  'active_customers_count',
] as const
export type Measure = (typeof MEASURES)[number]

export type Measures = Record<Measure, number>

export interface Definition {
  title: string
  meaning: string
  /** The accounts of the ledger with the same number. */
  ledger?: string
  /** The measures that the figure is the sum of, each added or subtracted. Absent: it is a measure itself. */
  of?: Partial<Record<Measure, 1 | -1>>
}

/** Figures that add up over days, groups and stores. Each has a drill-down. */
export const FIGURES = {
  gross_cents: {
    title: 'Gross sales',
    meaning:
      'Charged unit prices of captured orders, before coupons and without tax and without gift cards, which are owed until they pay for something. An edit changes it on the day of the edit.',
    ledger: 'minus the account `sales`',
  },
  discount_cents: {
    title: 'Discounts',
    meaning: 'What coupons took off the goods.',
    ledger: 'the account `discount`',
  },
  refund_cents: {
    title: 'Refunds',
    meaning:
      'Refunded value of goods, without tax and shipping. A cancelled order and a lost dispute are refunds, too.',
    ledger: 'the account `refund`',
  },
  net_cents: {
    title: 'Net sales',
    meaning: 'Gross sales, less discounts and refunds.',
    of: { gross_cents: 1, discount_cents: -1, refund_cents: -1 },
  },
  tax_cents: {
    title: 'Tax',
    meaning: 'Tax that was charged, inside the prices or on top of them.',
    ledger: 'with `refunded_tax_cents` subtracted: minus the account `tax_payable`',
  },
  refunded_tax_cents: { title: 'Refunded tax', meaning: 'Tax inside of refunds.' },
  shipping_cents: {
    title: 'Shipping',
    meaning: 'What was charged for shipping, without tax.',
    ledger: 'with `refunded_shipping_cents` subtracted: minus the account `shipping_income`',
  },
  refunded_shipping_cents: { title: 'Refunded shipping', meaning: 'Shipping inside of refunds.' },
  total_cents: {
    title: 'Total',
    meaning: 'What customers paid and were not refunded: net sales, tax and shipping.',
    of: {
      gross_cents: 1,
      discount_cents: -1,
      refund_cents: -1,
      tax_cents: 1,
      refunded_tax_cents: -1,
      shipping_cents: 1,
      refunded_shipping_cents: -1,
    },
  },
  dispute_loss_cents: {
    title: 'Dispute losses',
    meaning: 'What a bank took a second time, after the customer had been refunded.',
    ledger: 'the account `dispute_loss`',
  },
  markdown_cents: {
    title: 'Markdowns',
    meaning:
      'List prices less charged unit prices, of captured orders. Not a part of gross sales, which are charged prices.',
  },
  orders_count: { title: 'Orders', meaning: 'Orders that were captured.' },
  units_count: {
    title: 'Units',
    meaning: 'Units of captured orders, with gift cards, changed by edits.',
  },
  new_customers_count: {
    title: 'New customers',
    meaning: 'Customers who placed their first captured order.',
  },
  repeat_customers_count: {
    title: 'Repeat customers',
    meaning: 'Customers who placed their second captured order.',
  },
  active_customers_count: {
    title: 'Active customers',
    meaning: 'Customers who ordered. A customer counts once in each calendar month.',
  },
} as const satisfies Record<string, Definition>
export type Figure = keyof typeof FIGURES

export const FIGURE_NAMES = Object.keys(FIGURES) as Figure[]

export type Figures = Record<Figure, number>

/** The measures of a figure with their signs. */
export function partsOf(figure: Figure): [Measure, 1 | -1][] {
  const { of }: Definition = FIGURES[figure]
  return of === undefined ? [[figure as Measure, 1]] : (Object.entries(of) as [Measure, 1 | -1][])
}

export const NOTHING: Readonly<Measures> = Object.fromEntries(
  MEASURES.map((name) => [name, 0]),
) as Measures

export function figuresOf(measures: Measures): Figures {
  const sumFigure = (figure: Figure) =>
    sum(partsOf(figure).map(([name, sign]) => sign * measures[name]))
  return Object.fromEntries(FIGURE_NAMES.map((name) => [name, sumFigure(name)])) as Figures
}

/** Quotients of two figures. They do not add up, so they have no rows: their parts have. */
export const QUOTIENTS = {
  average_order_cents: {
    title: 'Average order',
    meaning:
      'Gross sales less discounts, divided by the number of orders. Null where there are no orders.',
  },
  repeat_rate_bps: {
    title: 'Repeat rate',
    meaning:
      'The share of the new customers who have ordered again up to now, in hundredths of a percent. Null where there are no new customers.',
  },
  lifetime_value_cents: {
    title: 'Lifetime value',
    meaning:
      'Net sales of all orders of the new customers up to now, divided by the number of these customers. Null where there are no new customers.',
  },
  approval_rate_bps: {
    title: 'Approval rate',
    meaning:
      'The share of approved payment attempts among the approved and declined ones, in hundredths of a percent. Null where there are none.',
  },
  churn_bps: {
    title: 'Churn',
    meaning:
      'The share of the subscriptions running at the start of the period that ended in it, in hundredths of a percent. Null where none was running.',
  },
  sell_through_bps: {
    title: 'Sell-through',
    meaning: 'Units sold, of those sold and those on hand, in hundredths of a percent.',
  },
  days_of_cover: {
    title: 'Days of cover',
    meaning:
      'How long what is on hand lasts, at the rate of the period. Null where nothing was sold.',
  },
  margin_bps: {
    title: 'Margin',
    meaning:
      'Net sales less what the units cost, of net sales, in hundredths of a percent. Null where the cost is unknown or nothing was sold.',
  },
} as const satisfies Record<string, Definition>
export type Quotient = keyof typeof QUOTIENTS

/** Counts that are no money of orders, each with rows of its own kind. */
export const COUNTS = {
  attempts_count: {
    title: 'Payment attempts',
    meaning:
      'Charges that were sent to a gateway: of checkouts, releases, edits, renewals and payment requests.',
  },
  approved_count: { title: 'Approved', meaning: 'Attempts that the gateway approved.' },
  declined_count: { title: 'Declined', meaning: 'Attempts that the gateway declined.' },
  failed_count: {
    title: 'Failed',
    meaning: 'Attempts that ended without a decision: errors, and those the gateway does not know.',
  },
  open_count: { title: 'Open', meaning: 'Attempts whose outcome is not known yet.' },
  active_count: { title: 'Active subscriptions', meaning: 'Subscriptions that are charged.' },
  mrr_cents: {
    title: 'Monthly recurring revenue',
    meaning:
      'What active and past-due subscriptions are charged in a month of 365.25 / 12 days, at their prices of today, each rounded to the cent.',
  },
  started_count: {
    title: 'Started subscriptions',
    meaning: 'Subscriptions that began in the period.',
  },
  churned_count: {
    title: 'Churned subscriptions',
    meaning: 'Subscriptions that were cancelled or expired in the period.',
  },
  past_due_count: {
    title: 'Past due',
    meaning: 'Subscriptions whose last charge failed and is retried.',
  },
  recovered_count: {
    title: 'Recovered',
    meaning: 'Renewals in the period that were approved after a decline.',
  },
  view: { title: 'Views', meaning: 'Pages of products that were shown.' },
  search: { title: 'Searches', meaning: 'Searches in the catalog.' },
  add_to_cart: { title: 'Added to cart', meaning: 'Times that something was put into a cart.' },
  begin_checkout: { title: 'Began checkout', meaning: 'Times that a checkout was begun.' },
  paid: { title: 'Paid', meaning: 'Orders that were captured: `orders_count`.' },
} as const satisfies Record<string, Definition>
export type Count = keyof typeof COUNTS

export const describe = (name: Figure | Quotient | Count): string => {
  const { title, meaning, ledger }: Definition = { ...FIGURES, ...QUOTIENTS, ...COUNTS }[name]
  return `${title}: ${meaning}${ledger === undefined ? '' : ` In the ledger: ${ledger}.`}`
}
