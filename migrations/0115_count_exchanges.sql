-- Payments that shoppers were asked for were not counted, and what a cancelled exchange gave back counted as tax that was charged. The
-- figures of stores with either are counted again, beside those that are read until then.
with miscounted as (
  select tenant_ref from payment_attempts where kind = 'pay'
   union
  select tenant_ref from ledger_journals where kind = 'exchange.released'
), given_up as (
  update analytics_generations
     set state = 'retired', due_at = now(), lease_until = null, lease_token = null
   where state = 'building' and tenant_ref in (select tenant_ref from miscounted)
  returning generation
)
insert into analytics_generations (tenant_ref, generation, state, time_zone)
select g.tenant_ref, max(g.generation) + 1, 'building', s.time_zone
  from (select count(*) from given_up) as done
 cross join analytics_generations g
  join stores s using (tenant_ref)
 where g.tenant_ref in (select tenant_ref from miscounted)
 group by g.tenant_ref, s.time_zone;
