-- Events that payment providers send us: whose account they are about, and what exactly came.

create table gateway_accounts (
  tenant_ref  text        not null references stores,
  provider    text        not null check (provider ~ '^[a-z0-9][a-z0-9_-]{0,39}$'),
  account_ref text        not null check (account_ref ~ '^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$'),
  scheme      text        not null check (scheme in ('nmi', 'stripe', 'standard')),
  -- Sealed, and bound to the store and the account. Gone once the account is.
  signing_key bytea,
  created_at  timestamptz not null default now(),
  updated_at  timestamptz not null default now(),
  removed_at  timestamptz,
  primary key (tenant_ref, provider, account_ref),
  check ((removed_at is null) = (signing_key is not null))
);

call fd_fence('gateway_accounts', app => 'select, insert, update', worker => 'select');

-- An account is one store's. Also finds whose it is, before a tenant is known.
create unique index gateway_accounts_gate on gateway_accounts (provider, account_ref)
 where removed_at is null;

create policy gate on gateway_accounts for select to fd_gate using (true);
grant select on gateway_accounts to fd_gate;

create function fd_find_gateway_account(wanted_provider text, wanted_account text)
returns table (tenant_ref text, scheme text, signing_key bytea)
language sql stable security definer set search_path = public, pg_temp as $$
  select a.tenant_ref, a.scheme, a.signing_key
    from gateway_accounts a
   where a.provider = wanted_provider and a.account_ref = wanted_account and a.removed_at is null
$$;
alter function fd_find_gateway_account(text, text) owner to fd_gate;
revoke all on function fd_find_gateway_account(text, text) from public;
grant execute on function fd_find_gateway_account(text, text) to fd_app;

-- One row for each event, however often it is sent.
create table gateway_events (
  -- No reference to the store, whose row every event would lock: its account names it.
  tenant_ref  text        not null,
  provider    text        not null,
  account_ref text        not null,
  -- The provider's own; where it gave none, a hash of the body.
  event_id    text        not null check (length(event_id) between 1 and 200),
  event_type  text        check (length(event_type) <= 100),
  scheme      text        not null,
  -- unhandled: signed, and nothing that we know what to do with. A person has to look.
  status      text        not null default 'received' check (status in ('received', 'unhandled')),
  -- As it came, to the byte. May hold what a shopper typed, so it is kept for 30 days only; the rest
  -- of the row stays, that an event is known for good.
  body        bytea,
  headers     jsonb       not null,
  received_at timestamptz not null default now(),
  primary key (tenant_ref, provider, account_ref, event_id)
);

call fd_fence('gateway_events', app => 'select, insert', worker => 'select, update');

create index gateway_events_unhandled on gateway_events (tenant_ref, received_at desc)
 where status = 'unhandled';

create policy due on gateway_events for select to fd_worker using (true);
-- Rows come in the order of their time, and are asked for by it once an hour.
create index gateway_events_kept on gateway_events using brin (received_at)
 where body is not null;
