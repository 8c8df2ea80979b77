-- How many bytes of pictures a store has with us, so that no store fills the disk of all.

create table media_usage (
  tenant_ref text   primary key references stores,
  -- Of all that lies in the blob store: also of what is being uploaded, or was deleted and can still
  -- come back.
  bytes      bigint not null check (bytes >= 0)
);

call fd_fence('media_usage', app => 'select, insert, update', worker => 'select, update');

-- Whoever adds holds the row to the end of the transaction, and so knows what it comes to.
create function fd_media_added() returns trigger
language plpgsql set search_path = public, pg_temp as $$
begin
  insert into media_usage as u (tenant_ref, bytes) values (new.tenant_ref, new.bytes)
      on conflict (tenant_ref) do update set bytes = u.bytes + excluded.bytes;
  return null;
end $$;

create function fd_media_removed() returns trigger
language plpgsql set search_path = public, pg_temp as $$
begin
  update media_usage set bytes = bytes - old.bytes where tenant_ref = old.tenant_ref;
  return null;
end $$;

create trigger media_added after insert on assets
   for each row execute function fd_media_added();
create trigger media_removed after delete on assets
   for each row execute function fd_media_removed();

revoke all on function fd_media_added(), fd_media_removed() from public;

insert into media_usage (tenant_ref, bytes)
select tenant_ref, sum(bytes) from assets group by tenant_ref;
