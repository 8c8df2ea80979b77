-- What is being sent to an endpoint right now: one row for each lane of deliveries that a worker sends one
-- after another. The lease is the lane's, so that taking a delivery writes nothing to the delivery itself.
create table webhook_lanes (
  tenant_ref      text        not null,
  -- Of the claim that opened the lane, and which of its lanes it is.
  lease_token     uuid        not null,
  lane            integer     not null,
  lease_until     timestamptz not null,
  subscription_id uuid        not null,
  -- Nobody else takes these while the row is here.
  deliveries      uuid[]      not null,
  primary key (tenant_ref, lease_token, lane)
  -- Written anew with every row of deliveries; a page needs room for it.
) with (fillfactor = 50);

call fd_fence('webhook_lanes', app => 'select', worker => 'select, insert, update, delete');

-- The worker looks over all tenants for who has work that nobody holds.
create policy due on webhook_lanes for select to fd_worker using (true);

-- A worker of the release before this one stops at its next statement; what it had sent is sent again.
alter table webhook_deliveries drop column lease_until, drop column lease_token;
