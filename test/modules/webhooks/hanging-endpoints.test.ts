import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDispatcher } from '../../../src/modules/webhooks/dispatcher.ts'
import { numberNewEvents } from '../../../src/modules/webhooks/jobs.ts'
import { until } from '../../harness/eventually.ts'
import { LADDER, openHanging, openWebhooksApp } from './setup.ts'

const HANGING = 60
const EVENTS = 20
/** Longer than the real timeout: on no machine may an attempt end before all of them hang. */
const HANG_MS = 180_000

test('sixty endpoints that hang do not delay the others', async (t) => {
  const hanging = await openHanging(t)
  const app = await openWebhooksApp(t, { targets: [hanging.port] })
  await hanging.fill(app, HANGING)
  await app.register(await app.merchant('healthy'))
  const { workerDatabase, safeFetch, key, logger } = app.runtime
  // The ratio of slots to hanging endpoints that a worker has with five hundred of them.
  const slots = 144
  const dispatcher = createDispatcher({
    database: workerDatabase,
    fetch: safeFetch,
    logger,
    ladder: LADDER,
    slots,
    key: key('webhook secret'),
    timeoutMs: HANG_MS,
  })
  const { signal } = new AbortController()
  const work = async () => {
    await numberNewEvents(workerDatabase)
    await dispatcher.step(signal)
  }
  const end = async () => {
    await hanging.close()
    await dispatcher.drain()
  }
  t.after(end)
  await until('all of them hang', async () => {
    await work()
    return hanging.reached() === HANGING
  })
  const open = hanging.open()
  assert.ok(open >= HANGING && open < slots, `${open} of ${slots} are taken`)

  const startedAt = performance.now()
  for (let n = 1; n <= EVENTS; n++) {
    await app.place('healthy')
    await until('it is there', async () => {
      await work()
      return app.receiver.received.length === n
    })
  }
  const seconds = (performance.now() - startedAt) / 1_000
  assert.ok(seconds * 1_000 < HANG_MS, `${EVENTS} events took ${seconds} s, as one that hangs`)
  // Ends before the database closes, since each result must be stored.
  await end()
})
