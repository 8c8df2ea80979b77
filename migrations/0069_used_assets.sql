-- Whether something shows an asset: stored, so that the assets that nothing shows are a range of an index.
alter table assets add column is_used boolean not null default false;

update assets a
   set is_used = true
 where exists (select from asset_refs r where r.tenant_ref = a.tenant_ref and r.sha256 = a.sha256);

create index assets_unused on assets (tenant_ref, created_at desc, sha256 desc)
  where stored_at is not null and deleted_at is null and not is_used;

-- The lock comes first: of two transactions that remove the last two uses, the second one then sees that
-- none is left. In the order in which the platform locks assets.
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
revoke all on function fd_note_uses() from public;

create trigger used_insert after insert on asset_refs
  referencing new table as changed
  for each statement execute function fd_note_uses();
create trigger used_delete after delete on asset_refs
  referencing old table as changed
  for each statement execute function fd_note_uses();
