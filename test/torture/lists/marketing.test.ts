import { test } from 'node:test'
import { COUPON_STATUSES } from '../../../src/modules/marketing/schema.ts'
import { list, listCodes, listRedemptions } from '../../../src/modules/marketing/service.ts'
import { openTestDatabase } from '../../harness/database.ts'
import { BIG, MANY, openPagesRead } from '../../harness/list-pages.ts'

const page = { limit: 25, offset: 0 }
const COUPON = '00000000-0000-4000-8000-000000000007'

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
      await readPages(`coupons ${what} ${status}`, (db) => list(db, status, page))
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
