-- Sandbox stores, which move their own time to try what happens later (docs/test-clock.md).

-- A sandbox store pays with the simulated gateway alone, whatever the gateway of the installation is: it has an
-- account there from its first moment on, and can have no other.
alter table stores add column sandbox boolean not null default false;

create function fd_use_simulated() returns trigger
language plpgsql set search_path = public, pg_temp as $$
begin
  insert into payment_accounts (tenant_ref, gateway) values (new.tenant_ref, 'simulated')
      on conflict (tenant_ref, gateway) do update set in_use = true, updated_at = fd_now();
  return null;
end $$;
revoke all on function fd_use_simulated() from public;

create trigger new_sandbox after insert on stores
  for each row when (new.sandbox) execute function fd_use_simulated();
create trigger becomes_sandbox after update of sandbox on stores
  for each row when (new.sandbox and not old.sandbox) execute function fd_use_simulated();

-- The lock makes it wait for a store that becomes a sandbox at the same moment.
create function fd_refuse_real_gateway() returns trigger
language plpgsql set search_path = public, pg_temp as $$
declare
  is_sandbox boolean;
begin
  select sandbox into is_sandbox from stores where tenant_ref = new.tenant_ref for share;
  if is_sandbox then
    raise exception '% is a sandbox', new.tenant_ref
      using errcode = 'check_violation', constraint = 'payment_accounts_sandbox';
  end if;
  return new;
end $$;
revoke all on function fd_refuse_real_gateway() from public;

create trigger no_real_gateway before insert or update on payment_accounts
  for each row when (new.gateway <> 'simulated' and new.in_use) execute function fd_refuse_real_gateway();

-- The clock of a sandbox store. There is none before its first move. Times are machine time, except the target.
create table test_clocks (
  tenant_ref      text        not null references stores,
  id              uuid        not null default fd_uuid(),
  -- How far the store's time is ahead of the machine's. Only a reset makes it less.
  offset_ms       bigint      not null default 0 check (offset_ms >= 0),
  state           text        not null default 'ready' check (state in ('ready', 'advancing', 'failed')),
  -- Where the clock is moved to, in the store's time.
  target          timestamptz,
  -- The clock is at its target, and waits until every process knows.
  has_arrived     boolean     not null default false,
  -- The number of the move, and how many of its runs are recorded.
  move            integer     not null default 0 check (move >= 0),
  ran_count       integer     not null default 0 check (ran_count >= 0),
  -- How often due work could not be done, or has failed, since time last passed.
  waits           integer     not null default 0 check (waits >= 0),
  failures        integer     not null default 0 check (failures >= 0),
  next_attempt_at timestamptz,
  lease_until     timestamptz,
  lease_token     uuid,
  created_at      timestamptz not null default now(),
  primary key (tenant_ref),
  check ((state = 'advancing') = (next_attempt_at is not null)),
  check ((state = 'advancing') <= (target is not null))
);
call fd_fence('test_clocks', app => 'select, insert, update', worker => 'select, update');
call fd_due('test_clocks');
create index test_clocks_due on test_clocks (next_attempt_at) where next_attempt_at is not null;
create index test_clocks_due_of_tenant on test_clocks (tenant_ref, next_attempt_at)
       where next_attempt_at is not null;

-- What was done while the clock was moved, in its order. Kept until the next move.
create table test_clock_runs (
  tenant_ref text        not null references stores,
  move       integer     not null,
  place      integer     not null,
  -- In the store's time.
  at         timestamptz not null,
  kind       text        not null check (length(kind) <= 40),
  -- What it was done to.
  subject    text        check (length(subject) <= 200),
  outcome    text        not null check (length(outcome) <= 200),
  primary key (tenant_ref, move, place)
);
call fd_fence('test_clock_runs', app => 'select', worker => 'select, insert, delete');

-- Every process reads the moved clocks of all stores once a second: to know a store's time must cost no
-- statement when the store is opened.
create index test_clocks_moved on test_clocks (tenant_ref) where offset_ms > 0 or state = 'advancing';
create policy gate on test_clocks for select to fd_gate using (true);
grant select on test_clocks to fd_gate;

create function fd_moved_clocks()
returns table (tenant_ref text, offset_ms bigint, is_moving boolean)
language sql stable security definer set search_path = public, pg_temp as $$
  select c.tenant_ref, c.offset_ms, c.state = 'advancing'
    from test_clocks c
   where c.offset_ms > 0 or c.state = 'advancing'
$$;
alter function fd_moved_clocks() owner to fd_gate;
revoke all on function fd_moved_clocks() from public;
grant execute on function fd_moved_clocks() to fd_app;
