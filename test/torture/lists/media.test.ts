import { test } from 'node:test'
import { listAssets } from '../../../src/modules/media/queries.ts'
import { MANY, openListPlans } from '../../harness/list-pages.ts'

test('a page of assets reads few pages, by every filter and however deep', async (t) => {
  const lists = await openListPlans(t, async (admin) => {
    await admin.query(`
      insert into assets (tenant_ref, sha256, extension, content_type, bytes, stored_at, created_at,
                          is_used)
      select 'big', encode(sha256(n::text::bytea), 'hex'), 'png',
             case when n <= 5 then 'image/gif' else 'image/png' end, 1, now(),
             timestamptz '2026-01-01' + n * interval '1 s', n > 3
        from generate_series(1, ${MANY}) n;
      insert into asset_refs (tenant_ref, sha256, owner_kind, owner_id)
      select 'big', sha256, 'product', '1' from assets where created_at > '2026-01-01 00:00:03'`)
  })
  const all = { unused: false }
  await lists.reads(listAssets, all, { expected: 10 })
  const deep = { limit: 10, offset: MANY - 5 }
  await lists.reads(listAssets, all, { expected: 5, page: deep, pagesMax: 600 })
  await lists.reads(listAssets, { ...all, content_type: 'image/png' }, { expected: 10 })
  await lists.reads(listAssets, { ...all, content_type: 'image/gif' }, { expected: 5 })
  await lists.reads(listAssets, { ...all, content_type: 'image/webp' }, { expected: 0 })
  await lists.reads(listAssets, { unused: true }, { expected: 3 })
})
