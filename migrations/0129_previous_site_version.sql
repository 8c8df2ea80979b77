-- The version that was published before the active one. It stays with it where an operator lets older versions be deleted, so that a
-- merchant can always go back.
alter table stores add column previous_version integer check (previous_version > 0);
alter table stores add foreign key (tenant_ref, previous_version) references site_versions (tenant_ref, version);

update stores as s
   set previous_version = (select max(v.version) from site_versions as v
                            where v.tenant_ref = s.tenant_ref and v.version < s.active_version)
 where s.active_version > 1;
