-- What the claim scanner said of a product's texts: a feed leaves out a product that it refuses. A feed of 100,000
-- products would take a minute if each of its readers had all texts scanned again. A verdict counts for the texts and
-- the rules that it was given for, so that it is never outdated.
create table product_scans (
  tenant_ref    text        not null references stores,
  product_id    uuid        not null,
  text_hash     bytea       not null check (octet_length(text_hash) = 32),
  rules_version text        not null check (length(rules_version) <= 100),
  passed        boolean     not null,
  scanned_at    timestamptz not null default fd_now(),
  primary key (tenant_ref, product_id),
  foreign key (tenant_ref, product_id) references products (tenant_ref, id) on delete cascade
);
call fd_fence('product_scans', app => 'select, insert, update', worker => 'select');
