-- Segments: who a merchant writes to, as conditions over what a person has ordered and agreed to.

create table segments (
  tenant_ref  text        not null references stores,
  id          uuid        not null default fd_uuid(),
  name        text        not null check (length(name) between 1 and 100),
  match       text        not null check (match in ('all', 'any')),
  conditions  jsonb       not null check (jsonb_typeof(conditions) = 'array' and length(conditions::text) <= 131072),
  created_at  timestamptz not null default fd_now(),
  updated_at  timestamptz not null default fd_now(),
  primary key (tenant_ref, id),
  constraint segments_name unique (tenant_ref, name)
);
call fd_fence('segments', app => 'select, insert, update, delete', worker => 'select');
create index segments_newest on segments (tenant_ref, created_at desc, id desc);

insert into usage_limits (limit_key, max) values ('segments', 500);
call fd_meter('segments', $$('segments', 1)$$, false);

-- A person of a store, by their address: what their orders add up to, and whether they agreed to be written to. Conditions
-- are compared with this row alone, so that a segment costs no join over orders. The worker counts the orders; a trigger
-- keeps `consent` equal to the list of the newsletter.
create table segment_people (
  tenant_ref         text        not null references stores,
  email_folded       text        not null check (length(email_folded) <= 320),
  email              text        not null check (length(email) <= 320),
  -- Of the latest order. Null: has never ordered.
  customer_ref       text        check (length(customer_ref) <= 200),
  orders_count       integer     not null default 0 check (orders_count >= 0),
  total_spent_cents  bigint      not null default 0 check (total_spent_cents >= 0),
  refunded_cents     bigint      not null default 0 check (refunded_cents >= 0),
  first_order_at     timestamptz,
  last_order_at      timestamptz,
  -- Where the latest order with an address went: `US`, and `US-CA`.
  country            text        check (length(country) <= 39),
  place              text        check (length(place) <= 80),
  consent            text        not null default 'none' check (consent in ('none', 'given', 'withdrawn')),
  primary key (tenant_ref, email_folded),
  check ((orders_count = 0) = (last_order_at is null)),
  -- A row says something: an order, or a decision of the reader.
  check (orders_count > 0 or consent <> 'none')
) with (fillfactor = 90);
call fd_fence('segment_people', app => 'select, insert, update, delete', worker => 'select, insert, update, delete');

create index segment_people_of_customer on segment_people (tenant_ref, customer_ref) where customer_ref is not null;

-- Which products a person has bought.
create table segment_purchases (
  tenant_ref    text not null references stores,
  product_id    uuid not null,
  email_folded  text not null check (length(email_folded) <= 320),
  primary key (tenant_ref, product_id, email_folded),
  foreign key (tenant_ref, email_folded) references segment_people on delete cascade
);
call fd_fence('segment_purchases', app => 'select, insert, delete', worker => 'select, insert, delete');
create index segment_purchases_of_person on segment_purchases (tenant_ref, email_folded);

-- How far the orders of a store are counted, by the number of their journals. Whatever changes people of a store by their
-- orders has the lock of this row, so that an erasure is never undone by a count that began before it.
create table segment_positions (
  tenant_ref   text        not null references stores,
  id           uuid        not null default fd_uuid(),
  sequence     bigint      not null default 0 check (sequence >= 0),
  due_at       timestamptz default now(),
  lease_until  timestamptz,
  lease_token  uuid,
  primary key (tenant_ref),
  unique (tenant_ref, id)
);
call fd_fence('segment_positions', app => 'select, insert, update', worker => 'select, insert, update');
call fd_due('segment_positions');
create index segment_positions_due on segment_positions (due_at) where due_at is not null;
create index segment_positions_due_of_tenant on segment_positions (tenant_ref, due_at) where due_at is not null;

-- Whose subscription it is, by address. As with orders, row level security keeps an index on `lower(email)` out of use.
alter table subscriptions
  add column email_folded text generated always as (lower(email)) stored;
create index subscriptions_of_address on subscriptions (tenant_ref, email_folded, status) where email_folded is not null;

-- Keeps what a person agreed to beside what they ordered. A request that is not confirmed says nothing: the address may be
-- a stranger's.
create function fd_person_consent() returns trigger
language plpgsql set search_path = public, pg_temp as $$
declare
  gone boolean := tg_op = 'DELETE';
  store text := case when gone then old.tenant_ref else new.tenant_ref end;
  address text := case when gone then old.email_folded else new.email_folded end;
  agreed text := case when gone or new.status = 'pending' then 'none'
                      when new.status = 'subscribed' then 'given' else 'withdrawn' end;
begin
  if agreed <> 'none' then
    insert into segment_people as p (tenant_ref, email_folded, email, consent)
    values (store, address, new.email, agreed)
        on conflict (tenant_ref, email_folded) do update set consent = excluded.consent
     where p.consent <> excluded.consent;
    return null;
  end if;
  delete from segment_people where tenant_ref = store and email_folded = address and orders_count = 0;
  update segment_people set consent = 'none'
   where tenant_ref = store and email_folded = address and consent <> 'none';
  return null;
end $$;
revoke all on function fd_person_consent() from public;
create trigger person_consent after insert or update of status or delete on newsletter_subscribers
  for each row execute function fd_person_consent();

insert into segment_people (tenant_ref, email_folded, email, consent)
select tenant_ref, email_folded, email, case status when 'subscribed' then 'given' else 'withdrawn' end
  from newsletter_subscribers
 where status <> 'pending';

-- Stores that have journals are counted from the first one.
insert into segment_positions (tenant_ref)
select tenant_ref from stores s where exists (select from ledger_seals l where l.tenant_ref = s.tenant_ref);
