import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startEmbedded } from '@fairdock/embedded-postgres'
import { pino } from 'pino'
import { readConfig } from '../src/config.ts'
import { migrate } from '../src/db/migrate.ts'
import { DEMO_STORES, stockDemo } from '../src/demo-stock.ts'
import { openRuntime } from '../src/runtime.ts'
import { addItem, emptyCart, packCart } from '../storefront/cart/cart.ts'
import { openCookies } from '../storefront/http/cookies.ts'
import { addOrder, newShopper, packShopper } from '../storefront/shopper/shopper.ts'
import type { Figure } from './figure.ts'
import { ratio, startServer } from './load.ts'

const SECRET_KEY = 'the secret key of the benchmark database'
const HOST = 'demo.localhost'
const TOKEN = 'a token for the benchmark alone, never used'

/** The pages, with the share of a bare server's pace that a first view keeps. */
const PAGES = {
  home: { path: '/', atLeast: 0.49 },
  'product page': { path: '/products/fern-teapot', atLeast: 0.46 },
}
/** The share for shoppers with a cart, whose cookies are opened and whose page is not the same for all. */
const AT_LEAST_WITH_CART = 0.25

/** A returning shopper, with a cart and an order. */
function returning(): string {
  const cookies = openCookies([TOKEN], false)
  const [first, second] = [randomUUID(), randomUUID()]
  const { cart } = addItem(emptyCart(), { variant_id: first, quantity: 2 })
  const { cart: full } = addItem(cart, { variant_id: second, quantity: 1 })
  const key = 'shop-usual-length-00-0'
  const shopper = addOrder(newShopper(), { id: randomUUID(), key, isPending: false })
  const jar = [
    cookies.write('cart', 'demo', packCart(full), 1),
    cookies.write('shopper', 'demo', packShopper(shopper), 1),
  ]
  return jar.map((each) => each.split(';')[0]).join('; ')
}

/** The shoppers at the same time, each with cookies of their own. */
const VISITORS = 500

/** Writes the script for `wrk`, which sends the cookies of one shopper after another. */
async function writeVisitors(folder: string, visitors: readonly string[]): Promise<string> {
  const path = join(folder, 'visitors.lua')
  const list = visitors.map((each) => `"${each}"`).join(',')
  const lines = [
    `local jars, at = {${list}}, 0`,
    'request = function()',
    '  at = at % #jars + 1',
    '  wrk.headers["Cookie"] = jars[at]',
    '  return wrk.format()',
    'end',
  ]
  await writeFile(path, lines.join('\n'))
  return path
}

/** Compares pages of the demo store with a bare server that sends the same bytes. */
export async function storefrontPages(dataDir: string): Promise<Figure[]> {
  const embedded = await startEmbedded({ dataDir, password: 'bench' })
  const env = { DATA_DIR: dataDir, NODE_ENV: 'test' }
  try {
    await migrate({ url: embedded.url, secretKey: SECRET_KEY })
    await stock(embedded.url, env)
    const platform = await startServer('./server-app.ts', [embedded.url, SECRET_KEY], env)
    const ours = await startServer('./server-storefront.ts', [platform.url, TOKEN])
    try {
      const figures: Figure[] = []
      const visitors = Array.from({ length: VISITORS }, returning)
      const [cookie = ''] = visitors
      const script = await writeVisitors(dataDir, visitors)
      for (const [name, { path, atLeast }] of Object.entries(PAGES)) {
        const url = ours.url + path
        figures.push(await measurePage({ name, url, atLeast, visitor: null }))
        const withCart = { name: `${name} for who has a cart`, url, visitor: { cookie, script } }
        figures.push(await measurePage({ ...withCart, atLeast: AT_LEAST_WITH_CART }))
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
  await stockDemo(runtime, { all: DEMO_STORES.slice(0, 1) })
  await runtime.close()
}

interface MeasuredPage {
  name: string
  url: string
  /** The cookies of one shopper, for the floor, and a script that sends those of many. */
  visitor: { cookie: string; script: string } | null
  atLeast: number
}

async function measurePage({ name, url, visitor, atLeast }: MeasuredPage): Promise<Figure> {
  const floor = await startServer('./server-page.ts', [url, HOST, visitor?.cookie ?? ''])
  // With capitals, or `wrk` adds a header of its own.
  const sent = { headers: { Host: HOST }, ...(visitor === null ? {} : { script: visitor.script }) }
  try {
    const found = await ratio({ url: floor.url, ...sent }, { url, ...sent }, 3)
    if (found === undefined) throw new Error('nothing was measured')
    return {
      name: `storefront, ${name}`,
      ours: `${Math.round(found.ours)} req/s`,
      floor: `${Math.round(found.floor)} req/s of a bare server`,
      ratio: found.ratio,
      atLeast,
    }
  } finally {
    await floor.stop()
  }
}
