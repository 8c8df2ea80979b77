-- Indexes that no statement needs, an index that kept updates of charges from being cheap, and storage
-- parameters for the tables that grow with the orders (decision 0021).

-- Read by nothing: orders are found by email_folded, customers by the hash of their reference.
drop index orders_by_email;
drop index customers_by_ref;

-- One index for an exact customer, newest first, and for the beginning of a reference: operators of
-- text_pattern_ops compare bytes, and equality is the same for both.
drop index orders_by_customer_prefix;
drop index orders_of_customer;
create index orders_of_customer
  on orders (tenant_ref, customer_ref text_pattern_ops, created_at desc, id desc);

-- An update is cheap (HOT: no index gets a new entry) if it changes no column that stands in an index or in
-- the condition of one, and if the page has room. The status of a charge stood in such a condition, and
-- every checkout changes it. Only an authorised charge has a time to expire at.
update charges set authorized_until = null where status <> 'authorized' and authorized_until is not null;
drop index charges_expiring;
create index charges_expiring on charges (authorized_until) where authorized_until is not null;

-- Room in each page for the next version of its rows: a checkout changes an order, its charge, its attempt
-- and its reservation once, and its key twice. Pages that are full already stay as they are.
alter table orders set (fillfactor = 80);
alter table charges set (fillfactor = 80);
alter table payment_attempts set (fillfactor = 80);
alter table inventory_reservations set (fillfactor = 80);
alter table sim_charges set (fillfactor = 80);
alter table idempotency_keys set (fillfactor = 70);
-- Changed by some orders only: shipped and refunded lines, customers who come back.
alter table order_items set (fillfactor = 90);
alter table customers set (fillfactor = 90);

-- By default a table is vacuumed after a fifth of its rows has changed, and analysed after a tenth: for a
-- million orders that is months. These follow within a fiftieth. Tables that only grow are vacuumed after
-- inserts, for their visibility map, by which a count or a list reads the index alone.
do $$
declare
  one text;
begin
  foreach one in array array['orders', 'order_items', 'charges', 'payment_attempts', 'inventory_reservations',
                             'idempotency_keys', 'customers', 'outbox', 'ledger_journals', 'ledger_entries',
                             'ledger_seals', 'ledger_unsealed', 'fraud_decisions', 'refunds', 'subscriptions',
                             'gift_cards', 'gift_card_transactions', 'store_credit_transactions',
                             'coupon_codes', 'coupon_redemptions', 'gateway_events', 'sim_charges',
                             'sim_journal', 'products', 'variants', 'product_search']
  loop
    execute format('alter table %I set (autovacuum_vacuum_scale_factor = 0.02,
                                        autovacuum_vacuum_insert_scale_factor = 0.05,
                                        autovacuum_analyze_scale_factor = 0.02)', one);
  end loop;
end $$;
