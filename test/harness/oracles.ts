import assert from 'node:assert/strict'
import type pg from 'pg'

/**
 * What must never be, as SQL: each statement lists the offenders of all stores, and so answers
 * nothing. Run as the superuser, past every fence, after whatever a test did.
 */
export const ORACLES: Readonly<Record<string, string>> = {
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
}

/** Fails with the offending rows, if there are any. */
export async function assertOracles(superuser: Pick<pg.Client, 'query'>): Promise<void> {
  for (const [what, query] of Object.entries(ORACLES)) {
    const { rows } = await superuser.query(query)
    assert.deepEqual(rows, [], what)
  }
}
