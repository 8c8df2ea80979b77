-- An entry is written in the transaction of its cause, which names the store. The key locked the store's row
-- once for each event of a provider, and many of them come at once.
alter table outbox drop constraint outbox_tenant_ref_fkey;
