/**
 * A row of a store for each tenant table that the fixtures of the contract tests leave empty. The
 * tests of tenancy fail for a table without rows, so that none is ever left out. `$1` is the store.
 */
export const TENANT_ROWS: Readonly<Record<string, string>> = {
  domains: `insert into domains (tenant_ref, hostname, verification_value)
            values ($1, $1 || '.example', repeat('x', 20))`,
  site_versions: `insert into site_versions (tenant_ref, version, manifest, row_hash, rules_version,
                                             created_by)
                  values ($1, 1, '{}', repeat('0', 64), 'none', 'test')`,
  entitlements: `insert into entitlements (tenant_ref, feature_key, source, state)
                 values ($1, 'gift_cards', 'self_serve', 'allow')`,
  entitlement_tiers: `insert into entitlement_tiers (tenant_ref, tier) values ($1, 'growth')`,
  idempotency_keys: `insert into idempotency_keys (tenant_ref, operation, key, fingerprint, lease_until)
                     values ($1, 'checkout', 'k', sha256('x'), now())`,
}
