-- Exchanges: a return with a linked order that is paid from the return's refund. What the refund does not cover is asked
-- of the shopper by a payment request.

alter table orders
  drop constraint orders_source_check,
  add constraint orders_source_check
      check (source in ('checkout', 'subscription_renewal', 'operator', 'exchange')) not valid,
  drop constraint orders_payment_check,
  -- `requested`: the shopper has been asked to pay, and has not.
  add constraint orders_payment_check
      check (payment in ('none', 'pending', 'requested', 'unknown', 'authorized', 'captured', 'failed')) not valid;
alter table orders validate constraint orders_source_check;
alter table orders validate constraint orders_payment_check;

alter table payment_attempts
  drop constraint payment_attempts_kind_check,
  add constraint payment_attempts_kind_check
      check (kind in ('checkout', 'edit', 'refund', 'release', 'void', 'renewal', 'pay')) not valid;
alter table payment_attempts validate constraint payment_attempts_kind_check;

-- Between the journals of the two orders of an exchange. Both are posted in one transaction, so it is always empty.
alter table ledger_entries
  drop constraint ledger_entries_account_check,
  add constraint ledger_entries_account_check
      check (account in ('card_clearing', 'gift_card', 'store_credit', 'sales', 'tax_payable', 'shipping_income',
                         'discount', 'refund', 'affiliate_payable', 'breakage', 'suspense', 'dispute_loss',
                         'exchange')) not valid;
alter table ledger_entries validate constraint ledger_entries_account_check;

-- The charge of another order that the money of this one comes from. It is refunded where that was paid: the gateway has
-- one transaction for both.
alter table charges
  add column moved_from uuid,
  add constraint charges_moved_from_fkey foreign key (tenant_ref, moved_from) references charges not valid,
  add constraint charges_moved_check check (moved_from <> charge_id) not valid;
alter table charges validate constraint charges_moved_from_fkey;
alter table charges validate constraint charges_moved_check;
create index charges_moved on charges (tenant_ref, moved_from) where moved_from is not null;

alter table refunds
  drop constraint refunds_method_check,
  -- `exchange`: the money pays for another order, or comes back from it.
  add constraint refunds_method_check check (method in ('original', 'store_credit', 'exchange')) not valid;
alter table refunds validate constraint refunds_method_check;

alter table return_receipts
  drop constraint return_receipts_method_check,
  -- `later`: nothing is decided about the money of the units yet.
  add constraint return_receipts_method_check
      check (method in ('original', 'store_credit', 'none', 'later')) not valid,
  -- `deducted_cents` may be negative: the receipt refunds what an exchange gave back after an earlier receipt had deducted
  -- it.
  drop constraint return_receipts_deducted_cents_check,
  -- What the merchant chose not to refund. An exchange may still take it.
  add column waived_cents bigint not null default 0,
  add constraint return_receipts_waived_cents_check check (waived_cents >= 0) not valid;
alter table return_receipts validate constraint return_receipts_method_check;
alter table return_receipts validate constraint return_receipts_waived_cents_check;

create table return_exchanges (
  tenant_ref        text        not null references stores,
  id                uuid        not null default fd_uuid(),
  return_id         uuid        not null,
  -- The order with the new goods.
  order_id          uuid        not null,
  advance           boolean     not null,
  status            text        not null check (status in ('waiting', 'placed', 'released')),
  -- What the order takes of the return's refund. What it gives back is no part of it any more.
  amount_cents      bigint      not null check (amount_cents >= 0),
  -- Of that, what a receipt had waived: no other receipt deducts it.
  from_waived_cents bigint      not null default 0,
  -- How long the shopper has to pay the rest.
  pay_days          integer     not null check (pay_days > 0),
  -- The refund of the returned order that pays for it. Null: it takes nothing.
  refund_id         uuid,
  created_by        text        not null check (length(created_by) <= 200),
  created_at        timestamptz not null default fd_now(),
  placed_at         timestamptz,
  released_at       timestamptz,
  primary key (tenant_ref, id),
  unique (tenant_ref, order_id),
  foreign key (tenant_ref, return_id) references returns,
  foreign key (tenant_ref, order_id) references orders,
  foreign key (tenant_ref, refund_id) references refunds,
  check (from_waived_cents between 0 and amount_cents),
  check ((status = 'released') = (released_at is not null)),
  check ((status = 'placed') <= (placed_at is not null))
);
call fd_fence('return_exchanges', app => 'select, insert, update', worker => 'select, insert, update');
create index return_exchanges_of_return on return_exchanges (tenant_ref, return_id, created_at);

-- What a shopper is asked to pay for a held order. It is paid by the shopper alone.
create table payment_requests (
  tenant_ref   text        not null references stores,
  order_id     uuid        not null,
  amount_cents bigint      not null check (amount_cents > 0),
  currency     text        not null check (currency ~ '^[A-Z]{3}$'),
  status       text        not null check (status in ('open', 'paid', 'withdrawn', 'expired')),
  expires_at   timestamptz not null,
  -- When its order is cancelled; later than `expires_at` where a payment was in progress then.
  due_at       timestamptz,
  sent_count   integer     not null default 1 check (sent_count > 0),
  sent_at      timestamptz not null default fd_now(),
  created_by   text        not null check (length(created_by) <= 200),
  created_at   timestamptz not null default fd_now(),
  ended_at     timestamptz,
  primary key (tenant_ref, order_id),
  foreign key (tenant_ref, order_id) references orders,
  check ((status = 'open') = (due_at is not null)),
  check ((status = 'open') = (ended_at is null))
);
call fd_fence('payment_requests', app => 'select, insert, update', worker => 'select, insert, update');
call fd_due('payment_requests');
create index payment_requests_due on payment_requests (due_at) where due_at is not null;
create index payment_requests_due_of_tenant on payment_requests (tenant_ref, due_at) where due_at is not null;

-- The answers of exchanges and payments are kept for good: repeated after its key was forgotten, an exchange would send
-- goods again. So are those of charges that a merchant asked for; the scheduler's own keys are those of their orders.
drop index idempotency_keys_old;
create index idempotency_keys_old on idempotency_keys (tenant_ref, answered_at)
 where state = 'answered'
   and (operation not in ('refund', 'cancel', 'cancel_remaining', 'edit', 'release', 'return_receive', 'exchange', 'pay',
                          'renewal', 'gift_card_issue', 'gift_card_batch', 'gift_card_adjust', 'store_credit_credit',
                          'store_credit_debit')
        or (operation = 'renewal' and starts_with(key, 'sub:'))
        or (response_status >= 300 and recovery_point = 'started'));
