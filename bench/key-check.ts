import { startEmbedded } from '@fairdock/embedded-postgres'
import pg from 'pg'
import { Database } from '../src/db/database.ts'
import { migrate } from '../src/db/migrate.ts'
import { roleUrl } from '../src/db/roles.ts'
import { SCOPES } from '../src/kernel/scopes.ts'
import * as credentials from '../src/modules/credentials/service.ts'
import * as entitlements from '../src/modules/entitlements/service.ts'
import * as stores from '../src/modules/stores/service.ts'
import { SYSTEM } from '../src/platform/audit.ts'
import type { Figure } from './figure.ts'
import { ratio, startServer } from './load.ts'

const SECRET_KEY = 'the secret key of the benchmark database'
const STORES = 1_000
const KEYS = 20_000

/** A merchant key check plus one read of a store over HTTP, against two bare statements. */
export async function keyCheck(dataDir: string): Promise<Figure> {
  const server = await startEmbedded({ dataDir, password: 'only for the benchmark' })
  try {
    await migrate({ url: server.url, secretKey: SECRET_KEY })
    const { key, requestId } = await seed(server.url)
    const publicId = key.split('_')[1] ?? ''
    const bare = await startServer('./server-floor.ts', [server.url, 'bench', requestId, publicId])
    const app = await startServer('./server-app.ts', [server.url, SECRET_KEY])
    try {
      const path = `/v1/merchant/entitlements/requests/${requestId}`
      const headers = { authorization: `Bearer ${key}` }
      const result = await ratio({ url: bare.url }, { url: app.url + path, headers })
      if (result === undefined) throw new Error('nothing was measured')
      return {
        name: 'merchant key check + one tenant read',
        ours: `${Math.round(result.ours)} req/s`,
        floor: `${Math.round(result.floor)} req/s, bare node:http + pg`,
        ratio: result.ratio,
        atLeast: 0.5,
      }
    } finally {
      await Promise.all([bare.stop(), app.stop()])
    }
  } finally {
    await server.stop()
  }
}

/** Inserts so many stores and keys that an index is used, then the store under test. */
async function seed(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`
    insert into stores (tenant_ref, display_name)
    select 'store-' || n, 'Store ' || n from generate_series(1, ${STORES}) n`)
  await client.query(`
    insert into credentials (tenant_ref, public_id, secret_hash, label, scopes)
    select 'store-' || (1 + n % ${STORES}), lpad(n::text, 8, '0'), sha256(n::text::bytea), 'seed',
           '{read:own_store}'
      from generate_series(1, ${KEYS}) n`)
  await client.query('analyze')
  await client.end()
  const database = new Database({ url: roleUrl(url, 'fd_app', SECRET_KEY), name: 'seed', max: 2 })
  await stores.create(database, SYSTEM, { tenant_ref: 'bench', display_name: 'Bench' })
  const db = database.tenant('bench')
  const wanted = { label: 'bench', scopes: ['read:own_store'] }
  const { credential } = await credentials.issue(db, { actor: SYSTEM, scopes: SCOPES }, wanted)
  const { request } = await entitlements.request(db, SYSTEM, { feature_key: 'advanced_fraud' })
  await database.close()
  return { key: credential.key, requestId: request.id }
}
