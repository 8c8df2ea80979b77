-- Who wants to hear from a store: an address is on the list once a person has confirmed it by a mailed link. The row
-- keeps when they asked, where, and when they confirmed, as proof.
create table newsletter_subscribers (
  tenant_ref      text        not null references stores,
  id              uuid        not null default fd_uuid(),
  email           text        not null check (length(email) <= 254),
  email_folded    text        not null check (length(email_folded) <= 320),
  status          text        not null default 'pending' check (status in ('pending', 'subscribed', 'unsubscribed')),
  source          text        check (length(source) <= 100),
  requested_at    timestamptz not null default fd_now(),
  confirmed_at    timestamptz,
  unsubscribed_at timestamptz,
  created_at      timestamptz not null default fd_now(),
  primary key (tenant_ref, id),
  constraint newsletter_subscribers_email unique (tenant_ref, email_folded),
  check ((status = 'subscribed') <= (confirmed_at is not null)),
  check ((status = 'unsubscribed') <= (unsubscribed_at is not null))
);
call fd_fence('newsletter_subscribers', app => 'select, insert, update, delete', worker => 'select, update, delete');
call fd_due('newsletter_subscribers');

create index newsletter_subscribers_newest on newsletter_subscribers (tenant_ref, created_at desc, id desc);
create index newsletter_subscribers_of_status
    on newsletter_subscribers (tenant_ref, status, created_at desc, id desc);
create index newsletter_subscribers_unconfirmed on newsletter_subscribers (tenant_ref, requested_at)
    where status = 'pending';
