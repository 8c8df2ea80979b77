import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type pg from 'pg'
import { openStorefrontUrl } from '../../../src/compose/storefront-url.ts'
import { FORMATS } from '../../../src/modules/feeds/formats.ts'
import * as feeds from '../../../src/modules/feeds/service.ts'
import { openTestApp, type TestApp } from '../../harness/app.ts'
import { suiteScope } from '../../harness/scope.ts'
import { openSuperuser } from '../../harness/superuser.ts'
import { stock } from '../checkout/setup.ts'
import { depsOf, google, one, openai, openOne, readGoogle, readOpenai, VASE } from './setup.ts'

let app: TestApp
let superuser: pg.Client

const scope = suiteScope()
before(async () => {
  app = await openTestApp(scope)
  superuser = await openSuperuser(scope, app.database)
})

describe('a feed', () => {
  const NASTY =
    'A\tB\nC\r\nD "quoted" </script><script>alert(1)</script> \u202Edesrever \u2066x\u2028y\u2029z\u0085 \u0007 עברית = +1 \u{1F3FA}'

  test('keeps one line for each item, whatever its texts contain', async () => {
    const { tenant, merchant, id, ids } = await openOne(app)
    await superuser.query('update products set name = $2, description = $3 where id = $1', [
      id,
      `"${NASTY}`,
      NASTY.repeat(100),
    ])
    await superuser.query('update variants set label = $2, options = $3 where id = $1', [
      ids.VASE,
      NASTY.slice(0, 60),
      JSON.stringify([{ name: 'Size\t\n', value: NASTY.slice(0, 40) }]),
    ])
    // Through the API, so that the caches hear of it.
    await merchant.patch(`/v1/merchant/catalog/products/${id}/variants/${ids.VASE}`, {
      price_cents: 4_801,
    })
    const row = one(await readGoogle(app, tenant))
    const item = one(await readOpenai(app, tenant))
    for (const text of [row.title, row.description, item.title, item.description, row.size]) {
      assert.doesNotMatch(String(text), /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u)
    }
    assert.ok(row.title?.startsWith('"A B C D "quoted" </script>'), row.title)
    assert.match(row.title ?? '', /desrever x y z עברית = \+1/)
    assert.ok([...(row.title ?? '')].length <= 150)
    assert.ok([...(row.description ?? '')].length <= 5_000)
    assert.ok(String(item.description).isWellFormed())
  })

  test('has an ETag that changes with its products, its stock and its site', async () => {
    const { tenant, merchant, id, ids } = await openOne(app)
    const tagOf = async (path: string) => (await app.anyone.get(path)).headers.etag ?? ''
    for (const path of [google(tenant), openai(tenant)]) {
      const tag = await tagOf(path)
      assert.match(tag, /^W\/"[\w-]{43}"$/)
      assert.equal(await tagOf(path), tag)
      const same = await app.anyone.send('GET', path, undefined, { 'if-none-match': `"x", ${tag}` })
      assert.deepEqual([same.status, same.text, same.headers.etag], [304, '', tag])
      const changes = [
        () =>
          merchant.patch(`/v1/merchant/catalog/products/${id}/variants/${ids.VASE}`, {
            price_cents: 777,
          }),
        () => stock(merchant, ids.VASE ?? '', 0),
        () =>
          merchant.put('/v1/my/store/manifest', {
            manifest: { brand: { name: `Renamed ${path}` } },
          }),
      ]
      let before = tag
      for (const change of changes) {
        await change()
        const changed = await app.anyone.send('GET', path, undefined, { 'if-none-match': before })
        assert.equal(changed.status, 200)
        assert.notEqual(changed.headers.etag, before)
        before = changed.headers.etag ?? ''
      }
      await stock(merchant, ids.VASE ?? '', 5)
      await merchant.patch(`/v1/merchant/catalog/products/${id}/variants/${ids.VASE}`, {
        price_cents: 4_800,
      })
    }
  })

  test('answers HEAD with the headers alone', async () => {
    const { tenant } = await openOne(app)
    for (const path of [google(tenant), openai(tenant)]) {
      const whole = await app.anyone.get(path)
      const head = await app.anyone.send('HEAD', path)
      assert.deepEqual([head.status, head.bytes.length], [200, 0])
      for (const name of ['etag', 'content-type', 'cache-control']) {
        assert.equal(head.headers[name], whole.headers[name], name)
      }
    }
  })

  test('the feed of a store that is not live is the same 404 as that of an unknown store', async () => {
    const { tenant } = await openOne(app)
    await app.store('feed-draft')
    const unknown = await app.anyone.get(google('no-such-store'))
    assert.deepEqual([unknown.status, unknown.body.error.code], [404, 'unknown_tenant'])
    await app.operator.put(`/v1/stores/${tenant}/status`, { status: 'suspended', reason: 'x' })
    for (const closed of [tenant, 'feed-draft', 'x', '%00', "a'b"]) {
      for (const path of [google(closed), openai(closed)]) {
        const answer = await app.anyone.get(path)
        if (closed === '%00') assert.equal(answer.status, 400)
        else assert.equal(answer.text, unknown.text, path)
      }
    }
    await app.operator.put(`/v1/stores/${tenant}/status`, { status: 'live' })
    assert.equal((await readGoogle(app, tenant)).length, 1)
  })

  test('contains no data of another store', async () => {
    const mine = await openOne(app, { ...VASE, name: 'Mine alone' })
    const other = await openOne(app, { ...VASE, name: 'Other alone' })
    for (const [shown, hidden] of [
      [mine, other],
      [other, mine],
    ] as const) {
      const text = (await app.anyone.get(google(shown.tenant))).text
      assert.ok(text.includes(shown.ids.VASE ?? '?') && !text.includes(hidden.ids.VASE ?? '?'))
      assert.ok(!text.includes(hidden.tenant))
      const items = JSON.stringify(await readOpenai(app, shown.tenant))
      assert.ok(!items.includes(hidden.tenant) && !items.includes(hidden.id))
    }
  })

  test('needs no credential, and allows no other method or name', async () => {
    const { tenant, merchant } = await openOne(app)
    const same = await merchant.get(google(tenant))
    assert.equal(same.text, (await app.anyone.get(google(tenant))).text)
    assert.equal((await app.anyone.post(google(tenant), {})).status, 405)
    assert.equal((await app.anyone.get(`/v1/tenants/${tenant}/feeds/bing.xml`)).status, 404)
  })
})

describe('the address of a store', () => {
  const store = { tenant_ref: 'acme', primary_hostname: null }
  const own = { ...store, primary_hostname: 'shop.example' }

  test('is its own host, or its name in the zone, or none', () => {
    const zone = { storefrontZone: 'localhost', production: false }
    const local = openStorefrontUrl(zone, () => 'http://127.0.0.1:8080')
    assert.deepEqual(
      [local(store), local(own)],
      ['http://acme.localhost:8080', 'http://shop.example'],
    )
    const none = { storefrontZone: null, production: true }
    const alone = openStorefrontUrl(none, () => 'https://platform.example')
    assert.deepEqual([alone(store), alone(own)], [null, 'https://shop.example'])
  })

  test('a store without an address has no feed', async () => {
    const { tenant } = await openOne(app)
    const deps = { ...depsOf(app), storefrontUrl: () => null }
    const refused = { code: 'feed_not_found', status: 404 }
    await assert.rejects(feeds.open(deps, tenant, FORMATS.google), refused)
  })
})
