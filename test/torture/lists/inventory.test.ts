import { test } from 'node:test'
import * as queries from '../../../src/modules/inventory/queries.ts'
import { MANY, openListPlans } from '../../harness/list-pages.ts'

const DEEP = { limit: 10, offset: MANY - 5 }
const NO_VARIANT = '00000000-0000-4000-8000-000000000009'

/** One variant in a thousand is below its threshold; each has one movement, and one has all others. */
const SEED = `
  insert into products (tenant_ref, slug, name) values ('big', 'p', 'P');
  insert into inventory_locations (tenant_ref, id, name) values ('big', 'default', 'Default');
  insert into variants (tenant_ref, product_id, sku, price_cents, currency)
  select 'big', id, 'sku-' || md5(n::text), 1, 'USD'
    from products, generate_series(1, ${MANY}) n;
  insert into inventory_settings (tenant_ref, variant_id, track_inventory, low_stock_threshold)
  select 'big', id, true, case when n % 100 = 0 then case when n % 1000 = 0 then 9 else 1 end end
    from (select id, row_number() over (order by sku) as n from variants) as v;
  insert into inventory_levels (tenant_ref, variant_id, location_id, on_hand)
  select 'big', id, 'default', 5 from variants;
  update variants set is_low = true
   where id in (select variant_id from inventory_settings where low_stock_threshold = 9);
  insert into inventory_movements (tenant_ref, variant_id, location_id, kind, quantity,
                                   on_hand_after, allocated_after, actor)
  select 'big', id, 'default',
         case when n <= 5 then 'adjusted' when n % 2 = 0 then 'received' else 'allocated' end,
         1, 1, 0, 'system'
    from (select id, row_number() over (order by sku) as n from variants) as v
   order by n`

test('a page of the inventory reads few pages, by every filter and however deep', async (t) => {
  const lists = await openListPlans(t, async (admin) => void (await admin.query(SEED)))
  const found = await lists.admin.query(`select sku from variants order by sku limit 1`)
  const sku = found.rows[0].sku as string
  const none = { sku: undefined, low: undefined }
  await lists.reads(queries.listItems, none, { expected: 10 })
  await lists.reads(queries.listItems, none, { expected: 5, page: DEEP, pagesMax: 400 })
  await lists.reads(queries.listItems, { ...none, sku }, { expected: 1 })
  await lists.reads(queries.listItems, { ...none, sku: 'none' }, { expected: 0 })
  await lists.reads(queries.listItems, { ...none, low: true }, { expected: 10 })
  await lists.reads(queries.listItems, { ...none, low: false }, { expected: 10 })
})

test('a page of stock movements reads few pages, by every filter and however deep', async (t) => {
  const lists = await openListPlans(t, async (admin) => void (await admin.query(SEED)))
  const found = await lists.admin.query(`select variant_id from inventory_movements limit 1`)
  const variant_id = found.rows[0].variant_id as string
  lists.as('fd_app')
  const none = { variant_id: undefined, kind: undefined }
  await lists.reads(queries.listMovements, none, { expected: 10 })
  await lists.reads(queries.listMovements, none, { expected: 5, page: DEEP, pagesMax: 400 })
  await lists.reads(queries.listMovements, { ...none, variant_id }, { expected: 1 })
  await lists.reads(queries.listMovements, { ...none, variant_id: NO_VARIANT }, { expected: 0 })
  const often = { ...none, kind: 'allocated' as const }
  // The count reads all movements.
  await lists.reads(queries.listMovements, often, { expected: 10, pagesMax: 600 })
  await lists.reads(queries.listMovements, { ...none, kind: 'received' }, { expected: 10 })
  await lists.reads(queries.listMovements, { ...none, kind: 'adjusted' }, { expected: 5 })
  await lists.reads(queries.listMovements, { ...none, kind: 'shipped' }, { expected: 0 })
})
