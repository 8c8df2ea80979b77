import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Database } from '../../../src/db/database.ts'
import { lateQueue } from '../../../src/modules/payments/attempt-queries.ts'
import { createComparison } from '../../../src/modules/payments/jobs.ts'
import type { Payments } from '../../../src/modules/payments/service.ts'
import { countPages } from '../../harness/pages.ts'
import { openPlatform } from '../../harness/platform.ts'

const platform = await openPlatform({ after }, 4)
const { query, worker } = platform

test('the days to compare are planned by one statement for a store, and listed by one for all stores', async () => {
  const refs = await platform.addStores(40)
  await query(
    `insert into payment_accounts (tenant_ref, gateway)
     select ref, 'simulated' from unnest($1::text[]) as ref`,
    [refs],
  )
  const { db, counted } = await countPages({ after }, platform.database, 'fd_worker')
  // Ends after the last store is planned: the days are not compared here.
  const ending = new AbortController()
  const planned: string[] = []
  const counting = {
    due: db,
    tenant(ref: string) {
      if (planned.push(ref) === refs.length) ending.abort()
      return worker.tenant(ref)
    },
  } as unknown as Database
  const clock = { now: () => Date.now() }
  const step = createComparison({ database: counting, payments: {} as Payments, clock })
  await step(ending.signal)
  assert.deepEqual(planned.toSorted(), refs.toSorted())
  assert.equal(counted.statements, 1)
  const [row] = await query<{ days: number; stores: number }>(
    'select count(*)::int as days, count(distinct tenant_ref)::int as stores from payment_days',
  )
  assert.deepEqual(row, { days: 7 * 40, stores: 40 })
})

test('late approvals do not read the payments whose outcome is unknown', async () => {
  const refs = await platform.addStores(20)
  await query(
    `insert into payment_attempts (tenant_ref, id, order_id, kind, gateway, amount_cents, currency,
                                   state, next_check_at, closed_at)
     select ref, gen_random_uuid(), gen_random_uuid(), 'checkout', 'simulated', 100, 'USD', state,
            now() - interval '1 minute', case when state = 'not_found' then now() end
       from unnest($1::text[]) as ref, generate_series(1, 200) as i,
            lateral (select case when i = 200 and ref = $2 then 'not_found' else 'unknown' end)
              as chosen (state)`,
    [refs, refs[0]],
  )
  await query('analyze payment_attempts')
  const { db, counted } = await countPages({ after }, platform.database, 'fd_worker')
  assert.deepEqual(await lateQueue.next(db, 10), [{ tenant_ref: refs[0] }])
  assert.equal(counted.statements, 1)
  assert.ok(counted.pages <= 10, `${counted.pages} pages`)
})
