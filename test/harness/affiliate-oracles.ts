import type { Oracles } from './check-oracles.ts'

/**
 * States of affiliates that must never occur. Each statement lists the violations in all stores, and
 * computes the compared values again: from the ledger, and from the terms of the order.
 */
export const AFFILIATE_ORACLES: Oracles = {
  'an affiliate who is not owed what the commissions and payouts say': `
    select coalesce(c.tenant_ref, e.tenant_ref) as tenant_ref, coalesce(c.ref, e.ref) as ref, c.owed, e.booked
      from (select tenant_ref, affiliate_id::text as ref, currency, sum(cents) as owed
              from (select tenant_ref, affiliate_id, currency, amount_cents as cents
                      from affiliate_commissions where status <> 'declined'
                     union all
                    select tenant_ref, affiliate_id, currency, -amount_cents
                      from affiliate_payouts where status = 'paid') as moved
             group by 1, 2, 3) c
      full join (select tenant_ref, ref, currency, -sum(amount_cents) as booked
                   from ledger_entries where account = 'affiliate_payable'
                  group by 1, 2, 3) e
        on e.tenant_ref = c.tenant_ref and e.ref = c.ref and e.currency = c.currency
     where coalesce(c.owed, 0) <> coalesce(e.booked, 0)`,

  'an order whose commissions do not sum to what is booked for it': `
    select a.tenant_ref, a.order_id, a.booked_cents, coalesce(c.sum, 0) as sum
      from affiliate_attributions a
      left join (select tenant_ref, order_id, sum(amount_cents) as sum
                   from affiliate_commissions where status <> 'declined' group by 1, 2) c
        on c.tenant_ref = a.tenant_ref and c.order_id = a.order_id
     where a.booked_cents <> coalesce(c.sum, 0)`,

  'an order whose goods are not what the ledger has left of them': `
    select a.tenant_ref, a.order_id, a.left_cents, g.goods, o.is_test
      from affiliate_attributions a
      join orders o on o.tenant_ref = a.tenant_ref and o.id = a.order_id
      join lateral (select -sum(e.amount_cents) as goods
                      from ledger_journals j
                      join ledger_entries e on e.tenant_ref = j.tenant_ref and e.journal_id = j.id
                     where j.tenant_ref = a.tenant_ref and j.order_id = a.order_id
                       and e.account in ('sales', 'discount', 'refund')) g on true
     where a.refusal is null
       and a.left_cents <> case when o.is_test then 0 else greatest(coalesce(g.goods, 0), 0) end`,

  'an order that has not earned what its terms say': `
    select tenant_ref, order_id, booked_cents, due
      from (select a.*,
                   case commission_type
                     when 'percent' then round(left_cents * rate_bps / 10000.0)
                     else case when base_cents = 0 then 0
                               else round(least(amount_cents, base_cents)::numeric
                                          * least(left_cents, base_cents) / base_cents) end
                   end as due
              from affiliate_attributions a
             where refusal is null) as d
     where not declined and booked_cents <> due or booked_cents > due`,

  'a payout that is not the sum of its commissions': `
    select p.tenant_ref, p.id, p.amount_cents, c.sum
      from affiliate_payouts p
      left join (select tenant_ref, payout_id, sum(amount_cents) as sum
                   from affiliate_commissions where payout_id is not null group by 1, 2) c
        on c.tenant_ref = p.tenant_ref and c.payout_id = p.id
     where p.status <> 'cancelled' and p.amount_cents is distinct from c.sum
        or p.status = 'cancelled' and c.sum is not null`,

  'a commission whose status is not that of its payout': `
    select c.tenant_ref, c.id, c.status, p.status as payout
      from affiliate_commissions c
      left join affiliate_payouts p on p.tenant_ref = c.tenant_ref and p.id = c.payout_id
     where (c.status = 'paid') <> (p.status is not distinct from 'paid')`,

  'commissions of an order that are reversed and worth something': `
    select tenant_ref, order_id, sum(amount_cents)
      from affiliate_commissions
     where status = 'reversed'
     group by 1, 2
    having sum(amount_cents) <> 0`,

  'a refused order that has earned': `
    select a.tenant_ref, a.order_id, a.refusal, c.status
      from affiliate_attributions a
      join affiliate_commissions c on c.tenant_ref = a.tenant_ref and c.order_id = a.order_id
     where a.refusal is not null and c.status <> 'declined'`,
}
