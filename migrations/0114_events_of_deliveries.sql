-- Both triggers look up a few rows among all events or deliveries of a store. A plan that PostgreSQL made
-- while the store had none reads all of them for each new one, once it has many: with no statistics of them,
-- an index scan by the store alone looks as good. `offset 0` keeps it from joining, so that each row is
-- looked up by its whole key.
create or replace function fd_deliveries_have_events() returns trigger
language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
begin
  if exists (select from added d
              where not exists (select from webhook_events e
                                 where e.tenant_ref = d.tenant_ref and e.id = d.event_id
                                offset 0)) then
    raise exception 'a delivery has no event'
      using errcode = 'foreign_key_violation', constraint = 'webhook_deliveries_event';
  end if;
  return null;
end $$;

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
   cross join lateral (
         select *
           from webhook_deliveries
          where tenant_ref = sealed.tenant_ref and event_id = sealed.id
         offset 0) as d
   where unsealed.payload is null and sealed.payload is not null and d.status = 'pending'
      on conflict do nothing;
  return null;
end $$;
