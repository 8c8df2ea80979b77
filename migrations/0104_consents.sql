-- Who may be written to: each consent and each withdrawal as a row that never changes, and the addresses that must not be
-- written to because their mail bounced or their owner complained.

-- The texts that readers agreed to, once for each wording of a store.
create table consent_texts (
  tenant_ref  text        not null references stores,
  sha256      text        not null check (sha256 ~ '^[0-9a-f]{64}$'),
  version     text        not null check (length(version) <= 40),
  locale      text        not null check (length(locale) <= 35),
  text        text        not null check (length(text) <= 2000),
  created_at  timestamptz not null default fd_now(),
  primary key (tenant_ref, sha256)
);
call fd_fence('consent_texts', app => 'select, insert', worker => 'select, insert');

create table marketing_consents (
  tenant_ref    text        not null references stores,
  id            uuid        not null default fd_uuid(),
  email         text        not null check (length(email) <= 254),
  email_folded  text        not null check (length(email_folded) <= 320),
  channel       text        not null default 'email' check (channel in ('email')),
  state         text        not null check (state in ('given', 'withdrawn')),
  -- `form`: asked in a storefront and confirmed by a mailed link. `link`: the button of a mail's page. `one_click`: the mail
  -- program's own button. `complaint`: the reader reported a mail as spam.
  source        text        not null check (source in ('form', 'import', 'link', 'one_click', 'merchant', 'complaint')),
  -- Null: from before texts were recorded, or a withdrawal.
  text_sha256   text,
  -- What the storefront said of the form, and a part of the address of the reader who filled it in.
  form          text        check (length(form) <= 100),
  form_url      text        check (length(form_url) <= 2000),
  requested_at  timestamptz,
  requested_ip  text        check (length(requested_ip) <= 50),
  -- The mail whose link was opened, and a part of the address of who opened it.
  mail_id       uuid,
  ip            text        check (length(ip) <= 50),
  actor         text        check (length(actor) <= 200),
  note          text        check (length(note) <= 500),
  created_at    timestamptz not null default fd_clock(),
  primary key (tenant_ref, id),
  foreign key (tenant_ref, text_sha256) references consent_texts
);
-- No update: a consent is withdrawn by another row. Rows go when the person is erased.
call fd_fence('marketing_consents', app => 'select, insert, delete', worker => 'select, insert, delete');
create index marketing_consents_newest on marketing_consents (tenant_ref, created_at desc, id desc);
create index marketing_consents_of_address on marketing_consents (tenant_ref, email_folded, created_at desc, id desc);
create index marketing_consents_of_state on marketing_consents (tenant_ref, state, created_at desc, id desc);

-- The evidence of a request waits with it until it is confirmed.
alter table newsletter_subscribers
  add column form_url text check (length(form_url) <= 2000),
  add column requested_ip text check (length(requested_ip) <= 50);

-- Readers from before: what is known of them becomes their record.
insert into marketing_consents (tenant_ref, email, email_folded, state, source, form, requested_at, created_at)
select tenant_ref, email, email_folded, 'given', 'form', source, requested_at, confirmed_at
  from newsletter_subscribers
 where confirmed_at is not null;
insert into marketing_consents (tenant_ref, email, email_folded, state, source, created_at)
select tenant_ref, email, email_folded, 'withdrawn', 'link', unsubscribed_at
  from newsletter_subscribers
 where status = 'unsubscribed';

-- Addresses that a store does not write to. A row with soft bounces alone is not one yet (`suppressed_at`).
create table mail_suppressions (
  tenant_ref     text        not null references stores,
  id             uuid        not null default fd_uuid(),
  email          text        not null check (length(email) <= 254),
  email_folded   text        not null check (length(email_folded) <= 320),
  reason         text        not null check (reason in ('hard_bounce', 'soft_bounces', 'complaint', 'manual')),
  soft_bounces   integer     not null default 0 check (soft_bounces >= 0),
  last_soft_at   timestamptz,
  last_event_id  text        check (length(last_event_id) <= 200),
  detail         text        check (length(detail) <= 500),
  created_by     text        not null check (length(created_by) <= 200),
  suppressed_at  timestamptz,
  created_at     timestamptz not null default fd_now(),
  primary key (tenant_ref, id),
  constraint mail_suppressions_email unique (tenant_ref, email_folded),
  check (suppressed_at is not null or reason = 'soft_bounces')
);
call fd_fence('mail_suppressions', app => 'select, insert, update, delete', worker => 'select');
create index mail_suppressions_newest on mail_suppressions (tenant_ref, created_at desc, id desc)
 where suppressed_at is not null;
create index mail_suppressions_of_reason on mail_suppressions (tenant_ref, reason, created_at desc, id desc)
 where suppressed_at is not null;

-- Addresses that no store writes to. By a hash: the list belongs to no store, and an erasure in one needs nothing of it.
create table global_mail_suppressions (
  id          uuid        not null default fd_uuid() primary key,
  email_hash  bytea       not null constraint global_mail_suppressions_email unique check (length(email_hash) = 32),
  -- The part after the @, for the operator.
  domain      text        not null check (length(domain) <= 253),
  reason      text        not null check (reason in ('hard_bounce', 'complaint')),
  detail      text        check (length(detail) <= 500),
  created_at  timestamptz not null default now()
);
grant select, insert, delete on global_mail_suppressions to fd_app;
grant select on global_mail_suppressions to fd_worker, fd_operator;
create index global_mail_suppressions_newest on global_mail_suppressions (created_at desc, id desc);
