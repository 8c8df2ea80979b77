-- The ground that every other table stands on: who the tenant is, the fence around its rows, time, ids, the
-- months of large tables, and the platform's own queues.
--
-- A store is a tenant, and `tenant_ref` names it in every row that it has. A table that each checkout or each
-- event writes to has no foreign key to `stores`: PostgreSQL would lock the row of the store for each row
-- that is written. The policy of the table says whose row it is, and no role may delete or rename a store.
--
-- An update is cheap (no index gets a new entry) if it changes no column that stands in an index or in the
-- condition of one, and if the page has room: `fillfactor` leaves that room in tables whose rows are updated.
--
-- By default a table is vacuumed after a fifth of its rows has changed, and analyzed after a tenth: for a
-- million orders that is months. Tables that grow with the orders follow within a fiftieth, by their
-- autovacuum parameters. Those that only grow are vacuumed after inserts, for their visibility map, by which
-- a count or a list reads the index alone.

-- Raises, so that a statement without a tenant is an error and never an empty answer.
create function fd_no_tenant() returns text
language plpgsql stable as $$
begin
  raise exception 'no tenant is set' using errcode = 'FD001';
end $$;

-- Plain SQL, so that the planner folds it into the policy and uses the index.
create function fd_tenant() returns text
language sql stable as $$
  select coalesce(nullif(current_setting('app.tenant', true), ''), fd_no_tenant())
$$;

revoke all on function fd_no_tenant, fd_tenant from public;
grant execute on function fd_no_tenant, fd_tenant to fd_app, fd_worker, fd_operator, fd_search,
  fd_gate;

-- Fences a tenant table: row level security that binds its owner too, the tenant's policy for the processes,
-- an open one for data migrations, a reading one for the operator.
create procedure fd_fence(target regclass, app text, worker text)
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
end $$;

revoke all on procedure fd_fence from public;

-- Lets the worker look over all stores for due rows of a table, while no store is set. The simple condition `due or
-- tenant_ref = fd_tenant()` would leave fd_tenant() in the statement, which raises while no store is set, even when
-- the statement is only planned. So the condition is a restrictive policy. It is written as `case ... is not null`
-- because PostgreSQL estimates that such a test holds for nearly all rows (0.995); any other form halves its estimates
-- or worse, and a claim then reads all rows of a store in place of the first due ones.
create procedure fd_due(target regclass)
language plpgsql as $$
begin
  execute format('create policy due on %s for select to fd_worker using (true)', target);
  execute format('create policy one_store on %s as restrictive for select to fd_worker
                  using (case when coalesce(current_setting(''app.tenant'', true), '''') in ('''', tenant_ref)
                              then 1 end is not null)', target);
end $$;

revoke all on procedure fd_due from public;

-- Refuses every change: the trigger of an append-only table.
create function fd_refuse_change() returns trigger
language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'FD002';
end $$;

-- Makes a table append-only for every role, whatever is granted.
create procedure fd_freeze(target regclass)
language plpgsql as $$
begin
  execute format('create trigger frozen before update or delete or truncate on %s
                  for each statement execute function fd_refuse_change()', target);
end $$;

revoke all on function fd_refuse_change from public;
revoke all on procedure fd_freeze from public;

-- Refuses to delete a row that is younger than a time; the arguments are its column and that time. So an append-only
-- table can be pruned, and recent rows stay, whatever a setting says.
create function fd_refuse_young() returns trigger
language plpgsql as $$
begin
  if (to_jsonb(old) ->> tg_argv[0])::timestamptz > now() - tg_argv[1]::interval then
    raise exception 'a row of % is too young to be deleted', tg_table_name using errcode = 'FD002';
  end if;
  return old;
end $$;

-- Append-only, and pruned by the worker after a time.
create procedure fd_freeze_young(target regclass, written text, keep interval)
language plpgsql as $$
begin
  execute format('drop trigger if exists frozen on %s', target);
  execute format('create trigger frozen before update or truncate on %s
                  for each statement execute function fd_refuse_change()', target);
  execute format('create trigger young before delete on %s
                  for each row execute function fd_refuse_young(%L, %L)', target, written, keep);
  execute format('grant delete on %s to fd_worker', target);
end $$;

revoke all on function fd_refuse_young from public;
revoke all on procedure fd_freeze_young from public;

-- Business time: by which orders, holds, coupons, expiry, retention and retries live. It is the machine's
-- time, moved by an offset of the store in hand (decision 0011). The offset is a setting of the transaction,
-- as the tenant is; where it is unset, and where no store is in hand, business time is the machine's.
--
-- Both functions are written so that PostgreSQL inlines them, and without `coalesce`, of which it does not
-- know that it leaks no row: a condition with one could not be looked up in an index under row level
-- security. An empty setting is an unset one: that is what a setting of one transaction leaves behind on its
-- connection.
--
-- Every time that a row is given by default is business time, except in these tables:
--  audit_log, ledger_seals                evidence of when something was done
--  credentials, storefront_tokens,
--  owners, owner_sessions                 access, which a moved clock neither grants nor ends
--  domains                                host names, which the world outside checks
--  mails, outbox, idempotency_keys        the platform's own queues and claims, as are the columns `due_at`
--                                         of privacy_exports, analytics_generations and segment_positions
--  retention_archives, schema_migrations,
--  global_mail_suppressions               the installation, not a store
--  test_clocks                            the clock itself
create function fd_now() returns timestamptz
  language sql stable parallel safe as $$
  select case when current_setting('app.clock_offset', true) <> ''
              then now() + current_setting('app.clock_offset')::interval
              else now() end
$$;

-- Business time at this very moment, not at the transaction's begin: for rows that are ordered by their time.
create function fd_clock() returns timestamptz
  language sql volatile parallel safe as $$
  select case when current_setting('app.clock_offset', true) <> ''
              then clock_timestamp() + current_setting('app.clock_offset')::interval
              else clock_timestamp() end
$$;

revoke all on function fd_now, fd_clock from public;
grant execute on function fd_now to fd_app, fd_worker, fd_operator, fd_gate;
grant execute on function fd_clock to fd_app, fd_worker, fd_operator;

-- Ids of new rows are uuids of version 7 (RFC 9562), which begin with the time. Random ids put each row at a
-- random place of every index on them, and after each checkpoint PostgreSQL writes a page to its log in full
-- when it is first touched: a checkout in a store with many orders would write eight times as much as in a
-- new one. Ids with the time in front touch the last page of each index only (decision 0021).
--
-- 48 bits are milliseconds, 12 bits a fraction of one, so that rows are in the order in which they were
-- written, but for those of one microsecond, and 62 bits are random. It is the machine's time: an id is no
-- promise to a merchant, and a store with a moved clock must not spread its rows over the index. TypeScript
-- makes the same ids by newId() (kernel/id.ts).
--
-- PostgreSQL has uuidv7() from version 18 on only. This is one expression that uses the time once, so that
-- PostgreSQL inlines it into the insert: time and fraction are 15 hexadecimal digits, the version is put
-- after the 12th of them, and variant and random bits are the end of a random uuid.
create function fd_uuid() returns uuid
  language sql volatile parallel safe as $$
  select (overlay(lpad(to_hex(floor(date_part('epoch', clock_timestamp()) * 4096000)::bigint), 15, '0')
                  placing '7' from 13 for 0)
          || substr(gen_random_uuid()::text, 20))::uuid
$$;

revoke all on function fd_uuid from public;
grant execute on function fd_uuid to fd_app, fd_worker;

-- PostgreSQL 18 makes the same ids by itself, in a fifth of the time: a millisecond and 4096 parts of it
-- first.
do $$
begin
  if current_setting('server_version_num')::integer >= 180000 then
    create or replace function fd_uuid() returns uuid language sql volatile as 'select uuidv7()';
  end if;
end
$$;

-- Bundles of checks. PostgreSQL reads the stored text of every check constraint anew in every statement that
-- writes to the table, about 12 µs each, and a checkout would pay for about 130 of them. A bundle is one
-- check with one function for all conditions of a table, which PostgreSQL keeps ready (decision 0050). Tables
-- that every checkout writes to and that have more than three checks are bundled; a partitioned one cannot
-- be, since a partition does not inherit a condition about the row as a whole.

-- A condition as it is stored, with every column written as a member of `o`: the row that is checked.
create function fd_condition_of_row(condition text, columns text[]) returns text
  language sql immutable
  return (
    select string_agg(
             case when trim(both '"' from part[1]) = any (columns) then 'o.' || part[1] else part[1] end,
             '' order by at)
      from regexp_matches(
             condition,
             -- Texts, names of types and names of functions are not columns.
             $$'(?:[^']|'')*'|::\s*[[:alpha:]_"]+|[[:alpha:]_]\w*\s*\(|"[^"]+"|\w+|\W$$, 'g'
           ) with ordinality as found (part, at)
  );

-- Refuses a row by the name of the check that it violates.
create function fd_refuse_row(relation text, name text) returns void language plpgsql immutable as $$
begin
  raise exception using
    errcode = 'check_violation', table = relation, constraint = name,
    message = format('new row for relation "%s" violates check constraint "%s"', relation, name);
end
$$;

-- Makes one check of all checks of a table. A violation still has the name of the one that was violated.
create procedure fd_bundle_checks(target regclass) language plpgsql as $$
declare
  columns text[] := (select array_agg(attname::text) from pg_attribute where attrelid = target and attnum > 0);
  checker text := 'fd_check_' || target;
  bundle text := target || '_checks';
  checks record;
begin
  select string_agg(format('(%s)', condition), E'\n    and ' order by name) as all_hold,
         string_agg(format('if not (%s) then perform public.fd_refuse_row(%L, %L); end if;', condition, target, name),
                    E'\n  ' order by name) as named,
         string_agg(format('drop constraint %I', name), ', ') as dropped,
         jsonb_object_agg(name, stored) as stored
    into checks
    from (select conname as name, pg_get_expr(conbin, conrelid) as stored,
                 fd_condition_of_row(pg_get_expr(conbin, conrelid), columns) as condition
            from pg_constraint
           where conrelid = target and contype = 'c') as one;
  execute format($f$
create function %I(o %s) returns boolean language plpgsql immutable parallel safe as $body$
begin
  -- One expression, because PostgreSQL prepares each expression once in a transaction.
  if (%s) is not false then
    return true;
  end if;
  %s
  return false;
end
$body$
$f$, checker, target, checks.all_hold, checks.named);
  execute format('revoke all on function %I from public', checker);
  execute format('grant execute on function %I to fd_app, fd_worker, fd_operator', checker);
  execute format('alter table %s %s, add constraint %I check (%I(%s))',
                 target, checks.dropped, bundle, checker, target);
  execute format('comment on constraint %I on %s is %L', bundle, target, checks.stored);
end
$$;

-- Gives a table its single checks back. A migration that changes one of them calls this first, and bundles
-- them again.
create procedure fd_unbundle_checks(target regclass) language plpgsql as $$
declare
  bundle text := target || '_checks';
  added text;
begin
  select string_agg(format('add constraint %I check (%s)', name, condition), ', ' order by name) into added
    from pg_constraint as k,
         jsonb_each_text(obj_description(k.oid, 'pg_constraint')::jsonb) as one (name, condition)
   where k.conrelid = target and k.conname = bundle;
  execute format('alter table %s drop constraint %I, %s', target, bundle, added);
  execute format('drop function %I', 'fd_check_' || target);
end
$$;

revoke all on function fd_condition_of_row, fd_refuse_row from public;
grant execute on function fd_refuse_row to fd_app, fd_worker, fd_operator;
revoke all on procedure fd_bundle_checks, fd_unbundle_checks from public;

-- Months of the largest append-mostly tables, so that an old month is dropped and not deleted row by row
-- (decision 0022). Events, deliveries and attempts are looked up by id, and are divided by ranges of ids,
-- which begin with the time: a look-up by id opens one month. The audit log is read by time, and is divided
-- by time.

-- The least time-ordered id (UUID version 7) of a moment: its first 48 bits are milliseconds since 1970.
create function fd_id_floor(at timestamptz) returns uuid
language sql immutable as $$
  select rpad(lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0'), 32, '0')::uuid
$$;

revoke all on function fd_id_floor from public;
grant execute on function fd_id_floor to fd_app, fd_worker;

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

grant select on partitioned_tables, partition_months to fd_worker, fd_operator;

-- Storage parameters of a partition; PostgreSQL takes none for the whole table. Rows of deliveries and events
-- are written once more after their insert, on the same page if it has room. A scale factor of the default
-- size would vacuum a month of ten million rows after two million changes.
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

revoke all on function fd_partition_options, fd_make_month from public;
revoke all on procedure fd_add_partition from public;

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

revoke all on function fd_make_partition, fd_month_rows, fd_misplaced_rows from public;
grant execute on function fd_make_partition, fd_month_rows, fd_misplaced_rows to fd_worker;

-- A value derived from the SECRET_KEY that the database was set up with; it does not reveal the key. `migrate` writes
-- the only row, and the doctor compares it, so that a changed key is reported as a changed key.
create table installation (
  only_row  boolean default true primary key check (only_row),
  key_check text    not null check (length(key_check) = 64)
);

-- Who changed what, and when. A row is written in the transaction of the change, and never changed. A checkout writes
-- nothing here.
create table audit_log (
  tenant_ref     text        not null,
  id             uuid        not null default fd_uuid(),
  -- A kind and an id, e.g. 'merchant_key:<credential id>', 'operator', 'owner:<id>', 'system'.
  actor          text        not null check (length(actor) <= 200),
  action         text        not null check (length(action) <= 100),
  entity         text        not null check (length(entity) <= 300),
  before         jsonb,
  after          jsonb,
  -- The caller's own words, verbatim, where an act needs them.
  reason         text        check (length(reason) <= 2000),
  correlation_id uuid,
  created_at     timestamptz not null default clock_timestamp(),
  primary key (tenant_ref, id, created_at)
) partition by range (created_at);
call fd_fence('audit_log', app => 'select, insert', worker => 'select, insert');
call fd_freeze('audit_log');

-- For the operator's list, over all stores.
create index audit_log_all_newest on audit_log (created_at desc, id desc);
create index audit_log_all_of_action on audit_log (action, created_at desc, id desc);
create index audit_log_all_of_actor on audit_log (actor, created_at desc, id desc);
-- For the list of a store.
create index audit_log_newest on audit_log (tenant_ref, created_at desc, id desc);
create index audit_log_of_action on audit_log (tenant_ref, action, created_at desc, id desc);
create index audit_log_of_actor on audit_log (tenant_ref, actor, created_at desc, id desc);

-- A month's partition is made before the month begins; rows without one go to the default partition.
do $$
declare
  this_month date := date_trunc('month', now() at time zone 'UTC')::date;
  moved bigint;
begin
  call fd_add_partition('audit_log', 'default', 'default', '', moved);
  perform fd_make_month('audit_log', this_month);
  perform fd_make_month('audit_log', (this_month + interval '1 month')::date);
end $$;

-- Internal events: news that must travel to another part of the platform, committed with its cause.
create table outbox (
  tenant_ref      text        not null,
  id              uuid        not null default fd_uuid(),
  type            text        not null check (length(type) <= 100),
  payload         jsonb       not null,
  attempt_count   integer     not null default 0 check (attempt_count >= 0),
  -- Null once it has been handled.
  next_attempt_at timestamptz default now(),
  lease_until     timestamptz,
  lease_token     uuid,
  last_error      text        check (length(last_error) <= 500),
  created_at      timestamptz not null default now(),
  handled_at      timestamptz,
  primary key (tenant_ref, id),
  check ((handled_at is null) = (next_attempt_at is not null))
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05,
        autovacuum_analyze_scale_factor = 0.02);
call fd_fence('outbox', app => 'select, insert', worker => 'select, insert, update, delete');
call fd_due('outbox');

-- Every queue has these two indexes: by the due time alone a worker finds out whether there is work at all,
-- and by store and due time the stores take turns.
create index outbox_due on outbox (next_attempt_at) where next_attempt_at is not null;
create index outbox_due_of_tenant on outbox (tenant_ref, next_attempt_at)
 where next_attempt_at is not null;
create index outbox_handled on outbox (tenant_ref, handled_at) where handled_at is not null;

-- One row for each Idempotency-Key: who runs it, how far it has come, and what was answered.
create table idempotency_keys (
  tenant_ref      text        not null,
  operation       text        not null check (length(operation) <= 40),
  key             text        not null check (length(key) between 1 and 255),
  -- Keyed hash of the canonical request, without card data.
  fingerprint     bytea       not null check (length(fingerprint) = 32),
  state           text        not null default 'running' check (state in ('running', 'answered')),
  -- The last step that committed; where a crashed request is taken up again.
  recovery_point  text        not null default 'started' check (length(recovery_point) <= 40),
  -- What the operation made, e.g. the order's id.
  resource_id     uuid,
  lease_until     timestamptz,
  lease_token     uuid,
  response_status integer     check (response_status between 200 and 499),
  -- The bytes that were sent: a replay repeats them.
  response_body   text,
  created_at      timestamptz not null default now(),
  answered_at     timestamptz,
  -- When an alert last reported that the operation cannot be ended. The reconciler tries again every minute, and must
  -- not report as often.
  alerted_at      timestamptz,
  -- A lease and the time of the next attempt are two things. `lease_until` says how long the process that
  -- works on a key may do so; `next_attempt_at` says when a key whose outcome is unknown is looked at again,
  -- and that no process works on it until then. A running key has one of the two.
  next_attempt_at timestamptz,
  -- When a running key may be taken over. A column, and no expression in each statement: under row level
  -- security PostgreSQL never looks up a coalesce in an index.
  due_at          timestamptz generated always as (coalesce(next_attempt_at, lease_until)) stored,
  primary key (tenant_ref, operation, key),
  check ((state = 'answered') = (answered_at is not null and response_status is not null)),
  constraint idempotency_keys_running
    check (state = 'answered' or (lease_until is null) <> (next_attempt_at is null))
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02,
        autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
call fd_fence('idempotency_keys', app => 'select, insert, update, delete',
              worker => 'select, insert, update, delete');
call fd_due('idempotency_keys');
call fd_bundle_checks('idempotency_keys');

-- An erasure finds the keys of a customer's orders by this index.
create index idempotency_keys_of_resource on idempotency_keys (tenant_ref, resource_id)
 where resource_id is not null;
create index idempotency_keys_due on idempotency_keys (due_at)
  where state = 'running';
create index idempotency_keys_due_of_tenant on idempotency_keys (tenant_ref, due_at)
  where state = 'running';
-- The answers that are deleted after 30 days. Answers of operations that moved money are kept for good: a key
-- that is forgotten would move it again. Checkouts go: an order has its key for good. So do the scheduler's
-- own renewals (their keys begin with `sub:`), and what was refused before it began.
create index idempotency_keys_old on idempotency_keys (tenant_ref, answered_at)
 where state = 'answered'
   and (operation not in ('refund', 'cancel', 'cancel_remaining', 'edit', 'correct', 'release', 'return_receive',
                          'exchange', 'pay', 'renewal', 'gift_card_issue', 'gift_card_batch', 'gift_card_adjust',
                          'store_credit_credit', 'store_credit_debit')
        or (operation = 'renewal' and starts_with(key, 'sub:'))
        or (response_status >= 300 and recovery_point = 'started'));

-- Counters of the rate limiters. Unlogged: a crash forgets one minute of counting, and every count is spared
-- its write-ahead log.
--
-- Half of each page is left free, and no index but the key's: then a count is rewritten within its page, and
-- the page is cleaned as it is read.
create unlogged table limit_counters (
  bucket       text        not null primary key check (length(bucket) <= 300),
  window_start timestamptz not null,
  hits         integer     not null check (hits >= 0),
  -- How long the window of a counter is.
  seconds      integer     not null default 3600 check (seconds > 0)
) with (fillfactor = 50);
grant select, insert, update on limit_counters to fd_app;
grant select, insert, update, delete on limit_counters to fd_worker;

-- Mail to be sent, or, without an SMTP server, kept for the operator to read.
create table mails (
  id              uuid        not null default fd_uuid() primary key,
  -- The store it concerns, if any. Mail goes to people, so this is no tenant's table.
  tenant_ref      text,
  recipient       text        not null check (length(recipient) <= 254),
  subject         text        not null check (length(subject) <= 200),
  body            text        not null check (length(body) <= 20000),
  attempt_count   integer     not null default 0 check (attempt_count >= 0),
  -- Null once it is sent or given up.
  next_attempt_at timestamptz default now(),
  lease_until     timestamptz,
  lease_token     uuid,
  last_error      text        check (length(last_error) <= 500),
  created_at      timestamptz not null default now(),
  sent_at         timestamptz,
  -- The order that its mail links to: such a mail is a customer's, whom the privacy export shows it, and an
  -- erasure deletes it.
  order_id        uuid,
  -- The mail as HTML, beside its text.
  html            text        check (length(html) <= 1000000),
  -- Kept for reading and never sent, as mails of a sandbox to strangers. It is no dead mail.
  kept            boolean     not null default false,
  constraint mails_kept check (not kept or next_attempt_at is null)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02,
        autovacuum_vacuum_insert_scale_factor = 0.05);
grant insert on mails to fd_app;
grant select, insert, update, delete on mails to fd_worker;
grant select on mails to fd_operator;

create index mails_due on mails (next_attempt_at) where next_attempt_at is not null;
create index mails_old on mails (created_at);
create index mails_of_order on mails (tenant_ref, order_id) where order_id is not null;
-- Mails that are no longer tried, for the metrics: without it each scrape would read all mails of a month.
create index mails_dead on mails (created_at)
       where sent_at is null and next_attempt_at is null and not kept;

grant delete, select (id, tenant_ref, order_id) on mails to fd_gate;

-- The API writes mails and does not read them: they have links for people. So it can only delete those of its
-- own store, and learns nothing but their number.
create function fd_delete_order_mails(wanted uuid[]) returns integer
language sql volatile security definer set search_path = public, pg_temp as $$
  with gone as (
    delete from mails where tenant_ref = fd_tenant() and order_id = any (wanted) returning id)
  select count(*)::integer from gone
$$;

alter function fd_delete_order_mails owner to fd_gate;
revoke all on function fd_delete_order_mails from public;
grant execute on function fd_delete_order_mails to fd_app, fd_worker;

-- The archives that were written before rows were dropped: one row for each file in the blob store. A month
-- of a store is complete when a part says so.
create table retention_archives (
  tenant_ref  text        not null,
  table_name  text        not null check (length(table_name) <= 63),
  -- The month of a partition, or of the first row of a slice.
  month       date        not null,
  part        integer     not null check (part > 0),
  row_count   integer     not null check (row_count > 0),
  -- The hash of the file in the blob store, which is its name there, and of the lines in it.
  file_sha256 text        not null check (file_sha256 ~ '^[0-9a-f]{64}$'),
  rows_sha256 text        not null check (rows_sha256 ~ '^[0-9a-f]{64}$'),
  bytes       bigint      not null check (bytes > 0),
  -- The key of the last row, after which the next part begins.
  last_key    text        not null,
  created_at  timestamptz not null default now(),
  primary key (tenant_ref, table_name, month, part)
);
call fd_fence('retention_archives', app => 'select', worker => 'select, insert');
call fd_freeze('retention_archives');
