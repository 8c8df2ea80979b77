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
}

/** Fails with the offending rows, if there are any. */
export async function assertOracles(superuser: Pick<pg.Client, 'query'>): Promise<void> {
  for (const [what, query] of Object.entries(ORACLES)) {
    const { rows } = await superuser.query(query)
    assert.deepEqual(rows, [], what)
  }
}
