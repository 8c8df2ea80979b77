import { test } from 'node:test'
import { listEvents } from '../../../src/modules/provider-events/event-queries.ts'
import { listAccounts } from '../../../src/modules/provider-events/queries.ts'
import { MANY, openListPlans } from '../../harness/list-pages.ts'

const DEEP = { limit: 10, offset: MANY - 5 }

test('a page of gateway accounts reads few pages, by every filter and however deep', async (t) => {
  const lists = await openListPlans(t, async (admin) => {
    await admin.query(`
      insert into gateway_accounts (tenant_ref, provider, account_ref, scheme, signing_key)
      select 'big', case when n <= 5 then 'rare' else 'often' end, 'account-' || n, 'nmi', '\\x00'
        from generate_series(1, ${MANY}) n`)
  })
  lists.as('fd_operator')
  await lists.reads(listAccounts, {}, { expected: 10 })
  await lists.reads(listAccounts, {}, { expected: 5, page: DEEP, pagesMax: 600 })
  await lists.reads(listAccounts, { provider: 'often' }, { expected: 10 })
  await lists.reads(listAccounts, { provider: 'rare' }, { expected: 5 })
  await lists.reads(listAccounts, { provider: 'none' }, { expected: 0 })
  await lists.reads(listAccounts, { account_ref: 'account-7' }, { expected: 1 })
  await lists.reads(listAccounts, { account_ref: 'none' }, { expected: 0 })
  await lists.reads(listAccounts, { tenant_ref: 'big' }, { expected: 10, pagesMax: 400 })
  await lists.reads(listAccounts, { tenant_ref: 'none' }, { expected: 0 })
})

test('a page of gateway events reads few pages, by every filter and however deep', async (t) => {
  const lists = await openListPlans(t, async (admin) => {
    await admin.query(`
      insert into gateway_accounts (tenant_ref, provider, account_ref, scheme, signing_key)
      select 'big', case when n = 1 then 'rare' else 'often' end, 'account-' || n, 'nmi', '\\x00'
        from generate_series(1, 5) n;
      insert into gateway_events (tenant_ref, provider, account_ref, event_id, scheme, status,
                                  headers, received_at)
      select 'big', case when n <= 3 then 'rare' else 'often' end,
             'account-' || case when n <= 3 then 1 when n <= 7 then 2 else 3 + n % 3 end,
             'event-' || n, 'nmi', case when n <= 6 then 'unhandled' else 'applied' end, '{}',
             timestamptz '2026-01-01' + n * interval '1 s'
        from generate_series(1, ${MANY}) n`)
  })
  lists.as('fd_operator')
  await lists.reads(listEvents, {}, { expected: 10 })
  await lists.reads(listEvents, {}, { expected: 5, page: DEEP, pagesMax: 600 })
  await lists.reads(listEvents, { provider: 'often' }, { expected: 10, pagesMax: 600 })
  await lists.reads(listEvents, { provider: 'rare' }, { expected: 3 })
  await lists.reads(listEvents, { provider: 'none' }, { expected: 0 })
  await lists.reads(listEvents, { account_ref: 'account-3' }, { expected: 10, pagesMax: 600 })
  await lists.reads(listEvents, { account_ref: 'account-2' }, { expected: 4 })
  await lists.reads(listEvents, { account_ref: 'none' }, { expected: 0 })
  await lists.reads(listEvents, { tenant_ref: 'none' }, { expected: 0 })
  await lists.reads(listEvents, { status: 'applied' }, { expected: 10, pagesMax: 600 })
  await lists.reads(listEvents, { status: 'unhandled' }, { expected: 6 })
  await lists.reads(listEvents, { status: 'received' }, { expected: 0 })
})
