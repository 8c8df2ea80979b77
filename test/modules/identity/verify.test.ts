import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { openTestApp, type TestApp } from '../../harness/app.ts'
import { requestText } from '../../harness/raw-http.ts'
import { assertRefused, countStatuses, essence, times } from '../../harness/refusals.ts'
import { openSuperuser } from '../../harness/superuser.ts'

const REQUIRED = { IDENTITY_EMAIL_VERIFICATION: 'required', RATE_LIMIT_FAILED_PER_MINUTE: '1000' }
const VERIFY = '/v1/identity/verify'
const RESEND = '/v1/identity/verify/resend'
const EMAIL = 'ann@acme.example'

async function readMails(superuser: pg.Client) {
  const { rows } = await superuser.query(
    'select recipient, subject, body from mails order by created_at',
  )
  return rows as { recipient: string; subject: string; body: string }[]
}

const tokenIn = ({ body }: { body: string }) => /^[\w-]{80,}$/m.exec(body)?.[0] ?? ''

async function open(t: Parameters<typeof openTestApp>[0], clock?: { now(): number }) {
  const app = await openTestApp(t, { env: REQUIRED, ...(clock && { clock }) })
  const superuser = await openSuperuser(t, app.database)
  const store = { tenant_ref: 'acme', display_name: 'Acme', owner_email: EMAIL }
  await app.operator.post('/v1/stores', store)
  return { app, superuser }
}

describe('with required verification of addresses', () => {
  test('an account owns nothing before it sends the mailed token', async (t) => {
    const { app, superuser } = await open(t)
    const owner = await app.owner(EMAIL)
    const before = await owner.get('/v1/identity/me')
    assert.deepEqual([before.body.owner.email_verified, before.body.stores], [false, []])
    const refused = await owner.post('/v1/my/credentials/initial', { tenant_ref: 'acme' })
    const unknown = await owner.post('/v1/my/credentials/initial', { tenant_ref: 'nobodys' })
    assert.equal(refused.status, 404)
    assert.deepEqual(essence(refused), essence(unknown))

    const [letter, ...more] = await readMails(superuser)
    assert.ok(letter)
    assert.deepEqual([letter.recipient, more.length], [EMAIL, 0])
    const proven = await owner.post(VERIFY, { token: tokenIn(letter) })
    assert.deepEqual([proven.status, proven.body], [200, { verified: true }])
    const after = await owner.get('/v1/identity/me')
    assert.equal(after.body.owner.email_verified, true)
    assert.equal(after.body.stores[0].tenant_ref, 'acme')
    assert.equal((await owner.post('/v1/my/credentials/initial')).status, 201)
  })

  test('a refused sign-up mails nothing', async (t) => {
    const { app, superuser } = await open(t)
    const owner = await app.owner(EMAIL)
    const [letter] = await readMails(superuser)
    await owner.post(VERIFY, { token: tokenIn(letter ?? { body: '' }) })
    const again = { email: EMAIL, password: 'another one', name: 'Eve' }
    assert.equal((await app.anyone.post('/v1/identity/signup', again)).status, 409)
    assert.equal((await readMails(superuser)).length, 1)
  })

  test('a stranger who signs up first neither keeps the owner out nor gets in', async (t) => {
    const { app, superuser } = await open(t)
    const stranger = await app.owner(EMAIL)
    const owner = await app.owner(EMAIL)
    assert.equal((await stranger.get('/v1/identity/me')).status, 401, 'the later sign-up stands')
    const letters = await readMails(superuser)
    assert.equal(letters.length, 2)
    const token = tokenIn(letters[1] ?? { body: '' })
    assert.equal((await stranger.post(VERIFY, { token })).status, 401)
    assert.equal((await owner.post(VERIFY, { token })).status, 200)
    assert.equal((await owner.get('/v1/identity/me')).body.stores.length, 1)
  })

  test('a token that was mailed for another account verifies nothing', async (t) => {
    const { app, superuser } = await open(t)
    const eve = await app.owner(EMAIL)
    const reader = await app.owner('reader@acme.example')
    const [letter] = await readMails(superuser)
    const token = tokenIn(letter ?? { body: '' })
    assert.equal((await app.anyone.post(VERIFY, { token })).status, 401)
    assert.equal((await reader.post(VERIFY, { token })).status, 401)
    assert.deepEqual((await eve.get('/v1/identity/me')).body.stores, [])
  })
})

describe('a token that verifies an address', () => {
  test('is refused with any character changed, with the same answer for every reason', async (t) => {
    const { app, superuser } = await open(t)
    const owner = await app.owner(EMAIL)
    const [letter] = await readMails(superuser)
    const token = tokenIn(letter ?? { body: '' })
    assert.ok(token.length > 80)
    const refused = await owner.post(VERIFY, { token: '' })
    assert.deepEqual([refused.status, refused.body.error.code], [401, 'unauthorized'])
    const wrong = [`${token}=`, `${token} `, ` ${token}`, token.slice(1), token.slice(0, -1)]
    for (let at = 0; at < token.length; at += 5) {
      const other = token[at] === 'A' ? 'B' : 'A'
      wrong.push(token.slice(0, at) + other + token.slice(at + 1))
    }
    for (const each of wrong) {
      assert.deepEqual(essence(await owner.post(VERIFY, { token: each })), essence(refused))
    }
    assert.equal((await owner.get('/v1/identity/me')).body.owner.email_verified, false)
  })

  test('verifies one account only, and may be sent twice', async (t) => {
    const { app, superuser } = await open(t)
    const ann = await app.owner(EMAIL)
    const eve = await app.owner('eve@acme.example')
    const letters = await readMails(superuser)
    const token = tokenIn(letters.find(({ recipient }) => recipient === EMAIL) ?? { body: '' })
    const answers = await times(20, () => ann.post(VERIFY, { token }))
    assert.deepEqual(countStatuses(answers), { 200: 20 })
    assert.equal((await ann.get('/v1/identity/me')).body.owner.email_verified, true)
    assert.equal((await eve.get('/v1/identity/me')).body.owner.email_verified, false)
  })

  test('is refused once the account has another address', async (t) => {
    const { app, superuser } = await open(t)
    const eve = await app.owner('eve@acme.example')
    const [letter] = await readMails(superuser)
    await superuser.query('update owners set email = $1', [EMAIL])
    const answer = await eve.post(VERIFY, { token: tokenIn(letter ?? { body: '' }) })
    assert.equal(answer.status, 401)
  })

  test('is refused after a day', async (t) => {
    let ahead = 0
    const { app, superuser } = await open(t, { now: () => Date.now() + ahead })
    const owner = await app.owner(EMAIL)
    const [letter] = await readMails(superuser)
    const token = tokenIn(letter ?? { body: '' })
    ahead = 24 * 3_600_000 + 1_000
    assert.equal((await owner.post(VERIFY, { token })).status, 401)
    assert.equal((await owner.get('/v1/identity/me')).body.owner.email_verified, false)
    ahead = 24 * 3_600_000 - 60_000
    assert.equal((await owner.post(VERIFY, { token })).status, 200)
  })

  test('must be a text', async (t) => {
    const { app } = await open(t)
    const bad = [
      ['nothing', {}, 'invalid_body', 'token'],
      ['a number', { token: 1 }, 'invalid_body', 'token'],
      ['a book', { token: 'x'.repeat(1_001) }, 'invalid_body', 'token'],
    ] as const
    const owner = await app.owner(EMAIL)
    await assertRefused(bad, (body) => owner.post(VERIFY, body))
  })
})

/** Sends a request's head now and its body on command, so that a test can act in between. */
async function slowPost(app: TestApp, path: string, token: string, body: unknown) {
  const text = JSON.stringify(body)
  const { port } = new URL(app.url)
  const socket = connect({ port: Number(port), host: '127.0.0.1' })
  await once(socket, 'connect')
  const head = requestText(`POST ${path}`, {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': String(text.length),
    connection: 'close',
  })
  socket.write(head)
  return async () => {
    let answer = ''
    socket.setEncoding('utf8').on('data', (chunk) => {
      answer += chunk
    })
    socket.write(text)
    await once(socket, 'close')
    return Number(/^HTTP\/1.1 (\d{3})/.exec(answer)?.[1])
  }
}

describe('between the head of a request and its body', () => {
  const account = { email: EMAIL, password: 'a password for tests', name: 'Ann' }

  test('a stranger who signs up again is not verified by the owner', async (t) => {
    const { app, superuser } = await open(t)
    const signed = await app.anyone.post('/v1/identity/signup', account)
    const [letter] = await readMails(superuser)
    const token = tokenIn(letter ?? { body: '' })
    const finish = await slowPost(app, VERIFY, signed.body.session.token, { token })
    await pause(100)
    const eve = await app.anyone.post('/v1/identity/signup', {
      ...account,
      password: 'of Eve alone',
    })
    assert.equal(eve.status, 201)
    assert.equal(await finish(), 401)
    const caller = app.as({ authorization: `Bearer ${eve.body.session.token}` })
    assert.deepEqual((await caller.get('/v1/identity/me')).body.stores, [])
  })

  test('a session that ends gets no key', async (t) => {
    const { app, superuser } = await open(t)
    const signed = await app.anyone.post('/v1/identity/signup', account)
    const session = signed.body.session.token
    const owner = app.as({ authorization: `Bearer ${session}` })
    const [letter] = await readMails(superuser)
    await owner.post(VERIFY, { token: tokenIn(letter ?? { body: '' }) })
    const finish = await slowPost(app, '/v1/my/credentials/initial', session, {})
    await pause(100)
    assert.equal((await owner.post('/v1/identity/logout')).status, 200)
    assert.equal(await finish(), 401)
    const { rows } = await superuser.query('select count(*)::int as n from credentials')
    assert.equal(rows[0].n, 0)
  })
})

describe('the verification mail', () => {
  test('is sent at most three times a minute, for any number of sign-ups', async (t) => {
    const { app, superuser } = await open(t)
    const wanted = { email: 'target@acme.example', password: 'a long password', name: 'x' }
    const answers = await times(20, () => app.anyone.post('/v1/identity/signup', wanted))
    assert.deepEqual(countStatuses(answers), { 201: 3, 429: 17 })
    assert.equal((await readMails(superuser)).length, 3)
  })

  test('is sent again on request, three times a minute', async (t) => {
    const { app, superuser } = await open(t)
    const owner = await app.owner(EMAIL)
    const answers = await times(20, () => owner.post(RESEND))
    assert.deepEqual(countStatuses(answers), { 202: 3, 429: 17 })
    const over = await owner.post(RESEND)
    assert.deepEqual([over.body.error.code, over.headers['retry-after']], ['rate_limited', '60'])
    const letters = await readMails(superuser)
    assert.equal(letters.length, 4)
    const other = await app.owner('eve@acme.example')
    const sent = await other.post(RESEND)
    assert.deepEqual([sent.status, sent.body], [202, { sent: true }], 'each account for itself')
    const token = tokenIn(letters[3] ?? { body: '' })
    assert.equal((await owner.post(VERIFY, { token })).status, 200)
  })

  test('is not sent again to a verified address', async (t) => {
    const { app, superuser } = await open(t)
    const owner = await app.owner(EMAIL)
    const [letter] = await readMails(superuser)
    await owner.post(VERIFY, { token: tokenIn(letter ?? { body: '' }) })
    assert.equal((await owner.post(RESEND)).status, 202)
    assert.equal((await readMails(superuser)).length, 1)
  })
})
