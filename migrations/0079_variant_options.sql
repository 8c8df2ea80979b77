-- What a variant differs by, as names and values beside its label, and the price it had before.
alter table variants
  add column options jsonb not null default '[]' check (jsonb_typeof(options) = 'array'),
  add column compare_at_price_cents bigint check (compare_at_price_cents between 1 and 100000000000);

-- The options count as bytes of the catalog. `fd_meter` counts all rows again, so that what they count now is
-- taken off first.
drop function fd_meter_variants() cascade;
update store_usage as u
   set used = u.used - counted.amount
  from (select tenant_ref, 'variants' as limit_key, count(*) as amount from variants group by tenant_ref
         union all
        select tenant_ref, 'catalog_bytes',
               sum(octet_length(sku) + coalesce(octet_length(label), 0) + octet_length(metadata::text))
          from variants group by tenant_ref) as counted
 where u.tenant_ref = counted.tenant_ref and u.limit_key = counted.limit_key;
call fd_meter('variants', $$('variants', 1),
  ('catalog_bytes', octet_length(s.sku) + coalesce(octet_length(s.label), 0) + octet_length(s.metadata::text)
                    + case when s.options = '[]' then 0 else octet_length(s.options::text) end)$$, true);
