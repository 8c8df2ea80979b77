import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { startEmbedded } from '@fairdock/embedded-postgres'
import sharp from 'sharp'
import { Database } from '../src/db/database.ts'
import { migrate } from '../src/db/migrate.ts'
import { roleUrl } from '../src/db/roles.ts'
import { SCOPES } from '../src/kernel/scopes.ts'
import * as credentials from '../src/modules/credentials/service.ts'
import * as stores from '../src/modules/stores/service.ts'
import { SYSTEM } from '../src/platform/audit.ts'
import type { Figure } from './figure.ts'
import { type Server, startServer } from './load.ts'

const SECRET_KEY = 'the secret key of the benchmark database'
/** Base64 costs the event loop more, so fewer uploads arrive in time. */
const UPLOADS = { bytes: 100, base64: 25 }
const MEGABYTES_MAX = 64
/** A store has at most 32 running uploads, so a hundred at once come from several stores. */
const STORES = ['bench-1', 'bench-2', 'bench-3', 'bench-4']

/** How much memory a hundred photographs of 2 MB, sent at once, add to the process. */
export async function uploads(dataDir: string): Promise<Figure[]> {
  const server = await startEmbedded({ dataDir, password: 'only for the benchmark' })
  try {
    await migrate({ url: server.url, secretKey: SECRET_KEY })
    const keys = await seed(server.url)
    const app = await startServer('./server-app.ts', [server.url, SECRET_KEY], {
      DATA_DIR: join(dataDir, 'app'),
    })
    try {
      return [await measureUploads(app, keys, 'bytes'), await measureUploads(app, keys, 'base64')]
    } finally {
      await app.stop()
    }
  } finally {
    await server.stop()
  }
}

type Way = keyof typeof UPLOADS

async function measureUploads(app: Server, keys: string[], way: Way): Promise<Figure> {
  const keyOf = (n: number) => keys[n % keys.length] ?? ''
  const pictures = await makePictures(UPLOADS[way])
  // The first upload loads the library, which does not depend on their number.
  await upload(app.url, keyOf(0), way, await picture())
  const before = await app.usage()
  const began = performance.now()
  await Promise.all(pictures.map((each, n) => upload(app.url, keyOf(n), way, each)))
  const seconds = (performance.now() - began) / 1_000
  const { peakMegabytes } = await app.usage()
  const growth = peakMegabytes - before.megabytes
  const megabytes = pictures.reduce((sum, { length }) => sum + length, 0) / pictures.length / 1e6
  return {
    name: `memory for ${pictures.length} uploads of ${megabytes.toFixed(1)} MB at once, as ${way}`,
    ours: `${growth.toFixed(0)} MB more than ${before.megabytes.toFixed(0)} MB, in ${seconds.toFixed(1)} s`,
    floor: `at most ${MEGABYTES_MAX} MB`,
    holds: growth <= MEGABYTES_MAX,
  }
}

async function makePictures(count: number): Promise<Buffer[]> {
  const pictures: Buffer[] = []
  while (pictures.length < count) pictures.push(await picture())
  return pictures
}

/** Noise does not compress, so 2 MB are few pixels; each image is different. */
function picture(): Promise<Buffer> {
  const [width, height] = [1_600, 1_200]
  return sharp(randomBytes(width * height * 3), { raw: { width, height, channels: 3 } })
    .jpeg({ quality: 94 })
    .toBuffer()
}

async function upload(url: string, key: string, way: Way, bytes: Buffer) {
  const body =
    way === 'bytes'
      ? new Uint8Array(bytes)
      : JSON.stringify({ content_type: 'image/jpeg', data_base64: bytes.toString('base64') })
  const type = way === 'bytes' ? 'image/jpeg' : 'application/json'
  const headers = { authorization: `Bearer ${key}`, 'content-type': type }
  const answer = await fetch(`${url}/v1/merchant/media`, { method: 'POST', headers, body })
  if (answer.status !== 201) throw new Error(await answer.text())
}

async function seed(url: string): Promise<string[]> {
  const database = new Database({ url: roleUrl(url, 'fd_app', SECRET_KEY), name: 'seed', max: 2 })
  const keys: string[] = []
  for (const tenant_ref of STORES) {
    await stores.create(database, SYSTEM, { tenant_ref, display_name: 'Bench' })
    const wanted = { label: 'bench', scopes: ['manage:own_media'] }
    const issuer = { actor: SYSTEM, scopes: SCOPES }
    const { credential } = await credentials.issue(database.tenant(tenant_ref), issuer, wanted)
    keys.push(credential.key)
  }
  await database.close()
  return keys
}
