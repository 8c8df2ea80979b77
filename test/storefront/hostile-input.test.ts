import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { before, describe, test } from 'node:test'
import { createLogger } from '../../src/platform/log.ts'
import { memoize } from '../../storefront/memo.ts'
import { suiteScope } from '../harness/scope.ts'
import { openShopper } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import * as setup from './setup.ts'

let shop: TestShop

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope)
})

const demo = () => openShopper(shop.url, 'demo.localhost')

/** Sends a request that no browser would send, and reads the whole answer. */
function raw(target: string, headers: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(shop.url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    let text = ''
    socket.setEncoding('utf8').on('data', (part) => {
      text += part
    })
    socket.on('end', () => resolve(text)).on('error', reject)
    const lines = [`GET ${target} HTTP/1.1`, ...headers, 'connection: close', '', '']
    socket.write(lines.join('\r\n'))
  })
}

let sites = 0

/** A live store with this manifest. */
async function publish(manifest: object) {
  sites += 1
  const tenant = `hostile-${sites}`
  const owner = await shop.merchant(tenant)
  const saved = await owner.put('/v1/my/store/manifest', { manifest })
  assert.equal(saved.status, 200, saved.text)
  await shop.operator.put(`/v1/stores/${tenant}/status`, { status: 'live' })
  return { owner, ...openShopper(shop.url, `${tenant}.localhost`) }
}

describe('a hostile address', () => {
  test('never makes a page link to another host as if it were the store’s own', async () => {
    for (const target of ['/\\evil.example/', '/\\\\evil.example', '/\\@evil.example/']) {
      const answer = await raw(target, ['host: demo.localhost'])
      assert.doesNotMatch(answer, /https?:\/\/[^"]*evil\.example/, target)
    }
    for (const host of [
      'demo.localhost@evil.example',
      'evil.example#demo.localhost',
      'evil.example/demo.localhost',
      'demo.localhost:80@evil.example',
    ]) {
      const answer = await raw('/', [`host: ${host}`])
      assert.doesNotMatch(answer, /https?:\/\/[^"]*evil\.example|Harbour/, host)
    }
    const twice = await raw('/', ['host: demo.localhost', 'host: nobody.localhost'])
    assert.doesNotMatch(twice, /Harbour/)
  })

  test('is kept in memory as one page, whatever its spelling', async () => {
    const plain = await demo().get('/products/fern-teapot')
    for (const path of ['/products/fern-teapo%74', '/products/%66ern-teapot']) {
      const { status, text } = await demo().get(path)
      assert.deepEqual([status, text], [200, plain.text])
    }
    const from = {}
    for (const version of ['a', 'b', 'c'])
      assert.equal(
        memoize(from, 'x', () => version, version),
        version,
      )
    let made = 0
    const make = () => {
      made += 1
      return {}
    }
    const first = memoize(from, 'y', make, '1')
    assert.equal(memoize(from, 'y', make, '1'), first)
    assert.notEqual(memoize(from, 'y', make, '2'), first)
    // Only the newest version is kept, so that a merchant who publishes all day fills no memory.
    memoize(from, 'y', make, '1')
    assert.equal(made, 3)
  })

  test('reaches nothing of the platform except images', async () => {
    for (const path of ['/stores/demo', '/stores/demo/status', '/stores/..%2fv1/stores']) {
      const answer = await raw(path, ['host: demo.localhost'])
      assert.match(answer, /^HTTP\/1\.1 40[04]/, path)
    }
  })
})

describe('a hostile manifest', () => {
  test('cannot break the style sheet with an open quote', async () => {
    const { get } = await publish({
      theme: { type: { heading: "'Open", body: '"Open\', serif', weight: 700 } },
    })
    const [, sheet = ''] = /rel="stylesheet" href="([^"]+)"/.exec((await get('/')).text) ?? []
    const css = (await get(sheet)).text
    assert.ok(!css.includes('Open'))
    assert.match(css, /--head-weight:700/)
  })

  test('cannot make a page so long that it fills the memory', async () => {
    const { owner, get } = await publish({
      template: {
        id: 'h',
        sections: Array.from({ length: 200 }, () => ({
          type: 'rich-text',
          props: { body: '<'.repeat(3_000) },
        })),
      },
    })
    const { status, text } = await get('/')
    assert.equal(status, 200)
    assert.ok(text.length < 1_500_000, String(text.length))
    assert.match(text, /<\/html>\s*$/)
    const many = Array.from({ length: 200 }, () => ({
      type: 'announcement',
      props: { text: 'Hear' },
    }))
    const links = Array.from({ length: 5_000 }, () => ({ label: 'x', href: '/' }))
    await owner.put('/v1/my/store/manifest', {
      manifest: {
        template: { id: 'h', sections: [...many, { type: 'footer', props: { links } }] },
      },
    })
    const cart = await get('/cart')
    assert.ok((cart.text.match(/class="announcement"/g)?.length ?? 0) <= 3)
    assert.ok((cart.text.match(/>x</g)?.length ?? 0) <= 200)
  })

  test('cannot make a link to a script or, as a path, to another host', async () => {
    const hrefs = [
      'javascript:alert(1)',
      ' java\nscript:alert(1)',
      'JAVASCRIPT:alert(1)',
      'data:text/html,x',
      'vbscript:x',
      '//evil.example',
      '/\\evil.example',
      '\t//evil.example',
      '/\t/evil.example',
      '/\n\\evil.example',
    ]
    const sections = hrefs.flatMap((href) => [
      { type: 'hero', props: { heading: 'x', cta: { label: 'x', href } } },
      { type: 'announcement', props: { text: 'x', href } },
      { type: 'image', props: { imageRef: 'x', href } },
      { type: 'video', props: { url: href } },
      { type: 'newsletter', props: { heading: 'x', href } },
      { type: 'contact', props: { heading: 'x', email: href } },
    ])
    const { text } = await (await publish({ template: { id: 'h', sections } })).get('/')
    assert.doesNotMatch(text, /(?:href|src)="[^"]*(?:script:|data:|evil\.example)/i)
  })

  test('a hostile manifest with an invalid language or time zone still makes a page', async () => {
    for (const store of [
      { language: 'x'.repeat(5_000), timeZone: 'Mars/Phobos' },
      { language: 'de-u-nu-thai-ca-buddhist', timeZone: 'UTC' },
      { language: ['de'], timeZone: { a: 1 } },
    ]) {
      const { status } = await (await publish({ store })).get('/products')
      assert.equal(status, 200)
    }
  })
})

describe('a shopper', () => {
  test('never sees the cart of another shopper', async () => {
    const [one, many] = await Promise.all([
      setup.withCart(shop, 'cedar-candle', 1),
      setup.withCart(shop, 'cedar-candle', 42),
    ])
    for (const path of ['/', '/products/fern-teapot', '/products', '/search?q=candle']) {
      for (const [who, count] of [
        [many, 42],
        [one, 1],
        [demo(), 0],
        [many, 42],
      ] as const) {
        const { text, headers } = await who.get(path)
        assert.match(text, new RegExp(`class="cart-count" data-count="${count}"`), path)
        assert.match(String(headers['cache-control']), /^private/)
      }
    }
  })

  test('a shopper with forged cookies has an empty cart and no orders', async () => {
    const shopper = await setup.withCart(shop, 'cedar-candle', 2)
    const good = shopper.cookies.get('fd_cart') ?? ''
    const [payload = '', mac = ''] = good.split('.')
    const forged = Buffer.from(JSON.stringify(['A'.repeat(16), [[1, 2]], null, 0]))
    for (const value of [
      `${payload}.`,
      `.${mac}`,
      `${payload}=.${mac}`,
      `${payload}.${mac}A`,
      `${forged.toString('base64url')}.${mac}`,
      '%',
      'a.b',
      '__proto__.x',
    ]) {
      shopper.cookies.set('fd_cart', value)
      shopper.cookies.set('fd_shopper', value)
      const { status, text } = await shopper.get('/cart')
      assert.equal(status, 200, value)
      assert.match(text, /Your cart is empty/, value)
      assert.equal((await shopper.get('/orders')).status, 200)
    }
    // One cookie cannot be sent as another.
    shopper.cookies.set('fd_shopper', good)
    assert.match((await shopper.get('/orders')).text, /No orders have been placed/)
  })

  test('cannot add a variant to the cart that the store does not sell', async () => {
    const shopper = demo()
    const variant = '00000000-0000-4000-8000-000000000000'
    const bare = await shopper.follow('/cart/add', { variant })
    assert.match(bare.text, /role="alert">This product is not available\./)
    assert.match(bare.text, /class="cart-count" data-count="0"/)
    const added = await shopper.post('/cart/add', { variant }, { 'x-storefront-script': '1' })
    assert.match(added.text, /data-count="0"[\s\S]+This product is not available\./)
  })

  test('may paste any text: it is cut between characters, and no page fails', async () => {
    const shopper = await setup.withCart(shop, 'cedar-candle')
    const halved = `A${'😀'.repeat(100)}`
    for (const coupon of [halved, 'A\u0000B']) {
      await shopper.post('/cart', { coupon })
      const { status, text } = await shopper.get('/cart')
      assert.equal(status, 200)
      assert.match(text, /This code is not valid/)
    }
    for (const query of ['q=%00', 'q=a%00', 'q=a&collection=%00', `q=${halved}`]) {
      assert.equal((await shopper.get(`/search?${query}`)).status, 200, query)
    }
    await shopper.post('/cart', { coupon: '' })
    const key = (await shopper.get('/checkout')).field('key')
    const form = {
      ...setup.DETAILS,
      ...setup.GOOD_CARD,
      name: `A\u0000${halved}`,
      city: 'Y\u0000k',
      key,
    }
    const placed = await shopper.follow('/checkout', form)
    assert.match(placed.text, /Thank you for your order![\s\S]+A A😀+<\/bdi>/u)
  })

  test('is refused a form that is too large, and the next request on the connection is answered', async () => {
    const shopper = demo()
    for (const _ of [1, 2, 3]) {
      const { status } = await shopper.post('/cart', { coupon: 'x'.repeat(4_000_000) })
      assert.equal(status, 400)
      assert.equal((await shopper.get('/cart')).status, 200)
    }
  })

  test('a shopper of a preview does not leak its token to other pages or hosts', async () => {
    const merchant = await shop.merchant('demo')
    const { body } = await merchant.put('/v1/my/site/draft', { manifest: { brand: { name: 'D' } } })
    const wanted = { version: body.version }
    const { token } = (await merchant.post('/v1/my/site/preview-token', wanted)).body
    const { headers, text } = await demo().get(`/products?preview=${token}`)
    assert.ok(!text.includes(token))
    assert.equal(headers['referrer-policy'], 'same-origin')
    assert.equal(headers['cache-control'], 'no-store')
  })
})

test('a preview writes little to the log, however large its manifest is', async (t) => {
  const lines: string[] = []
  const logger = createLogger('info', { write: (line) => void lines.push(line) })
  const other = await openTestShop(t, [], { logger })
  const owner = await other.merchant('chatty')
  const sections = [
    { type: 'x'.repeat(1_900_000), props: {} },
    ...Array.from({ length: 1_000 }, (_, i) => ({ type: `odd-${i}`, props: {} })),
  ]
  const saved = await owner.put('/v1/my/site/draft', {
    manifest: { template: { id: 'x', sections } },
  })
  assert.equal(saved.status, 200, saved.text)
  const { version } = saved.body
  const { token } = (await owner.post('/v1/my/site/preview-token', { version })).body
  lines.length = 0
  const shopper = openShopper(other.url, 'chatty.localhost')
  for (let i = 0; i < 10; i += 1) {
    assert.equal((await shopper.get(`/?preview=${token}`)).status, 200)
  }
  const warnings = lines.filter((line) => line.includes('unknown type'))
  assert.equal(warnings.length, 1)
  const bytes = Buffer.byteLength(lines.join(''))
  assert.ok(bytes < 20_000, `${bytes} bytes`)
})
