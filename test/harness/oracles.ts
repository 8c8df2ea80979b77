import { assertNone, type Oracles, type Queried } from './check-oracles.ts'

/**
 * States that must never occur, as SQL: each statement lists the violations in all stores, and must
 * return no row. Run as the superuser, who sees all stores, after any test that moves money.
 */
export const ORACLES: Oracles = {
  'a journal that does not sum to zero': `
    select tenant_ref, journal_id, currency, sum(amount_cents)
      from ledger_entries
     group by tenant_ref, journal_id, currency
    having sum(amount_cents) <> 0`,

  'a journal that is neither sealed nor waiting to be, or both': `
    select j.tenant_ref, j.id
      from ledger_journals j
      left join ledger_seals s on s.tenant_ref = j.tenant_ref and s.journal_id = j.id
      left join ledger_unsealed u on u.tenant_ref = j.tenant_ref and u.journal_id = j.id
     where (s.journal_id is null) = (u.journal_id is null)`,

  'a store whose seals have a gap': `
    select tenant_ref, count(*), min(sequence), max(sequence)
      from ledger_seals
     group by tenant_ref
    having min(sequence) <> 1 or max(sequence) <> count(*)`,

  'a gift card whose balance is not what the ledger says is owed': `
    select g.tenant_ref, g.id, g.balance_cents, coalesce(e.owed, 0) as owed
      from gift_cards g
      left join (select tenant_ref, ref, -sum(amount_cents) as owed
                   from ledger_entries where account = 'gift_card'
                  group by tenant_ref, ref) e
        on e.tenant_ref = g.tenant_ref and e.ref = g.id::text
     where g.balance_cents <> coalesce(e.owed, 0)`,

  'a customer whose credit is not what the ledger says is owed': `
    select a.tenant_ref, a.id, a.balance_cents, coalesce(e.owed, 0) as owed
      from store_credit_accounts a
      left join (select tenant_ref, ref, -sum(amount_cents) as owed
                   from ledger_entries where account = 'store_credit'
                  group by tenant_ref, ref) e
        on e.tenant_ref = a.tenant_ref and e.ref = a.id::text
     where a.balance_cents <> coalesce(e.owed, 0)`,

  'a balance whose held part is not the sum of its pending holds': `
    select b.tenant_ref, b.account, b.id, b.held_cents, coalesce(h.held, 0) as held
      from (select tenant_ref, 'gift_card' as account, id, held_cents from gift_cards
            union all
            select tenant_ref, 'store_credit', id, held_cents from store_credit_accounts) b
      left join (select tenant_ref, account, ref, sum(amount_cents) as held
                   from ledger_holds where state = 'pending'
                  group by tenant_ref, account, ref) h
        on h.tenant_ref = b.tenant_ref and h.account = b.account and h.ref = b.id::text
     where b.held_cents <> coalesce(h.held, 0)`,

  'a customer whose lots do not sum to the balance': `
    select a.tenant_ref, a.id, a.balance_cents, coalesce(l.remaining, 0) as remaining
      from store_credit_accounts a
      left join (select tenant_ref, account_id, sum(remaining_cents) as remaining
                   from store_credit_lots group by tenant_ref, account_id) l
        on l.tenant_ref = a.tenant_ref and l.account_id = a.id
     where a.balance_cents <> coalesce(l.remaining, 0)`,

  'a charge whose refunded amount is not the sum of its refunds': `
    select c.tenant_ref, c.charge_id, c.refunded_cents, coalesce(t.given, 0) as given
      from charges c
      left join (select t.tenant_ref, t.charge_id, sum(t.amount_cents) as given
                   from refund_tenders t
                   join refunds r on r.tenant_ref = t.tenant_ref and r.refund_id = t.refund_id
                  where t.status <> 'failed' and r.status <> 'failed'
                  group by t.tenant_ref, t.charge_id) t
        on t.tenant_ref = c.tenant_ref and t.charge_id = c.charge_id
     where c.refunded_cents <> coalesce(t.given, 0)`,

  'an order whose money is not that of its charges and refunds': `
    select o.tenant_ref, o.id, o.captured_cents, o.refunded_cents, c.captured, r.refunded, r.adjusted
      from orders o
      join lateral (select coalesce(sum(captured_cents), 0) as captured from charges c
                     where c.tenant_ref = o.tenant_ref and c.order_id = o.id) c on true
      join lateral (select coalesce(sum(amount_cents) filter (where kind = 'refund'), 0) as refunded,
                           coalesce(sum(amount_cents) filter (where kind = 'adjustment'), 0)
                             as adjusted
                      from refunds r
                     where r.tenant_ref = o.tenant_ref and r.order_id = o.id
                       and r.status = 'succeeded') r on true
     where o.captured_cents <> c.captured - r.adjusted or o.refunded_cents <> r.refunded`,

  'a placed order whose captured amount is not its total': `
    select tenant_ref, id, total_cents, captured_cents
      from orders
     where placed_at is not null and total_cents <> captured_cents`,

  'an order whose lines do not sum to its total': `
    select o.tenant_ref, o.id, o.total_cents, i.total
      from orders o
      join lateral (select sum(line_total_cents - discount_cents + shipping_cents
                                 + case when o.prices_include_tax then 0 else tax_cents end)
                             as total
                      from order_items i
                     where i.tenant_ref = o.tenant_ref and i.order_id = o.id) i on true
     where o.total_cents <> i.total`,

  'a refund whose tenders do not sum to its amount': `
    select r.tenant_ref, r.refund_id, r.amount_cents, t.given
      from refunds r
      join lateral (select coalesce(sum(amount_cents), 0) as given from refund_tenders t
                     where t.tenant_ref = r.tenant_ref and t.refund_id = r.refund_id
                       and t.status = 'succeeded') t on true
     where r.status = 'succeeded' and r.amount_cents <> t.given`,

  'an order whose card money is not in the ledger': `
    select o.tenant_ref, o.id, c.net, coalesce(e.net, 0) as booked
      from orders o
      join lateral (select coalesce(sum(c.captured_cents), 0)
                           - coalesce((select sum(t.amount_cents)
                                         from refunds r
                                         join refund_tenders t on t.tenant_ref = r.tenant_ref
                                          and t.refund_id = r.refund_id
                                        where r.tenant_ref = o.tenant_ref and r.order_id = o.id
                                          and r.method <> 'exchange'
                                          and t.tender = 'card' and t.status = 'succeeded'), 0)
                             as net
                      from charges c
                     where c.tenant_ref = o.tenant_ref and c.order_id = o.id
                       and c.tender = 'card' and c.moved_from is null) c on true
      left join (select j.tenant_ref, j.order_id, sum(e.amount_cents) as net
                   from ledger_journals j
                   join ledger_entries e on e.tenant_ref = j.tenant_ref and e.journal_id = j.id
                  where e.account = 'card_clearing'
                    -- What a bank took twice belongs to no charge.
                    and j.kind <> 'dispute.lost'
                  group by j.tenant_ref, j.order_id) e
        on e.tenant_ref = o.tenant_ref and e.order_id = o.id
     where c.net <> coalesce(e.net, 0)`,

  'a card charge that differs from the record of the simulated gateway': `
    select c.tenant_ref, c.charge_id, c.captured_cents - coalesce(t.given, 0) as ours,
           case when s.voided_at is null then s.captured_cents - s.refunded_cents else 0 end as theirs
      from charges c
      join sim_charges s on s.tenant_ref = c.tenant_ref and s.txn_id::text = c.txn_id
      -- Exchanges move parts of a transaction to other orders, which refund them there.
      left join (select tenant_ref, c.txn_id, sum(t.amount_cents) as given
                   from refund_tenders t
                   join charges c using (tenant_ref, charge_id)
                  -- The money of a lost dispute was taken by the bank: no gateway was asked.
                  where t.tender = 'card' and t.status = 'succeeded' and t.attempt_id is not null
                  group by tenant_ref, c.txn_id) t
        on t.tenant_ref = c.tenant_ref and t.txn_id = c.txn_id
     where c.moved_from is null
       and c.captured_cents - coalesce(t.given, 0)
           <> case when s.voided_at is null then s.captured_cents - s.refunded_cents else 0 end
       and not exists (select from refunds r
                         join charges o on o.tenant_ref = r.tenant_ref and o.order_id = r.order_id
                        where r.tenant_ref = c.tenant_ref and o.txn_id = c.txn_id
                          and r.status = 'pending' and r.method <> 'exchange')`,

  'money that an exchange has taken from an order and brought to none': `
    select tenant_ref, currency, sum(amount_cents)
      from ledger_entries
     where account = 'exchange'
     group by tenant_ref, currency
    having sum(amount_cents) <> 0`,
}

/** Fails with the violating rows, if there are any. */
export const assertOracles = (superuser: Queried) => assertNone(superuser, ORACLES)
