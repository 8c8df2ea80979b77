-- Orders: what was bought, what was paid, what was given back. Money facts stand here once they are
-- certain; the ledger holds the same as journals, and the gateway its own record.

-- The last number given to an order of the store. Taken in a statement of its own, so that no order
-- waits for another one's commit; a number that is not used leaves a gap.
create table order_counters (
  tenant_ref  text   not null references stores,
  last_number bigint not null default 1000,
  primary key (tenant_ref)
);

create table orders (
  tenant_ref         text        not null references stores,
  id                 uuid        not null,
  order_number       bigint      not null,
  customer_ref       text        not null check (length(customer_ref) between 1 and 200),
  person_id          uuid,
  -- Derived from the facts below by one function, never set by hand.
  status             text        not null
                     check (status in ('pending_payment', 'placed', 'processing', 'on_hold', 'shipped',
                                       'partially_shipped', 'delivered', 'cancelled', 'refunded',
                                       'partially_refunded', 'payment_failed')),
  payment_status     text        not null
                     check (payment_status in ('pending', 'authorized', 'paid', 'partially_refunded',
                                               'refunded', 'failed', 'voided', 'unknown', 'disputed')),
  fulfillment_status text        not null
                     check (fulfillment_status in ('unfulfilled', 'processing', 'partially_shipped',
                                                   'shipped', 'delivered', 'cancelled')),
  coupon_code        text,
  subtotal_cents     bigint      not null check (subtotal_cents >= 0),
  discount_cents     bigint      not null check (discount_cents between 0 and subtotal_cents),
  shipping_cents     bigint      not null check (shipping_cents >= 0),
  tax_cents          bigint      not null check (tax_cents >= 0),
  total_cents        bigint      not null
                     check (total_cents = subtotal_cents - discount_cents + shipping_cents + tax_cents),
  currency           text        not null check (currency ~ '^[A-Z]{3}$'),
  idempotency_key    text        not null,
  ship_to            jsonb,
  email              text,
  -- Folded by the database itself, since row level security keeps an index on `lower(email)` out of use.
  email_folded       text        generated always as (lower(email)) stored,
  ip                 text,
  referral_code      text,
  source             text        not null default 'checkout'
                     check (source in ('checkout', 'subscription_renewal', 'operator')),
  -- What an edit needs to price the order again as it was priced.
  pricing            jsonb       not null,
  -- What was known against the attempt before it was paid for: scored with the gateway's answer.
  risk               jsonb       not null default '{}',
  is_test            boolean     not null default false,

  -- Facts of money. `captured` and `refunded` count every tender; what an edit gives back lowers
  -- `captured` and is no refund.
  captured_cents     bigint      not null default 0 check (captured_cents >= 0),
  refunded_cents     bigint      not null default 0 check (refunded_cents between 0 and captured_cents),
  -- How the last attempt to pay stands. `failed` is final.
  payment            text        not null default 'pending'
                     check (payment in ('none', 'pending', 'unknown', 'authorized', 'captured', 'failed')),
  payment_failure    text        check ((payment_failure is not null) = (payment = 'failed') and length(payment_failure) <= 60),
  disputed_at        timestamptz,
  -- Facts of time.
  placed_at          timestamptz,
  processing_at      timestamptz,
  cancelled_at       timestamptz,
  cancel_reason      text,
  hold_reason        text,
  hold_at            timestamptz,
  hold_by            text,

  -- Edit, cancel and release exclude each other. What the one under way means to do stands here until
  -- it has ended: whoever finds it abandoned can end it.
  operation_lease_until timestamptz,
  operation_lease_token uuid,
  operation             jsonb,

  created_at         timestamptz not null default now(),
  updated_at         timestamptz not null default now(),
  primary key (tenant_ref, id),
  constraint orders_number unique (tenant_ref, order_number),
  constraint orders_key unique (tenant_ref, idempotency_key),
  check ((hold_at is null) = (hold_reason is null))
);
create index orders_newest on orders (tenant_ref, created_at desc, id desc);
create index orders_of_customer on orders (tenant_ref, customer_ref, created_at desc, id desc);
create index orders_by_status on orders (tenant_ref, status, created_at desc, id desc);
create index orders_by_folded_email on orders (tenant_ref, email_folded text_pattern_ops)
  where email_folded is not null;
create index orders_by_customer_prefix on orders (tenant_ref, customer_ref text_pattern_ops);
create index orders_by_email on orders (tenant_ref, lower(email)) where email is not null;

create table order_items (
  tenant_ref        text    not null,
  id                uuid    not null,
  order_id          uuid    not null,
  -- Kept as they were, whatever becomes of the catalog.
  product_id        uuid    not null,
  variant_id        uuid    not null,
  product_name      text    not null,
  name_folded       text    generated always as (lower(product_name)) stored,
  sku               text    not null,
  label             text,
  -- What is wanted now; an edit lowers or raises it.
  quantity          integer not null check (quantity >= 0),
  original_quantity integer not null check (original_quantity > 0),
  unit_price_cents  bigint  not null check (unit_price_cents >= 0),
  list_price_cents  bigint  not null check (list_price_cents >= 0),
  line_total_cents  bigint  not null check (line_total_cents = unit_price_cents * quantity),
  -- The line's shares of the order's sums, given once.
  discount_cents    bigint  not null default 0 check (discount_cents between 0 and line_total_cents),
  tax_cents         bigint  not null default 0 check (tax_cents >= 0),
  shipping_cents    bigint  not null default 0 check (shipping_cents >= 0),
  is_subscription   boolean not null default false,
  refunded_quantity integer not null default 0 check (refunded_quantity between 0 and quantity),
  shipped_quantity  integer not null default 0 check (shipped_quantity >= 0),
  delivered_quantity integer not null default 0 check (delivered_quantity between 0 and shipped_quantity),
  position          integer not null,
  primary key (tenant_ref, id),
  foreign key (tenant_ref, order_id) references orders
);
create index order_items_of_order on order_items (tenant_ref, order_id, position);
create index order_items_by_sku on order_items (tenant_ref, sku text_pattern_ops);
create index order_items_by_name on order_items (tenant_ref, name_folded text_pattern_ops);

-- One row for each tender of an order, and one for each further card charge by an edit.
create table charges (
  tenant_ref      text        not null,
  charge_id       uuid        not null,
  order_id        uuid        not null,
  tender          text        not null check (tender in ('store_credit', 'gift_card', 'card')),
  status          text        not null
                  check (status in ('pending', 'authorized', 'captured', 'voided', 'failed')),
  amount_cents    bigint      not null check (amount_cents > 0),
  captured_cents  bigint      not null default 0 check (captured_cents between 0 and amount_cents),
  -- Given back or promised: a refund takes its part here before the gateway is asked.
  refunded_cents  bigint      not null default 0 check (refunded_cents between 0 and captured_cents),
  currency        text        not null,
  gateway         text,
  txn_id          text,
  vault_id        text,
  card_brand      text,
  card_last4      text,
  card_fingerprint text,
  gift_card_id    uuid,
  gift_card_last4 text,
  authorized_until timestamptz,
  created_at      timestamptz not null default now(),
  primary key (tenant_ref, charge_id),
  foreign key (tenant_ref, order_id) references orders
);
create index charges_of_order on charges (tenant_ref, order_id, created_at);
-- The worker looks over all tenants for authorisations that have run out.
create index charges_expiring on charges (authorized_until) where status = 'authorized';

create table refunds (
  tenant_ref      text        not null,
  refund_id       uuid        not null,
  order_id        uuid        not null,
  -- An adjustment is what an edit gives back: it lowers what counts as captured, and is no refund.
  kind            text        not null default 'refund' check (kind in ('refund', 'adjustment')),
  status          text        not null check (status in ('pending', 'succeeded', 'failed')),
  method          text        not null default 'original' check (method in ('original', 'store_credit')),
  amount_cents    bigint      not null check (amount_cents > 0),
  product_cents   bigint      not null default 0,
  tax_cents       bigint      not null default 0,
  shipping_cents  bigint      not null default 0,
  currency        text        not null,
  reason          text        check (length(reason) <= 2000),
  actor           text        not null,
  created_at      timestamptz not null default now(),
  settled_at      timestamptz,
  primary key (tenant_ref, refund_id),
  foreign key (tenant_ref, order_id) references orders,
  check (amount_cents = product_cents + tax_cents + shipping_cents)
);
create index refunds_of_order on refunds (tenant_ref, order_id, created_at);

create table refund_tenders (
  tenant_ref   text   not null,
  refund_id    uuid   not null,
  charge_id    uuid   not null,
  -- Where the value went: its own tender, or store credit where that cannot take it.
  tender       text   not null check (tender in ('store_credit', 'gift_card', 'card')),
  amount_cents bigint not null check (amount_cents > 0),
  status       text   not null check (status in ('pending', 'succeeded', 'failed')),
  attempt_id   uuid,
  primary key (tenant_ref, refund_id, charge_id),
  foreign key (tenant_ref, refund_id) references refunds,
  foreign key (tenant_ref, charge_id) references charges
);

create table refund_items (
  tenant_ref    text    not null,
  refund_id     uuid    not null,
  order_item_id uuid    not null,
  quantity      integer not null check (quantity > 0),
  amount_cents  bigint  not null,
  primary key (tenant_ref, refund_id, order_item_id),
  foreign key (tenant_ref, refund_id) references refunds,
  foreign key (tenant_ref, order_item_id) references order_items
);

-- What happened to an order, in order. Holds ids, amounts and words of ours, nothing personal.
create table order_timeline (
  tenant_ref text        not null,
  id         bigint      generated always as identity,
  order_id   uuid        not null,
  type       text        not null check (length(type) <= 60),
  actor      text        not null check (length(actor) <= 200),
  at         timestamptz not null default clock_timestamp(),
  data       jsonb       not null default '{}',
  primary key (tenant_ref, id),
  foreign key (tenant_ref, order_id) references orders
);
create index order_timeline_of_order on order_timeline (tenant_ref, order_id, id);

create table order_notes (
  tenant_ref text        not null,
  id         uuid        not null default gen_random_uuid(),
  order_id   uuid        not null,
  note       text        not null check (length(note) between 1 and 5000),
  actor      text        not null,
  created_at timestamptz not null default now(),
  primary key (tenant_ref, id),
  foreign key (tenant_ref, order_id) references orders
);
create index order_notes_of_order on order_notes (tenant_ref, order_id, created_at);

call fd_fence('order_counters', app => 'select, insert, update', worker => 'select, insert, update');
call fd_fence('orders', app => 'select, insert, update', worker => 'select, insert, update');
call fd_fence('order_items', app => 'select, insert, update', worker => 'select, insert, update');
call fd_fence('charges', app => 'select, insert, update', worker => 'select, insert, update');
create policy due on charges for select to fd_worker using (true);
call fd_fence('refunds', app => 'select, insert, update', worker => 'select, insert, update');
call fd_fence('refund_tenders', app => 'select, insert, update', worker => 'select, insert, update');
call fd_fence('refund_items', app => 'select, insert', worker => 'select, insert');
call fd_fence('order_timeline', app => 'select, insert', worker => 'select, insert');
call fd_fence('order_notes', app => 'select, insert, update', worker => 'select, insert, update');
call fd_freeze('order_timeline');
