import pg from 'pg'
import { Agent, request } from 'undici'
import { Database } from '../src/db/database.ts'
import { roleUrl } from '../src/db/roles.ts'
import * as credentials from '../src/modules/credentials/service.ts'
import { SYSTEM } from '../src/platform/audit.ts'
import { openShop, SECRET_KEY, type Shop, storeOf } from './checkout.ts'
import type { Figure } from './figure.ts'
import { THIS_TREE } from './trees.ts'

const ORDERS = 500
const ROUNDS = 3
const AT_MOST = 0.2
const SCOPES = ['manage:own_fulfillment'] as const

/** How long it takes to pack and ship 500 orders by one call, beside a call for each. */
export async function bulk(dataDir: string): Promise<Figure> {
  const shop = await openShop(dataDir, THIS_TREE)
  try {
    const send = await openMerchant(shop)
    const next = await placeOrders(shop, (2 * ROUNDS + 1) * ORDERS)
    // Both ways once before they are measured, so that the server has its plans.
    await shipTogether(send, next(ORDERS / 2))
    await shipSingly(send, next(ORDERS / 2))
    const pairs: { single: number; together: number; ratio: number }[] = []
    for (let n = 0; n < ROUNDS; n++) {
      const single = await shipSingly(send, next(ORDERS))
      const together = await shipTogether(send, next(ORDERS))
      pairs.push({ single, together, ratio: together / single })
    }
    const median = pairs.toSorted((a, b) => a.ratio - b.ratio)[ROUNDS >> 1]
    if (median === undefined) throw new Error('nothing was measured')
    return {
      name: `${ORDERS} orders packed and shipped by one call`,
      ours: `${median.together.toFixed(0)} ms`,
      floor: `${median.single.toFixed(0)} ms, one after another`,
      ratio: median.ratio,
      holds: median.ratio <= AT_MOST,
    }
  } finally {
    await shop.close()
  }
}

type Send = (path: string, body: object) => Promise<{ [member: string]: unknown }>

/** Calls the server with a key of the first store. */
async function openMerchant({ url, app }: Shop): Promise<Send> {
  const database = new Database({ url: roleUrl(url, 'fd_app', SECRET_KEY), name: 'seed', max: 1 })
  const issuer = { actor: SYSTEM, scopes: SCOPES }
  const wanted = { label: 'bench', scopes: [...SCOPES] }
  const { credential } = await credentials.issue(database.tenant(storeOf(0)), issuer, wanted)
  await database.close()
  const headers = { authorization: `Bearer ${credential.key}`, 'content-type': 'application/json' }
  const dispatcher = new Agent({ connections: 1 })
  return async (path, body) => {
    const sent = { dispatcher, method: 'POST', headers, body: JSON.stringify(body) } as const
    const answer = await request(`${app.url}${path}`, sent)
    const text = await answer.body.text()
    if (answer.statusCode >= 300) throw new Error(text)
    return JSON.parse(text)
  }
}

/** Places paid orders in the first store. Returns a function that gives out the next of them. */
async function placeOrders({ url, app, run }: Shop, wanted: number) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(
    `insert into entitlements (tenant_ref, feature_key, source, state)
     values ($1, 'bulk_fulfillment', 'operator', 'allow')`,
    [storeOf(0)],
  )
  let orders: string[] = []
  while (orders.length < wanted) {
    await run(app, () => 0)
    const { rows } = await client.query<{ id: string }>(
      `select id from orders where status in ('placed', 'processing')`,
    )
    orders = rows.map(({ id }) => id)
  }
  await client.query('analyze')
  await client.end()
  return (count: number) => orders.splice(0, count)
}

async function shipSingly(send: Send, orders: readonly string[]): Promise<number> {
  const began = performance.now()
  for (const order of orders) {
    const { fulfillment } = await send(`/v1/merchant/orders/${order}/fulfillments`, {})
    const { id } = fulfillment as { id: string }
    await send(`/v1/merchant/fulfillments/${id}/ship`, {})
  }
  return performance.now() - began
}

async function shipTogether(send: Send, orders: readonly string[]): Promise<number> {
  const began = performance.now()
  const rows = orders.map((order_id) => ({ order_id, ship: true }))
  const { results } = await send('/v1/merchant/fulfillments/bulk', { orders: rows })
  const refused = (results as { status: string }[]).find(({ status }) => status !== 'ok')
  if (refused !== undefined) throw new Error(JSON.stringify(refused))
  return performance.now() - began
}
