import type { Resources } from '../../harness/resources.ts'

export const resources: Resources = {
  rows: {
    ledger_checkpoints: `insert into ledger_checkpoints
                              (tenant_ref, sequence, account, currency, balance_cents)
                       values ($1, 1000, 'sales', 'USD', 0)`,
    ledger_holds: `insert into ledger_holds (tenant_ref, account, ref, currency, amount_cents, order_id)
                 values ($1, 'gift_card', 'a card', 'USD', 1, gen_random_uuid())`,
    ledger_seals: `insert into ledger_seals (tenant_ref, sequence, journal_id, hash)
                 select $1, 1, id, sha256('x') from ledger_journals where tenant_ref = $1 limit 1`,
    ledger_verified: `insert into ledger_verified (tenant_ref, newest, due_at)
                    values ($1, 1, now()) on conflict do nothing`,
  },
}
