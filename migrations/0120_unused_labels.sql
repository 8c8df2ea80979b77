-- A label that a carrier sold after its parcel had left, or was cancelled, was never on the parcel: it is voided whatever
-- the parcel does, and its number is never written to the parcel.
alter table carrier_labels add column unused boolean not null default false;
