-- What shoppers see: pictures, fonts, and every version of a store's site.

-- Pictures and web fonts of a store, each named by the hash of its bytes.
create table assets (
  tenant_ref    text        not null references stores,
  -- The collector's lease names this id. The API names an asset by its hash.
  id            uuid        not null default fd_uuid(),
  -- The hash of the bytes as stored, without the metadata that a camera added.
  sha256        text        not null check (sha256 ~ '^[0-9a-f]{64}$'),
  -- Fonts are `woff2`.
  extension     text        not null
                check (extension in ('png', 'jpg', 'webp', 'gif', 'avif', 'svg', 'woff2')),
  content_type  text        not null
                check ((content_type like 'image/%' or content_type = 'font/woff2')
                       and length(content_type) <= 40),
  bytes         integer     not null check (bytes > 0),
  -- Null for a drawing that states no size.
  width         integer     check (width > 0),
  height        integer     check (height > 0),
  alt           text        check (length(alt) <= 1000),
  created_at    timestamptz not null default fd_now(),
  updated_at    timestamptz not null default fd_now(),
  -- Null until the bytes are stored: the row is written first, so that the collector does not remove the bytes.
  stored_at     timestamptz,
  deleted_at    timestamptz,
  -- From when on the collector may remove row and bytes. Null: they stay.
  collect_at    timestamptz,
  -- The bytes are being removed. This cannot be undone: the same bytes, uploaded again, become a new row.
  collecting_at timestamptz,
  lease_until   timestamptz,
  lease_token   uuid,
  -- Whether a page or product uses the asset. Stored, so that the unused assets are a range of an index.
  is_used       boolean     not null default false,
  primary key (tenant_ref, sha256),
  unique (tenant_ref, id),
  check ((collect_at is not null) = (stored_at is null or deleted_at is not null)),
  check (collecting_at is null or collect_at is not null)
);
call fd_fence('assets', app => 'select, insert, update', worker => 'select, update, delete');
call fd_due('assets');

create index assets_newest on assets (tenant_ref, created_at desc, sha256 desc)
 where stored_at is not null and deleted_at is null;
create index assets_due on assets (collect_at) where collect_at is not null;
create index assets_due_of_tenant on assets (tenant_ref, collect_at) where collect_at is not null;
-- A lease is on an id, which the key of an asset does not have: without this index each claim and each result
-- would read all assets of the store.
create unique index assets_of_id on assets (tenant_ref, id);
create index assets_of_type on assets (tenant_ref, content_type, created_at desc, sha256 desc)
  where stored_at is not null and deleted_at is null;
create index assets_unused on assets (tenant_ref, created_at desc, sha256 desc)
  where stored_at is not null and deleted_at is null and not is_used;

-- Smaller forms of a picture, made when first asked for. Their bytes lie beside the original's.
create table asset_forms (
  tenant_ref  text        not null references stores,
  sha256      text        not null,
  -- The maximum width of this form.
  width       integer     not null check (width > 0),
  -- The hash of the form's own bytes.
  form_sha256 text        not null check (form_sha256 ~ '^[0-9a-f]{64}$'),
  bytes       integer     not null check (bytes > 0),
  created_at  timestamptz not null default fd_now(),
  primary key (tenant_ref, sha256, width),
  foreign key (tenant_ref, sha256) references assets on delete cascade
);
call fd_fence('asset_forms', app => 'select, insert, update', worker => 'select');

-- Which owner uses which asset. No foreign key: a site's manifest is stored unchanged, also when it names an asset
-- that does not exist (yet).
create table asset_refs (
  tenant_ref text not null references stores,
  sha256     text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  owner_kind text not null check (owner_kind in ('product', 'site')),
  -- A product's id, or the number of a site's version.
  owner_id   text not null check (length(owner_id) between 1 and 100),
  primary key (tenant_ref, sha256, owner_kind, owner_id)
);
call fd_fence('asset_refs', app => 'select, insert, delete', worker => 'select, delete');

create index asset_refs_of_owner on asset_refs (tenant_ref, owner_kind, owner_id);

-- Keeps `is_used` of the assets whose uses change. The lock comes first: of two transactions that remove the last two
-- uses, the second one then sees that none is left. Assets are locked in the order that the whole platform uses.
create function fd_note_uses() returns trigger
  language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  one record;
begin
  for one in
    select a.tenant_ref, a.sha256
      from assets a
     where (a.tenant_ref, a.sha256) in (select c.tenant_ref, c.sha256 from changed c)
     order by a.tenant_ref, a.sha256
       for no key update
  loop
    update assets a
       set is_used = not a.is_used
     where a.tenant_ref = one.tenant_ref and a.sha256 = one.sha256
       and a.is_used <> exists (select from asset_refs r
                                 where r.tenant_ref = a.tenant_ref and r.sha256 = a.sha256);
  end loop;
  return null;
end $$;

revoke all on function fd_note_uses from public;

create trigger used_insert after insert on asset_refs
  referencing new table as changed
  for each statement execute function fd_note_uses();
create trigger used_delete after delete on asset_refs
  referencing old table as changed
  for each statement execute function fd_note_uses();

-- How many bytes of assets a store has, so that no store fills the disk of all.
create table media_usage (
  tenant_ref text   primary key references stores,
  -- All bytes in the blob store, also those that are being uploaded, or were deleted and can still be restored.
  bytes      bigint not null check (bytes >= 0)
);
call fd_fence('media_usage', app => 'select, insert, update', worker => 'select, update');

-- Adds to the counter. The caller holds the row to the end of its transaction, and so knows the sum.
create function fd_media_added() returns trigger
language plpgsql set search_path = public, pg_temp as $$
begin
  insert into media_usage as u (tenant_ref, bytes) values (new.tenant_ref, new.bytes)
      on conflict (tenant_ref) do update set bytes = u.bytes + excluded.bytes;
  return null;
end $$;

-- Subtracts from the counter.
create function fd_media_removed() returns trigger
language plpgsql set search_path = public, pg_temp as $$
begin
  update media_usage set bytes = bytes - old.bytes where tenant_ref = old.tenant_ref;
  return null;
end $$;

revoke all on function fd_media_added, fd_media_removed from public;

create trigger media_added after insert on assets
   for each row execute function fd_media_added();
create trigger media_removed after delete on assets
   for each row execute function fd_media_removed();

-- A store's site: every manifest it ever had, by number. Nothing is changed; publishing moves the store's
-- `active_version`, also back. An operator may let older versions be deleted.
create table site_versions (
  tenant_ref    text        not null references stores,
  version       integer     not null check (version > 0),
  -- The exact bytes that were sent. Never jsonb, which reorders keys and rewrites numbers.
  manifest      text        not null,
  -- SHA-256 of the RFC 8785 form, in hex.
  row_hash      text        not null check (row_hash ~ '^[0-9a-f]{64}$'),
  brand_name    text        check (length(brand_name) <= 200),
  -- The version of the claim rules that it was scanned with.
  rules_version text        not null check (length(rules_version) <= 40),
  created_by    text        not null check (length(created_by) <= 200),
  created_at    timestamptz not null default fd_now(),
  primary key (tenant_ref, version)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02,
        autovacuum_vacuum_insert_scale_factor = 0.05);
call fd_fence('site_versions', app => 'select, insert', worker => 'select');
call fd_due('site_versions');
call fd_freeze_young('site_versions', 'created_at', '28 days');
call fd_meter('site_versions', $$('site_versions', 1), ('site_bytes', octet_length(s.manifest))$$, false);

-- The versions that `stores` refers to.
alter table stores
  add constraint stores_active_version_fkey
      foreign key (tenant_ref, active_version) references site_versions (tenant_ref, version),
  add foreign key (tenant_ref, previous_version) references site_versions (tenant_ref, version);
