-- Mails to shoppers about their orders. A row says that a mail is to be sent, or what became of it; the mail itself is written
-- when it is sent, so that no row has a body, a link or the code of a gift card.

create table shopper_mails (
  tenant_ref      text        not null references stores,
  id              uuid        not null default fd_uuid(),
  kind            text        not null check (kind ~ '^[a-z_]{1,40}$'),
  -- The row that it is about: an order, a parcel, a refund, a gift card, a return, or the event of a hold or an edit.
  about_id        uuid        not null,
  -- No foreign key: the mail of a gift card has no order, and a mail must never block one.
  order_id        uuid,
  customer_ref    text        check (length(customer_ref) <= 200),
  -- What the event said and the order no longer shows.
  details         jsonb       check (length(details::text) <= 65536),
  -- Known from the first attempt on.
  recipient       text        check (length(recipient) <= 254),
  language        text        check (length(language) <= 35),
  state           text        not null default 'queued'
                  check (state in ('queued', 'sent', 'skipped', 'dead', 'erased')),
  -- Why it was skipped or is dead.
  reason          text        check (length(reason) <= 40),
  attempt_count   integer     not null default 0 check (attempt_count >= 0),
  resend_count    integer     not null default 0 check (resend_count >= 0),
  next_attempt_at timestamptz default fd_now(),
  lease_until     timestamptz,
  lease_token     uuid,
  -- Set before the mail server is called, cleared by its answer: a row that has it without a lease was interrupted.
  sending_at      timestamptz,
  interrupted     boolean     not null default false,
  last_error      text        check (length(last_error) <= 500),
  queued_at       timestamptz not null default fd_now(),
  created_at      timestamptz not null default fd_now(),
  sent_at         timestamptz,
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

-- Which mails a store does not send.
create table shopper_mail_settings (
  tenant_ref text        not null references stores,
  off_kinds  text[]      not null default '{}' check (cardinality(off_kinds) <= 100),
  updated_at timestamptz not null default fd_now(),
  primary key (tenant_ref)
);
call fd_fence('shopper_mail_settings', app => 'select, insert, update', worker => 'select');
