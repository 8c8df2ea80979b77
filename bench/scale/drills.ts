import type pg from 'pg'
import * as stock from '../../src/modules/inventory/stock-queries.ts'
import { deliverDue } from '../../src/platform/outbox.ts'
import { type Checkouts, loadCheckouts } from '../checkout-load.ts'
import { type Server, startServer } from '../load.ts'
import { type Bed, NO_LIMITS, OPERATOR_TOKEN, SECRET_KEY, STOREFRONT_TOKEN } from './bed.ts'
import { PAGES_FREE, PAGES_TIMES_MAX } from './compare.ts'
import { openClient, send } from './measure.ts'
import { countPages } from './pages.ts'
import { FRESH, NEIGHBOUR, ORDERS } from './size.ts'

/** A figure that is no request: how it reads, and whether it holds. */
export interface Drill {
  line: string
  holds: boolean
}

export async function* listDrills(bed: Bed): AsyncGenerator<Drill> {
  yield await compareRecounts(bed)
  yield await measureClaims(bed)
  yield* drainOutbox(bed)
  const env = { ...NO_LIMITS }
  const args = [bed.databaseUrl, SECRET_KEY, OPERATOR_TOKEN]
  const server = await startServer('./server-app.ts', args, env)
  try {
    yield* checkOutInBigStore(bed, server)
    yield await checkOutBesideReaders(bed, server)
  } finally {
    await server.stop()
  }
}

const percent = (share: number) => `${Math.round(share * 100)} %`

/** The nightly recount of one store, whose history only grows. */
export async function compareRecounts({ admin, runtime }: Bed): Promise<Drill> {
  const recount = async (tenant: string) => {
    const began = performance.now()
    const db = runtime.workerDatabase.tenant(tenant)
    const { total } = await countPages(admin, () => stock.recount(db))
    return { total, ms: performance.now() - began }
  }
  const full = await recount(ORDERS.full)
  const hundredth = await recount(ORDERS.hundredth)
  return {
    line:
      `stock recount: ${full.total} pages and ${full.ms.toFixed(0)} ms, ` +
      `of a hundredth ${hundredth.total} and ${hundredth.ms.toFixed(0)} ms`,
    holds: full.total <= PAGES_TIMES_MAX * hundredth.total + PAGES_FREE,
  }
}

/** Events of a drain: enough that the due rows of one store alone fill the sample of the queue. */
const EVENTS = 3_000
/** As the worker takes them. */
const TAKE = { slots: 20 }
/** A rate over so many stores is at least this share of that in one. */
const DRAIN_SHARE = 0.6
/** A backlog of one store delays the single event of another by less. */
const DELAY_MS = 2_000

/** How fast due events are handled in one store and spread over all, and how long one waits for others. */
async function* drainOutbox(bed: Bed): AsyncGenerator<Drill> {
  const one = await drain(bed, due(ONE_STORE))
  const all = await drain(bed, due(ALL_STORES))
  yield {
    line:
      `outbox over all stores: ${all.perSecond.toFixed(0)} events/s, ` +
      `in one store ${one.perSecond.toFixed(0)}/s = ${percent(all.perSecond / one.perSecond)} ` +
      `(at least ${percent(DRAIN_SHARE)})`,
    holds: all.perSecond >= DRAIN_SHARE * one.perSecond,
  }
  const delayed = await drain(
    bed,
    `${due(ONE_STORE)};
     insert into outbox (tenant_ref, type, payload) values ('${FRESH}', 'scale.waits.v1', '{}')`,
  )
  yield {
    line: `an event behind the ${EVENTS} of another store waits ${delayed.waitedMs.toFixed(0)} ms`,
    holds: delayed.waitedMs < DELAY_MS,
  }
}

/** The pages of one step of the loop, with due events in all stores and in one. */
export async function measureClaims(bed: Bed): Promise<Drill> {
  const step = async (insert: string) => {
    await makeDue(bed, insert)
    const take = () => deliverDue(bed.runtime.workerDatabase, {}, TAKE)
    return (await countPages(bed.admin, take)).total
  }
  const one = await step(due(ONE_STORE))
  const all = await step(due(ALL_STORES))
  return {
    line: `a claim of ${TAKE.slots} events over all stores: ${all} pages, in one store ${one}`,
    holds: all <= PAGES_TIMES_MAX * one + PAGES_FREE,
  }
}

const ONE_STORE = `tenant_ref = '${NEIGHBOUR}'`
const ALL_STORES = 'true'

/** Events that are due, spread evenly over stores. */
const due = (stores: string) => `
  insert into outbox (tenant_ref, type, payload)
  select tenant_ref, 'scale.drained.v1', '{}'
    from (select tenant_ref, row_number() over () - 1 as place, count(*) over () as stores
            from stores where ${stores}) as s,
         generate_series(0, greatest(stores, ${EVENTS}) - 1) as n
   where n % stores = place`

async function makeDue({ admin }: Bed, insert: string): Promise<void> {
  await admin.query('truncate outbox')
  await admin.query(insert)
  await admin.query('analyze outbox')
}

async function drain(bed: Bed, insert: string) {
  const { runtime } = bed
  await makeDue(bed, insert)
  const began = performance.now()
  let waitedMs = 0
  const handlers = {
    'scale.waits.v1': async () => {
      waitedMs = performance.now() - began
    },
  }
  let handled = 0
  for (let count = -1; count !== 0; handled += count) {
    count = await deliverDue(runtime.workerDatabase, handlers, TAKE)
  }
  return { perSecond: handled / ((performance.now() - began) / 1_000), waitedMs }
}

const CLIENTS = 4
const SECONDS = 6
const WARM_UP_SECONDS = 10
/** A checkout in the big store against one in a fresh store. */
const BIG_SHARE = 0.7
const WAL_TIMES_MAX = 2

async function* checkOutInBigStore(bed: Bed, server: Server): AsyncGenerator<Drill> {
  const run = (tenant: string, seconds = SECONDS) => checkOut(bed, server, tenant, seconds)
  await run(FRESH, WARM_UP_SECONDS)
  const fresh = await run(FRESH)
  const big = await run(ORDERS.full)
  const share = big.perSecond / fresh.perSecond
  yield {
    line:
      `checkouts in the big store: ${big.perSecond.toFixed(1)}/s, in a fresh one ` +
      `${fresh.perSecond.toFixed(1)}/s = ${percent(share)} (at least ${percent(BIG_SHARE)})`,
    holds: share >= BIG_SHARE,
  }
  const times = big.walBytes / fresh.walBytes
  yield {
    line:
      `write-ahead log for a checkout: ${kilobytes(big.walBytes)}, in a fresh store ` +
      `${kilobytes(fresh.walBytes)} = ${times.toFixed(1)} times (at most ${WAL_TIMES_MAX})`,
    holds: times <= WAL_TIMES_MAX,
  }
}

const kilobytes = (bytes: number) => `${(bytes / 1_024).toFixed(1)} KB`

interface Measured extends Checkouts {
  /** Of the write-ahead log, for each checkout. */
  walBytes: number
}

/** Checks out in one store, right after a checkpoint, so that each page is logged whole once in each run. */
async function checkOut(
  { admin }: Bed,
  server: Server,
  tenant: string,
  seconds: number,
): Promise<Measured> {
  const { rows } = await admin.query<{ id: string }>(
    `select v.id from variants v join products p on p.tenant_ref = v.tenant_ref and p.id = v.product_id
      where v.tenant_ref = $1 and p.status = 'active' order by v.sku limit 20`,
    [tenant],
  )
  await admin.query('checkpoint')
  const before = await readLog(admin)
  let turn = 0
  const checkouts = await loadCheckouts({
    url: server.url,
    storefrontToken: STOREFRONT_TOKEN,
    pick: () => ({ tenant, variant: rows[turn++ % rows.length]?.id ?? '' }),
    seconds,
    clients: CLIENTS,
  })
  const walBytes = ((await readLog(admin)) - before) / checkouts.orders
  return { ...checkouts, walBytes }
}

async function readLog(admin: pg.Client): Promise<number> {
  const { rows } = await admin.query<{ bytes: string }>(
    `select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as bytes`,
  )
  return Number(rows[0]?.bytes)
}

/** Clients that read the big store's order list, one page after another. */
const READERS = 12
/** Beside them another store keeps at least this share of its checkouts. */
const BESIDE_SHARE = 0.8

async function checkOutBesideReaders(bed: Bed, server: Server): Promise<Drill> {
  const client = openClient({ ...bed, url: server.url })
  const sent = await client.requestOf({ plane: 'merchant' }, '/v1/merchant/orders', ORDERS.full)
  const alone = await checkOut(bed, server, NEIGHBOUR, SECONDS)
  let reading = true
  let reads = 0
  const readers = Array.from({ length: READERS }, async () => {
    while (reading) {
      await send(sent)
      reads++
    }
  })
  const beside = await checkOut(bed, server, NEIGHBOUR, SECONDS)
  reading = false
  await Promise.all(readers)
  const share = beside.perSecond / alone.perSecond
  const show = ({ perSecond, p50 }: Checkouts) =>
    `${perSecond.toFixed(1)}/s (p50 ${p50.toFixed(0)} ms)`
  return {
    line:
      `checkouts beside ${READERS} readers of another store's ${reads} order lists: ${show(beside)}, ` +
      `alone ${show(alone)} = ${percent(share)} (at least ${percent(BESIDE_SHARE)})`,
    holds: share >= BESIDE_SHARE,
  }
}
