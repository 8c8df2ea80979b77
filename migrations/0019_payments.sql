-- Which gateway a store pays by, what was asked of it, and where its record and ours differ.

create table payment_accounts (
  tenant_ref  text        not null references stores,
  gateway     text        not null check (gateway in ('simulated', 'nmi')),
  -- The one that new payments take. Another's credentials are kept for what was paid by it.
  in_use      boolean     not null default true,
  -- Sealed, and bound to the store and the gateway. Null: the installation's own account.
  credentials bytea,
  -- The last letters of the credential, for people to tell two apart.
  hint        text        check (length(hint) = 4),
  created_at  timestamptz not null default now(),
  updated_at  timestamptz not null default now(),
  primary key (tenant_ref, gateway),
  check (hint is null or credentials is not null)
);

call fd_fence('payment_accounts', app => 'select, insert, update', worker => 'select');
create policy due on payment_accounts for select to fd_worker using (true);

create unique index payment_accounts_in_use on payment_accounts (tenant_ref) where in_use;

-- One row for each time that a gateway is asked to move money, written before it is asked.
create table payment_attempts (
  tenant_ref    text        not null references stores,
  -- The reference that the gateway knows it by.
  id            uuid        not null,
  -- Orders come later in the migrations, so nothing here can point at them.
  order_id      uuid        not null,
  kind          text        not null
                check (kind in ('checkout', 'edit', 'refund', 'release', 'void', 'renewal')),
  gateway       text        not null check (gateway in ('simulated', 'nmi')),
  amount_cents  bigint      not null check (amount_cents >= 0),
  currency      text        not null check (currency ~ '^[A-Z]{3}$'),
  charge_id     uuid,
  -- What is captured, voided or refunded.
  parent_txn_id text        check (length(parent_txn_id) between 1 and 100),
  -- not_found: the gateway had never heard of it when asked, which an answer on its way may belie.
  state         text        not null default 'begun'
                check (state in ('begun', 'unknown', 'approved', 'declined', 'error', 'not_found',
                                 'voided')),
  txn_id        text        check (length(txn_id) between 1 and 100),
  auth_code     text,
  avs           text,
  cvv           text,
  code          text,
  reason        text,
  fraud_signal  boolean     not null default false,
  vault_id      text,
  card          jsonb,
  -- How often the gateway was asked what became of it.
  checks        integer     not null default 0,
  created_at    timestamptz not null default now(),
  closed_at     timestamptz,
  -- Null: not asked about again.
  next_check_at timestamptz default now() + interval '10 seconds',
  lease_until   timestamptz,
  lease_token   uuid,
  primary key (tenant_ref, id),
  check ((state in ('begun', 'unknown')) = (closed_at is null)),
  check (state not in ('begun', 'unknown') or next_check_at is not null),
  check (next_check_at is null or state in ('begun', 'unknown', 'not_found'))
);

call fd_fence('payment_attempts', app => 'select, insert, update', worker => 'select, insert, update');

create index payment_attempts_of_order on payment_attempts (tenant_ref, order_id, created_at);
create index payment_attempts_of_parent on payment_attempts (tenant_ref, parent_txn_id)
 where parent_txn_id is not null;
create index payment_attempts_of_day on payment_attempts (tenant_ref, created_at);

-- The worker looks over all tenants for who has work, then claims within one.
create policy due on payment_attempts for select to fd_worker using (true);
create index payment_attempts_due on payment_attempts (next_check_at)
 where next_check_at is not null;
create index payment_attempts_due_of_tenant on payment_attempts (tenant_ref, next_check_at)
 where next_check_at is not null;
create index payment_attempts_recent on payment_attempts (created_at);

-- A day of a store, to be held against the record of its gateway.
create table payment_days (
  tenant_ref  text        not null references stores,
  id          uuid        not null default gen_random_uuid(),
  day         date        not null,
  due_at      timestamptz,
  compared_at timestamptz,
  lease_until timestamptz,
  lease_token uuid,
  primary key (tenant_ref, id),
  unique (tenant_ref, day)
);

call fd_fence('payment_days', app => 'select', worker => 'select, insert, update');
create policy due on payment_days for select to fd_worker using (true);
create index payment_days_due on payment_days (due_at) where due_at is not null;
create index payment_days_due_of_tenant on payment_days (tenant_ref, due_at)
 where due_at is not null;

-- Where the two records differ. A row is never deleted, only resolved.
create table payment_discrepancies (
  tenant_ref    text        not null references stores,
  id            uuid        not null default gen_random_uuid(),
  day           date        not null,
  gateway       text        not null check (gateway in ('simulated', 'nmi')),
  problem       text        not null
                check (problem in ('missing_here', 'missing_there', 'amount_differs')),
  -- Our attempt's id as the gateway has it; whatever it says when that is no id of ours.
  ref           text        not null check (length(ref) between 1 and 100),
  txn_id        text,
  order_id      uuid,
  our_cents     bigint,
  gateway_cents bigint,
  created_at    timestamptz not null default now(),
  seen_at       timestamptz not null default now(),
  resolved_at   timestamptz,
  primary key (tenant_ref, id),
  unique (tenant_ref, day, gateway, problem, ref)
);

call fd_fence('payment_discrepancies', app => 'select', worker => 'select, insert, update');
create index payment_discrepancies_newest
    on payment_discrepancies (tenant_ref, created_at desc, id desc);

-- The simulated gateway's own books. Nothing of ours refers to them: it stands for a service
-- outside, whose truth tests and the nightly comparison hold against ours.

create table sim_charges (
  tenant_ref     text        not null references stores,
  txn_id         uuid        not null default gen_random_uuid(),
  -- Whoever sends a reference twice is answered twice and charged once.
  ref            uuid        not null,
  amount_cents   bigint      not null check (amount_cents >= 0),
  currency       text        not null check (currency ~ '^[A-Z]{3}$'),
  outcome        text        not null check (outcome in ('approved', 'declined', 'error')),
  code           text        not null,
  auth_code      text,
  avs            text,
  cvv            text,
  -- Brand, last four digits and expiry. The number is nowhere.
  card           jsonb       not null,
  fingerprint    text        not null,
  vault_id       uuid,
  captured_cents bigint      not null default 0,
  refunded_cents bigint      not null default 0,
  captured_at    timestamptz,
  voided_at      timestamptz,
  -- When the card's holder will dispute the charge.
  dispute_at     timestamptz,
  created_at     timestamptz not null default now(),
  primary key (tenant_ref, txn_id),
  unique (tenant_ref, ref),
  constraint sim_captures_within check (captured_cents between 0 and amount_cents),
  constraint sim_refunds_within check (refunded_cents between 0 and captured_cents),
  check (outcome = 'approved' or (captured_cents = 0 and voided_at is null))
);

call fd_fence('sim_charges', app => 'select, insert, update', worker => 'select, insert, update');
create index sim_charges_newest on sim_charges (tenant_ref, created_at desc, txn_id desc);

-- What it did, in order. Never changed.
create table sim_journal (
  tenant_ref   text        not null references stores,
  id           uuid        not null default gen_random_uuid(),
  txn_id       uuid        not null,
  ref          uuid        not null,
  kind         text        not null check (kind in ('authorize', 'capture', 'void', 'refund')),
  amount_cents bigint      not null check (amount_cents >= 0),
  outcome      text        not null check (outcome in ('approved', 'declined', 'error')),
  created_at   timestamptz not null default clock_timestamp(),
  primary key (tenant_ref, id),
  unique (tenant_ref, ref, kind),
  foreign key (tenant_ref, txn_id) references sim_charges
);

call fd_fence('sim_journal', app => 'select, insert', worker => 'select, insert');
call fd_freeze('sim_journal');
create index sim_journal_of_charge on sim_journal (tenant_ref, txn_id, created_at);

create table sim_vault (
  tenant_ref  text        not null references stores,
  vault_id    uuid        not null,
  card        jsonb       not null,
  fingerprint text        not null,
  -- What this card does when it is charged, since its number is not kept.
  behaviour   text        not null,
  created_at  timestamptz not null default now(),
  primary key (tenant_ref, vault_id)
);

call fd_fence('sim_vault', app => 'select, insert', worker => 'select, insert');
