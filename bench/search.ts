import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startEmbedded } from '@fairdock/embedded-postgres'
import pg from 'pg'
import { Database, type Db } from '../src/db/database.ts'
import { migrate } from '../src/db/migrate.ts'
import { roleUrl } from '../src/db/roles.ts'
import { readSearch } from '../src/modules/catalog/search.ts'
import { search } from '../src/modules/catalog/search-queries.ts'
import type { Figure } from './figure.ts'
import { ratio, type Server, startServer } from './load.ts'
import { type Size, STORE, seed } from './search-seed.ts'

const SECRET_KEY = 'the secret key of the benchmark database'
const AT_LEAST = 0.5

/** Searching, ranking, sorting and counting by price and collection, against only counting. */
const TIMES_COUNTING = 8

/** BENCH_PRODUCTS makes all of it smaller, for a quick run. */
function readSize(): Size {
  const total = Number(process.env.BENCH_PRODUCTS ?? 1_000_000)
  return { total, products: total / 10, stores: Math.max(2, total / 1_000) }
}

/** Words as the seed makes them; each is in one to three of a thousand products. */
const WORDS = Array.from({ length: 64 }, (_, n) =>
  [
    ...createHash('md5')
      .update(String(1_000 + n * 250))
      .digest('hex')
      .slice(0, 6),
  ]
    .map((digit) => 'ghijklmnop'[Number(digit)] ?? digit)
    .join(''),
)

const pathOf = (q: string) => `/v1/tenants/${STORE}/catalog/search?q=${q}`

/** The script for `wrk`, which searches for another word each time. */
const SCRIPT = `
local words = { ${WORDS.map((each) => `'${each}'`).join(', ')} }
local n = 0
request = function()
  n = n % #words + 1
  return wrk.format('GET', '${pathOf('')}' .. words[n])
end
`

export async function searchProducts(dataDir: string): Promise<Figure[]> {
  const server = await startEmbedded({ dataDir, password: 'only for the benchmark' })
  try {
    await migrate({ url: server.url, secretKey: SECRET_KEY })
    await seed(server.url, readSize())
    return await measureSearch(server.url, dataDir)
  } finally {
    await server.stop()
  }
}

/** Measures the search on a database that is seeded already. */
export async function measureSearch(databaseUrl: string, dataDir: string): Promise<Figure[]> {
  const url = roleUrl(databaseUrl, 'fd_app', SECRET_KEY)
  const script = join(dataDir, 'search.lua')
  await writeFile(script, SCRIPT)
  const bare = await startServer('./server-search.ts', [url, STORE])
  const app = await startServer('./server-app.ts', [databaseUrl, SECRET_KEY])
  try {
    return [await throughput(bare, app, script), ...(await latencies(databaseUrl, app))]
  } finally {
    await Promise.all([bare.stop(), app.stop()])
  }
}

async function throughput(bare: Server, app: Server, script: string): Promise<Figure> {
  // Many short rounds: the database uses the whole machine, and so does any other process.
  const [floor, ours] = [bare, app].map(({ url }) => ({ url, script, seconds: 3 }))
  const result = floor && ours && (await ratio(floor, ours, 11))
  if (result === undefined) throw new Error('nothing was measured')
  return {
    name: 'search for a word that one to three of a thousand products have',
    ours: `${Math.round(result.ours)} req/s`,
    floor: `${Math.round(result.floor)} req/s, bare node:http + pg, same SQL`,
    ratio: result.ratio,
    atLeast: AT_LEAST,
  }
}

async function latencies(databaseUrl: string, app: Server): Promise<Figure[]> {
  const url = roleUrl(databaseUrl, 'fd_app', SECRET_KEY)
  const database = new Database({ url, name: 'bench', max: 1 })
  const db = database.tenant(STORE)
  try {
    const { sqlMedian, httpP99 } = await timeBoth(db, app)
    return [
      {
        name: 'p99 of the same search',
        ours: `${httpP99.toFixed(1)} ms`,
        floor: `at most 10 x ${sqlMedian.toFixed(1)} ms, the median of its SQL`,
        holds: httpP99 <= 10 * sqlMedian,
      },
      ...(await worst(databaseUrl, db, database.tenant('store-1'))),
    ]
  } finally {
    await database.close()
  }
}

/** Each word is searched both ways before the next, so that a noisy minute affects both. */
async function timeBoth(db: Db, app: Server) {
  const sql: number[] = []
  const http: number[] = []
  await timeAll(WORDS, async (q) => {
    sql.push(await time(() => askSql(db, q)))
    http.push(await time(() => askHttp(app, q)))
  })
  return {
    sqlMedian: percentile(sql.slice(WORDS.length), 0.5),
    httpP99: percentile(http.slice(WORDS.length), 0.99),
  }
}

/** The most expensive searches: all products match, or none does. */
async function worst(databaseUrl: string, db: Db, other: Db): Promise<Figure[]> {
  const counting = await timeCounting(databaseUrl)
  const common = await medianOf(db, 'coffee')
  const letter = await medianOf(db, 'a')
  const typo = await medianOf(db, 'harbuor')
  const elsewhere = await medianOf(other, 'a')
  const bound = (name: string, ms: number, most: number, what: string): Figure => ({
    name: `search for ${name}`,
    ours: `${ms.toFixed(1)} ms`,
    floor: `at most ${most.toFixed(1)} ms, ${what}`,
    holds: ms <= most,
  })
  const most = TIMES_COUNTING * counting
  const what = `${TIMES_COUNTING} x only counting all products`
  return [
    bound('a word that all products have', common, most, what),
    bound('a letter', letter, most, what),
    bound('a mistyped word', typo, common, 'as long as for the word that all have'),
    bound(
      'a letter in another store',
      elsewhere,
      letter / 5,
      'a fifth of the same in the large one',
    ),
  ]
}

async function medianOf(db: Db, q: string): Promise<number> {
  return percentile(await timeAll([q], () => askSql(db, q)), 0.5)
}

async function timeCounting(databaseUrl: string): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query('set max_parallel_workers_per_gather = 0')
  await client.query('set enable_seqscan = off')
  const [store] = (
    await client.query(`select store_number from stores where tenant_ref = '${STORE}'`)
  ).rows
  const text = `select count(*) from product_search
                 where tenant_ref = '${STORE}' and words @@ '''${store.store_number}/coffe'''`
  const median = percentile(await timeAll([text], () => client.query(text)), 0.5)
  await client.end()
  return median
}

async function askSql(db: Db, q: string) {
  const found = await search(db, readSearch({ q }))
  if (found === null) throw new Error('the store is not live')
  return found
}

async function askHttp(app: Server, q: string) {
  const answer = await fetch(app.url + pathOf(q))
  if (answer.status !== 200) throw new Error(`search answered ${answer.status}`)
  return answer.arrayBuffer()
}

/** Times eight rounds of the queries, the first of which only warms up. */
async function timeAll(queries: readonly string[], ask: (q: string) => Promise<unknown>) {
  const times: number[] = []
  for (let round = 0; round < 8; round++) {
    for (const q of queries) {
      const ms = await time(() => ask(q))
      if (round > 0) times.push(ms)
    }
  }
  return times
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

const percentile = (times: readonly number[], share: number) =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] ?? 0
