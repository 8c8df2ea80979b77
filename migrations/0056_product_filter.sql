-- The merchant's filter `q`: a part of a name, a slug or a SKU, in products of any status.
--
-- Under row level security a trigram index is never used (`like` is not leakproof), so a definer
-- function chooses the products, as the search does. The tenant comes from the setting.

create index products_named on products
  using gin (tenant_ref, lower(normalize(name || ' ' || slug)) gin_trgm_ops);
create index variants_named on variants using gin (tenant_ref, lower(sku) gin_trgm_ops);

-- A page of the matching products, newest first, and how many match: no more than `count_max` are
-- counted. Few matches are found by the trigrams and sorted. With more, the newest products are walked
-- until the page is full, which is soon.
create function fd_filter_products(
  wanted text, wanted_status text, after_at timestamptz, after_id uuid,
  page_limit integer, page_offset bigint, count_max integer
) returns table (ids uuid[], total integer)
language plpgsql stable security definer
set search_path = public, pg_temp
-- How common the text is decides which index is the better one.
set plan_cache_mode = force_custom_plan
as $$
declare
  store    text := fd_tenant();
  inside   text := '%' || regexp_replace(lower(wanted), '([\\%_])', '\\\1', 'g') || '%';
  matching uuid[];
begin
  matching := array(
    (select p.id from products p
      where p.tenant_ref = store and lower(normalize(p.name || ' ' || p.slug)) like inside
        and (wanted_status is null or p.status = wanted_status)
      limit count_max)
    union
    (select p.id from variants v
       join products p on p.tenant_ref = v.tenant_ref and p.id = v.product_id
      where v.tenant_ref = store and lower(v.sku) like inside
        and (wanted_status is null or p.status = wanted_status)
      limit count_max));
  total := least(cardinality(matching), count_max);
  if total < count_max then
    ids := array(
      select p.id from products p
       where p.tenant_ref = store and p.id = any (matching)
         and (after_id is null or (p.created_at, p.id) < (after_at, after_id))
       order by p.created_at desc, p.id desc
       limit page_limit offset page_offset);
  else
    ids := array(
      select p.id from products p
       where p.tenant_ref = store and (wanted_status is null or p.status = wanted_status)
         and (after_id is null or (p.created_at, p.id) < (after_at, after_id))
         and (lower(normalize(p.name || ' ' || p.slug)) like inside
              or exists (select from variants v
                          where v.tenant_ref = store and v.product_id = p.id
                            and lower(v.sku) like inside))
       order by p.created_at desc, p.id desc
       limit page_limit offset page_offset);
  end if;
  return next;
end $$;

alter function fd_filter_products(text, text, timestamptz, uuid, integer, bigint, integer)
  owner to fd_search;
create policy search on products for select to fd_search using (true);
create policy search on variants for select to fd_search using (true);
grant select (tenant_ref, id, slug, name, status, created_at) on products to fd_search;
grant select (tenant_ref, product_id, sku) on variants to fd_search;
revoke all on function
  fd_filter_products(text, text, timestamptz, uuid, integer, bigint, integer) from public;
grant execute on function
  fd_filter_products(text, text, timestamptz, uuid, integer, bigint, integer) to fd_app;
