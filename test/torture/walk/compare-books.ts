import type pg from 'pg'
import { ORACLES } from '../../harness/oracles.ts'
import { ORDER_ORACLES } from '../../harness/order-oracles.ts'
import { STOCK_ORACLES } from '../../harness/stock-oracles.ts'

/** An erased event names no order any more. The witness of the walk knows it. */
const BY_WITNESS = 'a placed order without exactly one event, or an event without an order'

const BALANCES: Readonly<Record<string, string>> = {
  'a negative balance': `
    select tenant_ref, id, balance_cents, held_cents from gift_cards
     where balance_cents < 0 or held_cents < 0 or held_cents > balance_cents
    union all
    select tenant_ref, id, balance_cents, held_cents from store_credit_accounts
     where balance_cents < 0 or held_cents < 0 or held_cents > balance_cents`,

  'a gift card whose balance is not the sum of its transactions': `
    select g.tenant_ref, g.id, g.balance_cents, coalesce(t.sum, 0) as transactions
      from gift_cards g
      left join (select tenant_ref, gift_card_id,
                        sum(case when type = 'credit' then amount_cents
                                 when type in ('debit', 'capture', 'expire') then -amount_cents
                                 else 0 end) as sum
                   from gift_card_transactions group by 1, 2) t
        on t.tenant_ref = g.tenant_ref and t.gift_card_id = g.id
     where g.balance_cents <> coalesce(t.sum, 0)`,

  'an account whose balance is not the sum of its transactions': `
    select a.tenant_ref, a.id, a.balance_cents, coalesce(t.sum, 0) as transactions
      from store_credit_accounts a
      left join (select tenant_ref, account_id,
                        sum(case when type = 'credit' then amount_cents
                                 when type in ('debit', 'capture', 'expire') then -amount_cents
                                 else 0 end) as sum
                   from store_credit_transactions group by 1, 2) t
        on t.tenant_ref = a.tenant_ref and t.account_id = a.id
     where a.balance_cents <> coalesce(t.sum, 0)`,

  'an order whose events are not those of its timeline': `
    select t.tenant_ref, t.order_id, t.type, t.count as timeline, coalesce(e.count, 0) as events
      from (select tenant_ref, order_id, type, count(*) from order_timeline
             where type in ('placed', 'refunded', 'cancelled', 'edited', 'held', 'released')
             group by 1, 2, 3) t
      full join (select w.tenant_ref, w.order_id,
                        substring(w.type from 'commerce\\.order\\.(.*)\\.v1') as type, count(*)
                   from walk.events w
                   join webhook_events e on e.tenant_ref = w.tenant_ref and e.id = w.id
                  where w.type like 'commerce.order.%' and e.sequence is not null
                  group by 1, 2, 3) e
        using (tenant_ref, order_id, type)
     where t.count is distinct from e.count`,

  'an order whose placing, refunds and cancellation are not its events': `
    select o.tenant_ref, o.id, e.types
      from orders o,
           lateral (select coalesce(array_agg(split_part(type, '.', 3)), '{}') as types
                      from walk.events w
                     where w.tenant_ref = o.tenant_ref and w.order_id = o.id
                       and w.type like 'commerce.order.%') e,
           lateral (select count(*) as refunds from refunds r
                     where r.tenant_ref = o.tenant_ref and r.order_id = o.id
                       and r.kind = 'refund' and r.status = 'succeeded') r
     where cardinality(array_positions(e.types, 'placed')) <> (o.placed_at is not null)::int
        or cardinality(array_positions(e.types, 'cancelled')) <> (o.cancelled_at is not null)::int
        or cardinality(array_positions(e.types, 'refunded')) <> r.refunds`,

  'an order that was changed in the feed before it was placed': `
    select p.tenant_ref, p.order_id, s.sequence as placed, min(l.sequence) as changed
      from walk.events p
      join webhook_events s on s.tenant_ref = p.tenant_ref and s.id = p.id
      join walk.events c on c.tenant_ref = p.tenant_ref and c.order_id = p.order_id
       and c.type in ('commerce.order.refunded.v1', 'commerce.order.edited.v1',
                      'commerce.order.cancelled.v1')
      join webhook_events l on l.tenant_ref = c.tenant_ref and l.id = c.id
     where p.type = 'commerce.order.placed.v1'
     group by 1, 2, 3
    having min(l.sequence) < s.sequence`,

  'an event that has come or gone without its transaction': `
    select tenant_ref, id, w.type, e.type
      from walk.events w full join webhook_events e using (tenant_ref, id)
     where w.type is distinct from e.type`,

  'a feed with a gap': `
    select tenant_ref, count(*), min(sequence), max(sequence) from webhook_events
     group by 1 having min(sequence) <> 1 or max(sequence) <> count(*)`,
}

/** Compares orders, journals, balances, stock and events by SQL. Lists what differs. */
export async function compareBooks(superuser: pg.Pool): Promise<string[]> {
  const { [BY_WITNESS]: _, ...ordered } = ORDER_ORACLES
  const faults: string[] = []
  for (const oracles of [ORACLES, ordered, STOCK_ORACLES, BALANCES]) {
    for (const [what, query] of Object.entries(oracles)) {
      const { rows } = await superuser.query<object>(query)
      faults.push(...rows.map((row) => `${what}: ${JSON.stringify(row)}`))
    }
  }
  return faults
}
