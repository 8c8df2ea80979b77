-- Typing errors, word by word: what a shopper typed against the words that the store really has.
--
-- Likeness of a whole query to a whole name misses most slips: a wrong letter in the middle of
-- `teapot` breaks three of its seven trigrams. So each word that no product has is replaced by those
-- of the store's own words that are one slip away, and these are looked up in the text index.

create table search_words (
  tenant_ref text not null references stores,
  -- As names and SKUs have it, folded: as written, and its stem. None with a digit, since a number
  -- that is nearly another is no slip. A word stays when its last product goes: it only leads to
  -- nothing then.
  word       text not null check (length(word) between 3 and 50),
  primary key (tenant_ref, word)
);
create index search_words_alike on search_words using gin (tenant_ref, word gin_trgm_ops);

call fd_fence('search_words', app => 'select, insert', worker => 'select, insert');
create policy search on search_words for select to fd_search using (true);
grant select on search_words to fd_search;

-- The fold of 0015, whose last step could bring signs back: `ʻ`, as in Hawaiʻi, became a quotation mark,
-- and a name or a query with one a fault.
create or replace function fd_search_fold(given text) returns text
language sql stable parallel safe as $$
  select btrim(regexp_replace(lower(
    case when octet_length(given) = length(given) then given
         else public.unaccent('public.unaccent', regexp_replace(regexp_replace(
                normalize(given, nfkc), '[\u0300-\u036f\u200b-\u200f\ufe00-\ufe0f\ufeff]+', '', 'g'),
                '[\u0080-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u00d7\u00f7\u2000-\u206f'
                '\u2100-\u2bff\u3000-\u3004\u3008-\u3020\ufff0-\uffff]+', ' ', 'g')) end),
    '[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u007f]+', ' ', 'g'))
$$;

-- The words of a vector, without the store's number before them.
create function fd_search_words(vector tsvector) returns setof text
language sql immutable parallel safe as $$
  select s.word
    from unnest(vector) as w,
         lateral (select substr(w.lexeme, strpos(w.lexeme, '/') + 1) as word) as s
   where length(s.word) between 3 and 50 and s.word !~ '[0-9]'
$$;

-- In one order everywhere, so that two who learn the same words wait for each other in it.
create function fd_search_learn() returns trigger
language plpgsql set search_path = public, pg_temp as $$
begin
  insert into search_words (tenant_ref, word)
  select distinct n.tenant_ref, w.word
    from changed n
    join before o on o.tenant_ref = n.tenant_ref and o.product_id = n.product_id
   cross join lateral fd_search_words(n.head) as w (word)
   where n.head is distinct from o.head
   order by 1, 2
      on conflict do nothing;
  return null;
end $$;

create trigger search_learn after update on product_search
   referencing old table as before new table as changed
   for each statement execute function fd_search_learn();

-- All that comes of a word by letting two neighbours change places.
create function fd_search_swaps(typed text) returns text[]
language sql immutable parallel safe as $$
  select array_agg(overlay(typed placing reverse(substr(typed, i, 2)) from i for 2))
    from generate_series(1, length(typed) - 1) as i
$$;

-- Those of the store's words that this one, in any of its forms, may be meant for, the nearest alone: a
-- letter that is wrong, missing or too much, or two that changed places; in a long word two such
-- slips; failing that, words of which it may be a beginning, or that make up most of it. Words of three
-- letters have too many neighbours for anything but a swap. Trigrams find, the distance decides.
create function fd_search_nearest(store text, forms text[]) returns setof text
language sql stable parallel safe as $$
  select near.word
    from (select found.word, found.typed, found.slips, min(found.slips) over () as fewest
            from (select distinct form from unnest(forms) as form
                   where form !~ '[0-9]' and length(form) between 3 and 50) as given (typed)
           cross join lateral (
             select swapped.word, given.typed, 1 as slips
               from search_words swapped
              where swapped.tenant_ref = store
                and swapped.word = any (fd_search_swaps(given.typed))
                and swapped.word <> given.typed
              union all
             select alike.word, given.typed, levenshtein_less_equal(alike.word, given.typed, 2)
               from search_words alike
              where alike.tenant_ref = store and alike.word % given.typed
                and greatest(length(alike.word), length(given.typed)) >= 4
                and levenshtein_less_equal(alike.word, given.typed, 2)
                    between 1 and case when length(given.typed) >= 8 then 2 else 1 end
              union all
             select part.word, given.typed, 3
               from search_words part
              where part.tenant_ref = store and part.word %> given.typed
                and part.word <> given.typed and length(given.typed) >= 4
                -- A longer one may be only begun. A shorter one must be most of it: `desk` is not
                -- meant by `desktop`.
                and word_similarity(given.typed, part.word)
                    >= case when length(part.word) >= length(given.typed) then 0.5 else 0.6 end
             ) as found) as near
   where near.slips = near.fewest
   group by near.word
   order by max(similarity(near.word, near.typed)) desc, near.word
   limit 8
$$;

-- The same query with each word that the store does not have replaced by those it may be meant for.
-- Null: there is nothing to replace. What looks for the words as typed is planned as if all rows were
-- wanted, so that it takes the index, and yet ends at the first.
create function fd_search_corrected(tenant text, store bigint, config regconfig, folded text)
returns tsquery
language sql stable parallel safe
-- A plan for all stores goes by the average one, in which comparing every word is no trouble.
set enable_indexscan = off
set enable_indexonlyscan = off
as $$
  with typed as (
    select t.word, t.place = max(t.place) over () as is_last, s.stem
      from unnest((string_to_array(folded, ' '))[:16]) with ordinality as t (word, place),
           lateral (select min(lexeme) as stem from unnest(to_tsvector(config, t.word))) as s
  ),
  asked as (
    select t.word, t.stem,
           concat_ws(' | ', format('''%s/%s''', store, t.stem),
                     case when t.is_last
                          then format('''%s/%s'':*', store, left(t.word, 50)) end) as plain
      from typed t
     where octet_length(t.stem) <= 200
  ),
  meant as (
    select a.plain, near.words
      from asked a
     cross join lateral (
       select string_agg(distinct format('''%s/%s''', store, form.word), ' | ') as words
         from fd_search_nearest(tenant, array[a.word, a.stem]) as one (word),
              lateral (select one.word union
                       select lexeme from unnest(to_tsvector(config, one.word))) as form (word)
        where not exists (
                with had as materialized (
                  select from product_search p
                   where p.tenant_ref = tenant and p.words @@ a.plain::tsquery)
                select from had)
     ) as near
  )
  select case when count(m.words) > 0
              then string_agg('(' || concat_ws(' | ', m.plain, m.words) || ')', ' & ')::tsquery end
    from meant m
$$;

-- The search of 0015, which now tries thrice.
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
set pg_trgm.word_similarity_threshold = 0.5
-- How much of it one slip leaves of a word of four letters, or two of a word of eight.
set pg_trgm.similarity_threshold = 0.2
as $$
declare
  store  record;
  config regconfig;
  folded text := fd_search_fold(wanted);
  asked  tsquery;
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
  asked := fd_search_query(store.store_number, config, folded);
  select c.id into chosen
    from collections c where c.tenant_ref = store.tenant_ref and c.slug = collection;
  -- As it is typed; if nothing has these words, as they may be meant; if that finds nothing either, as
  -- a part of longer ones.
  loop
    with found as materialized (
      select s.product_id, s.created_at, s.price_cents, s.collections,
             case sort when 'relevance' then -ts_rank(s.head, asked)::float8
                       when 'price_asc' then s.price_cents
                       when 'price_desc' then -s.price_cents end as place
        from product_search s
       where s.tenant_ref = store.tenant_ref and s.words @@ asked
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
        from (select * from found union all select * from inner_parts) as h
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

revoke all on function
  fd_search_words(tsvector), fd_search_learn(), fd_search_swaps(text), fd_search_nearest(text, text[]),
  fd_search_corrected(text, bigint, regconfig, text)
from public;
grant execute on function fd_search_swaps(text), fd_search_nearest(text, text[]),
  fd_search_corrected(text, bigint, regconfig, text) to fd_search;
grant execute on function fd_search_words(tsvector) to fd_app, fd_worker;

-- What is in the shelves already.
insert into search_words (tenant_ref, word)
select distinct s.tenant_ref, w.word
  from product_search s cross join lateral fd_search_words(s.head) as w (word);
