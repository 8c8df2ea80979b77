import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Filters, list } from '../../../src/modules/customers/service.ts'
import { openTestDatabase } from '../../harness/database.ts'
import { BIG, MANY, openPagesRead } from '../../harness/list-pages.ts'

/** A search of the five ways looks a thousand customers up, and no more in a bigger store. */
const SEARCH_MAX = 5_000

const page = { limit: 25, offset: 0 }

test('a list of customers reads few pages, and a search finds the beginnings in all of them', async (t) => {
  const database = await openTestDatabase(t)
  const admin = await database.openAdmin()
  await admin.query(`insert into stores (tenant_ref, display_name) values ('${BIG}', 'Big')`)
  await admin.query(`
    insert into customers (tenant_ref, ref_hash, customer_ref, email, email_folded, name,
                           first_seen_at)
    select '${BIG}', sha256(convert_to(n::text, 'UTF8')), 'Ref-' || n, n || '@Example.com',
           n || '@example.com', case when n % 400 = 7 then 'Ann Ürban' else 'Name of ' || n end,
           timestamptz '2026-01-01' + n * interval '1 minute'
      from generate_series(1, ${MANY}) n`)
  await admin.query('vacuum analyze customers')
  const readPages = await openPagesRead(database)
  const read = (filters: Filters, atMost?: number) =>
    readPages(JSON.stringify(filters), (db) => list(db, filters, page), atMost)
  await read({})
  await read({ sort: 'oldest' })
  for (const q of ['nothing', '%', 'ref-777']) await read({ q })
  for (const q of ['ann', 'ürb', '7@ex', 'ref', 'name']) await read({ q }, SEARCH_MAX)
  const db = database.open('fd_app').tenant(BIG)
  const found = async (q: string) => (await list(db, { q, sort: 'oldest' }, page)).customers[0]
  for (const q of ['ref-1', 'NAME OF 1', '1@EXAMPLE.com']) {
    assert.equal((await found(q))?.customer_ref, 'Ref-1', `the oldest customer by ${q}`)
  }
  assert.equal((await found('ÜRBAN'))?.customer_ref, 'Ref-7', 'by the last name')
  assert.equal((await found('f-19999'))?.customer_ref, 'Ref-19999', 'a new one by any part')
})
