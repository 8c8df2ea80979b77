-- A label that a carrier sold after its parcel had left, or was cancelled, was never on the parcel: it is voided whatever
-- the parcel does, and its number is never written to the parcel.
alter table carrier_labels add column unused boolean not null default false;

-- Those of before stay bought, and can be voided by their merchants.
update carrier_labels l
   set unused = true
  from fulfillments f
 where f.tenant_ref = l.tenant_ref and f.id = l.fulfillment_id
   and l.status = 'bought' and f.status in ('shipped', 'delivered')
   and l.bought_at > f.shipped_at and f.tracking_number is distinct from l.tracking_number;
