-- Business time: by which orders, holds, coupons, expiry, retention and retries live. It is the machine's time,
-- moved by an offset of the store in hand. The offset is a setting of the transaction, as the tenant is; where
-- it is unset, which today is everywhere, and where no store is in hand, business time is the machine's.
--
-- Both functions are written so that PostgreSQL inlines them, and without `coalesce`, of which it does not know
-- that it leaks no row: a condition with one could not be looked up in an index under row level security. An
-- empty setting is an unset one: that is what a setting of one transaction leaves behind on its connection.
create function fd_now() returns timestamptz
  language sql stable parallel safe as $$
  select case when current_setting('app.clock_offset', true) <> ''
              then now() + current_setting('app.clock_offset')::interval
              else now() end
$$;

-- The same at this very moment, not at the transaction's begin: for rows whose time is their order.
create function fd_clock() returns timestamptz
  language sql volatile parallel safe as $$
  select case when current_setting('app.clock_offset', true) <> ''
              then clock_timestamp() + current_setting('app.clock_offset')::interval
              else clock_timestamp() end
$$;

revoke all on function fd_now(), fd_clock() from public;
grant execute on function fd_now(), fd_clock() to fd_app, fd_worker, fd_operator;

-- Every time that a row is given by default is business time, except in these tables:
--   audit_log, ledger_seals              evidence of when something was done
--   credentials, owners, owner_sessions  access, which a moved clock neither grants nor ends
--   domains                              host names, which the world outside checks
--   mails, outbox, idempotency_keys      the platform's own queues and claims; privacy_exports.due_at, too
--   schema_migrations                    the installation, not a store
do $$
declare
  one record;
begin
  for one in
    select d.adrelid::regclass as target, a.attname as name,
           pg_get_expr(d.adbin, d.adrelid) as written
      from pg_attrdef d
      join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
      join pg_class c on c.oid = d.adrelid
     where c.relnamespace = 'public'::regnamespace
       and pg_get_expr(d.adbin, d.adrelid) ~ '\m(now|clock_timestamp)\(\)'
       and c.relname not in ('audit_log', 'ledger_seals', 'credentials', 'owners', 'owner_sessions', 'domains',
                             'mails', 'outbox', 'idempotency_keys', 'schema_migrations')
       and (c.relname, a.attname) <> ('privacy_exports', 'due_at')
     order by c.relname, a.attnum
  loop
    execute format('alter table %s alter column %I set default %s', one.target, one.name,
                   replace(replace(one.written, 'clock_timestamp()', 'fd_clock()'), 'now()', 'fd_now()'));
  end loop;
end $$;
