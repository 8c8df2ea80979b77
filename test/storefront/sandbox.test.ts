import assert from 'node:assert/strict'
import { test } from 'node:test'
import de from '../../storefront/translations/de.json' with { type: 'json' }
import en from '../../storefront/translations/en.json' with { type: 'json' }
import es from '../../storefront/translations/es.json' with { type: 'json' }
import fr from '../../storefront/translations/fr.json' with { type: 'json' }
import { eventually } from '../harness/eventually.ts'
import { openShopper } from '../harness/shopper.ts'
import { openTestShop } from '../harness/storefront.ts'

test('every page of a sandbox store says that it is one, in the language of the store', async (t) => {
  const shop = await openTestShop(t)
  const merchant = await shop.merchant('demo')
  const shopper = () => openShopper(shop.url, 'demo.localhost')
  const before = (await shopper().get('/')).text
  assert.doesNotMatch(before, /sandbox-bar/)
  assert.doesNotMatch(before, /noindex/)
  const made = await shop.operator.put('/v1/stores/demo/sandbox', { sandbox: true })
  assert.equal(made.status, 200, made.text)
  const { active } = (await merchant.get('/v1/my/site')).body
  for (const [language, texts] of Object.entries({ de, en, es, fr })) {
    const manifest = { ...active.manifest, store: { ...active.manifest.store, language } }
    assert.equal((await merchant.put('/v1/my/store/manifest', { manifest })).status, 200)
    for (const path of ['/', '/products', '/cart', '/nowhere']) {
      // The storefront asks for a new version after a second.
      await eventually(async () => {
        const { text } = await shopper().get(path)
        assert.ok(text.includes(texts.sandboxNote), `${language} ${path}`)
        assert.match(text, /<aside class="sandbox-bar"/)
        assert.match(text, /noindex/, 'no search engine keeps it')
      })
    }
  }
  await shop.operator.put('/v1/stores/demo/sandbox', { sandbox: false })
  await eventually(async () => assert.doesNotMatch((await shopper().get('/')).text, /sandbox-bar/))
})

test('the public answer of a store says that it is a sandbox, under an ETag of its own', async (t) => {
  const shop = await openTestShop(t)
  const read = () => shop.anyone.get('/v1/resolve?tenant=demo')
  const before = await read()
  assert.equal('sandbox' in before.body, false)
  await shop.operator.put('/v1/stores/demo/sandbox', { sandbox: true })
  const after = await read()
  assert.equal(after.body.sandbox, true)
  assert.notEqual(after.headers.etag, before.headers.etag)
})
