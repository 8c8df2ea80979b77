-- A parcel counts as delivered by itself some days after it was shipped, where the store says how many: few carriers
-- tell, and the window for returns begins with the delivery.
alter table stores add column auto_deliver_days integer check (auto_deliver_days between 1 and 365);

alter table fulfillments add column deliver_at timestamptz;
create index fulfillments_due on fulfillments (deliver_at)
    where deliver_at is not null and status = 'shipped';
create index fulfillments_due_of_tenant on fulfillments (tenant_ref, deliver_at)
    where deliver_at is not null and status = 'shipped';
call fd_due('fulfillments');
