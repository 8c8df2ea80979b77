import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, test } from 'node:test'
import { Type } from 'typebox'
import type { Db, TenantDb } from '../../src/db/database.ts'
import { ApiError } from '../../src/errors.ts'
import { once } from '../../src/http/idempotent.ts'
import { createServer } from '../../src/http/server.ts'
import { OpenObject } from '../../src/kernel/schema.ts'
import {
  advance,
  type ClaimRequest,
  claim,
  finish,
  lookup,
  postpone,
  STARTED,
  type WonClaim,
} from '../../src/platform/idempotency.ts'
import { fingerprint } from '../../src/platform/idempotency-key.ts'
import { inProgress, run } from '../../src/platform/idempotency-run.ts'
import { createLogger } from '../../src/platform/log.ts'
import { until } from '../harness/eventually.ts'
import { openPlatform } from '../harness/platform.ts'

const SECRET = Buffer.alloc(32, 7)
const platform = await openPlatform({ after }, 20)

async function open(): Promise<TenantDb> {
  const [mine = ''] = await platform.addStores(1)
  return platform.app.tenant(mine)
}

const request = (key: string): ClaimRequest => ({
  operation: 'checkout',
  key,
  fingerprint: fingerprint(SECRET, { total: 1 }),
})

const expire = (db: Db) =>
  platform.query(
    "update idempotency_keys set lease_until = now() - interval '1 s' where tenant_ref = $1",
    [db.tenant],
  )

const place = (db: Db) => (held: WonClaim) => finish(db, held, 201, `{"order":"${randomUUID()}"}`)

describe('the work of a key', () => {
  test('is done once for 50 requests at the same time, which all get the same bytes', async () => {
    const db = await open()
    let times = 0
    const replies = await Promise.all(
      Array.from({ length: 50 }, () =>
        run(db, request('k'), (held) => {
          times++
          return place(db)(held)
        }),
      ),
    )
    assert.equal(times, 1)
    assert.equal(new Set(replies.map(({ status, body }) => `${status} ${body}`)).size, 1)
    const replayed = replies.filter(({ headers }) => headers['idempotent-replayed'] === 'true')
    assert.equal(replayed.length, 49)
  })

  test('is waited for by a second request, which is refused as in progress when it takes too long', async () => {
    const db = await open()
    const first = await claim(db, request('k'))
    assert.equal(first.state, 'won')
    const waiting = run(db, { ...request('k'), waitMs: 100 }, () => assert.fail('done twice'))
    await assert.rejects(waiting, {
      code: 'idempotency_in_progress',
      headers: { 'retry-after': '2' },
    })
  })

  test('is not waited for by a caller that has disconnected', async () => {
    const db = await open()
    await claim(db, request('k'))
    const gone = new AbortController()
    const waiting = run(db, { ...request('k'), signal: gone.signal }, () => assert.fail('twice'))
    const begun = performance.now()
    setTimeout(() => gone.abort(), 30)
    await assert.rejects(waiting, { code: 'idempotency_in_progress' })
    assert.ok(performance.now() - begun < 9_000, 'less than it would wait for')
  })

  test('is resumed by a waiting request when its holder vanishes', async () => {
    const db = await open()
    const first = await claim(db, request('k'))
    assert.ok(first.state === 'won')
    await advance(db, first, 'charged', randomUUID())
    const waiting = run(db, request('k'), (held) => {
      assert.equal(held.recoveryPoint, 'charged')
      return place(db)(held)
    })
    await expire(db)
    assert.equal((await waiting).status, 201)
  })

  test('the work of a key that loses its lease ends with the answer of the process that took over', async () => {
    const db = await open()
    const reply = await run(db, request('k'), async (held) => {
      await expire(db)
      const other = await claim(db, request('k'))
      assert.ok(other.state === 'won')
      await finish(db, other, 201, '"of the other"')
      return finish(db, held, 201, '"of the first"')
    })
    assert.equal(reply.body, '"of the other"')
    assert.equal(reply.headers['idempotent-replayed'], 'true')
  })
})

describe('a failure of the work', () => {
  const stateOf = async (db: Db) => (await lookup(db, 'checkout', 'k'))?.state ?? 'free'

  test('before its first step frees the key, if the request or a passing state is the cause', async () => {
    const db = await open()
    const passing = [
      'rate_limited',
      'invalid_body',
      'service_unavailable',
      'unknown_tenant',
    ] as const
    for (const code of passing) {
      await assert.rejects(
        run(db, request('k'), () => Promise.reject(new ApiError(code))),
        { code },
      )
      assert.equal(await stateOf(db), 'free', code)
    }
    const broken = run(db, request('k'), () => Promise.reject(new Error('a bug')))
    await assert.rejects(broken, /a bug/)
    assert.equal(await stateOf(db), 'free')
    assert.equal((await run(db, request('k'), place(db))).status, 201)
  })

  test('is the stored answer, if it is a business refusal', async () => {
    const db = await open()
    const options = { ...request('k'), correlationId: 'c-1' }
    const refusing = () => Promise.reject(new ApiError('invalid_transition'))
    const first = await run(db, options, refusing)
    const second = await run(db, options, place(db))
    assert.equal(first.status, 409)
    assert.equal(first.headers['idempotent-replayed'], undefined)
    assert.equal(JSON.parse(first.body).error.correlationId, 'c-1')
    assert.equal(second.body, first.body)
    assert.equal(second.headers['idempotent-replayed'], 'true')
  })

  test('frees the key when the operation declares the refusal temporary', async () => {
    const db = await open()
    const options = { ...request('k'), passing: ['request_decided'] as const }
    const refusing = () => Promise.reject(new ApiError('request_decided'))
    await assert.rejects(run(db, options, refusing), { code: 'request_decided' })
    assert.equal(await stateOf(db), 'free')
  })

  test('is not answered as a refusal if the refusal could not be stored', async (t) => {
    const db = await open()
    await platform.query(`
      create function refuse_refusals() returns trigger language plpgsql as $$
      begin raise exception 'the disk is full'; end $$`)
    await platform.query(`
      create trigger refuse_refusals before update on idempotency_keys for each row
      when (new.state = 'answered') execute function refuse_refusals()`)
    t.after(() => platform.query('drop function refuse_refusals cascade'))
    const refusing = () => Promise.reject(new ApiError('invalid_transition'))
    await assert.rejects(run(db, request('k'), refusing), { code: 'service_unavailable' })
    assert.equal(await stateOf(db), 'running')
  })

  test('after a step keeps that step, and the next request resumes there at once', async () => {
    const db = await open()
    const order = randomUUID()
    const failures = [
      [new Error('a bug'), { message: 'a bug' }],
      // The operation goes on: a refusal would let its caller try again with another key.
      [new ApiError('invalid_transition'), { code: 'service_unavailable' }],
    ] as const
    for (const [failure, answered] of failures) {
      const failing = run(db, request('k'), async (held) => {
        if (held.recoveryPoint === STARTED) await advance(db, held, 'reserved', order)
        throw failure
      })
      await assert.rejects(failing, answered)
      assert.equal(await stateOf(db), 'running')
    }
    const reply = await run(db, request('k'), (held) => {
      assert.deepEqual([held.recoveryPoint, held.resourceId], ['reserved', order])
      return place(db)(held)
    })
    assert.equal(reply.headers['idempotent-replayed'], undefined)
  })

  test('to learn its outcome keeps the claim for the requested time', async () => {
    const db = await open()
    const unknown = run(db, request('k'), async (held) => {
      await postpone(db, await advance(db, held, 'charged'), 3_600)
      throw inProgress()
    })
    await assert.rejects(unknown, { code: 'idempotency_in_progress' })
    const again = run(db, { ...request('k'), waitMs: 50 }, () => assert.fail('too soon'))
    await assert.rejects(again, { code: 'idempotency_in_progress' })
  })
})

test('a step that rolls back leaves the key where it was', async () => {
  const db = await open()
  const failing = run(db, request('k'), async (held) => {
    await db.transaction('reserve', async (tx) => {
      await advance(tx, held, 'reserved', randomUUID())
      throw new ApiError('invalid_transition')
    })
    return assert.fail('unreachable')
  })
  // Nothing was done, so the refusal is the outcome.
  assert.equal((await failing).status, 409)
  assert.equal((await lookup(db, 'checkout', 'k'))?.recovery_point, STARTED)
})

async function serve(db: TenantDb, beforeAnswer: () => Promise<void>) {
  const app = createServer({ logger: createLogger('silent'), trustProxy: [] })
  const schema = { body: OpenObject, response: { 201: Type.Object({ order: Type.String() }) } }
  const config = { plane: 'storefront', idempotent: true } as const
  app.decorateRequest('db', undefined as never)
  app.addHook('onRequest', async (request) => {
    request.db = db
  })
  app.post('/checkout', { schema, config }, (request, reply) =>
    once(request, reply, { operation: 'checkout', secret: SECRET }, async (held) => {
      await beforeAnswer()
      return place(db)(held)
    }),
  )
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  const post = (key: string | null, body: unknown) =>
    fetch(`${address}/checkout`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key && { 'idempotency-key': key }) },
      body: JSON.stringify(body),
    })
  return { app, post }
}

describe('a route', () => {
  test('answers a repeated request with the same bytes, and marks the replay', async (t) => {
    const { app, post } = await serve(await open(), async () => {})
    t.after(() => app.close())
    const first = await post('k', { total: 1, card: { ccnumber: '4111111111111111', cvv: '1' } })
    const again = await post('k', { card: { ccnumber: '4111 1111 1111 1111' }, total: 1 })
    const other = await post('k', { total: 2 })
    assert.deepEqual([first.status, again.status, other.status], [201, 201, 422])
    assert.equal(first.headers.get('idempotent-replayed'), null)
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
    assert.equal(again.headers.get('content-type'), first.headers.get('content-type'))
    assert.deepEqual(await again.bytes(), await first.bytes())
  })

  test('holds a second request until the first is answered', async (t) => {
    const barrier = Promise.withResolvers<void>()
    const db = await open()
    const { app, post } = await serve(db, () => barrier.promise)
    t.after(() => app.close())
    const first = post('k', {})
    await until('the key is claimed', async () => (await lookup(db, 'checkout', 'k')) !== null)
    const second = post('k', {})
    barrier.resolve()
    const [a, b] = await Promise.all([first, second])
    assert.equal(b.headers.get('idempotent-replayed'), 'true')
    assert.equal(await b.text(), await a.text())
  })

  test('refuses a missing, malformed or reserved key', async (t) => {
    const { app, post } = await serve(await open(), async () => {})
    t.after(() => app.close())
    const codes = await Promise.all(
      [null, 'a b', 'sub:1'].map(async (key) => {
        const answer = (await (await post(key, {})).json()) as { error: { code: string } }
        return answer.error.code
      }),
    )
    assert.deepEqual(codes, [
      'idempotency_key_required',
      'idempotency_key_invalid',
      'idempotency_key_invalid',
    ])
  })
})
