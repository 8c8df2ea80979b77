-- Whether the price of a subscription has the tax inside: what its store said when the price was set. A store that changes
-- `prices_include_tax` must not change by that what a locked price costs.
alter table subscriptions add column prices_include_tax boolean not null default false;
update subscriptions s
   set prices_include_tax = true
  from orders o
 where o.tenant_ref = s.tenant_ref and o.id = coalesce(s.last_order_id, s.origin_order_id)
   and o.prices_include_tax;
