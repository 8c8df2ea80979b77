-- What stores owe the operator: plans, usage counted from facts that have their number, and monthly invoices that never
-- change once they are issued. Months are those of UTC; a month is its first day.

-- Who sends the invoices. Its row also numbers them: the number is taken in the transaction that issues, so that none is
-- ever missing.
create table billing_issuers (
  id                text        not null primary key check (id ~ '^[a-z0-9_]{1,40}$'),
  name              text        not null check (length(name) between 1 and 200),
  lines             text[]      not null check (cardinality(lines) <= 10),
  note              text        check (length(note) <= 1000),
  invoice_prefix    text        not null check (invoice_prefix ~ '^[A-Z0-9-]{1,12}$'),
  credit_prefix     text        not null check (credit_prefix ~ '^[A-Z0-9-]{1,12}$'),
  -- How long after its issue an invoice is due.
  payment_days      integer     not null check (payment_days between 0 and 120),
  -- The reminders of an unpaid invoice, in their order: [{"days": after it was due, "text": what the mail says}].
  reminders         jsonb       not null,
  next_invoice      bigint      not null default 1 check (next_invoice > 0),
  next_credit_note  bigint      not null default 1 check (next_credit_note > 0),
  updated_at        timestamptz not null default fd_now(),
  check (invoice_prefix <> credit_prefix)
);
grant select, insert, update on billing_issuers to fd_app;
grant select, update on billing_issuers to fd_worker;
grant select on billing_issuers to fd_operator;

-- Plans. A version is never changed: what a store agreed to is what it pays.
create table billing_plans (
  plan_key    text        not null check (plan_key ~ '^[a-z0-9_-]{1,40}$'),
  version     integer     not null check (version > 0),
  id          uuid        not null default fd_uuid(),
  name        text        not null check (length(name) between 1 and 100),
  tier        text        not null check (length(tier) <= 40),
  currency    text        not null check (currency ~ '^[A-Z]{3}$'),
  base_cents  bigint      not null check (base_cents >= 0),
  -- By meter: {"included": units, "tiers": [{"up_to": units or null, "price_cents": 1, "per": units}]}.
  meters      jsonb       not null,
  features    text[]      not null,
  -- Merchants may ask what it would cost them.
  is_public   boolean     not null,
  created_by  text        not null,
  created_at  timestamptz not null default fd_now(),
  primary key (plan_key, version)
);
call fd_freeze('billing_plans');
grant select, insert on billing_plans to fd_app;
grant select on billing_plans to fd_worker, fd_operator;
create index billing_plans_newest on billing_plans (created_at desc, id desc);

-- The plan of every store that the operator has given no other. It costs nothing.
insert into billing_plans (plan_key, version, name, tier, currency, base_cents, meters, features, is_public, created_by)
values ('default', 1, 'Default', 'standard', 'USD', 0, '{}', '{}', true, 'system');

-- How far a store is metered and billed.
create table billing_accounts (
  tenant_ref       text        not null references stores,
  id               uuid        not null default fd_uuid(),
  -- The oldest month that is not closed. What belongs to an earlier one is counted here.
  open_month       date        not null check (extract(day from open_month) = 1),
  -- Of all its invoices: set by the first plan or charge that costs something.
  currency         text        check (currency ~ '^[A-Z]{3}$'),
  -- The last journal and the last event that are counted, by their numbers.
  ledger_position  bigint      not null default 0 check (ledger_position >= 0),
  event_position   bigint      not null default 0 check (event_position >= 0),
  -- Journals up to this one are never billed: of before billing began, or of the time as a sandbox.
  ledger_start     bigint      not null default 0 check (ledger_start between 0 and ledger_position),
  -- The last day whose media are counted.
  media_day        date,
  -- When everything that had its number was counted.
  counted_at       timestamptz,
  due_at           timestamptz default fd_now(),
  lease_until      timestamptz,
  lease_token      uuid,
  primary key (tenant_ref),
  unique (tenant_ref, id)
);
call fd_fence('billing_accounts', app => 'select, insert, update', worker => 'select, insert, update');
call fd_due('billing_accounts');
create index billing_accounts_due on billing_accounts (due_at) where due_at is not null;
create index billing_accounts_due_of_tenant on billing_accounts (tenant_ref, due_at) where due_at is not null;

create function fd_this_month() returns date
language sql stable as $$
  select date_trunc('month', fd_now() at time zone 'UTC')::date
$$;
revoke all on function fd_this_month() from public;
grant execute on function fd_this_month() to fd_app, fd_worker, fd_operator;

-- Every store has an account from its first moment on.
create function fd_open_billing() returns trigger
language plpgsql set search_path = public, pg_temp as $$
begin
  insert into billing_accounts (tenant_ref, open_month) values (new.tenant_ref, fd_this_month())
      on conflict do nothing;
  return null;
end $$;
revoke all on function fd_open_billing() from public;
create trigger opens_billing after insert on stores for each row execute function fd_open_billing();

-- The plans that a store has had. The last one that began on or before a day is its plan on that day.
create table billing_store_plans (
  tenant_ref    text        not null references stores,
  id            uuid        not null default fd_uuid(),
  plan_key      text        not null,
  plan_version  integer     not null,
  from_day      date        not null,
  set_by        text        not null,
  created_at    timestamptz not null default fd_clock(),
  primary key (tenant_ref, id)
);
call fd_fence('billing_store_plans', app => 'select, insert', worker => 'select');
call fd_freeze('billing_store_plans');
create index billing_store_plans_newest on billing_store_plans (tenant_ref, from_day desc, created_at desc, id desc);

-- Calls of the API by key and day. Processes add what they have counted in memory every few seconds.
create table api_calls (
  tenant_ref     text   not null references stores,
  credential_id  uuid   not null,
  day            date   not null,
  calls          bigint not null check (calls > 0),
  -- How many of them are in the usage of a month.
  counted_calls  bigint not null default 0,
  primary key (tenant_ref, credential_id, day),
  check (counted_calls between 0 and calls)
) with (fillfactor = 70);
call fd_fence('api_calls', app => 'select', worker => 'select, update, delete');
create index api_calls_uncounted on api_calls (tenant_ref, credential_id, day) where calls > counted_calls;

-- The last batch of calls that each process has added: one that is sent again, because its answer was lost, is not added
-- again.
create table api_call_writers (
  id          uuid        not null primary key,
  sequence    bigint      not null check (sequence > 0),
  written_at  timestamptz not null default fd_now()
);

-- Adds the calls of many stores by one statement. In the order of the key, so that two processes do not wait for each other
-- in a circle.
create function fd_add_api_calls(writer uuid, batch bigint, tenants text[], credential_ids uuid[], days date[],
                                 counts bigint[])
returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  added integer;
begin
  insert into api_call_writers as w (id, sequence) values (writer, batch)
      on conflict (id) do update set sequence = excluded.sequence, written_at = fd_now()
   where w.sequence < excluded.sequence;
  if not found then return 0; end if;
  insert into api_calls as a (tenant_ref, credential_id, day, calls)
  select t.* from unnest(tenants, credential_ids, days, counts) as t (tenant_ref, credential_id, day, calls)
   order by 1, 2, 3
      on conflict (tenant_ref, credential_id, day) do update set calls = a.calls + excluded.calls;
  get diagnostics added = row_count;
  return added;
end $$;
create policy gate on api_calls to fd_gate using (true) with check (true);
grant select, insert, update on api_calls to fd_gate;
grant select, insert, update on api_call_writers to fd_gate;
grant select, delete on api_call_writers to fd_worker;
grant execute on function fd_now() to fd_gate;
alter function fd_add_api_calls(uuid, bigint, text[], uuid[], date[], bigint[]) owner to fd_gate;
revoke all on function fd_add_api_calls(uuid, bigint, text[], uuid[], date[], bigint[]) from public;
grant execute on function fd_add_api_calls(uuid, bigint, text[], uuid[], date[], bigint[]) to fd_app;

-- What a store has used in a month.
create table billing_usage (
  tenant_ref     text   not null references stores,
  month          date   not null,
  meter          text   not null check (meter in ('orders', 'gross_volume', 'webhook_deliveries', 'media_byte_days',
                                                  'api_calls')),
  -- Of `gross_volume`; otherwise empty.
  currency       text   not null,
  -- Of `api_calls`: the key. Otherwise empty.
  key            text   not null,
  quantity       bigint not null,
  -- The first and the last that is in it: numbers of journals or of events, or days as 20261231.
  from_position  bigint not null,
  to_position    bigint not null check (to_position >= from_position),
  primary key (tenant_ref, month, meter, currency, key)
) with (fillfactor = 80);
call fd_fence('billing_usage', app => 'select, insert, update', worker => 'select, insert, update');

-- The usage of a closed month is what its invoice says.
create function fd_keep_usage() returns trigger
language plpgsql set search_path = public, pg_temp as $$
begin
  if tg_op <> 'INSERT' and exists (select from billing_accounts
                                    where tenant_ref = old.tenant_ref and open_month > old.month)
     or tg_op <> 'DELETE' and exists (select from billing_accounts
                                       where tenant_ref = new.tenant_ref and open_month > new.month) then
    raise exception 'the month is closed' using errcode = 'FD002';
  end if;
  return coalesce(new, old);
end $$;
revoke all on function fd_keep_usage() from public;
create trigger kept before insert or update or delete on billing_usage
  for each row execute function fd_keep_usage();

create table billing_invoices (
  tenant_ref      text        not null references stores,
  id              uuid        not null default fd_uuid(),
  month           date        not null check (extract(day from month) = 1),
  status          text        not null default 'draft' check (status in ('draft', 'open', 'paid', 'void')),
  currency        text        not null check (currency ~ '^[A-Z]{3}$'),
  total_cents     bigint      not null default 0 check (total_cents >= 0),
  issuer_id       text,
  sequence        bigint      check (sequence > 0),
  number          text,
  -- Both sides as they were when it was issued: {name, lines, note} and {name, lines}.
  issuer          jsonb,
  recipient       jsonb,
  issued_at       timestamptz,
  due_at          timestamptz,
  -- These change after the issue; nothing else does.
  paid_cents      bigint      not null default 0 check (paid_cents >= 0),
  credited_cents  bigint      not null default 0 check (credited_cents between 0 and total_cents),
  reminders_sent  integer     not null default 0 check (reminders_sent >= 0),
  remind_at       timestamptz,
  lease_until     timestamptz,
  lease_token     uuid,
  created_at      timestamptz not null default fd_clock(),
  primary key (tenant_ref, id),
  constraint billing_invoices_month unique (tenant_ref, month),
  check ((status = 'draft') = (number is null)),
  check ((number is null) = (sequence is null) and (number is null) = (issuer_id is null)
         and (number is null) = (issuer is null) and (number is null) = (recipient is null)
         and (number is null) = (issued_at is null) and (number is null) = (due_at is null)),
  check (status = 'open' or remind_at is null),
  check (status <> 'draft' or (paid_cents = 0 and credited_cents = 0))
);
call fd_fence('billing_invoices', app => 'select, insert, update', worker => 'select, insert, update, delete');
call fd_due('billing_invoices');
create index billing_invoices_due on billing_invoices (remind_at) where remind_at is not null;
create index billing_invoices_due_of_tenant on billing_invoices (tenant_ref, remind_at) where remind_at is not null;
create index billing_invoices_newest on billing_invoices (tenant_ref, created_at desc, id desc);
create index billing_invoices_of_status on billing_invoices (tenant_ref, status, created_at desc, id desc);
create index billing_invoices_all_newest on billing_invoices (created_at desc, id desc);
create index billing_invoices_all_of_status on billing_invoices (status, created_at desc, id desc);
-- One number is never given twice.
create unique index billing_invoices_number on billing_invoices (issuer_id, sequence) where sequence is not null;

create table billing_invoice_lines (
  tenant_ref     text        not null references stores,
  id             uuid        not null default fd_uuid(),
  invoice_id     uuid        not null,
  kind           text        not null check (kind in ('plan', 'usage', 'charge')),
  description    text        not null check (length(description) <= 500),
  amount_cents   bigint      not null check (amount_cents >= 0),
  -- Of plans and usage.
  plan_key       text,
  plan_version   integer,
  -- Of plans: its days, the last one included.
  from_day       date,
  to_day         date,
  -- Of usage.
  meter          text,
  quantity       bigint,
  price          jsonb,
  from_position  bigint,
  to_position    bigint,
  -- Of charges: who made it, and under which Idempotency-Key.
  created_by     text,
  request_key    text        check (length(request_key) <= 255),
  created_at     timestamptz not null default fd_clock(),
  primary key (tenant_ref, id),
  constraint billing_charges_once unique (tenant_ref, request_key),
  foreign key (tenant_ref, invoice_id) references billing_invoices,
  check ((kind = 'charge') = (request_key is not null)),
  check ((kind = 'usage') = (meter is not null)),
  check ((kind = 'plan') = (from_day is not null))
);
call fd_fence('billing_invoice_lines', app => 'select, insert', worker => 'select, insert, delete');
create index billing_invoice_lines_of_invoice on billing_invoice_lines (tenant_ref, invoice_id, created_at, id);

-- An issued invoice is final, for every role and for us: it is corrected by credit notes.
create function fd_keep_invoice() returns trigger
language plpgsql set search_path = public, pg_temp as $$
declare
  changing constant text[] := array['status', 'paid_cents', 'credited_cents', 'reminders_sent', 'remind_at',
                                    'lease_until', 'lease_token'];
begin
  if old.status = 'draft' then return coalesce(new, old); end if;
  if tg_op = 'DELETE' or new.status = 'draft'
     or to_jsonb(new) - changing is distinct from to_jsonb(old) - changing then
    raise exception 'an issued invoice is final' using errcode = 'FD002';
  end if;
  return new;
end $$;
revoke all on function fd_keep_invoice() from public;
create trigger final before update or delete on billing_invoices
  for each row execute function fd_keep_invoice();
create trigger not_emptied before truncate on billing_invoices
  for each statement execute function fd_refuse_change();

create function fd_keep_invoice_line() returns trigger
language plpgsql set search_path = public, pg_temp as $$
begin
  if tg_op = 'UPDATE'
     or exists (select from billing_invoices i
                 where i.tenant_ref = coalesce(new.tenant_ref, old.tenant_ref)
                   and i.id = coalesce(new.invoice_id, old.invoice_id) and i.status <> 'draft') then
    raise exception 'the lines of an issued invoice are final' using errcode = 'FD002';
  end if;
  return coalesce(new, old);
end $$;
revoke all on function fd_keep_invoice_line() from public;
create trigger final before insert or update or delete on billing_invoice_lines
  for each row execute function fd_keep_invoice_line();
create trigger not_emptied before truncate on billing_invoice_lines
  for each statement execute function fd_refuse_change();

-- Money that came for an invoice, or was paid back after a credit note, as the operator recorded it.
create table billing_payments (
  tenant_ref    text        not null references stores,
  id            uuid        not null default fd_uuid(),
  invoice_id    uuid        not null,
  kind          text        not null check (kind in ('payment', 'payout')),
  amount_cents  bigint      not null check (amount_cents > 0),
  paid_on       date        not null,
  reference     text        check (length(reference) <= 200),
  created_by    text        not null,
  request_key   text        not null check (length(request_key) <= 255),
  created_at    timestamptz not null default fd_clock(),
  primary key (tenant_ref, id),
  constraint billing_payments_once unique (tenant_ref, request_key),
  foreign key (tenant_ref, invoice_id) references billing_invoices
);
call fd_fence('billing_payments', app => 'select, insert', worker => 'select');
call fd_freeze('billing_payments');
create index billing_payments_of_invoice on billing_payments (tenant_ref, invoice_id, created_at, id);

create table billing_credit_notes (
  tenant_ref    text        not null references stores,
  id            uuid        not null default fd_uuid(),
  invoice_id    uuid        not null,
  issuer_id     text        not null,
  sequence      bigint      not null check (sequence > 0),
  number        text        not null,
  issuer        jsonb       not null,
  recipient     jsonb       not null,
  amount_cents  bigint      not null check (amount_cents > 0),
  reason        text        not null check (length(reason) between 1 and 500),
  created_by    text        not null,
  request_key   text        not null check (length(request_key) <= 255),
  created_at    timestamptz not null default fd_clock(),
  primary key (tenant_ref, id),
  constraint billing_credit_notes_once unique (tenant_ref, request_key),
  foreign key (tenant_ref, invoice_id) references billing_invoices
);
call fd_fence('billing_credit_notes', app => 'select, insert', worker => 'select');
call fd_freeze('billing_credit_notes');
create index billing_credit_notes_of_invoice on billing_credit_notes (tenant_ref, invoice_id, created_at, id);
create unique index billing_credit_notes_number on billing_credit_notes (issuer_id, sequence);

-- The reminders of unpaid invoices. A step is taken once.
create table billing_reminders (
  tenant_ref  text        not null references stores,
  invoice_id  uuid        not null,
  step        integer     not null check (step >= 0),
  -- Null: the store has no address that mail can be sent to.
  recipient   text        check (length(recipient) <= 254),
  created_at  timestamptz not null default fd_clock(),
  primary key (tenant_ref, invoice_id, step),
  foreign key (tenant_ref, invoice_id) references billing_invoices
);
call fd_fence('billing_reminders', app => 'select', worker => 'select, insert');
call fd_freeze('billing_reminders');

-- Stores that exist are counted from now on: nothing that was before is billed.
insert into billing_accounts (tenant_ref, open_month, ledger_position, ledger_start, event_position)
select s.tenant_ref, fd_this_month(), l.sequence, l.sequence,
       coalesce((select sealed_to from webhook_feeds f where f.tenant_ref = s.tenant_ref), 0)
  from stores s
 cross join lateral (select coalesce(max(sequence), 0) as sequence
                       from ledger_seals where tenant_ref = s.tenant_ref) l;
