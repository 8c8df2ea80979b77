-- Tokens of a store: the credential of a storefront that a merchant runs, good for that store alone. Only a hash is stored. A token that is
-- deleted is gone; the audit log says who had made it.
create table storefront_tokens (
  tenant_ref text not null references stores,
  id uuid not null default fd_uuid(),
  label text not null check (length(label) between 1 and 80),
  token_hash bytea not null check (length(token_hash) = 32),
  -- The last characters, by which a person knows it.
  hint text not null check (length(hint) = 4),
  created_at timestamptz not null default now(),
  primary key (tenant_ref, id)
);
create index storefront_tokens_newest on storefront_tokens (tenant_ref, created_at, id);
-- Finds a token before its store is known. Not unique, so that the table can be spread by store.
create index storefront_tokens_gate on storefront_tokens (token_hash);
call fd_fence('storefront_tokens', app => 'select, insert, delete', worker => 'select');

-- The store of a token, before any store is set.
grant select on storefront_tokens to fd_gate;
create policy gate on storefront_tokens for select to fd_gate using (true);
create function fd_find_storefront_token(wanted bytea) returns table (tenant_ref text)
  language sql stable security definer set search_path = public, pg_temp as $$
  select t.tenant_ref from storefront_tokens t where t.token_hash = wanted limit 1
$$;
alter function fd_find_storefront_token(bytea) owner to fd_gate;
revoke all on function fd_find_storefront_token(bytea) from public;
grant execute on function fd_find_storefront_token(bytea) to fd_app;
