import type { Oracles } from './check-oracles.ts'

/**
 * Rules about the cost of goods in the ledger and in the stock. They hold at any moment, because cost entries
 * without a journal are in the queue. Each statement lists the violating rows.
 */

/** The accounts that journals of stock post to, and no others. */
const ACCOUNTS = `('inventory_asset', 'cogs', 'goods_in_transit', 'landed_cost', 'inventory_opening',
                   'inventory_adjustment')`

/** Finds stores where an account, with the entries that wait for their journal, differs from the books of the goods. */
const differs = (account: string, waiting: string, books: string) => `
  select s.tenant_ref, l.booked, w.waiting, b.cents
    from stores s
    join lateral (select coalesce(sum(amount_cents), 0) as booked
                    from ledger_entries
                   where tenant_ref = s.tenant_ref and account = '${account}') l on true
    join lateral (select coalesce(sum(${waiting}), 0) as waiting
                    from inventory_unposted q
                    join inventory_cost_entries e on e.tenant_ref = q.tenant_ref and e.id = q.entry_id
                   where q.tenant_ref = s.tenant_ref) w on true
    join lateral (${books}) b on true
   where l.booked + w.waiting <> b.cents`

export const STOCK_JOURNAL_ORACLES: Oracles = {
  'the stock in the ledger is the value of the stock': differs(
    'inventory_asset',
    'e.value_cents',
    `select coalesce(sum(value_cents), 0) as cents from inventory_costs where tenant_ref = s.tenant_ref`,
  ),

  'the cost of goods sold in the ledger is that of the margin': differs(
    'cogs',
    'e.sold_cents',
    `select coalesce(sum(sold_cents), 0) as cents
       from inventory_cost_entries where tenant_ref = s.tenant_ref`,
  ),

  'what vendors are owed in the ledger is what receipts have brought': differs(
    'goods_in_transit',
    `case when e.kind = 'received' then -e.cost_cents end`,
    `select -coalesce(sum(r.added * n.unit_cost_cents), 0) as cents
       from purchase_receipt_lines r
       join purchase_order_lines n on n.tenant_ref = r.tenant_ref and n.id = r.line_id
      where r.tenant_ref = s.tenant_ref`,
  ),

  'what others are owed in the ledger is what landed costs say': differs(
    'landed_cost',
    `case when e.kind = 'landed_cost' then -e.cost_cents end`,
    `select -coalesce(sum(amount_cents), 0) as cents from purchase_costs where tenant_ref = s.tenant_ref`,
  ),

  'a parcel whose goods cost something else in the ledger': `
    select p.tenant_ref, p.fulfillment_id, p.sold, coalesce(l.sold, 0) as booked
      from (select m.tenant_ref, m.fulfillment_id, sum(e.sold_cents) as sold
              from inventory_movements m
              join inventory_cost_entries e on e.tenant_ref = m.tenant_ref and e.movement_id = m.id
             where m.fulfillment_id is not null
               and not exists (select from inventory_unposted q
                                where q.tenant_ref = e.tenant_ref and q.entry_id = e.id)
             group by 1, 2) p
      left join (select j.tenant_ref, j.ref, sum(e.amount_cents) as sold
                   from ledger_journals j
                   join ledger_entries e on e.tenant_ref = j.tenant_ref and e.journal_id = j.id
                  where j.kind in ('stock.shipped', 'stock.recalled') and e.account = 'cogs'
                  group by 1, 2) l
        on l.tenant_ref = p.tenant_ref and l.ref = p.fulfillment_id::text
     where p.sold <> coalesce(l.sold, 0)`,

  'a journal of stock that belongs to an order, or posts to accounts of sales': `
    select j.tenant_ref, j.id, j.kind, j.order_id, e.account
      from ledger_journals j
      join ledger_entries e on e.tenant_ref = j.tenant_ref and e.journal_id = j.id
     where (j.kind like 'stock.%') <> (e.account in ${ACCOUNTS})
        or (j.kind like 'stock.%' and (j.order_id is not null or j.ref is null or e.ref <> ''))`,
}
