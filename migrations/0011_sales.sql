-- Subscriptions: when each charge is due, its outcome, and what a store does when a card is declined.

-- When the n-th period after an anchor begins: at 06:00 in the store's time zone, on the anchor's day of the
-- month or the last day of a shorter month. It is always computed from the anchor and never from the period
-- before, so that a 31st comes back after February.
create function fd_period_start(anchor_on date, unit text, count integer, n integer, zone text) returns timestamptz
  language sql stable parallel safe as $$
  select ((anchor_on + make_interval(days => case unit when 'day' then n * count when 'week' then 7 * n * count
                                                       else 0 end,
                                     months => case unit when 'month' then n * count when 'year' then 12 * n * count
                                                         else 0 end))::date
          + time '06:00') at time zone zone
$$;

-- Which period is the first to begin after a moment. It begins to look two periods before the estimate, which
-- counts days and months of the calendar and is never further off. A loop: as one query it takes a hundred
-- times as long, and the forecast asks for thousands.
create function fd_period_after(anchor_on date, unit text, count integer, zone text, at timestamptz) returns integer
  language plpgsql stable parallel safe as $$
declare
  today date := (at at time zone zone)::date;
  n integer := case unit when 'day' then (today - anchor_on) / count
                         when 'week' then (today - anchor_on) / (7 * count)
                         else (12 * (extract(year from today) - extract(year from anchor_on))
                               + extract(month from today) - extract(month from anchor_on))::integer
                              / (case unit when 'month' then count else 12 * count end) end - 2;
begin
  while fd_period_start(anchor_on, unit, count, n, zone) <= at loop
    n := n + 1;
  end loop;
  return n;
end $$;

-- A store numbers its subscriptions as it numbers its orders.
create table subscription_counters (
  tenant_ref  text   not null references stores,
  last_number bigint not null,
  primary key (tenant_ref)
);
call fd_fence('subscription_counters', app => 'select, insert, update',
              worker => 'select, insert, update');

-- What a store does before, at and after a charge. A store without a row has the defaults.
create table subscription_settings (
  tenant_ref              text        not null references stores,
  -- Days from each declined attempt to the next.
  dunning_delays_days     integer[]   not null default '{1,3,5,7}'
                          check (cardinality(dunning_delays_days) <= 10 and 1 <= all (dunning_delays_days)
                                 and 60 >= all (dunning_delays_days)),
  on_exhausted            text        not null default 'cancel'
                          check (on_exhausted in ('cancel', 'pause')),
  pre_renewal_notice_days integer     check (pre_renewal_notice_days between 1 and 60),
  on_out_of_stock         text        not null default 'skip'
                          check (on_out_of_stock in ('skip', 'retry', 'backorder')),
  updated_at              timestamptz not null default fd_now(),
  primary key (tenant_ref)
);
call fd_fence('subscription_settings', app => 'select, insert, update', worker => 'select');

-- Subscriptions of shoppers. Started by a checkout; renewed by the scheduler.
create table subscriptions (
  tenant_ref           text        not null references stores,
  id                   uuid        not null,
  customer_ref         text        not null,
  person_id            uuid,
  product_id           uuid        not null,
  variant_id           uuid        not null,
  quantity             integer     not null check (quantity > 0),
  interval             text        not null check (interval in ('day', 'week', 'month', 'year')),
  interval_count       integer     not null check (interval_count between 1 and 1000),
  unit_price_cents     bigint      not null check (unit_price_cents >= 0),
  currency             text        not null,
  status               text        not null default 'active'
                       check (status in ('active', 'paused', 'past_due', 'cancelled', 'unpaid_cancelled',
                                         'expired')),
  origin_order_id      uuid        not null,
  cycle                integer     not null default 1,
  current_period_start timestamptz not null,
  next_charge_at       timestamptz,
  -- The gateway's token for the card. Never the card.
  vault_id             text,
  initial_txn_id       text,
  card_brand           text,
  card_last4           text,
  ship_to              jsonb,
  created_at           timestamptz not null default fd_now(),
  updated_at           timestamptz not null default fd_now(),
  subscription_number  bigint      not null,
  -- The address that hears of renewals.
  email                text        check (length(email) <= 254),
  -- The gateway that stores the card.
  gateway              text        check (length(gateway) <= 40),
  card_exp_month       integer     check (card_exp_month between 1 and 12),
  card_exp_year        integer     check (card_exp_year between 2000 and 2200),
  card_fingerprint     text        check (length(card_fingerprint) <= 200),
  -- `locked`: renewals cost the price of the first order. `current`: the catalog price on the day.
  price_policy         text        not null default 'locked'
                       check (price_policy in ('locked', 'current')),
  -- The policies of shipping and tax, and a recurring coupon, as in the origin order.
  pricing              jsonb       check (length(pricing::text) <= 65536),
  last_order_id        uuid,
  -- Paid periods, that of the origin order included.
  paid_cycles          integer     not null default 1 check (paid_cycles >= 0),
  max_cycles           integer     check (max_cycles between 1 and 10000),
  -- Cycle `anchor_cycle` falls on `anchor_on`, a date of the store's calendar; all others are computed from
  -- it.
  anchor_on            date        not null,
  anchor_cycle         integer     not null default 1,
  paused_until         timestamptz,
  -- The last cycle whose date had come when the pause began: a skip up to that cycle is over, a later one outlives the
  -- pause.
  paused_after         integer,
  cancel_at_period_end boolean     not null default false,
  cancelled_at         timestamptz,
  cancel_reason        text        check (length(cancel_reason) <= 2000),
  -- Declined attempts at the due charge; 0 while none was declined.
  dunning_attempt      integer     not null default 0 check (dunning_attempt >= 0),
  dunning_next_at      timestamptz,
  dunning_reason       text        check (length(dunning_reason) <= 40),
  -- When the store gives up while no attempt is planned, because only another card can help.
  dunning_ends_at      timestamptz,
  -- The card must not be charged again: its bank or its network has said so. Another card clears this.
  card_blocked         boolean     not null default false,
  -- The cycle that is being charged. Until the charge has an outcome, nothing else about it can change.
  charging_cycle       integer     check (charging_cycle > 1),
  -- When a charge is tried again that could not be tried, because stock or an answer was missing.
  retry_at             timestamptz,
  -- The charge that the customer was notified of in advance.
  noticed_for          timestamptz,
  -- The last notice about the card: the day it expires and how many days before that, as `2027-04-01 30`.
  card_told            text        check (length(card_told) <= 20),
  -- When the scheduler must look at the row next: a charge, a retry, the end of a pause, a notice. Null:
  -- never.
  due_at               timestamptz,
  lease_until          timestamptz,
  lease_token          uuid,
  -- Grows with every change: a change that was decided on an older row is refused.
  version              integer     not null default 1,
  -- Whose subscription it is, by address. As with orders, row level security keeps an index on `lower(email)`
  -- out of use.
  email_folded         text        generated always as (lower(email)) stored,
  -- Whether the price of a subscription has the tax inside: what its store said when the price was set. A
  -- store that changes `prices_include_tax` must not change by that what a locked price costs.
  prices_include_tax   boolean     not null default false,
  primary key (tenant_ref, id),
  constraint subscriptions_number unique (tenant_ref, subscription_number),
  check ((status in ('cancelled', 'unpaid_cancelled', 'expired'))
         <= (due_at is null and next_charge_at is null))
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05,
        autovacuum_analyze_scale_factor = 0.02);
call fd_fence('subscriptions', app => 'select, insert, update', worker => 'select, insert, update');
call fd_due('subscriptions');

create index subscriptions_of_order on subscriptions (tenant_ref, origin_order_id);
create index subscriptions_due on subscriptions (due_at) where due_at is not null;
create index subscriptions_due_of_tenant on subscriptions (tenant_ref, due_at) where due_at is not null;
create index subscriptions_newest on subscriptions (tenant_ref, created_at desc, id desc);
create index subscriptions_of_status on subscriptions (tenant_ref, status, created_at desc, id desc);
create index subscriptions_by_charge on subscriptions (tenant_ref, next_charge_at, id) where next_charge_at is not null;
create index subscriptions_of_card on subscriptions (tenant_ref, card_fingerprint)
    where card_fingerprint is not null and status in ('active', 'paused', 'past_due');
create index subscriptions_of_status_by_charge on subscriptions (tenant_ref, status, next_charge_at, id)
    where next_charge_at is not null;
create index subscriptions_of_customer on subscriptions (tenant_ref, customer_ref, created_at desc, id desc);
-- Finds whether a replaced card is used by another subscription.
create index subscriptions_of_vault on subscriptions (tenant_ref, vault_id) where vault_id is not null;
create index subscriptions_of_address on subscriptions (tenant_ref, email_folded, status)
    where email_folded is not null;

-- When a card can no longer be charged: at the end of its month.
create function fd_card_ends(exp_year integer, exp_month integer) returns timestamptz
  language sql stable parallel safe as $$
  select make_timestamptz(exp_year, exp_month, 1, 0, 0, 0, 'UTC') + interval '1 month'
$$;

-- When the scheduler must look at a subscription next. It is derived from the rest of the row by a trigger, so that no
-- change can forget it. A customer whose price follows the catalog is told of a change a week before the charge, also
-- if the store sends no other notice.
create function fd_subscription_due(s subscriptions, notice_days integer) returns timestamptz
  language sql stable as $$
  select case
    when s.charging_cycle is not null then null
    when s.status = 'past_due' then coalesce(s.dunning_next_at, s.dunning_ends_at)
    when s.status = 'paused' then s.paused_until
    when s.status = 'active' then least(
      greatest(s.next_charge_at, s.retry_at),
      case when s.noticed_for is distinct from s.next_charge_at and not s.cancel_at_period_end
           then s.next_charge_at - make_interval(days => coalesce(notice_days,
                                                                  case s.price_policy when 'current' then 7 end)) end,
      case when left(s.card_told, 10) is distinct from (fd_card_ends(s.card_exp_year, s.card_exp_month) at time zone 'UTC')::date::text
           then fd_card_ends(s.card_exp_year, s.card_exp_month) - interval '30 days' end,
      case when s.card_told is distinct from (fd_card_ends(s.card_exp_year, s.card_exp_month) at time zone 'UTC')::date || ' 7'
           then fd_card_ends(s.card_exp_year, s.card_exp_month) - interval '7 days' end)
  end
$$;

-- Keeps `due_at` and `paused_after`.
create function fd_schedule_subscription() returns trigger language plpgsql as $$
begin
  new.due_at := fd_subscription_due(new, (select pre_renewal_notice_days from subscription_settings
                                           where tenant_ref = new.tenant_ref));
  if new.status <> 'paused' then
    new.paused_after := null;
  elsif new.paused_after is null then
    new.paused_after := new.anchor_cycle - 1
      + fd_period_after(new.anchor_on, new.interval, new.interval_count,
                        (select time_zone from stores where tenant_ref = new.tenant_ref), fd_now());
  end if;
  return new;
end $$;

create trigger schedule before insert or update of
  status, next_charge_at, retry_at, paused_until, cancel_at_period_end, charging_cycle, dunning_next_at, dunning_ends_at,
  noticed_for, price_policy, card_told, card_exp_month, card_exp_year, due_at
  on subscriptions for each row execute function fd_schedule_subscription();

-- The outcome of each cycle. Cycle 1 is the origin order.
create table subscription_cycles (
  tenant_ref      text        not null references stores,
  subscription_id uuid        not null,
  cycle           integer     not null check (cycle > 0),
  state           text        not null
                  check (state in ('scheduled', 'skipped', 'charging', 'paid', 'failed')),
  due_at          timestamptz not null,
  order_id        uuid,
  -- Why the cycle was skipped or has failed.
  reason          text        check (length(reason) <= 40),
  attempt_count   integer     not null default 0 check (attempt_count >= 0),
  created_at      timestamptz not null default fd_now(),
  updated_at      timestamptz not null default fd_now(),
  primary key (tenant_ref, subscription_id, cycle),
  foreign key (tenant_ref, subscription_id) references subscriptions,
  check ((state = 'paid') <= (order_id is not null)),
  check ((state in ('skipped', 'failed')) = (reason is not null))
);
call fd_fence('subscription_cycles', app => 'select, insert, update',
              worker => 'select, insert, update');

create index subscription_cycles_of_order on subscription_cycles (tenant_ref, order_id) where order_id is not null;
-- One cycle is charged at a time.
create unique index subscription_cycles_charging on subscription_cycles (tenant_ref, subscription_id)
    where state = 'charging';

-- The first cycle after another that is not skipped.
create function fd_next_cycle(tenant text, subscription uuid, after integer) returns integer
  language sql stable as $$
  select min(c.cycle)
    from (select after + 1 as cycle
          union all
          select k.cycle + 1 from subscription_cycles k
           where k.tenant_ref = tenant and k.subscription_id = subscription and k.state = 'skipped' and k.cycle > after) as c
   where not exists (select from subscription_cycles k
                      where k.tenant_ref = tenant and k.subscription_id = subscription and k.cycle = c.cycle
                        and k.state = 'skipped')
$$;

-- Declined renewals. The networks limit how often a card may be tried for the same amount, over all
-- subscriptions.
create table subscription_declines (
  tenant_ref      text        not null references stores,
  id              uuid        not null default fd_uuid(),
  subscription_id uuid        not null,
  cycle           integer     not null check (cycle > 1),
  order_id        uuid        not null,
  -- The card's fingerprint, or the gateway's reference to it if the card was never typed here. Null once erased.
  card            text        check (length(card) <= 200),
  amount_cents    bigint      not null check (amount_cents > 0),
  currency        text        not null check (length(currency) = 3),
  -- The gateway's own code, and the class that the rules give it.
  code            text        check (length(code) <= 20),
  class           text        not null
                  check (class in ('soft', 'funds', 'wait', 'update', 'hard', 'stop', 'stop_all')),
  declined_at     timestamptz not null default fd_now(),
  -- The card network's own codes.
  network_code    text        check (length(network_code) between 1 and 8),
  advice_code     text        check (length(advice_code) between 1 and 8),
  primary key (tenant_ref, id),
  foreign key (tenant_ref, subscription_id) references subscriptions
);
call fd_fence('subscription_declines', app => 'select, insert, update',
              worker => 'select, insert, update');

create index subscription_declines_of_card on subscription_declines (tenant_ref, card, declined_at)
    where card is not null;
create index subscription_declines_of_subscription
    on subscription_declines (tenant_ref, subscription_id, declined_at desc);
