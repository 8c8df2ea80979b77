-- Shipping labels that were bought of carriers. A label is money spent by the merchant: it is written down before the carrier
-- is asked, and its id is our reference there.

create table carrier_labels (
  tenant_ref      text        not null references stores,
  id              uuid        not null default fd_uuid(),
  fulfillment_id  uuid        not null,
  order_id        uuid        not null,
  carrier         text        not null check (length(carrier) <= 50),
  service         text        not null check (length(service) <= 50),
  status          text        not null default 'buying'
                  check (status in ('buying', 'bought', 'refused', 'voiding', 'voided')),
  refusal         text        check (length(refusal) <= 500),
  tracking_number text        check (length(tracking_number) <= 200),
  tracking_url    text        check (length(tracking_url) <= 2000),
  cost_cents      bigint      check (cost_cents >= 0),
  currency        text        not null check (currency ~ '^[A-Z]{3}$'),
  weight_grams    integer     not null check (weight_grams > 0),
  -- Where the parcel is, as the carrier's own record said last. It moves on, and never back.
  progress        text        check (progress in ('in_transit', 'delivered', 'returned')),
  progress_at     timestamptz,
  -- How often the carrier has refused to void it. Each try has a key of its own.
  voids_refused   integer     not null default 0,
  created_by      text        not null check (length(created_by) <= 200),
  created_at      timestamptz not null default fd_now(),
  updated_at      timestamptz not null default fd_now(),
  bought_at       timestamptz,
  voided_at       timestamptz,
  primary key (tenant_ref, id),
  foreign key (tenant_ref, fulfillment_id) references fulfillments,
  foreign key (tenant_ref, order_id) references orders,
  check ((status in ('bought', 'voiding', 'voided')) = (bought_at is not null)),
  check ((bought_at is not null) = (cost_cents is not null)),
  check ((status = 'voided') = (voided_at is not null)),
  check ((progress is null) = (progress_at is null))
);
call fd_fence('carrier_labels', app => 'select, insert, update', worker => 'select, insert, update');

-- A parcel has one label at a time; voided and refused ones stay, as what was tried.
create unique index carrier_labels_current on carrier_labels (tenant_ref, fulfillment_id)
 where status in ('buying', 'bought', 'voiding');
create index carrier_labels_of_order on carrier_labels (tenant_ref, order_id);

-- The simulated carrier's own books. Nothing of ours refers to them: it stands for a service outside.
create table sim_shipments (
  tenant_ref      text        not null references stores,
  -- A reference that is sent twice is answered twice and sold once.
  ref             uuid        not null,
  service         text        not null,
  tracking_number text        not null,
  cost_cents      bigint      not null check (cost_cents >= 0),
  currency        text        not null,
  -- The addresses and the weight; null once the person was erased.
  shipment        jsonb,
  state           text        not null default 'bought'
                  check (state in ('bought', 'in_transit', 'delivered', 'returned', 'voided')),
  state_at        timestamptz not null default fd_now(),
  created_at      timestamptz not null default fd_now(),
  primary key (tenant_ref, ref)
);
call fd_fence('sim_shipments', app => 'select, insert, update', worker => 'select, insert, update');
