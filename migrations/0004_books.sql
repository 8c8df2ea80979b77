-- What stores owe and own: the ledger, gift cards, and store credit.

-- The ledger: double entry, append-only, sealed after the commit by a chain of hashes.
--
-- An account is a kind, what it belongs to (a gift card, a customer's credit; empty for the store's own) and
-- a currency. It has no row: a row that every sale touched would be a row that every sale waits for. Balances
-- that must not be overdrawn stand with their owner, in gift_cards and so on.
create table ledger_journals (
  tenant_ref text        not null references stores,
  id         uuid        not null,
  kind       text        not null check (kind ~ '^[a-z][a-z_.]{0,59}$'),
  currency   text        not null check (currency ~ '^[A-Z]{3}$'),
  order_id   uuid,
  -- What caused the journal, if no order did: the id of a refund, a gift card. Never a person's name.
  ref        text        check (length(ref) <= 200),
  created_at timestamptz not null default fd_now(),
  primary key (tenant_ref, id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05,
        autovacuum_analyze_scale_factor = 0.02);
call fd_fence('ledger_journals', app => 'select, insert', worker => 'select, insert');
call fd_freeze('ledger_journals');

create index ledger_journals_of_order on ledger_journals (tenant_ref, order_id)
 where order_id is not null;

-- The entries of a journal: what it debits and credits. At the commit they add up to zero: fd_check_journal.
create table ledger_entries (
  tenant_ref   text    not null,
  journal_id   uuid    not null,
  position     integer not null check (position >= 0),
  -- `dispute_loss`: what a bank took by a dispute although the shopper had been refunded already. `exchange`:
  -- between the journals of the two orders of an exchange; both are posted in one transaction, so it is
  -- always empty.
  --
  -- `commission_expense`: what commissions cost the store. `affiliate_payable`: what it owes each affiliate.
  -- `affiliate_payout`: what has left its bank for them.
  --
  -- `inventory_asset`: what the goods on hand have cost. `cogs`: what the goods have cost that were sold.
  -- Against them stand `goods_in_transit`, what vendors are owed for goods that have come; `landed_cost`,
  -- what others are owed for bringing them; `inventory_opening`, what was there before the first cost was
  -- known; `inventory_adjustment`, units that were found or lost.
  account      text    not null
               check (account in ('card_clearing', 'gift_card', 'store_credit', 'sales', 'tax_payable',
                                  'shipping_income', 'discount', 'refund', 'affiliate_payable', 'breakage',
                                  'suspense', 'dispute_loss', 'exchange', 'commission_expense',
                                  'affiliate_payout', 'inventory_asset', 'goods_in_transit', 'cogs',
                                  'landed_cost', 'inventory_opening', 'inventory_adjustment')),
  ref          text    not null default '' check (length(ref) <= 200),
  currency     text    not null,
  -- A debit is positive. The range that JavaScript counts exactly.
  amount_cents bigint  not null
               check (amount_cents <> 0 and amount_cents between -9007199254740991 and 9007199254740991),
  -- Covering, so that a trial balance reads the index alone.
  primary key (tenant_ref, journal_id, position) include (account, currency, amount_cents),
  foreign key (tenant_ref, journal_id) references ledger_journals
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05,
        autovacuum_analyze_scale_factor = 0.02);
call fd_fence('ledger_entries', app => 'select, insert', worker => 'select, insert');
call fd_freeze('ledger_entries');
call fd_bundle_checks('ledger_entries');

-- The entries of one gift card or of one customer's credit.
create index ledger_entries_of_ref on ledger_entries (tenant_ref, account, ref)
 where ref <> '';

-- Journals that have no number yet. A row is written with its journal and deleted when the journal is numbered, so
-- that one which commits late is found too.
create table ledger_unsealed (
  tenant_ref text not null,
  journal_id uuid not null,
  primary key (tenant_ref, journal_id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05,
        autovacuum_analyze_scale_factor = 0.02);
call fd_fence('ledger_unsealed', app => 'select, insert', worker => 'select, insert, delete');
call fd_due('ledger_unsealed');

-- The chain: each journal with its number and the hash that covers it and everything before it.
create table ledger_seals (
  tenant_ref text        not null references stores,
  -- From 1, without a gap, in the order of sealing.
  sequence   bigint      not null check (sequence >= 1),
  journal_id uuid        not null,
  -- SHA-256 over the hash before and the canonical form of the journal with its entries.
  hash       bytea       not null check (length(hash) = 32),
  sealed_at  timestamptz not null default now(),
  primary key (tenant_ref, sequence),
  unique (tenant_ref, journal_id),
  foreign key (tenant_ref, journal_id) references ledger_journals
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05,
        autovacuum_analyze_scale_factor = 0.02);
call fd_fence('ledger_seals', app => 'select', worker => 'select, insert');
call fd_freeze('ledger_seals');

-- The balance of every account after each thousandth journal, so that a trial balance adds up only the journals after
-- it. The proof computes the balances again.
create table ledger_checkpoints (
  tenant_ref    text   not null references stores,
  sequence      bigint not null check (sequence >= 1),
  account       text   not null,
  currency      text   not null,
  balance_cents bigint not null,
  primary key (tenant_ref, sequence, account, currency)
);
call fd_fence('ledger_checkpoints', app => 'select', worker => 'select, insert');
call fd_freeze('ledger_checkpoints');

-- Value that is reserved for an order until it is captured or released.
create table ledger_holds (
  tenant_ref   text        not null references stores,
  id           uuid        not null default fd_uuid(),
  account      text        not null check (account in ('gift_card', 'store_credit')),
  ref          text        not null check (length(ref) between 1 and 200),
  currency     text        not null check (currency ~ '^[A-Z]{3}$'),
  amount_cents bigint      not null check (amount_cents between 1 and 9007199254740991),
  order_id     uuid        not null,
  state        text        not null default 'pending'
               check (state in ('pending', 'posted', 'voided', 'expired')),
  -- Null: it ends with its order.
  expires_at   timestamptz,
  created_at   timestamptz not null default fd_now(),
  closed_at    timestamptz,
  primary key (tenant_ref, id),
  check ((state = 'pending') = (closed_at is null))
);
call fd_fence('ledger_holds', app => 'select, insert, update', worker => 'select, insert, update');

create index ledger_holds_of_order on ledger_holds (tenant_ref, order_id);
create index ledger_holds_of_account on ledger_holds (tenant_ref, account, ref)
 where state = 'pending';

-- How far each store's hash chain is verified: a loop computes the links again soon after they were added,
-- and the whole history again and again in slices. Signed with a key that is not in the database, so that no
-- one with access to the database alone can write here that a changed ledger was found in order.
create table ledger_verified (
  tenant_ref    text        not null references stores,
  id            uuid        not null default fd_uuid(),
  -- The number of the newest link, as the numbering loop recorded it. If it is greater than `sequence`, the store is
  -- due.
  newest        bigint      not null,
  -- Machine time, as of all work of the platform itself.
  due_at        timestamptz not null,
  lease_until   timestamptz,
  lease_token   uuid,

  -- All columns from here on are covered by `mac`. The links from the first to this one are verified.
  sequence      bigint      not null default 0 check (sequence >= 0),
  hash          bytea       check (length(hash) = 32),
  -- The sums of the accounts up to `sequence`: a trial balance begins there.
  balances      jsonb       not null default '[]',
  verified_at   timestamptz,
  -- How far the walk over the whole history has come: first the number of a link, then the id of a journal.
  walk_sequence bigint      not null default 0 check (walk_sequence >= 0),
  walk_hash     bytea       check (length(walk_hash) = 32),
  walk_balances jsonb       not null default '[]',
  walk_journal  uuid,
  walk_due_at   timestamptz,
  -- When the whole history was last verified.
  walked_at     timestamptz,
  -- What does not verify: the kind of fault, its link or journal, and since when it is known.
  fault         text,
  fault_at      text,
  fault_since   timestamptz,
  -- Null: nothing is verified yet.
  mac           bytea       check (length(mac) = 32),
  primary key (tenant_ref),
  check ((sequence = 0) = (hash is null)),
  check ((walk_sequence = 0) = (walk_hash is null)),
  check ((fault is null) = (fault_since is null))
);
call fd_fence('ledger_verified', app => 'select', worker => 'select, insert, update');
call fd_due('ledger_verified');

create index ledger_verified_due on ledger_verified (due_at);
create index ledger_verified_faults on ledger_verified (tenant_ref) where fault is not null;

-- Checks at the commit that a journal's debits and credits are equal, in one currency, and that all its entries were
-- written with it. An entry added to an older journal would change what was sealed, even if it balanced.
create function fd_check_journal() returns trigger
language plpgsql set search_path = public, pg_temp as $$
declare
  total numeric;
  alike boolean;
  fresh boolean;
begin
  select sum(e.amount_cents), bool_and(e.currency = j.currency),
         bool_and(j.xmin = pg_current_xact_id()::xid)
    into total, alike, fresh
    from ledger_journals j
    join ledger_entries e on e.tenant_ref = j.tenant_ref and e.journal_id = j.id
   where j.tenant_ref = new.tenant_ref and j.id = new.journal_id;
  if total <> 0 or not alike or not fresh then
    raise exception 'journal % %', new.journal_id,
      case when total <> 0 then 'does not sum to zero'
           when not alike then 'mixes currencies'
           else 'is closed' end
      using errcode = 'FD003';
  end if;
  return null;
end $$;

revoke all on function fd_check_journal from public;

create constraint trigger balanced after insert on ledger_entries
  deferrable initially deferred
  for each row execute function fd_check_journal();

-- Value that a store owes to others: gift cards, and the credit of its customers.
--
-- Each has a row with its balance, because it must not be overdrawn. The ledger has the same balance: what the account
-- was credited and not yet debited.
create table gift_cards (
  tenant_ref            text        not null references stores,
  id                    uuid        not null default fd_uuid(),
  -- Keyed, so that a reader of this table cannot try codes against it.
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
  created_at            timestamptz not null default fd_now(),
  updated_at            timestamptz not null default fd_now(),
  -- Folded by the database itself: under row level security an index on `lower()` would not be used.
  recipient_folded      text        generated always as (lower(recipient_email)) stored,
  order_item_id         uuid,
  -- When the code is mailed to the recipient. Null: at once.
  send_at               timestamptz,
  sent_at               timestamptz,
  -- Until when the encrypted code is kept: the mail of a bought card may wait for its day, and may be sent again after
  -- it.
  code_until            timestamptz default fd_now() + interval '24 hours',
  -- The refund that takes the card back, and the amount it takes. The card cannot be used until that refund has ended.
  pending_refund_id     uuid,
  pending_refund_cents  bigint,
  primary key (tenant_ref, id),
  constraint gift_cards_code unique (tenant_ref, code_hmac),
  check (held_cents <= balance_cents),
  check (expired_at is null or expires_at is not null),
  check (expired_at is null or disabled_at is null),
  constraint gift_cards_pending_refund_check
    check ((pending_refund_id is null) = (pending_refund_cents is null)
           and pending_refund_cents between 1 and balance_cents - held_cents)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05,
        autovacuum_analyze_scale_factor = 0.02);
call fd_fence('gift_cards', app => 'select, insert, update', worker => 'select, insert, update');
call fd_due('gift_cards');
call fd_meter('gift_cards', $$('gift_cards', 1)$$, false);

create index gift_cards_newest on gift_cards (tenant_ref, created_at desc, id desc);
create index gift_cards_due on gift_cards (expires_at)
 where expires_at is not null and disabled_at is null
   and (expired_at is null or balance_cents > held_cents);
create index gift_cards_of_customer on gift_cards (tenant_ref, customer_ref)
 where customer_ref is not null;
create index gift_cards_of_recipient on gift_cards (tenant_ref, recipient_folded)
 where recipient_folded is not null;
create index gift_cards_due_of_tenant on gift_cards (tenant_ref, expires_at)
  where expires_at is not null and disabled_at is null
    and (expired_at is null or balance_cents > held_cents);
create index gift_cards_by_status on gift_cards (tenant_ref, status, created_at desc, id desc);
create index gift_cards_of_order on gift_cards (tenant_ref, issued_order_id) where issued_order_id is not null;
create index gift_cards_of_refund on gift_cards (tenant_ref, pending_refund_id) where pending_refund_id is not null;
create index gift_cards_shown on gift_cards (tenant_ref, code_until) where code_sealed is not null;
-- Cards by their last four characters, in the order of the list. Without that order the planner would read
-- all cards of the store from the newest on, and look for these characters.
create index gift_cards_last4 on gift_cards (tenant_ref, code_last4, created_at desc, id desc);

-- The changes of a card's balance.
create table gift_card_transactions (
  tenant_ref          text        not null references stores,
  id                  uuid        not null default fd_uuid(),
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
  -- The time of the clock and not of the transaction: rows are written under the card's lock, so this is their order.
  created_at          timestamptz not null default fd_clock(),
  primary key (tenant_ref, id),
  foreign key (tenant_ref, gift_card_id) references gift_cards
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05,
        autovacuum_analyze_scale_factor = 0.02);
call fd_fence('gift_card_transactions', app => 'select, insert, update (reason)',
              worker => 'select, insert, update (reason)');

create index gift_card_transactions_newest
    on gift_card_transactions (tenant_ref, gift_card_id, created_at desc, id desc);

-- The recipients of the gift cards of a line, stored from the checkout on: the cards themselves exist once the order
-- is placed.
create table gift_card_purchases (
  tenant_ref       text        not null references stores,
  order_item_id    uuid        not null,
  order_id         uuid        not null,
  quantity         integer     not null check (quantity > 0),
  -- What each card is worth.
  amount_cents     bigint      not null check (amount_cents between 1 and 100000000000),
  -- The shopper named no recipient, so that the card is their own.
  for_buyer        boolean     not null,
  recipient_email  text        check (length(recipient_email) <= 254),
  recipient_folded text        generated always as (lower(recipient_email)) stored,
  recipient_name   text        check (length(recipient_name) <= 200),
  message          text        check (length(message) <= 1000),
  -- Null: at once.
  send_at          timestamptz,
  primary key (tenant_ref, order_item_id)
);
call fd_fence('gift_card_purchases', app => 'select, insert, update', worker => 'select, update');

create index gift_card_purchases_of_order on gift_card_purchases (tenant_ref, order_id);
create index gift_card_purchases_of_recipient on gift_card_purchases (tenant_ref, recipient_folded)
 where recipient_folded is not null;

-- The credit of a customer, in one currency.
create table store_credit_accounts (
  tenant_ref    text        not null references stores,
  -- The account's name in the ledger, which stores no name of a customer.
  id            uuid        not null default fd_uuid(),
  customer_ref  text        not null check (length(customer_ref) between 1 and 200),
  currency      text        not null check (currency ~ '^[A-Z]{3}$'),
  balance_cents bigint      not null default 0 check (balance_cents between 0 and 9007199254740991),
  held_cents    bigint      not null default 0 check (held_cents >= 0),
  created_at    timestamptz not null default fd_now(),
  updated_at    timestamptz not null default fd_now(),
  primary key (tenant_ref, id),
  unique (tenant_ref, customer_ref, currency),
  check (held_cents <= balance_cents)
);
call fd_fence('store_credit_accounts', app => 'select, insert, update',
              worker => 'select, insert, update');

create index store_credit_accounts_newest
    on store_credit_accounts (tenant_ref, created_at desc, id desc);

-- The amounts that were credited, with their expiry. The lot that expires first is spent first.
create table store_credit_lots (
  tenant_ref      text        not null references stores,
  id              uuid        not null default fd_uuid(),
  account_id      uuid        not null,
  amount_cents    bigint      not null check (amount_cents > 0),
  remaining_cents bigint      not null check (remaining_cents >= 0),
  expires_at      timestamptz,
  -- When the expiry loop looks at the lot. Later than expires_at while an order holds it.
  due_at          timestamptz,
  created_at      timestamptz not null default fd_clock(),
  primary key (tenant_ref, id),
  foreign key (tenant_ref, account_id) references store_credit_accounts,
  check (remaining_cents <= amount_cents),
  check (due_at is null or expires_at is not null)
);
call fd_fence('store_credit_lots', app => 'select, insert, update',
              worker => 'select, insert, update');
call fd_due('store_credit_lots');

create index store_credit_lots_open
    on store_credit_lots (tenant_ref, account_id, expires_at, created_at, id)
 where remaining_cents > 0;
create index store_credit_lots_due on store_credit_lots (due_at)
 where due_at is not null and remaining_cents > 0;
create index store_credit_lots_due_of_tenant on store_credit_lots (tenant_ref, due_at)
  where due_at is not null and remaining_cents > 0;

-- Which lots an order's store credit came from, if one of them expires: a refund gives each amount back with its own
-- date. Otherwise customers could make expiring credit permanent by buying and cancelling.
create table store_credit_spent (
  tenant_ref     text   not null references stores,
  order_id       uuid   not null,
  lot_id         uuid   not null,
  amount_cents   bigint not null check (amount_cents > 0),
  returned_cents bigint not null default 0 check (returned_cents between 0 and amount_cents),
  primary key (tenant_ref, order_id, lot_id),
  foreign key (tenant_ref, lot_id) references store_credit_lots (tenant_ref, id)
);
call fd_fence('store_credit_spent', app => 'select, insert, update',
              worker => 'select, insert, update');

create index store_credit_spent_by_lot on store_credit_spent (tenant_ref, lot_id);

-- The changes of a customer's credit.
create table store_credit_transactions (
  tenant_ref          text        not null references stores,
  id                  uuid        not null default fd_uuid(),
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
  created_at          timestamptz not null default fd_clock(),
  primary key (tenant_ref, id),
  foreign key (tenant_ref, account_id) references store_credit_accounts
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05,
        autovacuum_analyze_scale_factor = 0.02);
call fd_fence('store_credit_transactions', app => 'select, insert, update (reason)',
              worker => 'select, insert, update (reason)');

create index store_credit_transactions_newest
    on store_credit_transactions (tenant_ref, account_id, created_at desc, id desc);
