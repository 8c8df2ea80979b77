-- Payments: the gateway of a store, the attempts, and the differences between its record and ours.

-- The gateway accounts of a store.
create table payment_accounts (
  tenant_ref       text        not null references stores,
  gateway          text        not null check (gateway ~ '^[a-z][a-z0-9_-]{0,39}$'),
  -- The account of new payments. The credentials of other accounts are kept for payments made with them.
  in_use           boolean     not null default true,
  -- Sealed, and bound to the store and the gateway. Null: the installation's own account.
  credentials      bytea,
  -- The last letters of the credential, for people to tell two apart.
  hint             text        check (length(hint) = 4),
  created_at       timestamptz not null default fd_now(),
  updated_at       timestamptz not null default fd_now(),
  -- Since when a store has these credentials. Earlier attempts may be in the record of another account, so the present
  -- account cannot prove that they never existed. Null: since always.
  credentials_at   timestamptz,
  -- The public key by which a shopper's browser gets tokens for cards from the gateway's own form fields.
  tokenization_key text,
  primary key (tenant_ref, gateway),
  check (hint is null or credentials is not null)
);
call fd_fence('payment_accounts', app => 'select, insert, update', worker => 'select');
call fd_due('payment_accounts');

create unique index payment_accounts_in_use on payment_accounts (tenant_ref) where in_use;

-- Gives a sandbox store its account with the simulated gateway, from its first moment on.
create function fd_use_simulated() returns trigger
language plpgsql set search_path = public, pg_temp as $$
begin
  insert into payment_accounts (tenant_ref, gateway) values (new.tenant_ref, 'simulated')
      on conflict (tenant_ref, gateway) do update set in_use = true, updated_at = fd_now();
  return null;
end $$;

-- Refuses another gateway to a sandbox. The lock makes it wait for a store that becomes a sandbox at the same
-- moment.
create function fd_refuse_real_gateway() returns trigger
language plpgsql set search_path = public, pg_temp as $$
declare
  is_sandbox boolean;
begin
  select sandbox into is_sandbox from stores where tenant_ref = new.tenant_ref for share;
  if is_sandbox then
    raise exception '% is a sandbox', new.tenant_ref
      using errcode = 'check_violation', constraint = 'payment_accounts_sandbox';
  end if;
  return new;
end $$;

revoke all on function fd_use_simulated, fd_refuse_real_gateway from public;

create trigger new_sandbox after insert on stores
  for each row when (new.sandbox) execute function fd_use_simulated();
create trigger becomes_sandbox after update of sandbox on stores
  for each row when (new.sandbox and not old.sandbox) execute function fd_use_simulated();
create trigger no_real_gateway before insert or update on payment_accounts
  for each row when (new.gateway <> 'simulated' and new.in_use) execute function fd_refuse_real_gateway();

-- Attempts: one row for each request to a gateway to move money, written before it is sent.
create table payment_attempts (
  tenant_ref    text        not null,
  -- The reference of the attempt at the gateway.
  id            uuid        not null,
  -- Orders stand above payments, so nothing here has a foreign key to one.
  order_id      uuid        not null,
  kind          text        not null
                check (kind in ('checkout', 'edit', 'refund', 'release', 'void', 'renewal', 'pay')),
  gateway       text        not null check (gateway ~ '^[a-z][a-z0-9_-]{0,39}$'),
  amount_cents  bigint      not null check (amount_cents >= 0),
  currency      text        not null check (currency ~ '^[A-Z]{3}$'),
  charge_id     uuid,
  -- The transaction that is captured, voided or refunded.
  parent_txn_id text        check (length(parent_txn_id) between 1 and 100),
  -- not_found: the gateway had no record of it when it was looked up; a late reply may still change that.
  state         text        not null default 'begun'
                check (state in ('begun', 'unknown', 'approved', 'declined', 'error', 'not_found', 'voided')),
  txn_id        text        check (length(txn_id) between 1 and 100),
  auth_code     text,
  avs           text,
  cvv           text,
  code          text,
  reason        text,
  fraud_signal  boolean     not null default false,
  vault_id      text,
  card          jsonb,
  -- How many lookups were made.
  checks        integer     not null default 0,
  created_at    timestamptz not null default fd_now(),
  closed_at     timestamptz,
  -- Null: not looked up again.
  next_check_at timestamptz default fd_now() + interval '10 seconds',
  lease_until   timestamptz,
  lease_token   uuid,
  -- When an alert last reported that a late approval cannot be reversed. It is tried every half hour.
  alerted_at    timestamptz,
  -- When an attempt was sent to its gateway. Refunds, and the refunds of voids, are written down unsent and
  -- marked before the gateway is asked, so that a process that stops before that leaves a refund that can be
  -- sent, and not one that may be on its way. Null: not sent yet. Other attempts count as sent from the
  -- start.
  sent_at       timestamptz default fd_now(),
  -- The card network's own codes for the charge. They say whether and when it may be tried again; a gateway's code
  -- only summarises them.
  network_code  text        check (length(network_code) between 1 and 8),
  advice_code   text        check (length(advice_code) between 1 and 8),
  primary key (tenant_ref, id),
  check ((state in ('begun', 'unknown')) = (closed_at is null)),
  check (state not in ('begun', 'unknown') or next_check_at is not null),
  check (next_check_at is null or state in ('begun', 'unknown', 'not_found'))
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02,
        autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
call fd_fence('payment_attempts', app => 'select, insert, update',
              worker => 'select, insert, update');
call fd_due('payment_attempts');
call fd_bundle_checks('payment_attempts');

create index payment_attempts_of_order on payment_attempts (tenant_ref, order_id, created_at);
create index payment_attempts_of_parent on payment_attempts (tenant_ref, parent_txn_id)
 where parent_txn_id is not null;
create index payment_attempts_of_day on payment_attempts (tenant_ref, created_at);
create index payment_attempts_due_of_tenant on payment_attempts (tenant_ref, next_check_at)
 where next_check_at is not null;
-- Late approvals look at attempts without a record. Those whose outcome is unknown are due as well, but
-- belong to the reconciler: in one index with them, every look would pass over all of them.
create index payment_attempts_late on payment_attempts (next_check_at)
  where next_check_at is not null and state = 'not_found';
create index payment_attempts_late_of_tenant on payment_attempts (tenant_ref, next_check_at)
  where next_check_at is not null and state = 'not_found';
-- The worker asks some times a day which stores moved money on a day. Attempts are written in the order of their time,
-- so that a summary of ranges of pages finds them too, and a checkout updates no tree.
create index payment_attempts_recent on payment_attempts using brin (created_at)
  with (pages_per_range = 16, autosummarize = on);

-- Days of a store that are to be compared with the record of its gateway.
create table payment_days (
  tenant_ref  text        not null references stores,
  id          uuid        not null default fd_uuid(),
  day         date        not null,
  due_at      timestamptz,
  compared_at timestamptz,
  lease_until timestamptz,
  lease_token uuid,
  primary key (tenant_ref, id),
  unique (tenant_ref, day)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02,
        autovacuum_vacuum_insert_scale_factor = 0.05);
call fd_fence('payment_days', app => 'select', worker => 'select, insert, update, delete');
call fd_due('payment_days');

create index payment_days_due on payment_days (due_at) where due_at is not null;
create index payment_days_due_of_tenant on payment_days (tenant_ref, due_at)
 where due_at is not null;

-- Where the two records differ. A row is never deleted, only resolved.
create table payment_discrepancies (
  tenant_ref    text        not null references stores,
  id            uuid        not null default fd_uuid(),
  day           date        not null,
  gateway       text        not null check (gateway ~ '^[a-z][a-z0-9_-]{0,39}$'),
  -- `outcome_unknown`: the outcome is still unknown after hours. Here an operator finds the payments that keep orders
  -- waiting.
  problem       text        not null
                check (problem in ('missing_here', 'missing_there', 'amount_differs', 'outcome_unknown')),
  -- Our attempt's id as the gateway has it; any other reference of the gateway if that is no id of ours.
  ref           text        not null check (length(ref) between 1 and 100),
  txn_id        text,
  order_id      uuid,
  our_cents     bigint,
  gateway_cents bigint,
  created_at    timestamptz not null default fd_now(),
  seen_at       timestamptz not null default fd_now(),
  resolved_at   timestamptz,
  primary key (tenant_ref, id),
  unique (tenant_ref, day, gateway, problem, ref)
);
call fd_fence('payment_discrepancies', app => 'select, update (resolved_at)',
              worker => 'select, insert, update');

create index payment_discrepancies_newest
    on payment_discrepancies (tenant_ref, created_at desc, id desc);
create index payment_discrepancies_open on payment_discrepancies (tenant_ref, created_at desc, id desc)
  where resolved_at is null;

-- The simulated gateway's own records. No table of the platform refers to them: it stands for an outside service,
-- whose record tests and the nightly comparison check against ours.
create table sim_charges (
  tenant_ref       text        not null,
  txn_id           uuid        not null default fd_uuid(),
  -- A reference that is sent twice is answered twice and charged once.
  ref              uuid        not null,
  amount_cents     bigint      not null check (amount_cents >= 0),
  currency         text        not null check (currency ~ '^[A-Z]{3}$'),
  outcome          text        not null check (outcome in ('approved', 'declined', 'error')),
  code             text        not null,
  auth_code        text,
  avs              text,
  cvv              text,
  -- Brand, last four digits and expiry. The number is stored nowhere.
  card             jsonb       not null,
  fingerprint      text        not null,
  vault_id         uuid,
  captured_cents   bigint      not null default 0,
  refunded_cents   bigint      not null default 0,
  captured_at      timestamptz,
  voided_at        timestamptz,
  -- When the card's holder will dispute the charge.
  dispute_at       timestamptz,
  created_at       timestamptz not null default fd_now(),
  -- The stored card that was charged: some test cards follow a script from charge to charge.
  charged_vault_id uuid,
  primary key (tenant_ref, txn_id),
  unique (tenant_ref, ref),
  constraint sim_captures_within check (captured_cents between 0 and amount_cents),
  constraint sim_refunds_within check (refunded_cents between 0 and captured_cents),
  check (outcome = 'approved' or (captured_cents = 0 and voided_at is null))
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02,
        autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
call fd_fence('sim_charges', app => 'select, insert, update', worker => 'select, insert, update');
call fd_bundle_checks('sim_charges');

create index sim_charges_newest on sim_charges (tenant_ref, created_at desc, txn_id desc);
create index sim_charges_of_vault on sim_charges (tenant_ref, charged_vault_id) where charged_vault_id is not null;

-- The simulated gateway's acts, in order. Never changed.
create table sim_journal (
  tenant_ref   text        not null,
  id           uuid        not null default fd_uuid(),
  txn_id       uuid        not null,
  ref          uuid        not null,
  kind         text        not null check (kind in ('authorize', 'capture', 'void', 'refund')),
  amount_cents bigint      not null check (amount_cents >= 0),
  outcome      text        not null check (outcome in ('approved', 'declined', 'error')),
  created_at   timestamptz not null default fd_clock(),
  primary key (tenant_ref, id),
  unique (tenant_ref, ref, kind)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05,
        autovacuum_analyze_scale_factor = 0.02);
call fd_fence('sim_journal', app => 'select, insert', worker => 'select, insert');
call fd_freeze('sim_journal');

create index sim_journal_of_charge on sim_journal (tenant_ref, txn_id, created_at);

-- The simulated gateway's stored cards. A card that a shopper replaces is deleted.
create table sim_vault (
  tenant_ref  text        not null references stores,
  vault_id    uuid        not null,
  card        jsonb       not null,
  fingerprint text        not null,
  -- How this card behaves when it is charged, since its number is not stored.
  behaviour   text        not null,
  created_at  timestamptz not null default fd_now(),
  primary key (tenant_ref, vault_id)
);
call fd_fence('sim_vault', app => 'select, insert, delete', worker => 'select, insert, delete');
