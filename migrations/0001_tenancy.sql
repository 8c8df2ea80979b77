-- The ground every tenant table stands on: who the tenant is, and the fence around its rows.

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

create function fd_refuse_change() returns trigger
language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'FD002';
end $$;

-- Fences a tenant table: row level security that binds its owner too, the tenant's policy for the
-- processes, an open one for data migrations, a reading one for the operator.
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

-- Makes a table append-only for everyone, whatever is granted.
create procedure fd_freeze(target regclass)
language plpgsql as $$
begin
  execute format('create trigger frozen before update or delete or truncate on %s
                  for each statement execute function fd_refuse_change()', target);
end $$;

revoke all on function fd_no_tenant(), fd_tenant(), fd_refuse_change() from public;
revoke all on procedure fd_fence(regclass, text, text), fd_freeze(regclass) from public;
grant execute on function fd_no_tenant(), fd_tenant()
   to fd_app, fd_worker, fd_operator, fd_search;
