import { test } from 'node:test'
import type { AllStores, Db } from '../../../src/db/database.ts'
import type { Page } from '../../../src/kernel/page.ts'
import { listStores, type StoreFilters } from '../../../src/modules/stores/queries.ts'
import * as audit from '../../../src/platform/audit.ts'
import { MANY, openListPlans } from '../../harness/list-pages.ts'

const DEEP = { limit: 10, offset: MANY - 5 }

test('a page of the audit log reads few pages, by every filter and however deep', async (t) => {
  const lists = await openListPlans(t, async (admin) => {
    await admin.query(`
      insert into stores (tenant_ref, display_name) values ('globex', 'Globex');
      insert into audit_log (tenant_ref, actor, action, entity, created_at)
      select ref, case when n <= 5 then 'owner:rare' else 'system' end,
             case when n <= 6 then 'rare' else 'often' end, 'store',
             timestamptz '2026-01-01' + n * interval '1 s'
        from (values ('big', ${MANY}), ('globex', 3)) as store (ref, entries),
             generate_series(1, entries) n`)
  })
  const ofStore = async (db: Db, filters: audit.AuditFilters, page: Page) => ({
    rows: (await audit.listOfStore(db, filters, page)).entries,
  })
  const ofAll = async (db: AllStores, filters: audit.AuditFilters, page: Page) => ({
    rows: (await audit.listOfAll(db, filters, page)).entries,
  })
  const read = async <D extends Db | AllStores>(
    list: (db: D, filters: audit.AuditFilters, page: Page) => Promise<{ rows: unknown[] }>,
    stores: number,
  ) => {
    await lists.reads(list, {}, { expected: 10 })
    await lists.reads(list, {}, { expected: stores === 1 ? 5 : 8, page: DEEP, pagesMax: 700 })
    await lists.reads(list, { action: 'often' }, { expected: 10 })
    await lists.reads(list, { action: 'rare' }, { expected: stores === 1 ? 6 : 9 })
    await lists.reads(list, { action: 'none' }, { expected: 0 })
    await lists.reads(list, { actor: 'system' }, { expected: 10 })
    await lists.reads(list, { actor: 'owner:rare' }, { expected: stores === 1 ? 5 : 8 })
    await lists.reads(list, { actor: 'owner:none' }, { expected: 0 })
    await lists.reads(list, { to: '2026-01-01T00:00:03Z' }, { expected: 2 * stores })
  }
  lists.as('fd_app')
  await read(ofStore, 1)
  lists.as('fd_operator')
  await read(ofAll, 2)
  await lists.reads(ofAll, { tenant_ref: 'globex' }, { expected: 3 })
  await lists.reads(ofAll, { tenant_ref: 'none' }, { expected: 0 })
})

test('a page of all stores reads few pages, by every filter and however deep', async (t) => {
  const lists = await openListPlans(t, async (admin) => {
    await admin.query(`
      insert into stores (tenant_ref, display_name, status, owner_email)
      select 'store-' || n, case when n % 5000 = 0 then 'Ümlaut 100%' else 'Name ' || n end,
             case when n % 2000 = 0 then 'live' else 'draft' end, n || '@owner.example'
        from generate_series(1, ${MANY} - 1) n`)
  })
  const list = async (db: AllStores, filters: StoreFilters, page: Page) => ({
    rows: (await listStores(db, filters, page)).stores,
  })
  lists.as('fd_operator')
  await lists.reads(list, {}, { expected: 10 })
  await lists.reads(list, {}, { expected: 5, page: DEEP, pagesMax: 600 })
  await lists.reads(list, { status: 'draft' }, { expected: 10 })
  await lists.reads(list, { status: 'live' }, { expected: 9 })
  await lists.reads(list, { status: 'suspended' }, { expected: 0 })
  await lists.reads(list, { owner_email: '7@owner.example' }, { expected: 1 })
  await lists.reads(list, { owner_email: 'no@owner.example' }, { expected: 0 })
  await lists.reads(list, { q: 'ümlaut 100%' }, { expected: 3 })
  await lists.reads(list, { q: 'nowhere' }, { expected: 0 })
  await lists.reads(list, { q: 'store' }, { expected: 10, pagesMax: 1_000 })
})
