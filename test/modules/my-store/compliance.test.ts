import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Caller, openTestApp } from '../../harness/app.ts'
import { share } from '../../harness/scope.ts'

const URL = '/v1/my/compliance'

const shared = share((scope) => openTestApp(scope))
let stores = 0

async function open() {
  const app = shared.current
  const tenant = `lawful-${++stores}`
  const merchant = await app.merchant(tenant)
  return { app, tenant, merchant }
}

const publish = async (merchant: Caller, manifest: object) => {
  const saved = await merchant.put('/v1/my/store/manifest', { manifest })
  assert.equal(saved.status, 200, saved.text)
}

interface Item {
  code: string
  severity: string
  path: string
  message: string
}

const read = async (merchant: Caller) => {
  const { status, body, text } = await merchant.get(URL)
  assert.equal(status, 200, text)
  const items = body.items as Item[]
  return { body, items, codes: items.map(({ code }) => code) }
}

const page = (kind: string) => ({ slug: kind, kind, title: kind, body_markdown: 'As it must be.' })

const COMPLETE = {
  legal: { name: 'Harbour Ltd', address: '1 Quay\nPortland', email: 'law@shop.example' },
  behavior: {
    shipping: {
      mode: 'flat',
      flat_rate_cents: 500,
      expedited_rate_cents: 900,
      max_cents: 900,
      free_shipping_threshold_cents: null,
      countries: ['DE', 'FR'],
    },
    tax: { provider: 'flat_rate', rate_bps: 1_900 },
  },
  pages: ['privacy', 'imprint', 'withdrawal', 'terms', 'shipping'].map(page),
}

describe('what a store still has to do', () => {
  test('is to publish a site, before anything else', async () => {
    const { merchant } = await open()
    const { body, items } = await read(merchant)
    assert.deepEqual(
      [body.version, items[0]?.code, items[0]?.severity],
      [null, 'site_missing', 'critical'],
    )
  })

  test('is only to add a hostname once all texts are there', async () => {
    const { merchant, app, tenant } = await open()
    await publish(merchant, COMPLETE)
    const { body, codes } = await read(merchant)
    assert.deepEqual(codes, ['domain_missing'])
    assert.deepEqual(body.counts, { critical: 0, warning: 0, info: 1 })
    const claimed = await merchant.post('/v1/merchant/domains', {
      hostname: `${tenant}.example.com`,
    })
    const { id } = claimed.body.domain
    await app.operator.post(`/v1/stores/${tenant}/domains/${id}/activate`)
    assert.deepEqual((await read(merchant)).items, [])
  })

  test('names each missing part and where to add it, the worst first', async () => {
    const { merchant } = await open()
    await publish(merchant, { behavior: {} })
    const { items, codes, body } = await read(merchant)
    const expected = [
      'contact_missing',
      'countries_missing',
      'domain_missing',
      'imprint_missing',
      'privacy_missing',
      'seller_missing',
      'shipping_info_missing',
      'shipping_missing',
      'tax_missing',
      'terms_missing',
      'withdrawal_missing',
    ]
    assert.deepEqual(codes.toSorted(), expected)
    const ranks = items.map(({ severity }) => ['critical', 'warning', 'info'].indexOf(severity))
    assert.deepEqual(ranks, ranks.toSorted())
    assert.equal(body.counts.critical + body.counts.warning + body.counts.info, items.length)
    for (const { path, message } of items)
      assert.ok(path.startsWith('/') && message.endsWith('.'), message)
  })

  test('follows the countries that the store sells to', async () => {
    const { merchant } = await open()
    const to = async (countries: string[]) => {
      const shipping = { ...COMPLETE.behavior.shipping, countries }
      const pages = ['privacy', 'terms', 'shipping'].map(page)
      await publish(merchant, { ...COMPLETE, pages, behavior: { ...COMPLETE.behavior, shipping } })
      const { items } = await read(merchant)
      return items
        .filter(({ code }) => code !== 'domain_missing')
        .map(({ code, severity }) => [code, severity])
    }
    assert.deepEqual(await to(['US']), [])
    assert.deepEqual(await to(['US', 'FR']), [['withdrawal_missing', 'critical']])
    assert.deepEqual(await to(['DE']), [
      ['imprint_missing', 'critical'],
      ['withdrawal_missing', 'critical'],
    ])
  })

  test('counts a page without a text as missing', async () => {
    const { merchant } = await open()
    const pages = COMPLETE.pages.map((each) =>
      each.kind === 'privacy' ? { ...each, body_markdown: ' ' } : each,
    )
    await publish(merchant, { ...COMPLETE, pages })
    assert.ok((await read(merchant)).codes.includes('privacy_missing'))
  })

  test('lists the health claims of the products for sale, each with its product', async () => {
    const { merchant } = await open()
    await publish(merchant, COMPLETE)
    const products = '/v1/merchant/catalog/products'
    const made = await merchant.post(products, {
      slug: 'tonic',
      name: 'Tonic',
      description: 'It cures diabetes.',
    })
    assert.equal(made.status, 201, made.text)
    const { items, body } = await read(merchant)
    const found = items.filter(({ code }) => code === 'product_claim_found')
    assert.deepEqual(
      found.map(({ severity, path }) => [severity, path]),
      [['critical', `${products}/${made.body.product.id}`]],
    )
    assert.deepEqual([body.products_checked, body.products_total], [1, 1])
    const other = await open()
    await publish(other.merchant, COMPLETE)
    assert.ok(!(await other.merchant.get(URL)).text.includes('tonic'))
  })

  test('is shown to a key that reads the store, and to no other', async () => {
    const { app, tenant } = await open()
    assert.equal((await (await app.merchant(tenant, 'read:own_store')).get(URL)).status, 200)
    const refused = await (await app.merchant(tenant, 'manage:own_orders')).get(URL)
    assert.deepEqual([refused.status, refused.body.error.code], [403, 'forbidden'])
  })

  test('includes the statement of a store that sells research products, while its add-on is on', async () => {
    const { app, merchant, tenant } = await open()
    await publish(merchant, COMPLETE)
    const gate = `/v1/entitlements/tenants/${tenant}/features/funnel_gate`
    await app.operator.put(gate, { state: 'allow' })
    assert.ok((await read(merchant)).codes.includes('statement_missing'))
    const funnelGate = { enabled: true, statementVersion: 'v1' }
    await publish(merchant, { ...COMPLETE, behavior: { ...COMPLETE.behavior, funnelGate } })
    assert.ok(!(await read(merchant)).codes.includes('statement_missing'))
  })
})
