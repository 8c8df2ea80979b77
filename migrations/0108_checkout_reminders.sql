-- Reminders of checkouts that were begun and not finished. A cart is kept only where the store has said that its law allows
-- it, and only for an address that was entered.

create table checkout_reminder_settings (
  tenant_ref           text        not null references stores,
  enabled              boolean     not null default false,
  -- Whom it may be sent to: who agreed to mails, or also who has bought before and not left.
  basis                text        not null default 'consent' check (basis in ('consent', 'soft_opt_in')),
  first_after_minutes  integer     not null default 60 check (first_after_minutes between 30 and 10080),
  -- Null: there is no second one.
  second_after_minutes integer     default 1440 check (second_after_minutes between 60 and 20160),
  -- Who said that the law allows it, and when.
  law_confirmed_by     text        check (length(law_confirmed_by) <= 200),
  law_confirmed_at     timestamptz,
  updated_at           timestamptz not null default fd_now(),
  primary key (tenant_ref),
  check (not enabled or law_confirmed_at is not null)
);
call fd_fence('checkout_reminder_settings', app => 'select, insert, update', worker => 'select');

create table checkout_reminders (
  tenant_ref      text        not null references stores,
  id              uuid        not null default fd_uuid(),
  email           text        not null check (length(email) <= 254),
  email_folded    text        not null check (length(email_folded) <= 320),
  customer_ref    text        check (length(customer_ref) <= 200),
  -- Emptied once nothing more is sent.
  items           jsonb       not null check (jsonb_typeof(items) = 'array' and length(items::text) <= 65536),
  state           text        not null default 'waiting' check (state in ('waiting', 'stopped')),
  reason          text        check (length(reason) <= 40),
  sent_count      integer     not null default 0 check (sent_count between 0 and 2),
  next_attempt_at timestamptz,
  lease_until     timestamptz,
  lease_token     uuid,
  last_sent_at    timestamptz,
  last_error      text        check (length(last_error) <= 500),
  -- When the cart was first seen, and last.
  began_at        timestamptz not null default fd_now(),
  seen_at         timestamptz not null default fd_now(),
  created_at      timestamptz not null default fd_now(),
  primary key (tenant_ref, id),
  constraint checkout_reminders_email unique (tenant_ref, email_folded),
  check ((state = 'waiting') = (next_attempt_at is not null)),
  check ((state = 'stopped') = (reason is not null))
) with (fillfactor = 80);
call fd_fence('checkout_reminders', app => 'select, insert, update, delete', worker => 'select, update, delete');
call fd_due('checkout_reminders');

create index checkout_reminders_due on checkout_reminders (next_attempt_at) where next_attempt_at is not null;
create index checkout_reminders_due_of_tenant on checkout_reminders (tenant_ref, next_attempt_at)
       where next_attempt_at is not null;
create index checkout_reminders_newest on checkout_reminders (tenant_ref, created_at desc, id desc);
create index checkout_reminders_of_state on checkout_reminders (tenant_ref, state, created_at desc, id desc);
create index checkout_reminders_seen on checkout_reminders (tenant_ref, seen_at);
create index checkout_reminders_of_customer on checkout_reminders (tenant_ref, customer_ref) where customer_ref is not null;
