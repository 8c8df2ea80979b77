import assert from 'node:assert/strict'
import { gunzipSync } from 'node:zlib'
import type pg from 'pg'
import { ProductFragments } from '../../../src/modules/catalog/product-fragments.ts'
import type { FeedDeps } from '../../../src/modules/feeds/service.ts'
import { publicStock } from '../../../src/modules/inventory/service.ts'
import type { Answer, Caller, TestApp } from '../../harness/app.ts'
import { addProducts } from '../../harness/products.ts'
import { addSample, type SampleProduct, uploadDrawing } from '../../harness/sample-products.ts'

export const google = (tenant: string) => `/v1/tenants/${tenant}/feeds/google.tsv`
export const openai = (tenant: string) => `/v1/tenants/${tenant}/feeds/openai.jsonl.gz`

export type Row = Record<string, string>

const unquoted = (cell: string) =>
  cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell

/** Reads a table with tabs, and fails where a line has more or fewer cells than the first. */
export function parseTsv(text: string): Row[] {
  assert.ok(text.endsWith('\n'))
  const [head = '', ...lines] = text.slice(0, -1).split('\n')
  const names = head.split('\t')
  return lines.map((line) => {
    const cells = line.split('\t').map(unquoted)
    assert.equal(cells.length, names.length, line)
    return Object.fromEntries(names.map((name, at) => [name, cells[at] ?? '']))
  })
}

/** Reads gzipped lines of JSON. */
export function parseLines(bytes: Buffer): Record<string, unknown>[] {
  const text = gunzipSync(bytes).toString()
  assert.ok(text === '' || text.endsWith('\n'))
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
}

export function rowsOf(answer: Answer): Row[] {
  assert.equal(answer.status, 200, answer.text)
  return parseTsv(answer.text)
}

/** A live store whose manifest says what feeds repeat. */
export async function openShop(app: TestApp, tenant: string, manifest: object = {}) {
  const merchant = await app.merchant(tenant)
  const saved = await merchant.put('/v1/my/store/manifest', {
    manifest: { brand: { name: `Shop ${tenant}` }, ...manifest },
  })
  assert.equal(saved.status, 200, saved.text)
  const live = await app.operator.put(`/v1/stores/${tenant}/status`, { status: 'live' })
  assert.equal(live.status, 200, live.text)
  return merchant
}

/** Sets the description of a product. */
export const describeProduct = (merchant: Caller, id: string, description: string) =>
  merchant.patch(`/v1/merchant/catalog/products/${id}`, { description })

/** Many small products with a variant and an image each, written without triggers. */
export async function addManyProducts(superuser: pg.Client, tenant: string, count: number) {
  await addProducts(superuser, tenant, count)
  await superuser.query('begin')
  await superuser.query('set local session_replication_role = replica')
  await superuser.query(
    `insert into product_images (tenant_ref, product_id, asset_ref, position)
     select tenant_ref, id, 'asset:' || tenant_ref || '/' || repeat('a', 64) || '.png', 1
       from products where tenant_ref = $1`,
    [tenant],
  )
  await superuser.query('commit')
  await superuser.query('analyze product_images')
}

const FRAGMENT_BYTES = 8 * 1_024 * 1_024

/** The deps with which the routes open a feed, for tests that read its parts one by one. */
export const depsOf = ({ runtime: { database, cache, scanner } }: TestApp): FeedDeps => ({
  database,
  cache,
  scanner,
  fragments: new ProductFragments(FRAGMENT_BYTES, publicStock),
  assetBase: () => null,
  storefrontUrl: () => 'https://shop.example',
})

const MANIFEST = {
  store: { country: 'DE' },
  behavior: {
    shipping: {
      flat_rate_cents: 490,
      expedited_rate_cents: 990,
      max_cents: 990,
      free_shipping_threshold_cents: 5_000,
      countries: ['DE', 'AT'],
    },
    returns: { windowDays: 30 },
  },
  pages: [
    { slug: 'privacy', title: 'Privacy' },
    { slug: 'agb', title: 'AGB', kind: 'terms' },
    { slug: 'withdrawal', title: 'Returns' },
  ],
}

export const VASE: SampleProduct = {
  slug: 'vase',
  name: 'Moon vase',
  description: 'Thrown by hand.',
  variants: [{ sku: 'VASE', price_cents: 4_800 }],
}

let stores = 0

/** A live store with one product, which has an image. */
export async function openOne(
  app: TestApp,
  sample: SampleProduct = VASE,
  manifest: object = MANIFEST,
) {
  stores += 1
  const tenant = `feed-${stores}`
  const merchant = await openShop(app, tenant, manifest)
  const image = await uploadDrawing(merchant, [300, 300], 40)
  const added = await addSample(merchant, { ...sample, images: sample.images ?? [image] })
  return { tenant, merchant, image, ...added }
}

/** The first item of a feed. */
export const one = <T>(items: readonly T[]): T => {
  assert.equal(items.length, 1)
  return items[0] as T
}

export const readGoogle = async ({ anyone }: TestApp, tenant: string) =>
  rowsOf(await anyone.get(google(tenant)))
export const readOpenai = async ({ anyone }: TestApp, tenant: string) =>
  parseLines((await anyone.get(openai(tenant))).bytes)
