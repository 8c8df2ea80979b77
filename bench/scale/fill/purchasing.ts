import type { Step } from './plan.ts'

/**
 * Vendors, and purchase orders that expect nothing: drafts, and one in ten cancelled. Their number follows
 * that of the orders. Cycle counts that found nothing missing, whose number follows that of the products.
 */
export const PURCHASING_STEPS: readonly Step[] = [
  [
    'purchase orders',
    `
    insert into vendors (tenant_ref, id, name, lead_time_days, archived_at)
    select tenant_ref, scale.id('vendor', tenant_ref, n), 'Vendor ' || n, 7,
           case when n % 10 = 0 then now() end
      from scale.plan p, generate_series(1, 1 + p.orders / 100) as n;
    insert into purchase_order_counters (tenant_ref, last_number)
    select tenant_ref, 1000 + 1 + orders / 10 from scale.plan;
    insert into purchase_orders (tenant_ref, id, po_number, vendor_id, location_id, status, currency,
                                 subtotal_cents, created_by, created_at, cancelled_at)
    select tenant_ref, scale.id('purchase', tenant_ref, n), 'PO-' || (1000 + n),
           scale.id('vendor', tenant_ref, 1 + n % (1 + p.orders / 100)), 'default',
           case when n % 10 = 0 then 'cancelled' else 'draft' end, 'USD', 5000, 'merchant_key:scale',
           now() - n * interval '1 hour', case when n % 10 = 0 then now() end
      from scale.plan p, generate_series(1, 1 + p.orders / 10) as n;
    insert into purchase_order_lines (tenant_ref, purchase_order_id, position, variant_id, sku,
                                      quantity, unit_cost_cents)
    select tenant_ref, scale.id('purchase', tenant_ref, n), 0,
           scale.id('variant', tenant_ref, 1 + n % p.products), 'sku', 10, 500
      from scale.plan p, generate_series(1, 1 + p.orders / 10) as n`,
  ],
  [
    'cycle counts',
    `
    insert into stock_counts (tenant_ref, id, location_id, status, created_by, created_at, posted_at)
    select tenant_ref, scale.id('count', tenant_ref, n), 'default', 'posted', 'merchant_key:scale',
           now() - n * interval '1 hour', now()
      from scale.plan p, generate_series(1, 1 + p.products / 10) as n;
    insert into stock_count_lines (tenant_ref, count_id, variant_id, location_id, expected, counted,
                                   is_open)
    select tenant_ref, scale.id('count', tenant_ref, n),
           scale.id('variant', tenant_ref, 1 + n % p.products), 'default', 5, 5, false
      from scale.plan p, generate_series(1, 1 + p.products / 10) as n`,
  ],
]
