import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { startWorker } from '../../../src/compose/worker.ts'
import type { Tx } from '../../../src/db/database.ts'
import { GATHER_SECONDS } from '../../../src/modules/analytics/count.ts'
import { countingQueue } from '../../../src/modules/analytics/count-queries.ts'
import * as analytics from '../../../src/modules/analytics/jobs.ts'
import { chainNewJournals } from '../../../src/modules/ledger/jobs.ts'
import * as segments from '../../../src/modules/segments/jobs.ts'
import { announceOnce } from '../../../src/platform/announce-once.ts'
import { eventually } from '../../harness/eventually.ts'
import { countAtOnce, shareTimedApp, type TimedApp } from './setup.ts'

const shared = shareTimedApp()
let app: TimedApp

const countFacts = async (tenant: string): Promise<number> => {
  const { rows } = await app.superuser.query(
    'select count(*)::int as facts from analytics_facts where tenant_ref = $1',
    [tenant],
  )
  return rows[0].facts
}

describe('a count that is told of new journals', () => {
  before(() => {
    app = shared.current
  })

  test('lags by at most 30 seconds, and the report says up to which time it has counted', async (t) => {
    const numberingSeconds = 1
    const steps = numberingSeconds + analytics.COUNT_EVERY_MS / 1_000
    assert.ok(GATHER_SECONDS + steps <= 30)
    const shop = await app.shopIn('lagging', 'UTC')
    const worker = await startWorker(app.runtime)
    t.after(() => worker.stop())
    const report = async () =>
      (await shop.merchant.get('/v1/merchant/analytics/summary?compare=')).body
    for (const orders of [1, 2]) {
      const { order } = await app.place(shop)
      await eventually(async () => {
        const { orders_count, as_of } = await report()
        assert.equal(orders_count, orders)
        // A report that is read while a step ends may have its orders already, and the time of the step before.
        assert.ok(Date.parse(as_of) >= Date.parse(order.created_at), as_of)
      })
    }
  })

  test('says how long it rests, and says nothing while it is at work', async () => {
    const shop = await app.shopIn('resting', 'UTC')
    const { workerDatabase } = app.runtime
    const worker = workerDatabase.tenant('resting')
    const announce = () =>
      worker.transaction('announce', async (tx) =>
        Promise.all([analytics.onNewLinks(tx), segments.onNewLinks(tx)]),
      )
    const rested = ([one = 0, other = 0]: number[]) =>
      [one, other].map((seconds) => (seconds > 0 && seconds <= 30 ? 'rests' : 'may be at work'))
    assert.deepEqual(await announce(), [0, 0], 'a new one is due at once')
    await app.place(shop)
    while ((await chainNewJournals(workerDatabase, { onLinks: countAtOnce })) > 0);
    while ((await analytics.countNumbered(workerDatabase)) > 0);
    while ((await segments.countPeople(workerDatabase)) > 0);
    assert.deepEqual(await announce(), [20, 30])
    assert.deepEqual(rested(await announce()), ['rests', 'rests'])
    await app.superuser.query(`
      update analytics_generations set due_at = now() where tenant_ref = 'resting';
      update segment_positions set due_at = now() where tenant_ref = 'resting'`)
    assert.equal((await countingQueue.claim(worker, 1)).length, 1)
    assert.deepEqual(rested(await announce()), ['may be at work', 'may be at work'])
  })

  test('counts every journal, also those that come while it rests and are not announced', async () => {
    const shop = await app.shopIn('steady', 'UTC')
    const { workerDatabase } = app.runtime
    let told = 0
    const announce = (tx: Tx) => {
      told += 1
      return analytics.onNewLinks(tx, 2)
    }
    let isOver = false
    const repeat = async (step: () => Promise<unknown>) => {
      while (!isOver) {
        await step()
        await pause(10)
      }
    }
    const { onNew: onLinks, onCommitted: onNumbered } = announceOnce([announce])
    const working = Promise.all([
      repeat(() => chainNewJournals(workerDatabase, { onLinks, onNumbered })),
      repeat(() => analytics.countNumbered(workerDatabase)),
    ])
    const placed = 40
    for (let n = 0; n < placed; n++) {
      await app.place(shop)
      await pause(n % 7 === 0 ? 300 : 20)
    }
    await eventually(async () => assert.equal(await countFacts('steady'), placed))
    isOver = true
    await working
    assert.ok(told > 1 && told < placed, `${told} of ${placed} were announced`)
  })
})
