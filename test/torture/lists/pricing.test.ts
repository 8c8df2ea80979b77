import { test } from 'node:test'
import type { Db } from '../../../src/db/database.ts'
import type { Page } from '../../../src/kernel/page.ts'
import { listCollections } from '../../../src/modules/catalog/collection-queries.ts'
import * as queries from '../../../src/modules/pricing/queries.ts'
import { MANY, openListPlans } from '../../harness/list-pages.ts'

const GROUP = '00000000-0000-4000-8000-000000000001'
const DEEP = { limit: 10, offset: MANY - 5 }

test('a page of groups, members, prices or collections reads few pages', async (t) => {
  const lists = await openListPlans(t, async (admin) => {
    await admin.query(`
      insert into pricing_groups (tenant_ref, id, name) values ('big', '${GROUP}', 'One');
      insert into pricing_groups (tenant_ref, name)
      select 'big', 'Group ' || n from generate_series(2, ${MANY}) n;
      insert into pricing_group_members (tenant_ref, group_id, customer_ref)
      select 'big', '${GROUP}', 'customer-' || n from generate_series(1, ${MANY}) n;
      insert into pricing_group_members (tenant_ref, group_id, customer_ref)
      select 'big', id, 'customer-of-one' from pricing_groups;
      insert into products (tenant_ref, slug, name) values ('big', 'p', 'P');
      insert into variants (tenant_ref, product_id, sku, price_cents, currency)
      select 'big', id, 'sku-' || n, 1, 'USD' from products, generate_series(1, 20) n;
      insert into pricing_group_prices (tenant_ref, group_id, variant_id, min_quantity, price_cents)
      select 'big', '${GROUP}', id, n, 1 from variants, generate_series(1, ${MANY} / 20) n;
      insert into collections (tenant_ref, slug, title, position)
      select 'big', 'slug-' || n, 'Title', n % 100 from generate_series(1, ${MANY}) n`)
  })
  const groups = (db: Db, _: null, page: Page) => queries.listGroups(db, page)
  const collections = (db: Db, _: null, page: Page) => listCollections(db, page)
  const members = (db: Db, _: null, page: Page) => queries.listMembers(db, GROUP, page)
  const prices = (db: Db, _: null, page: Page) => queries.listPrices(db, GROUP, page)
  for (const list of [groups, members, prices, collections]) {
    await lists.reads(list, null, { expected: 10 })
    await lists.reads(list, null, { expected: list === members ? 6 : 5, page: DEEP, pagesMax: 600 })
  }
})
