-- Searches without words, within a collection: so that a shopper can sort and filter what it has. They
-- cost what a search for a word costs that as many products have.

-- That of 0074; without words it finds the products of the collection, in the collection's own order.
create or replace function fd_search_products(
  wanted text, price_min bigint, price_max bigint, collection text, sort text,
  page_limit integer, page_offset integer
) returns table (ids uuid[], result_count integer, price_buckets json, in_collections json)
language plpgsql stable security definer
set search_path = public, pg_temp
-- One plan fits all: the index finds what matches, and the rest follows. Planned anew for each query,
-- a search for a rare word would take twice as long.
set plan_cache_mode = force_generic_plan
-- Holds the matches of a large store.
set work_mem = '32MB'
-- How much of a mistyped word must be in the right one, where it is more than a slip.
set pg_trgm.word_similarity_threshold = 0.4
-- How much of it one slip leaves of a word of four letters, or two of a word of eight.
set pg_trgm.similarity_threshold = 0.2
as $$
declare
  store  record;
  config regconfig;
  folded text := fd_search_fold(wanted);
  asked  tsquery;
  -- Its words themselves: what has them comes before compounds. Null where there are none.
  plain  tsquery;
  named  uuid[];
  tries  integer := 1;
  hit    record;
  inside text := case when length(folded) >= 3 then '%' || folded || '%' end;
  chosen uuid;
  browses boolean := wanted = '' and collection is not null;
  edges  bigint[] := '{100,250,500,1000,2500,5000,10000,25000,50000,100000,250000,500000,1000000,
                       2500000,5000000,10000000,25000000,50000000,100000000}';
begin
  select s.tenant_ref, s.store_number, s.language into store
    from stores s where s.tenant_ref = fd_tenant() and s.status = 'live';
  if not found then
    return;
  end if;
  if folded = '' and not browses then
    return query select '{}'::uuid[], 0, '[]'::json, '[]'::json;
    return;
  end if;
  if not browses then
    config := fd_search_config(store.language);
    asked := fd_search_query(store.tenant_ref, store.store_number, config, folded, false);
    named := array(select c.id from collections c
                    where c.tenant_ref = store.tenant_ref and c.title_words @@ asked);
    if fd_search_joins_words(config) then
      select string_agg(format('''%s/%s''', store.store_number, lexeme), ' | ')::tsquery into plain
        from unnest(to_tsvector(config, folded)) where octet_length(lexeme) <= 200;
      asked := fd_search_query(store.tenant_ref, store.store_number, config, folded, true);
    end if;
  end if;
  select c.id into chosen
    from collections c where c.tenant_ref = store.tenant_ref and c.slug = collection;
  -- As it is typed; if nothing has these words, as they may be meant; if that finds nothing either, as
  -- a part of longer ones.
  loop
    with found as materialized (
      select s.product_id, s.created_at, s.price_cents, s.collections,
             case sort when 'relevance'
                       then -ts_rank(s.head, asked)::float8 - coalesce(10 * ts_rank(s.head, plain), 0)
                       when 'price_asc' then s.price_cents
                       when 'price_desc' then -s.price_cents end as place
        from product_search s
       where s.tenant_ref = store.tenant_ref and s.words @@ asked
    ),
    -- Products of a collection with such a title. Those without words are not active.
    of_collections as materialized (
      select s.product_id, s.created_at, s.price_cents, s.collections,
             case sort when 'relevance' then 0
                       when 'price_asc' then s.price_cents
                       when 'price_desc' then -s.price_cents end as place
        from product_search s
       where tries = 1 and not browses and s.tenant_ref = store.tenant_ref
         and s.product_id in (select m.product_id from collection_products m
                               where m.tenant_ref = store.tenant_ref
                                 and m.collection_id = any (named))
         and s.words <> '' and not s.words @@ asked
    ),
    members as materialized (
      select s.product_id, s.created_at, s.price_cents, s.collections,
             case sort when 'relevance' then m.position::float8
                       when 'price_asc' then s.price_cents
                       when 'price_desc' then -s.price_cents end as place
        from collection_products m
        join product_search s on s.tenant_ref = store.tenant_ref and s.product_id = m.product_id
       where browses and m.tenant_ref = store.tenant_ref and m.collection_id = chosen and m.on_sale
    ),
    -- What has it inside of a longer word. Looking there is dear, so no more than a thousand are shown.
    inner_parts as materialized (
      select s.product_id, s.created_at, s.price_cents, s.collections,
             case sort when 'relevance' then -word_similarity(folded, s.names)::float8
                       when 'price_asc' then s.price_cents
                       when 'price_desc' then -s.price_cents end as place
        from product_search s
       where tries = 3
         and s.tenant_ref = store.tenant_ref and s.names like inside
       limit 1000
    ),
    hits as not materialized (
      select h.*, (price_min is null or coalesce(h.price_cents >= price_min, false))
                  and (price_max is null or coalesce(h.price_cents <= price_max, false)) as priced,
             -- An unknown collection holds nothing.
             collection is null or coalesce(chosen = any (h.collections), false) as collected
        from (select * from found union all select * from of_collections
              union all select * from members union all select * from inner_parts) as h
    ),
    page as (
      select h.product_id, h.place, h.created_at
        from hits h
       where h.priced and h.collected
       order by h.place, h.created_at desc, h.product_id
       limit page_limit offset page_offset
    ),
    -- Everything is counted in one go over the matches; what follows adds up a few groups.
    groups as materialized (
      select width_bucket(h.price_cents, edges) as bucket, h.collections, h.priced, h.collected,
             count(*) as count
        from hits h
       group by 1, 2, 3, 4
    ),
    buckets as (
      select g.bucket, sum(g.count) as count
        from groups g
       where g.collected and g.bucket is not null
       group by g.bucket
    ),
    counted as (
      select m.id, sum(m.count) as count
        from (select unnest(g.collections) as id, g.count from groups g where g.priced) as m
       group by m.id
       order by count desc, m.id
       limit 100
    )
    select (select coalesce(sum(g.count), 0) from groups g) as matches,
           array(select p.product_id from page p order by p.place, p.created_at desc, p.product_id)
             as ids,
           (select coalesce(sum(g.count), 0)::integer from groups g where g.priced and g.collected)
             as result_count,
           (select coalesce(json_agg(json_build_object(
                     'min_cents', case b.bucket when 0 then 0 else edges[b.bucket] end,
                     'max_cents', edges[b.bucket + 1] - 1, 'count', b.count) order by b.bucket), '[]')
              from buckets b) as price_buckets,
           (select coalesce(json_agg(json_build_object('slug', c.slug, 'title', c.title,
                                                       'count', n.count)
                                     order by n.count desc, c.slug), '[]')
              from counted n
              join collections c on c.tenant_ref = store.tenant_ref and c.id = n.id)
             as in_collections
      into hit;
    exit when hit.matches > 0 or tries = 3 or browses;
    tries := tries + 1;
    asked := case when tries = 2
                  then fd_search_corrected(store.tenant_ref, store.store_number, config, folded) end;
    if asked is null then
      tries := 3;
    end if;
  end loop;
  return query select hit.ids, hit.result_count, hit.price_buckets, hit.in_collections;
end $$;

grant select (position, on_sale) on collection_products to fd_search;
