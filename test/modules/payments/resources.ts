import type { Resources } from '../../harness/resources.ts'

const CARD = '{"brand":"visa","last4":"1111","exp_month":1,"exp_year":2040}'

export const resources: Resources = {
  rows: {
    payment_accounts: `insert into payment_accounts (tenant_ref, gateway) values ($1, 'simulated')`,
    payment_attempts: `insert into payment_attempts (tenant_ref, id, order_id, kind, gateway,
                                                   amount_cents, currency)
                     values ($1, gen_random_uuid(), gen_random_uuid(), 'checkout', 'simulated', 1,
                             'USD')`,
    payment_days: `insert into payment_days (tenant_ref, day) values ($1, current_date)`,
    payment_discrepancies: `insert into payment_discrepancies (tenant_ref, day, gateway, problem, ref)
                          values ($1, current_date, 'simulated', 'missing_here', 'x')`,
    sim_charges: `insert into sim_charges (tenant_ref, ref, amount_cents, currency, outcome, code, card,
                                         fingerprint)
                values ($1, gen_random_uuid(), 1, 'USD', 'approved', '100', '${CARD}', 'x')`,
    sim_journal: `with charge as (
                  insert into sim_charges (tenant_ref, ref, amount_cents, currency, outcome, code,
                                           card, fingerprint)
                  values ($1, gen_random_uuid(), 1, 'USD', 'approved', '100', '${CARD}', 'x')
                  returning tenant_ref, txn_id, ref
                )
                insert into sim_journal (tenant_ref, txn_id, ref, kind, amount_cents, outcome)
                select tenant_ref, txn_id, ref, 'authorize', 1, 'approved' from charge`,
    sim_vault: `insert into sim_vault (tenant_ref, vault_id, card, fingerprint, behaviour)
              values ($1, gen_random_uuid(), '${CARD}', 'x', '100')`,
  },
}
