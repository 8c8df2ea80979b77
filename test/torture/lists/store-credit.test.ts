import { test } from 'node:test'
import { list, listTransactions } from '../../../src/modules/store-credit/service.ts'
import { openTestDatabase } from '../../harness/database.ts'
import { BIG, MANY, openPagesRead } from '../../harness/list-pages.ts'

const page = { limit: 25, offset: 0 }
const ACCOUNT = '00000000-0000-4000-8000-000000000007'

test('lists of store credit accounts and their transactions read few pages', async (t) => {
  const database = await openTestDatabase(t)
  const admin = await database.openAdmin()
  await admin.query(`insert into stores (tenant_ref, display_name) values ('${BIG}', 'Big')`)
  await admin.query(`
    insert into store_credit_accounts (tenant_ref, id, customer_ref, currency, created_at)
    select '${BIG}', case when n = 7 then '${ACCOUNT}' else gen_random_uuid() end,
           'customer-' || n, 'EUR', now() - n * interval '1 minute'
      from generate_series(1, ${MANY}) n`)
  await admin.query(`
    insert into store_credit_transactions (tenant_ref, account_id, type, event, amount_cents,
                                           balance_after_cents, actor, created_at)
    select '${BIG}', '${ACCOUNT}', 'credit', 'adjustment', 1, n, 'operator',
           now() + n * interval '1 minute'
      from generate_series(1, ${MANY}) n`)
  await admin.query('vacuum analyze store_credit_accounts, store_credit_transactions')
  const readPages = await openPagesRead(database)
  for (const customer of [undefined, 'customer-7', 'nobody']) {
    await readPages(`accounts ${customer}`, (db) => list(db, customer, page))
  }
  await readPages('transactions', (db) => listTransactions(db, 'customer-7', page))
})
