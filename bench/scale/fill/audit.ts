import type { Step } from './plan.ts'

/** The audit log of merchants: an entry for each order and each product. */
export const AUDIT_STEPS: readonly Step[] = [
  [
    'audit',
    `
    insert into audit_log (tenant_ref, id, actor, action, entity, after, created_at)
    select tenant_ref, scale.id('audit', tenant_ref, n), 'merchant_key:scale',
           case when n % 10 = 0 then 'order.note_added' when refunded_cents > 0 then 'order.refunded'
                else 'order.processing' end, 'order:' || id,
           jsonb_build_object('order_number', number), at
      from scale.orders
     union all
    select tenant_ref, scale.id('product audit', tenant_ref, n), 'merchant_key:scale', 'product.created',
           'product:' || scale.id('product', tenant_ref, n), jsonb_build_object('slug', 'product-' || n),
           now() - interval '380 days'
      from scale.plan p, generate_series(1, p.products) as n`,
  ],
]
