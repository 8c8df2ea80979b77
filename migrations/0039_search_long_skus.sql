-- A SKU of signs that stand for whole phrases is, written out and in one piece, longer than a word of a
-- vector may be. PostgreSQL does not look there: it cut the word wherever the length had run over, and
-- what was kept is no UTF-8, so that a copy of the table could not be read back.

-- That of 0015, without the words that `fd_search_scope` leaves out in any case.
create or replace function fd_search_skus(folded text[]) returns tsvector
language sql immutable parallel safe as $$
  select array_to_tsvector(coalesce(array_agg(distinct part), '{}'))
    from unnest(folded) as sku,
         unnest(string_to_array(sku, ' ') || replace(sku, ' ', '')) as part
   where part <> '' and octet_length(part) <= 200
$$;

-- What was cut already is made anew, and so are the words that were learned from it.
do $$
declare
  store record;
begin
  for store in
    select tenant_ref, array_agg(distinct product_id) as ids
      from variants
     where octet_length(replace(fd_search_fold(sku), ' ', '')) > 2046
     group by tenant_ref
  loop
    perform fd_search_refresh(store.tenant_ref, store.ids);
    delete from search_words where tenant_ref = store.tenant_ref;
    insert into search_words (tenant_ref, word)
    select distinct s.tenant_ref, w.word
      from product_search s cross join lateral fd_search_words(s.head) as w (word)
     where s.tenant_ref = store.tenant_ref;
  end loop;
end $$;
