-- What became of each event that a provider sent, for whoever asks why nothing happened.

alter table gateway_events
  -- When the worker came to its outcome. Null: it has not looked yet, or tries again.
  add column handled_at timestamptz,
  add column reason     text check (length(reason) <= 40),
  drop constraint gateway_events_status_check,
  add constraint gateway_events_status_check
      check (status in ('received', 'applied', 'ignored', 'unhandled'));

-- Lists them account by account, newest first.
create index gateway_events_newest
    on gateway_events (tenant_ref, provider, account_ref, received_at desc);
