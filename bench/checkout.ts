import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { Agent, request } from 'undici'
import { startEmbedded } from '../src/db/embedded/embedded.ts'
import { migrate } from '../src/db/migrate.ts'
import type { Figure } from './figure.ts'
import { startServer } from './load.ts'
import { placeOrders } from './pgbench.ts'

const SECRET_KEY = 'the secret key of the benchmark database'
const TOKEN = 'a token for the benchmark alone, never used'
const STORES = 100
const CLIENTS = 8
const SECONDS = 6
const ROUNDS = 3

const storeOf = (n: number) => `store-${n}`

interface Run {
  perSecond: number
  p50: number
  p99: number
}

/** Orders placed and paid per second, and how long the slowest shoppers wait. */
export async function checkouts(dataDir: string): Promise<Figure[]> {
  const server = await startEmbedded({ dataDir, password: 'only for the benchmark' })
  try {
    await migrate({ url: server.url, secretKey: SECRET_KEY })
    const variants = await seed(server.url)
    const env = { CHECKOUT_VELOCITY_PER_MINUTE: '1000000' }
    const bare = await startServer('./server-checkout-floor.ts', [server.url])
    const app = await startServer('./server-app.ts', [server.url, SECRET_KEY], env)
    try {
      const many = () => Math.floor(Math.random() * STORES)
      const one = () => 0
      const run = (url: string, pick: () => number, seconds = SECONDS) =>
        load(url, variants, pick, seconds)
      // Warm-up: until both servers are compiled and have their query plans, as after some time in
      // use. Ours has fifty times the code, and gets in the same time a third of the requests that
      // lead to compilation.
      await run(bare.url, many, 4)
      await run(app.url, many, 6)
      await analyze(server.url)
      await run(bare.url, many, 6)
      await run(app.url, many, 30)
      const spread = await compare(
        () => run(bare.url, many),
        () => run(app.url, many),
      )
      const same = { stores: STORES, clients: CLIENTS, seconds: SECONDS }
      const alone = await placeOrders(server.url, same)
      const sameStore = await compare(
        () => run(app.url, many),
        () => run(app.url, one),
      )
      await setFlushDelay(server.url, 2_000)
      const slow = await compare(
        () => run(app.url, many),
        () => run(app.url, one),
      )
      return [
        figure('checkouts by card over 100 stores', spread, 'bare node:http + pg', 0.5),
        ...(alone === null ? [] : [shareOfAlone(spread.ours, alone)]),
        figure('checkouts by card in one store', sameStore, 'over 100 stores', 0.7),
        figure('the same where each flush takes 2 ms', slow, 'over 100 stores', 0.7),
        latencyFigure(spread.ours),
      ]
    } finally {
      await Promise.all([bare.stop(), app.stop()])
    }
  } finally {
    await server.stop()
  }
}

/**
 * Both run alternately, so that a noisy minute affects both, and the median of the rounds counts.
 */
async function compare(floor: () => Promise<Run>, ours: () => Promise<Run>) {
  const pairs: { floor: Run; ours: Run; ratio: number }[] = []
  for (let n = 0; n < ROUNDS; n++) {
    const pair = { floor: await floor(), ours: await ours() }
    pairs.push({ ...pair, ratio: pair.ours.perSecond / pair.floor.perSecond })
  }
  const median = pairs.toSorted((a, b) => a.ratio - b.ratio)[ROUNDS >> 1]
  if (median === undefined) throw new Error('nothing was measured')
  return median
}

const figure = (
  name: string,
  { floor, ours, ratio }: Awaited<ReturnType<typeof compare>>,
  than: string,
  atLeast: number,
): Figure => ({
  name,
  ours: `${Math.round(ours.perSecond)}/s`,
  floor: `${Math.round(floor.perSecond)}/s, ${than}`,
  ratio,
  atLeast,
})

/** Reported, without a bound. */
const shareOfAlone = ({ perSecond }: Run, alone: number): Figure => ({
  name: 'the same shareOfAlone orders in one commit',
  ours: `${Math.round(perSecond)}/s`,
  floor: `${Math.round(alone)}/s, pgbench`,
  ratio: perSecond / alone,
})

const latencyFigure = ({ p50, p99 }: Run): Figure => ({
  name: 'the slowest hundredth of the checkouts',
  ours: `${p99.toFixed(1)} ms`,
  floor: `at most 8 times the median of ${p50.toFixed(1)} ms`,
  holds: p99 < 8 * p50,
})

async function load(
  url: string,
  variants: readonly string[],
  pick: () => number,
  seconds: number,
): Promise<Run> {
  const agent = new Agent({ connections: CLIENTS })
  const took: number[] = []
  const began = performance.now()
  const client = async (who: number) => {
    while (performance.now() < began + seconds * 1_000) {
      const store = pick()
      const sent = performance.now()
      const { statusCode, body } = await request(`${url}/v1/tenants/${storeOf(store)}/checkout`, {
        dispatcher: agent,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-storefront-token': TOKEN,
          'idempotency-key': randomUUID(),
        },
        body: JSON.stringify({
          customer_ref: `shopper-${who}-${took.length}`,
          items: [{ variant_id: variants[store], quantity: 1 }],
          card: { ccnumber: '4111111111111111', ccexp: '10/40', cvv: '999' },
        }),
      })
      const text = await body.text()
      if (statusCode !== 201) throw new Error(text)
      took.push(performance.now() - sent)
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, (_, who) => client(who)))
  const perSecond = took.length / ((performance.now() - began) / 1_000)
  await agent.close()
  took.sort((a, b) => a - b)
  const at = (share: number) => took[Math.floor(took.length * share)] ?? 0
  return { perSecond, p50: at(0.5), p99: at(0.99) }
}

/** Every flush of the log waits this long, whether or not other commits are about to flush. */
async function setFlushDelay(url: string, microseconds: number): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('alter system set commit_siblings = 0')
  await client.query(`alter system set commit_delay = ${microseconds}`)
  await client.query('select pg_reload_conf()')
  await client.end()
}

/** What the server does by itself within a minute: plans made for empty tables are replaced. */
async function analyze(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('analyze')
  await client.end()
}

/** Live stores that sell one product each. */
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
  // Only tables with rows: one analysed while empty would be scanned, however many rows it has
  // later.
  await client.query('analyze stores, site_versions, products, variants')
  const { rows } = await client.query<{ tenant_ref: string; id: string }>(
    'select tenant_ref, id from variants',
  )
  await client.end()
  const ids = new Map(rows.map(({ tenant_ref, id }) => [tenant_ref, id]))
  return Array.from({ length: STORES }, (_, n) => ids.get(storeOf(n)) ?? '')
}
