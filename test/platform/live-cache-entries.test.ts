import assert from 'node:assert/strict'
import { randomBytes, randomInt } from 'node:crypto'
import { describe, test } from 'node:test'
import type { CachedResponse } from '../../src/platform/cached-response.ts'
import { LiveEntries } from '../../src/platform/live-cache-entries.ts'

const MIB = 1_024 * 1_024

const answer = (bytes: number, status = 200): CachedResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: Buffer.alloc(bytes, 'x'),
})

const put = (store: LiveEntries, tenant: string, key: string, given: CachedResponse) =>
  store.put(store.openGeneration(tenant), key, given)

describe('the entries of the live cache', () => {
  test('stay within their bytes under 10,000 random responses, and count them exactly', () => {
    const store = new LiveEntries(MIB)
    for (let i = 0; i < 10_000; i++) {
      const [tenant, key] = [`t${randomInt(500)}`, `k${randomInt(20)}`]
      const status = randomInt(3) === 0 ? 404 : 200
      const cached = put(store, tenant, key, answer(randomInt(8_000), status))
      const entry = store.findEntry(cached)
      if (entry !== undefined && randomInt(2) === 0) {
        store.addForm(entry, 'br', randomBytes(randomInt(2_000)))
      }
      store.addAddress(cached, `/${tenant}/${key}`, 'route')
      if (randomInt(50) === 0) store.drop(`t${randomInt(500)}`)
      assert.ok(store.stats().bytes <= MIB)
    }
    assert.ok(store.stats().evictions > 1_000)
    assert.ok(store.stats().bytes > MIB / 2, 'the room is used')
    for (let t = 0; t < 500; t++) store.drop(`t${t}`)
    const { tenants, entries, bytes } = store.stats()
    assert.deepEqual({ tenants, entries, bytes }, { tenants: 0, entries: 0, bytes: 0 })
  })

  test('are not found after their time, and keep their compressed forms when the same bytes come again', () => {
    const store = new LiveEntries(MIB)
    const [body, other] = [answer(2_000), answer(2_001)]
    const putUntil = (given: CachedResponse, freshUntil: number) =>
      store.put(store.openGeneration('acme'), 'k', given, freshUntil)
    const first = putUntil(body, 100)
    store.addAddress(first, '/k', 'route')
    assert.equal(store.find('acme', 'k', 99), first)
    assert.equal(store.find('acme', 'k', 100), null)
    assert.equal(store.findByAddress('/k', 100), null)
    assert.equal(putUntil({ ...body, body: Buffer.from(body.body) }, 200), first)
    assert.equal(store.find('acme', 'k', 199), first)
    assert.equal(store.findByAddress('/k', 199)?.response, first)
    const second = putUntil(other, 300)
    assert.notEqual(second, first)
    assert.equal(store.find('acme', 'k', 299), second)
    put(store, 'acme', 'forever', body)
    assert.ok(store.find('acme', 'forever', Number.MAX_SAFE_INTEGER))
    store.drop('acme')
    assert.equal(store.stats().bytes, 0)
  })

  test('find a response by its address as long as it is cached, and no longer', () => {
    const store = new LiveEntries(18 * 2_048)
    const cached = put(store, 'acme', 'site', answer(10))
    assert.equal(store.findByAddress('/acme'), null)
    store.addAddress(cached, '/acme', '/:tenant')
    assert.equal(store.findByAddress('/acme')?.response, cached)
    assert.equal(store.findByAddress('/acme')?.route, '/:tenant')
    const next = put(store, 'acme', 'site', answer(20))
    assert.equal(store.findByAddress('/acme'), null, 'replaced')
    store.addAddress(next, '/acme', '/:tenant')
    store.drop('acme')
    assert.equal(store.findByAddress('/acme'), null, 'dropped')
    store.addAddress(put(store, 'acme', 'site', answer(10)), '/acme', '/:tenant')
    for (let n = 0; n < 40; n++) put(store, `other-${n}`, 'site', answer(1_000))
    assert.equal(store.findByAddress('/acme'), null, 'evicted')
    store.addAddress(put(store, 'acme', 'site', answer(10)), '/acme', '/:tenant')
    store.clear()
    assert.equal(store.findByAddress('/acme'), null, 'cleared')
    const uncached = answer(10, 503)
    store.addAddress(uncached, '/acme', '/:tenant')
    assert.equal(store.findByAddress('/acme'), null, 'never cached')
  })

  test('evict the least recently used response', () => {
    const store = new LiveEntries(18 * 2_048)
    for (let i = 0; i < 10; i++) put(store, 'acme', `k${i}`, answer(1_400))
    assert.equal(store.stats().evictions, 0)
    assert.ok(store.find('acme', 'k0'))
    for (let i = 10; i < 22; i++) put(store, 'acme', `k${i}`, answer(1_400))
    const cached = Array.from({ length: 22 }, (_, i) => i).filter((i) =>
      store.find('acme', `k${i}`),
    )
    assert.equal(store.stats().evictions, 22 - cached.length)
    assert.ok(cached.includes(0), 'the one that was read stays')
    assert.ok(!cached.includes(1), 'the one that was not goes')
    assert.deepEqual(
      cached.slice(1),
      cached.slice(1).sort((a, b) => a - b),
    )
    assert.equal(cached.at(-1), 21)
  })

  test('keep responses of existing names, however many unknown names are requested', () => {
    const store = new LiveEntries(MIB)
    for (let i = 0; i < 100; i++) put(store, `shop${i}`, 'site', answer(7_000))
    for (let i = 0; i < 20_000; i++) put(store, `nobody${i}`, 'site', answer(200, 404))
    const cached = Array.from({ length: 100 }, (_, i) => store.find(`shop${i}`, 'site'))
    assert.equal(cached.filter((each) => each !== null).length, 100)
    const { negativeBytes, tenants } = store.stats()
    assert.ok(negativeBytes <= MIB / 8 && negativeBytes > MIB / 16)
    assert.ok(tenants < 400, 'a name that was let go leaves nothing behind')
  })

  test('keep the responses of other stores, however many large ones one store has', () => {
    const store = new LiveEntries(MIB)
    put(store, 'small', 'site', answer(2_000))
    for (let i = 0; i < 100; i++) put(store, 'vast', `collection ${i}`, answer(100_000))
    assert.notEqual(store.find('small', 'site'), null)
    assert.notEqual(store.find('vast', 'collection 99'), null)
    assert.notEqual(store.find('vast', 'collection 97'), null)
    store.drop('vast')
    store.drop('small')
    assert.equal(store.stats().bytes, 0)
  })

  test('cache no response so large that it would evict all others', () => {
    const store = new LiveEntries(MIB)
    put(store, 'acme', 'small', answer(1_000))
    put(store, 'acme', 'huge', answer(MIB / 2))
    assert.equal(store.find('acme', 'huge'), null)
    assert.ok(store.find('acme', 'small'))
  })

  test('cache no 5xx response and no very long key', () => {
    const store = new LiveEntries(MIB)
    put(store, 'acme', 'down', answer(10, 503))
    put(store, 'acme', 'k'.repeat(3_000), answer(10))
    assert.equal(store.stats().entries, 0)
  })

  test('hold no memory that is not counted', () => {
    const store = new LiveEntries(MIB)
    const block = Buffer.alloc(MIB, 'y')
    const cached = put(store, 'acme', 'slice', { ...answer(0), body: block.subarray(5, 105) })
    assert.equal(cached.body.buffer.byteLength, 100)
    assert.deepEqual(cached.body, Buffer.alloc(100, 'y'))
  })

  test('store the long part that two responses of a store share once', () => {
    const store = new LiveEntries(MIB)
    const cut = (head: string, bytes = 5_000) => ({ ...answer(bytes), head })
    const first = put(store, 'acme', 'site', cut('{"a":'))
    const { bytes } = store.stats()
    const second = put(store, 'acme', 'resolve', cut('{"b":'))
    assert.equal(second.body, first.body)
    assert.ok(store.stats().bytes < bytes + 2_000)
    put(store, 'acme', 'other', cut('{"c":', 5_001))
    put(store, 'globex', 'site', cut('{"a":'))
    assert.ok(store.stats().bytes > bytes + 10_000, 'only of one tenant, and only the same bytes')
    store.drop('acme')
    assert.equal(store.stats().bytes, bytes + 2 * 'globex'.length - 2 * 'acme'.length)
    store.drop('globex')
    assert.equal(store.stats().bytes, 0)
  })

  test('replace a response without counting it twice', () => {
    const store = new LiveEntries(MIB)
    put(store, 'acme', 'site', answer(1_000))
    const { bytes } = store.stats()
    put(store, 'acme', 'site', answer(1_000))
    assert.equal(store.stats().bytes, bytes)
    put(store, 'acme', 'site', answer(1_000, 404))
    assert.equal(store.stats().bytes, store.stats().negativeBytes)
    assert.equal(store.find('acme', 'site')?.status, 404)
  })

  test('evict equally fast from many entries and from few', () => {
    const fill = (count: number) => {
      const store = new LiveEntries(count * 500)
      for (let i = 0; i < count; i++) put(store, `t${i}`, 'k', answer(10))
      const started = performance.now()
      for (let i = 0; i < 5_000; i++) put(store, `u${i}`, 'k', answer(10))
      return performance.now() - started
    }
    // A busy machine may spoil a round. A search through the entries would take thirty times as long in each.
    const rounds: string[] = []
    while (rounds.length < 5) {
      const [small, large] = [fill(2_000), fill(60_000)]
      if (large < small * 10 + 50) return
      rounds.push(`${large} ms against ${small} ms`)
    }
    assert.fail(rounds.join(', '))
  })
})
