import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'
import type { FilledApp } from '../../../bench/scale/filled-app.ts'
import { type Client, openClient } from '../../../bench/scale/measure.ts'
import { listProbes, type Probe } from '../../../bench/scale/probes.ts'
import { ORDERS } from '../../../bench/scale/size.ts'
import { plain } from '../../modules/media/sample-images.ts'
import type { Flood, FloodRequest } from './flood.ts'

const CLIENTS = 16
const CROWD = 160

/** What a store sends to its own routes as fast as it can. */
export interface StoreFlood extends Flood {
  name: string
  /** What the routes answer to it, when they do not refuse it for want of a share. */
  answers: readonly number[]
}

/** Every list, search, export, upload, scan and preview of a store, and all of them at once. */
export async function listFloods(filled: FilledApp, url: string): Promise<StoreFlood[]> {
  const reads = await listReads(filled, url)
  // Writes come first: the token of a preview is valid for half an hour, and all reads take longer.
  const each = [...(await listWrites(filled, url)), ...reads]
  const answers = [...new Set(each.flatMap((flood) => flood.answers))]
  const requests = each.flatMap((flood) => flood.requests.slice(0, CLIENTS))
  return [...each, { name: 'all of them', clients: CROWD, requests, answers }]
}

/** The costliest request of each route that reads, found by sending all that a probe or a page can ask. */
async function listReads(filled: FilledApp, url: string): Promise<StoreFlood[]> {
  const client = openClient(filled)
  const probes = listProbes(filled.document).filter(({ plane }) => plane !== 'operator')
  const costliest = new Map<string, { flood: StoreFlood; ms: number }>()
  for (const probe of probes) {
    for (const { name, path } of await listPages(filled, client, probe)) {
      const sent = await client.requestOf(probe, path, probe.pair.full)
      const ms = await timeOf(sent)
      if (ms < (costliest.get(probe.route)?.ms ?? 0)) continue
      const requests = [{ ...sent, url: url + path, method: 'GET' as const }]
      const flood = { name: `${probe.route}, ${name}`, clients: CLIENTS, requests, answers: [200] }
      costliest.set(probe.route, { flood, ms })
    }
  }
  return [...costliest.values()].map(({ flood }) => flood)
}

/** A probe as it is, with the largest page, with the largest and deepest one, and without a limit. */
async function listPages(filled: FilledApp, client: Client, probe: Probe) {
  const { route, name } = probe
  const tenant = probe.pair.full
  const path = probe.path(await client.targetOf(tenant))
  const limit = filled.document.paths[route]?.get?.parameters?.find((of) => of.name === 'limit')
  const most = Number(limit?.schema.maximum ?? 0)
  if (most === 0) return [{ name, path }]
  const { body } = await request(...asRequest(await client.requestOf(probe, path, tenant)))
  const { total = 0 } = (await body.json()) as { total?: number }
  const offset = Math.max(0, total - most)
  return [
    { name, path },
    { name: `${name}, largest page`, path: withQuery(path, { limit: most }) },
    { name: `${name}, deepest page`, path: withQuery(path, { limit: most, offset }) },
    { name: `${name}, no limit`, path: withQuery(path, { limit: null }) },
  ]
}

const asRequest = ({ url, headers }: Pick<FloodRequest, 'url' | 'headers'>) =>
  [url, { headers }] as const

function withQuery(path: string, changes: Record<string, number | null>): string {
  const url = new URL(path, 'http://store')
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) url.searchParams.delete(name)
    else url.searchParams.set(name, String(value))
  }
  return url.pathname + url.search
}

/** Milliseconds of a whole answer, the second time, when nothing of it is new. */
async function timeOf(sent: Pick<FloodRequest, 'url' | 'headers'>): Promise<number> {
  let began = 0
  for (let answered = 0; answered < 2; ) {
    began = performance.now()
    const { statusCode, body } = await request(...asRequest(sent))
    await body.dump({ limit: Number.POSITIVE_INFINITY })
    if (statusCode === 503) {
      await sleep(1_000)
      continue
    }
    assert.equal(statusCode, 200, sent.url)
    answered += 1
  }
  return performance.now() - began
}

/** A manifest whose texts are long to scan. */
const MANIFEST = {
  brand: { name: 'Flood' },
  pages: Array.from({ length: 50 }, (_, at) => ({ slug: `page-${at}`, text: 'soap '.repeat(500) })),
}

/** Requests of a flood that must differ, since the second of the same would do nothing. */
const DIFFERENT = 200

interface Write {
  method?: 'GET' | 'POST' | 'PUT'
  plane?: Probe['plane']
  path: string
  /** The bodies that are sent in turn. */
  bodies?: readonly object[]
  answers?: readonly number[]
}

/** Uploads, scans, previews, imports and bulk work: what costs the process itself, and not the database alone. */
async function listWrites(filled: FilledApp, url: string): Promise<StoreFlood[]> {
  const client = openClient({ ...filled, url })
  const tenant = ORDERS.full
  const send = async ({ path, method = 'POST', plane = 'merchant', bodies = [{}] }: Write) => {
    const { url, headers } = await client.requestOf({ plane }, path, tenant)
    return bodies.map((body): FloodRequest => {
      if (method === 'GET') return { url, method, headers }
      const own = { 'content-type': 'application/json', 'idempotency-key': randomUUID() }
      return { url, method, headers: { ...headers, ...own }, body: JSON.stringify(body) }
    })
  }
  const sendOnce = async (write: Write) => {
    const [sent] = await send(write)
    const answer = await fetch(sent?.url ?? '', sent)
    assert.ok(answer.ok, `${write.path}: ${answer.status} ${await answer.clone().text()}`)
    return (await answer.json()) as { token: string; asset: { url: string } }
  }
  for (const feature_key of ['bulk_fulfillment', 'gift_cards']) {
    await sendOnce({ path: '/v1/merchant/entitlements/enable', bodies: [{ feature_key }] })
  }
  const { token } = await sendOnce({ path: '/v1/my/site/preview-token', bodies: [{ version: 1 }] })
  const { asset } = await sendOnce({ path: '/v1/merchant/media', bodies: [await picture(0)] })
  const ids = await readIds(filled, tenant)
  const writes: Write[] = [
    ...(await listUploads(new URL(asset.url).pathname)),
    ...listPreviews({ tenant, token, ...ids }),
    ...listImports(ids),
  ]
  return Promise.all(
    writes.map(async (write) => ({
      name: `${write.method ?? 'POST'} ${write.path}`,
      clients: CLIENTS,
      requests: await send(write),
      answers: write.answers ?? [200, 201],
    })),
  )
}

const picture = async (shade: number) => ({
  filename: `flood-${shade}.png`,
  content_type: 'image/png',
  data_base64: (await plain('png', shade, [1_200, 800])).toString('base64'),
})

async function listUploads(asset: string): Promise<Write[]> {
  const bodies = await Promise.all(Array.from({ length: DIFFERENT }, (_, n) => picture(n + 1)))
  return [
    { path: '/v1/merchant/media', bodies },
    { method: 'GET', plane: 'public', path: `${asset}?w=320` },
    { method: 'PUT', path: '/v1/my/site/draft', bodies: [{ manifest: MANIFEST }] },
    { method: 'PUT', path: '/v1/my/store/manifest', bodies: [{ manifest: MANIFEST }] },
    { path: '/v1/my/site/publish', bodies: [{ version: 1 }] },
  ]
}

interface Ids {
  order_id: string
  variant_id: string
  customer_ref: string
  order_ids: readonly string[]
}

/** One order that was paid, with what it names, and those that a bulk shipment may name. */
async function readIds({ admin }: FilledApp, tenant: string): Promise<Ids> {
  const { rows } = await admin.query<Ids>(
    `select o.id as order_id, i.variant_id, o.customer_ref,
            array(select id from orders where tenant_ref = $1 and status = 'placed' limit 500) as order_ids
       from orders o join order_items i on i.tenant_ref = o.tenant_ref and i.order_id = o.id
      where o.tenant_ref = $1 and o.status = 'delivered' limit 1`,
    [tenant],
  )
  assert.ok(rows[0])
  return rows[0]
}

const SEGMENT = {
  match: 'all',
  conditions: [
    { field: 'total_spent_cents', op: 'gte', value: 1 },
    { field: 'orders_count', op: 'gte', value: 1 },
  ],
}

const listPreviews = (of: Ids & { tenant: string; token: string }): Write[] => [
  { path: '/v1/my/site/preview-token', bodies: [{ version: 1 }] },
  { method: 'GET', plane: 'public', path: `/v1/preview-resolve?token=${of.token}` },
  { method: 'GET', path: `/v1/merchant/mails/preview?order_id=${of.order_id}` },
  { path: '/v1/merchant/marketing/segments/preview', bodies: [SEGMENT] },
  {
    path: `/v1/merchant/orders/${of.order_id}/refunds/preview`,
    bodies: [{ amount_cents: 1, reason: 'A flood.' }],
  },
  {
    plane: 'storefront',
    path: `/v1/tenants/${of.tenant}/checkout/preview`,
    bodies: [{ items: [{ variant_id: of.variant_id, quantity: 1 }] }],
  },
  // No such card: what costs is the search for it.
  {
    plane: 'storefront',
    path: `/v1/tenants/${of.tenant}/gift-cards/balance`,
    bodies: [{ code: 'none' }],
    answers: [404],
  },
]

const listImports = ({ order_ids, variant_id, customer_ref }: Ids): Write[] => [
  {
    path: '/v1/merchant/fulfillments/bulk',
    bodies: [{ orders: order_ids.map((order_id) => ({ order_id, ship: true })) }],
  },
  { path: '/v1/my/privacy/export', bodies: [{ customer_ref }], answers: [202] },
  {
    path: '/v1/merchant/catalog/products',
    bodies: many((n) => ({ slug: `flood-${n}`, name: 'Flood', description: 'soap '.repeat(500) })),
    answers: [201, 409],
  },
  {
    path: '/v1/merchant/inventory/adjust-bulk',
    bodies: [{ adjustments: [{ variant_id, delta: 1 }], reason: 'A flood.' }],
  },
  {
    path: '/v1/merchant/gift-cards/batch',
    bodies: many(() => ({ count: 1_000, initial_balance_cents: 100 })),
  },
  {
    path: '/v1/merchant/marketing/consents/import',
    bodies: many((flood) => ({
      consents: Array.from({ length: 500 }, (_, n) => ({
        email: `reader-${flood}-${n}@flood.example`,
        given_at: '2025-11-03T08:00:00Z',
        text: 'Yes, send me offers by e-mail.',
      })),
    })),
  },
]

const many = (make: (n: number) => object) => Array.from({ length: DIFFERENT }, (_, n) => make(n))
