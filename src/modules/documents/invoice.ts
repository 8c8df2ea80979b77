import { sum } from '../../kernel/money.ts'
import type { ChargeRow, OrderItem, OrderRow, RefundRow } from '../orders/schema.ts'
import { deliveryAddress } from '../orders/ship-to.ts'
import type { Invoice, InvoicePayment, InvoiceSum, Letterhead } from './schema.ts'

/** An order with the facts that its invoice shows. */
export interface InvoicedOrder {
  order: OrderRow
  items: readonly OrderItem[]
  charges: readonly ChargeRow[]
  refunds: readonly RefundRow[]
}

/** The store as its documents need it. */
export interface DocumentStore {
  letterhead: Letterhead
  language: string
  time_zone: string
}

/**
 * The invoice of an order as it is now. It repeats the order's own amounts and computes only the net amount, so that it
 * cannot contradict the order.
 */
export function invoiceOf(store: DocumentStore, invoiced: InvoicedOrder): Invoice {
  const { order, items } = invoiced
  const payments = paymentsOf(invoiced)
  return {
    kind: 'invoice',
    ...store,
    order_number: order.order_number,
    ordered_at: order.placed_at ?? order.created_at,
    ship_to: deliveryAddress(order),
    is_test: order.is_test,
    cancelled_at: order.cancelled_at,
    currency: order.currency,
    email: order.email,
    // A line that an edit has emptied is not sold.
    lines: items
      .filter(({ quantity }) => quantity > 0)
      .map((item) => ({
        name: item.product_name,
        label: item.label,
        sku: item.sku,
        quantity: item.quantity,
        unit_price_cents: item.unit_price_cents,
        total_cents: item.line_total_cents,
      })),
    sums: sumsOf(order),
    payments,
    paid_cents: sum(payments.map(({ cents }) => cents)),
  }
}

/**
 * Lists the sums of an invoice. If the tax is added, it stands before the total; if the prices contain it, it stands
 * below the total as a part of it. Both name the net amount.
 */
function sumsOf(order: OrderRow): InvoiceSum[] {
  const { tax_cents, total_cents, tax_rate_bps: rate_bps } = order
  // Gift cards are a debt and not sold: they are no part of the taxed amount.
  const { gift_card_cents } = order
  const net: InvoiceSum = { kind: 'net', cents: total_cents - tax_cents - gift_card_cents }
  const untaxed: InvoiceSum[] =
    gift_card_cents === 0 ? [] : [{ kind: 'gift_cards', cents: gift_card_cents }]
  const tax = (kind: 'tax' | 'tax_inside'): InvoiceSum => ({ kind, cents: tax_cents, rate_bps })
  const total: InvoiceSum = { kind: 'total', cents: total_cents }
  const before: InvoiceSum[] = [
    { kind: 'subtotal', cents: order.subtotal_cents },
    ...(order.discount_cents === 0
      ? []
      : [{ kind: 'discount' as const, cents: -order.discount_cents, code: order.coupon_code }]),
    { kind: 'shipping', cents: order.shipping_cents },
  ]
  if (tax_cents === 0) return [...before, total]
  return order.prices_include_tax
    ? [...before, total, ...untaxed, net, tax('tax_inside')]
    : [...before, ...untaxed, net, tax('tax'), total]
}

function paymentsOf({ charges, refunds }: InvoicedOrder): InvoicePayment[] {
  const paid = charges
    .filter(({ captured_cents }) => captured_cents > 0)
    .map(({ tender, captured_cents, card, gift_card_last4 }) => ({
      kind: 'paid' as const,
      cents: captured_cents,
      tender,
      brand: card?.brand ?? null,
      last4: card?.last4 ?? gift_card_last4,
    }))
  const returned = refunds.flatMap(({ kind, tenders, settled_at, created_at }) => {
    // A refund may have reached some of its tenders alone.
    const cents = sum(
      tenders.filter(({ status }) => status === 'succeeded').map((each) => each.amount_cents),
    )
    const what = kind === 'adjustment' ? ('change' as const) : ('refund' as const)
    return cents === 0 ? [] : [{ kind: what, cents: -cents, at: settled_at ?? created_at }]
  })
  return [...paid, ...returned]
}
