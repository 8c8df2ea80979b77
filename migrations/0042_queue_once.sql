-- A dead letter that is sent again before its event has its bytes is in the queue already. Queueing it twice
-- failed, and with it the numbering of every event of its store from then on. No lane takes it before it has
-- its bytes.
create or replace function fd_queue_sealed() returns trigger language plpgsql as $$
begin
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
