-- Search over a store's active products.
--
-- What is searched stands in a table of its own, a row for each product, kept by triggers. Under row
-- level security a text index is never used (`@@` is not leakproof), so a definer function reads it,
-- as a role that can read little else. The tenant comes from the setting, never from an argument.

create table product_search (
  tenant_ref  text        not null references stores,
  product_id  uuid        not null,
  created_at  timestamptz not null,
  -- The lowest of its variants for sale. Null: it has none.
  price_cents bigint,
  collections uuid[]      not null default '{}',
  -- Name and SKUs, folded: for typing errors and parts of words. Empty, like `head` and `words`,
  -- unless the product is active, so that nothing finds it.
  names       text        not null default '',
  -- The words of name and SKUs with their places: ranks a match there above any other.
  head        tsvector    not null default '',
  -- The words of everything, the description's too.
  words       tsvector    not null default '',
  primary key (tenant_ref, product_id),
  foreign key (tenant_ref, product_id) references products on delete cascade
-- Prices and collections change more often than words. With room on its page such a change costs no
-- index entry.
) with (fillfactor = 85);

create index product_search_words on product_search using gin (tenant_ref, words);
create index product_search_names on product_search using gin (tenant_ref, names gin_trgm_ops);

call fd_fence('product_search', app => 'select, insert, update', worker => 'select, update');

-- One spelling for all: composed, without accents, in lower case, words and spaces alone. Code points
-- and no character classes, which mean something else under every locale.
create function fd_search_fold(given text) returns text
language sql stable parallel safe as $$
  select btrim(lower(
    case when octet_length(given) = length(given)
         then regexp_replace(given, '[^A-Za-z0-9]+', ' ', 'g')
         else public.unaccent('public.unaccent', regexp_replace(regexp_replace(
                normalize(given, nfkc), '[\u0300-\u036f\u200b-\u200f\ufe00-\ufe0f\ufeff]+', '', 'g'),
                '[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00a9\u00ab-\u00b4\u00b6-\u00b9'
                '\u00bb-\u00bf\u00d7\u00f7\u2000-\u206f\u2100-\u2bff\u3000-\u3004\u3008-\u3020'
                '\ufff0-\uffff]+', ' ', 'g')) end))
$$;

-- The stemmer for a language tag. A language that this server cannot stem stays as it is written.
create function fd_search_config(language text) returns regconfig
language sql stable parallel safe as $$
  select coalesce((
    select c.oid::regconfig
      from (values ('ar', 'arabic'), ('ca', 'catalan'), ('da', 'danish'), ('de', 'german'),
                   ('el', 'greek'), ('en', 'english'), ('es', 'spanish'), ('et', 'estonian'),
                   ('eu', 'basque'), ('fi', 'finnish'), ('fr', 'french'), ('ga', 'irish'),
                   ('hi', 'hindi'), ('hu', 'hungarian'), ('hy', 'armenian'), ('id', 'indonesian'),
                   ('it', 'italian'), ('lt', 'lithuanian'), ('nb', 'norwegian'), ('ne', 'nepali'),
                   ('nl', 'dutch'), ('nn', 'norwegian'), ('no', 'norwegian'),
                   ('pt', 'portuguese'), ('ro', 'romanian'), ('ru', 'russian'), ('sr', 'serbian'),
                   ('sv', 'swedish'), ('ta', 'tamil'), ('tr', 'turkish'), ('yi', 'yiddish')
           ) as known (tag, name)
      join pg_ts_config c on c.cfgname = known.name and c.cfgnamespace = 'pg_catalog'::regnamespace
     where known.tag = lower(split_part(language, '-', 1))
  ), 'simple'::regconfig)
$$;

-- Puts the store's number before each word: the index is one for all stores, and whoever asks for all
-- words that begin with `a` would else walk through everybody's. Folded words need no quoting.
create function fd_search_scope(store bigint, vector tsvector) returns tsvector
language sql immutable parallel safe as $$
  select coalesce(string_agg(concat('''', store, '/', w.lexeme, '''',
                                    ':' || array_to_string(w.positions, ',')), ' '), '')::tsvector
    from unnest(vector) as w
   -- PostgreSQL has a limit for a word, and nobody types one as long as this.
   where octet_length(w.lexeme) <= 200
$$;

-- A SKU is found by its parts, and in one piece whatever stands between them.
create function fd_search_skus(folded text[]) returns tsvector
language sql immutable parallel safe as $$
  select array_to_tsvector(coalesce(array_agg(distinct part), '{}'))
    from unnest(folded) as sku,
         unnest(string_to_array(sku, ' ') || replace(sku, ' ', '')) as part
   where part <> ''
$$;

-- Makes the words of these products anew. Their rows are locked before anything is read, so that
-- whoever changes another part of the same product comes before us or after us. The shared lock keeps
-- the store's language as it is meanwhile. `offset 0` lets nothing be worked out twice.
create function fd_search_refresh(target text, ids uuid[]) returns void
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
                                    || fd_search_skus(v.skus)) as head
     offset 0
   ) as made
   where s.tenant_ref = target and s.product_id = p.id;
end $$;

-- The next products of a store after one, made anew: for a change of language, in bites. Answers the
-- last of them, or null at the end.
create function fd_search_refresh_next(target text, after uuid, bite integer) returns uuid
language plpgsql set search_path = public, pg_temp as $$
declare
  ids uuid[];
begin
  select array_agg(n.product_id order by n.product_id) into ids
    from (select product_id from product_search
           where tenant_ref = target and product_id > after
           order by product_id limit bite) as n;
  perform fd_search_refresh(target, ids);
  return ids[cardinality(ids)];
end $$;

create function fd_search_note_products() returns trigger
language plpgsql set search_path = public, pg_temp as $$
begin
  insert into product_search (tenant_ref, product_id, created_at)
  select tenant_ref, id, created_at from changed;
  perform fd_search_refresh(tenant_ref, array_agg(id)) from changed group by tenant_ref;
  return null;
end $$;

create function fd_search_note_texts() returns trigger
language plpgsql set search_path = public, pg_temp as $$
begin
  perform fd_search_refresh(n.tenant_ref, array_agg(n.id))
     from changed n join before o on o.tenant_ref = n.tenant_ref and o.id = n.id
    where (n.name, n.description, n.status) is distinct from (o.name, o.description, o.status)
    group by n.tenant_ref;
  return null;
end $$;

create function fd_search_note_variants() returns trigger
language plpgsql set search_path = public, pg_temp as $$
begin
  perform fd_search_refresh(tenant_ref, array_agg(distinct product_id))
     from changed group by tenant_ref;
  return null;
end $$;

create function fd_search_note_variant_changes() returns trigger
language plpgsql set search_path = public, pg_temp as $$
begin
  perform fd_search_refresh(n.tenant_ref, array_agg(distinct n.product_id))
     from changed n join before o on o.tenant_ref = n.tenant_ref and o.id = n.id
    where (n.sku, n.price_cents, n.archived_at) is distinct from (o.sku, o.price_cents, o.archived_at)
    group by n.tenant_ref;
  return null;
end $$;

create function fd_search_note_collections() returns trigger
language plpgsql set search_path = public, pg_temp as $$
begin
  perform from product_search s
    where (s.tenant_ref, s.product_id) in (select tenant_ref, product_id from changed)
    order by s.tenant_ref, s.product_id for update;
  update product_search s
     set collections = array(
           select c.collection_id from collection_products c
            where c.tenant_ref = s.tenant_ref and c.product_id = s.product_id
            order by c.collection_id)
   where (s.tenant_ref, s.product_id) in (select tenant_ref, product_id from changed);
  return null;
end $$;

-- A large store takes longer than a statement may, so the worker does it.
create function fd_search_note_language() returns trigger
language plpgsql set search_path = public, pg_temp as $$
begin
  perform pg_advisory_xact_lock(hashtextextended(new.tenant_ref || '/search language', 0));
  insert into outbox (tenant_ref, type, payload)
  values (new.tenant_ref, 'store.language_changed.v1', jsonb_build_object('language', new.language));
  return null;
end $$;

create trigger search_insert after insert on products referencing new table as changed
   for each statement execute function fd_search_note_products();
create trigger search_update after update on products
   referencing old table as before new table as changed
   for each statement execute function fd_search_note_texts();
create trigger search_insert after insert on variants referencing new table as changed
   for each statement execute function fd_search_note_variants();
create trigger search_update after update on variants
   referencing old table as before new table as changed
   for each statement execute function fd_search_note_variant_changes();
create trigger search_delete after delete on variants referencing old table as changed
   for each statement execute function fd_search_note_variants();
create trigger search_insert after insert on collection_products referencing new table as changed
   for each statement execute function fd_search_note_collections();
create trigger search_delete after delete on collection_products referencing old table as changed
   for each statement execute function fd_search_note_collections();
create trigger search_language after update of language on stores for each row
  when (old.language is distinct from new.language) execute function fd_search_note_language();

-- What a shopper typed, folded, as a query: every word, stemmed, and the last one may be only a
-- beginning. Text is text: nothing in it is an operator.
create function fd_search_query(store bigint, config regconfig, folded text) returns tsquery
language sql stable parallel safe as $$
  with given as (
    select typed, typed[cardinality(typed)] as last
      from (select (string_to_array(folded, ' '))[:16] as typed) as cut
  ),
  firsts as (
    select string_agg(format('''%s/%s''', store, lexeme), ' & ') as needed
      from given, unnest(to_tsvector(config, array_to_string(typed[:cardinality(typed) - 1], ' ')))
     where octet_length(lexeme) <= 200
  ),
  lasts as (
    select string_agg(format('''%s/%s''', store, lexeme), ' & ') as stem
      from given, unnest(to_tsvector(config, last))
     where octet_length(lexeme) <= 200
  ),
  parts as (
    select needed,
           -- A last word that says nothing ("the") counts only where it stands alone.
           case when stem is not null or needed is null
                then concat_ws(' | ', stem, format('''%s/%s'':*', store, left(last, 50))) end as ending,
           -- A SKU may be written with other signs between its parts, or none.
           case when cardinality(typed) between 2 and 6
                then format('''%s/%s'':*', store, left(array_to_string(typed, ''), 50)) end as sku
      from given, firsts, lasts
  )
  select concat_ws(' | ', concat_ws(' & ', '(' || needed || ')', '(' || ending || ')'), sku)::tsquery
    from parts
$$;

-- The search itself. No row: the store is not live. Prices are counted without the price filter and
-- collections without theirs, so that each facet shows what else there is.
create function fd_search_products(
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
-- How much a mistyped word must look like the right one. `coffe`, `cofee` and `expresso` pass.
set pg_trgm.word_similarity_threshold = 0.5
as $$
declare
  store  record;
  folded text := fd_search_fold(wanted);
  asked  tsquery;
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
  asked := fd_search_query(store.store_number, fd_search_config(store.language), folded);
  select c.id into chosen
    from collections c where c.tenant_ref = store.tenant_ref and c.slug = collection;
  return query
  with found as materialized (
    select s.product_id, s.created_at, s.price_cents, s.collections,
           case sort when 'relevance' then -ts_rank(s.head, asked)::float8
                     when 'price_asc' then s.price_cents
                     when 'price_desc' then -s.price_cents end as place
      from product_search s
     where s.tenant_ref = store.tenant_ref and s.words @@ asked
  ),
  -- Nothing has these words: what looks like them, or has them inside of a longer one. Likeness is
  -- dear to work out, so no more than a thousand are shown.
  alike as materialized (
    select s.product_id, s.created_at, s.price_cents, s.collections,
           case sort when 'relevance' then -word_similarity(folded, s.names)::float8
                     when 'price_asc' then s.price_cents
                     when 'price_desc' then -s.price_cents end as place
      from product_search s
     where not exists (select from found)
       and s.tenant_ref = store.tenant_ref and (s.names %> folded or s.names like inside)
     limit 1000
  ),
  hits as not materialized (
    select h.*, (price_min is null or coalesce(h.price_cents >= price_min, false))
                and (price_max is null or coalesce(h.price_cents <= price_max, false)) as priced,
           -- An unknown collection holds nothing.
           collection is null or coalesce(chosen = any (h.collections), false) as collected
      from (select * from found union all select * from alike) as h
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
  select array(select p.product_id from page p order by p.place, p.created_at desc, p.product_id),
         (select coalesce(sum(g.count), 0)::integer from groups g where g.priced and g.collected),
         (select coalesce(json_agg(json_build_object(
                   'min_cents', case b.bucket when 0 then 0 else edges[b.bucket] end,
                   'max_cents', edges[b.bucket + 1] - 1, 'count', b.count) order by b.bucket), '[]')
            from buckets b),
         (select coalesce(json_agg(json_build_object('slug', c.slug, 'title', c.title,
                                                     'count', n.count)
                                   order by n.count desc, c.slug), '[]')
            from counted n
            join collections c on c.tenant_ref = store.tenant_ref and c.id = n.id);
end $$;

alter function fd_search_products(text, bigint, bigint, text, text, integer, integer)
  owner to fd_search;

-- All that the role can read.
create policy search on stores for select to fd_search using (true);
create policy search on collections for select to fd_search using (true);
create policy search on product_search for select to fd_search using (true);
grant select (tenant_ref, store_number, language, status) on stores to fd_search;
grant select (tenant_ref, id, slug, title) on collections to fd_search;
grant select on product_search to fd_search;

revoke all on function
  fd_search_fold(text), fd_search_config(text), fd_search_scope(bigint, tsvector),
  fd_search_skus(text[]), fd_search_refresh(text, uuid[]),
  fd_search_refresh_next(text, uuid, integer), fd_search_note_products(), fd_search_note_texts(),
  fd_search_note_variants(), fd_search_note_variant_changes(), fd_search_note_collections(),
  fd_search_note_language(), fd_search_query(bigint, regconfig, text),
  fd_search_products(text, bigint, bigint, text, text, integer, integer)
from public;
grant execute on function fd_search_fold(text), fd_search_config(text),
  fd_search_query(bigint, regconfig, text) to fd_search;
grant execute on function fd_search_fold(text), fd_search_config(text),
  fd_search_scope(bigint, tsvector), fd_search_skus(text[]), fd_search_refresh(text, uuid[])
  to fd_app, fd_worker;
grant execute on function fd_search_refresh_next(text, uuid, integer) to fd_worker;
grant execute on function
  fd_search_products(text, bigint, bigint, text, text, integer, integer) to fd_app;

-- Products from before there was a search.
insert into product_search (tenant_ref, product_id, created_at)
select tenant_ref, id, created_at from products;
select fd_search_refresh(tenant_ref, array_agg(id)) from products group by tenant_ref;
