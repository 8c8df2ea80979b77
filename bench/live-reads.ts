import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { startEmbedded } from '@fairdock/embedded-postgres'
import pg from 'pg'
import { migrate } from '../src/db/migrate.ts'
import { canonicalHash } from '../src/kernel/canonical-json.ts'
import type { Figure } from './figure.ts'
import { measure, ratio, type Server, startServer, type Target } from './load.ts'

const SECRET_KEY = 'the secret key of the benchmark database'

/** The stores of the database: as many as `random-site.lua` requests. */
const STORES = 10_000
const RANDOM_SITE = fileURLToPath(new URL('./random-site.lua', import.meta.url))

const MANIFEST_BYTES = 20_000
const AT_LEAST = 0.75
const MEGABYTES_MAX = 500

/** A typical manifest of about 20 KB. */
function manifest(): string {
  const props = (n: number) => ({
    heading: `Section ${n}`,
    body: createHash('sha512').update(String(n)).digest('base64').repeat(4),
  })
  const sections: unknown[] = []
  const text = () =>
    JSON.stringify({ brand: { name: 'Bench' }, template: { id: 'default', sections } })
  while (text().length < MANIFEST_BYTES) {
    sections.push({ type: 'rich-text', props: props(sections.length) })
  }
  return text()
}

async function seed(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const text = manifest()
  await client.query(`
    insert into stores (tenant_ref, display_name)
    select 'store-' || n, 'Store ' || n from generate_series(1, ${STORES}) n`)
  await client.query(
    `insert into site_versions
            (tenant_ref, version, manifest, row_hash, rules_version, created_by)
     select tenant_ref, 1, $1, $2, 'bench', 'bench' from stores`,
    [text, canonicalHash(JSON.parse(text))],
  )
  await client.query(`update stores set active_version = 1, status = 'live'`)
  await client.query('analyze')
  await client.end()
}

/** Reads every store once, as `wrk` does, so that all of them are in memory. */
async function warmUp(url: string) {
  const headers = { 'accept-encoding': 'identity' }
  let next = 1
  const reader = async () => {
    while (next <= STORES) {
      const answer = await fetch(`${url}/v1/tenants/store-${next++}/site`, { headers })
      if (answer.status !== 200) throw new Error(`a store answered ${answer.status}`)
      await answer.arrayBuffer()
    }
  }
  await Promise.all(Array.from({ length: 16 }, reader))
}

/** CPU time of the server for each request, in microseconds: other processes do not affect it. */
async function cpuPerRequest(server: Server, target: Target) {
  const seconds = 4
  const before = await server.usage()
  const perSecond = await measure({ ...target, seconds })
  const after = await server.usage()
  return ((after.cpuSeconds - before.cpuSeconds) / (perSecond * seconds)) * 1e6
}

interface Read {
  name: string
  path: string
  headers?: Record<string, string>
  script?: string
}

/** Compares one read of ours with a bare server that sends the same bytes. */
async function compare(app: Server, { name, path, headers, script }: Read): Promise<Figure> {
  const tag = headers?.['if-none-match']
  const copied = [app.url + path, tag ?? '', String(script === undefined ? 0 : STORES)]
  const bare = await startServer('./server-bytes.ts', copied)
  try {
    const more = { seconds: 3, ...(headers && { headers }), ...(script && { script }) }
    const [floor, ours] = [
      { url: bare.url + path, ...more },
      { url: app.url + path, ...more },
    ]
    const result = await ratio(floor, ours)
    if (result === undefined) throw new Error('nothing was measured')
    const cpu = [await cpuPerRequest(app, ours), await cpuPerRequest(bare, floor)]
    const [ourCpu = '', floorCpu = ''] = cpu.map((each) => `${each.toFixed(1)} us CPU each`)
    return {
      name,
      ours: `${Math.round(result.ours)} req/s, ${ourCpu}`,
      floor: `${Math.round(result.floor)} req/s, ${floorCpu}, bare node:http`,
      ratio: result.ratio,
      atLeast: AT_LEAST,
    }
  } finally {
    await bare.stop()
  }
}

/** Public reads from memory, against sending the same bytes and doing nothing else. */
export async function liveReads(dataDir: string): Promise<Figure[]> {
  const server = await startEmbedded({ dataDir, password: 'only for the benchmark' })
  try {
    await migrate({ url: server.url, secretKey: SECRET_KEY })
    await seed(server.url)
    const app = await startServer('./server-app.ts', [server.url, SECRET_KEY])
    try {
      return await readAll(app)
    } finally {
      await app.stop()
    }
  } finally {
    await server.stop()
  }
}

async function readAll(app: Server): Promise<Figure[]> {
  const site = '/v1/tenants/store-1/site'
  const resolve = '/v1/resolve?tenant=store-1'
  await warmUp(app.url)
  const etag = (await fetch(app.url + site)).headers.get('etag') ?? ''
  const headers = { 'if-none-match': etag }
  const figures: Figure[] = []
  for (const read of [
    { name: 'site read, 20 KB', path: site },
    { name: 'resolve by tenant, 20 KB', path: resolve },
    { name: 'site read, not changed', path: site, headers },
    { name: `site read, one of ${STORES} at random`, path: site, script: RANDOM_SITE },
  ]) {
    figures.push(await compare(app, read))
  }
  const { megabytes } = await app.usage()
  figures.push({
    name: `memory with ${STORES} sites of 20 KB kept (LIVE_CACHE_MB as it comes)`,
    ours: `${megabytes.toFixed(0)} MB`,
    floor: `at most ${MEGABYTES_MAX} MB`,
    holds: megabytes <= MEGABYTES_MAX,
  })
  return figures
}
