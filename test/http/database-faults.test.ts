import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { Logger } from 'pino'
import { sql } from '../../src/db/sql.ts'
import { createLogger } from '../../src/platform/log.ts'
import { type Answer, type Caller, openTestApp, type TestApp } from '../harness/app.ts'
import { openTestDatabase } from '../harness/database.ts'
import { until } from '../harness/eventually.ts'
import { openProxy, type TestProxy } from '../harness/proxy.ts'
import { findRedisServer, startRedis } from '../harness/redis.ts'
import { isRefusal } from '../harness/refusals.ts'

/**
 * The end of a failure must be noticed within this: sooner than the timeout of a statement without
 * an answer.
 */
const RECOVERY_MS = 10_000

/**
 * Longer than the real one, since a busy machine must count in time; and short enough to be
 * exceeded.
 */
const LIMITER_MS = 1_500

/** Reads whose cost may grow with the store, and the tables that each of them reads one of. */
const HEAVY_READS = [
  '/v1/my/audit',
  '/v1/merchant/catalog/products',
  '/v1/tenants/{tenant}/catalog/products',
  '/v1/tenants/{tenant}/catalog/collections/all',
  '/v1/merchant/ledger/proof',
  '/v1/merchant/analytics/summary',
  '/v1/merchant/analytics/summary.csv',
  '/v1/merchant/analytics/rows',
  '/v1/merchant/analytics/payments/rows',
  '/v1/merchant/analytics/subscriptions/rows',
  '/v1/merchant/analytics/funnel/rows',
]
const HEAVY_TABLES = `audit_log, products, collection_products, ledger_entries, analytics_days, analytics_facts,
  analytics_payment_days, analytics_subscriptions, analytics_subscription_days, funnel_days`

async function openBehindProxy(t: TestContext, logger?: Logger) {
  let proxy: TestProxy | undefined
  const app = await openTestApp(t, {
    ...(logger && { logger }),
    limiterDeadlineMs: LIMITER_MS,
    poolWaitMs: 5_000,
    databaseUrl: async (url) => {
      const address = new URL(url)
      proxy = await openProxy(t, Number(address.port))
      address.host = `127.0.0.1:${proxy.port}`
      return address.href
    },
  })
  assert.ok(proxy)
  return { app, proxy }
}

/** A log, and the kinds of failures in it. */
function watchFailures() {
  const kinds = new Set<unknown>()
  const logger = createLogger('error', {
    write: (line: string) => {
      const { msg, kind } = JSON.parse(line)
      if (msg === 'a request failed') kinds.add(kind)
    },
  })
  return { logger, kinds }
}

/** As the superuser, past the proxy. */
async function openAdmin(t: TestContext, { database }: TestApp): Promise<pg.Client> {
  const admin = new pg.Client({ connectionString: database.url })
  // The database is dropped while it is open, at the end.
  admin.on('error', () => {})
  await admin.connect()
  t.after(() => admin.end().catch(() => {}))
  return admin
}

const OUTAGE = ['db_error', 'auth_unavailable', 'service_unavailable']

/** The correct answer or 503, and nothing else. */
function isCorrectOr503(answer: Answer): boolean {
  if (answer.status === 200) {
    assert.equal(answer.body.store.tenant_ref, 'acme')
    return true
  }
  assert.equal(answer.status, 503, answer.text)
  assert.ok(OUTAGE.includes(answer.body.error.code), answer.text)
  assert.equal(answer.body.error.correlationId, answer.headers['x-correlation-id'])
  return false
}

const readMany = (caller: Caller, count: number) =>
  Promise.all(Array.from({ length: count }, () => caller.get('/v1/my/store')))

async function isBack(app: TestApp, merchant: Caller) {
  const began = performance.now()
  await until(
    'reads are right again',
    async () => (await readMany(merchant, 3)).filter(isCorrectOr503).length === 3,
    RECOVERY_MS,
  )
  const ready = async () => (await app.anyone.get('/readyz')).status === 200
  await until('it is ready', ready, RECOVERY_MS - (performance.now() - began))
}

async function isAtRest({ runtime }: TestApp) {
  const pools = [runtime.database, runtime.operatorDatabase, runtime.workerDatabase]
  const rest = () => pools.every(({ load }) => load.busy === 0 && load.waiting === 0)
  await until('no connection is held', rest)
}

async function isDown(app: TestApp) {
  assert.equal((await app.anyone.get('/healthz')).status, 200)
  const answer = await app.anyone.get('/readyz')
  assert.equal(answer.status, 503)
  assert.ok(answer.body.failing.includes('database'), answer.text)
}

describe('a database that is lost', () => {
  test('answers 503 while it is disconnected, and correctly as soon as it is back', async (t) => {
    const { logger, kinds } = watchFailures()
    const { app, proxy } = await openBehindProxy(t, logger)
    const merchant = await app.merchant('acme')
    await until('all are read', async () => (await readMany(merchant, 10)).every(isCorrectOr503))
    kinds.clear()
    await proxy.cut()
    assert.ok(!(await readMany(merchant, 10)).some(isCorrectOr503))
    await isDown(app)
    await proxy.mend()
    await isBack(app, merchant)
    await isAtRest(app)
    assert.deepEqual([...kinds], ['outage'])
  })

  test('answers 503 while it is silent, and correctly as soon as it answers', async (t) => {
    const { logger, kinds } = watchFailures()
    const { app, proxy } = await openBehindProxy(t, logger)
    const merchant = await app.merchant('acme')
    // Many connections are open and idle when the silence begins: all of them are dead after it.
    // A busy machine may open them too slowly at first.
    await until('all are read', async () => (await readMany(merchant, 12)).every(isCorrectOr503))
    kinds.clear()
    const busy = readMany(merchant, 5)
    proxy.silence()
    const began = performance.now()
    for (const answer of await busy) isCorrectOr503(answer)
    assert.ok(!(await readMany(merchant, 10)).some(isCorrectOr503))
    assert.ok(performance.now() - began < 30_000)
    await isDown(app)
    proxy.speak()
    await isBack(app, merchant)
    await isAtRest(app)
    assert.deepEqual([...kinds], ['outage'])
  })

  test('idle connections that were lost unnoticed are not tried one by one', async (t) => {
    const { app, proxy } = await openBehindProxy(t)
    await app.store('acme')
    const { database } = app.runtime
    const readAll = () =>
      Promise.all(
        Array.from({ length: 10 }, () => database.tenant('acme').run(sql`select from stores`)),
      )
    await readAll()
    proxy.silence()
    // A connection is probed only after it was idle for a second.
    await pause(1_100)
    proxy.speak()
    const began = performance.now()
    await until(
      'a statement is answered',
      () =>
        database.ping().then(
          () => true,
          () => false,
        ),
      RECOVERY_MS,
    )
    await readAll()
    assert.ok(performance.now() - began < RECOVERY_MS)
    await isAtRest(app)
  })

  test('never causes an empty answer, however often it comes and goes', async (t) => {
    const { app, proxy } = await openBehindProxy(t)
    const merchant = await app.merchant('acme')
    const counts = { right: 0, refused: 0 }
    let over = false
    const readers = Array.from({ length: 4 }, async () => {
      while (!over)
        counts[isCorrectOr503(await merchant.get('/v1/my/store')) ? 'right' : 'refused']++
    })
    for (let round = 0; round < 5; round++) {
      const before = { ...counts }
      await proxy.cut()
      await until('some are refused', () => counts.refused > before.refused)
      await proxy.mend()
      await until('some are right', () => counts.right > before.right)
    }
    over = true
    await Promise.all(readers)
    await isBack(app, merchant)
    await isAtRest(app)
  })
})

describe('an error of PostgreSQL', () => {
  test('a statement that takes too long is 503, and its connection stays usable', async (t) => {
    const app = await openTestApp(t)
    const admin = await openAdmin(t, app)
    const name = pg.escapeIdentifier(new URL(app.database.url).pathname.slice(1))
    await admin.query(`alter role fd_app in database ${name} set statement_timeout = '1s'`)
    const merchant = await app.merchant('acme')
    await admin.query('begin')
    await admin.query('lock table audit_log in access exclusive mode')
    const late = await merchant.get('/v1/my/audit')
    isRefusal(late, 'service_unavailable', true)
    await admin.query('rollback')
    assert.equal((await merchant.get('/v1/my/audit')).status, 200)
    await isAtRest(app)
  })

  test('a heavy read ends by a time limit of its own, whatever that of the role is', async (t) => {
    const lines: string[] = []
    const logger = createLogger('error', { write: (line: string) => void lines.push(line) })
    const app = await openTestApp(t, { logger })
    const admin = await openAdmin(t, app)
    const name = pg.escapeIdentifier(new URL(app.database.url).pathname.slice(1))
    await admin.query(`alter role fd_app in database ${name} set statement_timeout = '10min'`)
    // A store for each, since one store's reads wait for each other.
    const reads: [Caller, string][] = []
    for (const [n, url] of HEAVY_READS.entries()) {
      reads.push([await app.merchant(`store-${n}`), url.replace('{tenant}', `store-${n}`)])
    }
    await admin.query('begin')
    await admin.query(`lock table ${HEAVY_TABLES} in access exclusive mode`)
    const answers = await Promise.all(reads.map(([merchant, url]) => merchant.get(url)))
    await admin.query('rollback')
    for (const answer of answers) isRefusal(answer, 'service_unavailable', true)
    const others = lines.filter((line) => !line.includes('due to statement timeout'))
    assert.deepEqual([others, lines.length], [[], HEAVY_READS.length])
  })

  test('a transaction that loses a deadlock is run again', async (t) => {
    const database = (await openTestDatabase(t)).open('fd_app')
    const met = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let tries = 0
    const crossing = (mine: number, others: number) =>
      database.tenant('acme').transaction('crossing', async (tx) => {
        tries++
        await tx.run(sql`select pg_advisory_xact_lock(${mine})`)
        met[mine]?.resolve()
        await met[others]?.promise
        await tx.run(sql`select pg_advisory_xact_lock(${others})`)
        return mine
      })
    assert.deepEqual(await Promise.all([crossing(0, 1), crossing(1, 0)]), [0, 1])
    assert.equal(tries, 3, 'one of the two was run twice')
    assert.deepEqual(database.load, { busy: 0, waiting: 0 })
  })

  test('a transaction that cannot be serialised is tried at most three times', async (t) => {
    const database = (await openTestDatabase(t)).open('fd_app')
    const losing = (times: number) => {
      let tries = 0
      const run = database.tenant('acme').transaction('losing', async (tx) => {
        tries++
        if (tries <= times) {
          await tx.run(sql`do $$ begin raise exception using errcode = '40001'; end $$`)
        }
        return tries
      })
      return run
    }
    assert.equal(await losing(2), 3)
    await assert.rejects(losing(3), { code: '40001' })
    assert.deepEqual(database.load, { busy: 0, waiting: 0 })
  })
})

describe('a limiter that cannot count', () => {
  /** If a key were looked up, the code would be `auth_unavailable`. */
  const forbidLookup = (admin: pg.Client) =>
    admin.query('revoke execute on function fd_find_credential(text) from fd_app')

  async function refusesLimited(app: TestApp, merchant: Caller) {
    const limited = [
      await merchant.get('/v1/my/store'),
      await merchant.get('/v1/merchant/entitlements/requests'),
      await app.operator.get('/v1/stores'),
    ]
    for (const answer of limited) {
      isRefusal(answer, 'db_error', true)
      assert.equal(answer.text.includes('rate limiter unavailable'), true)
      assert.equal(answer.headers['retry-after'], '2')
    }
    const account = { email: 'a@b.example', password: 'a long enough password' }
    isRefusal(await app.anyone.post('/v1/identity/login', account), 'db_error', true)
    for (const path of ['/healthz', '/openapi.json', '/docs']) {
      assert.equal((await app.anyone.get(path)).status, 200, path)
    }
    const ready = await app.anyone.get('/readyz')
    assert.deepEqual([ready.status, ready.body.failing], [503, ['limiter']])
  }

  test('a limiter that cannot count in PostgreSQL refuses every limited route before it checks the key', async (t) => {
    const app = await openTestApp(t, { limiterDeadlineMs: LIMITER_MS })
    const admin = await openAdmin(t, app)
    const merchant = await app.merchant('acme')
    await forbidLookup(admin)
    assert.equal((await merchant.get('/v1/my/store')).body.error.code, 'auth_unavailable')
    await admin.query('begin')
    await admin.query('lock table limit_counters in access exclusive mode')
    // Known counts of callers are used for a second.
    const isRefused = async () =>
      (await app.operator.get('/v1/stores')).body.error?.code === 'db_error'
    await until('nothing is remembered', isRefused)
    await refusesLimited(app, merchant)
    await admin.query('rollback')
    await admin.query('grant execute on function fd_find_credential(text) to fd_app')
    await isBack(app, merchant)
  })

  test('a limiter that cannot count in Redis refuses every limited route before it checks the key', async (t) => {
    const program = await findRedisServer()
    if (program === null) return t.skip('there is no redis-server')
    const redis = await startRedis(t, program)
    const { logger, kinds } = watchFailures()
    const app = await openTestApp(t, {
      env: { REDIS_URL: redis.url },
      limiterDeadlineMs: LIMITER_MS,
      logger,
    })
    const admin = await openAdmin(t, app)
    const merchant = await app.merchant('acme')
    assert.equal((await merchant.get('/v1/my/store')).status, 200)
    await forbidLookup(admin)
    await redis.stop()
    await refusesLimited(app, merchant)
    assert.deepEqual([...kinds], ['outage'])
    await redis.restart()
    await admin.query('grant execute on function fd_find_credential(text) to fd_app')
    await isBack(app, merchant)
  })
})
