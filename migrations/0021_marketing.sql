-- Coupons: what they take off, how often, and which orders have used them.

create table coupons (
  tenant_ref               text        not null references stores,
  id                       uuid        not null default gen_random_uuid(),
  -- As it was written; never changes. That it is the only one is seen to by its row in coupon_codes.
  code                     text        not null check (length(code) between 1 and 64),
  type                     text        not null check (type in ('percent', 'fixed', 'free_shipping')),
  percent_bps              integer     check (percent_bps between 1 and 10000),
  amount_cents             bigint      check (amount_cents between 1 and 100000000000),
  min_subtotal_cents       bigint      check (min_subtotal_cents >= 0),
  max_discount_cents       bigint      check (max_discount_cents >= 0),
  starts_at                timestamptz,
  ends_at                  timestamptz,
  usage_limit              integer     check (usage_limit >= 1),
  usage_limit_per_customer integer     check (usage_limit_per_customer >= 1),
  -- Claims that stand. Only ever changed under its guard; a limit may be set below it later.
  used_count               integer     not null default 0 check (used_count >= 0),
  first_order_only         boolean     not null default false,
  applies_to               jsonb       check (jsonb_typeof(applies_to) = 'object'),
  recurring                boolean     not null default false,
  campaign_id              uuid,
  -- Expired and exhausted are seen, not kept.
  status                   text        not null default 'active'
                           check (status in ('draft', 'active', 'paused')),
  created_at               timestamptz not null default now(),
  updated_at               timestamptz not null default now(),
  primary key (tenant_ref, id),
  check ((type = 'percent') = (percent_bps is not null)),
  check ((type = 'fixed') = (amount_cents is not null)),
  check (ends_at > starts_at)
);
create index coupons_newest on coupons (tenant_ref, created_at desc, id desc);

-- Every code a customer can type, each once in a store whatever the case of its letters: the
-- coupon's own, and those made for one use each.
create table coupon_codes (
  tenant_ref text        not null references stores,
  id         uuid        not null default gen_random_uuid(),
  coupon_id  uuid        not null,
  code       text        not null check (length(code) between 1 and 64),
  folded     text        not null check (length(folded) between 1 and 256),
  single_use boolean     not null,
  -- The order that has the one use.
  order_id   uuid,
  created_at timestamptz not null default now(),
  primary key (tenant_ref, id),
  constraint coupon_codes_folded unique (tenant_ref, folded),
  foreign key (tenant_ref, coupon_id) references coupons,
  check (order_id is null or single_use)
);
create index coupon_codes_of_coupon on coupon_codes (tenant_ref, coupon_id, created_at, id);

-- An order uses one coupon, once. A claim holds the use while the payment is under way.
create table coupon_redemptions (
  tenant_ref   text        not null references stores,
  order_id     uuid        not null,
  coupon_id    uuid        not null,
  code_id      uuid,
  customer_ref text        not null check (length(customer_ref) between 1 and 200),
  state        text        not null default 'claimed'
               check (state in ('claimed', 'confirmed', 'released')),
  created_at   timestamptz not null default now(),
  updated_at   timestamptz not null default now(),
  primary key (tenant_ref, order_id),
  foreign key (tenant_ref, coupon_id) references coupons,
  foreign key (tenant_ref, code_id) references coupon_codes
);
create index coupon_redemptions_newest
    on coupon_redemptions (tenant_ref, coupon_id, created_at desc, order_id desc);
-- Counts what one customer has used.
create index coupon_redemptions_of_customer
    on coupon_redemptions (tenant_ref, coupon_id, customer_ref) where state <> 'released';

call fd_fence('coupons', app => 'select, insert, update', worker => 'select, update');
call fd_fence('coupon_codes', app => 'select, insert, update', worker => 'select, update');
call fd_fence('coupon_redemptions', app => 'select, insert, update',
              worker => 'select, insert, update');
