-- Indexes for the lists. A list reads its page in the order of an index; a filter by a value that few rows or
-- none have would walk through all others, so it has an index of its own, in the same order.

-- Deliveries. Checkouts insert them, and each is updated once when it succeeds, without touching an index
-- (a "heap only" update, which the fill factor of 50 is for). An index that names `status` would end that.
-- `dead_lettered_at` does not change when a delivery succeeds; pending ones are found by the queue; delivered
-- ones are most, and found on the way through `webhook_deliveries_newest`.
create index webhook_deliveries_dead on webhook_deliveries (tenant_ref, created_at desc, id desc)
  where dead_lettered_at is not null;
-- Neither of these two columns ever changes. The indexes are not partial: which types and endpoints are rare
-- differs from store to store, and an endpoint need not be subscribed to what each sale emits. Each takes about
-- 150 bytes of write-ahead log for a delivery.
create index webhook_deliveries_of_type
  on webhook_deliveries (tenant_ref, event_type, created_at desc, id desc);
create index webhook_deliveries_of_subscription
  on webhook_deliveries (tenant_ref, subscription_id, created_at desc, id desc);

-- The audit log of one store, and of all stores for the operator. No checkout writes to it.
create index audit_log_of_action on audit_log (tenant_ref, action, created_at desc, id desc);
create index audit_log_of_actor on audit_log (tenant_ref, actor, created_at desc, id desc);
create index audit_log_all_newest on audit_log (created_at desc, id desc);
create index audit_log_all_of_action on audit_log (action, created_at desc, id desc);
create index audit_log_all_of_actor on audit_log (actor, created_at desc, id desc);

-- Movements by kind. Each line of each sale writes an `allocated` one: these are left out, since there are so
-- many that a page of them is found on the way through `inventory_movements_newest`.
create index inventory_movements_of_kind on inventory_movements (tenant_ref, kind, seq desc)
  where kind <> 'allocated';
-- Variants on sale by SKU, and those whose stock can be low.
create index variants_on_sale on variants (tenant_ref, sku) where archived_at is null;
create index inventory_settings_watched on inventory_settings (tenant_ref, variant_id)
  where track_inventory and low_stock_threshold is not null;

-- Written to by merchants and operators only, a few times a day.
create index assets_of_type on assets (tenant_ref, content_type, created_at desc, sha256 desc)
  where stored_at is not null and deleted_at is null;
-- The list without a filter leaves removed domains out, so its index does too.
drop index domains_newest;
create index domains_newest on domains (tenant_ref, created_at desc, id desc)
  where status <> 'removed';
create index domains_of_status on domains (tenant_ref, status, created_at desc, id desc);
create index entitlement_requests_newest on entitlement_requests (tenant_ref, created_at desc, id desc);
create index entitlement_requests_all_newest on entitlement_requests (created_at desc, id desc);
create index entitlement_requests_all_of_status
  on entitlement_requests (status, created_at desc, id desc);
create index collections_in_order on collections (tenant_ref, position, created_at, id);
create unique index stores_by_number on stores (store_number desc);
create index stores_of_status on stores (status, store_number desc);
-- The operator searches in the middle of words.
create index stores_named on stores using gin (lower(tenant_ref || ' ' || display_name) gin_trgm_ops);
create index gateway_accounts_of_ref on gateway_accounts (account_ref, provider);

-- Gateway events of all stores, newest first. They are inserted outside of checkouts. Events that were not
-- applied are few, and what an operator looks for; they include those not handled yet. The old index of
-- unhandled events was read by no statement.
drop index gateway_events_unhandled;
create index gateway_events_all_newest on gateway_events (received_at desc, event_id desc);
create index gateway_events_to_watch on gateway_events (status, received_at desc, event_id desc)
  where status <> 'applied';
