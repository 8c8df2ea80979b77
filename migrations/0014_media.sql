-- Pictures of a store, each named by the hash of its bytes, and who uses which.

create table assets (
  tenant_ref    text        not null references stores,
  -- What the collector holds a lease on. To the outside an asset is known by its hash.
  id            uuid        not null default gen_random_uuid(),
  -- Of the bytes as they are kept, without what a camera wrote beside the picture.
  sha256        text        not null check (sha256 ~ '^[0-9a-f]{64}$'),
  extension     text        not null check (extension in ('png', 'jpg', 'webp', 'gif', 'avif', 'svg')),
  content_type  text        not null check (content_type like 'image/%' and length(content_type) <= 40),
  bytes         integer     not null check (bytes > 0),
  -- Null for a drawing that names no size.
  width         integer     check (width > 0),
  height        integer     check (height > 0),
  alt           text        check (length(alt) <= 1000),
  created_at    timestamptz not null default now(),
  updated_at    timestamptz not null default now(),
  -- Null until the bytes are in the store: the row comes first, so that no collector takes them away.
  stored_at     timestamptz,
  deleted_at    timestamptz,
  -- From when on row and bytes may go. Null: they stay.
  collect_at    timestamptz,
  -- The bytes are being taken away. There is no way back: the same bytes become a new row.
  collecting_at timestamptz,
  lease_until   timestamptz,
  lease_token   uuid,
  primary key (tenant_ref, sha256),
  unique (tenant_ref, id),
  check ((collect_at is not null) = (stored_at is null or deleted_at is not null)),
  check (collecting_at is null or collect_at is not null)
);

create index assets_newest on assets (tenant_ref, created_at desc, sha256 desc)
 where stored_at is not null and deleted_at is null;

-- Smaller forms of a picture, made when first asked for. Their bytes lie beside the original's.
create table asset_forms (
  tenant_ref  text        not null references stores,
  sha256      text        not null,
  -- The most it may be wide.
  width       integer     not null check (width > 0),
  -- Of the form's own bytes.
  form_sha256 text        not null check (form_sha256 ~ '^[0-9a-f]{64}$'),
  bytes       integer     not null check (bytes > 0),
  created_at  timestamptz not null default now(),
  primary key (tenant_ref, sha256, width),
  foreign key (tenant_ref, sha256) references assets on delete cascade
);

-- Who uses what. No foreign key: a site's manifest is kept as it came, also when it names a picture
-- that is not there (yet).
create table asset_refs (
  tenant_ref text not null references stores,
  sha256     text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  owner_kind text not null check (owner_kind in ('product', 'site')),
  -- A product's id, or the number of a site's version.
  owner_id   text not null check (length(owner_id) between 1 and 100),
  primary key (tenant_ref, sha256, owner_kind, owner_id)
);
create index asset_refs_of_owner on asset_refs (tenant_ref, owner_kind, owner_id);

call fd_fence('assets', app => 'select, insert, update', worker => 'select, update, delete');
call fd_fence('asset_forms', app => 'select, insert, update', worker => 'select');
call fd_fence('asset_refs', app => 'select, insert, delete', worker => 'select');

-- The worker looks over all tenants for who has work, then claims within one.
create policy due on assets for select to fd_worker using (true);
create index assets_due on assets (collect_at) where collect_at is not null;
create index assets_due_of_tenant on assets (tenant_ref, collect_at) where collect_at is not null;
