import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { buildApp } from '../src/compose/app.ts'
import { seedDemo } from '../src/demo.ts'
import { writeDemo } from '../src/demo-file.ts'
import { queueMails } from '../src/modules/shopper-mail/service.ts'
import { numberNewEvents } from '../src/modules/webhooks/jobs.ts'
import { openTestApp } from './harness/app.ts'
import { addSample, uploadDrawing } from './harness/sample-products.ts'
import { share } from './harness/scope.ts'
import { openShop } from './modules/checkout/setup.ts'
import { buy } from './modules/shopper-mail/setup.ts'

const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

/** The platform as `npm start` serves it, or as production does. */
async function open(t: TestContext, production: boolean) {
  const tested = await openTestApp(t)
  const config = { ...tested.runtime.config, production }
  const app = await buildApp({ ...tested.runtime, config }, { hasStorefront: true })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  t.after(() => app.close())
  const read = async (path: string, headers: Record<string, string> = BROWSER) => {
    const answer = await fetch(url + path, { headers })
    return { status: answer.status, headers: answer.headers, text: await answer.text() }
  }
  const openStore = async (tenant_ref: string, display_name: string) => {
    await tested.operator.post('/v1/stores', {
      tenant_ref,
      display_name,
      owner_email: 'o@x.example',
    })
    return goLive(tenant_ref, display_name)
  }
  const goLive = async (tenant_ref: string, display_name: string) => {
    const site = { manifest: { brand: { name: display_name } } }
    await tested.operator.put(`/v1/stores/${tenant_ref}/manifest`, site)
    return tested.operator.put(`/v1/stores/${tenant_ref}/status`, {
      status: 'live',
      reason: 'test',
    })
  }
  return { tested, read, openStore, goLive, port: new URL(url).port }
}

const developing = share((scope) => open(scope, false))
const producing = share((scope) => open(scope, true))

describe('the address that a start prints', () => {
  test('shows a person the live stores with their images, the documents, the keys and the mails', async () => {
    const { tested, read, openStore, goLive, port } = developing.current
    await openStore('acme', 'Acme <script>alert(1)</script>')
    const merchant = await tested.merchant('vases')
    const images = [await uploadDrawing(merchant, [800, 1_000], 200)]
    const variants = [{ sku: 'VASE', price_cents: 4_000 }]
    await addSample(merchant, { slug: 'vase', name: 'Vase', images, variants })
    await goLive('vases', 'Vases')
    const { status, headers, text } = await read('/')
    assert.equal(status, 200)
    assert.match(headers.get('content-type') ?? '', /^text\/html/)
    assert.match(text, new RegExp(`href="http://acme\\.localhost:${port}/"`))
    assert.match(text, /Acme &lt;script&gt;/)
    const [, src = ''] = /vases\.localhost:\d+\/"><img src="([^"]+)" alt="">/.exec(text) ?? []
    const cover = await read(src)
    assert.deepEqual([cover.status, cover.headers.get('content-type')], [200, 'image/jpeg'])
    for (const part of ['href="/docs"', 'href="/dev/mail"', 'demo.json', 'Ctrl']) {
      assert.ok(text.includes(part), part)
    }
  })

  test('shows a gift card of the demo store that can be spent there, the same at each start', async (t) => {
    const { tested, read } = await open(t, false)
    const demo = await seedDemo(tested.runtime)
    const { code = '', balance } = demo?.gift_card ?? {}
    assert.match(code, /^[0-9A-Z]{4}(-[0-9A-Z]{4}){3}$/)
    assert.equal(balance, '$50.00')
    assert.deepEqual(await seedDemo(tested.runtime), demo)
    const { text } = await read('/')
    assert.ok(text.includes(code))
    assert.match(text, /<a href="\/dev\/store-credit">give yourself \$15\.00<\/a>/)
    const check = { code }
    const { status, body } = await tested.storefront.post(
      '/v1/tenants/demo/gift-cards/balance',
      check,
    )
    assert.deepEqual(
      [status, body.gift_card.balance_cents, body.gift_card.currency],
      [200, 5_000, 'USD'],
    )
  })

  test('answers a program in JSON', async () => {
    const { read } = developing.current
    for (const accept of ['application/json', '*/*']) {
      const { text, headers } = await read('/', { accept })
      assert.equal(JSON.parse(text).docs, '/docs')
      assert.equal(headers.get('vary'), 'accept')
    }
  })

  test('shows strangers in production no store, no mail and no gift card', async () => {
    const { tested, read, openStore } = producing.current
    const gift_card = { code: 'YCZ5-Y7DH-3TN3-SGKC', balance: '$50.00' }
    const owner = { email: 'o@x.example', password: 'secret' }
    await writeDemo(tested.runtime.config, {
      tenant_ref: 'demo',
      owner,
      merchant_key: 'k',
      gift_card,
    })
    await openStore('acme', 'Acme')
    const { text } = await read('/')
    assert.match(text, /href="\/docs"/)
    assert.ok(!text.includes(gift_card.code))
    assert.doesNotMatch(text, /acme|demo\.json|mail/i)
    for (const path of ['/dev/mail', '/dev/store-credit']) {
      assert.equal((await read(path)).status, 404)
    }
  })
})

describe('the mails of a development machine', () => {
  test('are shown newest first, with links that can be opened', async (t) => {
    const { tested, read } = await open(t, false)
    assert.match((await read('/dev/mail')).text, /No mail yet/)
    const ann = { email: 'ann@acme.example', password: 'correct horse', name: 'Ann' }
    await tested.anyone.post('/v1/identity/signup', ann)
    await tested.anyone.post('/v1/identity/password/forgot', { email: ann.email })
    const { text } = await read('/dev/mail')
    assert.match(
      text,
      /<dd>ann@acme\.example<\/dd>.*<dd>none: of the platform<\/dd>.*<dd>not sent<\/dd>/,
    )
    const [, link = ''] =
      /<a href="(http[^"]*\/account\/password\/new\?token=[\w-]+)">/.exec(text) ?? []
    const page = await fetch(link)
    assert.match(await page.text(), /Choose a new password/)
  })
  test('to shoppers are shown in a sandboxed frame that runs no script, and as text', async () => {
    const { tested, read } = developing.current
    const shop = await openShop(tested, 'mailing', [1_000], { brand: { name: 'A <script>' } })
    const { order } = await buy(tested, shop)
    const database = tested.runtime.workerDatabase
    while ((await numberNewEvents(database, { onNumbered: queueMails })) > 0);
    const { text, headers } = await read('/dev/mail')
    assert.match(text, /<dd>ann@example\.com<\/dd>.*<code>mailing<\/code>.*order_placed, queued/)
    assert.match(text, new RegExp(`Order #${order.order_number} confirmed – A &lt;script&gt;`))
    assert.match(text, /<a href="http:\/\/mailing\.localhost:\d+\/orders\/link\/[\w-]+">/)
    assert.match(headers.get('content-security-policy') ?? '', /frame-src 'self'/)
    const [, sandbox, src = ''] =
      /<iframe sandbox="([^"]*)" loading="lazy" src="([^"]+)"/.exec(text) ?? []
    assert.doesNotMatch(sandbox ?? 'allow-scripts', /allow-(scripts|same-origin)/)
    const framed = await read(src)
    assert.match(
      framed.headers.get('content-security-policy') ?? '',
      /^default-src 'none'; .*sandbox/,
    )
    assert.ok(framed.text.includes('A &lt;script&gt;') && !framed.text.includes('A <script>'))
    assert.equal((await read('/dev/mail/nonsense')).status, 404)
  })

  test('the mails of a newsletter are shown as HTML and text on a development machine, with their store', async () => {
    const { tested, read } = developing.current
    await openShop(tested, 'lettering', [1_000], { brand: { name: 'Letters' } })
    const url = '/v1/tenants/lettering/newsletter'
    await tested.storefront.post(url, { email: 'reader@example.com', source: 'footer' })
    const { text } = await read('/dev/mail')
    const [mail = ''] = text
      .split('<article>')
      .filter((each) => each.includes('reader@example.com'))
    assert.match(mail, /<code>lettering<\/code>/)
    assert.match(mail, /<summary>Text<\/summary><pre>[^<]*Letters/)
    const framed = await read(/<iframe[^>]* src="([^"]+)"/.exec(mail)?.[1] ?? '')
    assert.match(framed.text, />Letters<[\s\S]*\/v1\/newsletter\//)
  })

  test('to shoppers are not shown in production', async () => {
    const { read } = producing.current
    assert.equal((await read('/dev/mail/00000000-0000-4000-8000-000000000000')).status, 404)
  })
})
