-- What a mail of a campaign writes: its recipient is written down, and written once more with what became of it. Each of
-- these changes every index of the table, since the state is in one of them.

-- The store of a row is the tenant of its transaction, and the campaign has the same one.
alter table campaign_recipients drop constraint campaign_recipients_tenant_ref_fkey;

-- A recipient is always named together with its campaign: one index for both the name and the list of a campaign.
alter table campaign_recipients
  drop constraint campaign_recipients_pkey,
  add primary key (tenant_ref, campaign_id, id);
drop index campaign_recipients_of_campaign;

-- Once in each campaign, by an index that also finds the campaigns of an address, for the privacy export and erasure.
alter table campaign_recipients
  drop constraint campaign_recipients_once,
  add constraint campaign_recipients_once unique (tenant_ref, email_folded, campaign_id);
drop index campaign_recipients_of_address;

-- What is old is found by its time alone. With the id in it, PostgreSQL takes this index for one of ids, and skips from time to time.
drop index campaign_recipients_old;
create index campaign_recipients_old on campaign_recipients (tenant_ref, created_at);
