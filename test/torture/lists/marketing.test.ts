import { test } from 'node:test'
import { CAMPAIGN_STATUSES, RECIPIENT_STATES } from '../../../src/modules/campaigns/schema.ts'
import * as campaigns from '../../../src/modules/campaigns/service.ts'
import { COUPON_STATUSES } from '../../../src/modules/marketing/schema.ts'
import { list, listCodes, listRedemptions } from '../../../src/modules/marketing/service.ts'
import { openTestDatabase } from '../../harness/database.ts'
import { BIG, MANY, openPagesRead } from '../../harness/list-pages.ts'

const page = { limit: 25, offset: 0 }
const COUPON = '00000000-0000-4000-8000-000000000007'
const CAMPAIGN = '00000000-0000-4000-8000-000000000008'

test('lists of coupons, codes and redemptions read few pages, whatever they find', async (t) => {
  const database = await openTestDatabase(t)
  const admin = await database.openAdmin()
  await admin.query(`insert into stores (tenant_ref, display_name) values ('${BIG}', 'Big')`)
  await admin.query(`
    insert into coupons (tenant_ref, id, code, type, status, created_at)
    select '${BIG}', case when n = 1 then '${COUPON}' else gen_random_uuid() end, n,
           'free_shipping', case when n % 400 = 7 then 'draft' else 'active' end,
           now() - n * interval '1 minute'
      from generate_series(1, ${MANY}) n`)
  await admin.query(`
    insert into coupon_codes (tenant_ref, coupon_id, code, folded, single_use, created_at)
    select '${BIG}', '${COUPON}', n, n, true, now() + n * interval '1 minute'
      from generate_series(1, ${MANY}) n`)
  await admin.query(`
    insert into coupon_redemptions (tenant_ref, order_id, coupon_id, customer_ref, created_at)
    select '${BIG}', gen_random_uuid(), '${COUPON}', 'ann', now() + n * interval '1 minute'
      from generate_series(1, ${MANY}) n`)
  await admin.query('vacuum analyze coupons, coupon_codes, coupon_redemptions')
  const readPages = await openPagesRead(database)
  const readCoupons = async (what: string) => {
    for (const status of [undefined, ...COUPON_STATUSES]) {
      const filters = { status, campaign_id: undefined }
      await readPages(`coupons ${what} ${status}`, (db) => list(db, filters, page))
    }
  }
  await readCoupons('mostly active')
  await readPages('codes', (db) => listCodes(db, COUPON, page))
  await readPages('redemptions', (db) => listRedemptions(db, COUPON, page))

  for (const [what, change] of [
    ['mostly exhausted', 'usage_limit = 1, used_count = 1'],
    ['mostly expired', `ends_at = now() - interval '1 day'`],
  ]) {
    await admin.query(`update coupons set ${change} where code::int % 400 <> 3`)
    await admin.query('vacuum full analyze coupons')
    await readCoupons(`${what}`)
  }
})

test('lists of campaigns and recipients read few pages, whatever they find', async (t) => {
  const database = await openTestDatabase(t)
  const admin = await database.openAdmin()
  await admin.query(`insert into stores (tenant_ref, display_name) values ('${BIG}', 'Big')`)
  await admin.query(`insert into usage_limits (limit_key, max) values ('campaigns', 100000000)
                         on conflict (limit_key, tier) do update set max = excluded.max`)
  await admin.query(`
    insert into campaigns (tenant_ref, id, name, channel, status, starts_at, created_at)
    select '${BIG}', case when n = 1 then '${CAMPAIGN}' else gen_random_uuid() end, n,
           case when n % 400 = 7 then 'social' else 'email' end,
           case when n % 400 = 9 then 'active' else 'ended' end, now(),
           now() - n * interval '1 minute'
      from generate_series(1, ${MANY}) n`)
  await admin.query(`
    insert into campaign_recipients (tenant_ref, campaign_id, email, email_folded, state, sent_at,
                                     next_attempt_at)
    select '${BIG}', '${CAMPAIGN}', n, n, state, case when state = 'sent' then now() end,
           case when state = 'queued' then now() end
      from (select n, case n % 400 when 5 then 'unknown' when 8 then 'queued' else 'sent' end as state
              from generate_series(1, ${MANY}) n) as r`)
  await admin.query('vacuum analyze campaigns, campaign_recipients')
  const readPages = await openPagesRead(database)
  for (const status of [undefined, ...CAMPAIGN_STATUSES]) {
    for (const channel of [undefined, 'social', 'email']) {
      const filters = { status, channel }
      await readPages(`campaigns ${status} ${channel}`, (db) => campaigns.list(db, filters, page))
    }
  }
  for (const state of [undefined, ...RECIPIENT_STATES]) {
    const filters = { id: CAMPAIGN, state }
    await readPages(`recipients ${state}`, (db) => campaigns.listRecipients(db, filters, page))
  }
})
