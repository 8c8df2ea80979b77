import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { matchesEtag } from '../../../src/http/etag.ts'
import { openTestApp, type TestApp } from '../../harness/app.ts'
import { until } from '../../harness/eventually.ts'
import { requestText, talk } from '../../harness/raw-http.ts'
import { essence } from '../../harness/refusals.ts'
import { share } from '../../harness/scope.ts'
import {
  cacheAnswer,
  openCachingApp,
  openLiveStore,
  resolveUrl,
  sendRaw,
  siteUrl,
  titled,
} from './setup.ts'

const caching = share((scope) => openCachingApp(scope))
let stores = 0

/** The next live store of an app, its merchant, and its public reads. */
async function openStore(app: TestApp, body = titled('one')) {
  const tenant = `acme-${++stores}`
  const acme = await openLiveStore(app, tenant, body)
  const site = siteUrl(tenant)
  return { tenant, acme, site, urls: [site, resolveUrl(tenant)] }
}

test('an entity tag matches itself, alone or in a list, strong or weak, and the star', () => {
  const etag = '"abc"'
  for (const header of ['"abc"', '"x", "abc"', '"x","abc" , "y"', 'W/"abc"', '"x", W/"abc"', '*']) {
    assert.ok(matchesEtag(header, etag), header)
  }
  const others = [undefined, '', 'abc', '"ab"', '"abc', "'abc'", 'w/"abc"', '"x", "y"', '"ABC"']
  for (const header of others) assert.ok(!matchesEtag(header, etag), header)
})

describe('a public read', () => {
  // Those from the database have an app of their own: a shared one paces the reads of each store.
  for (const live of [true, false]) {
    const how = live ? 'from memory' : 'from the database'

    test(`has the hash as its ETag, and answers 304 to a reader that has it, ${how}`, async (t) => {
      const app = live ? caching.current : await openTestApp(t)
      const { acme, urls } = await openStore(app)
      const { rowHash } = (await acme.get('/v1/my/site')).body.active
      for (const path of urls) {
        const first = await sendRaw(app, path)
        assert.equal(first.status, 200)
        assert.equal(first.headers.etag, `"${rowHash}"`)
        assert.equal(first.headers['cache-control'], undefined)
        assert.equal(first.headers['content-type'], 'application/json; charset=utf-8')
        assert.equal(first.headers.vary, 'accept-encoding')
        assert.match(first.headers['x-correlation-id'] as string, /^[0-9a-f-]{36}$/)
        const same = [`"${rowHash}"`, `"x", "${rowHash}"`, `W/"${rowHash}"`, '*']
        for (const known of same) {
          const { status, headers, body } = await sendRaw(app, path, {
            headers: { 'if-none-match': known },
          })
          assert.deepEqual([status, body.length], [304, 0], known)
          assert.equal(headers.etag, `"${rowHash}"`)
          assert.equal(headers.vary, 'accept-encoding', 'as the 200 would have')
          assert.equal(headers['cache-control'], undefined)
          assert.ok(headers['x-correlation-id'])
        }
        for (const other of [rowHash, `"${'0'.repeat(64)}"`, '""']) {
          const answer = await sendRaw(app, path, { headers: { 'if-none-match': other } })
          assert.deepEqual([answer.status, answer.body], [200, first.body], other)
        }
      }
    })

    test(`has the same headers for HEAD, ${how}`, async (t) => {
      const app = live ? caching.current : await openTestApp(t)
      const { site, urls } = await openStore(app)
      for (const path of [...urls, siteUrl('nobody')]) {
        const got = await sendRaw(app, path)
        const asked = await sendRaw(app, path, { method: 'HEAD' })
        assert.deepEqual([asked.status, asked.body.length], [got.status, 0])
        const rest = ({ headers }: typeof got) => {
          const { date, 'x-correlation-id': _, ...others } = headers
          return others
        }
        assert.deepEqual(rest(asked), rest(got), path)
      }
      const known = { 'if-none-match': '*' }
      const unchanged = await sendRaw(app, site, { method: 'HEAD', headers: known })
      assert.equal(unchanged.status, 304)
    })

    test(`decodes to the same bytes, however it is encoded, ${how}`, async (t) => {
      const app = live ? caching.current : await openTestApp(t)
      const { urls } = await openStore(app, titled('over a packet long '.repeat(200)))
      const decode: Record<string, (body: Buffer) => Buffer> = {
        br: brotliDecompressSync,
        gzip: gunzipSync,
        identity: (body) => body,
      }
      const wanted: Record<string, string> = {
        br: 'br',
        gzip: 'gzip',
        'gzip, br': 'br',
        'gzip;q=1, br;q=0': 'gzip',
        identity: 'identity',
        'br;q=0, gzip;q=0': 'identity',
        deflate: 'identity',
        '*': 'br',
      }
      for (const path of urls) {
        const plain = await sendRaw(app, path)
        assert.equal(plain.headers['content-encoding'], undefined)
        for (const [accepted, encoding] of Object.entries(wanted)) {
          for (let round = 0; round < 2; round++) {
            const answer = await sendRaw(app, path, { headers: { 'accept-encoding': accepted } })
            const used = answer.headers['content-encoding'] ?? 'identity'
            if (live) assert.equal(used, encoding, accepted)
            assert.ok(decode[used]?.(answer.body).equals(plain.body), accepted)
            assert.equal(answer.headers['content-length'], String(answer.body.length))
            assert.equal(answer.headers.etag, plain.headers.etag)
            assert.equal(answer.headers.vary, 'accept-encoding')
          }
        }
      }
    })
  }

  test('is the same from memory as from the database', async () => {
    const app = caching.current
    const { tenant, urls } = await openStore(app)
    for (const path of [...urls, siteUrl('nobody'), resolveUrl('nobody')]) {
      for (const name of [tenant, 'nobody']) app.runtime.cache.drop(name)
      const first = await app.anyone.get(path)
      await cacheAnswer(app, path)
      const second = await app.anyone.get(path)
      assert.deepEqual(essence(second), essence(first))
      assert.notEqual(second.headers['x-correlation-id'], first.headers['x-correlation-id'])
    }
  })

  test('is sent from memory by the same rules of HTTP', async () => {
    const app = caching.current
    const { site: path } = await openStore(app)
    await cacheAnswer(app, path)
    const line = `GET ${path}`
    const statuses = async (text: string) =>
      (await talk(app.url, text)).answers.map(({ status }) => status)
    assert.deepEqual(await statuses(requestText(line)), [200])
    assert.deepEqual(await statuses(requestText(line, { host: ['a.example', 'b.example'] })), [400])
    assert.deepEqual(await statuses(requestText(line, { host: '' })), [400])
    assert.deepEqual(
      await statuses(`${line} HTTP/1.1\r\nconnection: close\r\n\r\n`),
      [400],
      'no host',
    )
    assert.deepEqual(await statuses(`${line} HTTP/1.0\r\n\r\n`), [200])
    for (const method of ['POST', 'PUT', 'DELETE']) {
      assert.deepEqual(await statuses(requestText(`${method} ${path}`)), [405])
    }
    const body = requestText(
      line,
      { 'content-length': '5', connection: 'cacheAnswer-alive' },
      'hello',
    )
    assert.deepEqual(await statuses(body + requestText(line)), [200, 200], 'a body is passed over')
  })

  test('is sent from memory in order with other answers on the connection', async () => {
    const app = caching.current
    const { site: path } = await openStore(app)
    await cacheAnswer(app, path)
    const open = { connection: 'cacheAnswer-alive' }
    const slow = requestText('GET /v1/tenants/asked-for-the-first-time/site', open)
    const fast = requestText(`GET ${path}`, open)
    const { answers } = await talk(app.url, `${slow}${fast}this is no HTTP\r\n\r\n`)
    assert.deepEqual(
      answers.map(({ status }) => status),
      [404, 200, 400],
    )
  })

  test('is sent from memory without delaying a shutdown', async (t) => {
    const app = await openCachingApp(t)
    const { site: path } = await openStore(app)
    await cacheAnswer(app, path)
    let closed = false
    // Keep-alive clients that send the next request at once.
    const readers = Array.from({ length: 4 }, async () => {
      while (!closed) {
        const answer = await fetch(app.url + path).catch(() => null)
        if (answer === null) return
        await answer.text().catch(() => '')
      }
    })
    const { hits } = app.runtime.cache.stats()
    await until('busy', () => app.runtime.cache.stats().hits > hits + 50)
    const began = performance.now()
    await app.app.close()
    closed = true
    // A client that sends the next request at once would delay the shutdown for ever.
    assert.ok(performance.now() - began < 15_000, `${performance.now() - began} ms`)
    await Promise.all(readers)
  })
})
