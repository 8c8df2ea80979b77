import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type pg from 'pg'
import { sql } from '../../../src/db/sql.ts'
import { openTestDatabase, type TestDatabase } from '../../harness/database.ts'
import { suiteScope } from '../../harness/scope.ts'

const PRODUCTS = 3_000

let database: TestDatabase
let admin: pg.Client

const scope = suiteScope()
before(async () => {
  database = await openTestDatabase(scope)
  admin = await database.openAdmin()
  await admin.query(`
    insert into stores (tenant_ref, display_name, status)
    select 'store-' || n, 'Store', 'live' from generate_series(1, 3) n`)
  await admin.query(`
    insert into products (tenant_ref, slug, name)
    select 'store-' || (1 + n % 3), 'p' || n, 'Lamp ' || md5(n::text)
      from generate_series(1, ${PRODUCTS}) n`)
  await admin.query(`
    insert into search_words (tenant_ref, word)
    select 'store-1', translate(md5(n::text), '0123456789', 'ghijklmnop')
      from generate_series(1, ${PRODUCTS}) n`)
  await admin.query('vacuum analyze product_search, search_words')
})

/** The plans of the statements within a call, as the server logged them. */
async function plansOf(q: string, collection: string | null = null): Promise<string> {
  const plans: string[] = []
  const note = ({ message }: { message?: string | undefined }) => plans.push(message ?? '')
  admin.on('notice', note)
  await admin.query(`
    load 'auto_explain';
    set auto_explain.log_min_duration = 0;
    set auto_explain.log_nested_statements = on;
    set auto_explain.log_analyze = on;
    set client_min_messages = log;
    set role fd_app;
    set app.tenant = 'store-1'`)
  try {
    await admin.query(`select * from fd_search_products($1, null, null, $2, 'relevance', 20, 0)`, [
      q,
      collection,
    ])
  } finally {
    await admin.query('reset all')
    await admin.query('reset role')
    admin.off('notice', note)
  }
  return plans.join('\n')
}

const lineOf = (plan: string, pattern: RegExp) =>
  plan.split('\n').find((line) => pattern.test(line)) ?? ''

describe('the search function', () => {
  test('finds words by their index, and looks no further once some are found', async () => {
    const plan = await plansOf('lamp')
    assert.match(lineOf(plan, /Bitmap Index Scan on product_search_words/), /rows=1000/)
    assert.match(lineOf(plan, /Bitmap Index Scan on product_search_names/), /never executed/)
    assert.doesNotMatch(plan, /search_words_(alike|pkey) .*actual time/)
    assert.doesNotMatch(plan, /Seq Scan on product_search/)
  })

  test('finds the words that a mistyped one may stand for by their indexes', async () => {
    const plan = await plansOf('lmap')
    assert.match(plan, /Index Scan on search_words_alike .*actual time/)
    assert.match(plan, /search_words_pkey/)
    assert.match(plan, /Bitmap Index Scan on product_search_words .*rows=1000/)
    assert.doesNotMatch(plan, /Seq Scan on (product_search|search_words)/)
  })

  test('finds the compounds of a word by their index', async () => {
    await admin.query(`update stores set language = 'de' where tenant_ref = 'store-1'`)
    const plan = await plansOf('lamp')
    await admin.query(`update stores set language = 'en' where tenant_ref = 'store-1'`)
    const alike = /Index Scan on search_words_alike .*actual time.*\n +Index Cond: .*word ~~ /
    assert.match(plan, alike)
    assert.match(lineOf(plan, /Bitmap Index Scan on product_search_words/), /rows=1000/)
    assert.doesNotMatch(plan, /Seq Scan on (product_search|search_words)/)
  })

  test('finds a part of a word by its index', async () => {
    const plan = await plansOf('0123456789')
    assert.match(lineOf(plan, /Bitmap Index Scan on product_search_names .*rows=0/), /actual time/)
    assert.doesNotMatch(plan, /Seq Scan on (product_search|search_words)/)
  })

  test('without words finds the products of a collection by their index', async () => {
    await admin.query(`
      insert into collections (tenant_ref, slug, title)
      select 'store-1', 'c' || n, 'Some' from generate_series(1, 100) n`)
    await admin.query(`
      insert into collection_products (tenant_ref, collection_id, product_id, position)
      select c.tenant_ref, c.id, p.id, p.place
        from collections c
        join (select id, row_number() over () as place from products where tenant_ref = 'store-1') p
          on 'c' || p.place / 10 = c.slug`)
    await admin.query('analyze collection_products, collections')
    const plan = await plansOf('', 'c7')
    assert.match(lineOf(plan, /Scan .*collection_products_\w+ .*rows=10/), /Index/)
    assert.match(lineOf(plan, /Scan using product_search_pkey on product_search/), /loops=10/)
    assert.doesNotMatch(plan, /Bitmap Index Scan on product_search_\w+ .*actual time.*rows=[1-9]/)
    assert.doesNotMatch(plan, /Seq Scan on (product_search|search_words) .*actual time/)
  })

  test('reads the words of its own store alone from the index', async () => {
    const { rows } = await admin.query<{ n: number }>(`
      select count(*)::int as n from product_search, stores
       where stores.tenant_ref = 'store-1'
         and words @@ fd_search_query('store-1', store_number, 'english', 'l', false)`)
    assert.deepEqual(rows, [{ n: PRODUCTS / 3 }])
  })

  test('raises without a tenant', async () => {
    const app = database.open('fd_app')
    const call = sql`select fd_search_products('lamp', null, null, null, 'newest', 20, 0)`
    await assert.rejects(app.directory.run(call), { code: 'FD001' })
  })
})

describe('its owner', () => {
  test('can read the search rows, and of other tables what searches need', async () => {
    const { rows } = await admin.query<{ name: string; columns: string }>(`
      select c.relname as name, string_agg(a.attname, ' ' order by a.attnum) as columns
        from pg_class c
        join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
       where c.relkind in ('r', 'p', 'v', 'm') and c.relnamespace = 'public'::regnamespace
         and has_column_privilege('fd_search', c.oid, a.attnum, 'select')
       group by c.relname order by c.relname`)
    assert.deepEqual(rows, [
      {
        name: 'collection_products',
        columns: 'tenant_ref collection_id product_id position on_sale',
      },
      { name: 'collections', columns: 'tenant_ref id slug title title_words' },
      {
        name: 'product_search',
        columns: 'tenant_ref product_id created_at price_cents collections names head words',
      },
      { name: 'products', columns: 'tenant_ref id slug name status created_at' },
      { name: 'search_words', columns: 'tenant_ref word' },
      { name: 'stores', columns: 'tenant_ref store_number status language' },
      { name: 'variants', columns: 'tenant_ref product_id sku' },
    ])
  })

  test('can write nothing but words, cannot log in and does not bypass row level security', async () => {
    const { rows: writable } = await admin.query(`
      select relname from pg_class
       where relkind in ('r', 'p', 'v', 'm', 'S') and relnamespace = 'public'::regnamespace
         and case when relkind = 'S' then has_sequence_privilege('fd_search', oid, 'usage, update')
                  else has_table_privilege('fd_search', oid, 'insert, update, delete, truncate') end`)
    assert.deepEqual(writable, [{ relname: 'search_words' }], 'it forgets words of no product')
    const { rows: role } = await admin.query(`
      select rolcanlogin, rolbypassrls, rolsuper from pg_roles where rolname = 'fd_search'`)
    assert.deepEqual(role, [{ rolcanlogin: false, rolbypassrls: false, rolsuper: false }])
  })

  test('the search function can be called by its owner and the role of the app alone', async () => {
    const { rows } = await admin.query<{ name: string }>(`
      select r.rolname as name from pg_roles r
       where r.rolname like 'fd\\_%'
         and has_function_privilege(r.oid,
           'fd_search_products(text, bigint, bigint, text, text, integer, integer)', 'execute')
       order by 1`)
    assert.deepEqual(
      rows.map(({ name }) => name),
      ['fd_app', 'fd_owner', 'fd_search'],
    )
  })
})
