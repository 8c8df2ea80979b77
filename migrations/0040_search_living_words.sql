-- A word that no product has any more is not meant by a slip.
--
-- Words stay when their last product goes, and of those that a mistyped one may be meant for the nearest
-- alone count: a product that was once called `Expresso` kept `expressso` from finding the `Espresso`
-- that it has become.

-- That of 0029, of words that are there; what is hardly alike is looked for only where nothing is near.
create function fd_search_nearest(tenant text, store bigint, forms text[]) returns setof text
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
          and word_similarity(given.typed, part.word)
              >= case when length(part.word) >= length(given.typed) then 0.5 else 0.6 end
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

-- That of 0029, which asks the new one.
create or replace function fd_search_corrected(tenant text, store bigint, config regconfig, folded text)
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
         from fd_search_nearest(tenant, store, array[a.word, a.stem]) as one (word),
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

drop function fd_search_nearest(text, text[]);
revoke all on function fd_search_nearest(text, bigint, text[]) from public;
grant execute on function fd_search_nearest(text, bigint, text[]) to fd_search;
