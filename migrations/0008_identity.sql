-- Store owners and their sessions. An owner may have stores in many tenants, so neither has one.

create table owners (
  id                uuid        not null default gen_random_uuid() primary key,
  -- Lower case.
  email             text        not null check (length(email) <= 254),
  name              text        not null check (length(name) between 1 and 200),
  -- argon2id. Null: signs in by the external identity provider alone.
  password_hash     text,
  email_verified_at timestamptz,
  created_at        timestamptz not null default now(),
  constraint owners_email_key unique (email)
);

create table owner_sessions (
  -- SHA-256 of the token; the token itself is never kept.
  token_hash bytea       not null primary key check (length(token_hash) = 32),
  owner_id   uuid        not null references owners on delete cascade,
  created_at timestamptz not null default now(),
  -- Moves with use, but never past the thirtieth day.
  expires_at timestamptz not null
);

grant select, insert, update on owners to fd_app;
grant select, insert, update, delete on owner_sessions to fd_app;
grant select, delete on owner_sessions to fd_worker;
grant select (id, email, name, email_verified_at, created_at) on owners to fd_operator;

create index owner_sessions_by_owner on owner_sessions (owner_id);
create index owner_sessions_expired on owner_sessions (expires_at);

-- The stores an address owns: the one question asked before a tenant is known.
create policy gate on stores for select to fd_gate using (true);
grant select on stores to fd_gate;

create function fd_owned_stores(owner text)
returns table (tenant_ref text, display_name text, status text)
language sql stable security definer set search_path = public, pg_temp as $$
  select s.tenant_ref, s.display_name, s.status
    from stores s
   where s.owner_email = owner
   order by s.tenant_ref
   limit 1000
$$;
alter function fd_owned_stores(text) owner to fd_gate;
revoke all on function fd_owned_stores(text) from public;
grant execute on function fd_owned_stores(text) to fd_app;
