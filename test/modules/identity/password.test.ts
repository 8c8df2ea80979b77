import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { type Answer, openTestApp } from '../../harness/app.ts'
import { assertEvenTimes } from '../../harness/even-times.ts'
import { fillDay } from '../../harness/mail-limits.ts'
import { countStatuses, essence, times } from '../../harness/refusals.ts'
import { share } from '../../harness/scope.ts'
import { openSuperuser } from '../../harness/superuser.ts'

const FORGOT = '/v1/identity/password/forgot'
const RESET = '/v1/identity/password/reset'
const CHANGE = '/v1/identity/password'
const LOG_IN = '/v1/identity/login'
const account = { email: 'ann@acme.example', password: 'correct horse', name: 'Ann' }
const NEW = 'another battery'
const MANY = { RATE_LIMIT_FAILED_PER_MINUTE: '100000' }
const ENV = { ...MANY, TRUST_PROXY: '127.0.0.1' }

/** The tests that share it ask for few mails: one caller may ask 20 times per hour. */
const shared = share((scope) => openTestApp(scope, { env: ENV }))
let people = 0

/** The next person with an account. */
async function open(t: TestContext, app = shared.current) {
  const superuser = await openSuperuser(t, app.database)
  people++
  const ann = { ...account, email: `ann-${people}@acme.example` }
  await app.anyone.post('/v1/identity/signup', ann)
  const mailsTo = async (email: string) => {
    const query = 'select subject, body from mails where recipient = $1 order by created_at'
    return (await superuser.query(query, [email])).rows as { subject: string; body: string }[]
  }
  const mailedToken = async () => {
    await app.anyone.post(FORGOT, { email: ann.email })
    return /^[\w-]{80,}$/m.exec((await mailsTo(ann.email)).at(-1)?.body ?? '')?.[0] ?? ''
  }
  const logIn = async (password: string) =>
    (await app.anyone.post(LOG_IN, { email: ann.email, password })).status
  const startSession = async () => {
    const { body } = await app.anyone.post(LOG_IN, ann)
    return app.as({ authorization: `Bearer ${body.session.token}` })
  }
  return { app, superuser, ann, mailsTo, mailedToken, logIn, startSession }
}

const isRefused = ({ status, body }: Answer, expected: number, code = 'unauthorized') =>
  assert.deepEqual([status, body.error?.code], [expected, code])

describe('a forgotten password', () => {
  test('is replaced by the mailed token, which ends all sessions', async (t) => {
    const { app, ann, mailedToken, mailsTo, logIn, startSession } = await open(t)
    const before = await startSession()
    const token = await mailedToken()
    const reset = await app.anyone.post(RESET, { token, password: NEW })
    assert.deepEqual([reset.status, reset.body], [200, { changed: true }])
    assert.deepEqual([await logIn(ann.password), await logIn(NEW)], [401, 200])
    isRefused(await before.get('/v1/identity/me'), 401)
    assert.equal((await mailsTo(ann.email)).at(-1)?.subject, 'Your password was changed')
  })

  test('is answered the same for an address without an account, which gets no mail', async (t) => {
    const { app, ann, mailsTo, superuser } = await open(t)
    await superuser.query(`insert into owners (email, name) values ('waits@acme.example', 'W')`)
    const known = await app.anyone.post(FORGOT, { email: ann.email.replace('ann', 'ANN') })
    assert.deepEqual([known.status, known.body], [202, { accepted: true }])
    for (const email of ['nobody@acme.example', 'waits@acme.example']) {
      assert.deepEqual(essence(await app.anyone.post(FORGOT, { email })), essence(known))
      assert.deepEqual(await mailsTo(email), [])
    }
    assert.equal((await mailsTo(ann.email)).length, 1)
  })

  test('takes equally long if there is no account', async (t) => {
    const { app, superuser } = await open(t, await openTestApp(t, { env: ENV }))
    await superuser.query(
      `insert into owners (email, name, email_verified_at)
       select 'known' || n || '@acme.example', 'K', now() from generate_series(0, 199) n`,
    )
    const ask = (kind: string) => async (n: number) => {
      const caller = app.as({ 'x-forwarded-for': `203.0.113.${n}` })
      const { status } = await caller.post(FORGOT, { email: `${kind}${n}@acme.example` })
      assert.equal(status, 202)
    }
    await assertEvenTimes([ask('known'), ask('unknown')], { samples: 37, ratioMax: 1.25 })
  })

  test('sends at most five mails per hour to an address, and accepts 20 requests of a caller', async (t) => {
    const { app, ann, mailsTo } = await open(t, await openTestApp(t, { env: ENV }))
    const answers = await times(30, () => app.anyone.post(FORGOT, { email: ann.email }))
    assert.deepEqual(countStatuses(answers), { 202: 20, 429: 10 })
    assert.equal((await mailsTo(ann.email)).length, 5)
    const elsewhere = app.as({ 'x-forwarded-for': '203.0.113.9' })
    assert.equal((await elsewhere.post(FORGOT, { email: ann.email })).status, 202)
    assert.equal((await mailsTo(ann.email)).length, 5)
  })

  test('sends at most twenty mails a day to an address, and its answer does not say so', async (t) => {
    const { app, ann, mailsTo } = await open(t, await openTestApp(t, { env: ENV }))
    await fillDay(app.runtime.limits, 'password', ann.email, 19)
    const answers = await times(3, () => app.anyone.post(FORGOT, { email: ann.email }))
    assert.deepEqual(countStatuses(answers), { 202: 3 })
    assert.equal((await mailsTo(ann.email)).length, 1)
  })

  test('refuses a used token, also among ten requests at the same time', async (t) => {
    const { app, mailedToken } = await open(t)
    const token = await mailedToken()
    const answers = await times(10, (i) =>
      app.anyone.post(RESET, { token, password: `battery number ${i}` }),
    )
    assert.deepEqual(countStatuses(answers), { 200: 1, 401: 9 })
    isRefused(await app.anyone.post(RESET, { token, password: NEW }), 401)
  })

  test('refuses a token after an hour, after another change, and any other text', async (t) => {
    let offset = 0
    const clock = { now: () => Date.now() + offset }
    const { app, mailedToken } = await open(t, await openTestApp(t, { env: ENV, clock }))
    const [first, second] = [await mailedToken(), await mailedToken()]
    assert.equal((await app.anyone.post(RESET, { token: first, password: NEW })).status, 200)
    isRefused(await app.anyone.post(RESET, { token: second, password: NEW }), 401)
    const third = await mailedToken()
    offset = 3_601_000
    const texts = [
      third,
      '',
      'x',
      `${third}x`,
      third.slice(1),
      Buffer.from('["",9e9,""]').toString('base64url'),
    ]
    for (const token of texts) {
      isRefused(await app.anyone.post(RESET, { token, password: NEW }), 401)
    }
  })

  test('refuses a token that verifies an address', async (t) => {
    const env = { ...MANY, IDENTITY_EMAIL_VERIFICATION: 'required' }
    const app = await openTestApp(t, { env })
    const superuser = await openSuperuser(t, app.database)
    await app.anyone.post('/v1/identity/signup', account)
    const { rows } = await superuser.query('select body from mails')
    const token = /^[\w-]{80,}$/m.exec(rows[0].body)?.[0]
    isRefused(await app.anyone.post(RESET, { token, password: NEW }), 401)
  })

  test('refuses invalid bodies', async (t) => {
    const { app, ann, mailedToken, logIn } = await open(t)
    const token = await mailedToken()
    const bad: [string, string, object][] = [
      [FORGOT, 'email', {}],
      [FORGOT, 'email', { email: 'no address' }],
      [FORGOT, 'email', { email: { $ne: '' } }],
      [RESET, 'password', { token, password: 'short' }],
      [RESET, 'password', { token, password: 'x'.repeat(201) }],
      [RESET, 'token', { password: NEW }],
      [RESET, 'token', { token: 'x'.repeat(1_001), password: NEW }],
    ]
    for (const [url, path, body] of bad) {
      const refused = await app.anyone.post(url, body)
      isRefused(refused, 400, 'invalid_body')
      assert.equal(refused.body.issues[0].path, path)
    }
    assert.equal(await logIn(ann.password), 200)
  })
})

describe('changing a password', () => {
  const body = { current_password: account.password, new_password: NEW }

  test('keeps this session, ends the others and says so by mail', async (t) => {
    const { ann, mailsTo, logIn, startSession } = await open(t)
    const [here, there] = [await startSession(), await startSession()]
    const changed = await here.put(CHANGE, body)
    assert.deepEqual([changed.status, changed.body], [200, { changed: true }])
    assert.equal((await here.get('/v1/identity/me')).status, 200)
    isRefused(await there.get('/v1/identity/me'), 401)
    assert.deepEqual([await logIn(ann.password), await logIn(NEW)], [401, 200])
    assert.equal((await mailsTo(ann.email)).at(-1)?.subject, 'Your password was changed')
  })

  test('needs the current password, and counts wrong ones', async (t) => {
    const { startSession } = await open(t)
    const owner = await startSession()
    const wrong = { ...body, current_password: 'wrong horse' }
    isRefused(await owner.put(CHANGE, wrong), 403, 'wrong_password')
    const send = () => times(10, () => owner.put(CHANGE, wrong))
    const answers = [await send(), await send(), await send(), await send()].flat()
    assert.deepEqual(countStatuses(answers), { 403: 29, 429: 11 })
    assert.equal((await owner.put(CHANGE, body)).status, 429)
    assert.equal((await owner.get('/v1/identity/me')).status, 200)
  })

  test('succeeds once of ten at the same time', async (t) => {
    const { startSession } = await open(t)
    const owner = await startSession()
    const answers = await times(10, (i) =>
      owner.put(CHANGE, { ...body, new_password: `battery number ${i}` }),
    )
    assert.deepEqual(countStatuses(answers), { 200: 1, 403: 9 })
  })

  test('is refused without a session, by cookie without its header, and with a key', async (t) => {
    const { app, ann, logIn } = await open(t)
    isRefused(await app.anyone.put(CHANGE, body), 401)
    const { body: started } = await app.anyone.post(LOG_IN, ann)
    const byCookie = app.as({ cookie: `__Host-fd_session=${started.session.token}` })
    isRefused(await byCookie.put(CHANGE, body), 403, 'csrf_required')
    const byKey = app.as({ authorization: `Bearer ${await app.key('acme')}` })
    isRefused(await byKey.put(CHANGE, body), 401)
    assert.equal(await logIn(ann.password), 200)
  })

  test('refuses invalid bodies', async (t) => {
    const { startSession } = await open(t)
    const owner = await startSession()
    for (const bad of [{}, { ...body, new_password: 'short' }, { ...body, current_password: 1 }]) {
      isRefused(await owner.put(CHANGE, bad), 400, 'invalid_body')
    }
  })
})
