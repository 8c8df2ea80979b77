-- A lease and the time of the next attempt are two things. `lease_until` says how long the process that
-- works on a key may do so; `next_attempt_at` says when a key whose outcome is unknown is looked at again,
-- and that no process works on it until then. A running key has one of the two.
alter table idempotency_keys add column next_attempt_at timestamptz;
-- When a running key may be taken over. A column, and no expression in each statement: under row level
-- security PostgreSQL never looks up a coalesce in an index.
alter table idempotency_keys add column due_at timestamptz
  generated always as (coalesce(next_attempt_at, lease_until)) stored;
alter table idempotency_keys drop constraint idempotency_keys_check1;
alter table idempotency_keys
  add constraint idempotency_keys_running
      check (state = 'answered' or (lease_until is null) <> (next_attempt_at is null));

drop index idempotency_keys_stale;
create index idempotency_keys_due on idempotency_keys (due_at)
  where state = 'running';

-- Who works on an order, and until when, are two things as well. `operation_id` names the operation that
-- has the order; its claim in idempotency_keys says until when a process may work on it.
alter table orders rename column operation_lease_token to operation_id;
alter table orders drop column operation_lease_until;
alter table orders add constraint orders_operation
  check ((operation_id is null) = (operation is null));
