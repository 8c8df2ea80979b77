-- What a shopper is shown while typing: a few products, and about how many there are. It ranks the first matches alone
-- and counts no facets, so that a word of every product costs as much as any other. A search of all of it counts 100,000
-- products for five that are shown.

create function fd_search_suggestions(wanted text, shown integer, looked_at integer)
returns table (ids uuid[], matches integer, is_corrected boolean)
language plpgsql stable security definer set pg_trgm.similarity_threshold=0.2
  set pg_trgm.word_similarity_threshold=0.4 set plan_cache_mode=force_generic_plan
  set search_path=public, pg_temp as
$$
declare
  store  record;
  config regconfig;
  folded text := fd_search_fold(wanted);
  asked  tsquery;
  named  uuid[];
  tries  integer := 1;
  hit    record;
  inside text := case when length(folded) >= 3 then '%' || folded || '%' end;
begin
  select s.tenant_ref, s.store_number, s.language into store
    from stores s where s.tenant_ref = fd_tenant() and s.status = 'live';
  if not found then
    return;
  end if;
  if folded <> '' then
    config := fd_search_config(store.language);
    asked := fd_search_query(store.tenant_ref, store.store_number, config, folded, true);
  end if;
  -- In the order of a search: as it is typed, as it may be meant, as a part of longer words.
  loop
    named := array(select c.id from collections c
                    where tries <= 2 and c.tenant_ref = store.tenant_ref and c.title_words @@ asked);
    with found as materialized (
      (select s.product_id, s.created_at, -ts_rank(s.head, asked)::float8 as place
         from product_search s
        where tries <= 2 and s.tenant_ref = store.tenant_ref and s.words @@ asked
        limit looked_at)
      union all
      (select s.product_id, s.created_at, 0
         from (select m.product_id from collection_products m
                where m.tenant_ref = store.tenant_ref and m.collection_id = any (named)
                limit looked_at) as m
         join product_search s on s.tenant_ref = store.tenant_ref and s.product_id = m.product_id
        -- Those without words are not active.
        where s.words <> '' and not s.words @@ asked)
      union all
      (select s.product_id, s.created_at, -word_similarity(folded, s.names)::float8
         from product_search s
        where tries = 3 and s.tenant_ref = store.tenant_ref and s.names like inside
        limit looked_at)
    )
    select array(select f.product_id from (select distinct on (f.product_id) f.* from found f
                                            order by f.product_id, f.place) as f
                  order by f.place, f.created_at desc, f.product_id limit shown) as ids,
           (select least(count(distinct f.product_id), looked_at)::integer from found f) as matches
      into hit;
    exit when hit.matches > 0 or tries = 3;
    tries := tries + 1;
    asked := case when tries = 2
                  then fd_search_corrected(store.tenant_ref, store.store_number, config, folded) end;
    if asked is null then
      tries := 3;
    end if;
  end loop;
  return query select hit.ids, hit.matches, tries > 1 and hit.matches > 0;
end $$;
alter function fd_search_suggestions(text, integer, integer) owner to fd_search;
revoke execute on function fd_search_suggestions(text, integer, integer) from public;
grant execute on function fd_search_suggestions(text, integer, integer) to fd_app;
