-- Messages to shoppers: segments, mails of campaigns, reminders of checkouts, and mails about orders.

-- Segments: groups of readers, as conditions over their orders and consents.
create table segments (
  tenant_ref text        not null references stores,
  id         uuid        not null default fd_uuid(),
  name       text        not null check (length(name) between 1 and 100),
  match      text        not null check (match in ('all', 'any')),
  conditions jsonb       not null
             check (jsonb_typeof(conditions) = 'array' and length(conditions::text) <= 131072),
  created_at timestamptz not null default fd_now(),
  updated_at timestamptz not null default fd_now(),
  primary key (tenant_ref, id),
  constraint segments_name unique (tenant_ref, name)
);
call fd_fence('segments', app => 'select, insert, update, delete', worker => 'select');
call fd_meter('segments', $$('segments', 1)$$, false);

create index segments_newest on segments (tenant_ref, created_at desc, id desc);

-- A person of a store, by their address: the sums of their orders, and their consent. Conditions are compared with
-- this row alone, so that a segment costs no join over orders. The worker counts the orders; a trigger keeps `consent`
-- equal to the newsletter's list.
create table segment_people (
  tenant_ref        text        not null references stores,
  email_folded      text        not null check (length(email_folded) <= 320),
  email             text        not null check (length(email) <= 320),
  -- Of the latest order. Null: has never ordered.
  customer_ref      text        check (length(customer_ref) <= 200),
  orders_count      integer     not null default 0 check (orders_count >= 0),
  total_spent_cents bigint      not null default 0 check (total_spent_cents >= 0),
  refunded_cents    bigint      not null default 0 check (refunded_cents >= 0),
  first_order_at    timestamptz,
  last_order_at     timestamptz,
  -- The destination of the latest order with an address: `US`, and `US-CA`.
  country           text        check (length(country) <= 39),
  place             text        check (length(place) <= 80),
  consent           text        not null default 'none'
                    check (consent in ('none', 'given', 'withdrawn')),
  primary key (tenant_ref, email_folded),
  check ((orders_count = 0) = (last_order_at is null)),
  -- A person without orders and without a decision has no row.
  check (orders_count > 0 or consent <> 'none')
) with (fillfactor = 90);
call fd_fence('segment_people', app => 'select, insert, update, delete',
              worker => 'select, insert, update, delete');

create index segment_people_of_customer on segment_people (tenant_ref, customer_ref) where customer_ref is not null;

-- Keeps a person's consent beside their orders. A request that is not confirmed changes nothing: the address may be a
-- stranger's.
create function fd_person_consent() returns trigger
language plpgsql set search_path = public, pg_temp as $$
declare
  gone boolean := tg_op = 'DELETE';
  store text := case when gone then old.tenant_ref else new.tenant_ref end;
  address text := case when gone then old.email_folded else new.email_folded end;
  agreed text := case when gone or new.status = 'pending' then 'none'
                      when new.status = 'subscribed' then 'given' else 'withdrawn' end;
begin
  if agreed <> 'none' then
    insert into segment_people as p (tenant_ref, email_folded, email, consent)
    values (store, address, new.email, agreed)
        on conflict (tenant_ref, email_folded) do update set consent = excluded.consent
     where p.consent <> excluded.consent;
    return null;
  end if;
  delete from segment_people where tenant_ref = store and email_folded = address and orders_count = 0;
  update segment_people set consent = 'none'
   where tenant_ref = store and email_folded = address and consent <> 'none';
  return null;
end $$;

revoke all on function fd_person_consent from public;

create trigger person_consent after insert or update of status or delete on newsletter_subscribers
  for each row execute function fd_person_consent();

-- The products that a person has bought.
create table segment_purchases (
  tenant_ref   text not null references stores,
  product_id   uuid not null,
  email_folded text not null check (length(email_folded) <= 320),
  primary key (tenant_ref, product_id, email_folded),
  foreign key (tenant_ref, email_folded) references segment_people on delete cascade
);
call fd_fence('segment_purchases', app => 'select, insert, delete',
              worker => 'select, insert, delete');

create index segment_purchases_of_person on segment_purchases (tenant_ref, email_folded);

-- Up to which journal the orders of a store are counted. A transaction that changes the people of a store by their
-- orders has the lock of this row, so that an erasure is never undone by a count that began before it.
create table segment_positions (
  tenant_ref  text        not null references stores,
  id          uuid        not null default fd_uuid(),
  sequence    bigint      not null default 0 check (sequence >= 0),
  due_at      timestamptz default now(),
  lease_until timestamptz,
  lease_token uuid,
  primary key (tenant_ref),
  unique (tenant_ref, id)
);
call fd_fence('segment_positions', app => 'select, insert, update',
              worker => 'select, insert, update');
call fd_due('segment_positions');

create index segment_positions_due on segment_positions (due_at) where due_at is not null;
create index segment_positions_due_of_tenant on segment_positions (tenant_ref, due_at) where due_at is not null;

-- The progress of a campaign's mails. A row of its own: checkouts lock the campaign for its budget, and the worker
-- locks this.
create table campaign_mailings (
  tenant_ref       text        not null references stores,
  -- The id of its campaign.
  id               uuid        not null,
  state            text        not null default 'listing'
                   check (state in ('listing', 'sending', 'done')),
  -- The last address of the segment that was listed, folded. It moves in the transaction that writes the recipients up
  -- to it.
  listed_to        text        not null default '',
  recipients_count bigint      not null default 0 check (recipients_count >= 0),
  left_out_count   bigint      not null default 0 check (left_out_count >= 0),
  sent_count       bigint      not null default 0 check (sent_count >= 0),
  skipped_count    bigint      not null default 0 check (skipped_count >= 0),
  failed_count     bigint      not null default 0 check (failed_count >= 0),
  unknown_count    bigint      not null default 0 check (unknown_count >= 0),
  -- The recipients that a worker has claimed and whose result is not written yet. Those of a killed worker become
  -- unknown.
  in_flight        uuid[]      not null default '{}' check (cardinality(in_flight) <= 1000),
  due_at           timestamptz default fd_now(),
  lease_until      timestamptz,
  lease_token      uuid,
  created_at       timestamptz not null default fd_now(),
  -- Whether no more recipients are claimed: the campaign is paused or over. Such a mailing stays due while mails of it
  -- are under way, so that mails of a killed worker become unknown although nothing more is sent.
  stopped          boolean     not null default false,
  primary key (tenant_ref, id),
  foreign key (tenant_ref, id) references campaigns,
  check (state <> 'done' or due_at is null),
  check (sent_count + skipped_count + failed_count + unknown_count <= recipients_count)
) with (fillfactor = 50);
call fd_fence('campaign_mailings', app => 'select, insert, update',
              worker => 'select, insert, update');
call fd_due('campaign_mailings');

create index campaign_mailings_due on campaign_mailings (due_at) where due_at is not null;
create index campaign_mailings_due_of_tenant on campaign_mailings (tenant_ref, due_at) where due_at is not null;

-- The recipients of a campaign: one row for each address, with the result of its mail. The row is written a second
-- time with the result, which changes every index of the table.
create table campaign_recipients (
  tenant_ref      text        not null,
  id              uuid        not null default fd_uuid(),
  campaign_id     uuid        not null,
  -- Null once the person was erased.
  email           text        check (length(email) <= 320),
  email_folded    text        check (length(email_folded) <= 320),
  customer_ref    text        check (length(customer_ref) <= 200),
  state           text        not null default 'queued'
                  check (state in ('queued', 'sent', 'skipped', 'failed', 'unknown')),
  reason          text        check (length(reason) <= 40),
  attempt_count   integer     not null default 0 check (attempt_count >= 0),
  next_attempt_at timestamptz default fd_now(),
  last_error      text        check (length(last_error) <= 500),
  sent_at         timestamptz,
  created_at      timestamptz not null default fd_now(),
  -- A recipient is always named together with its campaign: one index for both the name and the list of a
  -- campaign.
  primary key (tenant_ref, campaign_id, id),
  -- An address is mailed once in each campaign. The index also finds the campaigns of an address, for the privacy
  -- export and erasure.
  constraint campaign_recipients_once unique (tenant_ref, email_folded, campaign_id),
  foreign key (tenant_ref, campaign_id) references campaigns,
  check ((state = 'queued') = (next_attempt_at is not null)),
  check ((state = 'sent') = (sent_at is not null)),
  check ((email is null) = (email_folded is null)),
  check (email is not null or state <> 'queued')
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02,
        autovacuum_vacuum_insert_scale_factor = 0.05);
call fd_fence('campaign_recipients', app => 'select, update',
              worker => 'select, insert, update, delete');
call fd_due('campaign_recipients');

create index campaign_recipients_of_state on campaign_recipients (tenant_ref, campaign_id, state, id);
create index campaign_recipients_of_customer on campaign_recipients (tenant_ref, customer_ref, id)
       where customer_ref is not null;
-- Old rows are found by their time alone. With the id in it, PostgreSQL takes this index for one of ids, and skips
-- from time to time.
create index campaign_recipients_old on campaign_recipients (tenant_ref, created_at);

-- Whether a store reminds shoppers of checkouts that were begun and not finished. A cart is kept only where
-- the store has said that its law allows it.
create table checkout_reminder_settings (
  tenant_ref           text        not null references stores,
  enabled              boolean     not null default false,
  -- Who may be reminded: readers who consented, or also customers who have bought before and not unsubscribed.
  basis                text        not null default 'consent'
                       check (basis in ('consent', 'soft_opt_in')),
  first_after_minutes  integer     not null default 60
                       check (first_after_minutes between 30 and 10080),
  -- Null: there is no second reminder.
  second_after_minutes integer     default 1440 check (second_after_minutes between 60 and 20160),
  -- Who confirmed that the law allows it, and when.
  law_confirmed_by     text        check (length(law_confirmed_by) <= 200),
  law_confirmed_at     timestamptz,
  updated_at           timestamptz not null default fd_now(),
  primary key (tenant_ref),
  check (not enabled or law_confirmed_at is not null)
);
call fd_fence('checkout_reminder_settings', app => 'select, insert, update', worker => 'select');

-- The unfinished checkouts, each for an address that was entered.
create table checkout_reminders (
  tenant_ref      text        not null references stores,
  id              uuid        not null default fd_uuid(),
  email           text        not null check (length(email) <= 254),
  email_folded    text        not null check (length(email_folded) <= 320),
  customer_ref    text        check (length(customer_ref) <= 200),
  -- Emptied once no more reminders are sent.
  items           jsonb       not null
                  check (jsonb_typeof(items) = 'array' and length(items::text) <= 65536),
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
call fd_fence('checkout_reminders', app => 'select, insert, update, delete',
              worker => 'select, update, delete');
call fd_due('checkout_reminders');

create index checkout_reminders_due on checkout_reminders (next_attempt_at) where next_attempt_at is not null;
create index checkout_reminders_due_of_tenant on checkout_reminders (tenant_ref, next_attempt_at)
       where next_attempt_at is not null;
create index checkout_reminders_newest on checkout_reminders (tenant_ref, created_at desc, id desc);
create index checkout_reminders_of_state on checkout_reminders (tenant_ref, state, created_at desc, id desc);
create index checkout_reminders_seen on checkout_reminders (tenant_ref, seen_at);
create index checkout_reminders_of_customer on checkout_reminders (tenant_ref, customer_ref)
    where customer_ref is not null;

-- The kinds of mail that a store does not send.
create table shopper_mail_settings (
  tenant_ref text        not null references stores,
  off_kinds  text[]      not null default '{}' check (cardinality(off_kinds) <= 100),
  updated_at timestamptz not null default fd_now(),
  primary key (tenant_ref)
);
call fd_fence('shopper_mail_settings', app => 'select, insert, update', worker => 'select');

-- Mails to shoppers about their orders. A row says that a mail is to be sent, or what became of it; the mail itself is
-- written when it is sent, so that no row has a body, a link or the code of a gift card.
create table shopper_mails (
  tenant_ref      text        not null references stores,
  id              uuid        not null default fd_uuid(),
  kind            text        not null check (kind ~ '^[a-z_]{1,40}$'),
  -- The row that the mail is about: an order, a parcel, a refund, a gift card, a return, or the event of a hold or an
  -- edit.
  about_id        uuid        not null,
  -- No foreign key: the mail of a gift card has no order, and a mail must never block one.
  order_id        uuid,
  customer_ref    text        check (length(customer_ref) <= 200),
  -- What the event contained and the order no longer shows.
  details         jsonb       check (length(details::text) <= 65536),
  -- Set by the first attempt.
  recipient       text        check (length(recipient) <= 254),
  language        text        check (length(language) <= 35),
  state           text        not null default 'queued'
                  check (state in ('queued', 'sent', 'skipped', 'dead', 'erased')),
  -- Why the mail was skipped or is dead.
  reason          text        check (length(reason) <= 40),
  attempt_count   integer     not null default 0 check (attempt_count >= 0),
  resend_count    integer     not null default 0 check (resend_count >= 0),
  next_attempt_at timestamptz default fd_now(),
  lease_until     timestamptz,
  lease_token     uuid,
  -- Set before the mail server is called, cleared by its answer: a row that has it without a lease was
  -- interrupted.
  sending_at      timestamptz,
  interrupted     boolean     not null default false,
  last_error      text        check (length(last_error) <= 500),
  queued_at       timestamptz not null default fd_now(),
  created_at      timestamptz not null default fd_now(),
  sent_at         timestamptz,
  -- A merchant may have a mail sent again to another address: it goes there once.
  resend_to       text        check (length(resend_to) <= 254),
  primary key (tenant_ref, id),
  -- Events may come twice; the mail may not.
  unique (tenant_ref, kind, about_id),
  check ((state = 'queued') = (next_attempt_at is not null)),
  check ((state = 'sent') <= (sent_at is not null)),
  check ((state in ('skipped', 'dead')) = (reason is not null)),
  check ((state = 'erased') <= (recipient is null))
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02,
        autovacuum_vacuum_insert_scale_factor = 0.05);
call fd_fence('shopper_mails', app => 'select, update', worker => 'select, insert, update, delete');
call fd_due('shopper_mails');

create index shopper_mails_due on shopper_mails (next_attempt_at) where next_attempt_at is not null;
create index shopper_mails_due_of_tenant on shopper_mails (tenant_ref, next_attempt_at)
       where next_attempt_at is not null;
-- The lists of the merchant and of the operator, newest first.
create index shopper_mails_newest on shopper_mails (tenant_ref, created_at desc, id desc);
create index shopper_mails_of_kind on shopper_mails (tenant_ref, kind, created_at desc, id desc);
create index shopper_mails_of_state on shopper_mails (tenant_ref, state, created_at desc, id desc);
create index shopper_mails_of_order on shopper_mails (tenant_ref, order_id, created_at desc, id desc)
       where order_id is not null;
create index shopper_mails_all_newest on shopper_mails (created_at desc, id desc);
create index shopper_mails_all_of_kind on shopper_mails (kind, created_at desc, id desc);
create index shopper_mails_all_of_state on shopper_mails (state, created_at desc, id desc);
-- The privacy export and erasure.
create index shopper_mails_of_customer on shopper_mails (tenant_ref, customer_ref, id)
       where customer_ref is not null;
create index shopper_mails_to on shopper_mails (tenant_ref, lower(recipient)) where recipient is not null;
