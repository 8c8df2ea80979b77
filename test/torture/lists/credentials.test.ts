import { test } from 'node:test'
import type { Db } from '../../../src/db/database.ts'
import type { Page } from '../../../src/kernel/page.ts'
import { listCredentials } from '../../../src/modules/credentials/queries.ts'
import { MANY, openListPlans } from '../../harness/list-pages.ts'

test('a page of keys reads few pages', async (t) => {
  const lists = await openListPlans(t, async (admin) => {
    await admin.query(`
      insert into credentials (tenant_ref, public_id, secret_hash, label, scopes, created_at)
      select 'big', lpad(n::text, 8, '0'), sha256(n::text::bytea), 'Key', '{read:own_store}',
             timestamptz '2026-01-01' + n * interval '1 s'
        from generate_series(1, ${MANY}) n`)
  })
  const list = (db: Db, _: undefined, page: Page) => listCredentials(db, page)
  await lists.reads(list, undefined, { expected: 10 })
  const deep = { limit: 10, offset: MANY - 5 }
  await lists.reads(list, undefined, { expected: 5, page: deep, pagesMax: 600 })
})
