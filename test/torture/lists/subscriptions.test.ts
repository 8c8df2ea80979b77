import { test } from 'node:test'
import { HOUR_MS } from '../../../src/kernel/time.ts'
import { listCharged } from '../../../src/modules/subscriptions/forecast-queries.ts'
import { list, listMerchantCycles } from '../../../src/modules/subscriptions/read.ts'
import { STATUSES } from '../../../src/modules/subscriptions/schema.ts'
import { openTestDatabase } from '../../harness/database.ts'
import { BIG, MANY, openPagesRead } from '../../harness/list-pages.ts'

const page = { limit: 25, offset: 0 }
const BUSY = '00000000-0000-4000-8000-000000000007'

/** Each row of a page looks up its cycles about ten times, by their key. */
const PAGES_MAX = 1_300

test('lists of subscriptions and their cycles read few pages, whatever they find', async (t) => {
  const database = await openTestDatabase(t)
  const admin = await database.openAdmin()
  await admin.query(`insert into stores (tenant_ref, display_name) values ('${BIG}', 'Big')`)
  await admin.query(`
    insert into subscriptions (tenant_ref, id, subscription_number, customer_ref, product_id, variant_id,
                               quantity, interval, interval_count, unit_price_cents, currency, status,
                               origin_order_id, anchor_on, current_period_start, next_charge_at, created_at)
    select '${BIG}', case when n = 1 then '${BUSY}' else gen_random_uuid() end, n, 'c-' || n % 5000,
           gen_random_uuid(), gen_random_uuid(), 1, 'month', 1, 100, 'USD', s.status, gen_random_uuid(),
           now(), now(),
           case when s.status in ('active', 'past_due') then now() + n * interval '1 minute' end,
           now() - n * interval '1 minute'
      from generate_series(1, ${MANY}) n,
           lateral (select case when n % 400 = 7 then 'past_due' when n % 400 = 8 then 'paused'
                                when n % 3 = 0 then 'cancelled' else 'active' end as status) s`)
  await admin.query(`
    insert into subscription_cycles (tenant_ref, subscription_id, cycle, state, due_at, order_id)
    select tenant_ref, id, 1, 'paid', created_at, id from subscriptions where id <> '${BUSY}'
    union all
    select '${BIG}', '${BUSY}', n, 'paid', now(), '${BUSY}' from generate_series(1, ${MANY}) n`)
  await admin.query('vacuum analyze subscriptions, subscription_cycles')
  const readPages = await openPagesRead(database)
  const none = { status: undefined, customer_ref: undefined, due_before: undefined }
  const soon = new Date(Date.now() + HOUR_MS).toISOString()
  for (const status of [undefined, ...STATUSES]) {
    const filters = { ...none, status }
    await readPages(`${status}`, (db) => list(db, filters, page), PAGES_MAX)
    const due = { ...filters, due_before: soon }
    await readPages(`${status}, due`, (db) => list(db, due, page), PAGES_MAX)
    const late = { ...filters, due_before: '2999-01-01T00:00:00Z' }
    await readPages(`${status}, all due`, (db) => list(db, late, page), PAGES_MAX)
  }
  for (const customer_ref of ['c-7', 'nobody']) {
    const filters = { ...none, customer_ref }
    await readPages(customer_ref, (db) => list(db, filters, page), PAGES_MAX)
    const due = { ...filters, due_before: soon }
    await readPages(`${customer_ref}, due`, (db) => list(db, due, page), PAGES_MAX)
  }
  await readPages('cycles', (db) => listMerchantCycles(db, BUSY, page), PAGES_MAX)
  // An hour has sixty charges here: a forecast reads what is charged, and not what the store has.
  await admin.query(`update subscriptions set next_charge_at = next_charge_at + interval '1 year'
                      where next_charge_at > now() + interval '1 hour'`)
  await admin.query('vacuum analyze subscriptions')
  const wanted = { zone: 'UTC', from: soon.slice(0, 10), days: 1, limit: 5_000 }
  await readPages('forecast', (db) => listCharged(db, wanted), 2_000)
})
