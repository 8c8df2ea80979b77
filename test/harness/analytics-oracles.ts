import { assertNone, type Oracles, type Queried } from './check-oracles.ts'

/**
 * Rules for the figures of all stores, as SQL of their own: each statement lists the violations,
 * and must return no row. The days are computed by PostgreSQL and its zones here, which the platform
 * does not use for them.
 */

/** The measures, and from which entries each comes. */
const LEDGER = {
  gross_cents: `-sum(e.amount_cents) filter (where e.account = 'sales')`,
  discount_cents: `sum(e.amount_cents) filter (where e.account = 'discount')`,
  refund_cents: `sum(e.amount_cents) filter (where e.account = 'refund')`,
  dispute_loss_cents: `sum(e.amount_cents) filter (where e.account = 'dispute_loss')`,
  tax_cents: `-sum(e.amount_cents) filter (where e.account = 'tax_payable' and j.kind not in ('order.refunded', 'exchange.released'))`,
  refunded_tax_cents: `sum(e.amount_cents) filter (where e.account = 'tax_payable' and j.kind in ('order.refunded', 'exchange.released'))`,
  shipping_cents: `-sum(e.amount_cents) filter (where e.account = 'shipping_income' and j.kind not in ('order.refunded', 'exchange.released'))`,
  refunded_shipping_cents: `sum(e.amount_cents) filter (where e.account = 'shipping_income' and j.kind in ('order.refunded', 'exchange.released'))`,
} as const

const MONEY = Object.keys(LEDGER) as (keyof typeof LEDGER)[]
const COUNTS = [
  'markdown_cents',
  'orders_count',
  'units_count',
  'new_customers_count',
  'repeat_customers_count',
  'active_customers_count',
] as const
const ALL = [...MONEY, ...COUNTS]

const counted = `
  select g.tenant_ref, g.generation, g.time_zone, s.sequence, j.id, j.kind, j.order_id, j.created_at
    from analytics_generations g
    join ledger_seals s on s.tenant_ref = g.tenant_ref and s.sequence <= g.sequence
    join ledger_journals j on j.tenant_ref = g.tenant_ref and j.id = s.journal_id
   where g.state <> 'retired' and j.order_id is not null`

/** Every fact of a real order under every dimension it belongs to, and under both calendars. */
const parts = `
  select f.tenant_ref, f.generation, c.calendar, d.dimension, f.currency,
         case c.calendar when 'booked' then f.day else f.sale_day end as day, d.key, ${ALL.map((name) => `d.${name}`).join(', ')}
    from analytics_facts f
   cross join (values ('booked'), ('cohort')) as c (calendar)
   cross join lateral (
         select v.dimension, v.key, ${ALL.map((name) => `f.${name}`).join(', ')}
           from (values ('all', ''), ('coupon', f.coupon), ('affiliate', f.affiliate), ('source', f.source),
                        ('place', f.place), ('customer', f.customer), ('cohort', f.cohort)) as v (dimension, key)
          union all
         select 'coupon_id', f.coupon_id, ${ALL.map((name) => `f.${name}`).join(', ')} where f.coupon_id <> ''
          union all
         select v.dimension, v.key, ${ALL.map((name) => `coalesce((l -> 'measures' ->> '${name}')::bigint, 0)`).join(', ')}
           from jsonb_array_elements(f.lines) l
          cross join lateral (values ('product', coalesce(l ->> 'product_id', '')),
                                     ('variant', coalesce(l ->> 'variant_id', ''))) as v (dimension, key)) as d
   where not f.is_test
     and exists (select from analytics_generations g where g.tenant_ref = f.tenant_ref
                    and g.generation = f.generation and g.state <> 'retired')`

const sums = `
  select tenant_ref, generation, calendar, dimension, currency, day, key, ${ALL.map((name) => `sum(${name}) as ${name}`).join(', ')}
    from (${parts}) as p group by 1, 2, 3, 4, 5, 6, 7`

/** Attempts to charge that are earlier than the time up to which a generation has counted, with day and outcome. */
const attempts = `
  select g.tenant_ref, g.generation, a.id, (a.created_at at time zone g.time_zone)::date as day, a.currency,
         a.state, a.amount_cents, o.outcome, a.state in ('begun', 'unknown', 'not_found') as is_open,
         case when a.state in ('declined', 'error', 'not_found') then left(coalesce(a.reason, a.state), 60)
              else '' end as reason,
         r.is_test is true as is_test, k.attempt_id is not null as is_noted
    from analytics_generations g
    join payment_attempts a on a.tenant_ref = g.tenant_ref and a.created_at < g.payments_to
    left join orders r on r.tenant_ref = a.tenant_ref and r.id = a.order_id
    left join analytics_open_attempts k on k.tenant_ref = a.tenant_ref and k.generation = g.generation
                                       and k.attempt_id = a.id
   cross join lateral (
         select case when a.state in ('approved', 'voided') then 'approved'
                     when a.state = 'declined' then 'declined'
                     when a.state in ('error', 'not_found') then 'failed' else 'open' end
          union all
         select 'recovered'
           from subscription_declines d
          where a.kind = 'renewal' and a.state = 'approved' and d.tenant_ref = r.tenant_ref
            and d.subscription_id = r.subscription_id and d.cycle = r.subscription_cycle
          group by 1) as o (outcome)
   where g.state <> 'retired' and a.kind in ('checkout', 'release', 'edit', 'renewal', 'pay')`

/**
 * Lines with the tax inside their shipping: that of the order, rounded down, divided like the shipping by the largest
 * remainders.
 */
const withTaxInside = `
  select *, whole + case when row_number() over (partition by tenant_ref, order_id
                                                     order by rest desc, position) <= missing
                         then 1 else 0 end as inside
    from (select *, of_order - sum(whole) over (partition by tenant_ref, order_id) as missing
            from (select i.*, t.of_order,
                         coalesce(div(t.of_order * i.shipping_cents, nullif(o.shipping_cents, 0)), 0) as whole,
                         coalesce(mod(t.of_order * i.shipping_cents, nullif(o.shipping_cents, 0)), 0) as rest
                    from order_items i
                    join orders o on o.tenant_ref = i.tenant_ref and o.id = i.order_id
                    join lateral (select coalesce(div(o.tax_cents::numeric * o.shipping_cents,
                                                      nullif(o.subtotal_cents - o.gift_card_cents - o.discount_cents
                                                               + o.shipping_cents, 0)), 0) as of_order) t on true
                 ) shared) rounded`

/** Subscriptions as they are now, in the columns of their counts. */
const subscriptions = `
  select tenant_ref, id as subscription_id, currency, status,
         round(unit_price_cents * quantity
               * case interval when 'day' then 30.4375 when 'week' then 30.4375 / 7 when 'month' then 1
                               else 1.0 / 12 end / interval_count)::bigint as monthly_cents,
         created_at as started_at,
         case when status in ('cancelled', 'unpaid_cancelled', 'expired')
              then coalesce(cancelled_at, updated_at) end as ended_at
    from subscriptions`

const ORACLES: Oracles = {
  'an attempt without an outcome that is not noted': `
    select tenant_ref, generation, id, state from (${attempts}) a where is_open and not is_noted`,

  'a note of no attempt, or on another day': `
    select k.*
      from analytics_open_attempts k
      join analytics_generations g on g.tenant_ref = k.tenant_ref and g.generation = k.generation
                                  and g.state <> 'retired'
      left join (${attempts}) a on a.tenant_ref = k.tenant_ref and a.generation = k.generation
                               and a.id = k.attempt_id and a.day = k.day
     where a.id is null`,

  'a day of payments that is not the sum of its attempts': `
    select *
      from (select tenant_ref, generation, day, currency, outcome, reason, count(*) as attempts,
                   sum(amount_cents) as cents
              from (${attempts}) a
             where not is_noted and not is_test
             group by 1, 2, 3, 4, 5, 6) as a
      full join (select d.tenant_ref, d.generation, d.day, d.currency, d.outcome, d.reason, d.attempts as counted,
                        d.amount_cents as counted_cents
                   from analytics_payment_days d
                   join analytics_generations g on g.tenant_ref = d.tenant_ref and g.generation = d.generation
                                               and g.state <> 'retired'
                  where d.attempts <> 0) as d
        using (tenant_ref, generation, day, currency, outcome, reason)
     where (a.attempts, a.cents) is distinct from (d.counted, d.counted_cents)`,

  'a subscription that is not counted as it is, and not noted': `
    select s.tenant_ref, s.subscription_id, s.status, a.status as counted
      from (${subscriptions}) s
      left join analytics_subscriptions a on a.tenant_ref = s.tenant_ref and a.subscription_id = s.subscription_id
     where (s.currency, s.status, s.monthly_cents, s.started_at, s.ended_at)
           is distinct from (a.currency, a.status, a.monthly_cents, a.started_at, a.ended_at)
       and not exists (select from subscription_changes c
                        where c.tenant_ref = s.tenant_ref and c.subscription_id = s.subscription_id)`,

  'sums of subscriptions that are not those of the counted ones': `
    select *
      from (select tenant_ref, currency, count(*) filter (where status = 'active') as active_count,
                   count(*) filter (where status = 'past_due') as past_due_count,
                   count(*) filter (where ended_at is null) as running_count,
                   coalesce(sum(monthly_cents) filter (where status in ('active', 'past_due')), 0) as mrr_cents
              from analytics_subscriptions group by 1, 2) a
      full join analytics_subscription_sums t using (tenant_ref, currency)
     where (coalesce(a.active_count, 0), coalesce(a.past_due_count, 0), coalesce(a.running_count, 0),
            coalesce(a.mrr_cents, 0))
           is distinct from (t.active_count, t.past_due_count, t.running_count, t.mrr_cents)`,

  'a day of subscriptions that is not the sum of the counted ones': `
    select *
      from (select tenant_ref, currency, (at at time zone 'UTC')::date as day, sum(started) as started_count,
                   sum(ended) as ended_count
              from (select tenant_ref, currency, started_at as at, 1 as started, 0 as ended
                      from analytics_subscriptions
                     union all
                    select tenant_ref, currency, ended_at, 0, 1 from analytics_subscriptions
                     where ended_at is not null) as moments
             group by 1, 2, 3) a
      full join analytics_subscription_days d using (tenant_ref, currency, day)
     where (coalesce(a.started_count, 0), coalesce(a.ended_count, 0))
           is distinct from (coalesce(d.started_count, 0), coalesce(d.ended_count, 0))`,

  'a journal of an order that is not counted': `
    select c.tenant_ref, c.generation, c.sequence, c.kind
      from (${counted}) c
      left join analytics_facts f on f.tenant_ref = c.tenant_ref and f.generation = c.generation
                                 and f.sequence = c.sequence
     where f.sequence is null`,

  'a fact without its journal': `
    select f.tenant_ref, f.generation, f.sequence
      from analytics_facts f
      join analytics_generations g on g.tenant_ref = f.tenant_ref and g.generation = f.generation
                                  and g.state <> 'retired'
      left join (${counted}) c on c.tenant_ref = f.tenant_ref and c.generation = f.generation
                              and c.sequence = f.sequence
     where c.sequence is null`,

  'a fact that is not what the ledger says': `
    select f.tenant_ref, f.sequence, f.kind, e.*
      from analytics_facts f
      join (${counted}) c on c.tenant_ref = f.tenant_ref and c.generation = f.generation
                         and c.sequence = f.sequence
      join lateral (select ${MONEY.map((name) => `coalesce(${LEDGER[name]}, 0) as ${name}`).join(', ')}
                      from ledger_entries e join ledger_journals j on j.tenant_ref = e.tenant_ref and j.id = e.journal_id
                     where e.tenant_ref = c.tenant_ref and e.journal_id = c.id) e on true
     where (${MONEY.map((name) => `f.${name}`).join(', ')}) <> (${MONEY.map((name) => `e.${name}`).join(', ')})
        or f.is_test <> (select is_test from orders o where o.tenant_ref = f.tenant_ref and o.id = f.order_id)`,

  'a fact on another day than that of its journal, or of its sale': `
    select f.tenant_ref, f.sequence, f.kind, f.day, f.sale_day, c.time_zone
      from analytics_facts f
      join (${counted}) c on c.tenant_ref = f.tenant_ref and c.generation = f.generation
                         and c.sequence = f.sequence
      join ledger_journals sale on sale.tenant_ref = f.tenant_ref and sale.order_id = f.order_id
                               and sale.kind = 'order.placed'
     where f.day <> (c.created_at at time zone c.time_zone)::date
        or f.sale_day <> (sale.created_at at time zone c.time_zone)::date`,

  'a fact whose lines do not add up to it': `
    select f.tenant_ref, f.sequence, f.kind, f.lines
      from analytics_facts f
      join lateral (select ${[...MONEY, 'units_count', 'markdown_cents'].map((name) => `coalesce(sum((l -> 'measures' ->> '${name}')::bigint), 0) as ${name}`).join(', ')}
                      from jsonb_array_elements(f.lines) l) l on true
     where (${[...MONEY, 'units_count', 'markdown_cents'].map((name) => `f.${name}`).join(', ')})
           <> (${[...MONEY, 'units_count', 'markdown_cents'].map((name) => `l.${name}`).join(', ')})`,

  'a day that is not the sum of its facts': `
    select *
      from (select * from (${sums}) s
             where (${ALL.map((name) => `s.${name}`).join(', ')}) <> (${ALL.map(() => '0').join(', ')})) s
      full join (select d.* from analytics_days d
                   join analytics_generations g on g.tenant_ref = d.tenant_ref and g.generation = d.generation
                                               and g.state <> 'retired'
                  where (${ALL.map((name) => `d.${name}`).join(', ')}) <> (${ALL.map(() => '0').join(', ')})) d
        using (tenant_ref, generation, calendar, dimension, currency, day, key)
     where (${ALL.map((name) => `s.${name}`).join(', ')}) is distinct from (${ALL.map((name) => `d.${name}`).join(', ')})`,

  'an order whose lines are not counted as they are': `
    select i.tenant_ref, i.order_id, i.variant_id, i.units, i.gross, c.units, c.gross
      from (select i.tenant_ref, i.order_id, i.variant_id, sum(i.quantity) as units,
                   sum(case when i.gift_card then 0
                            when not o.prices_include_tax then i.line_total_cents
                            else i.line_total_cents - i.tax_cents + i.inside end)::bigint as gross
              from (${withTaxInside}) i join orders o on o.tenant_ref = i.tenant_ref and o.id = i.order_id
             group by 1, 2, 3) i
      join (select f.tenant_ref, f.generation, f.order_id, (l ->> 'variant_id')::uuid as variant_id,
                   sum(coalesce((l -> 'measures' ->> 'units_count')::bigint, 0)) as units,
                   sum(coalesce((l -> 'measures' ->> 'gross_cents')::bigint, 0)) as gross
              from analytics_facts f cross join lateral jsonb_array_elements(f.lines) l
              join analytics_generations g on g.tenant_ref = f.tenant_ref and g.generation = f.generation
             where l ->> 'variant_id' is not null and g.state <> 'retired'
               and not exists (select from ledger_journals j
                                 left join ledger_seals s on s.tenant_ref = j.tenant_ref and s.journal_id = j.id
                                where j.tenant_ref = f.tenant_ref and j.order_id = f.order_id
                                  and (s.sequence is null or s.sequence > g.sequence))
               -- The last edit of the order moved money, so that it is counted.
               and not exists (select from order_line_changes n
                                where n.tenant_ref = f.tenant_ref and n.order_id = f.order_id
                                  and not exists (select from order_line_changes p
                                                    join ledger_journals j on j.tenant_ref = p.tenant_ref
                                                     and j.order_id = p.order_id and j.ref = p.change_id::text
                                                   where p.tenant_ref = n.tenant_ref and p.order_id = n.order_id
                                                     and p.created_at >= n.created_at))
             group by 1, 2, 3, 4) c using (tenant_ref, order_id, variant_id)
     where (i.units, i.gross) <> (c.units, c.gross)`,
}

/** Fails unless the figures of all stores are those of their journals, each counted once. */
export const assertFiguresAddUp = (superuser: Queried) => assertNone(superuser, ORACLES)
