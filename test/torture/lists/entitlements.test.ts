import { test } from 'node:test'
import type { Db } from '../../../src/db/database.ts'
import type { Page } from '../../../src/kernel/page.ts'
import * as queries from '../../../src/modules/entitlements/queries.ts'
import { MANY, openListPlans } from '../../harness/list-pages.ts'

test('a page of requests reads few pages, of one store and of all', async (t) => {
  const lists = await openListPlans(t, async (admin) => {
    await admin.query(`
      insert into entitlement_requests (tenant_ref, feature_key, status, requested_by, created_at)
      select 'big', 'feature-' || n, case when n <= 5 then 'pending' else 'withdrawn' end, 'a',
             timestamptz '2026-01-01' + n * interval '1 s'
        from generate_series(1, ${MANY}) n`)
  })
  const ofStore = (db: Db, _filters: undefined, page: Page) => queries.listRequests(db, page)
  const deep = { limit: 10, offset: MANY - 5 }
  lists.as('fd_app')
  await lists.reads(ofStore, undefined, { expected: 10 })
  await lists.reads(ofStore, undefined, { expected: 5, page: deep, pagesMax: 400 })
  lists.as('fd_operator')
  await lists.reads(queries.listAllRequests, undefined, { expected: 10 })
  await lists.reads(queries.listAllRequests, undefined, { expected: 5, page: deep, pagesMax: 400 })
  await lists.reads(queries.listAllRequests, 'withdrawn', { expected: 10 })
  await lists.reads(queries.listAllRequests, 'pending', { expected: 5 })
  await lists.reads(queries.listAllRequests, 'approved', { expected: 0 })
})
