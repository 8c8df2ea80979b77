/**
 * A row of a store for each tenant table that the fixtures of the contract tests leave empty. The
 * tests of tenancy fail for a table without rows, so that none is ever left out. `$1` is the store.
 */
export const TENANT_ROWS: Readonly<Record<string, string>> = {
  entitlements: `insert into entitlements (tenant_ref, feature_key, source, state)
                 values ($1, 'gift_cards', 'self_serve', 'allow')`,
  entitlement_tiers: `insert into entitlement_tiers (tenant_ref, tier) values ($1, 'growth')`,
  coupon_redemptions: `insert into coupon_redemptions (tenant_ref, order_id, coupon_id, customer_ref)
                       select $1, gen_random_uuid(), id, 'a canary'
                         from coupons where tenant_ref = $1 limit 1`,
  pricing_group_members: `insert into pricing_group_members (tenant_ref, group_id, customer_ref)
                          select $1, id, 'a canary'
                            from pricing_groups where tenant_ref = $1 limit 1`,
  pricing_group_prices: `with p as (insert into products (tenant_ref, slug, name)
                                    values ($1, 'priced', 'Priced') returning id),
                              v as (insert into variants (tenant_ref, product_id, sku, price_cents, currency)
                                    select $1, id, 'priced', 1, 'USD' from p returning id)
                         insert into pricing_group_prices
                                (tenant_ref, group_id, variant_id, min_quantity, price_cents)
                         select $1, g.id, v.id, 1, 1
                           from pricing_groups g, v where g.tenant_ref = $1 limit 1`,
  idempotency_keys: `insert into idempotency_keys (tenant_ref, operation, key, fingerprint, lease_until)
                     values ($1, 'checkout', 'k', sha256('x'), now())`,
}
