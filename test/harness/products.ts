import type pg from 'pg'

/**
 * Inserts many small products with a variant each: `item-1` to the newest, `item-<count>`. Triggers
 * do not run, so that a search does not find them.
 */
export async function addProducts(superuser: pg.Client, tenant: string, count: number) {
  await superuser.query('begin')
  await superuser.query('set local session_replication_role = replica')
  await superuser.query(
    `insert into products (tenant_ref, slug, name, created_at, updated_at)
     select $1, 'item-' || n, 'Item ' || n, timestamptz '2026-01-01' + n * interval '1 second',
            timestamptz '2026-01-01'
       from generate_series(1, $2::integer) n`,
    [tenant, count],
  )
  await superuser.query(
    `insert into variants (tenant_ref, product_id, sku, price_cents, currency)
     select tenant_ref, id, 'sku-' || slug, 100, 'USD' from products where tenant_ref = $1`,
    [tenant],
  )
  await superuser.query('commit')
  await superuser.query('analyze products, variants')
}
