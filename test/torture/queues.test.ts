import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pino from 'pino'
import { Runner } from '../../src/db/sql.ts'
import { startLoop } from '../../src/platform/loop.ts'
import { createOutboxWorker } from '../../src/platform/outbox.ts'
import { until } from '../harness/eventually.ts'
import { openPlatform, type Platform } from '../harness/platform.ts'

const BACKLOG = 100_000
const STORES = [1, 100, 1_000, 10_000]

/** Each side works this long, and then the next, so that a busy machine slows all of them equally. */
const SLICE_MS = 1_000
const SLICES = 12

const publish = ({ query }: Platform, refs: readonly string[], count: number) =>
  query(
    `insert into outbox (tenant_ref, type, payload, next_attempt_at)
     select ($1::text[])[1 + i % cardinality($1::text[])], 'any', '{}',
            now() - interval '1 minute' + i * interval '1 us'
       from generate_series(1, $2::int) as i`,
    [refs, count],
  )

/** Starts the loop of the outbox as a worker process has it. */
function startOutbox({ worker }: Platform, onEvent: (tenant: string) => void) {
  const outbox = createOutboxWorker({
    database: worker,
    handlers: { any: async (event) => onEvent(event.tenant_ref) },
    onFree: () => loop.wake(),
  })
  const logger = pino({ level: 'error' })
  const loop = startLoop({ name: 'outbox', everyMs: 1_000, step: outbox.step, logger })
  return async () => {
    await loop.stop()
    await outbox.drain()
  }
}

test('a store with 100,000 due events delays the event of another by less than 2 s', async (t) => {
  const platform = await openPlatform(t, 10)
  const refs = await platform.addStores(10_000)
  const [big = '', ...others] = refs
  await publish(platform, [big], BACKLOG)
  // Every store has an event that waits for a later attempt: the turns pass over them.
  await publish(platform, others, others.length)
  await platform.query(
    `update outbox set next_attempt_at = now() + interval '1 hour' where tenant_ref <> $1`,
    [big],
  )
  await platform.query('vacuum analyze outbox')
  const seenAt = new Map<string, number>()
  const stop = startOutbox(platform, (tenant) => seenAt.set(tenant, performance.now()))
  const waits: number[] = []
  try {
    await until('the backlog is worked on', () => seenAt.has(big), 30_000)
    for (const other of [others[0], others[4_999], others.at(-1)] as string[]) {
      const begin = performance.now()
      await publish(platform, [other], 1)
      await until('it is handled', () => seenAt.has(other), 30_000)
      waits.push((seenAt.get(other) ?? Number.NaN) - begin)
      await sleep(200)
    }
  } finally {
    await stop()
  }
  t.diagnostic(`waited ${waits.map((ms) => `${ms.toFixed(0)} ms`).join(', ')}`)
  assert.ok(Math.max(...waits) < 2_000, `waited ${Math.max(...waits)} ms`)
})

/** A database with due events of that many stores, and how many events it has handled so far. */
async function openSide(t: TestContext, stores: number) {
  const platform = await openPlatform(t, 10)
  const refs = await platform.addStores(stores)
  await publish(platform, refs, BACKLOG)
  await platform.query('vacuum analyze outbox')
  const side = { stores, events: 0, ms: 0 }
  const work = async () => {
    const begin = performance.now()
    const stop = startOutbox(platform, () => side.events++)
    await sleep(SLICE_MS)
    await stop()
    side.ms += performance.now() - begin
  }
  return { side, work }
}

test('10,000 stores drain at 60 % or more of the rate of one store', async (t) => {
  // The shape of every row is checked in tests; that would be most of the work here.
  const { checkRow } = Runner
  t.after(() => {
    Runner.checkRow = checkRow
  })
  const sides: Awaited<ReturnType<typeof openSide>>[] = []
  for (const stores of STORES) sides.push(await openSide(t, stores))
  Runner.checkRow = null
  for (let slice = 0; slice < SLICES; slice++) {
    for (const { side, work } of sides) {
      await work()
      // The first slice opens the connections and makes the plans.
      if (slice === 0) Object.assign(side, { events: 0, ms: 0 })
    }
  }
  const rates = sides.map(({ side }) => (side.events / side.ms) * 1_000)
  const ratios = rates.map((rate) => rate / (rates[0] ?? Number.NaN))
  sides.forEach(({ side }, i) => {
    t.diagnostic(
      `${side.stores} stores: ${rates[i]?.toFixed(0)} events/s, ${ratios[i]?.toFixed(2)}`,
    )
  })
  assert.ok(Math.min(...ratios) >= 0.6, `${Math.min(...ratios)} of the rate of one store`)
})
