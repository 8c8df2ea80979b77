-- Campaigns: what a merchant does to sell more for a time, with coupons, a budget, or mails to a segment.

create table campaigns (
  tenant_ref    text        not null references stores,
  id            uuid        not null default fd_uuid(),
  name          text        not null check (length(name) between 1 and 200),
  channel       text        not null check (channel ~ '^[a-z][a-z0-9_-]{0,39}$'),
  status        text        not null default 'draft'
                check (status in ('draft', 'scheduled', 'active', 'paused', 'ended', 'cancelled')),
  -- `merchant`: they paused it. Any other: it stopped by itself, and asks them.
  pause_reason  text        check (pause_reason in ('merchant', 'late', 'claims', 'segment')),
  starts_at     timestamptz,
  ends_at       timestamptz,
  budget_type   text        check (budget_type in ('spend', 'uses')),
  budget_limit  bigint      check (budget_limit > 0),
  -- Only ever changed under its guard; a limit may be set below it later. No index has it, so that a checkout writes none.
  budget_used   bigint      not null default 0 check (budget_used >= 0),
  utm_source    text        check (length(utm_source) between 1 and 200),
  utm_medium    text        check (length(utm_medium) between 1 and 200),
  utm_campaign  text        check (length(utm_campaign) between 1 and 200),
  coupon_count  integer     not null default 0 check (coupon_count >= 0),
  -- No foreign key: a deleted segment stops a campaign, and a campaign never keeps a segment.
  segment_id    uuid,
  subject       text        check (length(subject) between 1 and 200),
  body_markdown text        check (length(body_markdown) between 1 and 16000),
  sender_name   text        check (length(sender_name) between 1 and 100),
  reply_to      text        check (length(reply_to) <= 254),
  -- When its status changes by itself: at its start or at its end.
  due_at        timestamptz,
  created_at    timestamptz not null default fd_now(),
  updated_at    timestamptz not null default fd_now(),
  primary key (tenant_ref, id),
  check ((budget_type is null) = (budget_limit is null)),
  check ((status = 'paused') = (pause_reason is not null)),
  check (ends_at > starts_at),
  check (status in ('draft', 'cancelled') or starts_at is not null),
  check (due_at is null or status in ('scheduled', 'active', 'paused')),
  check (channel = 'email' or coalesce(segment_id::text, subject, body_markdown, sender_name, reply_to) is null)
) with (fillfactor = 80);
call fd_fence('campaigns', app => 'select, insert, update, delete', worker => 'select, update');
call fd_due('campaigns');

create index campaigns_newest on campaigns (tenant_ref, created_at desc, id desc);
create index campaigns_of_status on campaigns (tenant_ref, status, created_at desc, id desc);
create index campaigns_of_channel on campaigns (tenant_ref, channel, created_at desc, id desc);
create index campaigns_due on campaigns (due_at) where due_at is not null;
create index campaigns_due_of_tenant on campaigns (tenant_ref, due_at) where due_at is not null;

insert into usage_limits (limit_key, max) values ('campaigns', 10000);
call fd_meter('campaigns', $$('campaigns', 1)$$, false);

-- How far the mails of a campaign are. A row of its own: checkouts lock the campaign for its budget, and the worker locks this.
create table campaign_mailings (
  tenant_ref       text        not null references stores,
  -- That of its campaign.
  id               uuid        not null,
  state            text        not null default 'listing' check (state in ('listing', 'sending', 'done')),
  -- The last address of the segment that was looked at, folded. It moves in the transaction that writes the recipients up to it.
  listed_to        text        not null default '',
  recipients_count bigint      not null default 0 check (recipients_count >= 0),
  left_out_count   bigint      not null default 0 check (left_out_count >= 0),
  sent_count       bigint      not null default 0 check (sent_count >= 0),
  skipped_count    bigint      not null default 0 check (skipped_count >= 0),
  failed_count     bigint      not null default 0 check (failed_count >= 0),
  unknown_count    bigint      not null default 0 check (unknown_count >= 0),
  -- The recipients that a worker has claimed and not written the result of. Those of a killed worker become unknown.
  in_flight        uuid[]      not null default '{}' check (cardinality(in_flight) <= 1000),
  due_at           timestamptz default fd_now(),
  lease_until      timestamptz,
  lease_token      uuid,
  created_at       timestamptz not null default fd_now(),
  primary key (tenant_ref, id),
  foreign key (tenant_ref, id) references campaigns,
  check (state <> 'done' or due_at is null),
  check (sent_count + skipped_count + failed_count + unknown_count <= recipients_count)
) with (fillfactor = 50);
call fd_fence('campaign_mailings', app => 'select, insert, update', worker => 'select, insert, update');
call fd_due('campaign_mailings');
create index campaign_mailings_due on campaign_mailings (due_at) where due_at is not null;
create index campaign_mailings_due_of_tenant on campaign_mailings (tenant_ref, due_at) where due_at is not null;

-- Whom a campaign is mailed to: one row for each address, and what became of it.
create table campaign_recipients (
  tenant_ref      text        not null references stores,
  id              uuid        not null default fd_uuid(),
  campaign_id     uuid        not null,
  -- Null once the person was erased.
  email           text        check (length(email) <= 320),
  email_folded    text        check (length(email_folded) <= 320),
  customer_ref    text        check (length(customer_ref) <= 200),
  state           text        not null default 'queued'
                  check (state in ('queued', 'sent', 'skipped', 'failed', 'unknown')),
  reason          text        check (length(reason) <= 40),
  attempt_count   integer     not null default 0 check (attempt_count >= 0),
  next_attempt_at timestamptz default fd_now(),
  last_error      text        check (length(last_error) <= 500),
  sent_at         timestamptz,
  created_at      timestamptz not null default fd_now(),
  primary key (tenant_ref, id),
  constraint campaign_recipients_once unique (tenant_ref, campaign_id, email_folded),
  foreign key (tenant_ref, campaign_id) references campaigns,
  check ((state = 'queued') = (next_attempt_at is not null)),
  check ((state = 'sent') = (sent_at is not null)),
  check ((email is null) = (email_folded is null)),
  check (email is not null or state <> 'queued')
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02,
        autovacuum_vacuum_insert_scale_factor = 0.05);
call fd_fence('campaign_recipients', app => 'select, update', worker => 'select, insert, update, delete');
call fd_due('campaign_recipients');

create index campaign_recipients_of_campaign on campaign_recipients (tenant_ref, campaign_id, id);
create index campaign_recipients_of_state on campaign_recipients (tenant_ref, campaign_id, state, id);
create index campaign_recipients_old on campaign_recipients (tenant_ref, created_at, id);
-- The privacy export and erasure.
create index campaign_recipients_of_address on campaign_recipients (tenant_ref, email_folded)
       where email_folded is not null;
create index campaign_recipients_of_customer on campaign_recipients (tenant_ref, customer_ref, id)
       where customer_ref is not null;

-- The coupons of a campaign stop with it. What an order took of the budget is returned with its use.
alter table coupons add constraint coupons_of_campaign foreign key (tenant_ref, campaign_id) references campaigns;
create index coupons_in_campaign on coupons (tenant_ref, campaign_id, created_at desc, id desc)
       where campaign_id is not null;
alter table coupon_redemptions add column budget_taken bigint not null default 0 check (budget_taken >= 0);

-- A mail may have HTML beside its text, as the test of a campaign.
alter table mails add column html text check (length(html) <= 1000000);

-- Figures by coupon, whatever code of it was typed. The days that are counted already are counted again with it.
alter table analytics_facts add column coupon_id text not null default '';
alter table analytics_days drop constraint analytics_days_dimension_check;
alter table analytics_days add constraint analytics_days_dimension_check
  check (dimension in ('all', 'product', 'variant', 'coupon', 'coupon_id', 'affiliate', 'source', 'place', 'customer',
                       'cohort'));
update analytics_generations
   set state = 'retired', due_at = now(), lease_until = null, lease_token = null
 where state = 'building';
insert into analytics_generations (tenant_ref, generation, state, time_zone)
select s.tenant_ref, (select max(g.generation) + 1 from analytics_generations g where g.tenant_ref = s.tenant_ref),
       'building', s.time_zone
  from analytics_generations s
 where s.state = 'serving'
   and exists (select from coupon_redemptions r where r.tenant_ref = s.tenant_ref);
