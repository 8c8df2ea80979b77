-- What a merchant looks at: figures by day, and the facts behind them. All of it is derived from numbered journals by a
-- loop of the worker. No table here is written by a checkout, and none has a person in it.

-- How an edit, or the cancellation of the rest, changed a line: later minus earlier. With it the amounts of a line are known
-- for every journal of its order, also after the line was edited again.
create table order_line_changes (
  tenant_ref        text        not null references stores,
  id                uuid        not null default fd_uuid(),
  order_id          uuid        not null,
  order_item_id     uuid        not null,
  -- The reference of the journal of the same change. A change that moves no money has no journal.
  change_id         uuid        not null,
  quantity          integer     not null,
  line_total_cents  bigint      not null,
  discount_cents    bigint      not null,
  tax_cents         bigint      not null,
  shipping_cents    bigint      not null,
  -- Taken under the lock of the order, so that it is later than the start of every transaction that had the lock before.
  created_at        timestamptz not null default fd_clock(),
  primary key (tenant_ref, id),
  foreign key (tenant_ref, order_id) references orders,
  foreign key (tenant_ref, order_item_id) references order_items
);
call fd_fence('order_line_changes', app => 'select, insert', worker => 'select, insert');
create index order_line_changes_of_order on order_line_changes (tenant_ref, order_id);

-- A count of a store's journals, by the calendar of one time zone. One generation is read (`serving`); another may be built
-- beside it and replaces it when it has caught up.
create table analytics_generations (
  tenant_ref   text        not null references stores,
  id           uuid        not null default fd_uuid(),
  generation   integer     not null check (generation > 0),
  state        text        not null check (state in ('serving', 'building', 'retired')),
  time_zone    text        not null check (length(time_zone) <= 64),
  -- The last journal that is counted, by its number in the chain of the ledger.
  sequence     bigint      not null default 0 check (sequence >= 0),
  -- When every numbered journal was counted, by the time of the store.
  counted_at   timestamptz,
  -- The payment attempts before this day are counted.
  payments_to  date,
  due_at       timestamptz default now(),
  lease_until  timestamptz,
  lease_token  uuid,
  primary key (tenant_ref, generation),
  unique (tenant_ref, id)
);
call fd_fence('analytics_generations', app => 'select, insert, update', worker => 'select, insert, update, delete');
call fd_due('analytics_generations');
create index analytics_generations_due on analytics_generations (due_at) where due_at is not null;
create index analytics_generations_due_of_tenant on analytics_generations (tenant_ref, due_at) where due_at is not null;
create unique index analytics_generations_serving on analytics_generations (tenant_ref) where state = 'serving';
create unique index analytics_generations_building on analytics_generations (tenant_ref) where state = 'building';

-- What is known of a captured order for good, in every generation. Country and state outlive the address, so that an erasure
-- changes no sum, and so does the place of the order among those of its customer.
create table analytics_orders (
  tenant_ref     text        not null references stores,
  order_id       uuid        not null,
  sale_sequence  bigint      not null,
  sale_at        timestamptz not null,
  place          text        not null check (length(place) <= 80),
  -- 1: the first captured order of its customer, 2: the second, 3: a later one.
  nth            smallint    not null check (nth between 1 and 3),
  first_at       timestamptz not null,
  previous_at    timestamptz,
  -- No foreign key: its check would wait for the lock of the order, which a flag of the order holds while it waits for ours.
  primary key (tenant_ref, order_id)
);
call fd_fence('analytics_orders', app => 'select', worker => 'select, insert');

-- One row for each counted journal of an order: what it adds to the figures.
create table analytics_facts (
  tenant_ref               text        not null references stores,
  generation               integer     not null,
  sequence                 bigint      not null,
  order_id                 uuid        not null,
  kind                     text        not null,
  at                       timestamptz not null,
  day                      date        not null,
  sale_day                 date        not null,
  currency                 text        not null,
  is_test                  boolean     not null,
  coupon                   text        not null,
  affiliate                text        not null,
  source                   text        not null,
  place                    text        not null,
  customer                 text        not null check (customer in ('new', 'returning')),
  cohort                   text        not null check (cohort ~ '^\d{4}-\d{2}$'),
  gross_cents              bigint      not null,
  discount_cents           bigint      not null,
  refund_cents             bigint      not null,
  tax_cents                bigint      not null,
  refunded_tax_cents       bigint      not null,
  shipping_cents           bigint      not null,
  refunded_shipping_cents  bigint      not null,
  dispute_loss_cents       bigint      not null,
  markdown_cents           bigint      not null,
  orders_count             bigint      not null,
  units_count              bigint      not null,
  new_customers_count      bigint      not null,
  repeat_customers_count   bigint      not null,
  active_customers_count   bigint      not null,
  -- What of it belongs to each line: product_id, variant_id and the amounts that are not 0. They add up to the row.
  lines                    jsonb       not null,
  primary key (tenant_ref, generation, sequence)
);
call fd_fence('analytics_facts', app => 'select, update', worker => 'select, insert, update, delete');
create index analytics_facts_of_day on analytics_facts (tenant_ref, generation, day, sequence);
create index analytics_facts_of_sale_day on analytics_facts (tenant_ref, generation, sale_day, sequence);
create index analytics_facts_of_order on analytics_facts (tenant_ref, generation, order_id);

-- The sums of the facts of real orders, by day. `booked`: each fact on its own day. `cohort`: on the day of its order's sale.
create table analytics_days (
  tenant_ref               text    not null references stores,
  generation               integer not null,
  calendar                 text    not null check (calendar in ('booked', 'cohort')),
  dimension                text    not null check (dimension in ('all', 'product', 'variant', 'coupon', 'affiliate', 'source',
                                                                 'place', 'customer', 'cohort')),
  currency                 text    not null,
  day                      date    not null,
  key                      text    not null check (length(key) <= 300),
  gross_cents              bigint  not null,
  discount_cents           bigint  not null,
  refund_cents             bigint  not null,
  tax_cents                bigint  not null,
  refunded_tax_cents       bigint  not null,
  shipping_cents           bigint  not null,
  refunded_shipping_cents  bigint  not null,
  dispute_loss_cents       bigint  not null,
  markdown_cents           bigint  not null,
  orders_count             bigint  not null,
  units_count              bigint  not null,
  new_customers_count      bigint  not null,
  repeat_customers_count   bigint  not null,
  active_customers_count   bigint  not null,
  -- When a fact was added after the day was final. Null: none was.
  restated_at              timestamptz,
  primary key (tenant_ref, generation, calendar, dimension, currency, day, key)
) with (fillfactor = 80);
call fd_fence('analytics_days', app => 'select, insert, update', worker => 'select, insert, update, delete');
create index analytics_days_of_key on analytics_days (tenant_ref, generation, calendar, dimension, currency, key, day);

-- Payment attempts of days that are over, by outcome. `recovered` are renewals that are among the approved ones.
create table analytics_payment_days (
  tenant_ref    text    not null references stores,
  generation    integer not null,
  day           date    not null,
  currency      text    not null,
  outcome       text    not null check (outcome in ('approved', 'declined', 'failed', 'open', 'recovered')),
  reason        text    not null check (length(reason) <= 60),
  attempts      bigint  not null,
  amount_cents  bigint  not null,
  primary key (tenant_ref, generation, day, currency, outcome, reason)
);
call fd_fence('analytics_payment_days', app => 'select', worker => 'select, insert, delete');

-- How often shoppers did something on a day. No row says who. A day has several rows for the same thing, so that storefronts
-- that count at the same time do not wait for each other.
create table funnel_days (
  tenant_ref  text     not null references stores,
  day         date     not null,
  type        text     not null check (type in ('view', 'search', 'add_to_cart', 'begin_checkout')),
  -- Nil: no product. The highest: all of them together.
  product_id  uuid     not null,
  shard       smallint not null check (shard between 0 and 7),
  count       bigint   not null check (count > 0),
  primary key (tenant_ref, day, type, product_id, shard)
) with (fillfactor = 70);
call fd_fence('funnel_days', app => 'select, insert, update', worker => 'select, delete');
-- For the loop that deletes old days.
call fd_due('funnel_days');
create index funnel_days_of_all on funnel_days (tenant_ref, day)
 where product_id = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

-- Stores that have journals are counted from the first one.
insert into analytics_generations (tenant_ref, generation, state, time_zone)
select tenant_ref, 1, 'serving', time_zone
  from stores s
 where exists (select from ledger_seals l where l.tenant_ref = s.tenant_ref);
