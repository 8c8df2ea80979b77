-- A merchant can have events sent again that an endpoint has missed. Such a delivery says so to its receiver, and the
-- queue knows it: replays of an endpoint go through one lane, in the order of their numbers.
alter table webhook_deliveries add column replayed_at timestamptz;
alter table webhook_queue add column is_replay boolean not null default false;
create index webhook_queue_replays on webhook_queue (tenant_ref, subscription_id, due_at) where is_replay;
