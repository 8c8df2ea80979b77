-- Orders: lines, charges and refunds. Facts about money are stored here once they are certain; the ledger has the same
-- as journals, and the gateway its own record.

-- The last number given to an order of the store. Taken in a statement of its own, so that no order waits for
-- another one's commit; a number that is not used leaves a gap.
create table order_counters (
  tenant_ref  text   not null references stores,
  last_number bigint not null default 1000,
  primary key (tenant_ref)
);
call fd_fence('order_counters', app => 'select, insert, update',
              worker => 'select, insert, update');

-- An order. Its status is derived from its facts: those of money and time here, and those of its lines.
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
                     check (fulfillment_status in ('unfulfilled', 'processing', 'partially_shipped', 'shipped',
                                                   'delivered', 'cancelled')),
  coupon_code        text,
  subtotal_cents     bigint      not null check (subtotal_cents >= 0),
  discount_cents     bigint      not null check (discount_cents between 0 and subtotal_cents),
  shipping_cents     bigint      not null check (shipping_cents >= 0),
  tax_cents          bigint      not null check (tax_cents >= 0),
  total_cents        bigint      not null,
  currency           text        not null check (currency ~ '^[A-Z]{3}$'),
  idempotency_key    text        not null,
  ship_to            jsonb,
  email              text,
  -- Folded by the database itself, since row level security keeps an index on `lower(email)` out of use.
  email_folded       text        generated always as (lower(email)) stored,
  ip                 text,
  referral_code      text,
  source             text        not null default 'checkout'
                     check (source in ('checkout', 'subscription_renewal', 'operator', 'exchange')),
  -- What an edit needs to price the order again as it was priced.
  pricing            jsonb       not null,
  -- What the fraud check knew about the attempt before the payment; it is scored again with the gateway's answer.
  risk               jsonb       not null default '{}',
  is_test            boolean     not null default false,

  -- Facts of money. `captured` and `refunded` count every tender; what an edit returns lowers `captured` and is no
  -- refund.
  captured_cents     bigint      not null default 0 check (captured_cents >= 0),
  refunded_cents     bigint      not null default 0
                     constraint orders_check2 check (refunded_cents between 0 and captured_cents),
  -- The state of the last attempt to pay. `failed` is final. `requested`: the shopper was asked to pay, and has not
  -- paid.
  payment            text        not null default 'pending'
                     check (payment in ('none', 'pending', 'requested', 'unknown', 'authorized', 'captured',
                                        'failed')),
  payment_failure    text        constraint orders_check3
                     check ((payment_failure is not null) = (payment = 'failed') and length(payment_failure) <= 60),
  disputed_at        timestamptz,
  -- Facts of time.
  placed_at          timestamptz,
  processing_at      timestamptz,
  cancelled_at       timestamptz,
  cancel_reason      text,
  hold_reason        text,
  hold_at            timestamptz,
  hold_by            text,
  -- Edit, cancel and release exclude each other. `operation_id` names the operation that works on the order; its claim
  -- in idempotency_keys says until when a process may work on it.
  operation_id       uuid,
  -- The plan of the running operation, stored until it has ended, so that another process can finish it.
  operation          jsonb,

  created_at         timestamptz not null default fd_now(),
  updated_at         timestamptz not null default fd_now(),
  -- The name of the shopper, from `name` of the checkout or of its address. The label of an address is no
  -- name: it says "Home" as often as "Ann Archer".
  customer_name      text        check (length(customer_name) between 1 and 300),
  -- Whether the prices of the order have its tax inside: the total then adds no tax. Stored with the order,
  -- so that a store can change its prices without touching old orders.
  prices_include_tax boolean     not null default false,
  -- The pick queue: orders with units to pack, that nothing holds, the oldest first. Derived with the status.
  has_work           boolean     not null default false,
  -- The part of the subtotal that was paid for gift cards.
  gift_card_cents    bigint      not null default 0,
  subscription_id    uuid,
  subscription_cycle integer     check (subscription_cycle > 1),
  primary key (tenant_ref, id),
  constraint orders_number unique (tenant_ref, order_number),
  constraint orders_key unique (tenant_ref, idempotency_key),
  constraint orders_check4 check ((hold_at is null) = (hold_reason is null)),
  constraint orders_operation check ((operation_id is null) = (operation is null)),
  constraint orders_total_check
    check (total_cents = subtotal_cents - discount_cents + shipping_cents + case when prices_include_tax then 0
           else tax_cents end),
  constraint orders_tax_inside_check check (not prices_include_tax or tax_cents <= total_cents),
  constraint orders_gift_card_check check (gift_card_cents between 0 and subtotal_cents - discount_cents)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02,
        autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
call fd_fence('orders', app => 'select, insert, update', worker => 'select, insert, update');
call fd_bundle_checks('orders');

-- An index for each filter of the list. Every index costs each checkout, which inserts its order and updates
-- it once, and neither write is in place (the status is indexed): so two writes to an index of all orders,
-- none to one whose condition a placed order does not meet.

create index orders_by_status on orders (tenant_ref, status, created_at desc, id desc);
create index orders_by_folded_email on orders (tenant_ref, email_folded text_pattern_ops)
  where email_folded is not null;
-- One index for an exact customer, newest first, and for the beginning of a reference: operators of
-- text_pattern_ops compare bytes, and equality is the same for both.
create index orders_of_customer
  on orders (tenant_ref, customer_ref text_pattern_ops, created_at desc, id desc);
-- Most orders of a store are paid: a page of them is found by walking the newest orders. Any other state may
-- be rare. A checkout writes here once, while its payment is pending.
create index orders_by_payment_status on orders (tenant_ref, payment_status, created_at desc, id desc)
  where payment_status <> 'paid';
-- Over all orders: in a store that ships, few are unfulfilled, and in one that does not, all are.
create index orders_by_fulfillment_status on orders (tenant_ref, fulfillment_status, created_at desc, id desc);
-- A live store has few test orders. The other orders are most, and need no index.
create index orders_tests on orders (tenant_ref, created_at desc, id desc) where is_test;
create index orders_by_coupon on orders (tenant_ref, coupon_code, created_at desc, id desc)
  where coupon_code is not null;
-- Orders on hold are few. The longest held comes first.
create index orders_on_hold on orders (tenant_ref, hold_reason, hold_at, id) where status = 'on_hold';
-- Also counts, from the index alone, the paid orders and the orders that are no tests, which are most of them.
create index orders_newest on orders (tenant_ref, created_at desc, id desc)
  include (is_test, payment_status);
create index orders_with_work on orders (tenant_ref, created_at, id) where has_work;
-- One order for each cycle. The order of a declined attempt has failed, and a retry makes another.
create unique index orders_of_cycle on orders (tenant_ref, subscription_id, subscription_cycle)
    where subscription_id is not null and payment <> 'failed';

-- The order that came from an affiliate.
alter table affiliate_attributions add foreign key (tenant_ref, order_id) references orders;

-- A store's currency is the one of its customers' sums and its gift cards. Once there is an order, a card, credit or a
-- purchase order, another currency would change what these amounts mean.
--
-- A change has locked the store's row for update before, as stores/service.ts does: a row that refers to the store is
-- either written before that, and seen here, or waits for the change.
create function fd_keep_currency() returns trigger
language plpgsql set search_path = public, pg_temp as $$
begin
  if exists (select from orders where tenant_ref = new.tenant_ref)
     or exists (select from gift_cards where tenant_ref = new.tenant_ref)
     or exists (select from store_credit_accounts where tenant_ref = new.tenant_ref)
     or exists (select from purchase_orders where tenant_ref = new.tenant_ref) then
    raise exception 'the currency of % is fixed', new.tenant_ref
      using errcode = 'check_violation', constraint = 'stores_currency_fixed';
  end if;
  return new;
end $$;

revoke all on function fd_keep_currency from public;

create trigger currency_fixed before update of currency on stores
  for each row when (new.currency <> old.currency) execute function fd_keep_currency();

-- The lines of an order.
create table order_items (
  tenant_ref         text        not null,
  id                 uuid        not null,
  order_id           uuid        not null,
  -- Copied from the catalog, and kept whatever happens there.
  product_id         uuid        not null,
  variant_id         uuid        not null,
  product_name       text        not null,
  name_folded        text        generated always as (lower(product_name)) stored,
  sku                text        not null,
  label              text,
  -- The present quantity; an edit lowers or raises it.
  quantity           integer     not null check (quantity >= 0),
  original_quantity  integer     not null check (original_quantity > 0),
  unit_price_cents   bigint      not null check (unit_price_cents >= 0),
  list_price_cents   bigint      not null check (list_price_cents >= 0),
  line_total_cents   bigint      not null check (line_total_cents = unit_price_cents * quantity),
  -- The line's shares of the order's sums, computed once.
  discount_cents     bigint      not null default 0
                     check (discount_cents between 0 and line_total_cents),
  tax_cents          bigint      not null default 0 check (tax_cents >= 0),
  shipping_cents     bigint      not null default 0 check (shipping_cents >= 0),
  is_subscription    boolean     not null default false,
  refunded_quantity  integer     not null default 0 check (refunded_quantity between 0 and quantity),
  shipped_quantity   integer     not null default 0 check (shipped_quantity >= 0),
  delivered_quantity integer     not null default 0
                     check (delivered_quantity between 0 and shipped_quantity),
  position           integer     not null,
  -- The lines of a SKU in the order of the list of orders. Both times are set by one statement.
  ordered_at         timestamptz not null default fd_now(),
  -- Units in parcels that are not shipped yet.
  packed_quantity    integer     not null default 0 check (packed_quantity >= 0),
  -- Units in returns that have not come yet. Together with the returned ones, never more than were shipped, however
  -- many requests come at once.
  returning_quantity integer     not null default 0 check (returning_quantity >= 0),
  -- Units that have come back.
  returned_quantity  integer     not null default 0 check (returned_quantity >= 0),
  -- Units that were refunded before they were shipped, and are not to be shipped any more.
  restocked_quantity integer     not null default 0 check (restocked_quantity >= 0),
  gift_card          boolean     not null default false,
  primary key (tenant_ref, id),
  foreign key (tenant_ref, order_id) references orders,
  constraint order_items_returned_check check (returning_quantity + returned_quantity <= shipped_quantity),
  constraint order_items_restocked_check check (restocked_quantity <= refunded_quantity),
  constraint order_items_units_check
    check (packed_quantity + shipped_quantity + restocked_quantity <= quantity),
  constraint order_items_gift_card_check
    check (not gift_card or (discount_cents = 0 and tax_cents = 0 and shipping_cents = 0 and packed_quantity = 0
                             and shipped_quantity = 0 and restocked_quantity = 0 and not is_subscription))
) with (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02,
        autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
call fd_fence('order_items', app => 'select, insert, update', worker => 'select, insert, update');
call fd_bundle_checks('order_items');

create index order_items_of_order on order_items (tenant_ref, order_id, position);
create index order_items_by_name on order_items (tenant_ref, name_folded text_pattern_ops);
-- The order's id is no key of this index: the planner would look lines of an order up by it, in all lines of
-- the store.
create index order_items_by_sku
  on order_items (tenant_ref, sku text_pattern_ops, ordered_at desc) include (order_id);

-- How an edit, or the cancellation of the rest, changed a line: new minus old. So the amounts of a line are known for
-- every journal of its order, also after the line was edited again.
create table order_line_changes (
  tenant_ref       text        not null references stores,
  id               uuid        not null default fd_uuid(),
  order_id         uuid        not null,
  order_item_id    uuid        not null,
  -- The reference of the journal of the same change. A change that moves no money has no journal.
  change_id        uuid        not null,
  quantity         integer     not null,
  line_total_cents bigint      not null,
  discount_cents   bigint      not null,
  tax_cents        bigint      not null,
  shipping_cents   bigint      not null,
  -- Taken under the lock of the order, so that it is later than the start of every transaction that had the
  -- lock before.
  created_at       timestamptz not null default fd_clock(),
  primary key (tenant_ref, id),
  foreign key (tenant_ref, order_id) references orders,
  foreign key (tenant_ref, order_item_id) references order_items
);
call fd_fence('order_line_changes', app => 'select, insert', worker => 'select, insert');

create index order_line_changes_of_order on order_line_changes (tenant_ref, order_id);

-- The timeline of an order. Holds ids, amounts and fixed texts, no personal data.
create table order_timeline (
  tenant_ref text        not null,
  id         bigint      not null generated by default as identity,
  order_id   uuid        not null,
  type       text        not null check (length(type) <= 60),
  actor      text        not null check (length(actor) <= 200),
  at         timestamptz not null default fd_clock(),
  data       jsonb       not null default '{}',
  primary key (tenant_ref, id),
  foreign key (tenant_ref, order_id) references orders
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02,
        autovacuum_vacuum_insert_scale_factor = 0.05);
call fd_fence('order_timeline', app => 'select, insert', worker => 'select, insert');
call fd_due('order_timeline');
call fd_freeze_young('order_timeline', 'at', '365 days');

create index order_timeline_of_order on order_timeline (tenant_ref, order_id, id);

-- Notes of the merchant. One that was wrong can be deleted.
create table order_notes (
  tenant_ref text        not null,
  id         uuid        not null default fd_uuid(),
  order_id   uuid        not null,
  note       text        not null check (length(note) between 1 and 5000),
  actor      text        not null,
  created_at timestamptz not null default fd_now(),
  primary key (tenant_ref, id),
  foreign key (tenant_ref, order_id) references orders
);
call fd_fence('order_notes', app => 'select, insert, update, delete',
              worker => 'select, insert, update');

create index order_notes_of_order on order_notes (tenant_ref, order_id, created_at);

-- One row for each tender of an order, and one for each further card charge by an edit.
create table charges (
  tenant_ref       text        not null,
  charge_id        uuid        not null,
  order_id         uuid        not null,
  tender           text        not null check (tender in ('store_credit', 'gift_card', 'card')),
  status           text        not null
                   check (status in ('pending', 'authorized', 'captured', 'voided', 'failed')),
  amount_cents     bigint      not null check (amount_cents > 0),
  captured_cents   bigint      not null default 0 check (captured_cents between 0 and amount_cents),
  -- Refunded or reserved for a refund: a refund reserves its part here before the gateway is asked.
  refunded_cents   bigint      not null default 0
                   check (refunded_cents between 0 and captured_cents),
  currency         text        not null,
  gateway          text,
  txn_id           text,
  vault_id         text,
  card_brand       text,
  card_last4       text,
  card_fingerprint text,
  gift_card_id     uuid,
  gift_card_last4  text,
  authorized_until timestamptz,
  created_at       timestamptz not null default fd_now(),
  -- The charge of another order that this charge's money comes from. It is refunded at that order's gateway, which has
  -- one transaction for both.
  moved_from       uuid,
  primary key (tenant_ref, charge_id),
  foreign key (tenant_ref, order_id) references orders,
  constraint charges_moved_from_fkey foreign key (tenant_ref, moved_from) references charges,
  constraint charges_moved_check check (moved_from <> charge_id)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02,
        autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
call fd_fence('charges', app => 'select, insert, update', worker => 'select, insert, update');
call fd_due('charges');
call fd_bundle_checks('charges');

create index charges_of_order on charges (tenant_ref, order_id, created_at);
create index charges_expiring_of_tenant on charges (tenant_ref, authorized_until)
  where authorized_until is not null;
create index charges_expiring on charges (authorized_until) where authorized_until is not null;
create index charges_moved on charges (tenant_ref, moved_from) where moved_from is not null;

-- Refunds, and the adjustments of edits.
create table refunds (
  tenant_ref      text        not null,
  refund_id       uuid        not null,
  order_id        uuid        not null,
  -- An adjustment is money that an edit returns: it lowers the captured amount, and is no refund.
  kind            text        not null default 'refund' check (kind in ('refund', 'adjustment')),
  status          text        not null check (status in ('pending', 'succeeded', 'failed')),
  -- `exchange`: the money pays for another order, or comes back from one.
  method          text        not null default 'original'
                  check (method in ('original', 'store_credit', 'exchange')),
  amount_cents    bigint      not null,
  product_cents   bigint      not null default 0,
  tax_cents       bigint      not null default 0,
  shipping_cents  bigint      not null default 0,
  currency        text        not null,
  reason          text        check (length(reason) <= 2000),
  actor           text        not null,
  created_at      timestamptz not null default fd_now(),
  settled_at      timestamptz,
  gift_card_cents bigint      not null default 0 check (gift_card_cents >= 0),
  primary key (tenant_ref, refund_id),
  foreign key (tenant_ref, order_id) references orders,
  constraint refunds_parts_check
    check (amount_cents = product_cents + tax_cents + shipping_cents + gift_card_cents),
  -- A unit may be worth less than a cent. Its refund counts the unit and moves nothing; the last unit gets the rest.
  constraint refunds_amount_cents_check check (amount_cents > 0 or (amount_cents = 0 and kind = 'refund'))
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05,
        autovacuum_analyze_scale_factor = 0.02);
call fd_fence('refunds', app => 'select, insert, update', worker => 'select, insert, update');

create index refunds_of_order on refunds (tenant_ref, order_id, created_at);

-- The parts of a refund, by the charge that each gives back.
create table refund_tenders (
  tenant_ref   text   not null,
  refund_id    uuid   not null,
  charge_id    uuid   not null,
  -- Where the money went: its own tender, or store credit if that cannot be refunded.
  tender       text   not null check (tender in ('store_credit', 'gift_card', 'card')),
  amount_cents bigint not null check (amount_cents > 0),
  status       text   not null check (status in ('pending', 'succeeded', 'failed')),
  attempt_id   uuid,
  primary key (tenant_ref, refund_id, charge_id),
  foreign key (tenant_ref, refund_id) references refunds,
  foreign key (tenant_ref, charge_id) references charges
);
call fd_fence('refund_tenders', app => 'select, insert, update',
              worker => 'select, insert, update');

-- The units of a refund, by line.
create table refund_items (
  tenant_ref         text    not null,
  refund_id          uuid    not null,
  order_item_id      uuid    not null,
  quantity           integer not null check (quantity > 0),
  amount_cents       bigint  not null,
  -- The units of a refund that will not be shipped and go back to stock once the refund succeeds.
  restocked_quantity integer not null default 0,
  primary key (tenant_ref, refund_id, order_item_id),
  foreign key (tenant_ref, refund_id) references refunds,
  foreign key (tenant_ref, order_item_id) references order_items,
  constraint refund_items_restocked_check check (restocked_quantity between 0 and quantity)
);
call fd_fence('refund_items', app => 'select, insert', worker => 'select, insert');

-- What a shopper is asked to pay: for a held order, or for the correction of a placed one, which is applied
-- once it is paid. It is paid by the shopper alone. An order that is asked a second time has one request, the
-- last.
create table payment_requests (
  tenant_ref   text        not null references stores,
  order_id     uuid        not null,
  amount_cents bigint      not null check (amount_cents > 0),
  currency     text        not null check (currency ~ '^[A-Z]{3}$'),
  status       text        not null check (status in ('open', 'paid', 'withdrawn', 'expired')),
  expires_at   timestamptz not null,
  -- When its order is cancelled; later than `expires_at` if a payment was in progress then.
  due_at       timestamptz,
  sent_count   integer     not null default 1 check (sent_count > 0),
  sent_at      timestamptz not null default fd_now(),
  created_by   text        not null check (length(created_by) <= 200),
  created_at   timestamptz not null default fd_now(),
  ended_at     timestamptz,
  purpose      text        not null default 'order' check (purpose in ('order', 'correction')),
  -- The change that is applied once it is paid, with the corrected address. It ends with the request.
  correction   jsonb,
  primary key (tenant_ref, order_id),
  foreign key (tenant_ref, order_id) references orders,
  check ((status = 'open') = (due_at is not null)),
  check ((status = 'open') = (ended_at is null)),
  constraint payment_requests_correction
    check (correction is null or (purpose = 'correction' and status = 'open'))
);
call fd_fence('payment_requests', app => 'select, insert, update',
              worker => 'select, insert, update');
call fd_due('payment_requests');

create index payment_requests_due on payment_requests (due_at) where due_at is not null;
create index payment_requests_due_of_tenant on payment_requests (tenant_ref, due_at) where due_at is not null;

-- Parcels. Units of an order are packed into fulfilments, which are shipped, delivered, cancelled or
-- recalled. Packed units leave the order's open quantity; stock moves when they are shipped.
create table fulfillments (
  tenant_ref         text        not null references stores,
  id                 uuid        not null default fd_uuid(),
  order_id           uuid        not null,
  number             integer     not null check (number > 0),
  fulfillment_number text        not null check (length(fulfillment_number) <= 50),
  location_id        text        not null,
  status             text        not null default 'pending'
                     check (status in ('pending', 'shipped', 'delivered', 'cancelled')),
  carrier            text        check (length(carrier) <= 100),
  service            text        check (length(service) <= 100),
  tracking_number    text        check (length(tracking_number) <= 200),
  tracking_url       text        check (length(tracking_url) <= 2000),
  weight_grams       integer     check (weight_grams between 1 and 1000000000),
  cancel_reason      text        check (cancel_reason in ('lost', 'returned_to_sender', 'error',
                                                          'order_cancelled')),
  created_by         text        not null check (length(created_by) <= 200),
  created_at         timestamptz not null default fd_now(),
  updated_at         timestamptz not null default fd_now(),
  shipped_at         timestamptz,
  delivered_at       timestamptz,
  cancelled_at       timestamptz,
  -- When the parcel counts as delivered by itself, if the store says after how many days.
  deliver_at         timestamptz,
  primary key (tenant_ref, id),
  unique (tenant_ref, order_id, number),
  foreign key (tenant_ref, order_id) references orders,
  check ((status in ('shipped', 'delivered')) <= (shipped_at is not null)),
  check ((status = 'delivered') <= (delivered_at is not null)),
  check ((status = 'cancelled') = (cancelled_at is not null))
);
call fd_fence('fulfillments', app => 'select, insert, update', worker => 'select, insert, update');
call fd_due('fulfillments');

create index fulfillments_newest on fulfillments (tenant_ref, created_at desc, id desc);
create index fulfillments_of_status on fulfillments (tenant_ref, status, created_at desc, id desc);
create index fulfillments_due on fulfillments (deliver_at)
    where deliver_at is not null and status = 'shipped';
create index fulfillments_due_of_tenant on fulfillments (tenant_ref, deliver_at)
    where deliver_at is not null and status = 'shipped';

-- The units in a parcel, by line.
create table fulfillment_items (
  tenant_ref     text    not null references stores,
  fulfillment_id uuid    not null,
  order_item_id  uuid    not null,
  position       integer not null,
  variant_id     uuid    not null,
  sku            text    not null,
  product_name   text    not null,
  label          text,
  quantity       integer not null check (quantity > 0),
  -- How many of the units were allocated from stock. The others are of a variant that is not tracked, or was
  -- not when the order was placed.
  stock_quantity integer not null check (stock_quantity between 0 and quantity),
  primary key (tenant_ref, fulfillment_id, order_item_id),
  foreign key (tenant_ref, fulfillment_id) references fulfillments,
  foreign key (tenant_ref, order_item_id) references order_items
);
call fd_fence('fulfillment_items', app => 'select, insert', worker => 'select, insert');

create index fulfillment_items_of_line on fulfillment_items (tenant_ref, order_item_id);

-- Shipping labels that were bought of carriers. A label is money spent by the merchant: it is written down
-- before the carrier is asked, and its id is our reference there.
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
  -- Where the parcel is, by the carrier's last record. It only moves forward.
  progress        text        check (progress in ('in_transit', 'delivered', 'returned')),
  progress_at     timestamptz,
  -- How often the carrier has refused to void it. Each try has a key of its own.
  voids_refused   integer     not null default 0,
  created_by      text        not null check (length(created_by) <= 200),
  created_at      timestamptz not null default fd_now(),
  updated_at      timestamptz not null default fd_now(),
  bought_at       timestamptz,
  voided_at       timestamptz,
  -- A label that a carrier sold after its parcel had left, or was cancelled, was never on the parcel: it is voided
  -- whatever happens to the parcel, and its number is never written to the parcel.
  unused          boolean     not null default false,
  primary key (tenant_ref, id),
  foreign key (tenant_ref, fulfillment_id) references fulfillments,
  foreign key (tenant_ref, order_id) references orders,
  check ((status in ('bought', 'voiding', 'voided')) = (bought_at is not null)),
  check ((bought_at is not null) = (cost_cents is not null)),
  check ((status = 'voided') = (voided_at is not null)),
  check ((progress is null) = (progress_at is null))
);
call fd_fence('carrier_labels', app => 'select, insert, update',
              worker => 'select, insert, update');

-- A parcel has one label at a time; voided and refused ones stay as a record.
create unique index carrier_labels_current on carrier_labels (tenant_ref, fulfillment_id)
 where status in ('buying', 'bought', 'voiding');
create index carrier_labels_of_order on carrier_labels (tenant_ref, order_id);

-- The simulated carrier's own records. No table of the platform refers to them: it stands for an outside service.
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

-- Returns: shipped units that come back, are restocked, written off or quarantined, and are refunded.
create table returns (
  tenant_ref     text        not null references stores,
  id             uuid        not null default fd_uuid(),
  order_id       uuid        not null,
  number         integer     not null check (number > 0),
  return_number  text        not null check (length(return_number) <= 50),
  status         text        not null
                 check (status in ('requested', 'approved', 'declined', 'partially_received', 'received',
                                   'closed', 'cancelled')),
  requested_by   text        not null check (requested_by in ('shopper', 'merchant')),
  note           text        check (length(note) <= 2000),
  instructions   text        check (length(instructions) <= 5000),
  label_url      text        check (length(label_url) <= 2000),
  decline_reason text        check (length(decline_reason) <= 2000),
  created_by     text        not null check (length(created_by) <= 200),
  created_at     timestamptz not null default fd_now(),
  updated_at     timestamptz not null default fd_now(),
  approved_at    timestamptz,
  declined_at    timestamptz,
  received_at    timestamptz,
  closed_at      timestamptz,
  cancelled_at   timestamptz,
  primary key (tenant_ref, id),
  unique (tenant_ref, order_id, number),
  foreign key (tenant_ref, order_id) references orders,
  check ((status = 'declined') = (declined_at is not null)),
  check ((status = 'cancelled') = (cancelled_at is not null)),
  check ((status = 'closed') = (closed_at is not null)),
  check ((status in ('approved', 'partially_received', 'received', 'closed')) <= (approved_at is not null)),
  check ((status = 'received') <= (received_at is not null))
);
call fd_fence('returns', app => 'select, insert, update', worker => 'select, insert, update');

create index returns_newest on returns (tenant_ref, created_at desc, id desc);
create index returns_of_status on returns (tenant_ref, status, created_at desc, id desc);

-- The units of a return, by line of the order.
create table return_lines (
  tenant_ref                text    not null references stores,
  id                        uuid    not null default fd_uuid(),
  return_id                 uuid    not null,
  order_item_id             uuid    not null,
  position                  integer not null,
  variant_id                uuid    not null,
  sku                       text    not null,
  product_name              text    not null,
  label                     text,
  reason                    text    check (length(reason) <= 2000),
  quantity                  integer not null check (quantity > 0),
  -- The dispositions of the units that came, and the units that are known to be missing.
  restocked_quantity        integer not null default 0 check (restocked_quantity >= 0),
  damaged_quantity          integer not null default 0 check (damaged_quantity >= 0),
  quarantined_quantity      integer not null default 0 check (quarantined_quantity >= 0),
  missing_quantity          integer not null default 0 check (missing_quantity >= 0),
  -- Where the quarantined units lie.
  quarantine_location_id    text,
  -- The decisions about the money of the units that came: refunded by a receipt, refunded before they came, or not to
  -- be refunded.
  refunded_quantity         integer not null default 0 check (refunded_quantity >= 0),
  already_refunded_quantity integer not null default 0 check (already_refunded_quantity >= 0),
  waived_quantity           integer not null default 0 check (waived_quantity >= 0),
  refund_cents              bigint  not null default 0 check (refund_cents >= 0),
  primary key (tenant_ref, id),
  constraint return_lines_once unique (tenant_ref, return_id, order_item_id),
  foreign key (tenant_ref, return_id) references returns,
  foreign key (tenant_ref, order_item_id) references order_items,
  check (restocked_quantity + damaged_quantity + quarantined_quantity + missing_quantity <= quantity),
  check (refunded_quantity + already_refunded_quantity + waived_quantity <= restocked_quantity
         + damaged_quantity + quarantined_quantity)
);
call fd_fence('return_lines', app => 'select, insert, update', worker => 'select, insert, update');

create index return_lines_of_item on return_lines (tenant_ref, order_item_id);

-- One arrival of goods, with the settlement of their money.
create table return_receipts (
  tenant_ref            text        not null references stores,
  id                    uuid        not null,
  return_id             uuid        not null,
  number                integer     not null check (number > 0),
  status                text        not null check (status in ('pending', 'settled', 'failed')),
  -- `later`: nothing is decided about the money of the units yet.
  method                text        not null
                        check (method in ('original', 'store_credit', 'none', 'later')),
  location_id           text        not null,
  restocking_fee_cents  bigint      not null default 0 check (restocking_fee_cents >= 0),
  refund_shipping_cents bigint      not null default 0 check (refund_shipping_cents >= 0),
  -- The amount that a gateway has refunded for an earlier receipt whose refund failed: this receipt refunds so much
  -- less. Negative: this receipt refunds what an exchange gave back after an earlier receipt had deducted it.
  deducted_cents        bigint      not null default 0,
  refund_id             uuid,
  -- The refund of each line of the return: [{return_line_id, quantity, refund_cents}].
  shares                jsonb       not null default '[]',
  movement_ids          uuid[]      not null default '{}',
  created_by            text        not null check (length(created_by) <= 200),
  created_at            timestamptz not null default fd_now(),
  settled_at            timestamptz,
  -- What the merchant chose not to refund. An exchange may still take it.
  waived_cents          bigint      not null default 0 check (waived_cents >= 0),
  primary key (tenant_ref, id),
  unique (tenant_ref, return_id, number),
  foreign key (tenant_ref, return_id) references returns,
  foreign key (tenant_ref, refund_id) references refunds,
  check (refund_id is not null or status = 'settled'),
  check ((status = 'settled') = (settled_at is not null))
);
call fd_fence('return_receipts', app => 'select, insert, update',
              worker => 'select, insert, update');

create unique index return_receipts_of_refund on return_receipts (tenant_ref, refund_id)
 where refund_id is not null;

-- The units that came, by line of the return and by disposition.
create table return_receipt_lines (
  tenant_ref     text    not null references stores,
  receipt_id     uuid    not null,
  return_line_id uuid    not null,
  disposition    text    not null
                 check (disposition in ('restock', 'damaged', 'quarantine', 'missing')),
  quantity       integer not null check (quantity > 0),
  -- How many of the units came on hand: those to be restocked, of a variant that is tracked.
  stock_quantity integer not null check (stock_quantity between 0 and quantity),
  primary key (tenant_ref, receipt_id, return_line_id, disposition),
  foreign key (tenant_ref, receipt_id) references return_receipts,
  foreign key (tenant_ref, return_line_id) references return_lines
);
call fd_fence('return_receipt_lines', app => 'select, insert', worker => 'select, insert');

-- Units that were quarantined and have been restocked or written off since.
create table return_resolutions (
  tenant_ref     text        not null references stores,
  id             uuid        not null default fd_uuid(),
  return_line_id uuid        not null,
  disposition    text        not null check (disposition in ('restock', 'damaged')),
  quantity       integer     not null check (quantity > 0),
  stock_quantity integer     not null check (stock_quantity between 0 and quantity),
  created_by     text        not null check (length(created_by) <= 200),
  created_at     timestamptz not null default fd_now(),
  primary key (tenant_ref, id),
  foreign key (tenant_ref, return_line_id) references return_lines
);
call fd_fence('return_resolutions', app => 'select, insert', worker => 'select, insert');

create index return_resolutions_of_line on return_resolutions (tenant_ref, return_line_id);

-- Exchanges: a return with a linked order that is paid from the return's refund. The shopper pays the rest by a
-- payment request.
create table return_exchanges (
  tenant_ref        text        not null references stores,
  id                uuid        not null default fd_uuid(),
  return_id         uuid        not null,
  -- The order with the new goods.
  order_id          uuid        not null,
  advance           boolean     not null,
  status            text        not null check (status in ('waiting', 'placed', 'released')),
  -- What the order takes of the return's refund, less what it has given back.
  amount_cents      bigint      not null check (amount_cents >= 0),
  -- The part of it that a receipt had waived: no other receipt deducts it.
  from_waived_cents bigint      not null default 0,
  -- How many days the shopper has to pay the rest.
  pay_days          integer     not null check (pay_days > 0),
  -- The refund of the returned order that pays for the new one. Null: the new order takes nothing.
  refund_id         uuid,
  created_by        text        not null check (length(created_by) <= 200),
  created_at        timestamptz not null default fd_now(),
  placed_at         timestamptz,
  released_at       timestamptz,
  primary key (tenant_ref, id),
  unique (tenant_ref, order_id),
  foreign key (tenant_ref, return_id) references returns,
  foreign key (tenant_ref, order_id) references orders,
  foreign key (tenant_ref, refund_id) references refunds,
  check (from_waived_cents between 0 and amount_cents),
  check ((status = 'released') = (released_at is not null)),
  check ((status = 'placed') <= (placed_at is not null))
);
call fd_fence('return_exchanges', app => 'select, insert, update',
              worker => 'select, insert, update');

create index return_exchanges_of_return on return_exchanges (tenant_ref, return_id, created_at);
