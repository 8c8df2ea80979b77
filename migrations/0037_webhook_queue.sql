-- What is to be sent and is in nobody's hands: one row for each delivery, put here when its event has its
-- bytes, taken away when a lane takes it, and put back when that lane ends before it was sent. The ledger of
-- deliveries needs no index of its own for that, and so writing down what arrived touches none.
create table webhook_queue (
  tenant_ref      text        not null,
  delivery_id     uuid        not null,
  subscription_id uuid        not null,
  event_id        uuid        not null,
  due_at          timestamptz not null,
  -- As in the delivery, which is not read to send it.
  attempt_count   integer     not null,
  ladder_from     integer     not null,
  primary key (tenant_ref, delivery_id)
);

call fd_fence('webhook_queue', app => 'select, insert', worker => 'select, insert, delete');

-- The worker looks over all tenants for who has work.
create policy due on webhook_queue for select to fd_worker using (true);
create index webhook_queue_due on webhook_queue (due_at);
create index webhook_queue_due_of_tenant on webhook_queue (tenant_ref, due_at);
create index webhook_queue_due_of_endpoint on webhook_queue (tenant_ref, subscription_id, due_at);

-- An event that has got its bytes can be sent, whoever gave them: also a worker of the release before this one,
-- which knows of no queue and goes on sealing until it is stopped.
create function fd_queue_sealed() returns trigger language plpgsql as $$
begin
  insert into webhook_queue (tenant_ref, delivery_id, subscription_id, event_id, due_at, attempt_count,
                             ladder_from)
  select d.tenant_ref, d.id, d.subscription_id, d.event_id, d.next_retry_at, d.attempt_count, d.ladder_from
    from sealed
    join unsealed on unsealed.tenant_ref = sealed.tenant_ref and unsealed.id = sealed.id
    join webhook_deliveries as d on d.tenant_ref = sealed.tenant_ref and d.event_id = sealed.id
   where unsealed.payload is null and sealed.payload is not null and d.status = 'pending';
  return null;
end $$;

create trigger queue_sealed after update on webhook_events
  referencing old table as unsealed new table as sealed
  for each statement execute function fd_queue_sealed();

-- A worker of the release before this one finds no more work, as it looks over all tenants here; what it
-- has in its lanes is sent again.
drop policy due on webhook_deliveries;
delete from webhook_lanes;

insert into webhook_queue (tenant_ref, delivery_id, subscription_id, event_id, due_at, attempt_count,
                           ladder_from)
select d.tenant_ref, d.id, d.subscription_id, d.event_id, d.next_retry_at, d.attempt_count, d.ladder_from
  from webhook_deliveries as d
  join webhook_events as e on e.tenant_ref = d.tenant_ref and e.id = d.event_id
 where d.status = 'pending' and e.payload is not null;

drop index webhook_deliveries_due, webhook_deliveries_due_of_tenant, webhook_deliveries_due_of_endpoint;

-- Each row is written anew once in its life, or a few times: on the same page, which needs the room.
alter table webhook_deliveries set (fillfactor = 50);
