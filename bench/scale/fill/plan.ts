import type { StoreSize } from '../size.ts'

/** One step of the generator: its name for the progress, and a statement over all stores. */
export type Step = readonly [name: string, sql: string]

/**
 * Functions from which all rows are made. Ids follow from the kind, the store and a number, so that no
 * statement has to look up what another one wrote. They are spread like random ones, as the ids of an
 * installation of some years are.
 */
const FUNCTIONS = `
  create schema scale;
  create function scale.id(kind text, tenant text, n bigint) returns uuid
  language sql immutable parallel safe as $$
    select overlay(overlay(md5(kind || '/' || tenant || '/' || n::text)
                           placing '4' from 13) placing '8' from 17)::uuid
  $$;
  create function scale.price(product bigint) returns bigint
  language sql immutable parallel safe as $$ select 500 + (product * 37) % 5000 $$;
  -- Some words are rare and some common, as in a language.
  create function scale.word(seed text) returns text
  language sql immutable parallel safe as $$
    select translate(left(md5((20000 * power(abs(hashtext(seed)) / 2147483648.0, 3))::int::text), 6),
                     '0123456789', 'ghijklmnop')
  $$;
  create function scale.time(at timestamptz) returns text
  language sql stable parallel safe as $$
    select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
  $$`

const PLAN = `
  create table scale.plan (tenant_ref text primary key, orders int, products int, customers int)`

/**
 * The facts of each order. Its number decides what becomes of it, so that a store of any size has the same
 * shares: of twenty orders, eight are delivered, three shipped, four placed, and one each is in
 * processing, refunded in part, refunded, failed, and held or cancelled in turn. A gift card pays for a
 * part of every hundredth order, and every tenth has a coupon.
 */
const FACTS = `
  create unlogged table scale.orders as
  select p.tenant_ref, n, scale.id('order', p.tenant_ref, n) as id, 1000 + n as number,
         'customer-' || (1 + n % p.customers) as customer_ref,
         'customer-' || (1 + n % p.customers) || '@example.com' as email,
         date_trunc('milliseconds', now() - (p.orders - n + 1) * (interval '365 days' / p.orders))
           as at,
         s.story, s.story in ('delivered', 'shipped') as shipped,
         s.story not in ('failed', 'held', 'cancelled') as placed,
         i.first, i.second, q.units, m.first_cents, m.second_cents, d.first_off, d.second_off,
         m.first_cents + m.second_cents as subtotal_cents, d.first_off + d.second_off as off_cents,
         m.first_cents + m.second_cents - d.first_off - d.second_off as total_cents,
         case when n % 100 = 7 then 500 else 0 end as gift_cents,
         case s.story when 'refunded' then m.first_cents + m.second_cents - d.first_off - d.second_off
                      when 'refunded in part' then 200 else 0 end as refunded_cents,
         n % 10 = 3 as has_coupon
    from scale.plan p
   cross join lateral generate_series(1, p.orders) as n
   cross join lateral (
     select case when n % 20 < 8 then 'delivered' when n % 20 < 11 then 'shipped'
                 when n % 20 < 15 then 'placed' when n % 20 = 15 then 'processing'
                 when n % 20 = 16 then 'refunded in part' when n % 20 = 17 then 'refunded'
                 when n % 20 = 18 then 'failed' when n % 40 = 19 then 'held'
                 else 'cancelled' end as story) s
   -- Two products that differ, spread over the whole catalog.
   cross join lateral (
     select 1 + n % p.products as first,
            1 + (n % p.products + 1 + (n / p.products) % (p.products - 1)) % p.products as second) i
   cross join lateral (select 1 + n % 3 as units) q
   cross join lateral (
     select scale.price(i.first) as first_cents, scale.price(i.second) * q.units as second_cents) m
   cross join lateral (
     select case when n % 10 = 3 then m.first_cents / 10 else 0 end as first_off,
            case when n % 10 = 3 then m.second_cents / 10 else 0 end as second_off) d;
  create unlogged table scale.lines as
  select o.tenant_ref, o.n, o.id as order_id, o.at, o.story, o.shipped, o.placed, l.position,
         l.product, scale.id('product', o.tenant_ref, l.product) as product_id,
         scale.id('variant', o.tenant_ref, l.product) as variant_id,
         l.units, l.cents, l.off,
         scale.id('line ' || l.position, o.tenant_ref, o.n) as id
    from scale.orders o
   cross join lateral (values (0, o.first, 1, o.first_cents, o.first_off),
                              (1, o.second, o.units, o.second_cents, o.second_off))
                   as l (position, product, units, cents, off);
  create index on scale.orders (tenant_ref, n);
  create index on scale.lines (tenant_ref, n);
  analyze scale.plan, scale.orders, scale.lines`

/** The steps that all others read from: the sizes of the stores, and the facts of their orders. */
export const planSteps = (stores: readonly StoreSize[]): Step[] => [
  ['functions', FUNCTIONS],
  ['sizes', `${PLAN}; insert into scale.plan ${valuesOf(stores)}`],
  ['facts of the orders', FACTS],
]

const valuesOf = (stores: readonly StoreSize[]) =>
  `values ${stores
    .map(
      ({ tenant, orders, products, customers }) =>
        `('${tenant}', ${orders}, ${products}, ${customers})`,
    )
    .join(', ')}`
