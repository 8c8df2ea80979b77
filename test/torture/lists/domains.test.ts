import { test } from 'node:test'
import { listDomains } from '../../../src/modules/domains/queries.ts'
import { MANY, openListPlans } from '../../harness/list-pages.ts'

test('a page of domains reads few pages, also after many were removed', async (t) => {
  const lists = await openListPlans(t, async (admin) => {
    await admin.query(`
      insert into domains (tenant_ref, hostname, verification_value, status, removed_at,
                           next_check_at, created_at)
      select 'big', 'h' || n || '.example', repeat('v', 20),
             case when n <= 5 then 'pending_verification' else 'removed' end,
             case when n > 5 then now() end, null, timestamptz '2026-01-01' + n * interval '1 s'
        from generate_series(1, ${MANY}) n`)
  })
  await lists.reads(listDomains, undefined, { expected: 5 })
  await lists.reads(listDomains, 'removed', { expected: 10 })
  const deep = { limit: 10, offset: MANY - 10 }
  await lists.reads(listDomains, 'removed', { expected: 5, page: deep, pagesMax: 400 })
  await lists.reads(listDomains, 'pending_verification', { expected: 5 })
  await lists.reads(listDomains, 'active', { expected: 0 })
})
