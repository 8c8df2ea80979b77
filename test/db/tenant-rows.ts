/**
 * A row of a store for each tenant table that the fixtures of the contract tests leave empty. The
 * tests of tenancy fail for a table without rows, so that none is ever left out. `$1` is the store.
 */
export const TENANT_ROWS: Readonly<Record<string, string>> = {
  asset_forms: `insert into asset_forms (tenant_ref, sha256, width, form_sha256, bytes)
                select tenant_ref, sha256, 160, sha256, 1 from assets where tenant_ref = $1`,
  asset_refs: `insert into asset_refs (tenant_ref, sha256, owner_kind, owner_id)
               values ($1, repeat('a', 64), 'site', '1')`,
  collection_products: `insert into collection_products (tenant_ref, collection_id, product_id, position)
                        select tenant_ref, c.id, p.id, 1
                          from collections c join products p using (tenant_ref)
                         where tenant_ref = $1`,
  entitlements: `insert into entitlements (tenant_ref, feature_key, source, state)
                 values ($1, 'gift_cards', 'self_serve', 'allow')`,
  entitlement_tiers: `insert into entitlement_tiers (tenant_ref, tier) values ($1, 'growth')`,
  idempotency_keys: `insert into idempotency_keys (tenant_ref, operation, key, fingerprint, lease_until)
                     values ($1, 'checkout', 'k', sha256('x'), now())`,
  product_images: `insert into product_images (tenant_ref, product_id, asset_ref, position)
                   select tenant_ref, id, 'asset:x', 1 from products where tenant_ref = $1`,
  variants: `insert into variants (tenant_ref, product_id, sku, price_cents, currency)
             select tenant_ref, id, 'canary', 1, 'USD' from products where tenant_ref = $1`,
}
