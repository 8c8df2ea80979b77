-- Outbound webhooks: who wants to hear of what, every event, and the ledger of its deliveries.

create table webhook_subscriptions (
  tenant_ref            text        not null references stores,
  id                    uuid        not null default gen_random_uuid(),
  url                   text        not null check (length(url) <= 2048),
  description           text        check (length(description) <= 500),
  events                text[]      not null check (cardinality(events) > 0),
  -- Encrypted, not hashed: it keys the HMAC of every delivery. Gone with the subscription.
  secret_sealed         bytea,
  -- The secret before the last rotation, which still signs until then.
  previous_sealed       bytea,
  previous_until        timestamptz,
  active                boolean     not null default true,
  consecutive_failures  integer     not null default 0 check (consecutive_failures >= 0),
  auto_paused_at        timestamptz,
  created_at            timestamptz not null default now(),
  -- A row stays, so that a second delete is answered like the first.
  deleted_at            timestamptz,
  primary key (tenant_ref, id),
  check ((deleted_at is null) = (secret_sealed is not null)),
  check (deleted_at is null or (not active and previous_sealed is null)),
  check ((previous_sealed is null) = (previous_until is null))
);

call fd_fence('webhook_subscriptions', app => 'select, insert, update', worker => 'select, update');

create index webhook_subscriptions_kept on webhook_subscriptions (tenant_ref, created_at, id)
 where deleted_at is null;

-- What happened in a store. Written with its cause; number, time and bytes follow after the commit,
-- so that no two checkouts of a store wait for each other.
create table webhook_events (
  tenant_ref         text        not null references stores,
  id                 uuid        not null default gen_random_uuid(),
  type               text        not null check (length(type) <= 100),
  -- JSON text as it was written, until the event is sealed.
  data               text,
  -- The exact envelope, made once when the event is sealed. Every attempt sends it, so never jsonb.
  payload            bytea,
  -- Without gaps per store. A test fire has none: it is nothing that happened.
  sequence           bigint      check (sequence > 0),
  order_id           uuid,
  customer_ref       text,
  emitted_at         timestamptz not null default now(),
  -- What the envelope says.
  created_at         timestamptz,
  -- Deliveries that are under way are finished first.
  erase_requested_at timestamptz,
  erased_at          timestamptz,
  primary key (tenant_ref, id),
  unique (tenant_ref, sequence),
  check ((payload is null) = (created_at is null)),
  check ((data is null) = (payload is not null)),
  check ((sequence is not null) = (payload is not null and type <> 'platform.test.v1')),
  check (erased_at is null or (payload is not null and erase_requested_at is not null))
);

call fd_fence('webhook_events', app => 'select, insert, update', worker => 'select, insert, update');

-- The worker looks over all tenants for who has something to seal or to erase.
create policy due on webhook_events for select to fd_worker using (true);
create index webhook_events_unsealed on webhook_events (tenant_ref, emitted_at, id)
 where payload is null;
create index webhook_events_to_erase on webhook_events (tenant_ref, id)
 where erase_requested_at is not null and erased_at is null;
create index webhook_events_of_customer on webhook_events (tenant_ref, customer_ref)
 where customer_ref is not null;

-- How far a store's events are numbered. Locked by whoever numbers, never by whoever sells.
create table webhook_feeds (
  tenant_ref text   not null primary key references stores,
  sealed_to  bigint not null default 0 check (sealed_to >= 0)
);

call fd_fence('webhook_feeds', app => 'select', worker => 'select, insert, update');

create table webhook_deliveries (
  tenant_ref         text        not null references stores,
  id                 uuid        not null default gen_random_uuid(),
  -- No foreign key: it would lock the subscription in every checkout.
  subscription_id    uuid        not null,
  event_id           uuid        not null,
  event_type         text        not null,
  endpoint_url       text        not null,
  status             text        not null default 'pending'
                     check (status in ('pending', 'delivered', 'dead_lettered')),
  -- Finished attempts. Only grows.
  attempt_count      integer     not null default 0,
  -- Where the ladder began: 0, or the count at the last redrive.
  ladder_from        integer     not null default 0 check (ladder_from >= 0),
  next_retry_at      timestamptz default now(),
  lease_until        timestamptz,
  lease_token        uuid,
  last_status_code   integer,
  last_attempt_error text        check (length(last_attempt_error) <= 500),
  created_at         timestamptz not null default now(),
  delivered_at       timestamptz,
  dead_lettered_at   timestamptz,
  primary key (tenant_ref, id),
  -- Dispatch may run twice; the delivery may not.
  unique (tenant_ref, event_id, subscription_id),
  foreign key (tenant_ref, event_id) references webhook_events,
  check (attempt_count >= ladder_from),
  check ((status = 'pending') = (next_retry_at is not null)),
  check ((status = 'delivered') = (delivered_at is not null)),
  check ((status = 'dead_lettered') = (dead_lettered_at is not null)),
  check (lease_token is null or status = 'pending')
  -- No index knows of leases, so that taking one rewrites no index; a page needs room for it.
) with (fillfactor = 70);

call fd_fence('webhook_deliveries', app => 'select, insert, update',
              worker => 'select, insert, update');

create index webhook_deliveries_newest on webhook_deliveries (tenant_ref, created_at desc, id desc);

-- The worker looks over all tenants for who has work, then claims within one, endpoint by endpoint.
create policy due on webhook_deliveries for select to fd_worker using (true);
create index webhook_deliveries_due on webhook_deliveries (next_retry_at)
 where next_retry_at is not null;
create index webhook_deliveries_due_of_tenant on webhook_deliveries (tenant_ref, next_retry_at)
 where next_retry_at is not null;
create index webhook_deliveries_due_of_endpoint
    on webhook_deliveries (tenant_ref, subscription_id, next_retry_at)
 where next_retry_at is not null;
-- Each attempt that came to an end. What the endpoint said is not kept.
create table webhook_attempts (
  tenant_ref  text        not null references stores,
  delivery_id uuid        not null,
  attempt     integer     not null check (attempt > 0),
  at          timestamptz not null,
  status_code integer,
  latency_ms  integer     check (latency_ms >= 0),
  error       text        check (length(error) <= 500),
  primary key (tenant_ref, delivery_id, attempt),
  foreign key (tenant_ref, delivery_id) references webhook_deliveries
);

call fd_fence('webhook_attempts', app => 'select, insert', worker => 'select, insert');
call fd_freeze('webhook_attempts');
