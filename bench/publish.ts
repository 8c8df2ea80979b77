import { setTimeout as pause } from 'node:timers/promises'
import { startEmbedded } from '@fairdock/embedded-postgres'
import { Database } from '../src/db/database.ts'
import { migrate } from '../src/db/migrate.ts'
import { roleUrl } from '../src/db/roles.ts'
import * as stores from '../src/modules/stores/service.ts'
import { SYSTEM } from '../src/platform/audit.ts'
import type { Figure } from './figure.ts'
import { startServer } from './load.ts'

const SECRET_KEY = 'the secret key of the benchmark database'
const OPERATOR_TOKEN = 'the operator token of the benchmark'
const PUBLISHES = 60
const WITHIN_MS = 50

/** Measures how long after the answer to a publish another process shows the new version. */
export async function publish(dataDir: string): Promise<Figure> {
  const server = await startEmbedded({ dataDir, password: 'only for the benchmark' })
  try {
    await migrate({ url: server.url, secretKey: SECRET_KEY })
    const url = roleUrl(server.url, 'fd_app', SECRET_KEY)
    const database = new Database({ url, name: 'seed', max: 1 })
    await stores.create(database, SYSTEM, { tenant_ref: 'bench', display_name: 'Bench' })
    await database.close()
    const args = [server.url, SECRET_KEY, OPERATOR_TOKEN]
    const env = { RATE_LIMIT_MY_PER_MINUTE: '100000' }
    const here = await startServer('./server-app.ts', args, env)
    const there = await startServer('./server-app.ts', args, env)
    try {
      return await race(here.url, there.url)
    } finally {
      await Promise.all([here.stop(), there.stop()])
    }
  } finally {
    await server.stop()
  }
}

async function race(here: string, there: string): Promise<Figure> {
  await put(`${here}/v1/stores/bench/manifest`, { manifest: { n: 0 } })
  await put(`${here}/v1/stores/bench/status`, { status: 'live' })
  const late: number[] = []
  for (let n = 1; n <= PUBLISHES; n++) {
    // Long enough for the last notification to arrive and the response to be cached.
    await pause(50)
    await shownVersion(there)
    const { version } = await put(`${here}/v1/stores/bench/manifest`, { manifest: { n } })
    const answered = performance.now()
    while ((await shownVersion(there)) !== version) await pause(1)
    late.push(performance.now() - answered)
  }
  const [median = 0, worst = 0] = [
    late.toSorted((a, b) => a - b)[PUBLISHES >> 1],
    Math.max(...late),
  ]
  return {
    name: 'a publish is seen on a second process',
    ours: `${median.toFixed(1)} ms after its answer, at worst ${worst.toFixed(1)} ms`,
    floor: `at most ${WITHIN_MS} ms`,
    holds: median <= WITHIN_MS,
  }
}

async function put(url: string, body: unknown) {
  const headers = { 'x-operator-token': OPERATOR_TOKEN, 'content-type': 'application/json' }
  const answer = await fetch(url, { method: 'PUT', headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(await answer.text())
  return (await answer.json()) as { version: number }
}

async function shownVersion(url: string): Promise<number> {
  const answer = await fetch(`${url}/v1/tenants/bench/site`)
  return ((await answer.json()) as { version: number }).version
}
