import { test } from 'node:test'
import { GIFT_CARD_STATUSES } from '../../../src/modules/gift-cards/schema.ts'
import { list, listTransactions } from '../../../src/modules/gift-cards/service.ts'
import { openTestDatabase } from '../../harness/database.ts'
import { BIG, MANY, openPagesRead } from '../../harness/list-pages.ts'

const page = { limit: 25, offset: 0 }
const CARD = '00000000-0000-4000-8000-000000000007'

test('lists of gift cards and their transactions read few pages, whatever they find', async (t) => {
  const database = await openTestDatabase(t)
  const admin = await database.openAdmin()
  await admin.query(`insert into stores (tenant_ref, display_name) values ('${BIG}', 'Big')`)
  await admin.query(`
    insert into gift_cards (tenant_ref, id, code_hmac, code_last4, initial_balance_cents,
                            balance_cents, currency, expires_at, created_at)
    select '${BIG}', case when n = 1 then '${CARD}' else gen_random_uuid() end,
           sha256(convert_to(n::text, 'UTF8')), lpad((n % 5000)::text, 4, '0'), 100,
           case when n % 400 = 7 then 0 else 100 end, 'EUR',
           case when n % 2 = 0 then now() + n * interval '1 minute' end,
           now() - n * interval '1 minute'
      from generate_series(1, ${MANY}) n`)
  await admin.query(`
    insert into gift_card_transactions (tenant_ref, gift_card_id, type, event, amount_cents,
                                        balance_after_cents, actor, created_at)
    select '${BIG}', '${CARD}', 'credit', 'adjustment', 1, n, 'operator',
           now() + n * interval '1 minute'
      from generate_series(1, ${MANY}) n`)
  await admin.query('vacuum analyze gift_cards, gift_card_transactions')
  const readPages = await openPagesRead(database)
  const readCards = async (what: string) => {
    for (const status of [undefined, ...GIFT_CARD_STATUSES]) {
      await readPages(`${what} ${status}`, (db) => list(db, { status }, page))
    }
  }
  await readCards('mostly active')
  for (const last4 of ['0007', '9999']) {
    await readPages(last4, (db) => list(db, { last4 }, page))
    await readPages(`expired ${last4}`, (db) => list(db, { last4, status: 'expired' }, page))
  }
  await readPages('transactions', (db) => listTransactions(db, CARD, page))

  // Of the cards that are due, the loop has booked all but a few.
  await admin.query(`
    update gift_cards
       set expires_at = now() - interval '1 day',
           expired_at = case when code_last4::int % 400 <> 9 then now() end
     where code_last4::int % 400 <> 3`)
  await admin.query('vacuum full analyze gift_cards')
  await readCards('mostly expired')
})
