import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Caller, openTestApp, type TestApp } from '../../harness/app.ts'
import { until } from '../../harness/eventually.ts'
import { killListeners } from '../../harness/live.ts'
import { openProxy, type TestProxy } from '../../harness/proxy.ts'
import { openSuperuser } from '../../harness/superuser.ts'
import {
  cacheAnswer,
  MANIFEST,
  openCachingApp,
  openLiveStore,
  PUBLISH,
  resolveUrl,
  setStatus,
  siteUrl,
  titled,
} from './setup.ts'

const PATHS = [siteUrl('acme'), resolveUrl('acme')]

const versionOf = (body: { version?: number; manifestVersion?: number }) =>
  body.version ?? body.manifestVersion ?? 0

/** As many readers as one address may have waiting, which read without a pause, and check each answer. */
function readConstantly(
  app: TestApp,
  check: (answer: { status: number; version: number }) => () => void,
) {
  let over = false
  let count = 0
  const readers = Array.from({ length: 20 }, async (_, i) => {
    while (!over) {
      const answer = { status: 0, version: 0 }
      const checkNow = check(answer)
      const { status, body } = await app.anyone.get(PATHS[i % 2] ?? '')
      Object.assign(answer, { status, version: versionOf(body) })
      checkNow()
      count += 1
    }
  })
  return {
    count: () => count,
    async stop() {
      over = true
      await Promise.all(readers)
    },
  }
}

describe('on the process that made the change', () => {
  test('a publish or a rollback is seen by every read that begins after its answer', async (t) => {
    const app = await openCachingApp(t)
    const acme = await openLiveStore(app, 'acme')
    for (let i = 2; i <= 5; i++) await acme.put(MANIFEST, titled(`number ${i}`))
    // A read may see the version being published or the one of the last answer, nothing else.
    let allowed = new Set([5])
    const readers = readConstantly(app, (answer) => {
      const before = allowed
      return () => {
        assert.equal(answer.status, 200)
        const known = [...before, ...allowed]
        assert.ok(known.includes(answer.version), `${answer.version}, not one of ${known}`)
      }
    })
    for (const version of [1, 4, 2, 5, 3, 1, 2]) {
      allowed = new Set([...allowed, version])
      await acme.post(PUBLISH, { version })
      allowed = new Set([version])
      const { count } = readers
      const seen = count()
      await until('read', () => count() > seen + 50)
    }
    await readers.stop()
  })

  test('a suspension hides the store from every read that begins after its answer', async (t) => {
    const app = await openCachingApp(t)
    await openLiveStore(app, 'acme')
    // The round in which the store is hidden: a slow read may begin in one and end in the next.
    let hiddenIn: number | null = null
    const readers = readConstantly(app, (answer) => {
      const before = hiddenIn
      return () => {
        if (before !== null && before === hiddenIn) assert.equal(answer.status, 404)
        else assert.ok(answer.status === 200 || answer.status === 404)
      }
    })
    for (let round = 0; round < 5; round++) {
      await setStatus(app, 'acme', 'suspended')
      hiddenIn = round
      const seen = readers.count()
      await until('read', () => readers.count() > seen + 100)
      hiddenIn = null
      await setStatus(app, 'acme', 'live')
    }
    await readers.stop()
  })
})

async function openPair(t: Parameters<typeof openTestApp>[0]) {
  const here = await openCachingApp(t)
  const there = await openCachingApp(t, { database: here.database })
  const acme = await openLiveStore(here, 'acme')
  return { here, there, acme }
}

const shows = async (app: TestApp, version: number) => {
  const answers = await Promise.all(PATHS.map((path) => app.anyone.get(path)))
  return answers.every(({ status, body }) => status === 200 && versionOf(body) === version)
}

describe('on another process', () => {
  test('every change is seen as soon as its notification arrives', async (t) => {
    const { here, there, acme } = await openPair(t)
    for (let i = 2; i <= 6; i++) {
      for (const path of PATHS) await cacheAnswer(there, path)
      assert.equal((await acme.put(MANIFEST, titled(`number ${i}`))).body.version, i)
      await until('published', () => shows(there, i))
    }
    for (const path of PATHS) await cacheAnswer(there, path)
    await acme.post(PUBLISH, { version: 2 })
    await until('rolled back', () => shows(there, 2))
    for (const path of PATHS) await cacheAnswer(there, path)
    await setStatus(here, 'acme', 'suspended')
    const gone = async () => (await there.anyone.get(PATHS[0] ?? '')).status === 404
    await until('suspended', gone)
    await setStatus(here, 'acme', 'live')
    await until('live again', () => shows(there, 2))
    assert.ok(there.runtime.cache.trusted && there.runtime.cache.stats().bypassed === 0)
  })

  test('an add-on that is switched is seen as soon as its notification arrives', async (t) => {
    const { here, there, acme } = await openPair(t)
    const addOns = async () => (await there.anyone.get(resolveUrl('acme'))).body.addOns ?? []
    const feature_key = 'subscribe_and_save'
    await cacheAnswer(there, resolveUrl('acme'))
    await acme.post('/v1/merchant/entitlements/enable', { feature_key })
    await until('switched on', async () => (await addOns()).includes(feature_key))
    await cacheAnswer(there, resolveUrl('acme'))
    await here.operator.put('/v1/entitlements/tenants/acme/tier', { tier: 'growth' })
    await until('of the tier', async () => (await addOns()).length === 4)
    assert.ok(there.runtime.cache.trusted && there.runtime.cache.stats().bypassed === 0)
  })

  test('no outdated answer is shown once the listener is lost, and answers are cached again later', async (t) => {
    const { there, acme } = await openPair(t)
    const superuser = await openSuperuser(t, there.database)
    for (let version = 2; version <= 4; version++) {
      for (const path of PATHS) await cacheAnswer(there, path)
      await superuser.query(killListeners)
      await acme.put(MANIFEST, titled(`number ${version}`))
      await until('seen', () => shows(there, version))
      await until('kept again', () => there.runtime.cache.trusted)
    }
  })
})

test('a commit whose answer was lost is visible like any other', async (t) => {
  let proxy: TestProxy | undefined
  const app = await openTestApp(t, {
    live: true,
    databaseUrl: async (url) => {
      const through = new URL(url)
      proxy = await openProxy(t, Number(through.port))
      through.host = `127.0.0.1:${proxy.port}`
      return through.href
    },
  })
  await until('kept', () => app.runtime.cache.trusted)
  const acme = await openLiveStore(app, 'acme')
  await acme.put(MANIFEST, titled('two'))
  for (const path of PATHS) await cacheAnswer(app, path)
  const superuser = await openSuperuser(t, app.database)
  await publishUnheard(acme, superuser, proxy)
  const { rows } = await superuser.query('select active_version from stores')
  assert.equal(rows[0].active_version, 1, 'it was committed')
  const answers = await Promise.all(PATHS.map((path) => app.anyone.get(path)))
  for (const { status, body } of answers) {
    assert.ok(status === 503 || versionOf(body) === 1, `${status}, version ${versionOf(body)}`)
  }
  await until('shown', () => shows(app, 1))
})

/** Publishes version 1, and cuts every connection after the commit and before its answer. */
async function publishUnheard(
  acme: Caller,
  superuser: Awaited<ReturnType<typeof openSuperuser>>,
  proxy: TestProxy | undefined,
) {
  // A deferred trigger delays the commit until we release the lock.
  await superuser.query(`
    create function hold() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock(77); return null; end $$`)
  await superuser.query('grant execute on function hold() to public')
  await superuser.query(`
    create constraint trigger hold after update on stores deferrable initially deferred
      for each row execute function hold()`)
  await superuser.query('select pg_advisory_lock(77)')
  const publishing = acme.post(PUBLISH, { version: 1 })
  const held = `select from pg_stat_activity
                 where datname = current_database() and wait_event = 'advisory' and query = 'commit'`
  await until('held', async () => ((await superuser.query(held)).rowCount ?? 0) > 0)
  proxy?.silence()
  await superuser.query('select pg_advisory_unlock(77)')
  const done = 'select from stores where active_version = 1'
  await until('committed', async () => ((await superuser.query(done)).rowCount ?? 0) > 0)
  await proxy?.cut()
  await proxy?.mend()
  proxy?.speak()
  assert.equal((await publishing).status, 503, 'its outcome is unknown')
}
