import pg from 'pg'

export const STORE = 'bench'

export interface Size {
  /** Products of the store that is searched. */
  products: number
  /** Products of all stores. */
  total: number
  stores: number
}

/** An invented word, the same for the same number: some rare and some common, as in a language. */
const word = (seed: string) =>
  `translate(left(md5((20000 * power(abs(hashtext(${seed})) / 2147483648.0, 3))::int::text), 6),
             '0123456789', 'ghijklmnop')`

const words = (count: number, salt: string) =>
  Array.from({ length: count }, (_, i) => word(`n || '${salt}${i}'`)).join(` || ' ' || `)

/**
 * Inserts as superuser, without triggers: a million products in minutes. The store that is searched
 * gets its search words from the real function; the others only have to exist.
 */
export async function seed(url: string, { products, total, stores }: Size): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const run = (text: string) => client.query(text)
  await run('set session_replication_role = replica')
  await run(`set maintenance_work_mem = '512MB'`)
  await run(`
    insert into stores (tenant_ref, display_name, status)
    select case n when 0 then '${STORE}' else 'store-' || n end, 'Store ' || n, 'live'
      from generate_series(0, ${stores - 1}) n`)
  await run(`
    create unlogged table texts as
    select n, gen_random_uuid() as id,
           case when n <= ${products} then '${STORE}'
                else 'store-' || (1 + n % ${stores - 1}) end as tenant_ref,
           ${words(3, 'name')} || case n % 10 when 0 then ' harbour' else '' end as name,
           'Coffee ' || ${words(25, 'text')} as description
      from generate_series(1, ${total}) n`)
  await run(`
    insert into products (tenant_ref, id, slug, name, description)
    select tenant_ref, id, 'product-' || n, name, description from texts`)
  await run(`
    insert into variants (tenant_ref, product_id, sku, price_cents, currency)
    select tenant_ref, id, 'SKU-' || n, 100 + (abs(hashtext(n::text)) % 50000), 'USD' from texts`)
  await run(`
    insert into collections (tenant_ref, slug, title)
    select '${STORE}', 'collection-' || n, 'Collection ' || n from generate_series(1, 50) n`)
  const { rows } = await client.query<{ name: string; definition: string }>(`
    select indexrelid::regclass as name, pg_get_indexdef(indexrelid) as definition
      from pg_index
     where indrelid in ('product_search'::regclass, 'search_words'::regclass)
       and not indisprimary`)
  for (const { name } of rows) await run(`drop index ${name}`)
  await fillSearch(client)
  for (const { definition } of rows) await run(definition)
  await run('drop table texts')
  await run('vacuum analyze')
  await client.end()
}

async function fillSearch(client: pg.Client): Promise<void> {
  await client.query(`
    insert into product_search (tenant_ref, product_id, created_at, price_cents, names, head, words)
    select t.tenant_ref, t.id, now() - n * interval '1 second', 100 + (n % 50000), t.name,
           array_to_tsvector(array(select s.store_number || '/' || w
                                     from unnest(string_to_array(t.name, ' ')) as w)),
           array_to_tsvector(array(select s.store_number || '/' || lower(w)
                                     from unnest(string_to_array(name || ' ' || description, ' ')) as w))
      from texts t join stores s using (tenant_ref)
     where t.tenant_ref <> '${STORE}'`)
  await client.query(`
    insert into product_search (tenant_ref, product_id, created_at, collections)
    select t.tenant_ref, t.id, now() - n * interval '1 second',
           array(select c.id from collections c
                  where c.tenant_ref = '${STORE}'
                    and c.slug in ('collection-' || (1 + n % 50), 'collection-' || (1 + n % 7)))
      from texts t where t.tenant_ref = '${STORE}'`)
  await client.query(`
    select fd_search_refresh('${STORE}', array_agg(id))
      from texts where tenant_ref = '${STORE}' group by n / 5000`)
  await client.query(`
    insert into search_words (tenant_ref, word)
    select distinct s.tenant_ref, w.word
      from product_search s cross join lateral fd_search_words(s.head) as w (word)`)
}
