import { randomUUID } from 'node:crypto'
import { startEmbedded } from '@fairdock/embedded-postgres'
import pg from 'pg'
import { Database } from '../src/db/database.ts'
import { migrate } from '../src/db/migrate.ts'
import { roleUrl } from '../src/db/roles.ts'
import * as catalog from '../src/modules/catalog/service.ts'
import { SYSTEM } from '../src/platform/audit.ts'
import type { Figure } from './figure.ts'
import { ratio, type Server, startServer } from './load.ts'

const SECRET_KEY = 'the secret key of the benchmark database'

const PRODUCTS = 1_000
const FEW = 10
const MANY = 1_000
const AT_LEAST = 0.7

/** How much longer a write may take with a hundred times as many stores. */
const SLOWER_MAX = 1.3

/** Enough for a stable median. */
const WRITES = 400

/** A live store with a thousand products, and others with as many as a small store has. */
async function seed(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await addStores(client, 1, 1, PRODUCTS)
  await client.end()
}

async function addStores(client: pg.Client, from: number, to: number, products: number) {
  const among = `tenant_ref in (select 'store-' || n from generate_series(${from}, ${to}) n)`
  await client.query(`
    insert into stores (tenant_ref, display_name, status)
    select 'store-' || n, 'Store ' || n, 'live' from generate_series(${from}, ${to}) n`)
  await client.query(`
    insert into products (tenant_ref, slug, name, description)
    select tenant_ref, 'product-' || n, 'Product number ' || n,
           repeat('A sentence that says what it is like. ', 6)
      from stores, generate_series(1, ${products}) n where ${among}`)
  await client.query(`
    insert into variants (tenant_ref, product_id, sku, label, price_cents, currency, position)
    select tenant_ref, id, slug || '-' || n, 'Size ' || n, 1000 + n, 'USD', n
      from products, generate_series(1, 2) n where ${among}`)
  await client.query('analyze')
}

interface Read {
  name: string
  path: string
  encoding: 'identity' | 'gzip'
}

/** Compares one read of ours with a bare server that sends the same bytes. */
async function compare(app: Server, { name, path, encoding }: Read): Promise<Figure> {
  const headers = { 'accept-encoding': encoding }
  const answer = await fetch(app.url + path, { headers })
  if (answer.status !== 200) throw new Error(await answer.text())
  await answer.arrayBuffer()
  const bare = await startServer('./server-bytes.ts', [app.url + path, '', '0', encoding])
  try {
    const more = { seconds: 2, headers }
    const target = { url: app.url + path, ...more }
    const result = await ratio({ url: bare.url + path, ...more }, target)
    if (result === undefined) throw new Error('nothing was measured')
    return {
      name: `${name}, ${encoding}`,
      ours: `${Math.round(result.ours)} req/s`,
      floor: `${Math.round(result.floor)} req/s, bare node:http`,
      ratio: result.ratio,
      atLeast: AT_LEAST,
    }
  } finally {
    await bare.stop()
  }
}

/** Milliseconds for each write: the median of many, spread over the stores. */
async function timeWrites(database: Database, stores: number): Promise<number> {
  const took: number[] = []
  for (let n = 0; n < WRITES; n++) {
    // The first store is the large one, which no round writes to.
    const db = database.tenant(`store-${2 + (n % (stores - 1))}`)
    const slug = randomUUID()
    const before = performance.now()
    await catalog.create(db, SYSTEM, { slug, name: 'A new product' })
    took.push(performance.now() - before)
  }
  return took.toSorted((a, b) => a - b)[WRITES >> 1] ?? 0
}

async function compareWrites(url: string): Promise<Figure> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const database = new Database({
    url: roleUrl(url, 'fd_app', SECRET_KEY),
    name: 'bench',
    max: 2,
  })
  try {
    await addStores(client, 2, FEW, 20)
    await timeWrites(database, FEW)
    const few = await timeWrites(database, FEW)
    await addStores(client, FEW + 1, MANY, 20)
    await timeWrites(database, MANY)
    const many = await timeWrites(database, MANY)
    return {
      name: `a new product at ${MANY} stores`,
      ours: `${many.toFixed(2)} ms, ${(many / few).toFixed(2)} times as long`,
      floor: `${few.toFixed(2)} ms at ${FEW} stores (at most ${SLOWER_MAX} times)`,
      holds: many / few <= SLOWER_MAX,
    }
  } finally {
    await database.close()
    await client.end()
  }
}

/** Public reads of a catalog from memory, and a write to it with few and with many stores. */
export async function catalogReads(dataDir: string): Promise<Figure[]> {
  const server = await startEmbedded({ dataDir, password: 'only for the benchmark' })
  try {
    await migrate({ url: server.url, secretKey: SECRET_KEY })
    await seed(server.url)
    const app = await startServer('./server-app.ts', [server.url, SECRET_KEY])
    const figures: Figure[] = []
    try {
      const list = '/v1/tenants/store-1/catalog/products'
      for (const encoding of ['identity', 'gzip'] as const) {
        figures.push(
          await compare(app, { name: 'product by slug', path: `${list}/product-7`, encoding }),
          await compare(app, { name: `list of ${PRODUCTS} products`, path: list, encoding }),
        )
      }
    } finally {
      await app.stop()
    }
    return [...figures, await compareWrites(server.url)]
  } finally {
    await server.stop()
  }
}
