-- A store's site: every manifest it ever had, by number. Nothing is changed or deleted; publishing
-- moves the store's `active_version`, also back.

create table site_versions (
  tenant_ref    text        not null references stores,
  version       integer     not null check (version > 0),
  -- The bytes that came. Never jsonb, which reorders keys and rewrites numbers.
  manifest      text        not null,
  -- SHA-256 of the RFC 8785 form, in hex.
  row_hash      text        not null check (row_hash ~ '^[0-9a-f]{64}$'),
  brand_name    text        check (length(brand_name) <= 200),
  -- Which claim rules it was held against.
  rules_version text        not null check (length(rules_version) <= 40),
  created_by    text        not null check (length(created_by) <= 200),
  created_at    timestamptz not null default now(),
  primary key (tenant_ref, version)
);

call fd_fence('site_versions', app => 'select, insert', worker => 'select');
call fd_freeze('site_versions');

alter table stores add constraint stores_active_version_fkey
  foreign key (tenant_ref, active_version) references site_versions (tenant_ref, version);
