/**
 * A row of a store for each tenant table that the fixtures of the contract tests leave empty. The
 * tests of tenancy fail for a table without rows, so that none is ever left out. `$1` is the store.
 */
export const TENANT_ROWS: Readonly<Record<string, string>> = {
  entitlements: `insert into entitlements (tenant_ref, feature_key, source, state)
                 values ($1, 'affiliates', 'self_serve', 'allow')`,
  entitlement_tiers: `insert into entitlement_tiers (tenant_ref, tier) values ($1, 'growth')`,
  idempotency_keys: `insert into idempotency_keys (tenant_ref, operation, key, fingerprint, lease_until)
                     values ($1, 'checkout', 'k', sha256('x'), now())`,
  ledger_checkpoints: `insert into ledger_checkpoints
                              (tenant_ref, sequence, account, currency, balance_cents)
                       values ($1, 1000, 'sales', 'USD', 0)`,
  ledger_holds: `insert into ledger_holds (tenant_ref, account, ref, currency, amount_cents, order_id)
                 values ($1, 'gift_card', 'a card', 'USD', 1, gen_random_uuid())`,
  ledger_seals: `insert into ledger_seals (tenant_ref, sequence, journal_id, hash)
                 select $1, 1, id, sha256('x') from ledger_journals where tenant_ref = $1 limit 1`,
}
