-- What changes a price: campaigns with their budgets, coupons, and prices for groups of customers.

-- Campaigns: what a merchant does to sell more for a time, with coupons, a budget, or mails to a segment.
create table campaigns (
  tenant_ref    text        not null references stores,
  id            uuid        not null default fd_uuid(),
  name          text        not null check (length(name) between 1 and 200),
  channel       text        not null check (channel ~ '^[a-z][a-z0-9_-]{0,39}$'),
  status        text        not null default 'draft'
                check (status in ('draft', 'scheduled', 'active', 'paused', 'ended', 'cancelled')),
  -- `merchant`: the merchant paused it. Any other: the platform paused it, and the merchant decides.
  pause_reason  text        check (pause_reason in ('merchant', 'late', 'claims', 'segment')),
  starts_at     timestamptz,
  ends_at       timestamptz,
  budget_type   text        check (budget_type in ('spend', 'uses')),
  budget_limit  bigint      check (budget_limit > 0),
  -- Changed only under the guard of the limit; the limit may be set below it later. No index has it, so that a
  -- checkout writes no index.
  budget_used   bigint      not null default 0 check (budget_used >= 0),
  utm_source    text        check (length(utm_source) between 1 and 200),
  utm_medium    text        check (length(utm_medium) between 1 and 200),
  utm_campaign  text        check (length(utm_campaign) between 1 and 200),
  coupon_count  integer     not null default 0 check (coupon_count >= 0),
  -- No foreign key: a deleted segment stops a campaign, and a campaign never keeps a segment.
  segment_id    uuid,
  subject       text        check (length(subject) between 1 and 200),
  body_markdown text        check (length(body_markdown) between 1 and 16000),
  sender_name   text        check (length(sender_name) between 1 and 100),
  reply_to      text        check (length(reply_to) <= 254),
  -- When its status changes by itself: at its start or at its end.
  due_at        timestamptz,
  created_at    timestamptz not null default fd_now(),
  updated_at    timestamptz not null default fd_now(),
  primary key (tenant_ref, id),
  check ((budget_type is null) = (budget_limit is null)),
  check ((status = 'paused') = (pause_reason is not null)),
  check (ends_at > starts_at),
  check (status in ('draft', 'cancelled') or starts_at is not null),
  check (due_at is null or status in ('scheduled', 'active', 'paused')),
  check (channel = 'email' or coalesce(segment_id::text, subject, body_markdown, sender_name, reply_to) is null)
) with (fillfactor = 80);
call fd_fence('campaigns', app => 'select, insert, update, delete', worker => 'select, update');
call fd_due('campaigns');
call fd_meter('campaigns', $$('campaigns', 1)$$, false);

create index campaigns_newest on campaigns (tenant_ref, created_at desc, id desc);
create index campaigns_of_status on campaigns (tenant_ref, status, created_at desc, id desc);
create index campaigns_of_channel on campaigns (tenant_ref, channel, created_at desc, id desc);
create index campaigns_due on campaigns (due_at) where due_at is not null;
create index campaigns_due_of_tenant on campaigns (tenant_ref, due_at) where due_at is not null;

-- Coupons: their discounts, and how often they can be used.
create table coupons (
  tenant_ref               text        not null references stores,
  id                       uuid        not null default fd_uuid(),
  -- As it was typed; never changes. Its row in coupon_codes makes it unique.
  code                     text        not null check (length(code) between 1 and 64),
  type                     text        not null
                           check (type in ('percent', 'fixed', 'free_shipping')),
  percent_bps              integer     check (percent_bps between 1 and 10000),
  amount_cents             bigint      check (amount_cents between 1 and 100000000000),
  min_subtotal_cents       bigint      check (min_subtotal_cents >= 0),
  max_discount_cents       bigint      check (max_discount_cents >= 0),
  starts_at                timestamptz,
  ends_at                  timestamptz,
  usage_limit              integer     check (usage_limit >= 1),
  usage_limit_per_customer integer     check (usage_limit_per_customer >= 1),
  -- Uses that count. Changed only under the guard of the limit; the limit may be set below it later.
  used_count               integer     not null default 0 check (used_count >= 0),
  first_order_only         boolean     not null default false,
  applies_to               jsonb       check (jsonb_typeof(applies_to) = 'object'),
  recurring                boolean     not null default false,
  campaign_id              uuid,
  -- Expired and exhausted are computed, not stored.
  status                   text        not null default 'active'
                           check (status in ('draft', 'active', 'paused')),
  created_at               timestamptz not null default fd_now(),
  updated_at               timestamptz not null default fd_now(),
  -- Whether a coupon is used up, as a column of its own: it changes once, and an index over used_count would
  -- be written by every order with a coupon.
  is_exhausted             boolean     not null generated always as (coalesce(used_count >= usage_limit,
                                         false)) stored,
  -- A coupon may carry a referral code: an order with the coupon is attributed to that affiliate.
  referral_code            text        check (referral_code ~ '^[A-Za-z0-9_-]{1,64}$'),
  primary key (tenant_ref, id),
  check ((type = 'percent') = (percent_bps is not null)),
  check ((type = 'fixed') = (amount_cents is not null)),
  check (ends_at > starts_at),
  -- The coupons of a campaign stop with it.
  constraint coupons_of_campaign foreign key (tenant_ref, campaign_id) references campaigns
);
call fd_fence('coupons', app => 'select, insert, update', worker => 'select, update');

create index coupons_newest on coupons (tenant_ref, created_at desc, id desc);
create index coupons_by_status on coupons (tenant_ref, status, created_at desc, id desc);
-- Whether a coupon is active, expired or exhausted depends on the time, as with bans.
create index coupons_by_end on coupons (tenant_ref, ends_at, is_exhausted) where status = 'active';
create index coupons_in_campaign on coupons (tenant_ref, campaign_id, created_at desc, id desc)
       where campaign_id is not null;

-- Every code that a customer can type, unique in a store whatever the case of its letters: the coupons' own codes, and
-- single-use codes.
create table coupon_codes (
  tenant_ref text        not null references stores,
  id         uuid        not null default fd_uuid(),
  coupon_id  uuid        not null,
  code       text        not null check (length(code) between 1 and 64),
  folded     text        not null check (length(folded) between 1 and 256),
  single_use boolean     not null,
  -- The order that used a single-use code.
  order_id   uuid,
  created_at timestamptz not null default fd_now(),
  primary key (tenant_ref, id),
  constraint coupon_codes_folded unique (tenant_ref, folded),
  foreign key (tenant_ref, coupon_id) references coupons,
  check (order_id is null or single_use)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05,
        autovacuum_analyze_scale_factor = 0.02);
call fd_fence('coupon_codes', app => 'select, insert, update', worker => 'select, update');
call fd_meter('coupon_codes', $$('coupon_codes', 1)$$, false);

-- The list of a coupon's single-use codes.
create index coupon_codes_of_coupon
  on coupon_codes (tenant_ref, coupon_id, single_use, created_at, id);

-- An order uses one coupon, once. A claim holds the use while the payment is under way.
create table coupon_redemptions (
  tenant_ref   text        not null references stores,
  order_id     uuid        not null,
  coupon_id    uuid        not null,
  code_id      uuid,
  customer_ref text        not null check (length(customer_ref) between 1 and 200),
  state        text        not null default 'claimed'
               check (state in ('claimed', 'confirmed', 'released')),
  created_at   timestamptz not null default fd_now(),
  updated_at   timestamptz not null default fd_now(),
  -- What the order took of the campaign's budget: returned with its use.
  budget_taken bigint      not null default 0 check (budget_taken >= 0),
  primary key (tenant_ref, order_id),
  foreign key (tenant_ref, coupon_id) references coupons,
  foreign key (tenant_ref, code_id) references coupon_codes
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05,
        autovacuum_analyze_scale_factor = 0.02);
call fd_fence('coupon_redemptions', app => 'select, insert, update',
              worker => 'select, insert, update');

create index coupon_redemptions_newest
    on coupon_redemptions (tenant_ref, coupon_id, created_at desc, order_id desc);
-- Counts the uses of one customer.
create index coupon_redemptions_of_customer
    on coupon_redemptions (tenant_ref, coupon_id, customer_ref) where state <> 'released';

-- Prices of their own for groups of customers.
create table pricing_groups (
  tenant_ref     text        not null references stores,
  id             uuid        not null default fd_uuid(),
  name           text        not null check (length(name) between 1 and 200),
  -- The group's discount on list prices, for all variants. Null: only variants with a price of their own below.
  adjustment_bps integer     check (adjustment_bps between 1 and 10000),
  created_at     timestamptz not null default fd_now(),
  updated_at     timestamptz not null default fd_now(),
  primary key (tenant_ref, id)
);
call fd_fence('pricing_groups', app => 'select, insert, update, delete', worker => 'select');

create index pricing_groups_newest on pricing_groups (tenant_ref, created_at desc, id desc);

-- The members, by the storefront's reference for a customer; a member need not have bought yet.
create table pricing_group_members (
  tenant_ref   text        not null references stores,
  group_id     uuid        not null,
  customer_ref text        not null check (length(customer_ref) between 1 and 200),
  created_at   timestamptz not null default fd_now(),
  primary key (tenant_ref, group_id, customer_ref),
  constraint pricing_group_members_group
    foreign key (tenant_ref, group_id) references pricing_groups on delete cascade
);
call fd_fence('pricing_group_members', app => 'select, insert, delete', worker => 'select, delete');
call fd_meter('pricing_group_members', $$('pricing_group_members', 1)$$, false);

-- The groups of a customer, which a checkout looks up.
create index pricing_group_members_of_customer
    on pricing_group_members (tenant_ref, customer_ref, group_id);

-- The prices of a group, by variant and quantity.
create table pricing_group_prices (
  tenant_ref   text        not null references stores,
  group_id     uuid        not null,
  variant_id   uuid        not null,
  -- The quantity from which the price applies. A variant may have prices for several quantities.
  min_quantity integer     not null check (min_quantity between 1 and 10000),
  price_cents  bigint      not null check (price_cents between 0 and 100000000000),
  created_at   timestamptz not null default fd_now(),
  updated_at   timestamptz not null default fd_now(),
  primary key (tenant_ref, group_id, variant_id, min_quantity),
  constraint pricing_group_prices_group
    foreign key (tenant_ref, group_id) references pricing_groups on delete cascade,
  constraint pricing_group_prices_variant foreign key (tenant_ref, variant_id) references variants
);
call fd_fence('pricing_group_prices', app => 'select, insert, update, delete', worker => 'select');
call fd_meter('pricing_group_prices', $$('pricing_group_prices', 1)$$, false);
