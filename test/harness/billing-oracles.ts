import { assertNone, type Oracles, type Queried } from './check-oracles.ts'

/**
 * Rules for the invoices and the usage of all stores, as SQL of their own: each statement lists the
 * violations, and must return no row. Stores must exist since the database does, and none may have been
 * a sandbox for a while.
 */
const ORACLES: Oracles = {
  'an invoice whose total is not the sum of its lines': `
    select i.tenant_ref, i.id, i.total_cents, l.total
      from billing_invoices i
      join lateral (select coalesce(sum(amount_cents), 0) as total from billing_invoice_lines l
                     where l.tenant_ref = i.tenant_ref and l.invoice_id = i.id) l on true
     where i.total_cents <> l.total`,

  'an invoice that is not settled as its payments and credit notes say': `
    select i.tenant_ref, i.id, i.status, i.paid_cents, i.credited_cents, p.paid, c.credited
      from billing_invoices i
      join lateral (select coalesce(sum(case kind when 'payment' then amount_cents
                                                  else -amount_cents end), 0) as paid
                      from billing_payments p
                     where p.tenant_ref = i.tenant_ref and p.invoice_id = i.id) p on true
      join lateral (select coalesce(sum(amount_cents), 0) as credited
                      from billing_credit_notes c
                     where c.tenant_ref = i.tenant_ref and c.invoice_id = i.id) c on true
     where i.paid_cents <> p.paid or i.credited_cents <> c.credited
        or i.status <> case when i.number is null then 'draft'
                            when i.total_cents > c.credited + p.paid then 'open'
                            when i.total_cents = c.credited and p.paid = 0 then 'void'
                            else 'paid' end`,

  'an issuer whose invoices or credit notes have a gap': `
    select s.id, n.kind, n.count, n.min, n.max, n.next
      from billing_issuers s
     cross join lateral (
           select 'invoice' as kind, count(*), min(sequence), max(sequence), s.next_invoice as next
             from billing_invoices where issuer_id = s.id
            union all
           select 'credit note', count(*), min(sequence), max(sequence), s.next_credit_note
             from billing_credit_notes where issuer_id = s.id) as n
     where n.count > 0 and (n.min <> 1 or n.max <> n.count) or n.next <> n.count + 1`,

  'a month that is closed and whose invoice is a draft': `
    select i.tenant_ref, i.id, i.month, a.open_month
      from billing_invoices i join billing_accounts a using (tenant_ref)
     where (i.status = 'draft') <> (i.month >= a.open_month)`,

  'a line of usage that is not what the month has': `
    select i.tenant_ref, i.month, l.meter, l.quantity, u.quantity as used
      from billing_invoices i
      join billing_invoice_lines l on l.tenant_ref = i.tenant_ref and l.invoice_id = i.id
      join lateral (select coalesce(sum(u.quantity), 0)::bigint as quantity,
                           min(u.from_position) as from_position, max(u.to_position) as to_position
                      from billing_usage u
                     where u.tenant_ref = i.tenant_ref and u.month = i.month
                       and u.meter = case l.meter when 'media_bytes' then 'media_byte_days' else l.meter end
                       and u.currency in ('', i.currency)) u on true
     where l.kind = 'usage' and i.status <> 'draft'
       and (l.quantity, l.from_position, l.to_position) is distinct from
           (greatest(0, case l.meter when 'media_bytes'
                             then u.quantity / extract(day from i.month + interval '1 month - 1 day')::bigint
                             else u.quantity end), u.from_position, u.to_position)`,

  'a store whose orders or volume are not those of its counted journals': `
    select a.tenant_ref, u.orders, u.volume, j.orders as placed, j.volume as posted
      from billing_accounts a
      join stores s using (tenant_ref)
      join lateral (select coalesce(sum(quantity) filter (where meter = 'orders'), 0) as orders,
                           coalesce(sum(quantity) filter (where meter = 'gross_volume'), 0) as volume
                      from billing_usage u where u.tenant_ref = a.tenant_ref) u on true
      join lateral (
           select count(*) filter (where j.kind = 'order.placed') as orders,
                  coalesce(-sum(e.amount), 0) as volume
             from ledger_seals l
             join ledger_journals j on j.tenant_ref = l.tenant_ref and j.id = l.journal_id
             join orders o on o.tenant_ref = j.tenant_ref and o.id = j.order_id
             join lateral (select coalesce(sum(amount_cents), 0) as amount from ledger_entries e
                            where e.tenant_ref = j.tenant_ref and e.journal_id = j.id
                              and e.account in ('sales', 'discount', 'shipping_income', 'refund')) e on true
            where l.tenant_ref = a.tenant_ref and l.sequence > a.ledger_start
              and l.sequence <= a.ledger_position and not o.is_test) j on true
     where not s.sandbox and (u.orders, u.volume) <> (j.orders, j.volume)`,

  'a sandbox that has usage or an invoice': `
    select s.tenant_ref from stores s
     where s.sandbox and (exists (select from billing_usage u where u.tenant_ref = s.tenant_ref)
                          or exists (select from billing_invoices i
                                      where i.tenant_ref = s.tenant_ref and i.status <> 'draft'))`,

  'an invoice that was paid and is still reminded of': `
    select tenant_ref, id, status, remind_at from billing_invoices
     where remind_at is not null and status <> 'open'`,
}

export const assertBillingAddsUp = (superuser: Queried) => assertNone(superuser, ORACLES)
