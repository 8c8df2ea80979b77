-- When somebody was last told that what was left undone cannot be ended: it is tried every minute.
alter table idempotency_keys add column alerted_at timestamptz;
