import { mkdir } from 'node:fs/promises'
import { startEmbedded } from '@fairdock/embedded-postgres'
import pg from 'pg'
import { type Checkouts, loadCheckouts, type Offer } from './checkout-load.ts'
import type { Figure, Sample, Subject } from './figure.ts'
import { type Server, startServer } from './load.ts'
import { placeOrders } from './pgbench.ts'
import { findServerPid, serverCpuSeconds } from './postgres.ts'
import { THIS_TREE, type Tree } from './trees.ts'

export const SECRET_KEY = 'the secret key of the benchmark database'
const TOKEN = 'a token for the benchmark alone, never used'
export const STORES = 100
const CLIENTS = 8
const SECONDS = 6
const ROUNDS = 3

export const storeOf = (n: number) => `store-${n}`

const SPREAD = 'checkouts by card over 100 stores'

interface Run {
  perSecond: number
  p50: number
  p99: number
  /** CPU time for each order, by server. Other programs on the machine do not change it. */
  nodeMs: number
  postgresMs: number
}

/** The database of a commit with stores that sell, and the server of that commit on it. */
export interface Shop {
  url: string
  app: Server
  run(server: Server, pick: () => number, seconds?: number): Promise<Run>
  /** Checks out other products than the one that each store sells. */
  buy(pick: () => Offer, clients?: number): Promise<Run>
  close(): Promise<void>
}

export async function openShop(dataDir: string, tree: Tree): Promise<Shop> {
  const { migrate }: typeof import('../src/db/migrate.ts') = await import(
    tree.file('src/db/migrate.ts').href
  )
  await mkdir(dataDir, { recursive: true, mode: 0o711 })
  const { url, stop } = await startEmbedded({ dataDir, password: 'only for the benchmark' })
  try {
    await migrate({ url, secretKey: SECRET_KEY })
    const variants = await seed(url)
    const pid = await findServerPid(url)
    const env = { CHECKOUT_VELOCITY_PER_MINUTE: '1000000' }
    const app = await startServer(tree.file('bench/server-app.ts'), [url, SECRET_KEY], env)
    const load = (server: Server, pick: () => Offer, seconds = SECONDS, clients = CLIENTS) =>
      withCpu(server, pid, () =>
        loadCheckouts({ url: server.url, storefrontToken: TOKEN, pick, seconds, clients }),
      )
    return {
      url,
      app,
      run: (server, pick, seconds) => load(server, () => offerOf(variants, pick()), seconds),
      buy: (pick, clients) => load(app, pick, SECONDS, clients),
      close: async () => {
        await app.stop()
        await stop()
      },
    }
  } catch (error) {
    await stop()
    throw error
  }
}

const offerOf = (variants: readonly string[], store: number) => ({
  tenant: storeOf(store),
  variants: [variants[store] ?? ''],
})

async function withCpu(server: Server, pid: number, work: () => Promise<Checkouts>): Promise<Run> {
  const used = async () => [(await server.usage()).cpuSeconds, (await serverCpuSeconds(pid)) ?? 0]
  const [node = 0, postgres = 0] = await used()
  const { orders, ...run } = await work()
  const [nodeAfter = 0, postgresAfter = 0] = await used()
  const msEach = (seconds: number) => (seconds * 1_000) / orders
  return { ...run, nodeMs: msEach(nodeAfter - node), postgresMs: msEach(postgresAfter - postgres) }
}

export const many = () => Math.floor(Math.random() * STORES)
const one = () => 0

/** How many orders a second are placed and paid, and how long the slowest shoppers wait. */
export async function checkouts(dataDir: string): Promise<Figure[]> {
  const shop = await openShop(dataDir, THIS_TREE)
  const { url, app, run } = shop
  try {
    const bare = await startServer('./server-checkout-floor.ts', [url])
    try {
      await run(bare, many, 4)
      await warmUp(shop, () => run(bare, many, 6))
      const spread = await compare(
        () => run(bare, many),
        () => run(app, many),
      )
      const same = { stores: STORES, clients: CLIENTS, seconds: SECONDS }
      const alone = await placeOrders(url, same)
      const inTurn = () =>
        compare(
          () => run(app, many),
          () => run(app, one),
        )
      const hot = await inTurn()
      await setFlushDelay(url, 2_000)
      const slow = await inTurn()
      return [
        figure(SPREAD, spread, 'bare node:http + pg'),
        cost(spread),
        ...(alone === null ? [] : [beside(spread.ours, alone)]),
        figure('checkouts by card in one store', hot, 'over 100 stores', 0.7),
        figure('the same where each flush takes 2 ms', slow, 'over 100 stores', 0.7),
        patience(spread.ours),
      ]
    } finally {
      await bare.stop()
    }
  } finally {
    await shop.close()
  }
}

/** Opens the first of these figures for any commit. It has no floor: it is compared with another commit. */
export async function openCheckouts(dataDir: string, tree: Tree): Promise<Subject> {
  const shop = await openShop(dataDir, tree)
  try {
    await warmUp(shop, async () => {})
  } catch (error) {
    await shop.close()
    throw error
  }
  return {
    measure: async () => toSamples(await shop.run(shop.app, many)),
    close: shop.close,
  }
}

const toSamples = ({ perSecond, p50, p99, nodeMs, postgresMs }: Run): Sample[] => [
  { name: SPREAD, value: perSecond, unit: '/s' },
  { name: 'CPU of PostgreSQL for an order', value: postgresMs, unit: 'ms' },
  { name: 'CPU of Node for an order', value: nodeMs, unit: 'ms' },
  { name: 'the median of the checkouts', value: p50, unit: 'ms' },
  { name: 'the slowest hundredth of the checkouts', value: p99, unit: 'ms' },
]

/**
 * Warms up until the app is compiled and has its plans, like a server that has been up for a while. The
 * app has fifty times the code of the bare server, and in the same time a third of the requests that
 * make it worth compiling.
 */
export async function warmUp(
  { url, app, run }: Shop,
  between: () => Promise<unknown>,
): Promise<void> {
  await run(app, many, 6)
  await analyze(url)
  await between()
  await run(app, many, 30)
}

/** Runs both in turn, so that a noisy minute falls on both; the median of the rounds counts. */
export async function compare(floor: () => Promise<Run>, ours: () => Promise<Run>) {
  const pairs: { floor: Run; ours: Run; ratio: number }[] = []
  for (let n = 0; n < ROUNDS; n++) {
    const pair = { floor: await floor(), ours: await ours() }
    pairs.push({ ...pair, ratio: pair.ours.perSecond / pair.floor.perSecond })
  }
  const median = pairs.toSorted((a, b) => a.ratio - b.ratio)[ROUNDS >> 1]
  if (median === undefined) throw new Error('nothing was measured')
  return median
}

export const figure = (
  name: string,
  { floor, ours, ratio }: Awaited<ReturnType<typeof compare>>,
  than: string,
  atLeast?: number,
): Figure => ({
  name,
  ours: `${Math.round(ours.perSecond)}/s`,
  floor: `${Math.round(floor.perSecond)}/s, ${than}`,
  ratio,
  ...(atLeast === undefined ? {} : { atLeast }),
})

/** The CPU time for an order, which decision 0010 is about. It is reported, and has no bound. */
const cost = ({ floor, ours }: Awaited<ReturnType<typeof compare>>): Figure => {
  const show = ({ postgresMs, nodeMs }: Run) =>
    `${postgresMs.toFixed(2)} ms PostgreSQL and ${nodeMs.toFixed(2)} ms Node`
  return { name: 'CPU for an order', ours: show(ours), floor: `${show(floor)}, bare`, holds: true }
}

/** Compares the rate of our checkouts with the orders of pgbench alone. It is reported, and has no bound. */
const beside = ({ perSecond }: Run, alone: number): Figure => ({
  name: 'the same beside orders in one commit',
  ours: `${Math.round(perSecond)}/s`,
  floor: `${Math.round(alone)}/s, pgbench`,
  ratio: perSecond / alone,
})

const patience = ({ p50, p99 }: Run): Figure => ({
  name: 'the slowest hundredth of the checkouts',
  ours: `${p99.toFixed(1)} ms`,
  floor: `at most 8 times the median of ${p50.toFixed(1)} ms`,
  holds: p99 < 8 * p50,
})

/** Makes every flush of the log take so many microseconds, as on a slower disk. */
async function setFlushDelay(url: string, microseconds: number): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('alter system set commit_siblings = 0')
  await client.query(`alter system set commit_delay = ${microseconds}`)
  await client.query('select pg_reload_conf()')
  await client.end()
}

/** Analyzes the tables, as the server does by itself within a minute: plans for empty tables are not kept. */
async function analyze(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('analyze')
  await client.end()
}

/** Inserts live stores that sell one product each. */
async function seed(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`
    insert into stores (tenant_ref, display_name)
    select 'store-' || n, 'Store ' || n from generate_series(0, ${STORES - 1}) n`)
  await client.query(`
    insert into site_versions (tenant_ref, version, manifest, row_hash, rules_version, created_by)
    select tenant_ref, 1, '{}', repeat('0', 64), 'none', 'bench' from stores`)
  await client.query(`update stores set active_version = 1, status = 'live'`)
  await client.query(`
    insert into products (tenant_ref, slug, name) select tenant_ref, 'thing', 'A thing' from stores`)
  await client.query(`
    insert into variants (tenant_ref, product_id, sku, price_cents, currency)
    select tenant_ref, id, 'THING', 1000, 'USD' from products`)
  // Only tables with rows: a table analyzed while empty would be read whole, however many it has by then.
  await client.query('analyze stores, site_versions, products, variants')
  const { rows } = await client.query<{ tenant_ref: string; id: string }>(
    'select tenant_ref, id from variants',
  )
  await client.end()
  const ids = new Map(rows.map(({ tenant_ref, id }) => [tenant_ref, id]))
  return Array.from({ length: STORES }, (_, n) => ids.get(storeOf(n)) ?? '')
}
