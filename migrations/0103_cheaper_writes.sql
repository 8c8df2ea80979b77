-- PostgreSQL reads the stored text of every check constraint anew in every statement that writes to the table, about
-- 12 µs each. A checkout paid for about 130 of them. A bundle is one check with one
-- function for all conditions of a table, which PostgreSQL keeps ready. See docs/decisions/0050-bundled-checks.md.

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

/* Makes one check of all checks of a table. A violation still has the name of the one that was violated. */
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

/* Gives a table its single checks back. A migration that changes one of them calls this first, and bundles them again. */
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

create function fd_refuse_row(relation text, name text) returns void language plpgsql immutable as $$
begin
  raise exception using
    errcode = 'check_violation', table = relation, constraint = name,
    message = format('new row for relation "%s" violates check constraint "%s"', relation, name);
end
$$;
revoke all on procedure fd_bundle_checks, fd_unbundle_checks from public;
revoke all on function fd_condition_of_row, fd_refuse_row from public;
grant execute on function fd_refuse_row to fd_app, fd_worker, fd_operator;

-- The tables that every checkout writes to and that have more than three checks. Partitioned ones cannot have a bundle:
-- a partition does not inherit a condition about the row as a whole.
call fd_bundle_checks('orders');
call fd_bundle_checks('order_items');
call fd_bundle_checks('charges');
call fd_bundle_checks('payment_attempts');
call fd_bundle_checks('customers');
call fd_bundle_checks('idempotency_keys');
call fd_bundle_checks('ledger_entries');
call fd_bundle_checks('sim_charges');
call fd_bundle_checks('inventory_reservations');

-- PostgreSQL 18 makes the same identifiers by itself, in a fifth of the time: a millisecond and 4096 parts of it first.
do $$
begin
  if current_setting('server_version_num')::integer >= 180000 then
    create or replace function fd_uuid() returns uuid language sql volatile as 'select uuidv7()';
  end if;
end
$$;
