import { pino } from 'pino'
import { readConfig } from '../src/config.ts'
import { startEmbedded } from '../src/db/embedded/embedded.ts'
import { migrate } from '../src/db/migrate.ts'
import { DEMO_STORES, stockDemo } from '../src/demo-stock.ts'
import { openRuntime } from '../src/runtime.ts'
import type { Figure } from './figure.ts'
import { ratio, startServer } from './load.ts'

const SECRET_KEY = 'the secret key of the benchmark database'
const HOST = 'demo.localhost'
const AT_LEAST = 0.25

const PAGES = { home: '/', 'product page': '/products/fern-teapot' }

/** Pages of the demo store, against a bare server that sends the same bytes. */
export async function storefrontPages(dataDir: string): Promise<Figure[]> {
  const embedded = await startEmbedded({ dataDir, password: 'bench' })
  const env = { DATA_DIR: dataDir, NODE_ENV: 'test' }
  try {
    await migrate({ url: embedded.url, secretKey: SECRET_KEY })
    await stock(embedded.url, env)
    const platform = await startServer('./server-app.ts', [embedded.url, SECRET_KEY], env)
    const ours = await startServer('./server-storefront.ts', [platform.url])
    try {
      const figures: Figure[] = []
      for (const [name, path] of Object.entries(PAGES)) {
        figures.push(await page(name, ours.url + path))
      }
      return figures
    } finally {
      await ours.stop()
      await platform.stop()
    }
  } finally {
    await embedded.stop()
  }
}

async function stock(databaseUrl: string, env: Record<string, string>): Promise<void> {
  const runtime = await openRuntime({
    config: readConfig(env),
    secrets: { OPERATOR_TOKEN: '', STOREFRONT_TOKEN: '', SECRET_KEY },
    logger: pino({ level: 'silent' }),
    databaseUrl,
  })
  await stockDemo(runtime, DEMO_STORES.slice(0, 1))
  await runtime.close()
}

async function page(name: string, url: string): Promise<Figure> {
  const floor = await startServer('./server-page.ts', [url, HOST])
  // In capitals, or wrk adds one of its own.
  const headers = { Host: HOST }
  try {
    const found = await ratio({ url: floor.url, headers }, { url, headers }, 3)
    if (found === undefined) throw new Error('nothing was measured')
    return {
      name: `storefront, ${name}`,
      ours: `${Math.round(found.ours)} req/s`,
      floor: `${Math.round(found.floor)} req/s of a bare server`,
      ratio: found.ratio,
      atLeast: AT_LEAST,
    }
  } finally {
    await floor.stop()
  }
}
