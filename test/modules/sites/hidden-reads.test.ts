import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openTestApp, type TestApp } from '../../harness/app.ts'
import { assertEvenTimes } from '../../harness/even-times.ts'
import { essence } from '../../harness/refusals.ts'
import { share } from '../../harness/scope.ts'
import { plain } from '../media/sample-images.ts'
import { openLiveStore, setStatus, siteUrl } from './setup.ts'

const ID = '00000000-0000-4000-8000-000000000000'

/** The reads of a store by its name that need no credential. */
const READS = [
  'site',
  'catalog/products',
  'catalog/products?limit=5&after=',
  'catalog/products/mug',
  `catalog/products?variants=${ID}`,
  'catalog/products?related_to=mug',
  'catalog/collections',
  'catalog/collections/mugs',
  'catalog/collections/mugs?limit=5&after=',
  'catalog/sitemap',
  'catalog/search?q=mug',
  'catalog/search?collection=mugs',
  'catalog/suggestions?q=mug',
  'feeds/google.tsv',
  'feeds/openai.jsonl.gz',
]

const pathOf = (tenant: string, read: string) => `/v1/tenants/${tenant}/${read}`

const shared = share((scope) =>
  // So many connections that no store waits for its share of them: a wait would be longer than an answer.
  openTestApp(scope, { env: { DATABASE_POOL_MAX: '100' } }),
)

/** A store with a product in a collection, which the public may not see any more. */
async function openClosed(app: TestApp, tenant: string, status: string) {
  const merchant = await openLiveStore(app, tenant)
  await merchant.post('/v1/merchant/catalog/demo-seed')
  await setStatus(app, tenant, status)
  return merchant
}

describe('anonymous reads of a store that the public may not see', () => {
  test('answer and take as long as for an unknown store name', async (t) => {
    const app = shared.current
    await openClosed(app, 'was-live', 'suspended')
    await openClosed(app, 'is-draft', 'draft')
    const names = ['was-live', 'is-draft', 'never-was']
    for (const read of READS) {
      await t.test(read, async () => {
        const answers = await Promise.all(names.map((name) => app.anyone.get(pathOf(name, read))))
        const [first] = answers
        assert.equal(first?.status, 404)
        for (const each of answers) assert.deepEqual(essence(each), essence(first))
        const calls = names.map((name) => () => app.anyone.get(pathOf(name, read)))
        await assertEvenTimes(calls, { samples: 40 })
      })
    }
  })

  test('wait together with unknown store names, whichever read comes first after the suspension', async (t) => {
    const app = shared.current
    const { database } = app.runtime
    for (const [n, read] of READS.entries()) {
      await t.test(read, async () => {
        const tenant = `open-${n}`
        await openLiveStore(app, tenant)
        await app.anyone.get(siteUrl(tenant))
        assert.ok(database.isKnown(tenant), 'while it is live')
        await setStatus(app, tenant, 'suspended')
        assert.equal((await app.anyone.get(pathOf(tenant, read))).status, 404)
        assert.ok(!database.isKnown(tenant))
      })
    }
  })

  test('wait together with unknown store names, though a draft shows its images', async () => {
    const app = shared.current
    const merchant = await app.merchant('pictured')
    const data_base64 = (await plain('png')).toString('base64')
    const { body } = await merchant.post('/v1/merchant/media', {
      content_type: 'image/png',
      data_base64,
    })
    const { pathname } = new URL(body.asset.url)
    assert.equal((await app.anyone.get(pathname)).status, 200)
    assert.ok(!app.runtime.database.isKnown('pictured'))
  })
})
