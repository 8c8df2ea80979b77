-- Reports about payments and subscriptions cost the same in a store of any size.

-- Payment attempts are counted minutes after they were made. They were counted once their day was over for two days, so that
-- each report read those of the last days one by one. All days are counted again.
delete from analytics_payment_days;
alter table analytics_generations drop column payments_to;
-- The payment attempts before this time are counted.
alter table analytics_generations add column payments_to timestamptz;
update analytics_generations set due_at = least(due_at, now()) where state <> 'retired';
-- A step adds to a day that is not over. A flag as a test takes an order's attempts out of theirs.
grant insert, update on analytics_payment_days to fd_app;
grant update on analytics_payment_days to fd_worker;

-- Attempts of counted times that had no outcome for good when they were counted: they are in no day, and a report reads each of
-- them, until they have one.
create table analytics_open_attempts (
  tenant_ref  text    not null references stores,
  generation  integer not null,
  day         date    not null,
  attempt_id  uuid    not null,
  primary key (tenant_ref, generation, day, attempt_id)
);
call fd_fence('analytics_open_attempts', app => 'select', worker => 'select, insert, delete');

-- What a subscription brings in a month of 365.25 / 12 days, and when it ended. One whose last cycle was paid has no
-- cancellation.
create function fd_monthly_cents(s subscriptions) returns bigint
  language sql immutable parallel safe as $$
  select round(s.unit_price_cents * s.quantity
               * case s.interval when 'day' then 30.4375 when 'week' then 30.4375 / 7 when 'month' then 1 else 1.0 / 12 end
               / s.interval_count)::bigint
$$;
create function fd_ended_at(s subscriptions) returns timestamptz
  language sql immutable parallel safe as $$
  select case when s.status in ('cancelled', 'unpaid_cancelled', 'expired') then coalesce(s.cancelled_at, s.updated_at) end
$$;

-- Subscriptions that have begun or changed in what is counted of them, since they were counted. One row for each change: two
-- changes at once do not wait for each other.
create table subscription_changes (
  tenant_ref       text not null references stores,
  subscription_id  uuid not null,
  id               uuid not null default fd_uuid(),
  primary key (tenant_ref, subscription_id, id)
);
call fd_fence('subscription_changes', app => 'select, insert', worker => 'select, insert, delete');

create function fd_note_subscription() returns trigger language plpgsql as $$
begin
  insert into subscription_changes (tenant_ref, subscription_id) values (new.tenant_ref, new.id);
  return null;
end $$;
create trigger note_begun after insert on subscriptions for each row execute function fd_note_subscription();
-- A renewal changes none of these.
create trigger note_changed after update on subscriptions for each row
  when ((old.status, old.currency, old.created_at, fd_monthly_cents(old), fd_ended_at(old))
        is distinct from (new.status, new.currency, new.created_at, fd_monthly_cents(new), fd_ended_at(new)))
  execute function fd_note_subscription();

-- What is counted of each subscription.
create table analytics_subscriptions (
  tenant_ref       text        not null references stores,
  subscription_id  uuid        not null,
  currency         text        not null,
  status           text        not null,
  monthly_cents    bigint      not null,
  started_at       timestamptz not null,
  ended_at         timestamptz,
  primary key (tenant_ref, subscription_id)
);
call fd_fence('analytics_subscriptions', app => 'select', worker => 'select, insert, update, delete');
-- In these orders the rows behind a figure are listed, and those of a part of a day are counted.
create index analytics_subscriptions_of_status
    on analytics_subscriptions (tenant_ref, currency, status, started_at, subscription_id);
create index analytics_subscriptions_started on analytics_subscriptions (tenant_ref, currency, started_at, subscription_id);
create index analytics_subscriptions_ended on analytics_subscriptions (tenant_ref, currency, ended_at, subscription_id)
    where ended_at is not null;

-- The sums of them: as they are now, and by the day in UTC on which they started and ended.
create table analytics_subscription_sums (
  tenant_ref      text   not null references stores,
  currency        text   not null,
  active_count    bigint not null,
  past_due_count  bigint not null,
  running_count   bigint not null,
  mrr_cents       bigint not null,
  primary key (tenant_ref, currency)
);
call fd_fence('analytics_subscription_sums', app => 'select', worker => 'select, insert, update, delete');

create table analytics_subscription_days (
  tenant_ref     text   not null references stores,
  currency       text   not null,
  day            date   not null,
  started_count  bigint not null,
  ended_count    bigint not null,
  -- With the counts, so that the days of a period are read from the index alone.
  primary key (tenant_ref, currency, day) include (started_count, ended_count)
);
call fd_fence('analytics_subscription_days', app => 'select', worker => 'select, insert, update, delete');

-- Until they are counted, reports read them one by one as before.
insert into subscription_changes (tenant_ref, subscription_id) select tenant_ref, id from subscriptions;
