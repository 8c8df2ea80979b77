-- Searches as shoppers of languages like German make them. A word is found within compounds ("kerze"
-- finds "Duftkerze"), an umlaut also where it is spelt out ("kaese"), and in every language the title
-- of a collection finds its products.

-- Languages that write compounds as one word.
create function fd_search_joins_words(config regconfig) returns boolean
language sql stable parallel safe as $$
  select config::text
         in ('danish', 'dutch', 'estonian', 'finnish', 'german', 'hungarian', 'norwegian', 'swedish')
$$;

-- The store's words that contain this one, at most forty. A part of four letters has to be their
-- beginning or their end, and one of three their end: "tee" is meant by "Kräutertee", not by "Stempel".
create function fd_search_compounds(tenant text, part text) returns setof text
language sql stable parallel safe as $$
  select found.word
    from (select w.word from search_words w
           where w.tenant_ref = tenant and length(part) >= 3
             and w.word like '%' || part || case when length(part) >= 5 then '%' else '' end
           union
          select w.word from search_words w
           where w.tenant_ref = tenant and length(part) = 4 and w.word like part || '%') as found
   where length(found.word) >= length(part) + 3
   order by length(found.word), found.word
   limit 40
$$;

-- What a shopper typed, folded, as a query. Every word must occur: as its stem, the last one also as
-- the beginning of a word, and with compounds each of them inside a longer word of the store. Text is
-- text: nothing in it is an operator.
create function fd_search_query(
  tenant text, store bigint, config regconfig, folded text, with_compounds boolean
) returns tsquery
language sql stable parallel safe as $$
  with typed as (
    select t.word, t.place, t.place = max(t.place) over () as is_last, s.shortest, s.stem
      from unnest((string_to_array(folded, ' '))[:16]) with ordinality as t (word, place),
           lateral (select min(lexeme) as shortest,
                           string_agg(format('''%s/%s''', store, lexeme), ' & ') as stem
                      from unnest(to_tsvector(config, t.word))
                     where octet_length(lexeme) <= 200) as s
  ),
  needed as (
    select string_agg('(' || concat_ws(' | ', t.stem,
                        case when t.is_last then format('''%s/%s'':*', store, left(t.word, 50)) end,
                        c.words) || ')', ' & ') as terms
      from typed t
     cross join lateral (
       select string_agg(format('''%s/%s''', store, one), ' | ') as words
         from fd_search_compounds(
                tenant, case when length(t.shortest) >= 4 then t.shortest else t.word end) as one
        where with_compounds and t.shortest is not null
     ) as c
     -- A word that says nothing ("the") counts only where it stands alone.
     where t.stem is not null
        or (t.is_last and not exists (select from typed other where other.stem is not null))
  )
  select concat_ws(' | ', n.terms,
           -- A SKU may be written with other signs between its parts, or none.
           case when g.count between 2 and 6
                then format('''%s/%s'':*', store, left(g.joined, 50)) end)::tsquery
    from needed n,
         (select count(*) as count, string_agg(word, '' order by place) as joined from typed) as g
$$;

-- German names with their umlauts spelt out, folded; empty where there are none. Both cases are named,
-- since what `lower` does depends on the locale.
create function fd_search_spell_out(name text) returns text
language sql stable parallel safe as $$
  select case when n.composed ~ '[\u00e4\u00c4\u00f6\u00d6\u00fc\u00dc]'
              then fd_search_fold(regexp_replace(regexp_replace(regexp_replace(
                     n.composed, '[\u00e4\u00c4]', 'ae', 'g'), '[\u00f6\u00d6]', 'oe', 'g'),
                     '[\u00fc\u00dc]', 'ue', 'g'))
              else '' end
    from (select normalize(name, nfc) as composed) as n
$$;

-- That of 0015, with umlauts spelt out.
create or replace function fd_search_refresh(target text, ids uuid[]) returns void
language plpgsql set search_path = public, pg_temp as $$
declare
  number  bigint;
  stemmer regconfig;
begin
  perform pg_advisory_xact_lock_shared(hashtextextended(target || '/search language', 0));
  select store_number, fd_search_config(language) into number, stemmer
    from stores where tenant_ref = target;
  perform from product_search s join unnest(ids) as one on s.product_id = one
    where s.tenant_ref = target
    order by s.product_id for update of s;
  update product_search s
     set price_cents = v.price_cents, names = made.names, head = made.head,
         words = strip(made.head || fd_search_scope(number, to_tsvector(stemmer, made.description)))
    from unnest(ids) as one
    join products p on p.tenant_ref = target and p.id = one
   cross join lateral (
     -- Nobody looks for the last of a thousand variants, and a row has its limits.
     select min(v.price_cents) as price_cents,
            case when p.status = 'active'
                 then (array_agg(fd_search_fold(v.sku) order by v.position, v.id))[:500] end as skus
       from variants v
      where v.tenant_ref = target and v.product_id = p.id and v.archived_at is null
   ) as v
   cross join lateral (
     select case when p.status = 'active' then fd_search_fold(p.name) else '' end as name,
            case when p.status = 'active' and stemmer = 'german'::regconfig
                 then fd_search_spell_out(p.name) else '' end as spelt_out,
            -- A vector is smaller than a mebibyte.
            case when p.status = 'active'
                 then left(fd_search_fold(coalesce(p.description, '')), 200000)
                 else '' end as description
     offset 0
   ) as folded
   cross join lateral (
     select folded.description,
            btrim(left(concat_ws(' ', folded.name, array_to_string(v.skus, ' ')), 10000)) as names,
            -- As it is written too, for whoever has typed only the beginning of a word.
            fd_search_scope(number, to_tsvector(stemmer, folded.name)
                                    || to_tsvector('simple', folded.name)
                                    || to_tsvector(stemmer, folded.spelt_out)
                                    || to_tsvector('simple', folded.spelt_out)
                                    || fd_search_skus(v.skus)) as head
     offset 0
   ) as made
   where s.tenant_ref = target and s.product_id = p.id;
end $$;

-- The words of a collection's title, as `head` has those of a product. A language that changes is
-- applied by the worker.
alter table collections add title_words tsvector not null default '';

create function fd_search_title_words(target text, title text) returns tsvector
language sql stable set search_path = public, pg_temp as $$
  select fd_search_scope(s.store_number, to_tsvector(fd_search_config(s.language), fd_search_fold(title))
                                         || to_tsvector('simple', fd_search_fold(title)))
    from stores s where s.tenant_ref = target
$$;

create function fd_search_note_title() returns trigger
language plpgsql set search_path = public, pg_temp as $$
begin
  new.title_words := fd_search_title_words(new.tenant_ref, new.title);
  return new;
end $$;

create trigger search_title before insert or update of title on collections
   for each row execute function fd_search_note_title();

create function fd_search_refresh_titles(target text) returns void
language sql set search_path = public, pg_temp as $$
  update collections c set title_words = fd_search_title_words(target, c.title)
   where c.tenant_ref = target
$$;

-- That of 0040, with compounds.
create or replace function fd_search_nearest(tenant text, store bigint, forms text[]) returns setof text
language sql stable parallel safe as $$
  with given as materialized (
    select distinct form as typed from unnest(forms) as form
     where form !~ '[0-9]' and length(form) between 3 and 50
  ),
  slips as materialized (
    select found.word, found.typed, found.slips
      from given
     cross join lateral (
       select swapped.word, given.typed, 1 as slips
         from search_words swapped
        where swapped.tenant_ref = tenant
          and swapped.word = any (fd_search_swaps(given.typed)) and swapped.word <> given.typed
        union all
       select alike.word, given.typed, levenshtein_less_equal(alike.word, given.typed, 2)
         from search_words alike
        where alike.tenant_ref = tenant and alike.word % given.typed
          and greatest(length(alike.word), length(given.typed)) >= 4
          and levenshtein_less_equal(alike.word, given.typed, 2)
              between 1 and case when length(given.typed) >= 8 then 2 else 1 end
     ) as found
     where exists (
             with had as materialized (
               select from product_search p
                where p.tenant_ref = tenant
                  and p.words @@ format('''%s/%s''', store, found.word)::tsquery)
             select from had)
  ),
  parts as materialized (
    select found.word, found.typed, 3 as slips
      from given
     cross join lateral (
       select part.word, given.typed
         from search_words part
        where part.tenant_ref = tenant and part.word %> given.typed
          and part.word <> given.typed and length(given.typed) >= 4
          -- A longer one may be only begun. A shorter one must be most of it: `desk` is not meant by
          -- `desktop`.
          and (word_similarity(given.typed, part.word)
                 >= case when length(part.word) >= length(given.typed) then 0.5 else 0.6 end
               -- With one typing error, a part of a compound.
               or length(given.typed) >= 6 and length(part.word) >= length(given.typed) + 3
                  and exists (
                    select from generate_series(length(given.typed) - 1, length(given.typed) + 1) as n
                     where levenshtein_less_equal(right(part.word, n), given.typed, 1) <= 1
                        or levenshtein_less_equal(left(part.word, n), given.typed, 1) <= 1))
     ) as found
     where not exists (select from slips)
       and exists (
             with had as materialized (
               select from product_search p
                where p.tenant_ref = tenant
                  and p.words @@ format('''%s/%s''', store, found.word)::tsquery)
             select from had)
  )
  select near.word
    from (select found.*, min(found.slips) over () as fewest
            from (select * from slips union all select * from parts) as found) as near
   where near.slips = near.fewest
   group by near.word
   order by max(similarity(near.word, near.typed)) desc, near.word
   limit 8
$$;

-- That of 0029, with compounds and the titles of collections.
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
  edges  bigint[] := '{100,250,500,1000,2500,5000,10000,25000,50000,100000,250000,500000,1000000,
                       2500000,5000000,10000000,25000000,50000000,100000000}';
begin
  select s.tenant_ref, s.store_number, s.language into store
    from stores s where s.tenant_ref = fd_tenant() and s.status = 'live';
  if not found then
    return;
  end if;
  if folded = '' then
    return query select '{}'::uuid[], 0, '[]'::json, '[]'::json;
    return;
  end if;
  config := fd_search_config(store.language);
  asked := fd_search_query(store.tenant_ref, store.store_number, config, folded, false);
  named := array(select c.id from collections c
                  where c.tenant_ref = store.tenant_ref and c.title_words @@ asked);
  if fd_search_joins_words(config) then
    select string_agg(format('''%s/%s''', store.store_number, lexeme), ' | ')::tsquery into plain
      from unnest(to_tsvector(config, folded)) where octet_length(lexeme) <= 200;
    asked := fd_search_query(store.tenant_ref, store.store_number, config, folded, true);
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
       where tries = 1 and s.tenant_ref = store.tenant_ref
         and s.product_id in (select m.product_id from collection_products m
                               where m.tenant_ref = store.tenant_ref
                                 and m.collection_id = any (named))
         and s.words <> '' and not s.words @@ asked
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
              union all select * from inner_parts) as h
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
    exit when hit.matches > 0 or tries = 3;
    tries := tries + 1;
    asked := case when tries = 2
                  then fd_search_corrected(store.tenant_ref, store.store_number, config, folded) end;
    if asked is null then
      tries := 3;
    end if;
  end loop;
  return query select hit.ids, hit.result_count, hit.price_buckets, hit.in_collections;
end $$;

drop function fd_search_query(bigint, regconfig, text);

create policy search on collection_products for select to fd_search using (true);
grant select (tenant_ref, collection_id, product_id) on collection_products to fd_search;
grant select (title_words) on collections to fd_search;
grant update (title_words) on collections to fd_worker;

revoke all on function
  fd_search_joins_words(regconfig), fd_search_compounds(text, text),
  fd_search_query(text, bigint, regconfig, text, boolean), fd_search_spell_out(text),
  fd_search_title_words(text, text), fd_search_note_title(), fd_search_refresh_titles(text)
from public;
grant execute on function
  fd_search_joins_words(regconfig), fd_search_compounds(text, text),
  fd_search_query(text, bigint, regconfig, text, boolean) to fd_search;
grant execute on function fd_search_spell_out(text), fd_search_title_words(text, text)
  to fd_app, fd_worker;
grant execute on function fd_search_refresh_titles(text) to fd_worker;

update collections set title_words = fd_search_title_words(tenant_ref, title);
-- The worker indexes German names again, as after a change of the language.
insert into outbox (tenant_ref, type, payload)
select tenant_ref, 'store.language_changed.v1', jsonb_build_object('language', language)
  from stores where fd_search_config(language) = 'german'::regconfig;
