-- Months of the four largest append-mostly tables, so that an old month is dropped and not deleted row by
-- row (docs/decisions/0022-retention.md).
--
-- Events, deliveries and attempts are looked up by id, and their ids are ordered by time. They are divided
-- by ranges of ids: keys stay as they were, and a look-up by id opens one month. The audit log is read by
-- time, and is divided by time.

-- The least time-ordered id (UUID version 7) of a moment: its first 48 bits are milliseconds since 1970.
create function fd_id_floor(at timestamptz) returns uuid
language sql immutable as $$
  select rpad(lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0'), 32, '0')::uuid
$$;

-- The id of the delivery of an event to an endpoint. Its first 48 bits are those of the event, so that both
-- are in the same month; the rest is a hash of both ids, so that the primary key of deliveries allows one
-- delivery of an event to an endpoint. Version 8: bits of our own choice.
create function fd_delivery_id(event_id uuid, subscription_id uuid) returns uuid
language sql immutable strict as $$
  select (left(replace(event_id::text, '-', ''), 12) || '8' || substr(h, 1, 3)
          || 'a' || substr(h, 4, 15))::uuid
    from md5(event_id::text || subscription_id::text) as h
$$;

-- Storage parameters of a partition; PostgreSQL takes none for the whole table. Rows of deliveries and
-- events are written once more after their insert, on the same page if it has room. A scale factor of the
-- default size would vacuum a month of ten million rows after two million changes.
create function fd_partition_options(parent text) returns text
language sql immutable as $$
  select case parent when 'webhook_deliveries' then 'fillfactor = 50, '
                     when 'webhook_events' then 'fillfactor = 70, ' else '' end
         || 'autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02, '
            'autovacuum_vacuum_insert_scale_factor = 0.05'
$$;

-- Adds one partition with the isolation of its parent; no role may name a partition in a statement, only the
-- parent has grants. Rows of it that had to go to the default partition are moved: answers how many.
create procedure fd_add_partition(parent text, suffix text, bounds text, belongs text, inout moved bigint)
language plpgsql as $$
declare
  part text := parent || '_' || suffix;
  frozen boolean := exists (select from pg_trigger where tgrelid = parent::regclass and tgname = 'frozen');
begin
  execute format('create table %I (like %I including all)', part, parent);
  execute format('alter table %I set (%s)', part, fd_partition_options(parent));
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

-- The partitioned tables, and the column that divides each.
create view partitioned_tables with (security_invoker = true) as
  select c.relname::text as name, a.attname::text as divided_by, a.atttypid = 'uuid'::regtype as by_id
    from pg_partitioned_table p
    join pg_class c on c.oid = p.partrelid and c.relnamespace = 'public'::regnamespace
    join pg_attribute a on a.attrelid = p.partrelid and a.attnum = p.partattrs[0];

-- The months that have a partition.
create view partition_months with (security_invoker = true) as
  select t.name as parent, c.relname::text as name,
         to_date(right(c.relname, 7), 'YYYY_MM') as month
    from partitioned_tables t
    join pg_inherits i on i.inhparent = t.name::regclass
    join pg_class c on c.oid = i.inhrelid
   where c.relname ~ '_[0-9]{4}_[0-9]{2}$';

-- Makes the partition of a month if there is none. Answers how many rows were moved there from the default
-- partition; null if the partition existed.
create function fd_make_month(parent text, month date) returns bigint
language plpgsql as $$
declare
  suffix text := to_char(month, 'YYYY_MM');
  starts text;
  ends text;
  divider text;
  moved bigint := 0;
begin
  if to_regclass(parent || '_' || suffix) is not null then return null; end if;
  -- No statement may wait long behind the lock on the default partition; the loop tries again.
  perform set_config('lock_timeout', '1s', true);
  select t.divided_by,
         case when t.by_id then fd_id_floor(m.starts)::text else m.starts::text end,
         case when t.by_id then fd_id_floor(m.ends)::text else m.ends::text end
    into divider, starts, ends
    from partitioned_tables t,
         (select month::timestamp at time zone 'UTC' as starts,
                 (month + interval '1 month') at time zone 'UTC' as ends) as m
   where t.name = parent;
  call fd_add_partition(parent, suffix, format('for values from (%L) to (%L)', starts, ends),
                        format('%I >= %L and %1$I < %3$L', divider, starts, ends), moved);
  return moved;
end $$;

-- Turns a table into a partitioned one with the same name, columns, checks, indexes, foreign keys,
-- triggers, policies and grants, whatever earlier migrations made of them.
create procedure fd_divide(target text, divide_by text, primary_key text, by_id boolean)
language plpgsql as $$
declare
  old text := target || '_undivided';
  statements text[];
  each text;
  month date;
  moved bigint;
  this_month date := date_trunc('month', now() at time zone 'UTC')::date;
begin
  -- What follows the rows, in this order: indexes, foreign keys, policies, grants, triggers.
  select array_agg(line order by place, line) into statements from (
    select 1 as place, pg_get_indexdef(x.indexrelid) as line
      from pg_index x
     where x.indrelid = target::regclass
       and not exists (select from pg_constraint k where k.conindid = x.indexrelid and k.contype in ('p', 'u'))
    union all
    select 2, format('alter table %I add constraint %I %s', target, conname, pg_get_constraintdef(oid))
      from pg_constraint where conrelid = target::regclass and contype = 'f'
    union all
    select 3, format('create policy %I on %I for %s to %s%s%s', polname, target,
                     case polcmd when '*' then 'all' when 'r' then 'select' when 'a' then 'insert'
                                 when 'w' then 'update' else 'delete' end,
                     (select string_agg(r.rolname, ', ') from pg_roles r where r.oid = any (polroles)),
                     ' using (' || pg_get_expr(polqual, polrelid) || ')',
                     ' with check (' || pg_get_expr(polwithcheck, polrelid) || ')')
      from pg_policy where polrelid = target::regclass
    union all
    select 4, format('grant %s on %I to %I', g.privilege_type, target, r.rolname)
      from pg_class c
     cross join lateral aclexplode(c.relacl) as g
      join pg_roles r on r.oid = g.grantee
     where c.oid = target::regclass and g.grantee <> c.relowner
    union all
    select 5, pg_get_triggerdef(oid)
      from pg_trigger where tgrelid = target::regclass and not tgisinternal) as lines;

  execute format('alter table %I rename to %I', target, old);
  for each in select c.relname from pg_index x join pg_class c on c.oid = x.indexrelid
               where x.indrelid = old::regclass loop
    execute format('alter index %I rename to %I', each, left(each, 52) || '_undivided');
  end loop;
  execute format('create table %I (like %I including defaults including constraints including generated
                  including storage) partition by range (%I)', target, old, divide_by);

  call fd_add_partition(target, 'default', 'default', '', moved);
  if by_id then
    -- Ids of version 4, from before ids were ordered by time, are spread over the whole range: one in a
    -- hundred is between these two, as if of a month that is still to come, and stays in the default one.
    call fd_add_partition(target, 'before', format('for values from (minvalue) to (%L)',
      fd_id_floor(this_month::timestamp at time zone 'UTC')), '', moved);
    call fd_add_partition(target, 'random', format('for values from (%L) to (maxvalue)',
      fd_id_floor('2100-01-01 00:00:00+00')), '', moved);
  else
    for month in execute format('select distinct date_trunc(''month'', %I at time zone ''UTC'')::date
                                   from %I', divide_by, old) loop
      perform fd_make_month(target, month);
    end loop;
  end if;
  perform fd_make_month(target, this_month);
  perform fd_make_month(target, (this_month + interval '1 month')::date);

  execute format('insert into %I select * from %I', target, old);
  execute format('drop table %I', old);
  execute format('alter table %I add constraint %I primary key (%s)', target, target || '_pkey', primary_key);
  execute format('alter table %I enable row level security, force row level security', target);
  foreach each in array coalesce(statements, '{}') loop execute each; end loop;
end $$;

-- Every numbering is checked by a trigger, below: no unique index reaches over months.
alter table webhook_deliveries drop constraint webhook_deliveries_tenant_ref_event_id_fkey;

call fd_divide('webhook_events', 'id', 'tenant_ref, id', true);
call fd_divide('webhook_deliveries', 'id', 'tenant_ref, id', true);
call fd_divide('webhook_attempts', 'delivery_id', 'tenant_ref, delivery_id, attempt', true);
call fd_divide('audit_log', 'created_at', 'tenant_ref, id, created_at', false);
drop procedure fd_divide(text, text, text, boolean);

-- A trigger of the table is not asked by a statement that names a partition.
do $$
declare
  part regclass;
begin
  for part in select i.inhrelid from pg_trigger t join pg_inherits i on i.inhparent = t.tgrelid
               where t.tgname = 'frozen' loop
    call fd_freeze(part);
  end loop;
end $$;

create index webhook_events_feed on webhook_events (tenant_ref, sequence) where sequence is not null;
create index webhook_deliveries_of_event on webhook_deliveries (tenant_ref, event_id, subscription_id);

-- That of 0037 and 0042, which also refuses a number that another event of the store has. The numbering of
-- a store is serialised by the row of its feed, so that no other numbering is under way. A plan that is made
-- while the tables are small is used when they are large, so that it must go by the indexes from the start.
create or replace function fd_queue_sealed() returns trigger
language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  if exists (select from (select s.tenant_ref, min(s.sequence) as first, max(s.sequence) as last
                            from sealed s
                            join unsealed u on u.tenant_ref = s.tenant_ref and u.id = s.id
                           where s.sequence is distinct from u.sequence
                           group by s.tenant_ref) as numbered
              where (select count(*) <> count(distinct e.sequence)
                       from webhook_events e
                      where e.tenant_ref = numbered.tenant_ref
                        and e.sequence between numbered.first and numbered.last)) then
    raise exception 'two events of a store would have the same number'
      using errcode = 'unique_violation', constraint = 'webhook_events_sequence';
  end if;
  insert into webhook_queue (tenant_ref, delivery_id, subscription_id, event_id, due_at, attempt_count,
                             ladder_from)
  select d.tenant_ref, d.id, d.subscription_id, d.event_id, d.next_retry_at, d.attempt_count, d.ladder_from
    from sealed
    join unsealed on unsealed.tenant_ref = sealed.tenant_ref and unsealed.id = sealed.id
    join webhook_deliveries as d on d.tenant_ref = sealed.tenant_ref and d.event_id = sealed.id
   where unsealed.payload is null and sealed.payload is not null and d.status = 'pending'
      on conflict do nothing;
  return null;
end $$;

-- In place of the foreign key, which would read all deliveries when a month of events is dropped. Deliveries
-- are dropped before their events, so that a delivery always has one.
create function fd_deliveries_have_events() returns trigger
language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  if exists (select from added d
              where not exists (select from webhook_events e
                                 where e.tenant_ref = d.tenant_ref and e.id = d.event_id)) then
    raise exception 'a delivery has no event'
      using errcode = 'foreign_key_violation', constraint = 'webhook_deliveries_event';
  end if;
  return null;
end $$;
create trigger have_events after insert on webhook_deliveries
  referencing new table as added for each statement execute function fd_deliveries_have_events();

-- Makes the first missing partition of this month and of the next ones: one at a time, so that its locks are
-- held for milliseconds. Answers its name (null: none is missing) and how many rows of this month had gone to
-- the default partition because theirs was missing.
create function fd_make_partition(ahead integer, out made text, out misplaced bigint)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  missing record;
begin
  misplaced := 0;
  select t.name, n.month into missing
    from partitioned_tables t,
         (select (date_trunc('month', now() at time zone 'UTC') + make_interval(months => each))::date as month
            from generate_series(0, least(ahead, 24)) as each) as n
   where not exists (select from partition_months m where m.parent = t.name and m.month = n.month)
   order by n.month, t.name
   limit 1;
  if missing.name is null then return; end if;
  made := missing.name || ' ' || missing.month;
  misplaced := fd_make_month(missing.name, missing.month);
  -- Ids of version 4 may be in the range of a month that is still to come.
  if missing.month > now() at time zone 'UTC' then misplaced := 0; end if;
end $$;

-- How many rows each store has in a month, for the archive.
create function fd_month_rows(parent text, wanted date) returns table (tenant_ref text, total bigint)
language plpgsql stable security definer set search_path = public, pg_temp as $$
declare
  part text;
begin
  select m.name into part from partition_months m where m.parent = fd_month_rows.parent and m.month = wanted;
  if part is null then return; end if;
  return query execute format('select tenant_ref, count(*) from %I group by tenant_ref order by 1', part);
end $$;

-- Whether a month must stay for now: it has a delivery that is still to be sent, or its deliveries are there.
create function fd_month_must_stay(parent text, wanted date) returns boolean
language sql stable as $$
  select case parent
    when 'webhook_deliveries' then
      exists (select from webhook_queue q where q.delivery_id >= starts and q.delivery_id < ends)
      or exists (select from webhook_lanes l, unnest(l.deliveries) as d (id) where d.id >= starts and d.id < ends)
    when 'webhook_attempts' then has_deliveries
    when 'webhook_events' then has_deliveries
    else false end
    from (select fd_id_floor(wanted::timestamp at time zone 'UTC') as starts,
                 fd_id_floor((wanted + interval '1 month') at time zone 'UTC') as ends,
                 exists (select from partition_months m
                          where m.parent = 'webhook_deliveries' and m.month = wanted) as has_deliveries) as m
$$;

-- Drops a month. Refuses (answers false) a month that must stay, and one that ended less than 28 days ago,
-- whatever a setting says.
create function fd_drop_month(parent text, wanted date) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  part text;
begin
  select m.name into part from partition_months m where m.parent = fd_drop_month.parent and m.month = wanted;
  if part is null or (wanted + interval '1 month') at time zone 'UTC' > now() - interval '28 days' then
    return false;
  end if;
  perform set_config('lock_timeout', '1s', true);
  execute format('lock table %I in access exclusive mode', parent);
  if fd_month_must_stay(parent, wanted) then return false; end if;
  execute format('drop table %I', part);
  return true;
end $$;

-- How many rows of the last three months are in default partitions: none, while partitions are made ahead.
create function fd_misplaced_rows() returns bigint
language plpgsql stable security definer set search_path = public, pg_temp as $$
declare
  divided record;
  found bigint;
  total bigint := 0;
begin
  for divided in select * from partitioned_tables loop
    execute format('select count(*) from (select from %I where %I >= %L and %2$I < %4$L limit 1000) as seen',
      divided.name || '_default', divided.divided_by,
      case when divided.by_id then fd_id_floor(now() - interval '3 months')::text
           else (now() - interval '3 months')::text end,
      case when divided.by_id then fd_id_floor(now())::text else now()::text end) into found;
    total := total + found;
  end loop;
  return total;
end $$;

revoke all on function fd_id_floor(timestamptz), fd_delivery_id(uuid, uuid), fd_partition_options(text),
  fd_make_month(text, date), fd_deliveries_have_events(),
  fd_make_partition(integer), fd_month_rows(text, date), fd_month_must_stay(text, date),
  fd_drop_month(text, date), fd_misplaced_rows() from public;
revoke all on procedure fd_add_partition(text, text, text, text, bigint) from public;
grant execute on function fd_id_floor(timestamptz), fd_delivery_id(uuid, uuid) to fd_app, fd_worker;
grant execute on function fd_make_partition(integer), fd_month_rows(text, date),
  fd_month_must_stay(text, date), fd_drop_month(text, date), fd_misplaced_rows() to fd_worker;
grant select on partitioned_tables, partition_months to fd_worker, fd_operator;
