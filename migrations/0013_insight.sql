-- Reports for merchants and the operator: figures, usage and invoices, and exports of personal data.

-- Figures by day, and the facts behind them. All of it is derived from numbered journals by a loop of the
-- worker. No table of figures is written by a checkout, and none has a person in it.
--
-- A generation is a count of a store's journals, by the calendar of one time zone. One is read (`serving`);
-- another may be built beside it and replaces it when it has caught up.
create table analytics_generations (
  tenant_ref  text        not null references stores,
  id          uuid        not null default fd_uuid(),
  generation  integer     not null check (generation > 0),
  state       text        not null check (state in ('serving', 'building', 'retired')),
  time_zone   text        not null check (length(time_zone) <= 64),
  -- The number of the last counted journal, in the chain of the ledger.
  sequence    bigint      not null default 0 check (sequence >= 0),
  -- When all numbered journals were counted last, by the time of the store.
  counted_at  timestamptz,
  due_at      timestamptz default now(),
  lease_until timestamptz,
  lease_token uuid,
  -- The payment attempts before this time are counted.
  payments_to timestamptz,
  primary key (tenant_ref, generation),
  unique (tenant_ref, id)
);
call fd_fence('analytics_generations', app => 'select, insert, update',
              worker => 'select, insert, update, delete');
call fd_due('analytics_generations');

create index analytics_generations_due on analytics_generations (due_at) where due_at is not null;
create index analytics_generations_due_of_tenant on analytics_generations (tenant_ref, due_at) where due_at is not null;
create unique index analytics_generations_serving on analytics_generations (tenant_ref) where state = 'serving';
create unique index analytics_generations_building on analytics_generations (tenant_ref) where state = 'building';

-- The permanent facts about a captured order, in every generation. Country and state outlive the address, so that an
-- erasure changes no sum, and so does the place of the order among those of its customer.
create table analytics_orders (
  tenant_ref    text        not null references stores,
  order_id      uuid        not null,
  sale_sequence bigint      not null,
  sale_at       timestamptz not null,
  place         text        not null check (length(place) <= 80),
  -- 1: the first captured order of its customer, 2: the second, 3: a later one.
  nth           smallint    not null check (nth between 1 and 3),
  first_at      timestamptz not null,
  previous_at   timestamptz,
  -- No foreign key: its check would wait for the lock of the order, which a flag of the order holds while it
  -- waits for ours.
  primary key (tenant_ref, order_id)
);
call fd_fence('analytics_orders', app => 'select', worker => 'select, insert');

-- One row for each counted journal of an order: what it adds to the figures.
create table analytics_facts (
  tenant_ref              text        not null references stores,
  generation              integer     not null,
  sequence                bigint      not null,
  order_id                uuid        not null,
  kind                    text        not null,
  at                      timestamptz not null,
  day                     date        not null,
  sale_day                date        not null,
  currency                text        not null,
  is_test                 boolean     not null,
  coupon                  text        not null,
  affiliate               text        not null,
  source                  text        not null,
  place                   text        not null,
  customer                text        not null check (customer in ('new', 'returning')),
  cohort                  text        not null check (cohort ~ '^\d{4}-\d{2}$'),
  gross_cents             bigint      not null,
  discount_cents          bigint      not null,
  refund_cents            bigint      not null,
  tax_cents               bigint      not null,
  refunded_tax_cents      bigint      not null,
  shipping_cents          bigint      not null,
  refunded_shipping_cents bigint      not null,
  dispute_loss_cents      bigint      not null,
  markdown_cents          bigint      not null,
  orders_count            bigint      not null,
  units_count             bigint      not null,
  new_customers_count     bigint      not null,
  repeat_customers_count  bigint      not null,
  active_customers_count  bigint      not null,
  -- The shares of the lines: product_id, variant_id and the amounts that are not 0. They add up to the row.
  lines                   jsonb       not null,
  -- Figures by coupon, whatever code of it was typed.
  coupon_id               text        not null default '',
  primary key (tenant_ref, generation, sequence)
);
call fd_fence('analytics_facts', app => 'select, update',
              worker => 'select, insert, update, delete');

create index analytics_facts_of_day on analytics_facts (tenant_ref, generation, day, sequence);
create index analytics_facts_of_sale_day on analytics_facts (tenant_ref, generation, sale_day, sequence);
create index analytics_facts_of_order on analytics_facts (tenant_ref, generation, order_id);

-- The sums of the facts of real orders, by day. `booked`: each fact on its own day. `cohort`: on the day of
-- its order's sale.
create table analytics_days (
  tenant_ref              text        not null references stores,
  generation              integer     not null,
  calendar                text        not null check (calendar in ('booked', 'cohort')),
  dimension               text        not null
                          check (dimension in ('all', 'product', 'variant', 'coupon', 'coupon_id', 'affiliate',
                                               'source', 'place', 'customer', 'cohort')),
  currency                text        not null,
  day                     date        not null,
  key                     text        not null check (length(key) <= 300),
  gross_cents             bigint      not null,
  discount_cents          bigint      not null,
  refund_cents            bigint      not null,
  tax_cents               bigint      not null,
  refunded_tax_cents      bigint      not null,
  shipping_cents          bigint      not null,
  refunded_shipping_cents bigint      not null,
  dispute_loss_cents      bigint      not null,
  markdown_cents          bigint      not null,
  orders_count            bigint      not null,
  units_count             bigint      not null,
  new_customers_count     bigint      not null,
  repeat_customers_count  bigint      not null,
  active_customers_count  bigint      not null,
  -- When a fact was added after the day was final. Null: none was.
  restated_at             timestamptz,
  primary key (tenant_ref, generation, calendar, dimension, currency, day, key)
) with (fillfactor = 80);
call fd_fence('analytics_days', app => 'select, insert, update',
              worker => 'select, insert, update, delete');

create index analytics_days_of_key on analytics_days (tenant_ref, generation, calendar, dimension, currency, key, day);

-- Payment attempts by day and outcome, counted minutes after they were made. `recovered` are renewals that
-- are among the approved ones.
create table analytics_payment_days (
  tenant_ref   text    not null references stores,
  generation   integer not null,
  day          date    not null,
  currency     text    not null,
  outcome      text    not null
               check (outcome in ('approved', 'declined', 'failed', 'open', 'recovered')),
  reason       text    not null check (length(reason) <= 60),
  attempts     bigint  not null,
  amount_cents bigint  not null,
  primary key (tenant_ref, generation, day, currency, outcome, reason)
);
call fd_fence('analytics_payment_days', app => 'select, insert, update',
              worker => 'select, insert, update, delete');

-- Attempts that had no final outcome when their time was counted: they are in no day, and a report reads each of them,
-- until they have one.
create table analytics_open_attempts (
  tenant_ref text    not null references stores,
  generation integer not null,
  day        date    not null,
  attempt_id uuid    not null,
  primary key (tenant_ref, generation, day, attempt_id)
);
call fd_fence('analytics_open_attempts', app => 'select', worker => 'select, insert, delete');

-- How often shoppers did something on a day. No row names a shopper. A day has several rows for the same thing, so
-- that storefronts that count at the same time do not wait for each other.
create table funnel_days (
  tenant_ref text     not null references stores,
  day        date     not null,
  type       text     not null check (type in ('view', 'search', 'add_to_cart', 'begin_checkout')),
  -- The nil uuid: no product. The highest uuid: all products together.
  product_id uuid     not null,
  shard      smallint not null check (shard between 0 and 7),
  count      bigint   not null check (count > 0),
  primary key (tenant_ref, day, type, product_id, shard)
) with (fillfactor = 70);
call fd_fence('funnel_days', app => 'select, insert, update', worker => 'select, delete');
call fd_due('funnel_days');

create index funnel_days_of_all on funnel_days (tenant_ref, day)
 where product_id = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

-- What a subscription brings in a month of 365.25 / 12 days.
create function fd_monthly_cents(s subscriptions) returns bigint
  language sql immutable parallel safe as $$
  select round(s.unit_price_cents * s.quantity
               * case s.interval when 'day' then 30.4375 when 'week' then 30.4375 / 7 when 'month' then 1 else 1.0 / 12 end
               / s.interval_count)::bigint
$$;

-- When a subscription ended. One whose last cycle was paid has no time of cancellation.
create function fd_ended_at(s subscriptions) returns timestamptz
  language sql immutable parallel safe as $$
  select case when s.status in ('cancelled', 'unpaid_cancelled', 'expired') then coalesce(s.cancelled_at, s.updated_at) end
$$;

-- Subscriptions that have begun, or changed in a column that is counted, since they were last counted. One row for
-- each change: two changes at once do not wait for each other.
create table subscription_changes (
  tenant_ref      text not null references stores,
  subscription_id uuid not null,
  id              uuid not null default fd_uuid(),
  primary key (tenant_ref, subscription_id, id)
);
call fd_fence('subscription_changes', app => 'select, insert', worker => 'select, insert, delete');

-- Notes that a subscription has changed.
create function fd_note_subscription() returns trigger language plpgsql as $$
begin
  insert into subscription_changes (tenant_ref, subscription_id) values (new.tenant_ref, new.id);
  return null;
end $$;

create trigger note_begun after insert on subscriptions for each row execute function fd_note_subscription();
-- A renewal changes none of these columns.
create trigger note_changed after update on subscriptions for each row
  when ((old.status, old.currency, old.created_at, fd_monthly_cents(old), fd_ended_at(old))
        is distinct from (new.status, new.currency, new.created_at, fd_monthly_cents(new), fd_ended_at(new)))
  execute function fd_note_subscription();

-- The counted columns of each subscription.
create table analytics_subscriptions (
  tenant_ref      text        not null references stores,
  subscription_id uuid        not null,
  currency        text        not null,
  status          text        not null,
  monthly_cents   bigint      not null,
  started_at      timestamptz not null,
  ended_at        timestamptz,
  primary key (tenant_ref, subscription_id)
);
call fd_fence('analytics_subscriptions', app => 'select',
              worker => 'select, insert, update, delete');

-- Lists the rows behind a figure in these orders, and counts those of a part of a day.
create index analytics_subscriptions_of_status
    on analytics_subscriptions (tenant_ref, currency, status, started_at, subscription_id);
create index analytics_subscriptions_started
    on analytics_subscriptions (tenant_ref, currency, started_at, subscription_id);
create index analytics_subscriptions_ended on analytics_subscriptions (tenant_ref, currency, ended_at, subscription_id)
    where ended_at is not null;

-- The sums of the counted subscriptions.
create table analytics_subscription_sums (
  tenant_ref     text   not null references stores,
  currency       text   not null,
  active_count   bigint not null,
  past_due_count bigint not null,
  running_count  bigint not null,
  mrr_cents      bigint not null,
  primary key (tenant_ref, currency)
);
call fd_fence('analytics_subscription_sums', app => 'select',
              worker => 'select, insert, update, delete');

-- How many subscriptions started and ended on each day, in UTC.
create table analytics_subscription_days (
  tenant_ref    text   not null references stores,
  currency      text   not null,
  day           date   not null,
  started_count bigint not null,
  ended_count   bigint not null,
  -- With the counts, so that the days of a period are read from the index alone.
  primary key (tenant_ref, currency, day) include (started_count, ended_count)
);
call fd_fence('analytics_subscription_days', app => 'select',
              worker => 'select, insert, update, delete');

-- The current month of billing: in UTC, by business time.
create function fd_this_month() returns date
language sql stable as $$
  select date_trunc('month', fd_now() at time zone 'UTC')::date
$$;

revoke all on function fd_this_month from public;
grant execute on function fd_this_month to fd_app, fd_worker, fd_operator;

-- What stores owe the operator: plans, usage counted from facts that have their number, and monthly invoices that
-- never change once they are issued. Months are those of UTC; a month is named by its first day.
--
-- An issuer sends the invoices. Its row also numbers them: the number is taken in the transaction that issues, so that
-- none is ever missing.
create table billing_issuers (
  id               text        not null primary key check (id ~ '^[a-z0-9_]{1,40}$'),
  name             text        not null check (length(name) between 1 and 200),
  lines            text[]      not null check (cardinality(lines) <= 10),
  note             text        check (length(note) <= 1000),
  invoice_prefix   text        not null check (invoice_prefix ~ '^[A-Z0-9-]{1,12}$'),
  credit_prefix    text        not null check (credit_prefix ~ '^[A-Z0-9-]{1,12}$'),
  -- How long after its issue an invoice is due.
  payment_days     integer     not null check (payment_days between 0 and 120),
  -- The reminders of an unpaid invoice, in their order: [{"days": after it was due, "text": what the mail
  -- says}].
  reminders        jsonb       not null,
  next_invoice     bigint      not null default 1 check (next_invoice > 0),
  next_credit_note bigint      not null default 1 check (next_credit_note > 0),
  updated_at       timestamptz not null default fd_now(),
  check (invoice_prefix <> credit_prefix)
);
grant select, insert, update on billing_issuers to fd_app;
grant select, update on billing_issuers to fd_worker;
grant select on billing_issuers to fd_operator;

-- Plans. A version is never changed: what a store agreed to is what it pays.
create table billing_plans (
  plan_key   text        not null check (plan_key ~ '^[a-z0-9_-]{1,40}$'),
  version    integer     not null check (version > 0),
  id         uuid        not null default fd_uuid(),
  name       text        not null check (length(name) between 1 and 100),
  tier       text        not null check (length(tier) <= 40),
  currency   text        not null check (currency ~ '^[A-Z]{3}$'),
  base_cents bigint      not null check (base_cents >= 0),
  -- By meter: {"included": units, "tiers": [{"up_to": units or null, "price_cents": 1, "per": units}]}.
  meters     jsonb       not null,
  features   text[]      not null,
  -- Whether merchants may preview their costs with this plan.
  is_public  boolean     not null,
  created_by text        not null,
  created_at timestamptz not null default fd_now(),
  primary key (plan_key, version)
);
grant select, insert on billing_plans to fd_app;
grant select on billing_plans to fd_worker, fd_operator;
call fd_freeze('billing_plans');

create index billing_plans_newest on billing_plans (created_at desc, id desc);

-- The plan of every store that has no other plan. It costs nothing.
insert into billing_plans (plan_key, version, name, tier, currency, base_cents, meters, features, is_public, created_by)
values ('default', 1, 'Default', 'standard', 'USD', 0, '{}', '{}', true, 'system');

-- Up to where a store is metered and billed.
create table billing_accounts (
  tenant_ref      text        not null references stores,
  id              uuid        not null default fd_uuid(),
  -- The oldest month that is not closed. Usage of an earlier month is counted here.
  open_month      date        not null check (extract(day from open_month) = 1),
  -- The currency of all its invoices: set by the first plan or charge that costs something.
  currency        text        check (currency ~ '^[A-Z]{3}$'),
  -- The last journal and the last event that are counted, by their numbers.
  ledger_position bigint      not null default 0 check (ledger_position >= 0),
  event_position  bigint      not null default 0 check (event_position >= 0),
  -- Journals up to this number are never billed: they are from the store's time as a sandbox.
  ledger_start    bigint      not null default 0 check (ledger_start between 0 and ledger_position),
  -- The last day whose media bytes are counted.
  media_day       date,
  -- When all numbered facts were last counted.
  counted_at      timestamptz,
  due_at          timestamptz default fd_now(),
  lease_until     timestamptz,
  lease_token     uuid,
  primary key (tenant_ref),
  unique (tenant_ref, id)
);
call fd_fence('billing_accounts', app => 'select, insert, update',
              worker => 'select, insert, update');
call fd_due('billing_accounts');

create index billing_accounts_due on billing_accounts (due_at) where due_at is not null;
create index billing_accounts_due_of_tenant on billing_accounts (tenant_ref, due_at) where due_at is not null;

-- Every store has an account from its first moment on.
create function fd_open_billing() returns trigger
language plpgsql set search_path = public, pg_temp as $$
begin
  insert into billing_accounts (tenant_ref, open_month) values (new.tenant_ref, fd_this_month())
      on conflict do nothing;
  return null;
end $$;

revoke all on function fd_open_billing from public;

create trigger opens_billing after insert on stores for each row execute function fd_open_billing();

-- The plans that a store has had. The last one that began on or before a day is its plan on that day.
create table billing_store_plans (
  tenant_ref   text        not null references stores,
  id           uuid        not null default fd_uuid(),
  plan_key     text        not null,
  plan_version integer     not null,
  from_day     date        not null,
  set_by       text        not null,
  created_at   timestamptz not null default fd_clock(),
  primary key (tenant_ref, id)
);
call fd_fence('billing_store_plans', app => 'select, insert', worker => 'select');
call fd_freeze('billing_store_plans');

create index billing_store_plans_newest on billing_store_plans (tenant_ref, from_day desc, created_at desc, id desc);

-- What a store has used in a month.
create table billing_usage (
  tenant_ref    text   not null references stores,
  month         date   not null,
  meter         text   not null
                check (meter in ('orders', 'gross_volume', 'webhook_deliveries', 'media_byte_days',
                                 'api_calls')),
  -- The currency of `gross_volume`; otherwise empty.
  currency      text   not null,
  -- The key of `api_calls`; otherwise empty.
  key           text   not null,
  quantity      bigint not null,
  -- The first and the last fact in it: numbers of journals or of events, or days as 20261231.
  from_position bigint not null,
  to_position   bigint not null check (to_position >= from_position),
  primary key (tenant_ref, month, meter, currency, key)
) with (fillfactor = 80);
call fd_fence('billing_usage', app => 'select, insert, update', worker => 'select, insert, update');

-- Refuses a change of a closed month's usage, which is on its invoice.
create function fd_keep_usage() returns trigger
language plpgsql set search_path = public, pg_temp as $$
begin
  if tg_op <> 'INSERT' and exists (select from billing_accounts
                                    where tenant_ref = old.tenant_ref and open_month > old.month)
     or tg_op <> 'DELETE' and exists (select from billing_accounts
                                       where tenant_ref = new.tenant_ref and open_month > new.month) then
    raise exception 'the month is closed' using errcode = 'FD002';
  end if;
  return coalesce(new, old);
end $$;

revoke all on function fd_keep_usage from public;

create trigger kept before insert or update or delete on billing_usage
  for each row execute function fd_keep_usage();

-- An invoice for each month of a store. A draft until it is issued.
create table billing_invoices (
  tenant_ref     text        not null references stores,
  id             uuid        not null default fd_uuid(),
  month          date        not null check (extract(day from month) = 1),
  status         text        not null default 'draft'
                 check (status in ('draft', 'open', 'paid', 'void')),
  currency       text        not null check (currency ~ '^[A-Z]{3}$'),
  total_cents    bigint      not null default 0 check (total_cents >= 0),
  issuer_id      text,
  sequence       bigint      check (sequence > 0),
  number         text,
  -- Both parties as they were when it was issued: {name, lines, note} and {name, lines}.
  issuer         jsonb,
  recipient      jsonb,
  issued_at      timestamptz,
  due_at         timestamptz,
  -- These change after the issue; nothing else does.
  paid_cents     bigint      not null default 0 check (paid_cents >= 0),
  credited_cents bigint      not null default 0 check (credited_cents between 0 and total_cents),
  reminders_sent integer     not null default 0 check (reminders_sent >= 0),
  remind_at      timestamptz,
  lease_until    timestamptz,
  lease_token    uuid,
  created_at     timestamptz not null default fd_clock(),
  primary key (tenant_ref, id),
  constraint billing_invoices_month unique (tenant_ref, month),
  check ((status = 'draft') = (number is null)),
  check ((number is null) = (sequence is null) and (number is null) = (issuer_id is null) and (number is null)
         = (issuer is null) and (number is null) = (recipient is null) and (number is null)
         = (issued_at is null) and (number is null) = (due_at is null)),
  check (status = 'open' or remind_at is null),
  check (status <> 'draft' or (paid_cents = 0 and credited_cents = 0))
);
call fd_fence('billing_invoices', app => 'select, insert, update',
              worker => 'select, insert, update, delete');
call fd_due('billing_invoices');

create index billing_invoices_due on billing_invoices (remind_at) where remind_at is not null;
create index billing_invoices_due_of_tenant on billing_invoices (tenant_ref, remind_at) where remind_at is not null;
create index billing_invoices_newest on billing_invoices (tenant_ref, created_at desc, id desc);
create index billing_invoices_of_status on billing_invoices (tenant_ref, status, created_at desc, id desc);
create index billing_invoices_all_newest on billing_invoices (created_at desc, id desc);
create index billing_invoices_all_of_status on billing_invoices (status, created_at desc, id desc);
-- One number is never given twice.
create unique index billing_invoices_number on billing_invoices (issuer_id, sequence) where sequence is not null;

create trigger not_emptied before truncate on billing_invoices
  for each statement execute function fd_refuse_change();

-- An issued invoice is final for every role, the owner of the database too: it is corrected by credit notes.
create function fd_keep_invoice() returns trigger
language plpgsql set search_path = public, pg_temp as $$
declare
  changing constant text[] := array['status', 'paid_cents', 'credited_cents', 'reminders_sent', 'remind_at',
                                    'lease_until', 'lease_token'];
begin
  if old.status = 'draft' then return coalesce(new, old); end if;
  if tg_op = 'DELETE' or new.status = 'draft'
     or to_jsonb(new) - changing is distinct from to_jsonb(old) - changing then
    raise exception 'an issued invoice is final' using errcode = 'FD002';
  end if;
  return new;
end $$;

revoke all on function fd_keep_invoice from public;

create trigger final before update or delete on billing_invoices
  for each row execute function fd_keep_invoice();

-- The lines of an invoice.
create table billing_invoice_lines (
  tenant_ref    text        not null references stores,
  id            uuid        not null default fd_uuid(),
  invoice_id    uuid        not null,
  kind          text        not null check (kind in ('plan', 'usage', 'charge')),
  description   text        not null check (length(description) <= 500),
  amount_cents  bigint      not null check (amount_cents >= 0),
  -- For lines of plans and usage.
  plan_key      text,
  plan_version  integer,
  -- For lines of plans: the days, the last one included.
  from_day      date,
  to_day        date,
  -- For lines of usage.
  meter         text,
  quantity      bigint,
  price         jsonb,
  from_position bigint,
  to_position   bigint,
  -- For lines of charges: who made it, and under which Idempotency-Key.
  created_by    text,
  request_key   text        check (length(request_key) <= 255),
  created_at    timestamptz not null default fd_clock(),
  primary key (tenant_ref, id),
  constraint billing_charges_once unique (tenant_ref, request_key),
  foreign key (tenant_ref, invoice_id) references billing_invoices,
  check ((kind = 'charge') = (request_key is not null)),
  check ((kind = 'usage') = (meter is not null)),
  check ((kind = 'plan') = (from_day is not null))
);
call fd_fence('billing_invoice_lines', app => 'select, insert', worker => 'select, insert, delete');

create index billing_invoice_lines_of_invoice on billing_invoice_lines (tenant_ref, invoice_id, created_at, id);

create trigger not_emptied before truncate on billing_invoice_lines
  for each statement execute function fd_refuse_change();

-- The lines of an issued invoice are final, too.
create function fd_keep_invoice_line() returns trigger
language plpgsql set search_path = public, pg_temp as $$
begin
  if tg_op = 'UPDATE'
     or exists (select from billing_invoices i
                 where i.tenant_ref = coalesce(new.tenant_ref, old.tenant_ref)
                   and i.id = coalesce(new.invoice_id, old.invoice_id) and i.status <> 'draft') then
    raise exception 'the lines of an issued invoice are final' using errcode = 'FD002';
  end if;
  return coalesce(new, old);
end $$;

revoke all on function fd_keep_invoice_line from public;

create trigger final before insert or update or delete on billing_invoice_lines
  for each row execute function fd_keep_invoice_line();

-- Money that came for an invoice, or was paid back after a credit note, as the operator recorded it.
create table billing_payments (
  tenant_ref   text        not null references stores,
  id           uuid        not null default fd_uuid(),
  invoice_id   uuid        not null,
  kind         text        not null check (kind in ('payment', 'payout')),
  amount_cents bigint      not null check (amount_cents > 0),
  paid_on      date        not null,
  reference    text        check (length(reference) <= 200),
  created_by   text        not null,
  request_key  text        not null check (length(request_key) <= 255),
  created_at   timestamptz not null default fd_clock(),
  primary key (tenant_ref, id),
  constraint billing_payments_once unique (tenant_ref, request_key),
  foreign key (tenant_ref, invoice_id) references billing_invoices
);
call fd_fence('billing_payments', app => 'select, insert', worker => 'select');
call fd_freeze('billing_payments');

create index billing_payments_of_invoice on billing_payments (tenant_ref, invoice_id, created_at, id);

-- Corrections of issued invoices: each takes off a part of what one says.
create table billing_credit_notes (
  tenant_ref   text        not null references stores,
  id           uuid        not null default fd_uuid(),
  invoice_id   uuid        not null,
  issuer_id    text        not null,
  sequence     bigint      not null check (sequence > 0),
  number       text        not null,
  issuer       jsonb       not null,
  recipient    jsonb       not null,
  amount_cents bigint      not null check (amount_cents > 0),
  reason       text        not null check (length(reason) between 1 and 500),
  created_by   text        not null,
  request_key  text        not null check (length(request_key) <= 255),
  created_at   timestamptz not null default fd_clock(),
  primary key (tenant_ref, id),
  constraint billing_credit_notes_once unique (tenant_ref, request_key),
  foreign key (tenant_ref, invoice_id) references billing_invoices
);
call fd_fence('billing_credit_notes', app => 'select, insert', worker => 'select');
call fd_freeze('billing_credit_notes');

create index billing_credit_notes_of_invoice on billing_credit_notes (tenant_ref, invoice_id, created_at, id);
create unique index billing_credit_notes_number on billing_credit_notes (issuer_id, sequence);

-- The reminders of unpaid invoices. A step is taken once.
create table billing_reminders (
  tenant_ref text        not null references stores,
  invoice_id uuid        not null,
  step       integer     not null check (step >= 0),
  -- Null: the store has no address that mail can be sent to.
  recipient  text        check (length(recipient) <= 254),
  created_at timestamptz not null default fd_clock(),
  primary key (tenant_ref, invoice_id, step),
  foreign key (tenant_ref, invoice_id) references billing_invoices
);
call fd_fence('billing_reminders', app => 'select', worker => 'select, insert');
call fd_freeze('billing_reminders');

-- Calls of the API by key and day. Processes add what they have counted in memory every few seconds.
create table api_calls (
  tenant_ref    text   not null references stores,
  credential_id uuid   not null,
  day           date   not null,
  calls         bigint not null check (calls > 0),
  -- How many of these calls are in the usage of a month.
  counted_calls bigint not null default 0,
  primary key (tenant_ref, credential_id, day),
  check (counted_calls between 0 and calls)
) with (fillfactor = 70);
call fd_fence('api_calls', app => 'select', worker => 'select, update, delete');

create index api_calls_uncounted on api_calls (tenant_ref, credential_id, day) where calls > counted_calls;

create policy gate on api_calls to fd_gate using (true) with check (true);
grant select, insert, update on api_calls to fd_gate;

-- The last batch of calls that each process has added: one that is sent again, because its answer was lost,
-- is not added again.
create table api_call_writers (
  id         uuid        not null primary key,
  sequence   bigint      not null check (sequence > 0),
  written_at timestamptz not null default fd_now()
);
grant select, delete on api_call_writers to fd_worker;

grant select, insert, update on api_call_writers to fd_gate;

-- Adds the calls of many stores by one statement. In the order of the key, so that two processes do not wait
-- for each other in a circle.
create function fd_add_api_calls(writer uuid, batch bigint, tenants text[], credential_ids uuid[], days date[],
                                 counts bigint[])
returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  added integer;
begin
  insert into api_call_writers as w (id, sequence) values (writer, batch)
      on conflict (id) do update set sequence = excluded.sequence, written_at = fd_now()
   where w.sequence < excluded.sequence;
  if not found then return 0; end if;
  insert into api_calls as a (tenant_ref, credential_id, day, calls)
  select t.* from unnest(tenants, credential_ids, days, counts) as t (tenant_ref, credential_id, day, calls)
   order by 1, 2, 3
      on conflict (tenant_ref, credential_id, day) do update set calls = a.calls + excluded.calls;
  get diagnostics added = row_count;
  return added;
end $$;

alter function fd_add_api_calls owner to fd_gate;
revoke all on function fd_add_api_calls from public;
grant execute on function fd_add_api_calls to fd_app;

-- Exports of all data that a store has about one customer, made by the worker on request.
create table privacy_exports (
  tenant_ref    text        not null references stores,
  id            uuid        not null default fd_uuid(),
  customer_ref  text        not null check (length(customer_ref) between 1 and 200),
  status        text        not null default 'pending'
                check (status in ('pending', 'done', 'failed')),
  -- Compressed and encrypted, and bound to this row.
  sealed        bytea,
  error         text        check (length(error) <= 60),
  attempt_count integer     not null default 0,
  due_at        timestamptz default now(),
  lease_until   timestamptz,
  lease_token   uuid,
  created_at    timestamptz not null default fd_now(),
  done_at       timestamptz,
  -- When the row is deleted, with all that is in it.
  expires_at    timestamptz not null default fd_now() + interval '7 days',
  primary key (tenant_ref, id),
  check ((status = 'pending') = (due_at is not null)),
  check ((status = 'done') = (sealed is not null)),
  check ((status = 'failed') = (error is not null))
);
call fd_fence('privacy_exports', app => 'select, insert, update, delete',
              worker => 'select, update, delete');
call fd_due('privacy_exports');

-- A second request for the same customer waits for the same export.
create unique index privacy_exports_pending on privacy_exports (tenant_ref, customer_ref)
 where status = 'pending';
create index privacy_exports_of_customer on privacy_exports (tenant_ref, customer_ref);
create index privacy_exports_due on privacy_exports (due_at) where due_at is not null;
create index privacy_exports_due_of_tenant on privacy_exports (tenant_ref, due_at)
 where due_at is not null;
create index privacy_exports_expired on privacy_exports (expires_at);

-- An erasure under way. It names the customer only until it is done.
create table privacy_erasures (
  tenant_ref   text        not null references stores,
  id           uuid        not null,
  customer_ref text        check (length(customer_ref) between 1 and 200),
  -- Guest references with the same e-mail address, which have nothing but orders.
  guest_refs   text[]      not null default '{}',
  emails       text[]      not null default '{}',
  pseudonym    text        not null,
  -- Who asked for it, for the audit log.
  actor        text        not null,
  orders       integer     not null default 0,
  created_at   timestamptz not null default fd_now(),
  done_at      timestamptz,
  primary key (tenant_ref, id),
  check ((done_at is null) = (customer_ref is not null)),
  check (done_at is null or (guest_refs = '{}' and emails = '{}'))
);
call fd_fence('privacy_erasures', app => 'select, insert, update', worker => 'select, update');
