-- The ledger: double entry, append-only, sealed after the commit by a chain of hashes.
--
-- An account is a kind, what it belongs to (a gift card, a customer's credit; empty for the store's
-- own) and a currency. It has no row: a row that every sale touched would be a row that every sale
-- waits for. Balances that must not be overdrawn stand with their owner, in gift_cards and so on.

create table ledger_journals (
  tenant_ref text        not null references stores,
  id         uuid        not null,
  kind       text        not null check (kind ~ '^[a-z][a-z_.]{0,59}$'),
  currency   text        not null check (currency ~ '^[A-Z]{3}$'),
  order_id   uuid,
  -- What caused it, where that is no order: the id of a refund, a gift card. Never a person's name.
  ref        text        check (length(ref) <= 200),
  created_at timestamptz not null default now(),
  primary key (tenant_ref, id)
);
create index ledger_journals_of_order on ledger_journals (tenant_ref, order_id)
 where order_id is not null;

create table ledger_entries (
  tenant_ref   text    not null,
  journal_id   uuid    not null,
  position     integer not null check (position >= 0),
  account      text    not null
               check (account in ('card_clearing', 'gift_card', 'store_credit', 'sales',
                                  'tax_payable', 'shipping_income', 'discount', 'refund',
                                  'affiliate_payable', 'breakage', 'suspense')),
  ref          text    not null default '' check (length(ref) <= 200),
  currency     text    not null,
  -- A debit is positive. The range that JavaScript counts exactly.
  amount_cents bigint  not null
               check (amount_cents <> 0
                      and amount_cents between -9007199254740991 and 9007199254740991),
  -- Covering, so that a trial balance reads the index alone.
  primary key (tenant_ref, journal_id, position) include (account, currency, amount_cents),
  foreign key (tenant_ref, journal_id) references ledger_journals
);
-- What one gift card or one customer's credit has seen.
create index ledger_entries_of_ref on ledger_entries (tenant_ref, account, ref)
 where ref <> '';

-- Journals that have no number yet. Written with the journal and deleted when it is sealed, so that
-- one which commits late is found all the same.
create table ledger_unsealed (
  tenant_ref text not null,
  journal_id uuid not null,
  primary key (tenant_ref, journal_id),
  foreign key (tenant_ref, journal_id) references ledger_journals
);

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
);

-- What every account stood at after each thousandth journal, so that a trial balance adds up the last
-- few and not all there ever were. The proof works them out anew.
create table ledger_checkpoints (
  tenant_ref    text   not null references stores,
  sequence      bigint not null check (sequence >= 1),
  account       text   not null,
  currency      text   not null,
  balance_cents bigint not null,
  primary key (tenant_ref, sequence, account, currency)
);

-- Value that is set aside for an order until it is taken or given back.
create table ledger_holds (
  tenant_ref   text        not null references stores,
  id           uuid        not null default gen_random_uuid(),
  account      text        not null check (account in ('gift_card', 'store_credit')),
  ref          text        not null check (length(ref) between 1 and 200),
  currency     text        not null check (currency ~ '^[A-Z]{3}$'),
  amount_cents bigint      not null check (amount_cents between 1 and 9007199254740991),
  order_id     uuid        not null,
  state        text        not null default 'pending'
               check (state in ('pending', 'posted', 'voided', 'expired')),
  -- Null: it ends with its order.
  expires_at   timestamptz,
  created_at   timestamptz not null default now(),
  closed_at    timestamptz,
  primary key (tenant_ref, id),
  check ((state = 'pending') = (closed_at is null))
);
create index ledger_holds_of_order on ledger_holds (tenant_ref, order_id);
create index ledger_holds_of_account on ledger_holds (tenant_ref, account, ref)
 where state = 'pending';

call fd_fence('ledger_journals', app => 'select, insert', worker => 'select, insert');
call fd_fence('ledger_entries', app => 'select, insert', worker => 'select, insert');
call fd_fence('ledger_unsealed', app => 'select, insert', worker => 'select, insert, delete');
call fd_fence('ledger_seals', app => 'select', worker => 'select, insert');
call fd_fence('ledger_checkpoints', app => 'select', worker => 'select, insert');
call fd_fence('ledger_holds', app => 'select, insert, update', worker => 'select, insert, update');
call fd_freeze('ledger_journals');
call fd_freeze('ledger_entries');
call fd_freeze('ledger_seals');
call fd_freeze('ledger_checkpoints');

-- The sealer looks over all tenants for who has work, then works within one.
create policy due on ledger_unsealed for select to fd_worker using (true);

-- At the commit: what a journal gives and takes is equal, in one currency, and was written with it.
-- An entry slipped under an older journal would change what was sealed, even if it balanced.
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
revoke all on function fd_check_journal() from public;

create constraint trigger balanced after insert on ledger_entries
  deferrable initially deferred
  for each row execute function fd_check_journal();
