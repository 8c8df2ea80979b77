import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { Redis } from 'ioredis'
import pg from 'pg'
import type { ApiError } from '../../src/errors.ts'
import { createLimits, type Limits, openLimitStore } from '../../src/platform/rate-limits.ts'
import { deleteOldCounters } from '../../src/platform/rate-limits-postgres.ts'
import type { LimitStore } from '../../src/platform/rate-limits-store.ts'
import { openTestDatabase, type TestDatabase } from '../harness/database.ts'
import { eventually, until } from '../harness/eventually.ts'
import { openProxy } from '../harness/proxy.ts'
import { findRedisServer, startRedis } from '../harness/redis.ts'
import { times } from '../harness/refusals.ts'
import { share } from '../harness/scope.ts'

/** Longer than the real ones, for a busy machine, and short enough for tests that wait for them. */
const LONG_DEADLINE_MS = 30_000
const DEADLINE_MS = 1_500

interface OpenOptions {
  port?: number
  deadlineMs?: number
}

/** Counters, and the failures that they can have. */
interface CounterSetup {
  /** The counters as another process opens them; with a port, through a proxy. */
  open(options: OpenOptions): Promise<LimitStore>
  port: number
  /** Makes every window older, as if time had passed. */
  age(seconds: number): Promise<void>
  faults: Record<string, () => Promise<() => Promise<unknown>>>
}

const withPort = (url: string, port: number) => Object.assign(new URL(url), { port }).href

async function openAdmin(t: TestContext, url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  // The test's database is dropped first, and its connections with it.
  client.on('error', () => {})
  await client.connect()
  t.after(() => client.end())
  return client
}

async function postgres(t: TestContext, given?: TestDatabase): Promise<CounterSetup> {
  const database = given ?? (await openTestDatabase(t))
  const url = database.roleUrl('fd_app')
  const port = Number(new URL(url).port)
  const admin = await openAdmin(t, database.url)
  return {
    port,
    open: ({ port: through = port, deadlineMs = LONG_DEADLINE_MS }) =>
      openLimitStore({ databaseUrl: withPort(url, through), deadlineMs }),
    age: async (seconds) => {
      const text =
        'update limit_counters set window_start = window_start - make_interval(secs => $1)'
      await admin.query(text, [seconds])
    },
    faults: {
      'has its table locked': async () => {
        await admin.query('begin')
        await admin.query('lock table limit_counters in access exclusive mode')
        return () => admin.query('rollback')
      },
      'ends every connection and takes no new one': async () => {
        const name = new URL(url).pathname.slice(1)
        await admin.query(`alter database ${name} connection limit 0`)
        await admin.query(
          "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'fd_app'" +
            ' and datname = current_database()',
        )
        return () => admin.query(`alter database ${name} connection limit -1`)
      },
    },
  }
}

const redisIn = (program: string) =>
  async function redis(t: TestContext): Promise<CounterSetup> {
    const server = await startRedis(t, program)
    const open = async ({ port = server.port, deadlineMs = LONG_DEADLINE_MS }: OpenOptions) => {
      const redisUrl = withPort(server.url, port)
      const databaseUrl = 'postgres://nowhere.invalid/none'
      return openLimitStore({ databaseUrl, redisUrl, deadlineMs })
    }
    return {
      port: server.port,
      open,
      age: async (seconds) => {
        const client = new Redis(server.url)
        for (const key of await client.keys('fd:limit:*')) {
          await client.pexpire(key, (await client.pttl(key)) - seconds * 1_000)
        }
        await client.quit()
      },
      faults: {
        'is stopped': async () => {
          await server.stop()
          return () => server.restart()
        },
      },
    }
  }

const perMinute = { my: 20, failed: 5 }
const LIMITED = {
  code: 'rate_limited',
  status: 429,
  message: 'Too many attempts: at most 20 per minute. Try again later.',
  headers: { 'retry-after': '60' },
}
const UNAVAILABLE = {
  code: 'db_error',
  status: 503,
  message: 'rate limiter unavailable. Send the request again after the seconds in `retry-after`.',
}

/** The limits of a process over counters of its own, and a clock that only the test moves. */
async function openLimits(t: TestContext, place: CounterSetup, options: OpenOptions = {}) {
  const store = await place.open(options)
  t.after(() => store.close())
  let time = 1_700_000_000_000
  const limits = createLimits({ store, perMinute, clock: { now: () => time } })
  const pass = (ms: number) => {
    time += ms
  }
  return { limits, store, pass }
}

async function admitted(attempts: Promise<void>[]): Promise<number> {
  const settled = await Promise.allSettled(attempts)
  for (const each of settled) {
    if (each.status === 'rejected') assert.equal((each.reason as ApiError).code, 'rate_limited')
  }
  return settled.filter(({ status }) => status === 'fulfilled').length
}

async function refusesEverybody(limits: Limits): Promise<void> {
  const started = performance.now()
  const calls = [
    () => limits.countAttempt('a'),
    () => limits.checkFailures('a'),
    () => limits.countFailure('a'),
    () => limits.velocity('a', 1_000),
    () => limits.ping(),
  ]
  await Promise.all(
    calls.map((call) =>
      assert.rejects(call, (error: ApiError) => {
        const { code, status, message, cause } = error
        assert.deepEqual({ code, status, message }, UNAVAILABLE)
        return cause instanceof Error
      }),
    ),
  )
  const took = performance.now() - started
  // Without a deadline it would wait for ever.
  assert.ok(took < DEADLINE_MS + 60_000, `refused after ${took} ms`)
}

const redisServer = await findRedisServer()
const places: (readonly [string, (t: TestContext) => Promise<CounterSetup>])[] = [
  ['PostgreSQL', postgres],
]
if (redisServer === null) {
  test('limits in Redis', { skip: 'the Redis half was not run: no redis-server' })
} else {
  places.push(['Redis', redisIn(redisServer)])
}

for (const [name, openPlace] of places) {
  describe(`limits in ${name}`, () => {
    /** Each test has callers and buckets of its own. */
    const shared = share((scope) => openPlace(scope))

    test('count in a window of an hour, and take back attempts that did not fail', async (t) => {
      const place = shared.current
      const { limits } = await openLimits(t, place)
      for (const isWithin of [true, true, false]) {
        assert.equal(await limits.velocity('wrong', 2, 3_600), isWithin)
      }
      await place.age(61)
      assert.equal(await limits.velocity('wrong', 2, 3_600), false, 'an hour is not over')
      await limits.releaseHit('wrong')
      await limits.releaseHit('wrong')
      await limits.releaseHit('wrong')
      assert.equal(await limits.velocity('wrong', 2, 3_600), true)
      await place.age(3_600)
      for (const isWithin of [true, true, false]) {
        assert.equal(await limits.velocity('wrong', 2, 3_600), isWithin)
      }
    })

    test('admit exactly the limit when two processes count one more at the same time', async (t) => {
      const place = shared.current
      const [one, other] = [await openLimits(t, place), await openLimits(t, place)]
      const attempts = Array.from({ length: perMinute.my + 1 }, (_, i) =>
        (i % 2 === 0 ? one : other).limits.countAttempt('192.0.2.1'),
      )
      assert.equal(await admitted(attempts), perMinute.my)
      await assert.rejects(other.limits.countAttempt('192.0.2.1'), LIMITED)
      await other.limits.countAttempt('192.0.2.2')
    })

    test('admit again once the minute has passed, and no sooner', async (t) => {
      const place = shared.current
      const { limits, store } = await openLimits(t, place)
      const burst = (by: Limits) =>
        admitted(Array.from({ length: perMinute.my + 1 }, () => by.countAttempt('late')))
      assert.equal(await burst(limits), perMinute.my)
      await place.age(50)
      assert.equal(await burst(limits), 0)
      assert.equal(await store.peek('my:late'), perMinute.my + 1, 'the rest is refused from memory')
      const other = await openLimits(t, place)
      assert.equal(await burst(other.limits), 0, 'also by a process that has nothing in memory')
      await place.age(10)
      assert.equal(await store.peek('my:late'), 0)
      const next = await openLimits(t, place)
      assert.equal(await burst(next.limits), perMinute.my)
    })

    test('refuse a caller that has failed too often, and no other', async (t) => {
      const { limits } = await openLimits(t, shared.current)
      for (let n = 0; n < perMinute.failed; n++) {
        await limits.checkFailures('failing')
        await limits.countFailure('failing')
      }
      await assert.rejects(limits.checkFailures('failing'), {
        ...LIMITED,
        message: 'Too many attempts: at most 5 per minute. Try again later.',
      })
      await limits.checkFailures('other')
      await limits.countAttempt('failing')
    })

    test('never count below zero, even if a hit of an older minute is taken back', async (t) => {
      const { limits, store } = await openLimits(t, shared.current)
      await limits.countFailureAhead('zero')
      for (let n = 0; n < 3; n++) await limits.uncountFailure('zero')
      assert.equal(await store.peek('failed:zero'), 0)
      assert.equal(await store.hit('failed:zero'), 1)
    })

    test('use the count of another process within a second', async (t) => {
      const place = shared.current
      const [one, other] = [await openLimits(t, place), await openLimits(t, place)]
      await one.limits.checkFailures('two-processes')
      for (let n = 0; n < perMinute.failed; n++) await other.limits.countFailure('two-processes')
      one.pass(999)
      await one.limits.checkFailures('two-processes')
      one.pass(1)
      await assert.rejects(one.limits.checkFailures('two-processes'), { code: 'rate_limited' })
      await place.age(60)
      one.pass(1_000)
      await one.limits.checkFailures('two-processes')
    })

    test('count several hits at once, in the bucket that velocity reads', async (t) => {
      const { limits } = await openLimits(t, shared.current)
      assert.equal(await limits.addHits(['hits:ip'], 2), 2)
      assert.equal(await limits.velocity('hits:ip', 3), true)
      assert.equal(await limits.addHits(['hits:ip'], 3), 6)
      assert.equal(await limits.velocity('hits:ip', 6), false)
    })

    test('count several buckets together, so that exactly the limit is admitted at the same time', async (t) => {
      const { limits } = await openLimits(t, shared.current)
      const spent = await Promise.all(
        Array.from({ length: 30 }, (_, n) => {
          const buckets = ['acme:email', 'acme:card', 'acme:customer']
          return limits.addHits(n % 2 === 0 ? buckets : buckets.toReversed(), 1)
        }),
      )
      assert.deepEqual(
        spent.toSorted((a, b) => a - b),
        Array.from({ length: 30 }, (_, n) => n + 1),
      )
      assert.equal(await limits.addHits(['acme:email', 'acme:other', 'acme:other'], 1), 31)
    })

    test('answer whether a bucket has exceeded its velocity', async (t) => {
      const { limits } = await openLimits(t, shared.current)
      const answers = []
      for (let n = 0; n < 4; n++) answers.push(await limits.velocity('fast:card', 3))
      assert.deepEqual(answers, [true, true, true, false])
      assert.equal(await limits.hits('fast:card'), 4)
    })

    test('read the counts of many buckets at once, each its own', async (t) => {
      const { limits } = await openLimits(t, shared.current)
      for (const bucket of ['a', 'b', 'b']) await limits.velocity(bucket, 9)
      const reads = await times(300, (i) => limits.hits(['a', 'b', 'none'][i % 3] ?? ''))
      assert.deepEqual(reads.slice(-3), [1, 2, 0])
      assert.deepEqual(new Set(reads), new Set([0, 1, 2]))
    })

    test('refuse all callers while the counters are silent, and recover by themselves', async (t) => {
      const place = await openPlace(t)
      const proxy = await openProxy(t, place.port)
      const { limits } = await openLimits(t, place, {
        port: proxy.port,
        deadlineMs: DEADLINE_MS,
      })
      await limits.countAttempt('a')
      proxy.silence()
      await refusesEverybody(limits)
      proxy.speak()
      await eventually(() => limits.countAttempt('a'))
      await limits.ping()
    })

    test('admit callers while the counters cannot be reached, and recover by themselves', async (t) => {
      const place = await openPlace(t)
      const proxy = await openProxy(t, place.port)
      proxy.silence()
      const { limits } = await openLimits(t, place, {
        port: proxy.port,
        deadlineMs: DEADLINE_MS,
      })
      await refusesEverybody(limits)
      proxy.speak()
      await eventually(() => limits.countAttempt('a'))
    })

    test('refuse and recover by themselves, whatever fails in the counters', async (t) => {
      const place = await openPlace(t)
      for (const [what, strike] of Object.entries(place.faults)) {
        await t.test(`when it ${what}`, async (t) => {
          const { limits, pass } = await openLimits(t, place, { deadlineMs: DEADLINE_MS })
          await limits.checkFailures('a')
          const heal = await strike()
          try {
            // A count from before the failure is used for a second, and no longer.
            await limits.checkFailures('a')
            pass(1_000)
            await refusesEverybody(limits)
          } finally {
            await heal()
          }
          await eventually(() => limits.countAttempt('a'))
          await limits.checkFailures('a')
          await limits.countFailure('a')
        })
      }
    })
  })
}

/** Uses the processor, so that this process does nothing else. */
function stall(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

describe('counters in PostgreSQL', () => {
  test('do not mistake a delay of their own process for one of the counters', async (t) => {
    const database = await openTestDatabase(t)
    const store = await openLimitStore({
      databaseUrl: database.roleUrl('fd_app'),
      deadlineMs: DEADLINE_MS,
    })
    t.after(() => store.close())
    const first = store.hit('a')
    // Also while a connection is opened.
    stall(2 * DEADLINE_MS)
    assert.equal(await first, 1)
    const second = store.hit('a')
    setImmediate(() => stall(2 * DEADLINE_MS))
    assert.equal(await second, 2)
    const third = [store.hit('a'), store.hit('a'), store.peek('a')]
    stall(2 * DEADLINE_MS)
    assert.deepEqual((await Promise.all(third)).slice(0, 2), [3, 4])
  })

  test('never use more than two connections, however long the table is locked', async (t) => {
    const database = await openTestDatabase(t)
    const [holder, watcher] = [
      await openAdmin(t, database.url),
      // Another one: in a transaction the states of connections stay as they were first read.
      await openAdmin(t, database.url),
    ]
    const databaseUrl = database.roleUrl('fd_app')
    const store = await openLimitStore({ databaseUrl, deadlineMs: DEADLINE_MS })
    t.after(() => store.close())
    await holder.query('begin')
    await holder.query('lock table limit_counters in access exclusive mode')
    for (let round = 0; round < 2; round++) {
      const calls = Array.from({ length: 1_200 }, () => store.hit('a'))
      const settled = await Promise.allSettled(calls)
      assert.ok(settled.every(({ status }) => status === 'rejected'))
    }
    const count = async () => {
      const { rows } = await watcher.query(
        "select count(*)::int as open, count(*) filter (where state <> 'idle')::int as busy" +
          "  from pg_stat_activity where datname = current_database() and usename = 'fd_app'",
      )
      return rows[0]
    }
    const { open } = await count()
    assert.ok(open <= 2, `${open} connections`)
    // By themselves, while the table is still locked.
    await until('their statements end', async () => (await count()).busy === 0)
    await holder.query('rollback')
    assert.equal(await store.hit('a'), 1)
  })

  test('count in a window of a day, whatever the worker deletes meanwhile', async (t) => {
    const database = await openTestDatabase(t)
    const place = await postgres(t, database)
    const { limits } = await openLimits(t, place)
    const worker = database.open('fd_worker').directory
    for (const isWithin of [true, true, false]) {
      assert.equal(await limits.velocity('mails', 2, 86_400), isWithin)
    }
    await place.age(86_400 - 60)
    assert.equal(await deleteOldCounters(worker), 0)
    assert.equal(await limits.velocity('mails', 2, 86_400), false, 'the day is not over')
    await place.age(61)
    assert.equal(await limits.velocity('mails', 2, 86_400), true)
    await place.age(86_401)
    assert.equal(await deleteOldCounters(worker), 1)
  })

  test('are deleted by the worker after their window, some at a time', async (t) => {
    const database = await openTestDatabase(t)
    const admin = await openAdmin(t, database.url)
    await admin.query(`
      insert into limit_counters
      select 'old:' || n, now() - interval '61 min', 1 from generate_series(1, 1500) n
       union all
      select 'new', now() - interval '59 min', 1`)
    const worker = database.open('fd_worker').directory
    assert.equal(await deleteOldCounters(worker), 1_000)
    assert.equal(await deleteOldCounters(worker), 500)
    assert.equal(await deleteOldCounters(worker), 0)
    const { rows } = await admin.query('select bucket from limit_counters')
    assert.deepEqual(rows, [{ bucket: 'new' }])
    await assert.rejects(deleteOldCounters(database.open('fd_app').directory), { code: '42501' })
  })
})
