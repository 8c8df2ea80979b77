import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { installedFolder } from './harness/installed-folder.ts'
import { startProcess } from './harness/process.ts'
import { openShopper } from './harness/shopper.ts'

const run = promisify(execFile)

/** What a reader pastes: the blocks of the chapter, in their order. */
async function readBlocks(): Promise<string[]> {
  const text = await readFile(new URL('../README.md', import.meta.url), 'utf8')
  const [, chapter = ''] = /\n## Five minutes with curl\n([\s\S]*?)\n## /.exec(text) ?? []
  return [...chapter.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block]) => block ?? '')
}

/** Everything of the stores that the reader did not create, as their merchants could change it. */
async function readOtherStores(url: string, dataDir: string) {
  const read = async (name: string) => JSON.parse(await readFile(join(dataDir, name), 'utf8'))
  const [{ OPERATOR_TOKEN }, { merchant_key }] = await Promise.all([
    read('secrets.json'),
    read('demo.json'),
  ])
  const get = async (path: string, headers: Record<string, string>) => {
    const answer = await fetch(url + path, { headers })
    assert.equal(answer.status, 200, path)
    return answer.json()
  }
  const asOperator = { 'x-operator-token': OPERATOR_TOKEN }
  const { stores } = (await get('/v1/stores', asOperator)) as { stores: { tenant_ref: string }[] }
  const others = stores.map(({ tenant_ref }) => tenant_ref).filter((ref) => ref !== 'acme')
  const sites = others.map(async (ref) => ({
    site: await get(`/v1/tenants/${ref}/site`, {}),
    audit: await get(`/v1/audit?tenant_ref=${ref}`, asOperator),
    products: await get(`/v1/tenants/${ref}/catalog/products`, {}),
  }))
  const asMerchant = { authorization: `Bearer ${merchant_key}` }
  const credentials = (await get('/v1/my/credentials', asMerchant)) as {
    credentials: { last_used_at?: unknown }[]
  }
  for (const each of credentials.credentials) delete each.last_used_at
  return { others, sites: await Promise.all(sites), credentials }
}

test('the blocks of the README run as they are, and leave the demo stores as they were', async (t) => {
  const dataDir = await installedFolder(t)
  const serving = await startProcess(t, { dataDir })
  const { url } = await serving.ready()
  const before = await readOtherStores(url, dataDir)
  assert.deepEqual(before.others, ['demo'])
  const blocks = await readBlocks()
  assert.ok(blocks.length > 10)
  const script = blocks
    .join("\necho '--'\n")
    .replaceAll('http://127.0.0.1:8080', url)
    .replaceAll('.data/', `${dataDir}/`)
  const { stdout, stderr } = await run('bash', ['-euo', 'pipefail', '-c', script])
  assert.equal(stderr, '')
  assert.deepEqual(await readOtherStores(url, dataDir), before)

  const [, site, store, key, add, publish, claims, escalation, ...rest] = stdout.split('--\n')
  assert.match(site ?? '', /^\{\n {2}"[\s\S]*\n\}\n304\n$/, 'formatted, and then not modified')
  assert.match(store ?? '', /"tenant_ref": "acme"/)
  assert.match(key ?? '', /"products_created": 13/)
  assert.match(add ?? '', /"features": \[/)
  assert.match(publish ?? '', /"version": 1/)
  assert.match(claims ?? '', /"findings": \[/)
  assert.match(escalation ?? '', /"code": "scope_escalation"/)
  const [audit, live, search, order, refund] = rest
  assert.match(audit ?? '', /"actor": /)
  assert.match(live ?? '', /"status": "live"[\s\S]*"Open on Friday"/)
  assert.match(search ?? '', /harbour-mug/)
  assert.match(order ?? '', /"status": "placed"/)
  assert.match(refund ?? '', /"amount_cents": 400[\s\S]*"events": \[/)
  assert.doesNotMatch(rest.join(''), /"error":/)
  const shop = await openShopper(url, 'acme.localhost').get('/')
  assert.match(shop.text, /Open on Friday[\s\S]*href="\/products\/harbour-mug"/, 'no empty page')
})
