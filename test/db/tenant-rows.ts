/**
 * A row of a store for each tenant table that the fixtures of the contract tests leave empty. The
 * tests of tenancy fail for a table without rows, so that none is ever left out. `$1` is the store.
 */
export const TENANT_ROWS: Readonly<Record<string, string>> = {
  entitlements: `insert into entitlements (tenant_ref, feature_key, source, state)
                 values ($1, 'gift_cards', 'self_serve', 'allow')`,
  entitlement_tiers: `insert into entitlement_tiers (tenant_ref, tier) values ($1, 'growth')`,
  idempotency_keys: `insert into idempotency_keys (tenant_ref, operation, key, fingerprint, lease_until)
                     values ($1, 'checkout', 'k', sha256('x'), now())`,
  webhook_events: `insert into webhook_events (tenant_ref, id, type, data)
                   values ($1, '00000000-0000-4000-8000-000000000001', 'commerce.order.placed.v1', '{}')`,
  webhook_feeds: `insert into webhook_feeds (tenant_ref) values ($1)`,
  webhook_deliveries: `insert into webhook_deliveries (tenant_ref, id, subscription_id, event_id,
                                                       event_type, endpoint_url)
                       values ($1, '00000000-0000-4000-8000-000000000001', gen_random_uuid(),
                               '00000000-0000-4000-8000-000000000001', 'commerce.order.placed.v1',
                               'https://hook.example/')`,
  webhook_attempts: `insert into webhook_attempts (tenant_ref, delivery_id, attempt, at)
                     values ($1, '00000000-0000-4000-8000-000000000001', 1, now())`,
}
