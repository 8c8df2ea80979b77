-- The stores take turns by the index of store and due time, and a worker finds out by the index of the due
-- time alone whether there is work at all. Each queue needs both, for just its own rows.

-- Late approvals look at attempts without a record. Those whose outcome is unknown are due as well, but
-- belong to the reconciler: in one index with them, every look passed over all of them.
drop index payment_attempts_due;
create index payment_attempts_late on payment_attempts (next_check_at)
  where next_check_at is not null and state = 'not_found';
create index payment_attempts_late_of_tenant on payment_attempts (tenant_ref, next_check_at)
  where next_check_at is not null and state = 'not_found';

create index idempotency_keys_due_of_tenant on idempotency_keys (tenant_ref, due_at)
  where state = 'running';

create index gift_cards_due_of_tenant on gift_cards (tenant_ref, expires_at)
  where expires_at is not null and disabled_at is null
    and (expired_at is null or balance_cents > held_cents);

create index store_credit_lots_due_of_tenant on store_credit_lots (tenant_ref, due_at)
  where due_at is not null and remaining_cents > 0;

create index charges_expiring_of_tenant on charges (tenant_ref, authorized_until)
  where authorized_until is not null;

-- A lease is on an id, which the key of an asset does not have: each claim and each result read all assets of
-- the store.
create unique index assets_of_id on assets (tenant_ref, id);

-- An operator names these by their id alone, and the store is found by it.
create unique index webhook_subscriptions_by_id on webhook_subscriptions (id);
create index webhook_deliveries_by_id on webhook_deliveries (id);
create unique index entitlement_requests_by_id on entitlement_requests (id);
