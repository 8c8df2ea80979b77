-- The list of keys in its order: a page must not sort all keys of the store. Ascending, since new keys then fill the last page.
create index credentials_newest on credentials (tenant_ref, created_at, id);
