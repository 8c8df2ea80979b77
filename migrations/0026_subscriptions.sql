-- What a shopper takes again and again. Started by a checkout; renewed by an engine of its own.

create table subscriptions (
  tenant_ref          text        not null references stores,
  id                  uuid        not null,
  customer_ref        text        not null,
  person_id           uuid,
  product_id          uuid        not null,
  variant_id          uuid        not null,
  quantity            integer     not null check (quantity > 0),
  interval            text        not null check (interval in ('day', 'week', 'month', 'year')),
  interval_count      integer     not null check (interval_count between 1 and 1000),
  unit_price_cents    bigint      not null check (unit_price_cents >= 0),
  currency            text        not null,
  status              text        not null default 'active'
                      check (status in ('active', 'paused', 'past_due', 'cancelled', 'unpaid_cancelled',
                                        'expired')),
  origin_order_id     uuid        not null,
  cycle               integer     not null default 1,
  -- Kept through shorter months: the 31st comes back after February.
  anchor_day          integer     not null check (anchor_day between 1 and 31),
  current_period_start timestamptz not null,
  next_charge_at      timestamptz,
  -- The gateway's name for the card. Never the card.
  vault_id            text,
  initial_txn_id      text,
  card_brand          text,
  card_last4          text,
  ship_to             jsonb,
  created_at          timestamptz not null default now(),
  updated_at          timestamptz not null default now(),
  primary key (tenant_ref, id)
);
create index subscriptions_of_customer on subscriptions (tenant_ref, customer_ref);
create index subscriptions_of_order on subscriptions (tenant_ref, origin_order_id);
call fd_fence('subscriptions', app => 'select, insert, update', worker => 'select, insert, update');
