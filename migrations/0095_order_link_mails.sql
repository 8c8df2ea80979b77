-- A mail with the link to an order is a customer's: the privacy export shows it, and an erasure deletes it.

alter table mails add column order_id uuid;

create index mails_of_order on mails (tenant_ref, order_id) where order_id is not null;

-- The API writes mails and does not read them: they have links for people. So it can only delete those of
-- its own store, and learns nothing but their number.
create function fd_delete_order_mails(wanted uuid[]) returns integer
language sql volatile security definer set search_path = public, pg_temp as $$
  with gone as (
    delete from mails where tenant_ref = fd_tenant() and order_id = any (wanted) returning id)
  select count(*)::integer from gone
$$;
grant execute on function fd_tenant(), fd_no_tenant() to fd_gate;
grant select (id, tenant_ref, order_id), delete on mails to fd_gate;
alter function fd_delete_order_mails(uuid[]) owner to fd_gate;
revoke all on function fd_delete_order_mails(uuid[]) from public;
grant execute on function fd_delete_order_mails(uuid[]) to fd_app, fd_worker;
