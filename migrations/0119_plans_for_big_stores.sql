-- PostgreSQL keeps one plan of a statement for all stores. It does not know the store then, and supposes one of average
-- size: rows divided by stores. Beside thousands of small stores that is a store of a few rows, all of which may be
-- read. In a big store such a plan reads everything the store has. It now supposes a store with a hundredth of all rows.

create procedure fd_plan_for_big_stores(target regclass)
language plpgsql as $$
begin
  execute format('alter table %s alter column tenant_ref set (n_distinct = 100, n_distinct_inherited = 100)', target);
end $$;
revoke all on procedure fd_plan_for_big_stores(regclass) from public;

create or replace procedure fd_fence(target regclass, app text, worker text)
language plpgsql as $$
begin
  execute format('alter table %s enable row level security, force row level security', target);
  execute format('create policy tenant on %s to fd_app, fd_worker
                  using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant())', target);
  execute format('create policy owner on %s to fd_owner using (true) with check (true)', target);
  execute format('create policy operator on %s for select to fd_operator using (true)', target);
  execute format('grant select on %s to fd_operator', target);
  execute format('grant %s on %s to fd_app', app, target);
  execute format('grant %s on %s to fd_worker', worker, target);
  call fd_plan_for_big_stores(target);
end $$;

create or replace procedure fd_add_partition(parent text, suffix text, bounds text, belongs text, inout moved bigint)
language plpgsql as $$
declare
  part text := parent || '_' || suffix;
  frozen boolean := exists (select from pg_trigger where tgrelid = parent::regclass and tgname = 'frozen');
begin
  execute format('create table %I (like %I including all)', part, parent);
  execute format('alter table %I set (%s)', part, fd_partition_options(parent));
  call fd_plan_for_big_stores(part);
  if belongs <> '' then
    execute format('lock table %I in access exclusive mode', parent || '_default');
    if frozen then execute format('alter table %I disable trigger user', parent || '_default'); end if;
    execute format('with moved as (delete from %I where %s returning *) insert into %I select * from moved',
                   parent || '_default', belongs, part);
    get diagnostics moved = row_count;
    if frozen then execute format('alter table %I enable trigger user', parent || '_default'); end if;
  end if;
  if frozen then call fd_freeze(part); end if;
  execute format('alter table %I enable row level security, force row level security', part);
  execute format('create policy tenant on %I to fd_app, fd_worker
                  using (tenant_ref = fd_tenant()) with check (tenant_ref = fd_tenant())', part);
  execute format('create policy owner on %I to fd_owner using (true) with check (true)', part);
  execute format('alter table %I attach partition %I %s', parent, part, bounds);
end $$;

-- An account belongs to one store, so that its events are not rarer than those of its store. The planner took the
-- two for independent, expected no event, and read all of the account to find one by its id.
alter table gateway_events alter column account_ref set (n_distinct = 100);

-- The number counts when a table is analyzed. One without rows is left alone: it would be taken for one that stays so.
do $$
declare
  target regclass;
  has_rows boolean;
begin
  for target, has_rows in
    select c.oid::regclass, c.reltuples > 0
      from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_ref'
     where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace and c.relpersistence <> 't'
  loop
    call fd_plan_for_big_stores(target);
    if has_rows then execute format('analyze %s', target); end if;
  end loop;
end $$;

-- The order's id is no key of this index: the planner would look lines of an order up by it, in all lines of the store.
drop index order_items_by_sku;
create index order_items_by_sku
  on order_items (tenant_ref, sku text_pattern_ops, ordered_at desc) include (order_id);
