-- Value that a store owes to whoever holds it: gift cards, and the credit of its customers.
--
-- Each has a row with its balance, because it must not be overdrawn. What the row says is also in
-- the ledger: the balance is what its account there was credited and not yet debited.

create table gift_cards (
  tenant_ref            text        not null references stores,
  id                    uuid        not null default gen_random_uuid(),
  -- Keyed, so that whoever reads this table cannot try codes against it.
  code_hmac             bytea       not null check (length(code_hmac) = 32),
  code_last4            text        not null check (length(code_last4) = 4),
  -- The code itself, encrypted, for as long as a replay of its issue may show it.
  code_sealed           bytea,
  initial_balance_cents bigint      not null
                        check (initial_balance_cents between 1 and 100000000000),
  balance_cents         bigint      not null check (balance_cents between 0 and 9007199254740991),
  held_cents            bigint      not null default 0 check (held_cents >= 0),
  currency              text        not null check (currency ~ '^[A-Z]{3}$'),
  expires_at            timestamptz,
  expired_at            timestamptz,
  disabled_at           timestamptz,
  status                text        not null generated always as (
                          case when expired_at is not null then 'expired'
                               when disabled_at is not null then 'disabled'
                               when balance_cents = 0 then 'depleted'
                               else 'active' end) stored,
  issued_order_id       uuid,
  recipient_email       text        check (length(recipient_email) <= 254),
  customer_ref          text        check (length(customer_ref) between 1 and 200),
  note                  text        check (length(note) <= 2000),
  created_at            timestamptz not null default now(),
  updated_at            timestamptz not null default now(),
  primary key (tenant_ref, id),
  constraint gift_cards_code unique (tenant_ref, code_hmac),
  check (held_cents <= balance_cents),
  check (expired_at is null or expires_at is not null),
  check (expired_at is null or disabled_at is null)
);
create index gift_cards_newest on gift_cards (tenant_ref, created_at desc, id desc);
create index gift_cards_last4 on gift_cards (tenant_ref, code_last4);
create index gift_cards_due on gift_cards (expires_at)
 where expires_at is not null and disabled_at is null
   and (expired_at is null or balance_cents > held_cents);
create index gift_cards_shown on gift_cards (created_at) where code_sealed is not null;

create table gift_card_transactions (
  tenant_ref          text        not null references stores,
  id                  uuid        not null default gen_random_uuid(),
  gift_card_id        uuid        not null,
  type                text        not null
                      check (type in ('credit', 'debit', 'hold', 'capture', 'void', 'expire')),
  event               text        not null
                      check (event in ('issue', 'adjustment', 'order', 'refund', 'expiration')),
  amount_cents        bigint      not null check (amount_cents > 0),
  balance_after_cents bigint      not null check (balance_after_cents >= 0),
  order_id            uuid,
  -- The merchant's own words, which may name a person: the one column that can be emptied.
  reason              text        check (length(reason) <= 500),
  actor               text        not null,
  -- The clock's, not the transaction's: under the card's lock that is their order.
  created_at          timestamptz not null default clock_timestamp(),
  primary key (tenant_ref, id),
  foreign key (tenant_ref, gift_card_id) references gift_cards
);
create index gift_card_transactions_newest
    on gift_card_transactions (tenant_ref, gift_card_id, created_at desc, id desc);

create table store_credit_accounts (
  tenant_ref    text        not null references stores,
  -- What the ledger knows the account by: it keeps no name of a customer.
  id            uuid        not null default gen_random_uuid(),
  customer_ref  text        not null check (length(customer_ref) between 1 and 200),
  currency      text        not null check (currency ~ '^[A-Z]{3}$'),
  balance_cents bigint      not null default 0
                check (balance_cents between 0 and 9007199254740991),
  held_cents    bigint      not null default 0 check (held_cents >= 0),
  created_at    timestamptz not null default now(),
  updated_at    timestamptz not null default now(),
  primary key (tenant_ref, id),
  unique (tenant_ref, customer_ref, currency),
  check (held_cents <= balance_cents)
);
create index store_credit_accounts_newest
    on store_credit_accounts (tenant_ref, created_at desc, id desc);

-- What was credited at one time. The credit that expires first is spent first.
create table store_credit_lots (
  tenant_ref      text        not null references stores,
  id              uuid        not null default gen_random_uuid(),
  account_id      uuid        not null,
  amount_cents    bigint      not null check (amount_cents > 0),
  remaining_cents bigint      not null check (remaining_cents >= 0),
  expires_at      timestamptz,
  -- When the expiry loop looks at it. Later than expires_at while an order holds it.
  due_at          timestamptz,
  created_at      timestamptz not null default clock_timestamp(),
  primary key (tenant_ref, id),
  foreign key (tenant_ref, account_id) references store_credit_accounts,
  check (remaining_cents <= amount_cents),
  check (due_at is null or expires_at is not null)
);
create index store_credit_lots_open
    on store_credit_lots (tenant_ref, account_id, expires_at, created_at, id)
 where remaining_cents > 0;
create index store_credit_lots_due on store_credit_lots (due_at)
 where due_at is not null and remaining_cents > 0;

create table store_credit_transactions (
  tenant_ref          text        not null references stores,
  id                  uuid        not null default gen_random_uuid(),
  account_id          uuid        not null,
  type                text        not null
                      check (type in ('credit', 'debit', 'hold', 'capture', 'void', 'expire')),
  event               text        not null
                      check (event in ('adjustment', 'order', 'refund', 'return', 'expiration')),
  amount_cents        bigint      not null check (amount_cents > 0),
  balance_after_cents bigint      not null check (balance_after_cents >= 0),
  order_id            uuid,
  reason              text        check (length(reason) <= 500),
  actor               text        not null,
  created_at          timestamptz not null default clock_timestamp(),
  primary key (tenant_ref, id),
  foreign key (tenant_ref, account_id) references store_credit_accounts
);
create index store_credit_transactions_newest
    on store_credit_transactions (tenant_ref, account_id, created_at desc, id desc);

call fd_fence('gift_cards', app => 'select, insert, update', worker => 'select, update');
call fd_fence('gift_card_transactions', app => 'select, insert, update (reason)',
                                        worker => 'select, insert');
call fd_fence('store_credit_accounts', app => 'select, insert, update',
                                       worker => 'select, insert, update');
call fd_fence('store_credit_lots', app => 'select, insert, update',
                                   worker => 'select, insert, update');
call fd_fence('store_credit_transactions', app => 'select, insert, update (reason)',
                                           worker => 'select, insert');

-- The loops look over all tenants for who has work, then work within one.
create policy due on gift_cards for select to fd_worker using (true);
create policy due on store_credit_lots for select to fd_worker using (true);
