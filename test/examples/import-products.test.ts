import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Caller, openTestApp, type TestApp } from '../harness/app.ts'
import { suiteScope } from '../harness/scope.ts'
import { createProduct, createVariant, PRODUCTS } from '../modules/catalog/setup.ts'

const FOLDER = fileURLToPath(new URL('../../examples/import-products/', import.meta.url))
const EXPORT = `${PRODUCTS}/export.csv`

let app: TestApp

const scope = suiteScope()
before(async () => {
  app = await openTestApp(scope)
})

const run = promisify(execFile)

/** The Node that started npm, which may be as old as 20: the examples of integrators run on it. */
const NODE = process.env.npm_node_execpath ?? process.execPath

/** Runs the program as its README says. */
async function importFile(tenant: string, ...args: string[]) {
  const env = { ...process.env, FAIRDOCK_URL: app.url, FAIRDOCK_KEY: await app.key(tenant) }
  const program = join(FOLDER, 'import-products.mjs')
  return run(NODE, [program, ...args], { env }).catch(
    (error: { stdout: string; stderr: string }) => error,
  )
}

const SAMPLE = join(FOLDER, 'products.csv')

describe('the example that imports products', () => {
  test('creates them with their variants once, and changes nothing in a second run', async () => {
    const merchant = await app.merchant('importer')
    const dry = await importFile('importer', SAMPLE, '--dry-run')
    assert.equal(dry.stdout, 'Would be: 7 created, 0 updated, 0 unchanged, 0 skipped\n', dry.stderr)
    assert.equal((await merchant.get(PRODUCTS)).body.total, 0)
    const first = await importFile('importer', SAMPLE)
    assert.equal(first.stdout, '7 created, 0 updated, 0 unchanged, 0 skipped\n', first.stderr)
    const read = async () => (await merchant.get(PRODUCTS)).body.products
    const products = await read()
    const shirt = products.find(({ slug }: { slug: string }) => slug === 'linen-shirt')
    assert.equal(shirt.description, 'Washed linen, cut straight.\nMade to last.')
    assert.deepEqual(shirt.option_names, ['Size', 'Colour'])
    assert.deepEqual(
      shirt.variants.map((each: Record<string, unknown>) => [
        each.sku,
        each.compare_at_price_cents,
      ]),
      [
        ['LINEN-S-SAND', 7_900],
        ['LINEN-M-SAND', 7_900],
        ['LINEN-M-BLUE', null],
      ],
    )
    const again = await importFile('importer', SAMPLE)
    assert.equal(again.stdout, '0 created, 0 updated, 7 unchanged, 0 skipped\n', again.stderr)
    assert.deepEqual(await read(), products)
    await merchant.patch(`${PRODUCTS}/${shirt.id}`, { name: 'Another' })
    const third = await importFile('importer', SAMPLE)
    assert.equal(third.stdout, '0 created, 1 updated, 6 unchanged, 0 skipped\n', third.stderr)
  })

  test('stops at a refusal, and says what is wrong', async () => {
    const file = join(tmpdir(), `fairdock-import-${process.pid}.csv`)
    await writeFile(file, 'slug,name,sku,price_cents\nA B,Name,S,1\n')
    const refused = await importFile('refused', file)
    assert.equal(refused.stdout, '')
    assert.match(refused.stderr, /invalid_body.*\nslug must be lower-case letters/)
  })
})

describe('the export of products', () => {
  const csvOf = async (merchant: Caller, query = '') => {
    const answer = await merchant.get(`${EXPORT}${query}`)
    assert.equal(answer.status, 200, answer.text)
    assert.match(answer.headers['content-type'] ?? '', /^text\/csv/)
    return answer.text
  }

  test('is imported into another store as the same catalog', async () => {
    const source = await app.merchant('source')
    await importFile('source', SAMPLE)
    const odd = await createProduct(source, 'odd', { name: '=1+1', description: 'a "b",\nc' })
    await createVariant(source, odd.id, {
      sku: '-5',
      label: '@x',
      price_cents: 0,
      position: 7,
      content_amount: 750,
      content_unit: 'ml',
    })
    await createProduct(source, 'club', { subscription_interval: 'month' })
    const text = await csvOf(source)
    assert.ok(text.includes(`"'=1+1"`) && text.includes(`"'-5"`) && text.includes(`"'@x"`))
    const file = join(tmpdir(), `fairdock-export-${process.pid}.csv`)
    await writeFile(file, text)
    const target = await app.merchant('target')
    const imported = await importFile('target', file)
    assert.match(imported.stdout, /^10 created, 0 updated/, imported.stderr)
    const essence = async (merchant: Caller) =>
      (await csvOf(merchant))
        .replaceAll(/"[\da-f]{8}-[\da-f-]{27}"/g, 'id')
        .split('\r\n')
        .toSorted()
    assert.deepEqual(await essence(target), await essence(source))
  })

  test('has every living variant once over many pages, and filters by status', async () => {
    const merchant = await app.merchant('many')
    const admin = await app.database.openAdmin()
    await admin.query(
      `with made as (insert into products (tenant_ref, slug, name, status)
                     select 'many', 'p-' || n, 'P', case when n <= 3 then 'draft' else 'active' end
                       from generate_series(1, 450) n returning id, slug)
       insert into variants (tenant_ref, product_id, sku, price_cents, currency, archived_at)
       select 'many', id, slug, 1, 'USD', case slug when 'p-450' then now() end from made`,
    )
    const lines = (await csvOf(merchant)).trim().split('\r\n')
    assert.equal(lines.length, 451)
    assert.equal(new Set(lines).size, 451)
    assert.equal((await csvOf(merchant, '?status=draft')).trim().split('\r\n').length, 4)
    const other = await app.merchant('globex')
    assert.equal((await csvOf(other)).trim().split('\r\n').length, 1)
  })
})
