-- The name of the shopper, from `name` of the checkout or of its address. The label of an address is no name:
-- it says "Home" as often as "Ann Archer".
alter table orders add column customer_name text check (length(customer_name) between 1 and 300);
