import { test } from 'node:test'
import { listCommissions } from '../../../src/modules/affiliates/commission-queries.ts'
import { listPayouts } from '../../../src/modules/affiliates/payout-queries.ts'
import { listAffiliates } from '../../../src/modules/affiliates/queries.ts'
import { BIG, MANY, openListPlans } from '../../harness/list-pages.ts'

const DEEP = { limit: 10, offset: MANY - 5 }
const NO_ID = '00000000-0000-4000-8000-000000000009'

/** One affiliate in four hundred has applied; one commission and payout in four hundred is of a rare affiliate. */
const SEED = `
  insert into affiliates (tenant_ref, name, email, email_folded, status, commission_type, rate_bps,
                          cookie_days, approval_delay_days, payout_minimum_cents, created_at)
  select '${BIG}', 'x', n || '@x.example', n || '@x.example',
         case when n % 400 = 7 then 'applied' else 'active' end, 'percent', 1000, 30, 30, 0,
         now() - n * interval '1 minute'
    from generate_series(1, ${MANY}) n;
  insert into orders (tenant_ref, id, order_number, customer_ref, status, payment_status,
                      fulfillment_status, subtotal_cents, discount_cents, shipping_cents, tax_cents,
                      total_cents, currency, idempotency_key, pricing)
  select '${BIG}', ('01a1e888-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, n, 'c', 'placed',
         'paid', 'unfulfilled', 0, 0, 0, 0, 0, 'EUR', n, '{}'
    from generate_series(1, ${MANY}) n;
  insert into affiliate_attributions (tenant_ref, order_id, affiliate_id, code, source, touched_at,
                                      window_days, model, currency, commission_type, rate_bps,
                                      approval_delay_days, base_cents, left_cents, booked_cents)
  select o.tenant_ref, o.id, a.id, 'x', 'code', now(), 30, 'x', 'EUR', 'percent', 1000, 30, 10, 10, 1
    from orders o
    join (select max(id::text)::uuid as rare, min(id::text)::uuid as often from affiliates) e on true
    join affiliates a on a.id = case when o.order_number % 400 = 7 then e.rare else e.often end;
  insert into affiliate_commissions (tenant_ref, id, affiliate_id, order_id, type, currency, base_cents,
                                     amount_cents, status, approves_at)
  select tenant_ref, order_id, affiliate_id, order_id, 'sale', 'EUR', 10, 1,
         case when row_number() over (order by order_id) % 400 = 7 then 'approved' else 'pending' end, now()
    from affiliate_attributions;
  insert into affiliate_payouts (tenant_ref, id, affiliate_id, currency, amount_cents, created_by, status,
                                 cancelled_at, created_at)
  select tenant_ref, order_id, affiliate_id, 'EUR', 1, 'x',
         case when n % 400 = 7 then 'pending' else 'cancelled' end,
         case when n % 400 = 7 then null else now() end, now() - n * interval '1 minute'
    from (select *, row_number() over (order by order_id) as n from affiliate_attributions) as numbered`

test('a list of affiliates, commissions or payouts reads few pages, by every filter and however deep', async (t) => {
  const lists = await openListPlans(t, async (admin) => void (await admin.query(SEED)))
  const { rows } = await lists.admin.query(
    `select max(id::text)::uuid as rare, min(id::text)::uuid as often from affiliates`,
  )
  const { rare, often } = rows[0]
  const anyone = { status: undefined, email_folded: undefined }
  await lists.reads(listAffiliates, anyone, { expected: 10 })
  await lists.reads(listAffiliates, anyone, { expected: 5, page: DEEP, pagesMax: 600 })
  for (const status of ['applied', 'active'] as const) {
    await lists.reads(listAffiliates, { ...anyone, status }, { expected: 10 })
  }
  await lists.reads(listAffiliates, { ...anyone, status: 'declined' }, { expected: 0 })
  await lists.reads(listAffiliates, { ...anyone, email_folded: '5@x.example' }, { expected: 1 })
  await lists.reads(listAffiliates, { ...anyone, email_folded: 'none' }, { expected: 0 })

  const all = { affiliate_id: undefined, order_id: undefined, status: undefined }
  await lists.reads(listCommissions, all, { expected: 10 })
  for (const affiliate_id of [rare, often]) {
    await lists.reads(listCommissions, { ...all, affiliate_id }, { expected: 10 })
    await lists.reads(listPayouts, { status: undefined, affiliate_id }, { expected: 10 })
  }
  for (const status of ['pending', 'approved'] as const) {
    await lists.reads(listCommissions, { ...all, status }, { expected: 10 })
  }
  await lists.reads(listCommissions, { ...all, status: 'paid' }, { expected: 0 })
  await lists.reads(listCommissions, { ...all, order_id: NO_ID }, { expected: 0 })
  for (const status of ['pending', 'cancelled'] as const) {
    await lists.reads(listPayouts, { affiliate_id: undefined, status }, { expected: 10 })
  }
  await lists.reads(listPayouts, { affiliate_id: NO_ID, status: undefined }, { expected: 0 })
})
