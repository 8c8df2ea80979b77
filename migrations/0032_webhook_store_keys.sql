-- A delivery is its event's, an attempt its delivery's, and an event its store's. A reference of their own to
-- the store would lock its row with each of them, in every checkout and for every attempt.

alter table webhook_deliveries drop constraint webhook_deliveries_tenant_ref_fkey;
alter table webhook_attempts drop constraint webhook_attempts_tenant_ref_fkey;
