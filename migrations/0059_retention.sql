-- What the retention loops need: which rows they may delete, by which index, and where archives are listed.

-- The archives that were written before rows were dropped: one row for each file in the blob store. A month
-- of a store is complete when a part says so.
create table retention_archives (
  tenant_ref  text        not null references stores,
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

-- Refuses to delete a row that is younger than a time; the arguments are its column and that time. So an
-- append-only table can be pruned, and what was written lately stays, whatever a setting says.
create function fd_refuse_young() returns trigger
language plpgsql as $$
begin
  if (to_jsonb(old) ->> tg_argv[0])::timestamptz > now() - tg_argv[1]::interval then
    raise exception 'a row of % is too young to be deleted', tg_table_name using errcode = 'FD002';
  end if;
  return old;
end $$;
revoke all on function fd_refuse_young() from public;

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
revoke all on procedure fd_freeze_young(regclass, text, interval) from public;

call fd_freeze_young('fraud_decisions', 'created_at', '28 days');
call fd_freeze_young('order_timeline', 'at', '365 days');
call fd_freeze_young('site_versions', 'created_at', '28 days');
call fd_freeze_young('webhook_attempts_before', 'at', '28 days');
call fd_freeze_young('webhook_attempts_random', 'at', '28 days');
call fd_freeze_young('webhook_attempts_default', 'at', '28 days');
grant delete on inventory_reservations, payment_days, gateway_events to fd_worker;
grant delete on asset_refs to fd_worker;

-- The worker looks over all stores for rows that are old enough.
create policy due on fraud_decisions for select to fd_worker using (true);
create policy due on order_timeline for select to fd_worker using (true);
create policy due on site_versions for select to fd_worker using (true);
create policy due on inventory_reservations for select to fd_worker using (true);

create index inventory_reservations_released on inventory_reservations (tenant_ref, released_at)
 where released_at is not null;
create index gateway_events_old on gateway_events (tenant_ref, received_at);
create index mails_old on mails (created_at);

-- Rows with ids of version 4, from before ids were ordered by time, are in no month. The worker deletes
-- them by slices, in these partitions alone; a month is only dropped.
do $$
declare
  part text;
begin
  for part in select 'webhook_' || name || suffix
                from unnest('{events,deliveries,attempts}'::text[]) as name,
                     unnest('{_before,_random,_default}'::text[]) as suffix loop
    execute format('grant select, delete on %I to fd_worker', part);
    execute format('create policy due on %I for select to fd_worker using (true)', part);
  end loop;
end $$;

-- Deletes words of the store that no product has any more, among the next `count` words after one. Answers
-- the last word that was looked at (null: there is none after it) and how many were deleted. It runs as
-- fd_search, whose text index row level security would prevent.
create function fd_search_forget(after text, count integer)
returns table (last_word text, looked_at bigint, deleted bigint)
language sql security definer set search_path = public, pg_temp
set enable_seqscan = off as $$
  with looked as materialized (
    select w.word from search_words w
     where w.tenant_ref = fd_tenant() and w.word > after
     order by w.word
     limit count
  ), gone as (
    delete from search_words w
     using looked, stores s
     where w.tenant_ref = fd_tenant() and w.word = looked.word and s.tenant_ref = fd_tenant()
       and not exists (select from product_search p
                        where p.tenant_ref = fd_tenant()
                          and p.words @@ format('''%s/%s''', s.store_number, looked.word)::tsquery)
    returning w.word
  )
  select (select max(word) from looked), (select count(*) from looked), (select count(*) from gone)
$$;
create policy forget on search_words for delete to fd_search using (true);
grant delete on search_words to fd_search;
revoke all on function fd_search_forget(text, integer) from public;
grant execute on function fd_search_forget(text, integer) to fd_worker;
alter function fd_search_forget(text, integer) owner to fd_search;
create policy due on search_words for select to fd_worker using (true);

-- Storage parameters of tables that grow and are pruned or never changed. A fifth of ten million rows is too
-- late for a vacuum.
do $$
declare
  each text;
begin
  foreach each in array array['order_timeline', 'inventory_movements', 'inventory_order_changes',
                              'payment_days', 'mails', 'site_versions'] loop
    execute format('alter table %I set (autovacuum_vacuum_scale_factor = 0.02,
      autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05)', each);
  end loop;
end $$;
