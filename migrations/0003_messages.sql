-- Messages: webhooks that merchants are told by, with the ledger of their deliveries, and events that payment
-- providers send us.

-- The endpoints of a store's integrators, and the events that each receives.
create table webhook_subscriptions (
  tenant_ref           text        not null references stores,
  id                   uuid        not null default fd_uuid(),
  url                  text        not null check (length(url) <= 2048),
  description          text        check (length(description) <= 500),
  events               text[]      not null check (cardinality(events) > 0),
  -- Encrypted, not hashed: it keys the HMAC of every delivery. Gone with the subscription.
  secret_sealed        bytea,
  -- The secret before the last rotation, which still signs until then.
  previous_sealed      bytea,
  previous_until       timestamptz,
  active               boolean     not null default true,
  consecutive_failures integer     not null default 0 check (consecutive_failures >= 0),
  auto_paused_at       timestamptz,
  created_at           timestamptz not null default fd_now(),
  -- A row stays, so that a second delete is answered like the first.
  deleted_at           timestamptz,
  primary key (tenant_ref, id),
  check ((deleted_at is null) = (secret_sealed is not null)),
  check (deleted_at is null or (not active and previous_sealed is null)),
  check ((previous_sealed is null) = (previous_until is null))
);
call fd_fence('webhook_subscriptions', app => 'select, insert, update', worker => 'select, update');

create index webhook_subscriptions_kept on webhook_subscriptions (tenant_ref, created_at, id)
 where deleted_at is null;
-- An operator names an endpoint, or a delivery, by its id alone, and this index finds its store.
create unique index webhook_subscriptions_by_id on webhook_subscriptions (id);

-- Up to which number a store's events are numbered. The loop that numbers locks the row; checkouts never do.
create table webhook_feeds (
  tenant_ref text   not null primary key references stores,
  sealed_to  bigint not null default 0 check (sealed_to >= 0)
);
call fd_fence('webhook_feeds', app => 'select', worker => 'select, insert, update');

-- What happened in a store. Written with its cause; number, time and bytes follow after the commit, so that
-- no two checkouts of a store wait for each other. No unique index reaches over months, so that a trigger
-- checks the numbers: fd_queue_sealed.
create table webhook_events (
  tenant_ref         text        not null,
  id                 uuid        not null default fd_uuid(),
  type               text        not null check (length(type) <= 100),
  -- JSON text as it was written, until the event is sealed.
  data               text,
  -- The exact envelope, made once when the event is sealed. Every attempt sends it, so never jsonb.
  payload            bytea,
  -- Without gaps per store. A test fire has none: it is nothing that happened.
  sequence           bigint      check (sequence > 0),
  order_id           uuid,
  customer_ref       text,
  emitted_at         timestamptz not null default fd_now(),
  -- The time in the envelope.
  created_at         timestamptz,
  -- Deliveries that are under way are finished first.
  erase_requested_at timestamptz,
  erased_at          timestamptz,
  primary key (tenant_ref, id),
  check ((payload is null) = (created_at is null)),
  check ((data is null) = (payload is not null)),
  check ((sequence is not null) = (payload is not null and type <> 'platform.test.v1')),
  check (erased_at is null or (payload is not null and erase_requested_at is not null))
) partition by range (id);
call fd_fence('webhook_events', app => 'select, insert, update',
              worker => 'select, insert, update');
call fd_due('webhook_events');

create index webhook_events_of_customer on webhook_events (tenant_ref, customer_ref)
 where customer_ref is not null;
create index webhook_events_to_erase on webhook_events (tenant_ref, id)
 where erase_requested_at is not null and erased_at is null;
create index webhook_events_unsealed on webhook_events (tenant_ref, emitted_at, id)
 where payload is null;
create index webhook_events_feed on webhook_events (tenant_ref, sequence) where sequence is not null;

-- The ledger of deliveries: one row for each event and endpoint. A trigger sees to it that each has an event:
-- fd_deliveries_have_events.
create table webhook_deliveries (
  tenant_ref         text        not null,
  id                 uuid        not null default fd_uuid(),
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
  next_retry_at      timestamptz default fd_now(),
  last_status_code   integer,
  last_attempt_error text        check (length(last_attempt_error) <= 500),
  created_at         timestamptz not null default fd_now(),
  delivered_at       timestamptz,
  dead_lettered_at   timestamptz,
  -- When a merchant asked for this event again, because the endpoint had missed it. The delivery is marked as a
  -- replay.
  replayed_at        timestamptz,
  primary key (tenant_ref, id),
  check (attempt_count >= ladder_from),
  check ((status = 'pending') = (next_retry_at is not null)),
  check ((status = 'delivered') = (delivered_at is not null)),
  check ((status = 'dead_lettered') = (dead_lettered_at is not null))
) partition by range (id);
call fd_fence('webhook_deliveries', app => 'select, insert, update',
              worker => 'select, insert, update');

create index webhook_deliveries_by_id on webhook_deliveries (id);
-- Checkouts insert deliveries, and each is updated once when it succeeds, without touching an index (the
-- fillfactor of their partitions, 50, is for that). An index that names `status` would end that.
-- `dead_lettered_at` does not change when a delivery succeeds; pending ones are found by the queue; delivered
-- ones are most, and found on the way through `webhook_deliveries_newest`.
create index webhook_deliveries_dead on webhook_deliveries (tenant_ref, created_at desc, id desc)
  where dead_lettered_at is not null;
create index webhook_deliveries_newest on webhook_deliveries (tenant_ref, created_at desc, id desc);
create index webhook_deliveries_of_subscription
  on webhook_deliveries (tenant_ref, subscription_id, created_at desc, id desc);
-- Neither of these two columns ever changes. Which types and endpoints are rare differs from store to store,
-- and an endpoint need not be subscribed to what each sale emits, so the indexes are of all deliveries. Each
-- takes about 150 bytes of write-ahead log for a delivery.
create index webhook_deliveries_of_type
  on webhook_deliveries (tenant_ref, event_type, created_at desc, id desc);
create index webhook_deliveries_of_event on webhook_deliveries (tenant_ref, event_id, subscription_id);

-- Each attempt that has ended. What the endpoint answered is not stored. An attempt is written by the statement that
-- changes its delivery, with the delivery's id, so that a foreign key would add nothing.
create table webhook_attempts (
  tenant_ref  text        not null,
  delivery_id uuid        not null,
  attempt     integer     not null check (attempt > 0),
  at          timestamptz not null,
  status_code integer,
  latency_ms  integer     check (latency_ms >= 0),
  error       text        check (length(error) <= 500),
  primary key (tenant_ref, delivery_id, attempt)
) partition by range (delivery_id);
call fd_fence('webhook_attempts', app => 'select, insert', worker => 'select, insert');
call fd_freeze('webhook_attempts');

-- The partitions of the three tables: this month, the next one, and three for ids of no month. An id that
-- does not begin with the time (version 4) may be anywhere in the range: `before` and `random` take those of
-- times that are over or far ahead, `default` the rest. The worker deletes rows from these three by slices; a
-- month is only dropped.
do $$
declare
  this_month date := date_trunc('month', now() at time zone 'UTC')::date;
  parent text;
  part text;
  moved bigint;
begin
  foreach parent in array '{webhook_events,webhook_deliveries,webhook_attempts}'::text[] loop
    call fd_add_partition(parent, 'default', 'default', '', moved);
    call fd_add_partition(parent, 'before', format('for values from (minvalue) to (%L)',
      fd_id_floor(this_month::timestamp at time zone 'UTC')), '', moved);
    call fd_add_partition(parent, 'random', format('for values from (%L) to (maxvalue)',
      fd_id_floor('2100-01-01 00:00:00+00')), '', moved);
    perform fd_make_month(parent, this_month);
    perform fd_make_month(parent, (this_month + interval '1 month')::date);
    foreach part in array array[parent || '_before', parent || '_random', parent || '_default'] loop
      execute format('grant select, delete on %I to fd_worker', part);
      call fd_due(part);
    end loop;
  end loop;
end $$;
call fd_freeze_young('webhook_attempts_before', 'at', '28 days');
call fd_freeze_young('webhook_attempts_random', 'at', '28 days');
call fd_freeze_young('webhook_attempts_default', 'at', '28 days');

-- The deliveries that wait to be sent: one row for each delivery, added when its event has its bytes, removed when a
-- lane claims it, and added again when that lane ends before it was sent. So the ledger of deliveries needs no index
-- for the queue, and recording a success touches no index.
create table webhook_queue (
  tenant_ref      text        not null,
  delivery_id     uuid        not null,
  subscription_id uuid        not null,
  event_id        uuid        not null,
  due_at          timestamptz not null,
  -- Copied from the delivery, which is not read to send it.
  attempt_count   integer     not null,
  ladder_from     integer     not null,
  -- The creation time of the delivery, by which deliveries are listed, so that the list of pending ones reads the
  -- queue alone. Null: the delivery has it.
  created_at      timestamptz,
  -- Replays of an endpoint go through one lane, in the order of their numbers.
  is_replay       boolean     not null default false,
  primary key (tenant_ref, delivery_id)
);
call fd_fence('webhook_queue', app => 'select, insert', worker => 'select, insert, delete');
call fd_due('webhook_queue');

create index webhook_queue_due on webhook_queue (due_at);
create index webhook_queue_due_of_tenant on webhook_queue (tenant_ref, due_at);
create index webhook_queue_due_of_endpoint on webhook_queue (tenant_ref, subscription_id, due_at);
create index webhook_queue_replays on webhook_queue (tenant_ref, subscription_id, due_at) where is_replay;

-- What is being sent to an endpoint right now: one row for each lane of deliveries that a worker sends one
-- after another. The lease is the lane's, so that taking a delivery writes nothing to the delivery itself.
create table webhook_lanes (
  tenant_ref      text        not null,
  -- The token of the claim that opened the lane, and the lane's number within that claim.
  lease_token     uuid        not null,
  lane            integer     not null,
  lease_until     timestamptz not null,
  subscription_id uuid        not null,
  -- No other worker claims these deliveries while the row exists.
  deliveries      uuid[]      not null,
  primary key (tenant_ref, lease_token, lane)
-- The row is updated with every delivery, and its page needs room for that.
) with (fillfactor = 50);
call fd_fence('webhook_lanes', app => 'select', worker => 'select, insert, update, delete');
call fd_due('webhook_lanes');

-- The id of the delivery of an event to an endpoint. Its first 48 bits are those of the event, so that both
-- are in the same month; the rest is a hash of both ids, so that the primary key of deliveries allows one
-- delivery of an event to an endpoint. Version 8: bits of our own choice.
create function fd_delivery_id(event_id uuid, subscription_id uuid) returns uuid
language sql immutable strict as $$
  select (left(replace(event_id::text, '-', ''), 12) || '8' || substr(h, 1, 3)
          || 'a' || substr(h, 4, 15))::uuid
    from md5(event_id::text || subscription_id::text) as h
$$;

revoke all on function fd_delivery_id from public;
grant execute on function fd_delivery_id to fd_app, fd_worker;

-- Queues the deliveries of an event once it has its bytes, whichever code wrote them. A dead letter that is redriven
-- before that is in the queue already; no lane claims it before the event has its bytes. Refuses a number that another
-- event of the store has: the numbering of a store is serialised by the row of its feed, so that no other numbering is
-- under way.
--
-- A plan that PostgreSQL made while the tables were small is used when they are large, and without statistics an index
-- scan by the store alone looks as good as one by the whole key. So the plan must go by the indexes from the start,
-- and `offset 0` keeps it from joining: each row is looked up by its whole key. The same holds for
-- fd_deliveries_have_events.
create function fd_queue_sealed() returns trigger
language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  if exists (select from (select s.tenant_ref, min(s.sequence) as first, max(s.sequence) as last
                            from sealed s
                            join unsealed u on u.tenant_ref = s.tenant_ref and u.id = s.id
                           where s.sequence is distinct from u.sequence
                           group by s.tenant_ref) as numbered
              where (select count(*) <> count(distinct e.sequence)
                       from webhook_events e
                      where e.tenant_ref = numbered.tenant_ref
                        and e.sequence between numbered.first and numbered.last)) then
    raise exception 'two events of a store would have the same number'
      using errcode = 'unique_violation', constraint = 'webhook_events_sequence';
  end if;
  insert into webhook_queue (tenant_ref, delivery_id, subscription_id, event_id, due_at, attempt_count,
                             ladder_from, created_at)
  select d.tenant_ref, d.id, d.subscription_id, d.event_id, d.next_retry_at, d.attempt_count, d.ladder_from,
         d.created_at
    from sealed
    join unsealed on unsealed.tenant_ref = sealed.tenant_ref and unsealed.id = sealed.id
   cross join lateral (
         select *
           from webhook_deliveries
          where tenant_ref = sealed.tenant_ref and event_id = sealed.id
         offset 0) as d
   where unsealed.payload is null and sealed.payload is not null and d.status = 'pending'
      on conflict do nothing;
  return null;
end $$;

-- In place of a foreign key, which would read all deliveries when a month of events is dropped. Deliveries
-- are dropped before their events, so that a delivery always has one.
create function fd_deliveries_have_events() returns trigger
language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  if exists (select from added d
              where not exists (select from webhook_events e
                                 where e.tenant_ref = d.tenant_ref and e.id = d.event_id
                                offset 0)) then
    raise exception 'a delivery has no event'
      using errcode = 'foreign_key_violation', constraint = 'webhook_deliveries_event';
  end if;
  return null;
end $$;

revoke all on function fd_deliveries_have_events from public;

create trigger queue_sealed after update on webhook_events
  referencing old table as unsealed new table as sealed
  for each statement execute function fd_queue_sealed();
create trigger have_events after insert on webhook_deliveries
  referencing new table as added for each statement execute function fd_deliveries_have_events();

-- Whether a month must not be dropped yet: one of its deliveries is still to be sent, or (for events) its deliveries
-- still exist.
create function fd_month_must_stay(parent text, wanted date) returns boolean
language sql stable as $$
  select case parent
    when 'webhook_deliveries' then
      exists (select from webhook_queue q where q.delivery_id >= starts and q.delivery_id < ends)
      or exists (select from webhook_lanes l, unnest(l.deliveries) as d (id) where d.id >= starts and d.id < ends)
    when 'webhook_attempts' then has_deliveries
    when 'webhook_events' then has_deliveries
    else false end
    from (select fd_id_floor(wanted::timestamp at time zone 'UTC') as starts,
                 fd_id_floor((wanted + interval '1 month') at time zone 'UTC') as ends,
                 exists (select from partition_months m
                          where m.parent = 'webhook_deliveries' and m.month = wanted) as has_deliveries) as m
$$;

-- Drops a month. Refuses (answers false) a month that must stay, and one that ended less than 28 days ago,
-- whatever a setting says.
create function fd_drop_month(parent text, wanted date) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  part text;
begin
  select m.name into part from partition_months m where m.parent = fd_drop_month.parent and m.month = wanted;
  if part is null or (wanted + interval '1 month') at time zone 'UTC' > now() - interval '28 days' then
    return false;
  end if;
  perform set_config('lock_timeout', '1s', true);
  execute format('lock table %I in access exclusive mode', parent);
  if fd_month_must_stay(parent, wanted) then return false; end if;
  execute format('drop table %I', part);
  return true;
end $$;

revoke all on function fd_month_must_stay, fd_drop_month from public;
grant execute on function fd_month_must_stay, fd_drop_month to fd_worker;

-- Events that payment providers send us: the account that each belongs to, and its exact bytes.
create table gateway_accounts (
  tenant_ref  text        not null references stores,
  provider    text        not null check (provider ~ '^[a-z0-9][a-z0-9_-]{0,39}$'),
  account_ref text        not null check (account_ref ~ '^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$'),
  scheme      text        not null check (scheme ~ '^[a-z][a-z0-9_-]{0,39}$'),
  -- Sealed, and bound to the store and the account. Null once the account is removed.
  signing_key bytea,
  created_at  timestamptz not null default fd_now(),
  updated_at  timestamptz not null default fd_now(),
  removed_at  timestamptz,
  primary key (tenant_ref, provider, account_ref),
  check ((removed_at is null) = (signing_key is not null))
);
call fd_fence('gateway_accounts', app => 'select, insert, update', worker => 'select');

-- An account belongs to one store. The index also finds that store before any store is set.
create unique index gateway_accounts_gate on gateway_accounts (provider, account_ref)
 where removed_at is null;
create index gateway_accounts_of_ref on gateway_accounts (account_ref, provider);

create policy gate on gateway_accounts for select to fd_gate using (true);
grant select on gateway_accounts to fd_gate;

-- Finds the store of an account before any store is set.
create function fd_find_gateway_account(wanted_provider text, wanted_account text)
returns table (tenant_ref text, scheme text, signing_key bytea)
language sql stable security definer set search_path = public, pg_temp as $$
  select a.tenant_ref, a.scheme, a.signing_key
    from gateway_accounts a
   where a.provider = wanted_provider and a.account_ref = wanted_account and a.removed_at is null
$$;

alter function fd_find_gateway_account owner to fd_gate;
revoke all on function fd_find_gateway_account from public;
grant execute on function fd_find_gateway_account to fd_app;

-- One row for each event, however often it is sent.
create table gateway_events (
  -- No reference to the store, whose row every event would lock: its account names it.
  tenant_ref  text        not null,
  provider    text        not null,
  account_ref text        not null,
  -- The provider's own id; without one, a hash of the body.
  event_id    text        not null check (length(event_id) between 1 and 200),
  event_type  text        check (length(event_type) <= 100),
  scheme      text        not null,
  -- unhandled: the signature is right, but the platform does not know this kind of event. A person has to look.
  status      text        not null default 'received'
              check (status in ('received', 'applied', 'ignored', 'unhandled')),
  -- The exact bytes received. They may contain what a shopper typed, so they are kept for 30 days only; the rest of
  -- the row stays, so that a repeated event is recognised for ever.
  body        bytea,
  headers     jsonb       not null,
  received_at timestamptz not null default fd_now(),
  -- When the worker handled the event. Null: not yet, or it tries again.
  handled_at  timestamptz,
  reason      text        check (length(reason) <= 40),
  primary key (tenant_ref, provider, account_ref, event_id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05,
        autovacuum_analyze_scale_factor = 0.02);
call fd_fence('gateway_events', app => 'select, insert', worker => 'select, update, delete');
call fd_due('gateway_events');

-- Lists them account by account, newest first.
create index gateway_events_newest
    on gateway_events (tenant_ref, provider, account_ref, received_at desc);
-- Gateway events of all stores, newest first.
create index gateway_events_all_newest on gateway_events (received_at desc, event_id desc);
-- Events that were not applied are few, and operators look for them; they include those that are not handled yet.
create index gateway_events_to_watch on gateway_events (status, received_at desc, event_id desc)
  where status <> 'applied';
create index gateway_events_old on gateway_events (tenant_ref, received_at);
-- Bodies that are old enough to be erased.
create index gateway_events_kept on gateway_events (tenant_ref, received_at) where body is not null;
