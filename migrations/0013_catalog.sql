-- What a store sells: products with their variants, and the collections they are shown in.

create table products (
  tenant_ref                  text        not null references stores,
  id                          uuid        not null default gen_random_uuid(),
  -- Lower case and in Unicode's form C, so that one word is one slug.
  slug                        text        not null check (length(slug) between 1 and 200),
  name                        text        not null check (length(name) between 1 and 300),
  description                 text        check (length(description) <= 20000),
  status                      text        not null default 'active'
                              check (status in ('draft', 'active', 'archived')),
  is_subscription             boolean     not null default false,
  subscription_interval       text        check (subscription_interval in ('day', 'week', 'month', 'year')),
  subscription_interval_count integer     check (subscription_interval_count between 1 and 1000),
  subscription_price_cents    bigint      check (subscription_price_cents between 0 and 100000000000),
  metadata                    jsonb       not null default '{}' check (jsonb_typeof(metadata) = 'object'),
  -- Not the transaction's time: products that are made together keep their order.
  created_at                  timestamptz not null default clock_timestamp(),
  updated_at                  timestamptz not null default clock_timestamp(),
  primary key (tenant_ref, id),
  constraint products_slug unique (tenant_ref, slug),
  check (is_subscription = (subscription_interval is not null)),
  check (is_subscription = (subscription_interval_count is not null)),
  check (is_subscription or subscription_price_cents is null)
);
create index products_newest on products (tenant_ref, created_at desc, id desc);

create table variants (
  tenant_ref  text        not null references stores,
  id          uuid        not null default gen_random_uuid(),
  product_id  uuid        not null,
  sku         text        not null check (length(sku) between 1 and 100),
  label       text        check (length(label) <= 300),
  price_cents bigint      not null check (price_cents between 0 and 100000000000),
  currency    text        not null check (currency ~ '^[A-Z]{3}$'),
  -- Where it stands among its product's variants.
  position    integer     not null default 0,
  metadata    jsonb       not null default '{}' check (jsonb_typeof(metadata) = 'object'),
  archived_at timestamptz,
  created_at  timestamptz not null default now(),
  updated_at  timestamptz not null default now(),
  primary key (tenant_ref, id),
  foreign key (tenant_ref, product_id) references products,
  constraint variants_sku unique (tenant_ref, sku)
);
create index variants_of_product on variants (tenant_ref, product_id, position, id);

-- Pictures of a product, in order. The first is its main one. `asset_ref` is what the contract shows:
-- asset:<tenant>/<sha256>.<ext>
create table product_images (
  tenant_ref text    not null references stores,
  product_id uuid    not null,
  asset_ref  text    not null check (length(asset_ref) <= 200),
  alt        text    check (length(alt) <= 1000),
  position   integer not null,
  primary key (tenant_ref, product_id, asset_ref),
  foreign key (tenant_ref, product_id) references products
);

create table collections (
  tenant_ref  text        not null references stores,
  id          uuid        not null default gen_random_uuid(),
  slug        text        not null check (length(slug) between 1 and 200),
  title       text        not null check (length(title) between 1 and 300),
  description text        check (length(description) <= 20000),
  -- Where it stands among the store's collections.
  position    integer     not null default 0,
  created_at  timestamptz not null default now(),
  updated_at  timestamptz not null default now(),
  primary key (tenant_ref, id),
  constraint collections_slug unique (tenant_ref, slug)
);

create table collection_products (
  tenant_ref    text    not null references stores,
  collection_id uuid    not null,
  product_id    uuid    not null,
  position      integer not null,
  primary key (tenant_ref, collection_id, product_id),
  foreign key (tenant_ref, collection_id) references collections on delete cascade,
  foreign key (tenant_ref, product_id) references products
);
create index collection_products_of_product on collection_products (tenant_ref, product_id);

call fd_fence('products', app => 'select, insert, update', worker => 'select');
call fd_fence('variants', app => 'select, insert, update', worker => 'select');
call fd_fence('product_images', app => 'select, insert, update, delete', worker => 'select');
call fd_fence('collections', app => 'select, insert, update, delete', worker => 'select');
call fd_fence('collection_products', app => 'select, insert, update, delete', worker => 'select');
