import { test } from 'node:test'
import { listCounts } from '../../../src/modules/inventory/count-queries.ts'
import { listCostEntries } from '../../../src/modules/inventory/queries.ts'
import { listDiscrepancies } from '../../../src/modules/inventory/recount-queries.ts'
import { listWithWork } from '../../../src/modules/orders/read-queries.ts'
import { listOrders } from '../../../src/modules/purchasing/queries.ts'
import { listReceipts } from '../../../src/modules/purchasing/receipt-queries.ts'
import { listDemand } from '../../../src/modules/purchasing/suggestion-queries.ts'
import { openTestDatabase } from '../../harness/database.ts'
import { BIG, MANY, openListPlans, openPagesRead } from '../../harness/list-pages.ts'

const DEEP = { limit: 10, offset: MANY - 5 }
const NO_ID = '00000000-0000-4000-8000-000000000009'

/** One purchase order in four hundred is rare in all it has. */
const SEED = `
  insert into products (tenant_ref, slug, name) values ('${BIG}', 'p', 'P');
  insert into inventory_locations (tenant_ref, id, name) values ('${BIG}', 'default', 'Default');
  insert into variants (tenant_ref, product_id, sku, price_cents, currency)
  select '${BIG}', id, 'sku-' || n, 1, 'USD' from products, generate_series(1, ${MANY}) n;
  insert into inventory_levels (tenant_ref, variant_id, location_id)
  select '${BIG}', id, 'default' from variants;
  insert into vendors (tenant_ref, name, archived_at)
  select '${BIG}', md5(n::text), case when n % 100 = 0 then now() end
    from generate_series(1, ${MANY}) n;
  insert into purchase_orders (tenant_ref, po_number, vendor_id, location_id, currency,
                               subtotal_cents, created_by, status, ordered_at, created_at)
  select '${BIG}', 'PO-' || n,
         case when n % 400 = 7 then (select max(id::text)::uuid from vendors)
              else (select min(id::text)::uuid from vendors) end,
         'default', 'USD', 1, 'x', case when n % 400 = 7 then 'ordered' else 'draft' end,
         case when n % 400 = 7 then now() end, now() - n * interval '1 minute'
    from generate_series(1, ${MANY}) n;
  insert into purchase_receipts (tenant_ref, purchase_order_id, number, created_by)
  select '${BIG}', o.id, n, 'x'
    from (select id from purchase_orders order by created_at limit 1) o, generate_series(1, ${MANY}) n;
  insert into purchase_order_lines (tenant_ref, purchase_order_id, position, variant_id, sku,
                                    quantity, unit_cost_cents)
  select '${BIG}', o.id, 0, v.id, 'x', 1000000, 1
    from (select purchase_order_id as id from purchase_receipts limit 1) o,
         (select id from variants limit 1) v;
  insert into purchase_receipt_lines (tenant_ref, receipt_id, line_id, added, rejected)
  select '${BIG}', r.id, l.id, 1, 0 from purchase_receipts r, purchase_order_lines l;
  insert into inventory_cost_entries (tenant_ref, variant_id, kind, units, value_cents, units_after,
                                      value_after_cents)
  select '${BIG}', v.id, 'adjusted', 1, 1, 1, 1
    from (select min(id::text)::uuid as id from variants) v, generate_series(1, ${MANY}) n;
  insert into stock_counts (tenant_ref, location_id, created_by, status, posted_at)
  select '${BIG}', 'default', 'x', case when n % 400 = 7 then 'open' else 'posted' end,
         case when n % 400 = 7 then null else now() end
    from generate_series(1, ${MANY}) n;
  insert into inventory_discrepancies (tenant_ref, variant_id, location_id, counter, kept, counted)
  select '${BIG}', id, 'default', 'packed', 1, 0 from variants`

test('a list of purchasing reads few pages, by every filter and however deep', async (t) => {
  const lists = await openListPlans(t, async (admin) => void (await admin.query(SEED)))
  const found = await lists.admin.query(
    `select (select vendor_id from purchase_orders where status = 'ordered' limit 1) as rare,
            (select vendor_id from purchase_orders where status = 'draft' limit 1) as often,
            (select purchase_order_id from purchase_receipts limit 1) as received`,
  )
  const { rare, often, received } = found.rows[0]
  const none = { status: undefined, vendor_id: undefined }
  await lists.reads(listOrders, none, { expected: 10 })
  await lists.reads(listOrders, none, { expected: 5, page: DEEP, pagesMax: 600 })
  for (const status of ['draft', 'ordered'] as const) {
    await lists.reads(listOrders, { ...none, status }, { expected: 10 })
  }
  await lists.reads(listOrders, { ...none, status: 'cancelled' }, { expected: 0 })
  for (const vendor_id of [rare, often]) {
    await lists.reads(listOrders, { ...none, vendor_id }, { expected: 10 })
  }
  await lists.reads(listOrders, { ...none, vendor_id: NO_ID }, { expected: 0 })
  await lists.reads(listOrders, { status: 'ordered', vendor_id: rare }, { expected: 10 })
  await lists.reads(listReceipts, received, { expected: 10 })
  await lists.reads(listReceipts, NO_ID, { expected: 0 })
})

test('a list of counts, costs and discrepancies reads few pages', async (t) => {
  const lists = await openListPlans(t, async (admin) => void (await admin.query(SEED)))
  const found = await lists.admin.query(`select variant_id from inventory_cost_entries limit 1`)
  await lists.reads(listCostEntries, found.rows[0].variant_id as string, { expected: 10 })
  await lists.reads(listCostEntries, NO_ID, { expected: 0 })
  await lists.reads(listCounts, { status: undefined }, { expected: 10 })
  for (const status of ['open', 'posted'] as const) {
    await lists.reads(listCounts, { status }, { expected: 10 })
  }
  await lists.reads(listCounts, { status: 'cancelled' }, { expected: 0 })
  const all = (db: Parameters<typeof listDiscrepancies>[0], _: null, page: never) =>
    listDiscrepancies(db, page)
  await lists.reads(all as never, null, { expected: 10 })
})

/** Every order has one unit to pack: one in four hundred at a location of its own. */
const WORK = `
  insert into orders (tenant_ref, id, order_number, customer_ref, status, payment_status,
                      fulfillment_status, subtotal_cents, discount_cents, shipping_cents, tax_cents,
                      total_cents, currency, idempotency_key, pricing, has_work, created_at)
  select '${BIG}', ('01a1e888-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, n, 'c', 'placed',
         'paid', 'unfulfilled', 0, 0, 0, 0, 0, 'EUR', n, '{}', true,
         timestamptz '2026-01-01' + n * interval '1 minute'
    from generate_series(1, ${MANY}) n;
  insert into order_items (tenant_ref, id, order_id, product_id, variant_id, product_name, sku,
                           quantity, original_quantity, unit_price_cents, list_price_cents,
                           line_total_cents, position)
  select tenant_ref, gen_random_uuid(), id, id, id, 'Cup', 'cup', 1, 1, 0, 0, 0, 1 from orders;
  insert into inventory_reservations (tenant_ref, order_id, variant_id, location_id, allocated)
  select tenant_ref, id, id, case when order_number % 400 = 7 then 'rare'
                                  when order_number % 2 = 0 then 'often' else 'default' end, 1
    from orders`

test('the pick queue reads few pages, of all locations, of one with many orders and of one with few', async (t) => {
  const lists = await openListPlans(t, async (admin) => void (await admin.query(WORK)))
  await lists.reads(listWithWork, { location_id: undefined }, { expected: 10, pagesMax: 200 })
  await lists.reads(listWithWork, { location_id: 'rare' }, { expected: 10, pagesMax: 300 })
  await lists.reads(listWithWork, { location_id: 'nowhere' }, { expected: 0, pagesMax: 50 })
  // The count reads the units of each order, of at most a thousand orders.
  await lists.reads(listWithWork, { location_id: 'often' }, { expected: 10, pagesMax: 5_000 })
  await lists.reads(listWithWork, { location_id: 'default' }, { expected: 10, pagesMax: 20_000 })
})

/** One variant has all movements of a large store. */
const DEMAND = `
  insert into products (tenant_ref, slug, name) values ('${BIG}', 'p', 'P');
  insert into inventory_locations (tenant_ref, id, name) values ('${BIG}', 'default', 'Default');
  insert into variants (tenant_ref, product_id, sku, price_cents, currency)
  select '${BIG}', id, 'sku-' || n, 1, 'USD' from products, generate_series(1, ${MANY}) n;
  insert into inventory_settings (tenant_ref, variant_id, track_inventory)
  select '${BIG}', id, true from variants;
  insert into inventory_levels (tenant_ref, variant_id, location_id)
  select '${BIG}', id, 'default' from variants;
  insert into inventory_movements (tenant_ref, variant_id, location_id, kind, quantity,
                                   on_hand_after, allocated_after, actor, created_at)
  select '${BIG}', v.id, 'default', 'allocated', 1, 0, 1, 'x', now() - n * interval '1 second'
    from (select min(id::text)::uuid as id from variants) v, generate_series(1, ${MANY}) n`

test('suggestions look at a bounded part of a store with many variants and movements', async (t) => {
  const database = await openTestDatabase(t)
  const admin = await database.openAdmin()
  await admin.query(`insert into stores (tenant_ref, display_name) values ('${BIG}', 'Big')`)
  await admin.query('set session_replication_role = replica')
  await admin.query(DEMAND)
  await admin.query('vacuum analyze')
  const readPages = await openPagesRead(database)
  const slice = { after: null, variants: 200, days: 28, movements: 200 }
  // About a dozen for each of 200 variants: its row, level, movements and vendor.
  await readPages('suggestions', (db) => listDemand(db, slice), 4_000)
})
