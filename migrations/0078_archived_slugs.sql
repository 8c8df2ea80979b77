-- An archived product gives its slug free. SKUs stay used: orders and stock name them.
alter table products drop constraint products_slug;
create unique index products_slug on products (tenant_ref, slug) where status <> 'archived';
