-- How much a store may have of what it can create without end, in rows and in bytes. Triggers count, so that no path leaves
-- anything out, and refuse what exceeds the limit. They lock the counter of the store: of two callers at the limit one passes.

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
  ('credentials', 5000);

-- What a store has, and the limit that the operator set for it alone.
create table store_usage (
  tenant_ref   text   not null references stores,
  limit_key    text   not null check (length(limit_key) <= 40),
  used         bigint not null default 0,
  max_override bigint check (max_override >= 0),
  primary key (tenant_ref, limit_key)
) with (fillfactor = 50);
call fd_fence('store_usage', app => 'select, insert, update', worker => 'select, insert, update');

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
revoke all on function fd_limit(text, text, bigint), fd_use(text, text, bigint) from public;
grant execute on function fd_limit(text, text, bigint) to fd_app, fd_worker, fd_operator;
grant execute on function fd_use(text, text, bigint) to fd_app, fd_worker;

-- Counts the rows of a table. `amounts` are pairs of a counter and what a row adds to it. Rows are counted by statement, so that a
-- batch of a thousand writes its counter once.
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
revoke all on procedure fd_meter(regclass, text, boolean) from public;

call fd_meter('products', $$('products', 1),
  ('catalog_bytes', octet_length(s.slug) + octet_length(s.name) + coalesce(octet_length(s.description), 0)
                    + octet_length(s.metadata::text))$$, true);
call fd_meter('variants', $$('variants', 1),
  ('catalog_bytes', octet_length(s.sku) + coalesce(octet_length(s.label), 0) + octet_length(s.metadata::text))$$, true);
call fd_meter('collections', $$('collections', 1),
  ('collection_bytes', octet_length(s.slug) + octet_length(s.title) + coalesce(octet_length(s.description), 0))$$, true);
call fd_meter('gift_cards', $$('gift_cards', 1)$$, false);
call fd_meter('coupon_codes', $$('coupon_codes', 1)$$, false);
call fd_meter('pricing_group_prices', $$('pricing_group_prices', 1)$$, false);
call fd_meter('pricing_group_members', $$('pricing_group_members', 1)$$, false);
call fd_meter('inventory_locations', $$('locations', 1)$$, false);
call fd_meter('fraud_bans', $$('bans', 1)$$, false);
call fd_meter('site_versions', $$('site_versions', 1), ('site_bytes', octet_length(s.manifest))$$, false);
call fd_meter('credentials', $$('credentials', 1)$$, false);
