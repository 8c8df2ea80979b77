-- Stores, who owns them, who may call for them, where they are served, and what they may have.

create sequence store_numbers;

-- A store is a tenant. Its slug stands first in the key of every row it owns.
create table stores (
  tenant_ref        text        not null check (tenant_ref ~ '^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$'),
  store_number      bigint      not null default nextval('store_numbers'),
  display_name      text        not null check (length(display_name) between 1 and 200),
  status            text        not null default 'draft'
                    check (status in ('draft', 'live', 'suspended')),
  -- The owner of the store is the account that proves this address. Lower case.
  owner_email       text        check (length(owner_email) <= 254),
  currency          text        not null default 'USD' check (currency ~ '^[A-Z]{3}$'),
  language          text        not null default 'en' check (length(language) <= 35),
  time_zone         text        not null default 'UTC' check (length(time_zone) <= 64),
  active_version    integer     check (active_version > 0),
  primary_hostname  text        check (length(primary_hostname) <= 253),
  created_at        timestamptz not null default fd_now(),
  updated_at        timestamptz not null default fd_now(),
  -- What shoppers are told of stock beside whether a variant can be bought: nothing, that it is low, or how
  -- many are left.
  stock_hint        text        not null default 'none'
                    check (stock_hint in ('none', 'low', 'count')),
  -- How many days after it was shipped a parcel counts as delivered. Null: never by itself. Few carriers report a
  -- delivery, and the window for returns begins with it.
  auto_deliver_days integer     check (auto_deliver_days between 1 and 365),
  -- A sandbox store pays with the simulated gateway alone, whatever the gateway of the installation is: it
  -- has an account there from its first moment on, and can have no other.
  sandbox           boolean     not null default false,
  -- The version that was published before the active one. It stays with the active one where an operator lets
  -- older versions be deleted, so that a merchant can always go back.
  previous_version  integer     check (previous_version > 0),
  primary key (tenant_ref)
);
call fd_fence('stores', app => 'select, insert, update', worker => 'select, update');
grant usage on sequence store_numbers to fd_app;

-- For the owner's list of stores, before any tenant is known.
create index stores_by_owner on stores (owner_email) where owner_email is not null;
create unique index stores_by_number on stores (store_number desc);
create index stores_of_status on stores (status, store_number desc);
-- The operator searches in the middle of words.
create index stores_named on stores using gin (lower(tenant_ref || ' ' || display_name) gin_trgm_ops);

-- For fd_owned_stores.
create policy gate on stores for select to fd_gate using (true);
-- The columns of a store that the search may read.
create policy search on stores for select to fd_search using (true);
grant select (tenant_ref, store_number, status, language) on stores to fd_search;
grant select on stores to fd_gate;
-- Two tables of the ground name their store.
alter table audit_log add foreign key (tenant_ref) references stores;
alter table retention_archives add foreign key (tenant_ref) references stores;

-- The stores that an address owns: asked before a tenant is known.
create function fd_owned_stores(owner text)
returns table (tenant_ref text, display_name text, status text)
language sql stable security definer set search_path = public, pg_temp as $$
  select s.tenant_ref, s.display_name, s.status
    from stores s
   where s.owner_email = owner
   order by s.tenant_ref
   limit 1000
$$;

alter function fd_owned_stores owner to fd_gate;
revoke all on function fd_owned_stores from public;
grant execute on function fd_owned_stores to fd_app;

-- Which add-ons a store may use. The tier's add-ons, the merchant's switches and the operator's rulings are stored
-- apart: a ruling stays when the merchant switches.
create table entitlement_tiers (
  tenant_ref text        not null references stores,
  tier       text        not null check (length(tier) <= 40),
  updated_at timestamptz not null default fd_now(),
  primary key (tenant_ref)
);
call fd_fence('entitlement_tiers', app => 'select, insert, update', worker => 'select');

-- The merchant's switches of add-ons, and the operator's rulings on them.
create table entitlements (
  tenant_ref  text        not null references stores,
  feature_key text        not null check (length(feature_key) <= 60),
  source      text        not null check (source in ('self_serve', 'operator')),
  state       text        not null check (state in ('allow', 'deny')),
  created_at  timestamptz not null default fd_now(),
  primary key (tenant_ref, feature_key, source),
  check (source = 'operator' or state = 'allow')
);
call fd_fence('entitlements', app => 'select, insert, update, delete', worker => 'select');

-- What a merchant asks the operator for.
create table entitlement_requests (
  tenant_ref    text        not null references stores,
  id            uuid        not null default fd_uuid(),
  feature_key   text        not null check (length(feature_key) <= 60),
  status        text        not null default 'pending'
                check (status in ('pending', 'approved', 'declined', 'withdrawn')),
  note          text        check (length(note) <= 2000),
  requested_by  text        not null check (length(requested_by) <= 200),
  created_at    timestamptz not null default fd_now(),
  decided_at    timestamptz,
  decision_note text        check (length(decision_note) <= 2000),
  primary key (tenant_ref, id),
  check ((status in ('approved', 'declined')) = (decided_at is not null))
);
call fd_fence('entitlement_requests', app => 'select, insert, update', worker => 'select');

-- One open request for a feature at a time.
create unique index entitlement_requests_open
    on entitlement_requests (tenant_ref, feature_key) where status = 'pending';
create unique index entitlement_requests_by_id on entitlement_requests (id);
create index entitlement_requests_newest on entitlement_requests (tenant_ref, created_at desc, id desc);
create index entitlement_requests_all_newest on entitlement_requests (created_at desc, id desc);
create index entitlement_requests_all_of_status
  on entitlement_requests (status, created_at desc, id desc);

-- How much a store may have of everything that it can create, in rows and in bytes. Triggers count, so that every code
-- path is counted, and refuse what exceeds the limit. They lock the counter of the store: of two callers at the limit
-- one passes.
--
-- The limits of all stores (tier '*') and of the stores of a tier. The operator may change them.
create table usage_limits (
  tier      text   not null default '*' check (length(tier) <= 40),
  limit_key text   not null check (length(limit_key) <= 40),
  max       bigint not null check (max >= 0),
  primary key (limit_key, tier)
);
grant select, insert, update, delete on usage_limits to fd_app;
grant select on usage_limits to fd_worker, fd_operator;

insert into usage_limits (limit_key, max) values
  ('products', 1000000),
  ('variants', 5000000),
  ('catalog_bytes', 4294967296),
  ('collections', 2000),
  ('collection_bytes', 4194304),
  ('gift_cards', 10000000),
  ('coupon_codes', 10000000),
  ('pricing_group_prices', 5000000),
  ('pricing_group_members', 5000000),
  ('locations', 1000),
  ('bans', 1000000),
  ('site_versions', 10000),
  ('site_bytes', 1073741824),
  ('credentials', 5000),
  ('vendors', 100000),
  ('purchase_orders', 1000000),
  ('stock_counts', 1000000),
  ('segments', 500),
  ('affiliates', 100000),
  ('campaigns', 10000);

-- What a store uses of each limit, and the limit that the operator set for it alone.
create table store_usage (
  tenant_ref   text   not null references stores,
  limit_key    text   not null check (length(limit_key) <= 40),
  used         bigint not null default 0,
  max_override bigint check (max_override >= 0),
  primary key (tenant_ref, limit_key)
) with (fillfactor = 50);
call fd_fence('store_usage', app => 'select, insert, update', worker => 'select, insert, update');

-- The limit of a store: its own, else that of its tier, else that of all stores.
create function fd_limit(store text, counted text, own bigint) returns bigint
language sql stable as $$
  select coalesce(own, (select l.max
                          from usage_limits as l
                         where l.limit_key = counted
                           and l.tier in ('*', (select t.tier from entitlement_tiers as t where t.tenant_ref = store))
                         order by l.tier = '*'
                         limit 1))
$$;

-- Adds to a counter. Refuses only growth: a store above a lowered limit can still delete.
create function fd_use(store text, counted text, amount bigint) returns void
language plpgsql as $$
declare
  total bigint;
  own bigint;
  allowed bigint;
begin
  insert into store_usage as u (tenant_ref, limit_key, used) values (store, counted, amount)
      on conflict (tenant_ref, limit_key) do update set used = u.used + excluded.used
    returning used, max_override into total, own;
  if amount <= 0 then return; end if;
  allowed := fd_limit(store, counted, own);
  if total > allowed then
    raise exception 'the store has reached its limit of %', counted
      using errcode = 'FD004',
            detail = json_build_object('limit', counted, 'max', allowed, 'used', total - amount)::text;
  end if;
end $$;

revoke all on function fd_limit, fd_use from public;
grant execute on function fd_limit to fd_app, fd_worker, fd_operator;
grant execute on function fd_use to fd_app, fd_worker;

-- Counts the rows of a table. `amounts` are pairs of a counter and what a row adds to it. Rows are counted by
-- statement, so that a batch of a thousand writes its counter once.
create procedure fd_meter(target regclass, amounts text, counts_updates boolean)
language plpgsql as $$
declare
  -- A statement can only name the transition tables that its event has.
  counting text := '(select s.tenant_ref, m.limit_key, %s m.amount as amount from %s as s
                      cross join lateral (values ' || amounts || ') as m (limit_key, amount))';
  adding text := 'perform fd_use(tenant_ref, limit_key, sum(amount)::bigint) from (%s) as counted
                    group by tenant_ref, limit_key having sum(amount) <> 0 order by limit_key;';
  added text := format(counting, '', 'added');
  removed text := format(counting, '-', 'removed');
begin
  execute format($f$
    create function fd_meter_%1$s() returns trigger language plpgsql as $body$
    begin
      if tg_op = 'INSERT' then %2$s
      elsif tg_op = 'DELETE' then %3$s
      else %4$s
      end if;
      return null;
    end $body$
  $f$, target, format(adding, added), format(adding, removed), format(adding, added || ' union all ' || removed));
  execute format('revoke all on function fd_meter_%s() from public', target);
  execute format('create trigger meter_insert after insert on %1$s referencing new table as added
                  for each statement execute function fd_meter_%1$s()', target);
  execute format('create trigger meter_delete after delete on %1$s referencing old table as removed
                  for each statement execute function fd_meter_%1$s()', target);
  if counts_updates then
    execute format('create trigger meter_update after update on %1$s
                    referencing new table as added old table as removed
                    for each statement execute function fd_meter_%1$s()', target);
  end if;
  execute format('insert into store_usage (tenant_ref, limit_key, used)
                  select tenant_ref, limit_key, sum(amount)::bigint from %s as counted group by tenant_ref, limit_key
                      on conflict (tenant_ref, limit_key) do update set used = store_usage.used + excluded.used',
                 format(counting, '', target));
end $$;

revoke all on procedure fd_meter from public;

-- Store owners and their sessions. An owner may have several stores, so neither table belongs to a store.
create table owners (
  id                uuid        not null default fd_uuid() primary key,
  -- Lower case.
  email             text        not null check (length(email) <= 254),
  name              text        not null check (length(name) between 1 and 200),
  -- argon2id. Null: signs in by the external identity provider alone.
  password_hash     text,
  email_verified_at timestamptz,
  created_at        timestamptz not null default now()
);
grant select, insert, update, delete on owners to fd_app;
grant delete, select (id, email_verified_at, created_at) on owners to fd_worker;
grant select (id, email, name, email_verified_at, created_at) on owners to fd_operator;

create unique index owners_verified_email on owners (email) where email_verified_at is not null;
create index owners_by_email on owners (email);
create index owners_pending on owners (created_at) where email_verified_at is null;

-- The sessions of owners who are signed in.
create table owner_sessions (
  -- SHA-256 of the token; the token itself is never kept.
  token_hash bytea       not null primary key check (length(token_hash) = 32),
  owner_id   uuid        not null references owners on delete cascade,
  created_at timestamptz not null default now(),
  -- Moves with use, but never past the thirtieth day.
  expires_at timestamptz not null
);
grant select, insert, update, delete on owner_sessions to fd_app;
grant select, delete on owner_sessions to fd_worker;

create index owner_sessions_by_owner on owner_sessions (owner_id);
create index owner_sessions_expired on owner_sessions (expires_at);

-- The callers (addresses) that an account was used from. Strangers who try passwords do not lock them out.
create table owner_callers (
  owner_id    uuid        not null references owners on delete cascade,
  -- HMAC-SHA256 of the caller; the address itself is never kept.
  caller_hash bytea       not null check (length(caller_hash) = 32),
  last_at     timestamptz not null,
  primary key (owner_id, caller_hash)
);
grant select, insert, update on owner_callers to fd_app;
grant select, delete on owner_callers to fd_worker;

create index owner_callers_by_time on owner_callers (last_at);

-- Merchant keys. Only a hash is kept; a revoked key stays on record.
create table credentials (
  tenant_ref    text        not null references stores,
  id            uuid        not null default fd_uuid(),
  -- The part of the key that is not secret: the row is found by it, and the owner sees it in the list of keys.
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
call fd_meter('credentials', $$('credentials', 1)$$, false);

-- One active initial key for each stage of a store.
create unique index credentials_initial on credentials (tenant_ref, initial_stage)
 where initial_stage is not null and revoked_at is null;
-- Finds a key before its tenant is known. Not unique, so that the table can be spread by tenant.
create index credentials_gate on credentials (public_id);
-- The list of keys in its order: a page must not sort all keys of the store. Ascending, so that new keys fill
-- the last page.
create index credentials_newest on credentials (tenant_ref, created_at, id);

create policy gate on credentials for select to fd_gate using (true);
grant select on credentials to fd_gate;

-- Returns all columns that the check of a key needs, in one row or none.
create function fd_find_credential(wanted text)
returns table (tenant_ref text, id uuid, scopes text[], secret_hash bytea, active boolean)
language sql stable security definer set search_path = public, pg_temp as $$
  select c.tenant_ref, c.id, c.scopes, c.secret_hash,
         c.revoked_at is null and (c.expires_at is null or c.expires_at > now())
    from credentials c
   where c.public_id = wanted
   limit 1
$$;

alter function fd_find_credential owner to fd_gate;
revoke all on function fd_find_credential from public;
grant execute on function fd_find_credential to fd_app;

-- Tokens of a store: the credential of a storefront that a merchant runs, good for that store alone. Only a
-- hash is stored. A token that is deleted is gone; the audit log says who had made it.
create table storefront_tokens (
  tenant_ref text        not null references stores,
  id         uuid        not null default fd_uuid(),
  label      text        not null check (length(label) between 1 and 80),
  token_hash bytea       not null check (length(token_hash) = 32),
  -- The last characters of the token, by which a person recognises it.
  hint       text        not null check (length(hint) = 4),
  created_at timestamptz not null default now(),
  primary key (tenant_ref, id)
);
call fd_fence('storefront_tokens', app => 'select, insert, delete', worker => 'select');

create index storefront_tokens_newest on storefront_tokens (tenant_ref, created_at, id);
-- Finds a token before its store is known. Not unique, so that the table can be spread by store.
create index storefront_tokens_gate on storefront_tokens (token_hash);

create policy gate on storefront_tokens for select to fd_gate using (true);
grant select on storefront_tokens to fd_gate;

-- The store of a token, before any store is set.
create function fd_find_storefront_token(wanted bytea) returns table (tenant_ref text)
  language sql stable security definer set search_path = public, pg_temp as $$
  select t.tenant_ref from storefront_tokens t where t.token_hash = wanted limit 1
$$;

alter function fd_find_storefront_token owner to fd_gate;
revoke all on function fd_find_storefront_token from public;
grant execute on function fd_find_storefront_token to fd_app;

-- Hostnames of a merchant's own, under which a store is served.
create table domains (
  tenant_ref         text        not null references stores,
  id                 uuid        not null default fd_uuid(),
  -- Canonical: lower case, punycode, no port, no trailing dot.
  hostname           text        not null
                     check (length(hostname) <= 253 and hostname ~ '^[a-z0-9-]+(\.[a-z0-9-]+)+$'),
  -- Certificates are made outside, so no domain stays in `verified` or `provisioning`.
  status             text        not null default 'pending_verification'
                     check (status in ('pending_verification', 'verified', 'provisioning', 'active', 'failed',
                                       'removed')),
  -- What the TXT record must hold. No secret: everyone can ask for the record.
  verification_value text        not null check (length(verification_value) between 20 and 100),
  tls_status         text        not null default 'pending'
                     check (tls_status in ('pending', 'external')),
  last_error         text        check (last_error in ('record_not_found', 'dns_unavailable', 'record_lapsed',
                                                       'hostname_taken')),
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
  -- A hostname that was live may still point at us after its store has removed it. Until this time no other store can
  -- claim it.
  quarantined_until  timestamptz,
  -- Null: DNS is not checked again.
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
call fd_due('domains');

-- A store claims a name once at a time, and has one primary name.
create unique index domains_claimed on domains (tenant_ref, hostname) where status <> 'removed';
create unique index domains_primary on domains (tenant_ref) where is_primary;
create index domains_due on domains (next_check_at) where next_check_at is not null;
create index domains_due_of_tenant on domains (tenant_ref, next_check_at)
 where next_check_at is not null;
-- Finds the store of a hostname, before any store is set. Not unique, so that the table can be spread by tenant: the
-- code that gives a hostname to a store checks under a lock on the name that no other store has it.
create index domains_gate on domains (hostname)
 where status in ('verified', 'provisioning', 'active') or quarantined_until is not null;
-- The list without a filter leaves removed domains out, so its index does too.
create index domains_newest on domains (tenant_ref, created_at desc, id desc)
  where status <> 'removed';
create index domains_of_status on domains (tenant_ref, status, created_at desc, id desc);

create policy gate on domains for select to fd_gate using (true);
grant select on domains to fd_gate;

-- The store that has a hostname: it is live there, or else quarantined for it. One row or none.
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

alter function fd_find_hostname owner to fd_gate;
revoke all on function fd_find_hostname from public;
grant execute on function fd_find_hostname to fd_app, fd_worker;

-- The customers of a store, by the reference that the storefront gave them.
create table customers (
  tenant_ref       text        not null,
  -- A keyed hash of customer_ref. It stays when all other columns are erased, so that later data under that reference
  -- find this row and restore nothing.
  ref_hash         bytea       not null check (length(ref_hash) = 32),
  customer_ref     text        check (length(customer_ref) between 1 and 200),
  person_id        uuid,
  email            text        check (length(email) <= 320),
  -- The address in one spelling for comparisons: guests are matched by it.
  email_folded     text        check (length(email_folded) <= 320),
  name             text        check (length(name) <= 300),
  tags             text[]      not null default '{}',
  first_seen_at    timestamptz not null default fd_now(),
  updated_at       timestamptz not null default fd_now(),
  erased_at        timestamptz,
  -- A search reads the beginnings of these texts in all customers. The last word of a name is the family name
  -- in most languages that write it last.
  ref_folded       text        generated always as (lower(customer_ref)) stored,
  name_folded      text        generated always as (lower(name)) stored,
  last_name_folded text        generated always as (lower(substring(name from '\s(\S+)\s*$'))) stored,
  primary key (tenant_ref, ref_hash),
  check ((erased_at is null) = (customer_ref is not null)),
  check (erased_at is null or (person_id is null and email is null and email_folded is null and name is null
                               and tags = '{}'))
) with (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02,
        autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
call fd_fence('customers', app => 'select, insert, update', worker => 'select, insert, update');
call fd_bundle_checks('customers');

-- Both columns descend, because a cursor compares them together.
create index customers_newest on customers (tenant_ref, first_seen_at desc, ref_hash desc) where erased_at is null;
-- An erased customer has no reference, name or address, so that these indexes have none of them.
create index customers_by_ref on customers (tenant_ref, ref_folded text_pattern_ops)
  include (first_seen_at, ref_hash) where ref_folded is not null;
create index customers_by_email on customers (tenant_ref, email_folded text_pattern_ops)
  include (first_seen_at, ref_hash) where email_folded is not null;
create index customers_by_name on customers (tenant_ref, name_folded text_pattern_ops)
  include (first_seen_at, ref_hash) where name_folded is not null;
create index customers_by_last_name on customers (tenant_ref, last_name_folded text_pattern_ops)
  include (first_seen_at, ref_hash) where last_name_folded is not null;

-- The clock of a sandbox store. There is none before its first move. Times are machine time, except the
-- target.
create table test_clocks (
  tenant_ref      text        not null references stores,
  id              uuid        not null default fd_uuid(),
  -- How far the store's time is ahead of the machine's. Only a reset reduces it.
  offset_ms       bigint      not null default 0 check (offset_ms >= 0),
  state           text        not null default 'ready'
                  check (state in ('ready', 'advancing', 'failed')),
  -- Where the clock is moved to, in the store's time.
  target          timestamptz,
  -- The clock is at its target, and waits until every process knows.
  has_arrived     boolean     not null default false,
  -- The number of the move, and how many of its runs are recorded.
  move            integer     not null default 0 check (move >= 0),
  ran_count       integer     not null default 0 check (ran_count >= 0),
  -- How many times due work could not be done, or failed, since the clock last moved.
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
-- Every process reads the moved clocks of all stores once a second: to know a store's time must cost no
-- statement when the store is opened.
create index test_clocks_moved on test_clocks (tenant_ref) where offset_ms > 0 or state = 'advancing';

create policy gate on test_clocks for select to fd_gate using (true);
grant select on test_clocks to fd_gate;

-- What was done while the clock was moved, in its order. Kept until the next move.
create table test_clock_runs (
  tenant_ref text        not null references stores,
  move       integer     not null,
  place      integer     not null,
  -- In the store's time.
  at         timestamptz not null,
  kind       text        not null check (length(kind) <= 40),
  -- What the work was done to.
  subject    text        check (length(subject) <= 200),
  outcome    text        not null check (length(outcome) <= 200),
  primary key (tenant_ref, move, place)
);
call fd_fence('test_clock_runs', app => 'select', worker => 'select, insert, delete');

-- The clocks that are moved, or being moved, of all stores.
create function fd_moved_clocks()
returns table (tenant_ref text, offset_ms bigint, is_moving boolean)
language sql stable security definer set search_path = public, pg_temp as $$
  select c.tenant_ref, c.offset_ms, c.state = 'advancing'
    from test_clocks c
   where c.offset_ms > 0 or c.state = 'advancing'
$$;

alter function fd_moved_clocks owner to fd_gate;
revoke all on function fd_moved_clocks from public;
grant execute on function fd_moved_clocks to fd_app;

-- PostgreSQL keeps one plan of a statement for all stores. It does not know the store then, and supposes one
-- of average size: rows divided by stores. Beside thousands of small stores that is a store of a few rows,
-- all of which may be read. In a big store such a plan reads everything the store has. From 100 stores on,
-- this lets it suppose one with a hundredth of all rows; below that, an average store has at least as many
-- (decision 0068).
--
-- Says so for one table of those that do not have it yet. Answers its name; null: none is left. One at a
-- time, so that its lock, which reads and writes pass, is held for as long as one table is analyzed: the
-- number counts from then on.
create function fd_plan_for_big_stores() returns text
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  target regclass;
  belongs name;
  has_rows boolean;
begin
  if (select count(*) from (select from stores limit 100) as first) < 100 then return null; end if;
  -- The account of a gateway's event belongs to one store. The planner takes the two for independent, expects no event
  -- of both, and would read all events of the account to find one by its id.
  select c.oid, a.attname, c.reltuples > 0 into target, belongs, has_rows
    from pg_class c join pg_attribute a on a.attrelid = c.oid and not a.attisdropped
   where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
     and (a.attname = 'tenant_ref' or (c.relname = 'gateway_events' and a.attname = 'account_ref'))
     and a.attoptions is null
   order by c.relname
   limit 1;
  if target is null then return null; end if;
  perform set_config('lock_timeout', '1s', true);
  execute format('alter table %s alter column %I set (n_distinct = 100, n_distinct_inherited = 100)', target, belongs);
  -- A table without rows is left alone: it would be taken for one that stays so.
  if has_rows then execute format('analyze %s', target); end if;
  return target::text;
end $$;

revoke all on function fd_plan_for_big_stores from public;
grant execute on function fd_plan_for_big_stores to fd_worker;
