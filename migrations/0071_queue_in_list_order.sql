-- The queue of deliveries has the time by which they are listed, so that the list of the pending ones reads
-- the queue alone. Null where the previous release has queued a delivery: its own row has it.
alter table webhook_queue add column created_at timestamptz;

update webhook_queue q
   set created_at = d.created_at
  from webhook_deliveries d
 where d.tenant_ref = q.tenant_ref and d.id = q.delivery_id;

-- That of 0058, with the time.
create or replace function fd_queue_sealed() returns trigger
language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  if exists (select from (select s.tenant_ref, min(s.sequence) as first, max(s.sequence) as last
                            from sealed s
                            join unsealed u on u.tenant_ref = s.tenant_ref and u.id = s.id
                           where s.sequence is distinct from u.sequence
                           group by s.tenant_ref) as numbered
              where (select count(*) <> count(distinct e.sequence)
                       from webhook_events e
                      where e.tenant_ref = numbered.tenant_ref
                        and e.sequence between numbered.first and numbered.last)) then
    raise exception 'two events of a store would have the same number'
      using errcode = 'unique_violation', constraint = 'webhook_events_sequence';
  end if;
  insert into webhook_queue (tenant_ref, delivery_id, subscription_id, event_id, due_at, attempt_count,
                             ladder_from, created_at)
  select d.tenant_ref, d.id, d.subscription_id, d.event_id, d.next_retry_at, d.attempt_count, d.ladder_from,
         d.created_at
    from sealed
    join unsealed on unsealed.tenant_ref = sealed.tenant_ref and unsealed.id = sealed.id
    join webhook_deliveries as d on d.tenant_ref = sealed.tenant_ref and d.event_id = sealed.id
   where unsealed.payload is null and sealed.payload is not null and d.status = 'pending'
      on conflict do nothing;
  return null;
end $$;
