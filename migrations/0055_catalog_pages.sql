-- Pages of a catalog of any size: each page is a range of one of these indexes, and only its own
-- products are joined with their variants and images.

-- The public list, which has the active products, and the merchant's list by status.
create index products_by_status on products (tenant_ref, status, created_at desc, id desc);

-- The products of a collection, in its own order.
create index collection_products_in_order
  on collection_products (tenant_ref, collection_id, position, product_id);
