-- How far each store's hash chain is verified: a loop computes the links again soon after they were
-- added, and the whole history again and again in slices. Signed with a key that is not in the
-- database, so that no one with access to the database alone can write here that a changed ledger was found in order.
create table ledger_verified (
  tenant_ref    text        not null references stores,
  id            uuid        not null default fd_uuid(),
  -- The number of the newest link, as the numbering loop knows it. Newer than `sequence`: due.
  newest        bigint      not null,
  -- Machine time, as of all work of the platform itself.
  due_at        timestamptz not null,
  lease_until   timestamptz,
  lease_token   uuid,

  -- From here on everything is covered by `mac`. Verified from the first link to this one.
  sequence      bigint      not null default 0 check (sequence >= 0),
  hash          bytea       check (length(hash) = 32),
  -- The sums of the accounts up to there: where a trial balance begins.
  balances      jsonb       not null default '[]',
  verified_at   timestamptz,
  -- How far the history is verified again: first its links, then each journal by its id.
  walk_sequence bigint      not null default 0 check (walk_sequence >= 0),
  walk_hash     bytea       check (length(walk_hash) = 32),
  walk_balances jsonb       not null default '[]',
  walk_journal  uuid,
  walk_due_at   timestamptz,
  -- When the whole history was last verified.
  walked_at     timestamptz,
  -- What does not verify: the kind, the link or journal, and since when it is known.
  fault         text,
  fault_at      text,
  fault_since   timestamptz,
  -- Null: nothing is verified yet.
  mac           bytea       check (length(mac) = 32),
  primary key (tenant_ref),
  check ((sequence = 0) = (hash is null)),
  check ((walk_sequence = 0) = (walk_hash is null)),
  check ((fault is null) = (fault_since is null))
);
call fd_fence('ledger_verified', app => 'select', worker => 'select, insert, update');
create policy due on ledger_verified for select to fd_worker using (true);
create index ledger_verified_due on ledger_verified (due_at);
create index ledger_verified_faults on ledger_verified (tenant_ref) where fault is not null;

insert into ledger_verified (tenant_ref, newest, due_at)
select s.tenant_ref, l.sequence, now()
  from stores s,
       lateral (select sequence from ledger_seals
                 where tenant_ref = s.tenant_ref
                 order by sequence desc
                 limit 1) as l;
