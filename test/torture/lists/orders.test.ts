import { test } from 'node:test'
import { list, listHeldForReview } from '../../../src/modules/orders/read.ts'
import type { OrderFilters } from '../../../src/modules/orders/read-queries.ts'
import { openTestDatabase } from '../../harness/database.ts'
import { BIG, MANY, openPagesRead } from '../../harness/list-pages.ts'

const page = { limit: 25, offset: 0 }

/** One order in four hundred has the rare value of a column. Each has one line. */
const ORDERS = `
  insert into orders (tenant_ref, id, order_number, customer_ref, status, payment_status,
                      fulfillment_status, coupon_code, subtotal_cents, discount_cents,
                      shipping_cents, tax_cents, total_cents, currency, idempotency_key, email,
                      pricing, is_test, hold_reason, hold_at, hold_by,
                      created_at)
  select '${BIG}', gen_random_uuid(), n, case when rare then 'ann' else 'customer-' || n % 5000 end,
         case when n % 400 < 2 then 'on_hold' else 'placed' end,
         case when rare then 'failed' else 'paid' end,
         case when rare then 'unfulfilled' else 'delivered' end,
         case when rare then 'RARE' when n % 2 = 0 then 'OFTEN' end,
         0, 0, 0, 0, 0, 'EUR', n, 'c' || n || '@example.com', '{}', rare,
         case when n % 400 < 2 then case when rare_hold then 'fraud_review' else 'manual' end end,
         case when n % 400 < 2 then now() end, case when n % 400 < 2 then 'system' end,
         now() - n * interval '1 minute'
    from generate_series(1, ${MANY}) n,
         lateral (select n % 400 = 7 as rare, n % 400 = 1 as rare_hold) as which`

const LINES = `
  insert into order_items (tenant_ref, id, order_id, product_id, variant_id, product_name, sku,
                           quantity, original_quantity, unit_price_cents, list_price_cents,
                           line_total_cents, position, ordered_at)
  select tenant_ref, gen_random_uuid(), id, gen_random_uuid(), gen_random_uuid(), 'Cup',
         case when order_number % 400 = 7 then 'rare' else 'often' end, 1, 1, 0, 0, 0, 1,
         created_at
    from orders`

test('a list of orders reads few pages, whatever its filter finds', async (t) => {
  const database = await openTestDatabase(t)
  const admin = await database.openAdmin()
  await admin.query(`insert into stores (tenant_ref, display_name) values ('${BIG}', 'Big')`)
  await admin.query(ORDERS)
  await admin.query(LINES)
  await admin.query('vacuum analyze orders, order_items')
  const readPages = await openPagesRead(database)
  const filters: OrderFilters[] = [
    {},
    ...['placed', 'on_hold', 'refunded'].map((status) => ({ status })),
    ...['paid', 'failed', 'voided'].map((payment_status) => ({ payment_status })),
    ...['delivered', 'unfulfilled', 'shipped'].map((fulfillment_status) => ({
      fulfillment_status,
    })),
    ...[true, false].map((is_test) => ({ is_test })),
    ...['OFTEN', 'RARE', 'NEVER'].map((coupon_code) => ({ coupon_code })),
    ...['often', 'rare', 'never'].map((sku) => ({ sku })),
    { sku: 'often', status: 'on_hold' },
    { sku: 'rare', is_test: true },
    { sku: 'rare', status: 'placed' },
    { sku: 'never', status: 'placed' },
    { sku: 'rare', q: 'ra' },
    ...['customer-7', 'ann', 'bob'].map((customer_ref) => ({ customer_ref })),
    ...['customer-123', 'ann', 'c12@', 'nothing', '77', 'ra'].map((q) => ({ q })),
    { created_from: '2020-01-01T00:00:00Z' },
    { created_to: '2020-01-01T00:00:00Z' },
  ]
  for (const each of filters) {
    await readPages(JSON.stringify(each), (db) => list(db, each, page))
  }
  await readPages('held for review', (db) => listHeldForReview(db, page))
})
