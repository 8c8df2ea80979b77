import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openTestApp, type TestApp } from '../../harness/app.ts'
import { assertEvenTimes } from '../../harness/even-times.ts'
import { countStatuses, essence, times } from '../../harness/refusals.ts'
import { openSuperuser } from '../../harness/superuser.ts'

const MANY = { RATE_LIMIT_MY_PER_MINUTE: '100000', RATE_LIMIT_FAILED_PER_MINUTE: '100000' }
const UNKNOWN = `fdk_00000000_${'0'.repeat(43)}`

/** Keys that must be refused, each for another reason. */
async function deadKeys(app: TestApp, superuser: { query(text: string): Promise<unknown> }) {
  const good = await app.key('acme')
  const expired = await app.key('acme', 'read:own_store')
  await superuser.query(`update credentials set expires_at = now() where cardinality(scopes) = 1`)
  const revoked = await app.key('acme', 'read:own_store')
  await superuser.query(
    `update credentials set revoked_at = now() where cardinality(scopes) = 1 and expires_at is null`,
  )
  const [, publicId, secret] = good.split('_')
  return {
    good,
    dead: {
      unknown: UNKNOWN,
      malformed: 'fdk_nonsense',
      revoked,
      expired,
      'with another secret': `fdk_${publicId}_${'A'.repeat(43)}`,
      'without its last letter': good.slice(0, -1),
      'with a letter more': `${good}0`,
      'in capitals': good.toUpperCase(),
      'without its prefix': `${publicId}_${secret}`,
      'the secret alone': String(secret),
      'the hint alone': `fdk_${publicId}`,
    },
  }
}

const bearer = (app: TestApp, key: string) => app.as({ authorization: `Bearer ${key}` })

describe('a refused key', () => {
  test('gets the same bytes for every reason', async (t) => {
    const app = await openTestApp(t, { env: MANY })
    const superuser = await openSuperuser(t, app.database)
    const { good, dead } = await deadKeys(app, superuser)
    assert.equal((await bearer(app, good).get('/v1/my/store')).status, 200)
    const withoutKey = await app.anyone.get('/v1/my/store')
    assert.equal(withoutKey.status, 401)
    for (const [what, key] of Object.entries(dead)) {
      const answer = await bearer(app, key).get('/v1/my/store')
      assert.deepEqual(essence(answer), essence(withoutKey), what)
    }
    const headers = [
      good,
      `Basic ${good}`,
      `Bearer  ${good}`,
      `Bearer ${good} x`,
      'Bearer',
      `Bearer ${'x'.repeat(5_000)}`,
    ]
    for (const authorization of headers) {
      const answer = await app.as({ authorization }).get('/v1/my/store')
      assert.deepEqual(essence(answer), essence(withoutKey), authorization.slice(0, 20))
    }
    const inQuery = await app.anyone.get(`/v1/my/store?authorization=${good}&key=${good}`)
    assert.deepEqual(essence(inQuery), essence(withoutKey))
  })

  test('takes the same time for every reason', async (t) => {
    const app = await openTestApp(t, { env: MANY })
    const superuser = await openSuperuser(t, app.database)
    const { dead } = await deadKeys(app, superuser)
    const kinds = ['unknown', 'malformed', 'revoked', 'expired', 'with another secret'] as const
    const callers = kinds.map((kind) => bearer(app, dead[kind]))
    const calls = callers.map((caller) => () => caller.get('/v1/merchant/entitlements/requests'))
    await assertEvenTimes(calls, { samples: 60 })
  })
})

describe('the limiter before the key', () => {
  test('counts good and bad keys on /v1/my/*, and refuses the request after the limit', async (t) => {
    const app = await openTestApp(t, { env: { RATE_LIMIT_MY_PER_MINUTE: '10' } })
    const key = await app.key('acme')
    for (let attempt = 0; attempt < 10; attempt++) {
      const caller = attempt % 2 ? app.anyone : bearer(app, key)
      assert.notEqual((await caller.get('/v1/my/store')).status, 429)
    }
    const over = await bearer(app, key).get('/v1/my/store')
    assert.equal(over.status, 429)
    assert.equal(over.body.error.code, 'rate_limited')
    assert.equal(over.headers['retry-after'], '60')
    assert.match(over.body.error.message, /\b10 per minute/)
    const initial = await app.anyone.post('/v1/my/credentials/initial', {})
    assert.equal(initial.status, 429, 'the owner shares the count')
    assert.equal((await bearer(app, key).get('/v1/merchant/entitlements/requests')).status, 200)
  })

  test('admits exactly the limit of concurrent requests', async (t) => {
    const app = await openTestApp(t, { env: { RATE_LIMIT_MY_PER_MINUTE: '20' } })
    const acme = await app.merchant('acme')
    const answers = await times(50, () => acme.get('/v1/my/store'))
    assert.deepEqual(countStatuses(answers), { 200: 20, 429: 30 })
  })

  test('refuses without reading the key', async (t) => {
    const app = await openTestApp(t, { env: { RATE_LIMIT_MY_PER_MINUTE: '1' } })
    const superuser = await openSuperuser(t, app.database)
    const acme = await app.merchant('acme')
    await acme.get('/v1/my/store')
    // A read of the key would now fail with 503.
    await superuser.query('revoke execute on function fd_find_credential(text) from fd_app')
    assert.equal((await acme.get('/v1/my/store')).status, 429)
    const looked = await acme.get('/v1/merchant/entitlements/requests')
    assert.deepEqual([looked.status, looked.body.error.code], [503, 'auth_unavailable'])
  })

  test('counts only failures on /v1/merchant/*', async (t) => {
    const app = await openTestApp(t, { env: { RATE_LIMIT_FAILED_PER_MINUTE: '5' } })
    const url = '/v1/merchant/entitlements/requests'
    const acme = await app.merchant('acme')
    const fine = await times(40, () => acme.get(url))
    assert.deepEqual(countStatuses(fine), { 200: 40 })
    for (let failed = 0; failed < 5; failed++) {
      assert.equal((await bearer(app, UNKNOWN).get(url)).status, 401)
    }
    const over = await bearer(app, UNKNOWN).get(url)
    assert.deepEqual([over.status, over.headers['retry-after']], [429, '60'])
    assert.equal((await acme.get(url)).status, 429, 'the caller is out, with a good key too')
  })
})
