-- The worker reads over all stores only while no store is set. Its policy `due` let it read the rows of
-- every store inside a store's transaction too, where only the filters of the queries kept them apart.

-- Lets the worker look over all stores for due rows of a table, while no store is set.
--
-- `due` alone would be `true or tenant_ref = fd_tenant()`. A condition in it would not do: it would leave
-- fd_tenant() in the statement, which raises while no store is set, already when it is planned. So the
-- condition is a restrictive policy. It is written as `case ... is not null` because PostgreSQL takes
-- such a test to hold for nearly all rows (0.995); any other form halves its estimates or worse, and a claim
-- then reads all rows of a store in place of the first due ones.
create procedure fd_due(target regclass)
language plpgsql as $$
begin
  execute format('create policy due on %s for select to fd_worker using (true)', target);
  execute format('create policy one_store on %s as restrictive for select to fd_worker
                  using (case when coalesce(current_setting(''app.tenant'', true), '''') in ('''', tenant_ref)
                              then 1 end is not null)', target);
end $$;
revoke all on procedure fd_due(regclass) from public;

do $$
declare
  target regclass;
begin
  for target in select polrelid from pg_policy where polname = 'due' loop
    execute format('drop policy due on %s', target);
    call fd_due(target);
  end loop;
end $$;
