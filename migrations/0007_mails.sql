-- Mail to be sent, or, without an SMTP server, kept for the operator to read.

create table mails (
  id              uuid        not null default gen_random_uuid() primary key,
  -- The store it concerns, if any. Mail goes to people, so this is no tenant's table.
  tenant_ref      text,
  recipient       text        not null check (length(recipient) <= 254),
  subject         text        not null check (length(subject) <= 200),
  body            text        not null check (length(body) <= 20000),
  attempt_count   integer     not null default 0 check (attempt_count >= 0),
  -- Null once it is sent or given up.
  next_attempt_at timestamptz default now(),
  lease_until     timestamptz,
  lease_token     uuid,
  last_error      text        check (length(last_error) <= 500),
  created_at      timestamptz not null default now(),
  sent_at         timestamptz
);

grant insert on mails to fd_app;
grant select, insert, update, delete on mails to fd_worker;
grant select on mails to fd_operator;

create index mails_due on mails (next_attempt_at) where next_attempt_at is not null;
