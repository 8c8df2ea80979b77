-- Gift cards can be bought. A variant that is one issues a card for each unit when its order is placed. What was paid for it is owed
-- to whoever holds the card: it is no sale, and is neither taxed, discounted nor shipped.

alter table variants
  add column gift_card boolean not null default false,
  add constraint variants_gift_card_price check (not gift_card or price_cents > 0);

alter table orders
  add column gift_card_cents bigint not null default 0,
  add constraint orders_gift_card_check
      check (gift_card_cents between 0 and subtotal_cents - discount_cents) not valid;
alter table orders validate constraint orders_gift_card_check;

alter table order_items
  add column gift_card boolean not null default false,
  add constraint order_items_gift_card_check
      check (not gift_card or (discount_cents = 0 and tax_cents = 0 and shipping_cents = 0 and packed_quantity = 0
                               and shipped_quantity = 0 and restocked_quantity = 0 and not is_subscription)) not valid;
alter table order_items validate constraint order_items_gift_card_check;

alter table refunds
  add column gift_card_cents bigint not null default 0 check (gift_card_cents >= 0),
  drop constraint refunds_check,
  add constraint refunds_parts_check
      check (amount_cents = product_cents + tax_cents + shipping_cents + gift_card_cents) not valid;
alter table refunds validate constraint refunds_parts_check;

-- Who gets the cards of a line, from the checkout on: the cards themselves exist once the order is placed.
create table gift_card_purchases (
  tenant_ref       text        not null references stores,
  order_item_id    uuid        not null,
  order_id         uuid        not null,
  quantity         integer     not null check (quantity > 0),
  -- What each card is worth.
  amount_cents     bigint      not null check (amount_cents between 1 and 100000000000),
  -- The shopper named no one else, so that the card is their own.
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

alter table gift_cards
  add column order_item_id uuid,
  -- When the code is mailed to the recipient; null for at once.
  add column send_at timestamptz,
  add column sent_at timestamptz,
  -- Until when the encrypted code is kept: a bought card's mail may wait for its day, and may be sent again after it.
  add column code_until timestamptz,
  -- The refund that is taking the card back, and how much of it. Until that has ended the card cannot be used.
  add column pending_refund_id uuid,
  add column pending_refund_cents bigint,
  add constraint gift_cards_pending_refund_check
      check ((pending_refund_id is null) = (pending_refund_cents is null)
             and pending_refund_cents between 1 and balance_cents - held_cents);
-- The worker places orders whose process has stopped, and issues their cards.
grant insert on gift_cards to fd_worker;
update gift_cards set code_until = created_at + interval '24 hours' where code_sealed is not null;
alter table gift_cards
  alter column code_until set default fd_now() + interval '24 hours';
create index gift_cards_of_order on gift_cards (tenant_ref, issued_order_id) where issued_order_id is not null;
create index gift_cards_of_refund on gift_cards (tenant_ref, pending_refund_id) where pending_refund_id is not null;
drop index gift_cards_shown;
create index gift_cards_shown on gift_cards (tenant_ref, code_until) where code_sealed is not null;

-- A gift card has no stock: nothing of it is ever shipped, so that an allocated unit would stay allocated for ever. Both triggers
-- lock the variant, so that of two transactions one sees the other.
create function fd_gift_card_has_no_stock() returns trigger language plpgsql as $$
begin
  if exists (select from inventory_settings as s
              where s.tenant_ref = new.tenant_ref and s.variant_id = new.id and s.track_inventory) then
    raise exception 'the stock of the variant is counted'
      using errcode = 'check_violation', constraint = 'variants_gift_card_stock';
  end if;
  return new;
end $$;
create function fd_stock_is_of_no_gift_card() returns trigger language plpgsql as $$
begin
  if (select v.gift_card from variants as v where v.tenant_ref = new.tenant_ref and v.id = new.variant_id for share) then
    raise exception 'the variant is a gift card'
      using errcode = 'check_violation', constraint = 'inventory_settings_gift_card';
  end if;
  return new;
end $$;
revoke all on function fd_gift_card_has_no_stock(), fd_stock_is_of_no_gift_card() from public;
create trigger gift_card_has_no_stock before update of gift_card on variants
   for each row when (new.gift_card) execute function fd_gift_card_has_no_stock();
create trigger stock_is_of_no_gift_card before insert or update of track_inventory on inventory_settings
   for each row when (new.track_inventory) execute function fd_stock_is_of_no_gift_card();
