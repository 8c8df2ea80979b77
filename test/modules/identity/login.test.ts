import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openTestApp } from '../../harness/app.ts'
import { assertEvenTimes } from '../../harness/even-times.ts'
import { assertRefused, countStatuses, essence, keysOf, times } from '../../harness/refusals.ts'
import { share } from '../../harness/scope.ts'
import { openSuperuser } from '../../harness/superuser.ts'

const URL = '/v1/identity/login'
const account = { email: 'ann@acme.example', password: 'correct horse', name: 'Ann' }
const wrong = { email: account.email, password: 'wrong horse' }
const MANY = { RATE_LIMIT_FAILED_PER_MINUTE: '100000' }

/** Each of its tests has addresses of its own: wrong passwords count against them. */
const shared = share((scope) => openTestApp(scope, { env: MANY }))

describe('logging in', () => {
  test('starts a new session each time', async () => {
    const app = shared.current
    const made = await app.anyone.post('/v1/identity/signup', account)
    const first = await app.anyone.post(URL, { ...account, email: 'ANN@Acme.example' })
    const second = await app.anyone.post(URL, account)
    assert.deepEqual([first.status, second.status], [200, 200])
    assert.deepEqual(keysOf(first.body), ['owner', 'session'])
    assert.deepEqual(first.body.owner, made.body.owner)
    const tokens = [made, first, second].map(({ body }) => body.session.token)
    assert.equal(new Set(tokens).size, 3)
    assert.ok(first.headers['set-cookie']?.startsWith(`__Host-fd_session=${tokens[1]}; `))
  })

  test('answers an unknown address and a wrong password with the same bytes', async () => {
    const app = shared.current
    const bea = { ...account, email: 'bea@acme.example' }
    await app.anyone.post('/v1/identity/signup', bea)
    const refused = await app.anyone.post(URL, { ...wrong, email: bea.email })
    assert.deepEqual([refused.status, refused.body.error.code], [401, 'unauthorized'])
    const others = [
      { email: 'nobody@acme.example', password: 'correct horse' },
      { ...bea, password: '' },
      { email: '', password: '' },
      { email: 'no address at all', password: 'correct horse' },
      { email: "' or '1'='1", password: "' or '1'='1" },
      { ...bea, password: 'Correct Horse' },
    ]
    for (const body of others) {
      assert.deepEqual(essence(await app.anyone.post(URL, body)), essence(refused), body.email)
    }
  })

  test('takes as long for an unknown address as for a wrong password', async () => {
    const app = shared.current
    const known = { ...account, email: 'known@acme.example' }
    await app.anyone.post('/v1/identity/signup', known)
    const bodies = [
      { ...wrong, email: known.email },
      { email: 'unknown@acme.example', password: 'correct horse' },
    ]
    const calls = bodies.map((body) => () => app.anyone.post(URL, body))
    await assertEvenTimes(calls, { samples: 15 })
  })

  test('is refused for an account without a password', async (t) => {
    const app = shared.current
    const superuser = await openSuperuser(t, app.database)
    await superuser.query(
      `insert into owners (email, name, email_verified_at) values ('v@acme.example', 'V', now())`,
    )
    for (const password of ['', 'null', 'nobody has this password']) {
      const { status } = await app.anyone.post(URL, { email: 'v@acme.example', password })
      assert.equal(status, 401, password)
    }
  })

  test('refuses an invalid body', async () => {
    const app = shared.current
    const bad = [
      ['no password', { email: account.email }, 'invalid_body', 'password'],
      ['no address', { password: account.password }, 'invalid_body', 'email'],
      ['an object', { ...account, password: { $ne: '' } }, 'invalid_body', 'password'],
      ['201 characters', { ...account, password: 'x'.repeat(201) }, 'invalid_body', 'password'],
    ] as const
    await assertRefused(bad, (body) => app.anyone.post(URL, body))
  })
})

describe('the limit on logins', () => {
  test('counts failures and never a success', async (t) => {
    const app = await openTestApp(t, { env: { RATE_LIMIT_FAILED_PER_MINUTE: '5' } })
    await app.anyone.post('/v1/identity/signup', account)
    for (let fine = 0; fine < 10; fine++) {
      assert.equal((await app.anyone.post(URL, account)).status, 200)
    }
    for (let failed = 0; failed < 5; failed++) {
      assert.equal((await app.anyone.post(URL, wrong)).status, 401)
    }
    const over = await app.anyone.post(URL, account)
    assert.deepEqual([over.status, over.body.error.code], [429, 'rate_limited'])
    assert.equal(over.headers['retry-after'], '60')
  })

  test('counts refused sign-ups with taken addresses, so that accounts cannot be listed', async (t) => {
    const app = await openTestApp(t, { env: { RATE_LIMIT_FAILED_PER_MINUTE: '3' } })
    await app.anyone.post('/v1/identity/signup', account)
    for (let failed = 0; failed < 3; failed++) {
      assert.equal((await app.anyone.post('/v1/identity/signup', account)).status, 409)
    }
    assert.equal((await app.anyone.post('/v1/identity/signup', account)).status, 429)
  })
})

test('fifty wrong passwords at once are checked no more often than in sequence', async (t) => {
  const app = await openTestApp(t, { env: { RATE_LIMIT_FAILED_PER_MINUTE: '10' } })
  await app.owner('ann@acme.example')
  const guess = { email: 'ann@acme.example', password: 'a wrong one' }
  const answers = await times(50, () => app.anyone.post('/v1/identity/login', guess))
  assert.deepEqual(countStatuses(answers), { 401: 10, 429: 40 })
})

test('good logins are not counted, also when concurrent', async (t) => {
  const app = await openTestApp(t, { env: { RATE_LIMIT_FAILED_PER_MINUTE: '10' } })
  await app.owner('ann@acme.example')
  const account = { email: 'ann@acme.example', password: 'a password for tests' }
  for (let round = 0; round < 3; round++) {
    const answers = await times(8, () => app.anyone.post('/v1/identity/login', account))
    assert.deepEqual(countStatuses(answers), { 200: 8 })
  }
})
