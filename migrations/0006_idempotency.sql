-- One row for each Idempotency-Key: who runs it, how far it has come, and what was answered.

create table idempotency_keys (
  tenant_ref      text        not null references stores,
  operation       text        not null check (length(operation) <= 40),
  key             text        not null check (length(key) between 1 and 255),
  -- Keyed hash of the canonical request, without card data.
  fingerprint     bytea       not null check (length(fingerprint) = 32),
  state           text        not null default 'running' check (state in ('running', 'answered')),
  -- The last step that committed; where a crashed request is taken up again.
  recovery_point  text        not null default 'started' check (length(recovery_point) <= 40),
  -- What the operation made, e.g. the order's id.
  resource_id     uuid,
  lease_until     timestamptz,
  lease_token     uuid,
  response_status integer     check (response_status between 200 and 499),
  -- The bytes that were sent: a replay repeats them.
  response_body   text,
  created_at      timestamptz not null default now(),
  answered_at     timestamptz,
  primary key (tenant_ref, operation, key),
  check ((state = 'answered') = (answered_at is not null and response_status is not null)),
  -- What runs without a lease would never be taken up again.
  check (state = 'answered' or lease_until is not null)
);

call fd_fence('idempotency_keys', app => 'select, insert, update, delete',
                                  worker => 'select, insert, update, delete');

create policy due on idempotency_keys for select to fd_worker using (true);
create index idempotency_keys_stale on idempotency_keys (lease_until) where state = 'running';
create index idempotency_keys_old on idempotency_keys (answered_at) where state = 'answered';
