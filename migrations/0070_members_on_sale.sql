-- Whether a product of a collection is active: stored with the membership, so that a shopper's page of a
-- collection, and the number of its products, are a range of an index. Joined, every member is looked up.
alter table collection_products add column on_sale boolean not null default false;

update collection_products m
   set on_sale = true
  from products p
 where p.tenant_ref = m.tenant_ref and p.id = m.product_id and p.status = 'active';

create index collection_products_on_sale
  on collection_products (tenant_ref, collection_id, position, product_id) where on_sale;

-- The lock keeps the product's status until the membership is committed. A change of the status waits for
-- it, and then finds the membership.
create function fd_member_on_sale() returns trigger
  language plpgsql as $$
begin
  select p.status = 'active' into new.on_sale
    from products p
   where p.tenant_ref = new.tenant_ref and p.id = new.product_id
     for share;
  -- Without the product its foreign key refuses the membership.
  new.on_sale := coalesce(new.on_sale, false);
  return new;
end $$;

create function fd_members_on_sale() returns trigger
  language plpgsql as $$
begin
  update collection_products m
     set on_sale = new.status = 'active'
   where m.tenant_ref = new.tenant_ref and m.product_id = new.id;
  return null;
end $$;
revoke all on function fd_member_on_sale(), fd_members_on_sale() from public;

create trigger on_sale before insert on collection_products
  for each row execute function fd_member_on_sale();
create trigger on_sale after update of status on products
  for each row when (old.status <> new.status) execute function fd_members_on_sale();
