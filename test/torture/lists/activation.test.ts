import { test } from 'node:test'
import * as queries from '../../../src/modules/catalog/activation-queries.ts'
import { MANY, openListPlans } from '../../harness/list-pages.ts'

test('a page of the activation requests of all stores reads few pages', async (t) => {
  const lists = await openListPlans(t, async (admin) => {
    await admin.query(`
      with made as (
        insert into products (tenant_ref, slug, name, status)
        select 'big', 'draft-' || n, 'Draft', 'draft' from generate_series(1, ${MANY}) n
        returning id, slug)
      insert into activation_requests (tenant_ref, product_id, status, requested_by, created_at,
                                       decided_at)
      select 'big', made.id, case when n <= 5 then 'pending' else 'declined' end, 'a',
             timestamptz '2026-01-01' + n * interval '1 s', case when n > 5 then now() end
        from made cross join lateral (select split_part(made.slug, '-', 2)::integer as n) each`)
  })
  const deep = { limit: 10, offset: MANY - 5 }
  lists.as('fd_operator')
  await lists.reads(queries.listAllRequests, undefined, { expected: 10 })
  await lists.reads(queries.listAllRequests, undefined, { expected: 5, page: deep, pagesMax: 400 })
  await lists.reads(queries.listAllRequests, 'declined', { expected: 10 })
  await lists.reads(queries.listAllRequests, 'pending', { expected: 5 })
  await lists.reads(queries.listAllRequests, 'approved', { expected: 0 })
})
