-- What a store sells and keeps in stock: the catalog with its search, the stock, and purchasing from vendors.

-- The products of a store.
create table products (
  tenant_ref                  text        not null references stores,
  id                          uuid        not null default fd_uuid(),
  -- Lower case and in Unicode's form C, so that one word is one slug.
  slug                        text        not null check (length(slug) between 1 and 200),
  name                        text        not null check (length(name) between 1 and 300),
  description                 text        check (length(description) <= 20000),
  status                      text        not null default 'active'
                              check (status in ('draft', 'active', 'archived')),
  is_subscription             boolean     not null default false,
  subscription_interval       text        check (subscription_interval in ('day', 'week', 'month', 'year')),
  subscription_interval_count integer     check (subscription_interval_count between 1 and 1000),
  subscription_price_cents    bigint      check (subscription_price_cents between 0 and 100000000000),
  metadata                    jsonb       not null default '{}'
                              check (jsonb_typeof(metadata) = 'object'),
  -- Not the transaction's time: products that are made together keep their order.
  created_at                  timestamptz not null default fd_clock(),
  updated_at                  timestamptz not null default fd_clock(),
  primary key (tenant_ref, id),
  check (is_subscription = (subscription_interval is not null)),
  check (is_subscription = (subscription_interval_count is not null)),
  check (is_subscription or subscription_price_cents is null)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05,
        autovacuum_analyze_scale_factor = 0.02);
call fd_fence('products', app => 'select, insert, update', worker => 'select');
call fd_meter('products', $$('products', 1),
  ('catalog_bytes', octet_length(s.slug) + octet_length(s.name) + coalesce(octet_length(s.description), 0)
                    + octet_length(s.metadata::text))$$, true);

create index products_newest on products (tenant_ref, created_at desc, id desc);
-- The public list, which has the active products, and the merchant's list by status.
create index products_by_status on products (tenant_ref, status, created_at desc, id desc);
-- For the merchant's filter by a part of a name, a slug or a SKU: fd_filter_products.
create index products_named on products
  using gin (tenant_ref, lower(normalize(name || ' ' || slug)) gin_trgm_ops);
-- An archived product gives its slug free. SKUs stay used: orders and stock name them.
create unique index products_slug on products (tenant_ref, slug) where status <> 'archived';

create policy search on products for select to fd_search using (true);
grant select (tenant_ref, id, slug, name, status, created_at) on products to fd_search;

-- What can be bought of a product: each product has one or several variants.
create table variants (
  tenant_ref                 text        not null references stores,
  id                         uuid        not null default fd_uuid(),
  product_id                 uuid        not null,
  sku                        text        not null check (length(sku) between 1 and 100),
  label                      text        check (length(label) <= 300),
  price_cents                bigint      not null check (price_cents between 0 and 100000000000),
  currency                   text        not null check (currency ~ '^[A-Z]{3}$'),
  -- The variant's place among the variants of its product.
  position                   integer     not null default 0,
  metadata                   jsonb       not null default '{}'
                             check (jsonb_typeof(metadata) = 'object'),
  archived_at                timestamptz,
  created_at                 timestamptz not null default fd_now(),
  updated_at                 timestamptz not null default fd_now(),
  -- Whether a variant has no more units than its threshold: stored, so that the variants with low stock are a
  -- range of an index. It changes only when the units cross the threshold, though stock changes with every
  -- order.
  is_low                     boolean     not null default false,
  -- The options that distinguish the variant, as names and values beside its label.
  options                    jsonb       not null default '[]'
                             check (jsonb_typeof(options) = 'array'),
  -- The price before the reduction, as shoppers are shown it.
  compare_at_price_cents     bigint      check (compare_at_price_cents between 1 and 100000000000),
  -- The image of the product that shows this variant. No foreign key: a change of the images rewrites all their rows,
  -- and itself clears the reference to an image that is gone.
  image_asset_ref            text        check (length(image_asset_ref) <= 200),
  -- What one unit of a variant contains, so that shoppers see the price of a kilogram or a litre of it.
  content_amount             integer     check (content_amount between 1 and 1000000),
  content_unit               text
                             check (content_unit in ('g', 'kg', 'ml', 'l', 'cm', 'm', 'cm2', 'm2', 'piece')),
  -- A variant that is a gift card issues a card for each unit when its order is placed. The amount paid is a debt to
  -- the card's holder: it is no sale, and is neither taxed, discounted nor shipped.
  gift_card                  boolean     not null default false,
  -- The lowest price of the last 30 days. Stored with the variant, since every list of products shows it, and
  -- it changes only with the price.
  lowest_price_30_days_cents bigint      check (lowest_price_30_days_cents between 0 and 100000000000),
  primary key (tenant_ref, id),
  constraint variants_sku unique (tenant_ref, sku),
  foreign key (tenant_ref, product_id) references products,
  constraint variants_content check ((content_amount is null) = (content_unit is null)),
  constraint variants_gift_card_price check (not gift_card or price_cents > 0)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05,
        autovacuum_analyze_scale_factor = 0.02);
call fd_fence('variants', app => 'select, insert, update', worker => 'select, update (is_low)');
call fd_meter('variants', $$('variants', 1),
  ('catalog_bytes', octet_length(s.sku) + coalesce(octet_length(s.label), 0) + octet_length(s.metadata::text)
                    + case when s.options = '[]' then 0 else octet_length(s.options::text) end)$$, true);

create index variants_of_product on variants (tenant_ref, product_id, position, id);
-- For fd_filter_products.
create index variants_named on variants using gin (tenant_ref, lower(sku) gin_trgm_ops);
-- Variants on sale by SKU.
create index variants_on_sale on variants (tenant_ref, sku) where archived_at is null;
create index variants_by_stock on variants (tenant_ref, is_low, sku) where archived_at is null;

create policy search on variants for select to fd_search using (true);
grant select (tenant_ref, product_id, sku) on variants to fd_search;

-- The prices that variants had while shoppers could buy at them. A reduction is announced with the lowest
-- price of the 30 days before it (directive 98/6/EC, article 6a), so a change keeps the price that it ends.
-- Rows are never changed.
create table past_prices (
  tenant_ref  text        not null references stores,
  id          uuid        not null default fd_uuid(),
  variant_id  uuid        not null,
  price_cents bigint      not null check (price_cents between 0 and 100000000000),
  currency    text        not null check (currency ~ '^[A-Z]{3}$'),
  until_at    timestamptz not null default fd_now(),
  primary key (tenant_ref, id),
  foreign key (tenant_ref, variant_id) references variants (tenant_ref, id)
);
call fd_fence('past_prices', app => 'select, insert', worker => 'select');
call fd_due('past_prices');
-- Twice the days that a reduction looks back on.
call fd_freeze_young('past_prices', 'until_at', '60 days');

create index past_prices_of_variant on past_prices (tenant_ref, variant_id, until_at);
create index past_prices_by_age on past_prices (tenant_ref, until_at, id);

-- Pictures of a product, in order. The first is its main one. `asset_ref` is what the contract shows:
-- asset:<tenant>/<sha256>.<ext>
create table product_images (
  tenant_ref text    not null references stores,
  product_id uuid    not null,
  asset_ref  text    not null check (length(asset_ref) <= 200),
  alt        text    check (length(alt) <= 1000),
  position   integer not null,
  primary key (tenant_ref, product_id, asset_ref),
  foreign key (tenant_ref, product_id) references products
);
call fd_fence('product_images', app => 'select, insert, update, delete', worker => 'select');

-- Groups of products that shoppers browse by.
create table collections (
  tenant_ref  text        not null references stores,
  id          uuid        not null default fd_uuid(),
  slug        text        not null check (length(slug) between 1 and 200),
  title       text        not null check (length(title) between 1 and 300),
  description text        check (length(description) <= 20000),
  -- The collection's place among the store's collections.
  position    integer     not null default 0,
  created_at  timestamptz not null default fd_now(),
  updated_at  timestamptz not null default fd_now(),
  -- The words of the collection's title, in the same form as `head` has those of a product. When the language changes,
  -- the worker writes them anew.
  title_words tsvector    not null default '',
  primary key (tenant_ref, id),
  constraint collections_slug unique (tenant_ref, slug)
);
call fd_fence('collections', app => 'select, insert, update, delete',
              worker => 'select, update (title_words)');
call fd_meter('collections', $$('collections', 1),
  ('collection_bytes', octet_length(s.slug) + octet_length(s.title) + coalesce(octet_length(s.description), 0))$$, true);

create index collections_in_order on collections (tenant_ref, position, created_at, id);

create policy search on collections for select to fd_search using (true);
grant select (tenant_ref, id, slug, title, title_words) on collections to fd_search;

-- The products of a collection, in its order.
create table collection_products (
  tenant_ref    text    not null references stores,
  collection_id uuid    not null,
  product_id    uuid    not null,
  position      integer not null,
  -- Whether a product of a collection is active. Stored with the membership, so that a shopper's page of a collection,
  -- and the number of its products, are a range of an index; a join would look up every member.
  on_sale       boolean not null default false,
  primary key (tenant_ref, collection_id, product_id),
  foreign key (tenant_ref, collection_id) references collections on delete cascade,
  foreign key (tenant_ref, product_id) references products
);
call fd_fence('collection_products', app => 'select, insert, update, delete', worker => 'select');

create index collection_products_of_product on collection_products (tenant_ref, product_id);
-- The products of a collection, in its own order.
create index collection_products_in_order
  on collection_products (tenant_ref, collection_id, position, product_id);
create index collection_products_on_sale
  on collection_products (tenant_ref, collection_id, position, product_id) where on_sale;

create policy search on collection_products for select to fd_search using (true);
grant select (tenant_ref, collection_id, product_id, position, on_sale) on collection_products to fd_search;

-- Keeps `on_sale` of a membership. The lock keeps the product's status until the membership is committed. A
-- change of the status waits for it, and then finds the membership.
create function fd_member_on_sale() returns trigger
  language plpgsql as $$
begin
  select p.status = 'active' into new.on_sale
    from products p
   where p.tenant_ref = new.tenant_ref and p.id = new.product_id
     for share;
  -- If the product does not exist, the foreign key refuses the membership.
  new.on_sale := coalesce(new.on_sale, false);
  return new;
end $$;

-- Writes a change of a product's status to its memberships.
create function fd_members_on_sale() returns trigger
  language plpgsql as $$
begin
  update collection_products m
     set on_sale = new.status = 'active'
   where m.tenant_ref = new.tenant_ref and m.product_id = new.id;
  return null;
end $$;

revoke all on function fd_member_on_sale, fd_members_on_sale from public;

create trigger on_sale before insert on collection_products
  for each row execute function fd_member_on_sale();
create trigger on_sale after update of status on products
  for each row when (old.status <> new.status) execute function fd_members_on_sale();

-- A merchant's requests for an act that only the operator may do: to make a draft product active. Every change of a
-- request is made under the lock of its product.
create table activation_requests (
  tenant_ref    text        not null references stores,
  id            uuid        not null default fd_uuid(),
  product_id    uuid        not null,
  status        text        not null default 'pending'
                check (status in ('pending', 'approved', 'declined', 'withdrawn')),
  note          text        check (length(note) <= 2000),
  requested_by  text        not null check (length(requested_by) <= 200),
  created_at    timestamptz not null default fd_now(),
  decided_at    timestamptz,
  decision_note text        check (length(decision_note) <= 2000),
  primary key (tenant_ref, id),
  foreign key (tenant_ref, product_id) references products,
  check ((status = 'pending') = (decided_at is null))
);
call fd_fence('activation_requests', app => 'select, insert, update', worker => 'select');

-- A product has one open request at a time.
create unique index activation_requests_open
    on activation_requests (tenant_ref, product_id) where status = 'pending';
-- A product shows its latest request.
create index activation_requests_of_product
    on activation_requests (tenant_ref, product_id, created_at desc, id desc);
create unique index activation_requests_by_id on activation_requests (id);
create index activation_requests_all_newest on activation_requests (created_at desc, id desc);
create index activation_requests_all_of_status on activation_requests (status, created_at desc, id desc);

-- The claim scanner's verdict on a product's texts: a feed leaves out a product that it refuses. A feed of 100,000
-- products would take a minute if all texts were scanned again for each reader. A verdict counts for the texts and the
-- rules that it was given for, so that it is never outdated.
create table product_scans (
  tenant_ref    text        not null references stores,
  product_id    uuid        not null,
  text_hash     bytea       not null check (octet_length(text_hash) = 32),
  rules_version text        not null check (length(rules_version) <= 100),
  passed        boolean     not null,
  scanned_at    timestamptz not null default fd_now(),
  primary key (tenant_ref, product_id),
  foreign key (tenant_ref, product_id) references products (tenant_ref, id) on delete cascade
);
call fd_fence('product_scans', app => 'select, insert, update', worker => 'select');

-- Loads the library of pg_trgm: before that only a superuser may name its settings.
select show_limit();

-- Search over a store's active products.
--
-- What is searched stands in a table of its own, a row for each product, kept by triggers. Under row level
-- security a text index is never used (`@@` is not leakproof), so a definer function reads it, as a role that
-- can read little else. The tenant comes from the setting, never from an argument.

-- Folds a text to one spelling: composed, without accents, in lower case, words and spaces alone. It names code points
-- and no character classes, which differ between locales. Signs are removed last, since `unaccent` may bring some
-- back: it makes a quotation mark of the `ʻ` in Hawaiʻi.
create function fd_search_fold(given text) returns text
language sql stable parallel safe as $$
  select btrim(regexp_replace(lower(
    case when octet_length(given) = length(given) then given
         else public.unaccent('public.unaccent', regexp_replace(regexp_replace(
                normalize(given, nfkc), '[\u0300-\u036f\u200b-\u200f\ufe00-\ufe0f\ufeff]+', '', 'g'),
                '[\u0080-\u00a9\u00ab-\u00b4\u00b6-\u00b9\u00bb-\u00bf\u00d7\u00f7\u2000-\u206f'
                '\u2100-\u2bff\u3000-\u3004\u3008-\u3020\ufff0-\uffff]+', ' ', 'g')) end),
    '[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u007f]+', ' ', 'g'))
$$;

-- The stemmer for a language tag. Words of a language that this server cannot stem are used as written.
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

-- Languages that write compounds as one word.
create function fd_search_joins_words(config regconfig) returns boolean
language sql stable parallel safe as $$
  select config::text
         in ('danish', 'dutch', 'estonian', 'finnish', 'german', 'hungarian', 'norwegian', 'swedish')
$$;

-- Puts the store's number before each word. The index is one for all stores: a search for all words that begin with
-- `a` would otherwise walk through the words of every store. Folded words need no quoting.
create function fd_search_scope(store bigint, vector tsvector) returns tsvector
language sql immutable parallel safe as $$
  select coalesce(string_agg(concat('''', store, '/', w.lexeme, '''',
                                    ':' || array_to_string(w.positions, ',')), ' '), '')::tsvector
    from unnest(vector) as w
   -- PostgreSQL has a limit for a word, and no shopper types such a long one.
   where octet_length(w.lexeme) <= 200
$$;

-- A SKU is found by its parts, and in one piece whatever stands between them. PostgreSQL would cut words that
-- are longer than a vector allows, and not at the end of a character.
create function fd_search_skus(folded text[]) returns tsvector
language sql immutable parallel safe as $$
  select array_to_tsvector(coalesce(array_agg(distinct part), '{}'))
    from unnest(folded) as sku,
         unnest(string_to_array(sku, ' ') || replace(sku, ' ', '')) as part
   where part <> '' and octet_length(part) <= 200
$$;

-- German texts with their umlauts spelt out, folded; empty without umlauts. Both cases are named, since
-- what `lower` does depends on the locale.
create function fd_search_spell_out(name text) returns text
language sql stable parallel safe as $$
  select case when n.composed ~ '[\u00e4\u00c4\u00f6\u00d6\u00fc\u00dc]'
              then fd_search_fold(regexp_replace(regexp_replace(regexp_replace(
                     n.composed, '[\u00e4\u00c4]', 'ae', 'g'), '[\u00f6\u00d6]', 'oe', 'g'),
                     '[\u00fc\u00dc]', 'ue', 'g'))
              else '' end
    from (select normalize(name, nfc) as composed) as n
$$;

-- Long words as they are written: a part of a compound is looked for in them, and a stem has lost its end.
create function fd_search_long_words(given text) returns tsvector
language sql immutable as $$
  select array_to_tsvector(coalesce(array_agg(distinct w.lexeme), '{}'))
    from unnest(to_tsvector('simple'::regconfig, given)) as w
   -- A compound has at least two parts of three letters each.
   where length(w.lexeme) between 6 and 50 and w.lexeme !~ '[0-9]'
$$;

revoke all on function fd_search_fold, fd_search_config, fd_search_joins_words, fd_search_scope,
  fd_search_skus, fd_search_spell_out, fd_search_long_words from public;
grant execute on function fd_search_fold, fd_search_config, fd_search_joins_words to fd_app,
  fd_worker, fd_search;
grant execute on function fd_search_scope, fd_search_skus, fd_search_spell_out,
  fd_search_long_words to fd_app, fd_worker;

-- The searchable words: one row for each product.
create table product_search (
  tenant_ref  text        not null references stores,
  product_id  uuid        not null,
  created_at  timestamptz not null,
  -- The lowest price of its variants on sale. Null: it has none.
  price_cents bigint,
  collections uuid[]      not null default '{}',
  -- Name and SKUs, folded: for typing errors and parts of words. Empty, like `head` and `words`, unless the
  -- product is active, so that nothing finds it.
  names       text        not null default '',
  -- The words of name and SKUs with their positions: a match there ranks above any other.
  head        tsvector    not null default '',
  -- All words: also those of the description, and of the texts of pictures.
  words       tsvector    not null default '',
  primary key (tenant_ref, product_id),
  foreign key (tenant_ref, product_id) references products on delete cascade
-- Prices and collections change more often than words. With room on its page such a change costs no index
-- entry.
) with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02,
        autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
call fd_fence('product_search', app => 'select, insert, update', worker => 'select, update');

create index product_search_words on product_search using gin (tenant_ref, words);
create index product_search_names on product_search using gin (tenant_ref, names gin_trgm_ops);

create policy search on product_search for select to fd_search using (true);
grant select on product_search to fd_search;

-- The words that the store really has, against which typing errors are held, word by word.
--
-- Likeness of a whole query to a whole name misses most slips: a wrong letter in the middle of `teapot`
-- breaks three of its seven trigrams. So each word that no product has is replaced by those of the store's
-- own words that are one slip away, and these are looked up in the text index.
create table search_words (
  tenant_ref text not null references stores,
  -- A word of names, SKUs and titles, folded: as written, and its stem. In languages that join words, also those of
  -- descriptions and pictures, since a part of one is looked for. None with a digit, since two similar numbers are no
  -- typing error. A word stays when its last product goes: it only finds nothing then, and fd_search_forget deletes
  -- it.
  word       text not null check (length(word) between 3 and 50),
  primary key (tenant_ref, word)
);
call fd_fence('search_words', app => 'select, insert', worker => 'select, insert');
call fd_due('search_words');

create index search_words_alike on search_words using gin (tenant_ref, word gin_trgm_ops);

create policy search on search_words for select to fd_search using (true);
create policy forget on search_words for delete to fd_search using (true);
grant select, delete on search_words to fd_search;

-- The words of a vector, without the store's number before them.
create function fd_search_words(vector tsvector) returns setof text
language sql immutable parallel safe as $$
  select s.word
    from unnest(vector) as w,
         lateral (select substr(w.lexeme, strpos(w.lexeme, '/') + 1) as word) as s
   where length(s.word) between 3 and 50 and s.word !~ '[0-9]'
$$;

-- Adds the words of products to the known words. All transactions insert in the same order, so that two which add the
-- same words do not deadlock.
create function fd_search_learn() returns trigger
language plpgsql set search_path = public, pg_temp as $$
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

revoke all on function fd_search_words, fd_search_learn from public;
grant execute on function fd_search_words to fd_app, fd_worker;

create trigger search_learn after update on product_search
   referencing old table as before new table as changed
   for each statement execute function fd_search_learn();

-- Writes the words of these products anew. Their rows are locked before anything is read, so that a transaction which
-- changes another part of the same product comes before or after this one. The shared lock keeps the store's language
-- as it is meanwhile. `offset 0` keeps PostgreSQL from computing anything twice.
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
         words = strip(made.head || fd_search_scope(number, to_tsvector(stemmer, made.texts)
                                                            || to_tsvector(stemmer, made.texts_spelt_out)
                                                            || made.long_words))
    from unnest(ids) as one
    join products p on p.tenant_ref = target and p.id = one
   cross join lateral (
     -- No shopper looks for the last of a thousand variants, and a row has its limits.
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
            -- The words as written too, for a shopper who has typed only the beginning of a word.
            fd_search_scope(number, to_tsvector(stemmer, folded.name)
                                    || to_tsvector('simple', folded.name)
                                    || to_tsvector(stemmer, folded.spelt_out)
                                    || to_tsvector('simple', folded.spelt_out)
                                    || fd_search_skus(v.skus)) as head
     offset 0
   ) as made
   where s.tenant_ref = target and s.product_id = p.id;
end $$;

-- Writes the words of a store's next products anew, some at a time, after a change of language. Returns the last of
-- them, or null at the end.
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

revoke all on function fd_search_refresh, fd_search_refresh_next from public;
grant execute on function fd_search_refresh to fd_app, fd_worker;
grant execute on function fd_search_refresh_next to fd_worker;

-- Triggers that keep product_search, each for the rows of one statement.
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

-- A large store takes longer than a statement may, so the worker makes its words anew.
create function fd_search_note_language() returns trigger
language plpgsql set search_path = public, pg_temp as $$
begin
  perform pg_advisory_xact_lock(hashtextextended(new.tenant_ref || '/search language', 0));
  insert into outbox (tenant_ref, type, payload)
  values (new.tenant_ref, 'store.language_changed.v1', jsonb_build_object('language', new.language));
  return null;
end $$;

revoke all on function fd_search_note_products, fd_search_note_texts, fd_search_note_variants,
  fd_search_note_variant_changes, fd_search_note_pictures, fd_search_note_picture_texts,
  fd_search_note_collections, fd_search_note_language from public;

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
create trigger search_insert after insert on product_images referencing new table as changed
  for each statement execute function fd_search_note_pictures();
create trigger search_update after update on product_images
  referencing new table as changed old table as before
  for each statement execute function fd_search_note_picture_texts();
create trigger search_delete after delete on product_images referencing old table as changed
  for each statement execute function fd_search_note_pictures();

-- The words of a collection's title, with umlauts spelt out.
create function fd_search_title_words(target text, title text) returns tsvector
language sql stable set search_path = public, pg_temp as $$
  select fd_search_scope(s.store_number, to_tsvector(fd_search_config(s.language), fd_search_fold(title))
                                         || to_tsvector('simple', fd_search_fold(title))
           || case when fd_search_config(s.language) = 'german'::regconfig
                   then to_tsvector('german', fd_search_spell_out(title)) else '' end)
    from stores s where s.tenant_ref = target
$$;

-- Keeps the words of a title up to date, and adds them to the known words, so that a mistyped word can be corrected to
-- one.
create function fd_search_note_title() returns trigger
language plpgsql set search_path = public, pg_temp as $$
begin
  new.title_words := fd_search_title_words(new.tenant_ref, new.title);
  insert into search_words (tenant_ref, word)
  select new.tenant_ref, w.word from fd_search_words(new.title_words) as w (word) order by 2
      on conflict do nothing;
  return new;
end $$;

-- Makes the words of all titles of a store anew, after a change of its language.
create function fd_search_refresh_titles(target text) returns void
language sql set search_path = public, pg_temp as $$
  update collections c set title_words = fd_search_title_words(target, c.title)
   where c.tenant_ref = target;
  insert into search_words (tenant_ref, word)
  select distinct target, w.word
    from collections c cross join lateral fd_search_words(c.title_words) as w (word)
   where c.tenant_ref = target
   order by 2
      on conflict do nothing
$$;

revoke all on function fd_search_title_words, fd_search_note_title,
  fd_search_refresh_titles from public;
grant execute on function fd_search_title_words to fd_app, fd_worker;
grant execute on function fd_search_refresh_titles to fd_worker;

create trigger search_title before insert or update of title on collections
   for each row execute function fd_search_note_title();

-- The store's words that contain this one, at most forty. A part of four letters has to be their beginning or
-- their end, and one of three their end: "tee" is meant by "Kräutertee", not by "Stempel".
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

-- What a shopper typed, folded, as a query. Every word must occur: as its stem, the last one also as the
-- beginning of a word, and with compounds each of them inside a longer word of the store. Text is text:
-- nothing in it is an operator.
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
           -- A SKU may be typed with other signs between its parts, or none.
           case when g.count between 2 and 6
                then format('''%s/%s'':*', store, left(g.joined, 50)) end)::tsquery
    from needed n,
         (select count(*) as count, string_agg(word, '' order by place) as joined from typed) as g
$$;

revoke all on function fd_search_compounds, fd_search_query from public;
grant execute on function fd_search_compounds, fd_search_query to fd_search;

-- All words that result when two neighbouring letters of a word change places.
create function fd_search_swaps(typed text) returns text[]
language sql immutable parallel safe as $$
  select array_agg(overlay(typed placing reverse(substr(typed, i, 2)) from i for 2))
    from generate_series(1, length(typed) - 1) as i
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

-- The words of the store that the typed word, in any of its forms, may stand for, the nearest alone: a letter that is
-- wrong, missing or too much, or two that changed places; in a long word two such errors; failing that, words that it
-- may begin, that make up most of it, or that are a part of a compound. Only words that a product or a title has.
-- Words of three letters have too many neighbours for anything but a swap. Trigrams find candidates, the distance
-- decides.
create function fd_search_nearest(tenant text, store bigint, forms text[]) returns setof text
language sql stable as $$
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
          -- The typed word may be the beginning of a longer one. A shorter one must be most of it: `desk` is not meant
          -- by `desktop`.
          and (word_similarity(given.typed, part.word)
                 >= case when length(part.word) >= length(given.typed) then 0.5 else 0.6 end
               -- A part of a compound, with one typing error.
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

-- The same query with each word that the store does not have replaced by the words it may stand for, and by their
-- compounds. Null: there is nothing to replace. The look for the words as typed is planned as if all rows were wanted,
-- so that it uses the index, and yet ends at the first.
create function fd_search_corrected(tenant text, store bigint, config regconfig, folded text) returns tsquery
language sql stable
-- A plan for all stores supposes an average store, in which comparing every word is cheap.
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

revoke all on function fd_search_swaps, fd_search_is_used, fd_search_nearest,
  fd_search_corrected from public;
grant execute on function fd_search_swaps, fd_search_is_used, fd_search_nearest,
  fd_search_corrected to fd_search;

-- The search itself. No row: the store is not live. Without words it finds the products of the collection, in the
-- collection's own order. Prices are counted without the price filter and collections without the collection filter,
-- so that each facet shows the other choices. `is_corrected`: it looked for other words than those that were typed.
create function fd_search_products(
  wanted text, price_min bigint, price_max bigint, collection text, sort text,
  page_limit integer, page_offset integer
) returns table (ids uuid[], result_count integer, price_buckets json, in_collections json, is_corrected boolean)
language plpgsql stable security definer
set search_path = public, pg_temp
-- One plan fits all: the index finds what matches, and the rest follows. Planned anew for each query,
-- a search for a rare word would take twice as long.
set plan_cache_mode = force_generic_plan
-- Enough to hold the matches of a large store.
set work_mem = '32MB'
-- How much of a mistyped word must be in the right word, beyond a simple typing error.
set pg_trgm.word_similarity_threshold = 0.4
-- How similar two words still are after one typing error in four letters, or two in eight.
set pg_trgm.similarity_threshold = 0.2
as $$
declare
  store  record;
  config regconfig;
  folded text := fd_search_fold(wanted);
  asked  tsquery;
  -- The typed words themselves: products with them come before compounds. Null: there are no words.
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
  -- First the words as typed; if nothing has them, the words that they may stand for; if that finds nothing either,
  -- longer words that contain them.
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
    -- Products of a collection whose title has the words. Products without searchable words are not active.
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
    -- Products with the words inside longer words. Looking there is expensive, so at most a thousand are shown.
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
    -- Everything is counted in one pass over the matches; the following steps add up a few groups.
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

alter function fd_search_products owner to fd_search;
revoke all on function fd_search_products from public;
grant execute on function fd_search_products to fd_app;

-- The suggestions while a shopper types: a few products, and about how many there are. It ranks the first matches
-- alone and counts no facets, so that a word of every product costs as much as any other. A search of all of it counts
-- 100,000 products for five that are shown. The settings are those of fd_search_products.
create function fd_search_suggestions(wanted text, shown integer, looked_at integer)
returns table (ids uuid[], matches integer, is_corrected boolean)
language plpgsql stable security definer
set search_path = public, pg_temp
set plan_cache_mode = force_generic_plan
set pg_trgm.word_similarity_threshold = 0.4
set pg_trgm.similarity_threshold = 0.2
as $$
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
  -- In the order of a search: words as typed, words that they may stand for, parts of longer words.
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
        -- Products without searchable words are not active.
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

alter function fd_search_suggestions owner to fd_search;
revoke all on function fd_search_suggestions from public;
grant execute on function fd_search_suggestions to fd_app;

-- Deletes words of the store that no product and no title has, among the next `count` words after one.
-- Answers the last word that was looked at (null: there is none after it) and how many were deleted. It runs
-- as fd_search, whose text index row level security would prevent.
create function fd_search_forget(after text, count integer)
returns table (last_word text, looked_at bigint, deleted bigint)
language sql security definer set search_path = public, pg_temp
set enable_seqscan = off as $$
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

alter function fd_search_forget owner to fd_search;
revoke all on function fd_search_forget from public;
grant execute on function fd_search_forget to fd_worker;

-- The merchant's filter `q`: a part of a name, a slug or a SKU, in products of any status. Answers a page of
-- the matching products, newest first, and how many match: no more than `count_max` are counted. Few matches
-- are found by the trigrams and sorted. With more, the newest products are walked until the page is full,
-- which is soon.
--
-- Under row level security a trigram index is never used (`like` is not leakproof), so a definer function
-- chooses the products, as the search does.
create function fd_filter_products(
  wanted text, wanted_status text, after_at timestamptz, after_id uuid,
  page_limit integer, page_offset bigint, count_max integer
) returns table (ids uuid[], total integer)
language plpgsql stable security definer
set search_path = public, pg_temp
-- How common the text is decides which index is better.
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

alter function fd_filter_products owner to fd_search;
revoke all on function fd_filter_products from public;
grant execute on function fd_filter_products to fd_app;

-- Stock: which variants are tracked, at which locations they are, which orders reserve them, and how they came and
-- went. These are the locations.
create table inventory_locations (
  tenant_ref  text        not null references stores,
  id          text        not null check (id ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$'),
  name        text        not null check (length(name) between 1 and 200),
  created_at  timestamptz not null default fd_now(),
  updated_at  timestamptz not null default fd_now(),
  archived_at timestamptz,
  primary key (tenant_ref, id),
  -- Units that are sold and on hand nowhere are owed from the default location.
  check (id <> 'default' or archived_at is null)
);
call fd_fence('inventory_locations', app => 'select, insert, update', worker => 'select');
call fd_meter('inventory_locations', $$('locations', 1)$$, false);

-- A variant without a row here is not tracked, and can always be sold.
create table inventory_settings (
  tenant_ref          text        not null references stores,
  variant_id          uuid        not null,
  track_inventory     boolean     not null default false,
  allow_backorder     boolean     not null default false,
  low_stock_threshold bigint      check (low_stock_threshold between 0 and 1000000000),
  created_at          timestamptz not null default fd_now(),
  updated_at          timestamptz not null default fd_now(),
  primary key (tenant_ref, variant_id),
  foreign key (tenant_ref, variant_id) references variants
);
call fd_fence('inventory_settings', app => 'select, insert, update',
              worker => 'select, update (updated_at)');

create index inventory_settings_watched on inventory_settings (tenant_ref, variant_id)
  where track_inventory and low_stock_threshold is not null;

-- A gift card has no stock: it is never shipped, so that an allocated unit would stay allocated for ever. Both
-- triggers lock the variant, so that of two transactions one sees the other.
create function fd_gift_card_has_no_stock() returns trigger language plpgsql as $$
begin
  if exists (select from inventory_settings as s
              where s.tenant_ref = new.tenant_ref and s.variant_id = new.id and s.track_inventory) then
    raise exception 'the stock of the variant is counted'
      using errcode = 'check_violation', constraint = 'variants_gift_card_stock';
  end if;
  return new;
end $$;

create function fd_stock_is_of_no_gift_card() returns trigger language plpgsql as $$
begin
  if (select v.gift_card from variants as v where v.tenant_ref = new.tenant_ref and v.id = new.variant_id for share) then
    raise exception 'the variant is a gift card'
      using errcode = 'check_violation', constraint = 'inventory_settings_gift_card';
  end if;
  return new;
end $$;

revoke all on function fd_gift_card_has_no_stock, fd_stock_is_of_no_gift_card from public;

create trigger gift_card_has_no_stock before update of gift_card on variants
   for each row when (new.gift_card) execute function fd_gift_card_has_no_stock();
create trigger stock_is_of_no_gift_card before insert or update of track_inventory on inventory_settings
   for each row when (new.track_inventory) execute function fd_stock_is_of_no_gift_card();

-- on_hand: units at the location; allocated: sold and not yet shipped; reserved: their order is being paid.
create table inventory_levels (
  tenant_ref  text        not null references stores,
  variant_id  uuid        not null,
  location_id text        not null,
  -- Below zero only when owed units are shipped before they were received.
  on_hand     bigint      not null default 0 check (on_hand between -1000000000 and 1000000000),
  allocated   bigint      not null default 0 check (allocated >= 0),
  reserved    bigint      not null default 0 check (reserved >= 0),
  incoming    bigint      not null default 0 check (incoming >= 0),
  updated_at  timestamptz not null default fd_now(),
  -- How many of the allocated units are packed. A packed unit is on the packing table, so no other order can
  -- count on it.
  packed      bigint      not null default 0 check (packed >= 0),
  primary key (tenant_ref, variant_id, location_id),
  foreign key (tenant_ref, variant_id) references variants,
  foreign key (tenant_ref, location_id) references inventory_locations
);
call fd_fence('inventory_levels', app => 'select, insert, update', worker => 'select, update');
call fd_due('inventory_levels');

create index inventory_levels_of_location on inventory_levels (tenant_ref, location_id);

-- Whether a variant is low, by committed settings and levels and by those of the caller's transaction.
create function fd_is_low(store text, variant uuid) returns boolean
  language sql stable as $$
  select coalesce((select s.track_inventory
                          and s.low_stock_threshold >=
                              (select coalesce(sum(l.on_hand - l.allocated), 0)
                                 from inventory_levels l
                                where l.tenant_ref = store and l.variant_id = variant)
                     from inventory_settings s
                    where s.tenant_ref = store and s.variant_id = variant), false)
$$;

-- Keeps `is_low` of variants. Two locations of a variant may change in two transactions at once: the lock of
-- the settings lets the second of them count what the first has written.
create function fd_refresh_low(in_stores text[], variant_ids uuid[]) returns void
  language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
  one record;
begin
  for one in
    select s.tenant_ref, s.variant_id
      from inventory_settings s
     where (s.tenant_ref, s.variant_id) in (select * from unnest(in_stores, variant_ids))
       and s.track_inventory and s.low_stock_threshold is not null
     order by s.tenant_ref, s.variant_id
       for no key update
  loop
    update variants v
       set is_low = not v.is_low
     where v.tenant_ref = one.tenant_ref and v.id = one.variant_id
       and v.is_low <> fd_is_low(v.tenant_ref, v.id);
  end loop;
end $$;

-- Triggers that call it: for new levels, and for levels that change.
create function fd_note_new_stock() returns trigger
  language plpgsql as $$
begin
  perform fd_refresh_low(array_agg(tenant_ref), array_agg(variant_id)) from changed;
  return null;
end $$;

-- A reservation alone changes nothing: units are low by what is not allocated.
create function fd_note_stock() returns trigger
  language plpgsql as $$
begin
  perform fd_refresh_low(array_agg(c.tenant_ref), array_agg(c.variant_id))
     from changed c
     join before b using (tenant_ref, variant_id, location_id)
    where c.on_hand - c.allocated <> b.on_hand - b.allocated
   having count(*) > 0;
  return null;
end $$;

create function fd_note_stock_settings() returns trigger
  language plpgsql as $$
begin
  update variants v
     set is_low = not v.is_low
   where v.tenant_ref = new.tenant_ref and v.id = new.variant_id
     and v.is_low <> fd_is_low(v.tenant_ref, v.id);
  return null;
end $$;

revoke all on function fd_is_low, fd_refresh_low, fd_note_new_stock, fd_note_stock,
  fd_note_stock_settings from public;
grant execute on function fd_is_low, fd_refresh_low to fd_app, fd_worker;

create trigger low_stock_insert after insert on inventory_levels
  referencing new table as changed
  for each statement execute function fd_note_new_stock();
create trigger low_stock_update after update on inventory_levels
  referencing old table as before new table as changed
  for each statement execute function fd_note_stock();
create trigger low_stock after insert or update on inventory_settings
  for each row execute function fd_note_stock_settings();

-- The units of each level that an order has reserved. The counters of the levels are the sums of these.
create table inventory_reservations (
  tenant_ref  text        not null references stores,
  order_id    uuid        not null,
  variant_id  uuid        not null,
  location_id text        not null,
  reserved    bigint      not null default 0 check (reserved >= 0),
  allocated   bigint      not null default 0 check (allocated >= 0),
  created_at  timestamptz not null default fd_now(),
  updated_at  timestamptz not null default fd_now(),
  -- When the order ended and all its units were released.
  released_at timestamptz,
  packed      bigint      not null default 0,
  primary key (tenant_ref, order_id, variant_id, location_id),
  foreign key (tenant_ref, variant_id, location_id) references inventory_levels,
  check (released_at is null or (reserved = 0 and allocated = 0)),
  constraint inventory_reservations_packed_check check (packed between 0 and allocated)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02,
        autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
call fd_fence('inventory_reservations', app => 'select, insert, update',
              worker => 'select, insert, update, delete');
call fd_due('inventory_reservations');
call fd_bundle_checks('inventory_reservations');

create index inventory_reservations_released on inventory_reservations (tenant_ref, released_at)
 where released_at is not null;
-- Which orders wait for stock follows from the allocations, the oldest order first
-- (inventory/work-queries.ts). With the order last and the sums inside, the open reservations of a level are
-- added up in slices, from the index alone.
create index inventory_reservations_open
    on inventory_reservations (tenant_ref, variant_id, location_id, order_id)
       include (reserved, allocated, packed) where reserved > 0 or allocated > 0;
-- Which orders have units to pack at a location. Ids of orders begin with their time.
create index inventory_reservations_to_pack on inventory_reservations (tenant_ref, location_id, order_id)
 where allocated > packed;

-- Changes of an order that were made already, so that a repeated one changes nothing.
create table inventory_order_changes (
  tenant_ref text        not null references stores,
  order_id   uuid        not null,
  change_id  uuid        not null,
  created_at timestamptz not null default fd_now(),
  primary key (tenant_ref, order_id, change_id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02,
        autovacuum_vacuum_insert_scale_factor = 0.05);
call fd_fence('inventory_order_changes', app => 'select, insert', worker => 'select, insert');
call fd_freeze('inventory_order_changes');

-- How stock came and went. `quantity` is signed. received, shipped and adjusted change on_hand; allocated,
-- released and shipped change what is allocated; transferred changes what is on hand at two locations, and
-- nothing over all of them.
create table inventory_movements (
  tenant_ref        text        not null references stores,
  id                uuid        not null default fd_uuid(),
  -- Given while the level is locked, so that it tells the order of a level's movements.
  seq               bigint      not null generated by default as identity,
  variant_id        uuid        not null,
  location_id       text        not null,
  kind              text        not null
                    check (kind in ('received', 'allocated', 'shipped', 'released', 'adjusted', 'transferred')),
  quantity          bigint      not null check (quantity <> 0),
  on_hand_after     bigint      not null,
  allocated_after   bigint      not null,
  order_id          uuid,
  fulfillment_id    uuid,
  return_id         uuid,
  purchase_order_id uuid,
  actor             text        not null,
  reason            text        check (length(reason) <= 500),
  created_at        timestamptz not null default fd_clock(),
  transfer_id       uuid,
  count_id          uuid,
  -- What all units of the movement cost. Null: they come in at the average cost of the units on hand.
  cost_cents        bigint      check (cost_cents >= 0),
  primary key (tenant_ref, id),
  foreign key (tenant_ref, variant_id, location_id) references inventory_levels,
  check (kind not in ('received', 'allocated') or quantity > 0),
  check (kind not in ('shipped', 'released') or quantity < 0)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02,
        autovacuum_vacuum_insert_scale_factor = 0.05);
call fd_fence('inventory_movements', app => 'select, insert', worker => 'select, insert');
call fd_freeze('inventory_movements');

create index inventory_movements_newest on inventory_movements (tenant_ref, seq desc);
create index inventory_movements_of_variant
    on inventory_movements (tenant_ref, variant_id, location_id, seq desc);
-- Movements by kind. Each line of each sale writes an `allocated` one: these are left out, since there are so
-- many that a page of them is found on the way through `inventory_movements_newest`.
create index inventory_movements_of_kind on inventory_movements (tenant_ref, kind, seq desc)
  where kind <> 'allocated';

-- Counters that disagree with the rows they count. The recount finds them; only people correct them.
create table inventory_discrepancies (
  tenant_ref    text        not null references stores,
  variant_id    uuid        not null,
  location_id   text        not null,
  -- allocated is compared with the movements, held with the reservations of orders.
  counter       text        not null
                check (counter in ('on_hand', 'allocated', 'reserved', 'held', 'packed')),
  kept          bigint      not null,
  counted       bigint      not null,
  first_seen_at timestamptz not null default fd_now(),
  last_seen_at  timestamptz not null default fd_now(),
  primary key (tenant_ref, variant_id, location_id, counter),
  foreign key (tenant_ref, variant_id, location_id) references inventory_levels
);
call fd_fence('inventory_discrepancies', app => 'select', worker => 'select, insert, update');

-- The recount of stock continues where the last one ended. A level's movements are written under the lock of that
-- level, so their `seq` is also the order of their commits: a statement that sees one of them sees all earlier ones of
-- that level, and a sum up to a `seq` misses none that commits later.
create table inventory_counts (
  tenant_ref  text        not null references stores,
  variant_id  uuid        not null,
  location_id text        not null,
  -- The last movement in the sums.
  seq         bigint      not null,
  on_hand     bigint      not null,
  allocated   bigint      not null,
  -- From this time on the sums begin at the first movement again.
  again_at    timestamptz not null,
  primary key (tenant_ref, variant_id, location_id),
  foreign key (tenant_ref, variant_id, location_id) references inventory_levels
);
call fd_fence('inventory_counts', app => 'select', worker => 'select, insert, update');

-- One row for each store with stock: when it is recounted next, and the last level that this recount has
-- passed.
create table inventory_recounts (
  tenant_ref  text        not null references stores,
  id          uuid        not null default fd_uuid(),
  -- Machine time, as of all work of the platform itself.
  due_at      timestamptz not null,
  lease_until timestamptz,
  lease_token uuid,
  variant_id  uuid,
  location_id text,
  begun_at    timestamptz,
  ended_at    timestamptz,
  primary key (tenant_ref),
  check ((variant_id is null) = (location_id is null))
);
call fd_fence('inventory_recounts', app => 'select', worker => 'select, insert, update');
call fd_due('inventory_recounts');

create index inventory_recounts_due on inventory_recounts (due_at);

-- What the units of a variant on hand cost, over all locations. In whole units and whole cents, so that nothing is
-- lost by rounding; the average is their quotient. A variant has a row from its first cost on.
create table inventory_costs (
  tenant_ref       text        not null references stores,
  variant_id       uuid        not null,
  -- The units on hand at all locations. Below zero if more were shipped than received.
  units            bigint      not null,
  value_cents      bigint      not null check (value_cents >= 0),
  -- The average cost when units were last on hand, as cents and units: units that come in without a cost are valued at
  -- it.
  last_units       bigint      not null check (last_units > 0),
  last_value_cents bigint      not null check (last_value_cents >= 0),
  -- All units that have ever come in. A late cost knows by it which units came after its own.
  arrived          bigint      not null default 0,
  updated_at       timestamptz not null default fd_now(),
  primary key (tenant_ref, variant_id),
  foreign key (tenant_ref, variant_id) references variants,
  check (units > 0 or value_cents = 0)
);
call fd_fence('inventory_costs', app => 'select, insert, update',
              worker => 'select, insert, update');

-- The changes of a variant's costs. cost_cents came from outside, value_cents went into the stock, sold_cents into the
-- cost of goods sold; the rest of a change is a gain or a loss of units.
create table inventory_cost_entries (
  tenant_ref        text        not null references stores,
  id                uuid        not null default fd_uuid(),
  -- Given under the lock of the variant's costs.
  seq               bigint      not null generated by default as identity,
  variant_id        uuid        not null,
  kind              text        not null
                    check (kind in ('opening', 'received', 'shipped', 'adjusted', 'landed_cost')),
  units             bigint      not null,
  cost_cents        bigint      not null default 0,
  value_cents       bigint      not null,
  sold_cents        bigint      not null default 0,
  units_after       bigint      not null,
  value_after_cents bigint      not null,
  movement_id       uuid,
  order_id          uuid,
  purchase_order_id uuid,
  created_at        timestamptz not null default fd_clock(),
  primary key (tenant_ref, id),
  foreign key (tenant_ref, variant_id) references variants
);
call fd_fence('inventory_cost_entries', app => 'select, insert', worker => 'select, insert');
call fd_freeze('inventory_cost_entries');

create index inventory_cost_entries_of_variant on inventory_cost_entries (tenant_ref, variant_id, seq desc);
-- What an order's goods have cost, for its margin.
create index inventory_cost_entries_of_order on inventory_cost_entries (tenant_ref, order_id)
 where order_id is not null;

-- The most that the stock of a variant may be worth, so that the sum of a journal is exact: units that are
-- found are valued at the average, and a thousand million of them may be found by one call.
create function fd_stock_value_max() returns bigint language sql immutable as 'select 10000000000000';

-- The value of a variant's stock after something was added to it, or the refusal.
create function fd_stock_value(before bigint, added numeric) returns bigint
language plpgsql immutable as $$
begin
  if before + added > fd_stock_value_max() then
    raise exception 'the stock of a variant is worth too much'
      using errcode = 'FD004',
            detail = json_build_object('limit', 'stock_value_cents', 'max', fd_stock_value_max(),
                                       'used', before)::text;
  end if;
  return before + added;
end $$;

revoke all on function fd_stock_value_max, fd_stock_value from public;
grant execute on function fd_stock_value_max, fd_stock_value to fd_app, fd_worker;

-- Keeps the costs of a variant with each movement that changes the units on hand, so that every code path is covered.
-- Units leave at the average cost. Units that were shipped before they were received get their cost with the receipt.
create function fd_value_movement() returns trigger
language plpgsql as $$
declare
  known inventory_costs;
  units_before bigint;
  brought numeric;
  filled bigint;
  kept bigint;
  sold bigint := 0;
begin
  select * into known from inventory_costs
   where tenant_ref = new.tenant_ref and variant_id = new.variant_id
     for update;
  if not found then
    if new.cost_cents is null then return null; end if;
    -- The first cost. The receipt has locked the levels; this waits for locations that are new to the variant.
    perform from variants where tenant_ref = new.tenant_ref and id = new.variant_id for update;
    select coalesce(sum(on_hand), 0) - new.quantity into units_before from inventory_levels
     where tenant_ref = new.tenant_ref and variant_id = new.variant_id;
    insert into inventory_costs (tenant_ref, variant_id, units, value_cents, last_units, last_value_cents)
    values (new.tenant_ref, new.variant_id, units_before,
            -- The units on hand already are taken to have cost as much.
            fd_stock_value(0, round(new.cost_cents::numeric * greatest(units_before, 0) / new.quantity)),
            new.quantity, new.cost_cents)
    returning * into known;
    if units_before <> 0 then
      insert into inventory_cost_entries (tenant_ref, variant_id, kind, units, cost_cents, value_cents, units_after,
                                          value_after_cents)
      values (new.tenant_ref, new.variant_id, 'opening', units_before, known.value_cents, known.value_cents,
              units_before, known.value_cents);
    end if;
  end if;

  units_before := known.units;
  if new.quantity > 0 then
    brought := coalesce(new.cost_cents,
                        round(known.last_value_cents::numeric * new.quantity / known.last_units));
    if new.order_id is null then
      perform fd_stock_value(known.value_cents, brought);
    else
      -- Units that a shopper sends back are never refused.
      brought := least(brought, greatest(0, fd_stock_value_max() - known.value_cents));
    end if;
    filled := least(new.quantity, greatest(-units_before, 0));
    kept := round(brought * (new.quantity - filled) / new.quantity);
    -- Units that a shopper sends back were counted as sold.
    sold := brought - kept - case when new.cost_cents is null and new.order_id is not null then brought else 0 end;
  else
    kept := case when units_before <= -new.quantity then -known.value_cents
                 else -round(known.value_cents::numeric * -new.quantity / units_before) end;
    sold := case when new.kind = 'shipped' then -kept else 0 end;
  end if;

  if units_before + new.quantity > 0 then
    known.last_units := units_before + new.quantity;
    known.last_value_cents := known.value_cents + kept;
  elsif units_before > 0 then
    known.last_units := units_before;
    known.last_value_cents := known.value_cents;
  end if;
  update inventory_costs
     set units = units + new.quantity, value_cents = value_cents + kept,
         last_units = known.last_units, last_value_cents = known.last_value_cents,
         arrived = arrived + greatest(new.quantity, 0), updated_at = fd_now()
   where tenant_ref = new.tenant_ref and variant_id = new.variant_id
  returning * into known;
  insert into inventory_cost_entries (tenant_ref, variant_id, kind, units, cost_cents, value_cents, sold_cents,
                                      units_after, value_after_cents, movement_id, order_id, purchase_order_id)
  values (new.tenant_ref, new.variant_id, new.kind, new.quantity, coalesce(new.cost_cents, 0), kept, sold,
          known.units, known.value_cents, new.id, new.order_id, new.purchase_order_id);
  return null;
end $$;

revoke all on function fd_value_movement from public;

create trigger valued after insert on inventory_movements
  for each row when (new.kind in ('received', 'shipped', 'adjusted'))
  execute function fd_value_movement();

-- Entries of costs that no journal has yet. A row is written with the entry and deleted with its journal, so that an
-- entry which commits late is found too, and none is posted twice.
create table inventory_unposted (
  tenant_ref  text        not null,
  entry_id    uuid        not null,
  -- The business time of the transaction: it dates the journal, and entries of one cause have it in common.
  happened_at timestamptz not null default fd_now(),
  primary key (tenant_ref, entry_id)
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05,
        autovacuum_analyze_scale_factor = 0.02);
call fd_fence('inventory_unposted', app => 'select, insert', worker => 'select, insert, delete');
call fd_due('inventory_unposted');

-- A trigger, so that no path that writes an entry can forget its journal.
create function fd_queue_cost_entries() returns trigger
language plpgsql as $$
begin
  insert into inventory_unposted (tenant_ref, entry_id)
  select tenant_ref, id
    from added
   where cost_cents <> 0 or value_cents <> 0 or sold_cents <> 0;
  return null;
end $$;

revoke all on function fd_queue_cost_entries from public;

create trigger queued after insert on inventory_cost_entries
  referencing new table as added
  for each statement execute function fd_queue_cost_entries();

-- Cycle counts: what was expected at the freeze, and what was found.
create table stock_counts (
  tenant_ref   text        not null references stores,
  id           uuid        not null default fd_uuid(),
  location_id  text        not null,
  status       text        not null default 'open' check (status in ('open', 'posted', 'cancelled')),
  created_by   text        not null check (length(created_by) <= 200),
  created_at   timestamptz not null default fd_now(),
  updated_at   timestamptz not null default fd_now(),
  posted_at    timestamptz,
  cancelled_at timestamptz,
  primary key (tenant_ref, id),
  foreign key (tenant_ref, location_id) references inventory_locations,
  check ((status = 'posted') = (posted_at is not null)),
  check ((status = 'cancelled') = (cancelled_at is not null))
);
call fd_fence('stock_counts', app => 'select, insert, update', worker => 'select');
call fd_meter('stock_counts', $$('stock_counts', 1)$$, false);

create index stock_counts_newest on stock_counts (tenant_ref, created_at desc, id desc);
create index stock_counts_of_status on stock_counts (tenant_ref, status, created_at desc, id desc);

-- The variants of a cycle count.
create table stock_count_lines (
  tenant_ref  text    not null references stores,
  count_id    uuid    not null,
  variant_id  uuid    not null,
  location_id text    not null,
  expected    bigint  not null,
  counted     bigint  check (counted between 0 and 1000000000),
  -- Units that came and went between the freeze and the moment of counting.
  moved       bigint  not null default 0,
  reason      text    check (length(reason) <= 500),
  is_open     boolean not null default true,
  primary key (tenant_ref, count_id, variant_id),
  foreign key (tenant_ref, count_id) references stock_counts,
  foreign key (tenant_ref, variant_id, location_id) references inventory_levels
);
call fd_fence('stock_count_lines', app => 'select, insert, update', worker => 'select');

-- Two counts of one level would post its difference twice.
create unique index stock_count_lines_open on stock_count_lines (tenant_ref, variant_id, location_id)
 where is_open;

-- Purchasing: vendors, purchase orders, receipts, and costs.
create table vendors (
  tenant_ref     text        not null references stores,
  id             uuid        not null default fd_uuid(),
  name           text        not null check (length(name) between 1 and 200),
  email          text        check (length(email) <= 254),
  phone          text        check (length(phone) <= 50),
  address        text        check (length(address) <= 1000),
  lead_time_days integer     check (lead_time_days between 0 and 730),
  notes          text        check (length(notes) <= 2000),
  created_at     timestamptz not null default fd_now(),
  updated_at     timestamptz not null default fd_now(),
  archived_at    timestamptz,
  primary key (tenant_ref, id)
);
call fd_fence('vendors', app => 'select, insert, update', worker => 'select');
call fd_meter('vendors', $$('vendors', 1)$$, false);

create index vendors_by_name on vendors (tenant_ref, name, id) where archived_at is null;
create index vendors_archived on vendors (tenant_ref, name, id) where archived_at is not null;

-- The last number given to a purchase order of the store.
create table purchase_order_counters (
  tenant_ref  text   not null references stores,
  last_number bigint not null,
  primary key (tenant_ref)
);
call fd_fence('purchase_order_counters', app => 'select, insert, update', worker => 'select');

-- Orders to a vendor, for one location.
create table purchase_orders (
  tenant_ref           text        not null references stores,
  id                   uuid        not null default fd_uuid(),
  po_number            text        not null check (length(po_number) between 1 and 50),
  vendor_id            uuid        not null,
  location_id          text        not null,
  status               text        not null default 'draft'
                       check (status in ('draft', 'ordered', 'partially_received', 'received', 'closed_short',
                                         'cancelled')),
  currency             text        not null check (currency ~ '^[A-Z]{3}$'),
  expected_at          timestamptz,
  notes                text        check (length(notes) <= 2000),
  subtotal_cents       bigint      not null check (subtotal_cents >= 0),
  shipping_cents       bigint      not null default 0 check (shipping_cents >= 0),
  -- How many percent more than ordered may be received, of each line.
  over_receipt_percent integer     not null default 0 check (over_receipt_percent between 0 and 100),
  created_by           text        not null check (length(created_by) <= 200),
  created_at           timestamptz not null default fd_now(),
  updated_at           timestamptz not null default fd_now(),
  ordered_at           timestamptz,
  received_at          timestamptz,
  closed_at            timestamptz,
  cancelled_at         timestamptz,
  primary key (tenant_ref, id),
  unique (tenant_ref, po_number),
  foreign key (tenant_ref, vendor_id) references vendors,
  foreign key (tenant_ref, location_id) references inventory_locations,
  check ((status in ('ordered', 'partially_received', 'received', 'closed_short')) <= (ordered_at is not null)),
  check ((status = 'received') = (received_at is not null)),
  check ((status = 'closed_short') = (closed_at is not null)),
  check ((status = 'cancelled') = (cancelled_at is not null))
);
call fd_fence('purchase_orders', app => 'select, insert, update', worker => 'select');
call fd_meter('purchase_orders', $$('purchase_orders', 1)$$, false);

create index purchase_orders_newest on purchase_orders (tenant_ref, created_at desc, id desc);
create index purchase_orders_of_status on purchase_orders (tenant_ref, status, created_at desc, id desc);
create index purchase_orders_of_vendor on purchase_orders (tenant_ref, vendor_id, created_at desc, id desc);

-- The variants of a purchase order, with the units received of each.
create table purchase_order_lines (
  tenant_ref        text    not null references stores,
  id                uuid    not null default fd_uuid(),
  purchase_order_id uuid    not null,
  position          integer not null check (position >= 0),
  variant_id        uuid    not null,
  sku               text    not null,
  quantity          bigint  not null check (quantity between 1 and 1000000),
  received_quantity bigint  not null default 0 check (received_quantity >= 0),
  rejected_quantity bigint  not null default 0 check (rejected_quantity >= 0),
  unit_cost_cents   bigint  not null check (unit_cost_cents >= 0),
  unit_weight_grams integer check (unit_weight_grams between 1 and 1000000000),
  primary key (tenant_ref, id),
  unique (tenant_ref, purchase_order_id, variant_id),
  foreign key (tenant_ref, purchase_order_id) references purchase_orders,
  foreign key (tenant_ref, variant_id) references variants
);
call fd_fence('purchase_order_lines', app => 'select, insert, update, delete', worker => 'select');

-- Finds the vendor that a variant was last ordered from.
create index purchase_order_lines_of_variant on purchase_order_lines (tenant_ref, variant_id, id desc);

-- Receipts of goods. Each row says how many units it added, and their position among all units of the variant.
create table purchase_receipts (
  tenant_ref        text        not null references stores,
  id                uuid        not null default fd_uuid(),
  purchase_order_id uuid        not null,
  number            integer     not null check (number > 0),
  created_by        text        not null check (length(created_by) <= 200),
  created_at        timestamptz not null default fd_now(),
  primary key (tenant_ref, id),
  unique (tenant_ref, purchase_order_id, number),
  foreign key (tenant_ref, purchase_order_id) references purchase_orders
);
call fd_fence('purchase_receipts', app => 'select, insert', worker => 'select');
call fd_freeze('purchase_receipts');

-- The units that a receipt added to stock, or rejected, by line.
create table purchase_receipt_lines (
  tenant_ref    text   not null references stores,
  receipt_id    uuid   not null,
  line_id       uuid   not null,
  added         bigint not null check (added >= 0),
  rejected      bigint not null check (rejected >= 0),
  reason        text   check (length(reason) <= 500),
  -- inventory_costs.arrived after these units. Null if none was added.
  arrived_after bigint,
  primary key (tenant_ref, receipt_id, line_id),
  foreign key (tenant_ref, receipt_id) references purchase_receipts,
  foreign key (tenant_ref, line_id) references purchase_order_lines,
  check (added + rejected > 0)
);
call fd_fence('purchase_receipt_lines', app => 'select, insert', worker => 'select');
call fd_freeze('purchase_receipt_lines');

create index purchase_receipt_lines_of_line on purchase_receipt_lines (tenant_ref, line_id);

-- Costs that became known after the goods, such as freight and customs.
create table purchase_costs (
  tenant_ref        text        not null references stores,
  id                uuid        not null default fd_uuid(),
  purchase_order_id uuid        not null,
  number            integer     not null check (number > 0),
  description       text        not null check (length(description) between 1 and 500),
  amount_cents      bigint      not null check (amount_cents > 0),
  split_by          text        not null check (split_by in ('value', 'quantity', 'weight')),
  created_by        text        not null check (length(created_by) <= 200),
  created_at        timestamptz not null default fd_now(),
  primary key (tenant_ref, id),
  unique (tenant_ref, purchase_order_id, number),
  foreign key (tenant_ref, purchase_order_id) references purchase_orders
);
call fd_fence('purchase_costs', app => 'select, insert', worker => 'select');
call fd_freeze('purchase_costs');

-- The share of a cost that each line bears: for units on hand, and for units that are sold.
create table purchase_cost_allocations (
  tenant_ref    text   not null references stores,
  cost_id       uuid   not null,
  line_id       uuid   not null,
  amount_cents  bigint not null check (amount_cents >= 0),
  on_hand_units bigint not null check (on_hand_units >= 0),
  on_hand_cents bigint not null check (on_hand_cents >= 0),
  sold_units    bigint not null check (sold_units >= 0),
  sold_cents    bigint not null check (sold_cents >= 0),
  primary key (tenant_ref, cost_id, line_id),
  foreign key (tenant_ref, cost_id) references purchase_costs,
  foreign key (tenant_ref, line_id) references purchase_order_lines,
  check (on_hand_cents + sold_cents = amount_cents)
);
call fd_fence('purchase_cost_allocations', app => 'select, insert', worker => 'select');
call fd_freeze('purchase_cost_allocations');
