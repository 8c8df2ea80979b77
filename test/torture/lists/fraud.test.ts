import { test } from 'node:test'
import type { BanFilters, DecisionFilters } from '../../../src/modules/fraud/queries.ts'
import { list, listDecisions } from '../../../src/modules/fraud/service.ts'
import { openTestDatabase } from '../../harness/database.ts'
import { BIG, MANY, openPagesRead } from '../../harness/list-pages.ts'

const page = { limit: 25, offset: 0 }
const ORDER = '00000000-0000-4000-8000-000000000007'

test('lists of bans and of decisions read few pages, whatever their filters find', async (t) => {
  const database = await openTestDatabase(t)
  const admin = await database.openAdmin()
  await admin.query(`insert into stores (tenant_ref, display_name) values ('${BIG}', 'Big')`)
  await admin.query(`
    insert into fraud_bans (tenant_ref, kind, value, action, created_by, created_at, expires_at)
    select '${BIG}', case when n % 400 = 7 then 'ip' else 'email' end, n, 'block', 'operator',
           now() - n * interval '1 minute',
           case when n % 400 = 1 then now() - interval '1 hour'
                when n % 2 = 0 then now() + interval '1 hour' end
      from generate_series(1, ${MANY}) n`)
  await admin.query(`
    insert into fraud_decisions (tenant_ref, order_id, decision, score, signals, created_at)
    select '${BIG}', case when n % 400 = 7 then '${ORDER}' else gen_random_uuid() end,
           case when n % 400 = 7 then 'review' else 'accepted' end, 0, '[]',
           now() - n * interval '1 minute'
      from generate_series(1, ${MANY}) n`)
  await admin.query('vacuum analyze fraud_bans, fraud_decisions')
  const readPages = await openPagesRead(database)
  const readBans = async (what: string, bans: BanFilters[]) => {
    for (const each of bans) {
      await readPages(`bans ${what} ${JSON.stringify(each)}`, (db) => list(db, each, page))
    }
  }
  const kinds = (['email', 'ip', 'address'] as const).map((kind) => ({ kind, active: undefined }))
  const states = [true, false].map((active) => ({ kind: undefined, active }))
  await readBans('mostly active', [{ kind: undefined, active: undefined }, ...kinds, ...states])

  const decisions: DecisionFilters[] = [
    ...([undefined, 'accepted', 'review', 'rejected'] as const).map((decision) => ({
      order_id: undefined,
      decision,
    })),
    ...[ORDER, ORDER.replace('7', '8')].map((order_id) => ({ order_id, decision: undefined })),
  ]
  for (const each of decisions) {
    await readPages(`decisions ${JSON.stringify(each)}`, (db) => listDecisions(db, each, page))
  }

  await admin.query(
    `update fraud_bans set expires_at = now() - interval '1 hour' where value::int % 400 <> 3`,
  )
  await admin.query('vacuum full analyze fraud_bans')
  await readBans('mostly expired', states)
  await admin.query(`update fraud_bans set lifted_at = now(), lifted_by = 'operator'
                      where value::int % 400 <> 3`)
  await admin.query('vacuum full analyze fraud_bans')
  await readBans('mostly lifted', states)
})
