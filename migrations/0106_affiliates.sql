-- Affiliates: people who sell for a store by their codes, what they earn, and what they are paid.

-- `commission_expense`: what commissions cost the store. `affiliate_payable`: what it owes each affiliate.
-- `affiliate_payout`: what has left its bank for them.
call fd_unbundle_checks('ledger_entries');
alter table ledger_entries
  drop constraint ledger_entries_account_check,
  add constraint ledger_entries_account_check
      check (account in ('card_clearing', 'gift_card', 'store_credit', 'sales', 'tax_payable', 'shipping_income',
                         'discount', 'refund', 'affiliate_payable', 'breakage', 'suspense', 'dispute_loss',
                         'exchange', 'commission_expense', 'affiliate_payout')) not valid;
alter table ledger_entries validate constraint ledger_entries_account_check;
call fd_bundle_checks('ledger_entries');

-- A coupon may carry a referral code: who uses it was sent by that affiliate.
alter table coupons
  add column referral_code text check (referral_code ~ '^[A-Za-z0-9_-]{1,64}$');

-- The terms of new affiliates, and whether strangers may apply. A store without a row has the defaults.
create table affiliate_settings (
  tenant_ref           text    not null references stores,
  applications_open    boolean not null default false,
  pays_renewals        boolean not null default true,
  commission_type      text    not null default 'percent' check (commission_type in ('percent', 'fixed')),
  rate_bps             integer default 1000 check (rate_bps between 1 and 10000),
  amount_cents         bigint  check (amount_cents between 1 and 100000000000),
  cookie_days          integer not null default 30 check (cookie_days between 1 and 365),
  approval_delay_days  integer not null default 30 check (approval_delay_days between 0 and 365),
  payout_minimum_cents bigint  not null default 0 check (payout_minimum_cents between 0 and 100000000000),
  primary key (tenant_ref),
  check ((commission_type = 'percent') = (rate_bps is not null)),
  check ((commission_type = 'fixed') = (amount_cents is not null))
);
call fd_fence('affiliate_settings', app => 'select, insert, update', worker => 'select');

create table affiliates (
  tenant_ref           text        not null references stores,
  id                   uuid        not null default fd_uuid(),
  name                 text        not null check (length(name) between 1 and 200),
  -- Null once the person is erased.
  email                text        check (length(email) <= 254),
  email_folded         text        check (length(email_folded) <= 320),
  status               text        not null
                       check (status in ('applied', 'invited', 'active', 'suspended', 'declined')),
  -- By which the affiliate's own orders are known.
  customer_ref         text        check (length(customer_ref) between 1 and 200),
  person_id            uuid,
  website              text        check (length(website) <= 2000),
  message              text        check (length(message) <= 2000),
  address              jsonb       check (length(address::text) <= 5000),
  commission_type      text        not null check (commission_type in ('percent', 'fixed')),
  rate_bps             integer     check (rate_bps between 1 and 10000),
  amount_cents         bigint      check (amount_cents between 1 and 100000000000),
  cookie_days          integer     not null check (cookie_days between 1 and 365),
  approval_delay_days  integer     not null check (approval_delay_days between 0 and 365),
  payout_minimum_cents bigint      not null check (payout_minimum_cents between 0 and 100000000000),
  -- The bank account, encrypted; and its end, by which people tell accounts apart.
  payout_account       bytea       check (length(payout_account) <= 1000),
  payout_account_end   text        check (length(payout_account_end) <= 4),
  decline_reason       text        check (length(decline_reason) <= 2000),
  erased_at            timestamptz,
  created_at           timestamptz not null default fd_now(),
  updated_at           timestamptz not null default fd_now(),
  primary key (tenant_ref, id),
  constraint affiliates_email unique (tenant_ref, email_folded),
  check ((email is null) = (erased_at is not null)),
  check ((email_folded is null) = (email is null)),
  check ((commission_type = 'percent') = (rate_bps is not null)),
  check ((commission_type = 'fixed') = (amount_cents is not null)),
  check ((payout_account is null) = (payout_account_end is null)),
  check (erased_at is null or (customer_ref is null and person_id is null and website is null and message is null
                               and address is null and payout_account is null and decline_reason is null))
);
call fd_fence('affiliates', app => 'select, insert, update', worker => 'select, update');
create index affiliates_newest on affiliates (tenant_ref, created_at desc, id desc);
create index affiliates_of_status on affiliates (tenant_ref, status, created_at desc, id desc);
create index affiliates_of_customer on affiliates (tenant_ref, customer_ref) where customer_ref is not null;

-- Strangers apply, so that their number has a limit.
insert into usage_limits (limit_key, max) values ('affiliates', 100000);
call fd_meter('affiliates', $$('affiliates', 1)$$, false);

-- A code stays its affiliate's for good: links with it are out there.
create table affiliate_codes (
  tenant_ref   text        not null references stores,
  code_folded  text        not null check (code_folded ~ '^[a-z0-9_-]{1,64}$'),
  -- As the merchant wrote it.
  code         text        not null check (lower(code) = code_folded),
  affiliate_id uuid        not null,
  active       boolean     not null default true,
  created_at   timestamptz not null default fd_now(),
  primary key (tenant_ref, code_folded),
  foreign key (tenant_ref, affiliate_id) references affiliates
);
call fd_fence('affiliate_codes', app => 'select, insert, update', worker => 'select, update');
create index affiliate_codes_of_affiliate on affiliate_codes (tenant_ref, affiliate_id, code_folded);

-- How often the link of a code was followed. Counted and nothing else: no row says who did it. The shards let many
-- shoppers follow one link at once.
create table affiliate_clicks (
  tenant_ref  text    not null references stores,
  code_folded text    not null,
  shard       integer not null check (shard between 0 and 7),
  clicks      bigint  not null check (clicks > 0),
  primary key (tenant_ref, code_folded, shard),
  foreign key (tenant_ref, code_folded) references affiliate_codes
);
call fd_fence('affiliate_clicks', app => 'select, insert, update', worker => 'select');

-- Browsers in which an affiliate applied or opened their page, as hashes: an order from one of them is their own.
create table affiliate_devices (
  tenant_ref   text        not null references stores,
  affiliate_id uuid        not null,
  device_hash  bytea       not null check (length(device_hash) = 32),
  seen_at      timestamptz not null default fd_now(),
  primary key (tenant_ref, affiliate_id, device_hash),
  foreign key (tenant_ref, affiliate_id) references affiliates
);
call fd_fence('affiliate_devices', app => 'select, insert, update, delete', worker => 'select, delete');

create table affiliate_payouts (
  tenant_ref   text        not null references stores,
  id           uuid        not null,
  affiliate_id uuid        not null,
  currency     text        not null check (currency ~ '^[A-Z]{3}$'),
  amount_cents bigint      not null check (amount_cents > 0),
  status       text        not null default 'pending' check (status in ('pending', 'paid', 'cancelled')),
  created_by   text        not null check (length(created_by) <= 200),
  created_at   timestamptz not null default fd_now(),
  paid_at      timestamptz,
  cancelled_at timestamptz,
  primary key (tenant_ref, id),
  foreign key (tenant_ref, affiliate_id) references affiliates,
  check ((status = 'paid') = (paid_at is not null)),
  check ((status = 'cancelled') = (cancelled_at is not null))
);
call fd_fence('affiliate_payouts', app => 'select, insert, update', worker => 'select');
create index affiliate_payouts_newest on affiliate_payouts (tenant_ref, created_at desc, id desc);
create index affiliate_payouts_of_status on affiliate_payouts (tenant_ref, status, created_at desc, id desc);
create index affiliate_payouts_of_affiliate on affiliate_payouts (tenant_ref, affiliate_id, created_at desc, id desc);

-- Which affiliate an order came from, how that is known, and by which terms it earns. One for each order, written when the
-- order is placed; only its counters change.
create table affiliate_attributions (
  tenant_ref          text        not null,
  order_id            uuid        not null,
  affiliate_id        uuid        not null,
  code                text        not null,
  -- What told of the affiliate: a code that was typed, a followed link, a coupon, the subscription of an earlier order, the
  -- order that this one is exchanged for.
  source              text        not null check (source in ('code', 'link', 'coupon', 'subscription', 'exchange')),
  touched_at          timestamptz not null,
  window_days         integer     not null,
  -- The rule that chose among several touches.
  model               text        not null check (length(model) <= 40),
  -- Why nothing is earned. Null: it is.
  refusal             text        check (length(refusal) <= 40),
  currency            text        not null check (currency ~ '^[A-Z]{3}$'),
  commission_type     text        not null check (commission_type in ('percent', 'fixed')),
  rate_bps            integer,
  amount_cents        bigint,
  approval_delay_days integer     not null,
  -- The goods of the order without discount, tax and shipping: as sold, and what is left of them now.
  base_cents          bigint      not null check (base_cents >= 0),
  left_cents          bigint      not null check (left_cents >= 0),
  -- What is booked for the order now: the sum of its commissions.
  booked_cents        bigint      not null check (booked_cents >= 0),
  -- The merchant has declined a commission of the order: no more is earned by it.
  declined            boolean     not null default false,
  created_at          timestamptz not null default fd_now(),
  primary key (tenant_ref, order_id),
  foreign key (tenant_ref, affiliate_id) references affiliates,
  foreign key (tenant_ref, order_id) references orders,
  check (refusal is null or booked_cents = 0),
  check ((commission_type = 'percent') = (rate_bps is not null)),
  check ((commission_type = 'fixed') = (amount_cents is not null))
);
call fd_fence('affiliate_attributions', app => 'select, insert, update', worker => 'select, insert, update');

-- What an order has earned its affiliate, and what was clawed back of it. An amount never changes; a row that is paid
-- never changes at all.
create table affiliate_commissions (
  tenant_ref   text        not null,
  id           uuid        not null,
  affiliate_id uuid        not null,
  order_id     uuid        not null,
  type         text        not null check (type in ('sale', 'renewal', 'clawback')),
  currency     text        not null check (currency ~ '^[A-Z]{3}$'),
  base_cents   bigint      not null,
  amount_cents bigint      not null,
  status       text        not null check (status in ('pending', 'approved', 'paid', 'declined', 'reversed')),
  -- What caused it: a refund, an edit; or why it is declined.
  reason       text        check (length(reason) <= 200),
  cause_ref    text        check (length(cause_ref) <= 200),
  approves_at  timestamptz not null,
  payout_id    uuid,
  created_at   timestamptz not null default fd_clock(),
  primary key (tenant_ref, id),
  foreign key (tenant_ref, affiliate_id) references affiliates,
  foreign key (tenant_ref, order_id) references affiliate_attributions,
  foreign key (tenant_ref, payout_id) references affiliate_payouts,
  check ((type = 'clawback') = (amount_cents < 0) or status = 'declined'),
  check (status = 'declined' or amount_cents <> 0),
  check (status <> 'paid' or payout_id is not null),
  check (payout_id is null or status in ('approved', 'paid'))
);
call fd_fence('affiliate_commissions', app => 'select, insert, update', worker => 'select, insert, update');
create index affiliate_commissions_newest on affiliate_commissions (tenant_ref, created_at desc, id desc);
create index affiliate_commissions_of_status
    on affiliate_commissions (tenant_ref, status, created_at desc, id desc);
create index affiliate_commissions_of_affiliate
    on affiliate_commissions (tenant_ref, affiliate_id, created_at desc, id desc);
create index affiliate_commissions_of_order on affiliate_commissions (tenant_ref, order_id, created_at desc, id desc);
create index affiliate_commissions_of_payout on affiliate_commissions (tenant_ref, payout_id)
    where payout_id is not null;
-- What is owed: the sum of these rows.
create index affiliate_commissions_open
    on affiliate_commissions (tenant_ref, affiliate_id, currency) include (status, payout_id, amount_cents)
    where status in ('pending', 'approved');
-- What the next payouts pay.
create index affiliate_commissions_payable
    on affiliate_commissions (tenant_ref, affiliate_id, currency) include (amount_cents)
    where status = 'approved' and payout_id is null;
create index affiliate_commissions_due on affiliate_commissions (approves_at) where status = 'pending';
create index affiliate_commissions_due_of_store on affiliate_commissions (tenant_ref, approves_at)
    where status = 'pending';
call fd_due('affiliate_commissions');

-- A paid commission stays as it is, whatever code asks for.
create function fd_keep_paid() returns trigger language plpgsql as $$
begin
  raise exception 'a paid commission never changes' using errcode = 'check_violation';
end $$;
revoke all on function fd_keep_paid() from public;
create trigger keep_paid before update or delete on affiliate_commissions
  for each row when (old.status = 'paid') execute function fd_keep_paid();
