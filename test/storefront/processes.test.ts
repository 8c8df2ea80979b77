import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { STOREFRONT_TOKEN } from '../harness/app.ts'
import { until } from '../harness/eventually.ts'
import { installedFolder } from '../harness/installed-folder.ts'
import { startProcess } from '../harness/process.ts'
import { openShopper } from '../harness/shopper.ts'
import { openTestShop } from '../harness/storefront.ts'
import { withCart } from './setup.ts'

test('a process with the role storefront needs only an address and a token', async (t) => {
  const shop = await openTestShop(t)
  const env = { STOREFRONT_API_URL: shop.url, STOREFRONT_TOKEN, NODE_ENV: 'production' }
  const alone = await startProcess(t, {
    role: 'storefront',
    env: { ...env, STOREFRONT_ZONE: 'shops.example' },
  })
  const { url } = await alone.ready()
  const shopper = openShopper(url, 'demo.shops.example')
  const { status, text } = await shopper.get('/products/fern-teapot')
  assert.equal(status, 200)
  // The platform answers on another host, so the storefront passes images on.
  const [, image = ''] = /src="(\/stores\/demo\/assets\/[^"]+)"/.exec(text) ?? []
  const answer = await shopper.get(image)
  assert.deepEqual([answer.status, answer.headers['content-type']], [200, 'image/webp'])
  assert.equal((await shopper.get('/v1/tenants/demo/site')).status, 404)
  const [, variant = ''] = /name="variant" value="([^"]+)"/.exec(text) ?? []
  assert.match((await shopper.follow('/cart/add', { variant })).text, /Check out/)
  const added = await shopper.post('/cart/add', { variant })
  assert.match(String(added.headers['set-cookie']), /^__Host-fd_cart=.*; Path=\/; .*; Secure$/)
  alone.kill('SIGTERM')
  assert.equal((await alone.exit).code, 0)
  assert.ok(!alone.output().includes(STOREFRONT_TOKEN))
})

test('a process with the role storefront tells the platform for which shopper it reads, and no browser can', async (t) => {
  const shop = await openTestShop(t)
  const reads: { url: string; token: unknown; shopper: unknown }[] = []
  shop.app.server.on('request', ({ url = '', headers }: IncomingMessage) => {
    const { 'x-storefront-token': token, 'x-fairdock-shopper': shopper } = headers
    if (url.startsWith('/v1/')) reads.push({ url, token, shopper })
  })
  const alone = await startProcess(t, {
    role: 'storefront',
    env: {
      STOREFRONT_API_URL: shop.url,
      STOREFRONT_TOKEN,
      STOREFRONT_ZONE: 'shops.example',
      TRUST_PROXY: '127.0.0.1',
    },
  })
  const { url } = await alone.ready()
  const browser = openShopper(url, 'demo.shops.example')
  for (const [path, ip] of [
    ['/products/fern-teapot', '203.0.113.7'],
    ['/search?q=mug', '2001:db8::9'],
  ] as const) {
    reads.length = 0
    const headers = { 'x-forwarded-for': ip, 'x-fairdock-shopper': '198.51.100.1' }
    assert.equal((await browser.get(path, headers)).status, 200)
    const told = reads.filter((each) => each.url.includes('/catalog/'))
    assert.ok(told.length > 0, path)
    for (const each of told) {
      assert.deepEqual([each.token, each.shopper], [STOREFRONT_TOKEN, ip], each.url)
    }
  }
})

test('a process with the role storefront says at its start which setting is missing', async (t) => {
  const bare = await startProcess(t, { role: 'storefront', env: { NODE_ENV: 'production' } })
  assert.equal((await bare.exit).code, 1)
  assert.match(bare.output(), /STOREFRONT_API_URL must be set/)
})

test('a process with all roles opens the demo stores by name', async (t) => {
  const whole = await startProcess(t, { dataDir: await installedFolder(t) })
  const { url } = await whole.ready()
  const shopper = openShopper(url, 'demo.localhost')
  await until('the store is open', async () => (await shopper.get('/')).status === 200)
  const platform = openShopper(url, 'localhost')
  assert.equal((await platform.get('/products')).status, 404)
  assert.match((await platform.get('/')).text, /Fairdock/)
  assert.match(whole.output(), /Demo stores +http:\/\/demo\.localhost:\d+/)
})

test('failed calls from the same address do not limit the storefront of the process', async (t) => {
  const shop = await openTestShop(t, ['demo'], { env: { RATE_LIMIT_FAILED_PER_MINUTE: '1' } })
  const preview = '/v1/tenants/demo/checkout/preview'
  const tokens = [
    '',
    STOREFRONT_TOKEN.slice(0, -1),
    ...Array.from({ length: 20 }, (_, n) => `${n}`),
  ]
  for (const token of tokens) {
    await shop.as({ 'x-storefront-token': token }).post(preview, {})
    await shop.as({ authorization: `Bearer ${token}` }).get('/v1/merchant/orders')
  }
  // Every other caller at this address has reached the limit.
  assert.equal((await shop.storefront.post(preview, {})).status, 429)
  const shopper = await withCart(shop, 'fern-teapot')
  for (const path of ['/cart', '/checkout']) assert.equal((await shopper.get(path)).status, 200)
})
