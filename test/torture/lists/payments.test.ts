import { test } from 'node:test'
import { listCharges } from '../../../src/modules/payments/adapters/simulated/queries.ts'
import { listDiscrepancies } from '../../../src/modules/payments/queries.ts'
import { listUnsettled } from '../../../src/modules/payments/unsettled.ts'
import { openTestDatabase } from '../../harness/database.ts'
import { BIG, MANY, openPagesRead } from '../../harness/list-pages.ts'

const page = { limit: 25, offset: 0 }

test('lists of payments read few pages, with few and with many that are open', async (t) => {
  const database = await openTestDatabase(t)
  const admin = await database.openAdmin()
  await admin.query(`insert into stores (tenant_ref, display_name) values ('${BIG}', 'Big')`)
  await admin.query(`
    insert into payment_discrepancies (tenant_ref, day, gateway, problem, ref, created_at,
                                       resolved_at)
    select '${BIG}', '2026-01-01', 'nmi', 'missing_here', n, now() - n * interval '1 minute',
           case when n % 400 <> 7 then now() end
      from generate_series(1, ${MANY}) n`)
  await admin.query(`
    insert into payment_attempts (tenant_ref, id, order_id, kind, gateway, amount_cents, currency,
                                  state, created_at, closed_at, next_check_at)
    select '${BIG}', gen_random_uuid(), gen_random_uuid(), 'checkout', 'nmi', 1, 'EUR',
           case when is_open then 'unknown' else 'approved' end, at,
           case when not is_open then at end, case when is_open then now() end
      from generate_series(1, ${MANY}) n,
           lateral (select n % 400 = 7 as is_open, now() - n * interval '1 hour' as at) as which`)
  await admin.query(`
    insert into sim_charges (tenant_ref, ref, amount_cents, currency, outcome, code, card,
                             fingerprint, created_at)
    select '${BIG}', gen_random_uuid(), 1, 'EUR', 'approved', '100',
           '{"brand": "visa", "last4": "1111", "exp_month": 1, "exp_year": 2030}', 'f',
           now() - n * interval '1 minute'
      from generate_series(1, ${MANY}) n`)
  await admin.query('vacuum analyze payment_discrepancies, payment_attempts, sim_charges')
  const readPages = await openPagesRead(database)
  for (const onlyOpen of [true, false]) {
    await readPages(`discrepancies, only open: ${onlyOpen}`, (db) =>
      listDiscrepancies(db, onlyOpen, page),
    )
  }
  await readPages('simulated charges', (db) => listCharges(db, page))
  await readPages('few unsettled', (db) => listUnsettled(db, page))

  await admin.query(`update payment_attempts set state = 'unknown', closed_at = null,
                            next_check_at = now()`)
  await admin.query('vacuum full analyze payment_attempts')
  await readPages('many unsettled', (db) => listUnsettled(db, page))
  await admin.query(`update payment_attempts set state = 'approved', closed_at = now(),
                            next_check_at = null`)
  await admin.query('vacuum full analyze payment_attempts')
  await readPages('none unsettled', (db) => listUnsettled(db, page))
})
