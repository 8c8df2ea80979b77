-- Hostnames of a merchant's own, under which a store is served.

create table domains (
  tenant_ref         text        not null references stores,
  id                 uuid        not null default gen_random_uuid(),
  -- Canonical: lower case, punycode, no port, no trailing dot.
  hostname           text        not null
                     check (length(hostname) <= 253 and hostname ~ '^[a-z0-9-]+(\.[a-z0-9-]+)+$'),
  -- Certificates are made outside, so nothing rests in verified or provisioning for now.
  status             text        not null default 'pending_verification'
                     check (status in ('pending_verification', 'verified', 'provisioning', 'active',
                                       'failed', 'removed')),
  -- What the TXT record must hold. No secret: everyone can ask for the record.
  verification_value text        not null check (length(verification_value) between 20 and 100),
  tls_status         text        not null default 'pending'
                     check (tls_status in ('pending', 'external')),
  last_error         text        check (last_error in ('record_not_found', 'dns_unavailable',
                                                       'record_lapsed', 'hostname_taken')),
  is_primary         boolean     not null default false,
  created_at         timestamptz not null default now(),
  updated_at         timestamptz not null default now(),
  -- When DNS last gave an answer.
  last_checked_at    timestamptz,
  -- When DNS first showed the record. Stays null where an operator activated it instead.
  verified_at        timestamptz,
  activated_at       timestamptz,
  -- Since when the record of an active name is gone, so that its owner is told once.
  lapsed_at          timestamptz,
  removed_at         timestamptz,
  -- A name that was live may still point at us when its store has let it go. Until then no other
  -- store gets it.
  quarantined_until  timestamptz,
  -- Null: not asked about again.
  next_check_at      timestamptz default now() + interval '5 minutes',
  lease_until        timestamptz,
  lease_token        uuid,
  primary key (tenant_ref, id),
  check ((status = 'removed') = (removed_at is not null)),
  check (status <> 'active' or activated_at is not null),
  check (not is_primary or status = 'active'),
  check (quarantined_until is null or (status = 'removed' and activated_at is not null)),
  check (next_check_at is null or status not in ('failed', 'removed'))
);

call fd_fence('domains', app => 'select, insert, update', worker => 'select, update');

-- A store claims a name once at a time, and has one primary name.
create unique index domains_claimed on domains (tenant_ref, hostname) where status <> 'removed';
create unique index domains_primary on domains (tenant_ref) where is_primary;
create index domains_newest on domains (tenant_ref, created_at desc, id desc);

-- The worker looks over all tenants for who has work, then claims within one.
create policy due on domains for select to fd_worker using (true);
create index domains_due on domains (next_check_at) where next_check_at is not null;
create index domains_due_of_tenant on domains (tenant_ref, next_check_at)
 where next_check_at is not null;

-- Finds who has a name, before or whatever the tenant. Not unique, so that the table can be spread
-- by tenant: that a name has one holder is seen to by whoever gives it, under a lock on the name.
create index domains_gate on domains (hostname)
 where status in ('verified', 'provisioning', 'active') or quarantined_until is not null;

create policy gate on domains for select to fd_gate using (true);
grant select on domains to fd_gate;

-- Who holds a name: the store it is live for, else the one it is quarantined for. One row or none.
create function fd_find_hostname(wanted text)
returns table (tenant_ref text, status text)
language sql stable security definer set search_path = public, pg_temp as $$
  select d.tenant_ref, d.status
    from domains d
   where d.hostname = wanted
     and (d.status in ('verified', 'provisioning', 'active') or d.quarantined_until is not null)
     and (d.status <> 'removed' or d.quarantined_until > now())
   order by d.status = 'removed', d.quarantined_until desc
   limit 1
$$;
alter function fd_find_hostname(text) owner to fd_gate;
revoke all on function fd_find_hostname(text) from public;
grant execute on function fd_find_hostname(text) to fd_app, fd_worker;
