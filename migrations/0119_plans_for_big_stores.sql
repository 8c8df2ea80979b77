-- PostgreSQL keeps one plan of a statement for all stores. It does not know the store then, and supposes one of average
-- size: rows divided by stores. Beside thousands of small stores that is a store of a few rows, all of which may be
-- read. In a big store such a plan reads everything the store has. From 100 stores on, it supposes one with a hundredth
-- of all rows; below that, an average store has at least as many.

-- Says so for one table of those that do not have it yet. Answers its name; null: none is left. One at a time, so that
-- its lock, which reads and writes pass, is held for as long as one table is analyzed: the number counts from then on.
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
revoke all on function fd_plan_for_big_stores() from public;
grant execute on function fd_plan_for_big_stores() to fd_worker;

-- The order's id is no key of this index: the planner would look lines of an order up by it, in all lines of the store.
drop index order_items_by_sku;
create index order_items_by_sku
  on order_items (tenant_ref, sku text_pattern_ops, ordered_at desc) include (order_id);
