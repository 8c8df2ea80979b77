import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { startServer } from '../../../bench/load.ts'
import {
  type FilledApp,
  NO_LIMITS,
  OPERATOR_TOKEN,
  openFilledApp,
  SECRET_KEY,
  STOREFRONT_TOKEN,
} from '../../../bench/scale/filled-app.ts'
import { openClient } from '../../../bench/scale/measure.ts'
import { NEIGHBOUR, ORDERS } from '../../../bench/scale/size.ts'
import { listAnonymousFloods } from './anonymous-floods.ts'
import { openFlooder } from './flood.ts'

/**
 * One anonymous address floods one route after another, as fast as it can, while the merchant and a shopper of the
 * same store and the shoppers of another one go on. Each of them must keep most of what they get done alone.
 */

const SIZE = { stores: 1, orders: 500, products: 500 }

/** `npm run torture` takes these seconds for each try; `FLOOD_SECONDS` sets others. */
const SECONDS = Number(process.env.FLOOD_SECONDS ?? 4)
const SHARE_MIN = 0.8
/** A few seconds vary by a fifth where nothing floods: what counts is the sum of all tries, never the best one. */
const TRIES = 4

/** What a person does between two requests, in milliseconds. */
const THINK_MS = 100

/** The flood comes from an address of its own. */
const FLOODER = '127.0.0.9'

interface Step {
  url: string
  method?: 'GET' | 'POST'
  headers?: Record<string, string>
  body?: string
}

/** Sends requests one after another, as a person does, and counts those that were answered, for each second. */
async function workThrough(steps: readonly (() => Step)[], seconds: number): Promise<number> {
  const agent = new Agent({ connections: 1 })
  const end = performance.now() + seconds * 1_000
  let done = 0
  for (let at = 0; performance.now() < end; at++) {
    const { url, ...sent } = steps[at % steps.length]?.() ?? { url: '' }
    const { statusCode, body } = await request(url, { ...sent, dispatcher: agent })
    await body.dump({ limit: Number.POSITIVE_INFINITY })
    if (statusCode < 400 && performance.now() < end) done += 1
    await sleep(THINK_MS)
  }
  await agent.close()
  return done / seconds
}

async function openFilled(t: TestContext): Promise<FilledApp> {
  const dataDir = await mkdtemp(join(tmpdir(), 'one-address-'))
  // Root starts the database as another user, who must be able to pass through this folder.
  await chmod(dataDir, 0o711)
  const filled = await openFilledApp({ dataDir, size: SIZE, settings: { autovacuum: 'on' } })
  await filled.admin.query('vacuum analyze')
  t.after(async () => {
    await filled.close()
    await rm(dataDir, { recursive: true, force: true, maxRetries: 20 })
  })
  return filled
}

async function listVictims(filled: FilledApp, url: string) {
  const client = openClient({ ...filled, url })
  const { order_id } = await client.targetOf(ORDERS.full)
  const { rows } = await filled.admin.query<{ id: string; tenant: string; slug: string }>(
    `select distinct on (v.tenant_ref) v.id, v.tenant_ref as tenant, p.slug
       from variants v join products p on p.tenant_ref = v.tenant_ref and p.id = v.product_id
      where v.tenant_ref = any ($1) and p.status = 'active' order by v.tenant_ref, v.sku`,
    [[NEIGHBOUR, ORDERS.full]],
  )
  const productOf = (tenant: string) => rows.find((row) => row.tenant === tenant)
  const asMerchant = async (path: string) => {
    const sent = await client.requestOf({ plane: 'merchant' }, path, ORDERS.full)
    return () => sent
  }
  const merchant = await Promise.all([
    asMerchant('/v1/merchant/orders?limit=20'),
    asMerchant(`/v1/merchant/orders/${order_id}`),
    asMerchant('/v1/merchant/catalog/products?limit=20'),
  ])
  const headers = { 'content-type': 'application/json', 'x-storefront-token': STOREFRONT_TOKEN }
  const linesOf = (tenant: string) => [{ variant_id: productOf(tenant)?.id, quantity: 1 }]
  const post = (tenant: string, path: string, body: object) => (): Step => ({
    url: `${url}/v1/tenants/${tenant}/${path}`,
    method: 'POST',
    headers: { ...headers, 'idempotency-key': randomUUID() },
    body: JSON.stringify({ items: linesOf(tenant), ...body }),
  })
  const read = (tenant: string, path: string) => () => ({
    url: `${url}/v1/tenants/${tenant}/${path.replace('#', randomUUID().slice(0, 4))}`,
  })
  const shopperOf = (tenant: string) => [
    read(tenant, 'site'),
    read(tenant, 'catalog/products?after=&limit=24'),
    read(tenant, `catalog/products/${productOf(tenant)?.slug}`),
    read(tenant, 'catalog/search?q=#'),
    post(tenant, 'checkout/preview', {}),
    post(tenant, 'checkout', { customer_ref: 'ann', card: CARD }),
  ]
  return {
    merchant: (seconds: number) => workThrough(merchant, seconds),
    shopper: (seconds: number) => workThrough(shopperOf(ORDERS.full), seconds),
    'another store': (seconds: number) => workThrough(shopperOf(NEIGHBOUR), seconds),
  }
}

const CARD = { ccnumber: '4111111111111111', ccexp: '10/40', cvv: '999' }

type Victim = keyof Awaited<ReturnType<typeof listVictims>>
type Rates = Record<Victim, number>

const percent = (share: number): string => `${(share * 100).toFixed(0)} %`

test('a store and its neighbour go on, however one address floods routes without a credential', async (t) => {
  const filled = await openFilled(t)
  const args = [filled.databaseUrl, SECRET_KEY, OPERATOR_TOKEN]
  const server = await startServer('./server-app.ts', args, NO_LIMITS)
  t.after(() => server.stop())
  const victims = await listVictims(filled, server.url)
  const names = Object.keys(victims) as Victim[]
  const work = async (): Promise<Rates> => {
    const rates = await Promise.all(names.map((name) => victims[name](SECONDS)))
    return Object.fromEntries(names.map((name, at) => [name, rates[at]])) as Rates
  }
  await work()
  const priority = Number(process.env.FLOOD_PRIORITY ?? 19)
  const flooder = openFlooder(t, { address: FLOODER, priority })
  const wanted = new RegExp(process.env.FLOODS ?? '')
  const floods = (await listAnonymousFloods(filled, server.url)).filter((each) =>
    wanted.test(each.name),
  )
  const least: Record<string, number> = {}
  for (const flood of floods) {
    await t.test(`a flood of one address by ${flood.name}`, async (t) => {
      const quiet: Rates[] = []
      const beside: Rates[] = []
      const sum = (rates: readonly Rates[], name: Victim) =>
        rates.reduce((all, each) => all + each[name], 0)
      const shareOf = (name: Victim) => sum(beside, name) / sum(quiet, name)
      const holds = () => names.every((name) => shareOf(name) >= SHARE_MIN)
      do {
        quiet.push(await work())
        const { statuses, result } = await flooder.during(flood, work)
        beside.push(result)
        const shares = names.map((name) => `${name} ${percent(shareOf(name))}`)
        t.diagnostic(`${shares.join(', ')}; flood ${JSON.stringify(statuses)}`)
        assert.ok(Object.keys(statuses).length > 0, 'the flood was answered')
        assert.equal(statuses['500'], undefined)
      } while (!holds() && beside.length < TRIES)
      for (const name of names) least[name] = Math.min(least[name] ?? 9, shareOf(name))
      assert.ok(holds())
    })
  }
  t.diagnostic(`least: ${names.map((name) => `${name} ${percent(least[name] ?? 0)}`).join(', ')}`)
})
