-- Whoever says by hand how a payment ended, which its gateway never tells, ends its discrepancy with it.
grant update (resolved_at) on payment_discrepancies to fd_app;

-- Cancelling an order ends the subscriptions that it began: those of orders cancelled before, too.
update subscriptions s set status = 'cancelled', next_charge_at = null, updated_at = now()
  from orders o
 where o.tenant_ref = s.tenant_ref and o.id = s.origin_order_id and o.cancelled_at is not null
   and s.status in ('active', 'paused', 'past_due');

-- When somebody was last told that a late approval cannot be given back: it is tried every half hour.
alter table payment_attempts add column alerted_at timestamptz;
