import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { pino } from 'pino'
import { createLiveCache, notifyChanged } from '../../src/platform/live-cache.ts'
import { openTestDatabase } from '../harness/database.ts'
import { until } from '../harness/eventually.ts'
import { killListeners, openOne, openShown, openTwo, superuser, text } from '../harness/live.ts'
import { openRelay } from '../harness/relay.ts'
import { share } from '../harness/scope.ts'

const shared = share(openShown)

describe('a cached response', () => {
  test('is answered without another load', async (t) => {
    const { cache, read, loads } = await openOne(t, { on: shared.current })
    for (let i = 0; i < 5; i++) assert.equal(await read(), 0)
    assert.equal(loads(), 1)
    assert.equal(cache.stats().hits, 4)
    assert.equal(cache.find('acme', 'site')?.body.toString(), '0')
  })

  test('is cached for an unknown name as it is for a known one', async (t) => {
    const { cache } = await openOne(t, { on: shared.current })
    let loads = 0
    const load = async () => {
      loads += 1
      return text('No such store.', 404)
    }
    for (let i = 0; i < 5; i++) assert.equal((await cache.read('no', 'site', load)).status, 404)
    assert.equal(loads, 1)
  })

  test('is loaded once for 100 readers who come at the same time', async (t) => {
    const { read, loads } = await openOne(t, { on: shared.current })
    const seen = await Promise.all(Array.from({ length: 100 }, () => read()))
    assert.deepEqual(new Set(seen), new Set([0]))
    assert.equal(loads(), 1)
  })

  test('is never an error: every waiting reader gets the error, and the next reader loads again', async (t) => {
    const { cache } = await openOne(t, { on: shared.current })
    let loads = 0
    const fail = () => {
      loads += 1
      throw new Error('the database is away')
    }
    const reads = Array.from({ length: 10 }, () => cache.read('acme', 'x', async () => fail()))
    for (const read of reads) await assert.rejects(read, /is away/)
    assert.equal(loads, 1)
    await assert.rejects(
      cache.read('acme', 'x', () => fail()),
      /is away/,
    )
    assert.equal(loads, 2)
    assert.equal((await cache.read('acme', 'x', async () => text('back'))).status, 200)
    assert.equal(cache.stats().tenants, 1)
  })
})

describe('a write', () => {
  test('is seen by every later read of the same process', async (t) => {
    const { read, write } = await openOne(t, { on: shared.current })
    // Readers run all the time, so that some load is always running.
    let over = false
    let floor = 0
    const reader = async () => {
      while (!over) {
        const known = floor
        const seen = await read()
        assert.ok(seen >= known, `read ${seen} after ${known} was written`)
        await turn()
      }
    }
    const readers = Promise.all(Array.from({ length: 5 }, reader))
    for (let value = 1; value <= 200; value++) {
      await write(value)
      floor = value
      assert.equal(await read(), value)
    }
    over = true
    await readers
  })

  test('is seen by another process as soon as the notification arrives', async (t) => {
    const { here, there } = await openTwo(t, { on: shared.current })
    for (let value = 1; value <= 50; value++) {
      const before = await there.read()
      assert.ok(before === value - 1)
      await here.write(value)
      await until('the other process sees it', async () => (await there.read()) === value)
    }
    assert.ok(there.cache.trusted && there.cache.stats().bypassed === 0)
  })

  test('to one store leaves the cached responses of other stores', async (t) => {
    const { here, there } = await openTwo(t, { on: shared.current })
    await there.read('globex')
    await there.read('acme')
    await here.write(1, 'acme')
    await until('heard', async () => (await there.read('acme')) === 1)
    assert.ok(there.cache.find('globex', 'site'))
  })

  test('prevents a load that began before it from being cached or joined', async (t) => {
    const { cache, write, read } = await openOne(t, { on: shared.current })
    const barrier = Promise.withResolvers<void>()
    const early = cache.read('acme', 'site', async () => {
      await barrier.promise
      return text('0')
    })
    await write(1)
    assert.equal(await read(), 1, 'a read after the write does not wait for the early load')
    barrier.resolve()
    assert.equal((await early).body.toString(), '0')
    assert.equal(await read(), 1)
    assert.equal(cache.stats().entries, 1, 'nor does it take up room')
  })

  test('a write in another process prevents a load that began before it from being cached', async (t) => {
    const { here, there } = await openTwo(t, { on: shared.current })
    const barrier = Promise.withResolvers<void>()
    const early = there.cache.read('acme', 'site', async () => {
      await barrier.promise
      return text('0')
    })
    await here.write(1)
    await until('heard', () => there.cache.stats().tenants === 0)
    barrier.resolve()
    await early
    assert.equal(there.cache.find('acme', 'site'), null)
    assert.equal(await there.read(), 1)
  })

  test('a write that is rolled back notifies no process', async (t) => {
    const { here, there } = await openTwo(t, { on: shared.current })
    await there.read()
    const undone = here.database.tenant('acme').transaction('undone', async (tx) => {
      await notifyChanged(tx)
      throw new Error('undone')
    })
    await assert.rejects(undone, /undone/)
    await there.read('globex')
    // Notifications keep their order: this one would arrive after the one rolled back.
    await here.write(1, 'globex')
    await until('heard', async () => (await there.read('globex')) === 1)
    assert.ok(there.cache.find('acme', 'site'))
  })
})

describe('when notifications cannot be relied on', { concurrency: true }, () => {
  test('a listener that is disconnected empties the cache, which recovers by itself', async (t) => {
    const { cache, read, write, test } = await openOne(t)
    await read()
    const admin = await test.openAdmin()
    const name = new URL(test.url).pathname.slice(1)
    // With no room for a new listener it recovers when the test wants it, however slow the machine is.
    await admin.query(`alter database ${name} connection limit 1`)
    await admin.query(killListeners)
    await until('distrusted', () => !cache.trusted)
    assert.equal(cache.stats().entries, 0)
    await write(1)
    assert.equal(await read(), 1)
    assert.ok(cache.stats().bypassed > 0)
    assert.equal(cache.stats().entries, 0)
    await admin.query(`alter database ${name} connection limit -1`)
    await until('trusted again', () => cache.trusted)
    await read()
    assert.ok(cache.find('acme', 'site'))
  })

  test('a connection that dies silently is noticed within 3 s, and replaced', async (t) => {
    const stage = await openTestDatabase(t)
    const relay = await openRelay(t, stage.url)
    const database = stage.open('fd_app')
    const options = { listenUrl: relay.through(stage.roleUrl('fd_app')), database }
    const cache = createLiveCache({ ...options, logger: pino({ level: 'silent' }) })
    t.after(() => cache.stop())
    cache.start()
    await until('trusted', () => cache.trusted)
    await cache.read('acme', 'site', async () => text('old'))
    relay.freeze()
    await until('distrusted', () => !cache.trusted, 3_500)
    assert.equal(cache.stats().entries, 0)
    relay.thaw()
    await until('trusted again', () => cache.trusted)
    await cache.stop()
  })

  test('trust in notifications ends by the clock, even if no timer has run', async (t) => {
    let ahead = 0
    const { cache, read } = await openOne(t, { clock: { now: () => performance.now() + ahead } })
    await read()
    ahead = 60_000
    assert.equal(cache.find('acme', 'site'), null)
    assert.equal(cache.trusted, false)
    await until('trusted again', () => cache.trusted)
  })

  test('a load that began while notifications were trusted is not cached after the trust was lost and regained', async (t) => {
    const { cache, test } = await openOne(t)
    const barrier = Promise.withResolvers<void>()
    const early = cache.read('acme', 'site', async () => {
      await barrier.promise
      return text('old')
    })
    await superuser(test, [killListeners])
    await until('distrusted', () => !cache.trusted)
    await until('trusted again', () => cache.trusted)
    barrier.resolve()
    await early
    assert.equal(cache.find('acme', 'site'), null)
  })

  test('no reader gets a load that began before the read, and a crowd still costs only two loads', async (t) => {
    const { cache } = await openOne(t)
    await cache.stop()
    let loads = 0
    const barrier = Promise.withResolvers<void>()
    const load = async () => {
      loads += 1
      const mine = loads
      if (mine === 1) await barrier.promise
      return text(String(mine))
    }
    const first = cache.read('acme', 'site', load)
    const crowd = Array.from({ length: 50 }, () => cache.read('acme', 'site', load))
    barrier.resolve()
    assert.equal((await first).body.toString(), '1')
    for (const each of crowd) assert.equal((await each).body.toString(), '2')
    assert.equal(loads, 2)
    assert.equal((await cache.read('acme', 'site', load)).body.toString(), '3')
  })
})

describe('compressed bodies', () => {
  const page = 'A product with a name and a price. '.repeat(400)

  test('decode to the same bytes, are made once, and are counted', async (t) => {
    const { cache } = await openOne(t, { on: shared.current })
    const answer = await cache.read('acme', 'site', async () => text(page))
    const { bytes } = cache.stats()
    const all = ['br', 'gzip', 'gzip, br', 'gzip;q=1, br;q=0', 'br']
    const forms = await Promise.all(all.map((accept) => cache.encoded(answer, accept)))
    for (const form of forms) {
      assert.ok(form)
      const decode = form.encoding === 'br' ? brotliDecompressSync : gunzipSync
      assert.equal(decode(form.body).toString(), page)
    }
    const different = new Set(forms.map((form) => form?.body))
    assert.ok(different.size <= 5)
    const again = await Promise.all(all.map((accept) => cache.encoded(answer, accept)))
    const made = new Set(again.map((form) => form?.body))
    assert.equal(made.size, 2, 'one form of each kind is kept')
    const total = [...made].reduce((sum, body) => sum + (body?.length ?? 0), 0)
    assert.equal(cache.stats().bytes, bytes + total)
    cache.drop('acme')
    assert.equal(cache.stats().bytes, 0)
  })

  test('are not made for a response that is small, incompressible or not cached', async (t) => {
    const { cache } = await openOne(t, { on: shared.current })
    const small = await cache.read('acme', 'small', async () => text('x'.repeat(1_024)))
    assert.equal(await cache.encoded(small, 'br'), null)
    const noise = Buffer.from(crypto.getRandomValues(new Uint8Array(4_096)))
    const random = await cache.read('acme', 'noise', async () => ({ ...text(''), body: noise }))
    assert.equal(await cache.encoded(random, 'br, gzip'), null)
    assert.equal(await cache.encoded(text(page), 'br'), null)
  })

  test('are found at once when made before, and include the part that is not shared', async (t) => {
    const { cache } = await openOne(t, { on: shared.current })
    const load = async () => ({ ...text(page), head: '<', etag: '"1"' })
    const answer = await cache.read('acme', 'site', load)
    assert.equal(cache.findEncoded(answer, undefined), null)
    assert.equal(cache.findEncoded(answer, 'br'), undefined, 'yet to be made')
    const made = await cache.encoded(answer, 'br')
    assert.deepEqual(cache.findEncoded(answer, 'br'), made)
    assert.equal(brotliDecompressSync(made?.body ?? '').toString(), `<${page}`)
  })
})

test('a compressed body is sent from the cached copy, and holds no more memory than its bytes', async (t) => {
  const { cache } = await openOne(t, { on: shared.current })
  const answer = await cache.read('acme', 'x', async () => text('much the same '.repeat(500)))
  const made = await cache.encoded(answer, 'gzip')
  assert.ok(made)
  assert.equal(made.body.buffer.byteLength, made.body.length, 'no block around it')
  assert.equal(cache.findEncoded(answer, 'gzip')?.body, made.body)
})
