import { createHmac } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startEmbedded } from '@fairdock/embedded-postgres'
import pg from 'pg'
import { Database } from '../src/db/database.ts'
import { migrate } from '../src/db/migrate.ts'
import { roleUrl } from '../src/db/roles.ts'
import { systemClock } from '../src/kernel/clock.ts'
import { deriveKey } from '../src/kernel/tokens.ts'
import * as providerEvents from '../src/modules/provider-events/service.ts'
import * as stores from '../src/modules/stores/service.ts'
import { SYSTEM } from '../src/platform/audit.ts'
import type { Figure } from './figure.ts'
import { ratio, startServer } from './load.ts'

const SECRET_KEY = 'the secret key of the benchmark database'
const SIGNING_KEY = '4F9A1C2E3B5D6F708192A3B4C5D6E7F8'
/** The number of stores, each with its own account. The script takes them in turn. */
const STORES = 32
/** More than both servers accept in all rounds together. */
const EVENTS = 400_000
/** An event of a sale has about 2 kB. */
const HEAD = '{"event_id":"'
const TAIL = `","event_type":"transaction.sale.success","event_body":{"padding":"${'x'.repeat(1_900)}"}}`

/** Signed events over HTTP, each of them new, against bare Fastify that inserts the same bytes. */
export async function inbound(dataDir: string): Promise<Figure> {
  const server = await startEmbedded({ dataDir, password: 'only for the benchmark' })
  try {
    await migrate({ url: server.url, secretKey: SECRET_KEY })
    await seed(server.url)
    process.env.BENCH_EVENTS = join(dataDir, 'events')
    await writeEvents(process.env.BENCH_EVENTS)
    const bare = await startServer('./server-inbound-floor.ts', [server.url])
    const app = await startServer('./server-app.ts', [server.url, SECRET_KEY])
    try {
      const script = fileURLToPath(new URL('./inbound.lua', import.meta.url))
      const result = await ratio({ url: bare.url, script }, { url: app.url, script })
      if (result === undefined) throw new Error('nothing was measured')
      await requireAllNew(server.url)
      return {
        name: 'signed provider events, each kept and published',
        ours: `${Math.round(result.ours)} req/s`,
        floor: `${Math.round(result.floor)} req/s, bare Fastify with one insert`,
        ratio: result.ratio,
        atLeast: 0.4,
      }
    } finally {
      await Promise.all([bare.stop(), app.stop()])
    }
  } finally {
    await server.stop()
  }
}

async function seed(url: string) {
  const database = new Database({ url: roleUrl(url, 'fd_app', SECRET_KEY), name: 'seed', max: 2 })
  const key = deriveKey(SECRET_KEY, 'gateway signing key')
  const deps = providerEvents.openProviderEvents({ database, clock: systemClock, key })
  for (let n = 0; n < STORES; n++) {
    const tenant_ref = `store-${n}`
    await stores.create(database, SYSTEM, { tenant_ref, display_name: tenant_ref })
    const name = { provider: 'nmi', account_ref: String(n) }
    const account = { tenant_ref, scheme: 'nmi' as const, signing_key: SIGNING_KEY }
    await providerEvents.setAccount(deps, SYSTEM, name, account)
  }
  await database.close()
}

async function writeEvents(path: string) {
  const lines = Array.from({ length: EVENTS }, (_, n) => {
    const id = `event-${n}`
    const mac = createHmac('sha256', SIGNING_KEY).update(`nonce.${HEAD}${id}${TAIL}`)
    return `${id} ${mac.digest('hex')}`
  })
  await Promise.all([
    writeFile(path, lines.join('\n')),
    writeFile(`${path}.head`, HEAD),
    writeFile(`${path}.tail`, TAIL),
  ])
}

/** Checks that each event was new and published: a repeated one would be cheaper. */
async function requireAllNew(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(`
    select (select count(*) from gateway_events)::int as kept,
           (select count(*) from outbox where type = 'webhook.received.v1')::int as published`)
  await client.end()
  const { kept, published } = rows[0]
  if (kept === 0 || kept !== published) throw new Error(`${kept} kept, ${published} published`)
}
