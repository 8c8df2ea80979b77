-- What a store holds on one customer: handed out on demand, and erased on demand.

-- A copy of everything, made by the worker.
create table privacy_exports (
  tenant_ref    text        not null references stores,
  id            uuid        not null default gen_random_uuid(),
  customer_ref  text        not null check (length(customer_ref) between 1 and 200),
  status        text        not null default 'pending' check (status in ('pending', 'done', 'failed')),
  -- Compressed and encrypted, and bound to this row.
  sealed        bytea,
  error         text        check (length(error) <= 60),
  attempt_count integer     not null default 0,
  due_at        timestamptz default now(),
  lease_until   timestamptz,
  lease_token   uuid,
  created_at    timestamptz not null default now(),
  done_at       timestamptz,
  -- The row goes then, with all that is in it.
  expires_at    timestamptz not null default now() + interval '7 days',
  primary key (tenant_ref, id),
  check ((status = 'pending') = (due_at is not null)),
  check ((status = 'done') = (sealed is not null)),
  check ((status = 'failed') = (error is not null))
);
call fd_fence('privacy_exports', app => 'select, insert, update, delete',
                                 worker => 'select, update, delete');
create policy due on privacy_exports for select to fd_worker using (true);

-- Whoever asks twice waits for the same copy.
create unique index privacy_exports_pending on privacy_exports (tenant_ref, customer_ref)
 where status = 'pending';
create index privacy_exports_of_customer on privacy_exports (tenant_ref, customer_ref);
create index privacy_exports_due on privacy_exports (due_at) where due_at is not null;
create index privacy_exports_due_of_tenant on privacy_exports (tenant_ref, due_at)
 where due_at is not null;
create index privacy_exports_expired on privacy_exports (expires_at);

-- An erasure under way. It names whom it erases only until it is done.
create table privacy_erasures (
  tenant_ref   text        not null references stores,
  id           uuid        not null,
  customer_ref text        check (length(customer_ref) between 1 and 200),
  -- Others who are the same person by their e-mail address, and gave nothing but orders.
  guest_refs   text[]      not null default '{}',
  emails       text[]      not null default '{}',
  pseudonym    text        not null,
  -- Who asked for it, for the trail.
  actor        text        not null,
  orders       integer     not null default 0,
  created_at   timestamptz not null default now(),
  done_at      timestamptz,
  primary key (tenant_ref, id),
  check ((done_at is null) = (customer_ref is not null)),
  check (done_at is null or (guest_refs = '{}' and emails = '{}'))
);
call fd_fence('privacy_erasures', app => 'select, insert, update', worker => 'select, update');

-- The worker finishes what a process left half done, so it may change what an erasure changes.
grant update (reason) on gift_card_transactions, store_credit_transactions to fd_worker;
grant delete on pricing_group_members to fd_worker;

-- By what an erasure finds the rows of a customer, where nothing else has asked for them so far.
create index idempotency_keys_of_resource on idempotency_keys (tenant_ref, resource_id)
 where resource_id is not null;
create index gift_cards_of_customer on gift_cards (tenant_ref, customer_ref)
 where customer_ref is not null;
-- Folded by the database itself: under row level security an index on `lower()` would not be used.
alter table gift_cards
  add column recipient_folded text generated always as (lower(recipient_email)) stored;
create index gift_cards_of_recipient on gift_cards (tenant_ref, recipient_folded)
 where recipient_folded is not null;
