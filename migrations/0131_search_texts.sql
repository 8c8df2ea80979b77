-- Search reads what a product's pictures show and the titles of collections, and knows the words of descriptions in
-- languages that write compounds as one word: a tea may be called `Waldboden`, and only its picture and its description
-- say that it is one.

-- Loads the library, whose settings only a superuser may name before: an existing database has not used it yet.
select show_limit();

-- Long words as they are written: a part of a compound is looked for in them, and a stem has lost its end.
create function fd_search_long_words(given text) returns tsvector
language sql immutable as $$
  select array_to_tsvector(coalesce(array_agg(distinct w.lexeme), '{}'))
    from unnest(to_tsvector('simple'::regconfig, given)) as w
   -- Three letters for each of two parts.
   where length(w.lexeme) between 6 and 50 and w.lexeme !~ '[0-9]'
$$;

-- That of 0074, with the texts of the pictures; umlauts of all texts may be spelt out.

create or replace function fd_search_refresh(target text, ids uuid[])
returns void
language plpgsql volatile set search_path=public, pg_temp as
$$
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
         words = strip(made.head || fd_search_scope(number, to_tsvector(stemmer, made.texts)
                                                            || to_tsvector(stemmer, made.texts_spelt_out)
                                                            || made.long_words))
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
                 then left(concat_ws(' ', p.description, i.alts), 200000) else '' end as texts
       from (select string_agg(i.alt, ' ' order by i.position, i.asset_ref) as alts
               from product_images i
              where i.tenant_ref = target and i.product_id = p.id and i.alt <> '') as i
     offset 0
   ) as folded
   cross join lateral (
     select fd_search_fold(folded.texts) as texts,
            case when stemmer = 'german'::regconfig
                 then fd_search_spell_out(folded.texts) else '' end as texts_spelt_out,
            case when fd_search_joins_words(stemmer)
                 then fd_search_long_words(fd_search_fold(folded.texts)) else '' end as long_words,
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


-- That of 0029. In languages that join words, also the words of texts are known, since a part of one is looked for.
create or replace function fd_search_learn()
returns trigger
language plpgsql volatile set search_path=public, pg_temp as
$$
begin
  insert into search_words (tenant_ref, word)
  select distinct n.tenant_ref, w.word
    from changed n
    join before o on o.tenant_ref = n.tenant_ref and o.product_id = n.product_id
    join stores s on s.tenant_ref = n.tenant_ref
   cross join lateral (select fd_search_joins_words(fd_search_config(s.language)) as joins) as l
   cross join lateral fd_search_words(case when l.joins then n.words else n.head end) as w (word)
   where case when l.joins then n.words else n.head end
         is distinct from case when l.joins then o.words else o.head end
   order by 1, 2
      on conflict do nothing;
  return null;
end $$;


-- That of 0074, with umlauts spelt out.
create or replace function fd_search_title_words(target text, title text)
returns tsvector
language sql stable set search_path=public, pg_temp as
$$
  select fd_search_scope(s.store_number, to_tsvector(fd_search_config(s.language), fd_search_fold(title))
                                         || to_tsvector('simple', fd_search_fold(title))
           || case when fd_search_config(s.language) = 'german'::regconfig
                   then to_tsvector('german', fd_search_spell_out(title)) else '' end)
    from stores s where s.tenant_ref = target
$$;


-- The words of a title are known, too: what is mistyped may be one.
create or replace function fd_search_note_title()
returns trigger
language plpgsql volatile set search_path=public, pg_temp as
$$
begin
  new.title_words := fd_search_title_words(new.tenant_ref, new.title);
  insert into search_words (tenant_ref, word)
  select new.tenant_ref, w.word from fd_search_words(new.title_words) as w (word) order by 2
      on conflict do nothing;
  return new;
end $$;

create or replace function fd_search_refresh_titles(target text)
returns void
language sql volatile set search_path=public, pg_temp as
$$
  update collections c set title_words = fd_search_title_words(target, c.title)
   where c.tenant_ref = target;
  insert into search_words (tenant_ref, word)
  select distinct target, w.word
    from collections c cross join lateral fd_search_words(c.title_words) as w (word)
   where c.tenant_ref = target
   order by 2
      on conflict do nothing
$$;


-- Whether a product or the title of a collection has a word.
create function fd_search_is_used(tenant text, store bigint, used text) returns boolean
language sql stable as $$
  select exists (
           with had as materialized (
             select from product_search p
              where p.tenant_ref = tenant and p.words @@ format('''%s/%s''', store, used)::tsquery)
           select from had)
      or exists (select from collections c
                  where c.tenant_ref = tenant
                    and c.title_words @@ format('''%s/%s''', store, used)::tsquery)
$$;

-- That of 0074; a word of a title is one that can be meant.

create or replace function fd_search_nearest(tenant text, store bigint, forms text[])
returns SETOF text
language sql stable as
$$
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
     where fd_search_is_used(tenant, store, found.word)
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
       and fd_search_is_used(tenant, store, found.word)
  )
  select near.word
    from (select found.*, min(found.slips) over () as fewest
            from (select * from slips union all select * from parts) as found) as near
   where near.slips = near.fewest
   group by near.word
   order by max(similarity(near.word, near.typed)) desc, near.word
   limit 8
$$;


-- That of 0074; a corrected word finds its compounds, as one that is typed right.
create or replace function fd_search_corrected(tenant text, store bigint, config regconfig, folded text)
returns tsquery
language sql stable set enable_indexonlyscan=off set enable_indexscan=off as
$$
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
         from fd_search_nearest(tenant, store, array[a.word, a.stem]) as one (word),
              lateral (select one.word union
                       select lexeme from unnest(to_tsvector(config, one.word)) union
                       select part.of_one
                         from fd_search_compounds(tenant, one.word) as part (of_one)
                        where fd_search_joins_words(config)) as form (word)
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


-- That of 0059; the words of titles stay.
create or replace function fd_search_forget(after text, count integer)
returns TABLE(last_word text, looked_at bigint, deleted bigint)
language sql volatile security definer set enable_seqscan=off set search_path=public, pg_temp as
$$
  with looked as materialized (
    select w.word from search_words w
     where w.tenant_ref = fd_tenant() and w.word > after
     order by w.word
     limit count
  ), gone as (
    delete from search_words w
     using looked, stores s
     where w.tenant_ref = fd_tenant() and w.word = looked.word and s.tenant_ref = fd_tenant()
       and not exists (select from product_search p
                        where p.tenant_ref = fd_tenant()
                          and p.words @@ format('''%s/%s''', s.store_number, looked.word)::tsquery)
       and not exists (select from collections c
                        where c.tenant_ref = fd_tenant()
                          and c.title_words @@ format('''%s/%s''', s.store_number, looked.word)::tsquery)
    returning w.word
  )
  select (select max(word) from looked), (select count(*) from looked), (select count(*) from gone)
$$;


-- That of 0083: it says whether it looked for other words than those that were typed, and a corrected word may be that of
-- a title.
drop function fd_search_products(text, bigint, bigint, text, text, integer, integer);
create function fd_search_products(wanted text, price_min bigint, price_max bigint, collection text, sort text, page_limit integer, page_offset integer)
returns TABLE(ids uuid[], result_count integer, price_buckets json, in_collections json, is_corrected boolean)
language plpgsql stable security definer set pg_trgm.similarity_threshold=0.2 set pg_trgm.word_similarity_threshold=0.4 set plan_cache_mode=force_generic_plan set search_path=public, pg_temp set work_mem='32MB' as
$$
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
    return query select '{}'::uuid[], 0, '[]'::json, '[]'::json, false;
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
       where tries <= 2 and not browses and s.tenant_ref = store.tenant_ref
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
    else
      named := array(select c.id from collections c
                      where c.tenant_ref = store.tenant_ref and c.title_words @@ asked);
    end if;
  end loop;
  return query select hit.ids, hit.result_count, hit.price_buckets, hit.in_collections,
                      tries > 1 and hit.matches > 0;
end $$;
alter function fd_search_products(text, bigint, bigint, text, text, integer, integer) owner to fd_search;
revoke execute on function fd_search_products(text, bigint, bigint, text, text, integer, integer) from public;
grant execute on function fd_search_products(text, bigint, bigint, text, text, integer, integer) to fd_app;


create function fd_search_note_pictures() returns trigger
language plpgsql set search_path = public, pg_temp as $$
begin
  perform fd_search_refresh(n.tenant_ref, array_agg(distinct n.product_id))
     from changed n where n.alt <> '' group by n.tenant_ref;
  return null;
end $$;

create function fd_search_note_picture_texts() returns trigger
language plpgsql set search_path = public, pg_temp as $$
begin
  perform fd_search_refresh(n.tenant_ref, array_agg(distinct n.product_id))
     from changed n
     join before o on o.tenant_ref = n.tenant_ref and o.product_id = n.product_id and o.asset_ref = n.asset_ref
    where n.alt is distinct from o.alt
    group by n.tenant_ref;
  return null;
end $$;

create trigger search_insert after insert on product_images referencing new table as changed
  for each statement execute function fd_search_note_pictures();
create trigger search_update after update on product_images
  referencing new table as changed old table as before
  for each statement execute function fd_search_note_picture_texts();
create trigger search_delete after delete on product_images referencing old table as changed
  for each statement execute function fd_search_note_pictures();

revoke all on function
  fd_search_long_words(text), fd_search_is_used(text, bigint, text), fd_search_note_pictures(),
  fd_search_note_picture_texts() from public;
grant execute on function
  fd_search_joins_words(regconfig), fd_search_long_words(text) to fd_app, fd_worker;
grant execute on function fd_search_is_used(text, bigint, text) to fd_search;
grant execute on function fd_search_words(tsvector) to fd_app, fd_worker;

select fd_search_refresh_titles(tenant_ref) from stores;
-- The worker indexes all products again, as after a change of the language.
insert into outbox (tenant_ref, type, payload)
select tenant_ref, 'store.language_changed.v1', jsonb_build_object('language', language) from stores;
