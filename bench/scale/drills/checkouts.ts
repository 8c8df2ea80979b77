import type pg from 'pg'
import { type Checkouts, loadCheckouts } from '../../checkout-load.ts'
import { type Server, startServer } from '../../load.ts'
import {
  type FilledApp,
  NO_LIMITS,
  OPERATOR_TOKEN,
  SECRET_KEY,
  STOREFRONT_TOKEN,
} from '../filled-app.ts'
import { openClient, send } from '../measure.ts'
import { FRESH, NEIGHBOUR, ORDERS } from '../size.ts'
import { type Drill, percent } from './drill.ts'

/** Checkouts on a server of its own process, with the pool and the shares that a store really has. */
export async function* drillCheckouts(filled: FilledApp): AsyncGenerator<Drill> {
  const args = [filled.databaseUrl, SECRET_KEY, OPERATOR_TOKEN]
  const server = await startServer('./server-app.ts', args, NO_LIMITS)
  try {
    yield* checkOutInBigStore(filled, server)
    yield await checkOutBesideReaders(filled, server)
  } finally {
    await server.stop()
  }
}

const CLIENTS = 4
const SECONDS = 6
const WARM_UP_SECONDS = 10
/** A checkout in the big store against one in a fresh store. */
const BIG_SHARE = 0.7
const WAL_TIMES_MAX = 2

async function* checkOutInBigStore(filled: FilledApp, server: Server): AsyncGenerator<Drill> {
  const run = (tenant: string, seconds = SECONDS) => checkOut(filled, server, tenant, seconds)
  await run(FRESH, WARM_UP_SECONDS)
  const {
    floor: fresh,
    ours: big,
    share,
  } = await inTurn(
    () => run(FRESH),
    () => run(ORDERS.full),
  )
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

interface Turn {
  floor: Measured
  ours: Measured
  share: number
}

const ROUNDS = 3

/** Runs both in turn, so that a busy moment falls on both; the median of the rounds counts. */
async function inTurn(
  floor: () => Promise<Measured>,
  ours: () => Promise<Measured>,
): Promise<Turn> {
  const turns: Turn[] = []
  for (let n = 0; n < ROUNDS; n++) {
    const turn = { floor: await floor(), ours: await ours() }
    turns.push({ ...turn, share: turn.ours.perSecond / turn.floor.perSecond })
  }
  const median = turns.toSorted((a, b) => a.share - b.share)[ROUNDS >> 1]
  if (median === undefined) throw new Error('nothing was measured')
  return median
}

const kilobytes = (bytes: number) => `${(bytes / 1_024).toFixed(1)} KB`

interface Measured extends Checkouts {
  /** Bytes of the write-ahead log for each checkout. */
  walBytes: number
}

/** Checks out in one store, right after a checkpoint, so that each page is logged whole once in each run. */
async function checkOut(
  { admin }: FilledApp,
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
    pick: () => ({ tenant, variants: [rows[turn++ % rows.length]?.id ?? ''] }),
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

async function checkOutBesideReaders(filled: FilledApp, server: Server): Promise<Drill> {
  const client = openClient({ ...filled, url: server.url })
  const sent = await client.requestOf({ plane: 'merchant' }, '/v1/merchant/orders', ORDERS.full)
  const run = () => checkOut(filled, server, NEIGHBOUR, SECONDS)
  let reads = 0
  const runBesideReaders = async () => {
    let reading = true
    const readers = Array.from({ length: READERS }, async () => {
      for (; reading; reads++) await send(sent)
    })
    const measured = await run()
    reading = false
    await Promise.all(readers)
    return measured
  }
  const { floor: alone, ours: beside, share } = await inTurn(run, runBesideReaders)
  const show = ({ perSecond, p50 }: Checkouts) =>
    `${perSecond.toFixed(1)}/s (p50 ${p50.toFixed(0)} ms)`
  return {
    line:
      `checkouts beside ${READERS} readers of another store's ${reads} order lists: ${show(beside)}, ` +
      `alone ${show(alone)} = ${percent(share)} (at least ${percent(BESIDE_SHARE)})`,
    holds: share >= BESIDE_SHARE,
  }
}
