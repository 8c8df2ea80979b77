import type { Step } from './plan.ts'

/** Units that every variant received first: more than any store of the benchmark sells. */
const RECEIVED = 100_000_000

/** Counted stock of every variant, with the movement of each line of an order. */
export const STOCK_STEPS: readonly Step[] = [
  [
    'stock movements',
    `
    insert into inventory_movements (tenant_ref, id, seq, variant_id, location_id, kind, quantity,
                                     on_hand_after, allocated_after, order_id, actor, created_at)
    select tenant_ref, scale.id(kind || ' ' || position, tenant_ref, n),
           row_number() over (order by at, tenant_ref, n, step, position), variant_id, 'default', kind,
           quantity,
           sum(case when kind <> 'allocated' then quantity else 0 end) over level,
           sum(case when kind <> 'received' then quantity else 0 end) over level, order_id, actor, at
      from (select tenant_ref, n, 0 as step, 0 as position, 'received' as kind,
                   scale.id('variant', tenant_ref, n) as variant_id, ${RECEIVED} as quantity,
                   null::uuid as order_id, 'merchant_key:scale' as actor,
                   now() - interval '380 days' as at
              from scale.plan p, generate_series(1, p.products) as n
             union all
            select tenant_ref, n, 1, position, 'allocated', variant_id, units, order_id, 'system', at
              from scale.lines where placed
             union all
            select tenant_ref, n, 2, position, 'shipped', variant_id, -units, order_id,
                   'merchant_key:scale', at
              from scale.lines where shipped) as moved
    window level as (partition by tenant_ref, variant_id order by at, n, step, position
                     rows unbounded preceding);
    select setval('inventory_movements_seq_seq', max(seq)) from inventory_movements`,
  ],
  [
    'stock levels',
    `
    insert into inventory_locations (tenant_ref, id, name)
    select tenant_ref, 'default', 'Default' from scale.plan;
    insert into inventory_settings (tenant_ref, variant_id, track_inventory, low_stock_threshold)
    select tenant_ref, scale.id('variant', tenant_ref, n), true,
           case when n % 10 = 0 then 2 * ${RECEIVED} end
      from scale.plan p, generate_series(1, p.products) as n;
    insert into inventory_levels (tenant_ref, variant_id, location_id, on_hand, allocated, reserved)
    select p.tenant_ref, v.id, 'default', ${RECEIVED} - coalesce(sold.shipped, 0),
           coalesce(sold.allocated, 0), coalesce(sold.reserved, 0)
      from scale.plan p
     cross join lateral (
       select scale.id('variant', p.tenant_ref, n) as id from generate_series(1, p.products) as n) v
      left join (select tenant_ref, variant_id, sum(units) filter (where shipped) as shipped,
                        sum(units) filter (where placed and not shipped) as allocated,
                        sum(units) filter (where story = 'held') as reserved
                   from scale.lines group by tenant_ref, variant_id) sold
        on sold.tenant_ref = p.tenant_ref and sold.variant_id = v.id;
    insert into inventory_reservations (tenant_ref, order_id, variant_id, location_id, reserved,
                                        allocated, created_at, updated_at, released_at)
    select tenant_ref, order_id, variant_id, 'default', case when story = 'held' then units else 0 end,
           case when placed and not shipped then units else 0 end, at, at,
           case when story in ('failed', 'cancelled') then at end
      from scale.lines`,
  ],
]
