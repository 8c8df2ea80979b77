import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startEmbedded } from '@fairdock/embedded-postgres'
import pg from 'pg'
import { Type } from 'typebox'
import { Agent, request } from 'undici'
import { startWorker } from '../src/compose/worker.ts'
import { readConfig } from '../src/config.ts'
import type { TenantDb } from '../src/db/database.ts'
import { migrate } from '../src/db/migrate.ts'
import { sql } from '../src/db/sql.ts'
import { OpenObject } from '../src/kernel/schema.ts'
import * as stores from '../src/modules/stores/service.ts'
import { defineEvent } from '../src/modules/webhooks/define-event.ts'
import {
  addSequence,
  signedHeaders,
  signingKey,
  writeEnvelope,
} from '../src/modules/webhooks/envelope.ts'
import { numberNewEvents } from '../src/modules/webhooks/jobs.ts'
import { newSecret } from '../src/modules/webhooks/secrets.ts'
import { subscribe } from '../src/modules/webhooks/service.ts'
import { SYSTEM } from '../src/platform/audit.ts'
import { createLogger } from '../src/platform/log.ts'
import { openRuntime, type Runtime } from '../src/runtime.ts'
import type { Figure } from './figure.ts'

const SECRET_KEY = 'the secret key of the benchmark database'
const PLACED = 'commerce.order.placed.v1'
const placed = defineEvent(PLACED, { when: '', data: OpenObject, forEveryStore: true })
const STORES = 32
const EACH = 800
const ROUNDS = 3
/** Warm-up: until code is compiled and plans are made, as in a worker that has run for a while. */
const WARM_UP = 300
/** Two attempts at the same time for the endpoint of each store. */
const CONCURRENCY = STORES * 2

/** An order of four lines, a typical length. */
const ORDER = {
  order: { id: 'b0a1', order_number: 1_001, status: 'placed', total_cents: 12_345 },
  items: Array.from({ length: 4 }, (_, n) => ({
    sku: `SKU-${n}`,
    quantity: 1,
    unit_price_cents: 999,
  })),
  tenders: [{ tender: 'card', amount_cents: 12_345 }],
  padding: 'x'.repeat(1_000),
}

interface Sink {
  port: number
  child: ChildProcess
}

async function openSink(...args: string[]): Promise<Sink> {
  const child = fork(fileURLToPath(new URL('./server-sink.ts', import.meta.url)), args)
  const [{ port }] = (await once(child, 'message')) as [{ port: number }]
  return { port, child }
}

/**
 * How fast deliveries are sent, with all their records, and how soon after the commit the first
 * byte arrives.
 */
export async function webhooks(dataDir: string): Promise<Figure[]> {
  const server = await startEmbedded({ dataDir, password: 'only for the benchmark' })
  const [sink, telling] = await Promise.all([openSink(), openSink('tell')])
  try {
    await migrate({ url: server.url, secretKey: SECRET_KEY })
    const targets = [sink, telling].map(({ port }) => `127.0.0.1:${port}`).join()
    const runtime = await openRuntime({
      config: readConfig({
        NODE_ENV: 'test',
        WEBHOOK_TEST_TARGETS: targets,
      }),
      secrets: { OPERATOR_TOKEN: 'x', STOREFRONT_TOKEN: 'x', SECRET_KEY },
      logger: createLogger('warn'),
      databaseUrl: server.url,
    })
    const admin = new pg.Client({ connectionString: server.url })
    try {
      await admin.connect()
      return [await throughput(runtime, sink.port, admin), await latency(runtime, telling)]
    } finally {
      await admin.end()
      await runtime.close()
    }
  } finally {
    sink.child.kill()
    telling.child.kill()
    await server.stop()
  }
}

async function openStores(runtime: Runtime, prefix: string, port: number) {
  const deps = {
    key: runtime.key('webhook secret'),
    fetch: runtime.safeFetch,
    limits: { velocity: async () => true },
    events: new Map([[PLACED, placed]]),
  }
  return Promise.all(
    Array.from({ length: STORES }, async (_, n) => {
      const tenant = `${prefix}-${n}`
      await stores.create(runtime.database, SYSTEM, { tenant_ref: tenant, display_name: tenant })
      const db = runtime.database.tenant(tenant)
      await subscribe(deps, db, SYSTEM, { url: `http://127.0.0.1:${port}/`, events: [PLACED] })
      return db
    }),
  )
}

async function throughput(runtime: Runtime, port: number, admin: pg.Client): Promise<Figure> {
  const dbs = await openStores(runtime, 'many', port)
  await deliverAll(runtime, dbs, WARM_UP, admin)
  const { port: floorPort, child } = await openSink()
  await bareLoop(floorPort, STORES * WARM_UP)
  const pairs: { floor: number; ours: number; ratio: number }[] = []
  // Alternately, so that a noisy minute affects both. The median of the rounds counts.
  for (let n = 0; n < ROUNDS; n++) {
    const floor = await bareLoop(floorPort, STORES * EACH)
    const ours = await deliverAll(runtime, dbs, EACH, admin)
    pairs.push({ floor, ours, ratio: ours / floor })
  }
  child.kill()
  const median = pairs.toSorted((a, b) => a.ratio - b.ratio)[ROUNDS >> 1]
  if (median === undefined) throw new Error('nothing was measured')
  return {
    name: 'deliveries with their ledger',
    ours: `${median.ours.toFixed(0)}/s`,
    floor: `${median.floor.toFixed(0)}/s of the same requests, bare, over ${CONCURRENCY} kept connections`,
    ratio: median.ratio,
    atLeast: 0.5,
  }
}

/** Delivers that many events of each store. Returns the deliveries per second. */
async function deliverAll(runtime: Runtime, dbs: TenantDb[], each: number, admin: pg.Client) {
  for (let n = 0; n < each; n++) {
    await Promise.all(dbs.map((db) => db.transaction('bench', (tx) => placed.emit(tx, ORDER))))
  }
  while ((await numberNewEvents(runtime.workerDatabase)) > 0);
  // As the server does by itself within a minute: it analyses new rows.
  await admin.query('analyze')
  const total = (await countDelivered(runtime)) + dbs.length * each
  const worker = await startWorker(runtime)
  const startedAt = performance.now()
  while (await anyDue(runtime)) await pause(20)
  const seconds = (performance.now() - startedAt) / 1_000
  await worker.stop()
  if ((await countDelivered(runtime)) !== total) throw new Error('not all were delivered')
  return (dbs.length * each) / seconds
}

async function countDelivered(runtime: Runtime): Promise<number> {
  const { total } = await runtime.operatorDatabase.allStores.one(
    Type.Object({ total: Type.Integer() }),
    sql`select count(*) as total from webhook_deliveries where status = 'delivered'`,
  )
  return total
}

/** Whether a delivery waits. A count of all of them, made often, would be a part of the measured time. */
async function anyDue(runtime: Runtime): Promise<boolean> {
  const { due } = await runtime.operatorDatabase.allStores.one(
    Type.Object({ due: Type.Boolean() }),
    sql`select exists (select from webhook_queue) or exists (select from webhook_lanes) as due`,
  )
  return due
}

/**
 * Sends the same requests and does nothing else, over connections that stay open. They are signed once.
 */
async function bareLoop(port: number, count: number): Promise<number> {
  const agent = new Agent({ connections: CONCURRENCY, pipelining: 1 })
  const [id, timestamp] = [randomUUID(), Math.floor(Date.now() / 1_000)]
  const body = writeEnvelope(
    { id, type: PLACED, tenant_ref: 'many-0', created_at: new Date().toISOString() },
    addSequence(JSON.stringify(ORDER), 1),
  )
  const headers = signedHeaders({
    eventId: id,
    eventType: PLACED,
    body,
    keys: [signingKey(newSecret())],
    timestamp,
    attempt: 1,
  })
  let left = count
  const startedAt = performance.now()
  const work = async () => {
    while (left-- > 0) {
      const answer = await request(`http://127.0.0.1:${port}/`, {
        method: 'POST',
        headers,
        body,
        dispatcher: agent,
      })
      await answer.body.dump()
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  const seconds = (performance.now() - startedAt) / 1_000
  await agent.close()
  return count / seconds
}

const EVENTS = 1_000
const EVERY_MS = 10

async function latency(runtime: Runtime, { port, child }: Sink): Promise<Figure> {
  const dbs = await openStores(runtime, 'prompt', port)
  const arrived = new Map<string, number>()
  child.on('message', (message: { id?: string; at?: number }) => {
    if (message.id !== undefined && message.at !== undefined) arrived.set(message.id, message.at)
  })
  const worker = await startWorker(runtime)
  const committed = new Map<string, number>()
  const emitting: Promise<void>[] = []
  const startedAt = performance.now()
  for (let n = 0; n < EVENTS; n++) {
    await pause(Math.max(0, startedAt + n * EVERY_MS - performance.now()))
    const db = dbs[n % dbs.length]
    if (db === undefined) throw new Error('no store')
    const placing = db.transaction('bench', (tx) => placed.emit(tx, ORDER))
    emitting.push(placing.then(({ event_id }) => void committed.set(event_id, Date.now())))
  }
  await Promise.all(emitting)
  while (arrived.size < EVENTS) await pause(20)
  await worker.stop()
  const waits = [...committed].map(([id, at]) => (arrived.get(id) ?? 0) - at).sort((a, b) => a - b)
  const at = (share: number) => waits[Math.floor(waits.length * share)] ?? Number.POSITIVE_INFINITY
  return {
    name: 'from commit to the first byte at 100 events a second',
    ours: `${at(0.5)} ms at the median, ${at(0.99)} ms at 99 %`,
    floor: 'at most 50 and 1000 ms',
    holds: at(0.5) < 50 && at(0.99) < 1_000,
  }
}
