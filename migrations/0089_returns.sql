-- Returns: units that were shipped come back, are put on the shelf, written off or set aside, and are refunded.

-- `returning`: units in returns that are expected and have not come. `returned`: units that have come back. No more
-- than were shipped, however many ask at once.
-- `restocked`: units that were refunded before they were shipped, and are not to be shipped any more.
alter table order_items
  add column returning_quantity integer not null default 0 check (returning_quantity >= 0),
  add column returned_quantity integer not null default 0 check (returned_quantity >= 0),
  add column restocked_quantity integer not null default 0 check (restocked_quantity >= 0),
  add constraint order_items_returned_check
      check (returning_quantity + returned_quantity <= shipped_quantity) not valid,
  add constraint order_items_restocked_check
      check (restocked_quantity <= refunded_quantity) not valid,
  drop constraint order_items_units_check,
  add constraint order_items_units_check
      check (packed_quantity + shipped_quantity + restocked_quantity <= quantity) not valid;
alter table order_items validate constraint order_items_returned_check;
alter table order_items validate constraint order_items_restocked_check;
alter table order_items validate constraint order_items_units_check;

-- The units of a refund that leave the open quantity and go back to stock once it succeeds.
alter table refund_items
  add column restocked_quantity integer not null default 0,
  add constraint refund_items_restocked_check
      check (restocked_quantity between 0 and quantity) not valid;
alter table refund_items validate constraint refund_items_restocked_check;

create table returns (
  tenant_ref      text        not null references stores,
  id              uuid        not null default fd_uuid(),
  order_id        uuid        not null,
  number          integer     not null check (number > 0),
  return_number   text        not null check (length(return_number) <= 50),
  status          text        not null check (status in ('requested', 'approved', 'declined', 'partially_received',
                                                         'received', 'closed', 'cancelled')),
  requested_by    text        not null check (requested_by in ('shopper', 'merchant')),
  note            text        check (length(note) <= 2000),
  instructions    text        check (length(instructions) <= 5000),
  label_url       text        check (length(label_url) <= 2000),
  decline_reason  text        check (length(decline_reason) <= 2000),
  created_by      text        not null check (length(created_by) <= 200),
  created_at      timestamptz not null default fd_now(),
  updated_at      timestamptz not null default fd_now(),
  approved_at     timestamptz,
  declined_at     timestamptz,
  received_at     timestamptz,
  closed_at       timestamptz,
  cancelled_at    timestamptz,
  primary key (tenant_ref, id),
  unique (tenant_ref, order_id, number),
  foreign key (tenant_ref, order_id) references orders,
  check ((status = 'declined') = (declined_at is not null)),
  check ((status = 'cancelled') = (cancelled_at is not null)),
  check ((status = 'closed') = (closed_at is not null)),
  check ((status in ('approved', 'partially_received', 'received', 'closed')) <= (approved_at is not null)),
  check ((status = 'received') <= (received_at is not null))
);
call fd_fence('returns', app => 'select, insert, update', worker => 'select, insert, update');

create index returns_newest on returns (tenant_ref, created_at desc, id desc);
create index returns_of_status on returns (tenant_ref, status, created_at desc, id desc);

create table return_lines (
  tenant_ref                text    not null references stores,
  id                        uuid    not null default fd_uuid(),
  return_id                 uuid    not null,
  order_item_id             uuid    not null,
  position                  integer not null,
  variant_id                uuid    not null,
  sku                       text    not null,
  product_name              text    not null,
  label                     text,
  reason                    text    check (length(reason) <= 2000),
  quantity                  integer not null check (quantity > 0),
  -- What became of the units: each came and has a disposition, or is known to be missing.
  restocked_quantity        integer not null default 0 check (restocked_quantity >= 0),
  damaged_quantity          integer not null default 0 check (damaged_quantity >= 0),
  quarantined_quantity      integer not null default 0 check (quarantined_quantity >= 0),
  missing_quantity          integer not null default 0 check (missing_quantity >= 0),
  -- Where the quarantined units lie.
  quarantine_location_id    text,
  -- What was decided about the money of the units that came: refunded by a receipt, refunded before they came, or not
  -- to be refunded.
  refunded_quantity         integer not null default 0 check (refunded_quantity >= 0),
  already_refunded_quantity integer not null default 0 check (already_refunded_quantity >= 0),
  waived_quantity           integer not null default 0 check (waived_quantity >= 0),
  refund_cents              bigint  not null default 0 check (refund_cents >= 0),
  primary key (tenant_ref, id),
  constraint return_lines_once unique (tenant_ref, return_id, order_item_id),
  foreign key (tenant_ref, return_id) references returns,
  foreign key (tenant_ref, order_item_id) references order_items,
  check (restocked_quantity + damaged_quantity + quarantined_quantity + missing_quantity <= quantity),
  check (refunded_quantity + already_refunded_quantity + waived_quantity
         <= restocked_quantity + damaged_quantity + quarantined_quantity)
);
call fd_fence('return_lines', app => 'select, insert, update', worker => 'select, insert, update');
create index return_lines_of_item on return_lines (tenant_ref, order_item_id);

-- One arrival of goods, with the settlement of their money.
create table return_receipts (
  tenant_ref            text        not null references stores,
  id                    uuid        not null,
  return_id             uuid        not null,
  number                integer     not null check (number > 0),
  status                text        not null check (status in ('pending', 'settled', 'failed')),
  method                text        not null check (method in ('original', 'store_credit', 'none')),
  location_id           text        not null,
  restocking_fee_cents  bigint      not null default 0 check (restocking_fee_cents >= 0),
  refund_shipping_cents bigint      not null default 0 check (refund_shipping_cents >= 0),
  -- What a gateway has refunded of an earlier receipt whose refund failed: this one refunds so much less.
  deducted_cents        bigint      not null default 0 check (deducted_cents >= 0),
  refund_id             uuid,
  -- What each line of the return gets: [{return_line_id, quantity, refund_cents}].
  shares                jsonb       not null default '[]',
  movement_ids          uuid[]      not null default '{}',
  created_by            text        not null check (length(created_by) <= 200),
  created_at            timestamptz not null default fd_now(),
  settled_at            timestamptz,
  primary key (tenant_ref, id),
  unique (tenant_ref, return_id, number),
  foreign key (tenant_ref, return_id) references returns,
  foreign key (tenant_ref, refund_id) references refunds,
  check (refund_id is not null or status = 'settled'),
  check ((status = 'settled') = (settled_at is not null))
);
call fd_fence('return_receipts', app => 'select, insert, update', worker => 'select, insert, update');
create unique index return_receipts_of_refund on return_receipts (tenant_ref, refund_id)
 where refund_id is not null;

create table return_receipt_lines (
  tenant_ref      text    not null references stores,
  receipt_id      uuid    not null,
  return_line_id  uuid    not null,
  disposition     text    not null check (disposition in ('restock', 'damaged', 'quarantine', 'missing')),
  quantity        integer not null check (quantity > 0),
  -- How many of the units came on hand: those to be restocked, of a variant that is tracked.
  stock_quantity  integer not null check (stock_quantity between 0 and quantity),
  primary key (tenant_ref, receipt_id, return_line_id, disposition),
  foreign key (tenant_ref, receipt_id) references return_receipts,
  foreign key (tenant_ref, return_line_id) references return_lines
);
call fd_fence('return_receipt_lines', app => 'select, insert', worker => 'select, insert');

-- Units that were set aside and are so no more.
create table return_resolutions (
  tenant_ref      text        not null references stores,
  id              uuid        not null default fd_uuid(),
  return_line_id  uuid        not null,
  disposition     text        not null check (disposition in ('restock', 'damaged')),
  quantity        integer     not null check (quantity > 0),
  stock_quantity  integer     not null check (stock_quantity between 0 and quantity),
  created_by      text        not null check (length(created_by) <= 200),
  created_at      timestamptz not null default fd_now(),
  primary key (tenant_ref, id),
  foreign key (tenant_ref, return_line_id) references return_lines
);
call fd_fence('return_resolutions', app => 'select, insert', worker => 'select, insert');
create index return_resolutions_of_line on return_resolutions (tenant_ref, return_line_id);

-- The answer of a receipt is kept for good: repeated after its key was forgotten, it would refund again.
drop index idempotency_keys_old;
create index idempotency_keys_old on idempotency_keys (tenant_ref, answered_at)
 where state = 'answered'
   and (operation not in ('refund', 'cancel', 'edit', 'release', 'return_receive', 'gift_card_issue',
                          'gift_card_batch', 'gift_card_adjust', 'store_credit_credit',
                          'store_credit_debit')
        or (response_status >= 300 and recovery_point = 'started'));
