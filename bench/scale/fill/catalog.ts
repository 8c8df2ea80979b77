import type { Step } from './plan.ts'

const words = (count: number, salt: string) =>
  Array.from({ length: count }, (_, i) => `scale.word(n || '${salt}${i}')`).join(` || ' ' || `)

/** Products whose search row is made by one call: as many as the platform's own loop handles at once. */
const SEARCH_BATCH = 500

/**
 * Products of one variant each, with images, collections, price lists and search words. The stock of every tenth
 * is low, see `stock.ts`.
 */
export const CATALOG_STEPS: readonly Step[] = [
  [
    'products',
    `
    insert into products (tenant_ref, id, slug, name, description, status, created_at, updated_at)
    select tenant_ref, scale.id('product', tenant_ref, n), 'product-' || n,
           ${words(3, 'name')} || case n % 10 when 0 then ' harbour' else '' end,
           'Coffee ' || ${words(25, 'text')},
           case n % 20 when 18 then 'draft' when 19 then 'archived' else 'active' end, s.at, s.at
      from scale.plan p
     cross join lateral generate_series(1, p.products) as n
     cross join lateral (
       select now() - interval '380 days' + n * (interval '300 days' / p.products) as at) s;
    insert into activation_requests (tenant_ref, id, product_id, status, requested_by, decided_at)
    select tenant_ref, scale.id('activation', tenant_ref, n), scale.id('product', tenant_ref, n),
           case n % 40 when 18 then 'pending' else 'declined' end, 'merchant_key:scale',
           case n % 40 when 18 then null else now() end
      from scale.plan p, generate_series(18, p.products, 20) as n;
    insert into variants (tenant_ref, id, product_id, sku, price_cents, currency, created_at, updated_at,
                          is_low)
    select tenant_ref, scale.id('variant', tenant_ref, n), scale.id('product', tenant_ref, n),
           'SKU-' || n, scale.price(n), 'USD', now() - interval '380 days', now(), n % 10 = 0
      from scale.plan p, generate_series(1, p.products) as n`,
  ],
  [
    'collections',
    `
    insert into collections (tenant_ref, id, slug, title, position)
    select tenant_ref, scale.id('collection', tenant_ref, n), 'collection-' || n, 'Collection ' || n, n
      from scale.plan, generate_series(0, 19) as n;
    insert into collection_products (tenant_ref, collection_id, product_id, position, on_sale)
    select tenant_ref, scale.id('collection', tenant_ref, n % 20),
           scale.id('product', tenant_ref, n), n / 20, n % 20 not in (18, 19)
      from scale.plan p, generate_series(1, p.products) as n`,
  ],
  [
    'price lists',
    `
    insert into pricing_groups (tenant_ref, id, name, adjustment_bps)
    select tenant_ref, scale.id('price list', tenant_ref, n), 'Price list ' || n, 9000
      from scale.plan, generate_series(1, 3) as n;
    insert into pricing_group_members (tenant_ref, group_id, customer_ref)
    select tenant_ref, scale.id('price list', tenant_ref, 1), 'customer-' || n
      from scale.plan p, generate_series(1, p.customers, 10) as n;
    insert into pricing_group_prices (tenant_ref, group_id, variant_id, min_quantity, price_cents)
    select tenant_ref, scale.id('price list', tenant_ref, 1), scale.id('variant', tenant_ref, n), 10,
           scale.price(n) - 100
      from scale.plan p, generate_series(1, p.products) as n`,
  ],
  [
    'images',
    `
    insert into assets (tenant_ref, id, sha256, extension, content_type, bytes, width, height,
                        created_at, stored_at, is_used)
    select tenant_ref, scale.id('asset', tenant_ref, n), s.hash, 'png', 'image/png', 20000, 800, 600,
           now() - n * interval '1 minute', now(), n % 2 = 1
      from scale.plan p, generate_series(1, 1 + p.products / 5) as n,
           lateral (select encode(sha256((tenant_ref || n)::bytea), 'hex') as hash) s;
    insert into media_usage (tenant_ref, bytes)
    select tenant_ref, sum(bytes) from assets group by tenant_ref;
    -- Every second image is shown by some products, and the others by none.
    insert into product_images (tenant_ref, product_id, asset_ref, position)
    select tenant_ref, scale.id('product', tenant_ref, n),
           'asset:' || tenant_ref || '/' || s.hash || '.png', 0
      from scale.plan p, generate_series(1, p.products) as n,
           lateral (select encode(sha256((tenant_ref || (1 + 2 * (n % (1 + p.products / 10))))::bytea),
                                  'hex') as hash) s;
    insert into asset_refs (tenant_ref, sha256, owner_kind, owner_id)
    select tenant_ref, substr(asset_ref, length(asset_ref) - 67, 64), 'product', product_id::text
      from product_images`,
  ],
  [
    'search',
    `
    insert into product_search (tenant_ref, product_id, created_at, collections)
    select c.tenant_ref, c.product_id, p.created_at, array[c.collection_id]
      from collection_products c
      join products p on p.tenant_ref = c.tenant_ref and p.id = c.product_id;
    -- Without statistics each batch would read all products.
    analyze products, variants, product_search;
    select count(fd_search_refresh(tenant_ref, ids))
      from (select tenant_ref, array_agg(scale.id('product', tenant_ref, n)) as ids
              from scale.plan p, generate_series(1, p.products) as n
             group by tenant_ref, n / ${SEARCH_BATCH}) as batches;
    insert into search_words (tenant_ref, word)
    select distinct s.tenant_ref, w.word
      from product_search s cross join lateral fd_search_words(s.head) as w (word)`,
  ],
]
