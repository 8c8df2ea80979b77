import type { Step } from './plan.ts'

/** One of so many delivered and shipped orders has a return. */
const RETURNED_OF = 10

/** Whether a return is received or still expected, by the number of its order. */
const HAS_COME = `o.n % ${2 * RETURNED_OF} = 0`

/**
 * A parcel for every order that was sent, and a return of one unit for a tenth of them: half of them are
 * closed without a refund, the others are expected.
 */
export const AFTER_SALE_STEPS: readonly Step[] = [
  [
    'parcels',
    `
    insert into fulfillments (tenant_ref, id, order_id, number, fulfillment_number, location_id, status,
                              carrier, tracking_number, created_by, created_at, updated_at, shipped_at,
                              delivered_at)
    select tenant_ref, scale.id('parcel', tenant_ref, n), id, 1, number || '-F1', 'default', story,
           'UPS', '1Z' || n, 'merchant_key:scale', at, at, at, case when story = 'delivered' then at end
      from scale.orders where shipped;
    insert into fulfillment_items (tenant_ref, fulfillment_id, order_item_id, position, variant_id, sku,
                                   product_name, quantity, stock_quantity)
    select l.tenant_ref, scale.id('parcel', l.tenant_ref, l.n), l.id, l.position, l.variant_id,
           'SKU-' || l.product, p.name, l.units, l.units
      from scale.lines l
      join products p on p.tenant_ref = l.tenant_ref and p.id = l.product_id
     where l.shipped`,
  ],
  [
    'returns',
    `
    insert into returns (tenant_ref, id, order_id, number, return_number, status, requested_by,
                         created_by, created_at, updated_at, approved_at, received_at, closed_at)
    select o.tenant_ref, scale.id('return', o.tenant_ref, o.n), o.id, 1, o.number || '-R1',
           case when ${HAS_COME} then 'closed' else 'approved' end, 'merchant', 'merchant_key:scale',
           o.at, o.at, o.at, case when ${HAS_COME} then o.at end, case when ${HAS_COME} then o.at end
      from scale.orders o where o.shipped and o.n % ${RETURNED_OF} = 0;
    insert into return_lines (tenant_ref, id, return_id, order_item_id, position, variant_id, sku,
                              product_name, quantity, damaged_quantity, waived_quantity)
    select o.tenant_ref, scale.id('return line', o.tenant_ref, o.n),
           scale.id('return', o.tenant_ref, o.n), l.id, 0, l.variant_id, 'SKU-' || l.product, p.name, 1,
           case when ${HAS_COME} then 1 else 0 end, case when ${HAS_COME} then 1 else 0 end
      from scale.orders o
      join scale.lines l on l.tenant_ref = o.tenant_ref and l.n = o.n and l.position = 0
      join products p on p.tenant_ref = l.tenant_ref and p.id = l.product_id
     where o.shipped and o.n % ${RETURNED_OF} = 0;
    insert into return_receipts (tenant_ref, id, return_id, number, status, method, location_id,
                                 created_by, created_at, settled_at)
    select o.tenant_ref, scale.id('receipt', o.tenant_ref, o.n),
           scale.id('return', o.tenant_ref, o.n), 1, 'settled', 'none', 'default',
           'merchant_key:scale', o.at, o.at
      from scale.orders o where o.shipped and ${HAS_COME};
    insert into return_receipt_lines (tenant_ref, receipt_id, return_line_id, disposition, quantity,
                                      stock_quantity)
    select o.tenant_ref, scale.id('receipt', o.tenant_ref, o.n),
           scale.id('return line', o.tenant_ref, o.n), 'damaged', 1, 0
      from scale.orders o where o.shipped and ${HAS_COME};
    update order_items i
       set returning_quantity = case when ${HAS_COME} then 0 else 1 end,
           returned_quantity = case when ${HAS_COME} then 1 else 0 end
      from scale.orders o
     where o.shipped and o.n % ${RETURNED_OF} = 0 and i.tenant_ref = o.tenant_ref
       and i.id = scale.id('line 0', o.tenant_ref, o.n)`,
  ],
]
