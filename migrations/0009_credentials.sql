-- Merchant keys. Only a hash is kept; a revoked key stays on record.

create table credentials (
  tenant_ref    text        not null references stores,
  id            uuid        not null default gen_random_uuid(),
  -- The part of the key that is no secret: finds the row, and names the key to its owner.
  public_id     text        not null check (public_id ~ '^[0-9A-Za-z]{8}$'),
  secret_hash   bytea       not null check (length(secret_hash) = 32),
  label         text        not null check (length(label) between 1 and 80),
  scopes        text[]      not null check (cardinality(scopes) > 0),
  -- Set on a key that the owner minted by session: the store's stage at that time.
  initial_stage text        check (initial_stage in ('pre_live', 'live')),
  created_at    timestamptz not null default now(),
  expires_at    timestamptz,
  revoked_at    timestamptz,
  primary key (tenant_ref, id)
);

call fd_fence('credentials', app => 'select, insert, update', worker => 'select');

-- One active initial key for each stage of a store.
create unique index credentials_initial on credentials (tenant_ref, initial_stage)
 where initial_stage is not null and revoked_at is null;

-- Finds a key before its tenant is known. Not unique, so that the table can be spread by tenant.
create index credentials_gate on credentials (public_id);

create policy gate on credentials for select to fd_gate using (true);
grant select on credentials to fd_gate;

-- All that the check of a key needs, in one row or none.
create function fd_find_credential(wanted text)
returns table (tenant_ref text, id uuid, scopes text[], secret_hash bytea, active boolean)
language sql stable security definer set search_path = public, pg_temp as $$
  select c.tenant_ref, c.id, c.scopes, c.secret_hash,
         c.revoked_at is null and (c.expires_at is null or c.expires_at > now())
    from credentials c
   where c.public_id = wanted
   limit 1
$$;
alter function fd_find_credential(text) owner to fd_gate;
revoke all on function fd_find_credential(text) from public;
grant execute on function fd_find_credential(text) to fd_app;
