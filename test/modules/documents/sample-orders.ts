import { sum } from '../../../src/kernel/money.ts'
import type { DocumentStore, InvoicedOrder } from '../../../src/modules/documents/invoice.ts'
import type {
  ChargeRow,
  OrderItem,
  OrderRow,
  RefundRow,
} from '../../../src/modules/orders/schema.ts'

/** Orders for tests of documents, as far as a document reads them. */

const ID = '00000000-0000-4000-8000-000000000000'
const AT = '2026-11-17T10:00:00.000Z'

export const STORE: DocumentStore = {
  letterhead: {
    name: 'Acme',
    colour: '#0b5bd3',
    logo_ref: null,
    seller: ['Acme Ltd', '1 High Street', 'VAT ID GB123'],
    note: null,
  },
  language: 'en',
  time_zone: 'UTC',
}

export interface SampleLine {
  name?: string
  label?: string | null
  sku?: string
  quantity: number
  unit_price_cents: number
  gift_card?: boolean
}

export const itemOf = (line: SampleLine): OrderItem => ({
  id: ID,
  order_id: ID,
  product_id: ID,
  variant_id: ID,
  product_name: line.name ?? 'Mug',
  sku: line.sku ?? 'MUG-1',
  quantity: line.quantity,
  unit_price_cents: line.unit_price_cents,
  line_total_cents: line.quantity * line.unit_price_cents,
  label: line.label ?? null,
  discount_cents: 0,
  tax_cents: 0,
  shipping_cents: 0,
  is_subscription: false,
  gift_card: line.gift_card ?? false,
  refunded_quantity: 0,
  packed_quantity: 0,
  shipped_quantity: 0,
  delivered_quantity: 0,
  returning_quantity: 0,
  returned_quantity: 0,
  restocked_quantity: 0,
})

export const chargeOf = (captured_cents: number, more: Partial<ChargeRow> = {}): ChargeRow => ({
  charge_id: ID,
  tender: 'card',
  amount_cents: captured_cents,
  captured_cents,
  refunded_cents: 0,
  currency: 'EUR',
  status: 'captured',
  card: { brand: 'visa', last4: '1111' },
  gift_card_last4: null,
  order_id: ID,
  gateway: 'simulated',
  txn_id: null,
  vault_id: null,
  gift_card_id: null,
  card_fingerprint: null,
  moved_from: null,
  ...more,
})

export const refundOf = (amount_cents: number, more: Partial<RefundRow> = {}): RefundRow => ({
  refund_id: ID,
  order_id: ID,
  kind: 'refund',
  status: 'succeeded',
  method: 'original',
  amount_cents,
  product_cents: amount_cents,
  tax_cents: 0,
  shipping_cents: 0,
  gift_card_cents: 0,
  currency: 'EUR',
  reason: null,
  created_at: AT,
  settled_at: AT,
  tenders: [{ charge_id: ID, tender: 'card', amount_cents, status: 'succeeded', attempt_id: null }],
  items: [],
  actor: 'merchant:x',
  ...more,
})

/** An order whose amounts add up as a checkout's do. */
export function sampleOrder(
  lines: readonly SampleLine[],
  more: Partial<OrderRow> = {},
): InvoicedOrder & { order: OrderRow } {
  const items = lines.map(itemOf)
  const subtotal_cents = sum(items.map(({ line_total_cents }) => line_total_cents))
  const { discount_cents = 0, shipping_cents = 0, tax_cents = 0, prices_include_tax = false } = more
  const total_cents =
    subtotal_cents - discount_cents + shipping_cents + (prices_include_tax ? 0 : tax_cents)
  const order = {
    id: ID,
    tenant_ref: 'acme',
    order_number: 1001,
    customer_ref: 'ann',
    status: 'placed',
    coupon_code: null,
    subtotal_cents,
    gift_card_cents: sum(
      items.filter(({ gift_card }) => gift_card).map(({ line_total_cents }) => line_total_cents),
    ),
    discount_cents,
    shipping_cents,
    tax_cents,
    total_cents,
    prices_include_tax,
    tax_rate_bps: null,
    currency: 'EUR',
    ship_to: {
      label: 'Home',
      name: 'Ann Example',
      line1: 'Hauptstraße 1',
      line2: null,
      city: 'Berlin',
      state: '',
      postal_code: '10115',
      country: 'DE',
    },
    placed_at: AT,
    cancelled_at: null,
    created_at: AT,
    updated_at: AT,
    is_test: false,
    email: 'ann@shop.example',
    captured_cents: total_cents,
    refunded_cents: 0,
    q_ordered: sum(lines.map(({ quantity }) => quantity)),
    q_cancelled: 0,
    q_packed: 0,
    q_shipped: 0,
    q_delivered: 0,
    ...more,
  } as OrderRow
  return { order, items, charges: [chargeOf(total_cents)], refunds: [] }
}
