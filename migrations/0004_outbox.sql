-- Internal events: news that must travel to another part of the platform, committed with its cause.

create table outbox (
  tenant_ref      text        not null references stores,
  id              uuid        not null default gen_random_uuid(),
  type            text        not null check (length(type) <= 100),
  payload         jsonb       not null,
  attempt_count   integer     not null default 0 check (attempt_count >= 0),
  -- Null once it has been handled.
  next_attempt_at timestamptz default now(),
  lease_until     timestamptz,
  lease_token     uuid,
  last_error      text        check (length(last_error) <= 500),
  created_at      timestamptz not null default now(),
  handled_at      timestamptz,
  primary key (tenant_ref, id),
  check ((handled_at is null) = (next_attempt_at is not null))
);

call fd_fence('outbox', app => 'select, insert', worker => 'select, insert, update, delete');

-- The worker looks over all tenants for who has work, then claims within one.
create policy due on outbox for select to fd_worker using (true);
create index outbox_due on outbox (next_attempt_at) where next_attempt_at is not null;
create index outbox_due_of_tenant on outbox (tenant_ref, next_attempt_at)
 where next_attempt_at is not null;
create index outbox_handled on outbox (handled_at) where handled_at is not null;
