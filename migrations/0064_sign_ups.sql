-- Sign-ups wait side by side until one of them proves the address: an address is unique among verified
-- accounts only.
alter table owners drop constraint owners_email_key;
create unique index owners_verified_email on owners (email) where email_verified_at is not null;
create index owners_by_email on owners (email);
create index owners_pending on owners (created_at) where email_verified_at is null;

grant delete on owners to fd_app;
grant select (id, created_at, email_verified_at), delete on owners to fd_worker;

-- The callers (addresses) that an account was used from. Strangers who try passwords do not lock them out.
create table owner_callers (
  owner_id    uuid        not null references owners on delete cascade,
  -- HMAC-SHA256 of the caller; the address itself is never kept.
  caller_hash bytea       not null check (length(caller_hash) = 32),
  last_at     timestamptz not null,
  primary key (owner_id, caller_hash)
);
create index owner_callers_by_time on owner_callers (last_at);

grant select, insert, update on owner_callers to fd_app;
grant select, delete on owner_callers to fd_worker;
