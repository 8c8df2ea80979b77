-- Ids of new rows are uuids of version 7 (RFC 9562), which begin with the time. Random ids put each row at a
-- random place of every index on them, and after each checkpoint PostgreSQL writes a page to its log in full
-- when it is first touched: a checkout in a store with many orders wrote eight times as much as in a new one.
-- Ids with the time in front touch the last page of each index only (decision 0021).
--
-- 48 bits are milliseconds, 12 bits a fraction of one, so that rows are in the order in which they were written,
-- but for those of one microsecond, and 62 bits are random. It is the machine's time: an id is no promise to a merchant, and a store with a moved
-- clock must not spread its rows over the index. TypeScript makes the same ids by newId() (kernel/id.ts).
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
revoke all on function fd_uuid() from public;
grant execute on function fd_uuid() to fd_app, fd_worker;

-- Every default is the id of a row. Secrets have none: lease tokens are given by the statement that leases.
do $$
declare
  one record;
begin
  for one in
    select d.adrelid::regclass as target, a.attname as name
      from pg_attrdef d
      join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
      join pg_class c on c.oid = d.adrelid
     where c.relnamespace = 'public'::regnamespace
       and pg_get_expr(d.adbin, d.adrelid) = 'gen_random_uuid()'
     order by c.relname, a.attnum
  loop
    execute format('alter table %s alter column %I set default fd_uuid()', one.target, one.name);
  end loop;
end $$;
