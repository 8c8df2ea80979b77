import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { HOUR_MS } from '../../../src/kernel/time.ts'
import { deletePendingSignUps } from '../../../src/modules/identity/jobs.ts'
import { openTestApp, type TestApp } from '../../harness/app.ts'
import { until } from '../../harness/eventually.ts'
import { fillDay } from '../../harness/mail-limits.ts'
import { requestText } from '../../harness/raw-http.ts'
import { assertRefused, countStatuses, essence, times } from '../../harness/refusals.ts'
import { share } from '../../harness/scope.ts'
import { openSuperuser } from '../../harness/superuser.ts'

const REQUIRED = { IDENTITY_EMAIL_VERIFICATION: 'required', RATE_LIMIT_FAILED_PER_MINUTE: '1000' }
const VERIFY = '/v1/identity/verify'
const RESEND = '/v1/identity/verify/resend'

const tokenIn = ({ body }: { body: string }) => /^[\w-]{80,}$/m.exec(body)?.[0] ?? ''

async function openApp(t: TestContext, clock?: { now(): number }) {
  const app = await openTestApp(t, { env: REQUIRED, ...(clock && { clock }) })
  return { app, superuser: await openSuperuser(t, app.database) }
}

const shared = share(openApp)
let stores = 0

/** The next store. Its owner and all others of its test have addresses of its own domain. */
async function open({ app, superuser } = shared.current) {
  stores++
  const tenant = `acme-${stores}`
  const domain = `${tenant}.example`
  const email = `ann@${domain}`
  const store = { tenant_ref: tenant, display_name: 'Acme', owner_email: email }
  await app.operator.post('/v1/stores', store)
  const readMails = async () => {
    const { rows } = await superuser.query(
      'select recipient, subject, body from mails where recipient like $1 order by created_at',
      [`%@${domain}`],
    )
    return rows as { recipient: string; subject: string; body: string }[]
  }
  return { app, superuser, tenant, domain, email, readMails }
}

describe('with required verification of addresses', () => {
  test('an account owns no store until its mailed token is sent', async () => {
    const { app, tenant, email, readMails } = await open()
    const owner = await app.owner(email)
    const before = await owner.get('/v1/identity/me')
    assert.deepEqual([before.body.owner.email_verified, before.body.stores], [false, []])
    const refused = await owner.post('/v1/my/credentials/initial', { tenant_ref: tenant })
    assert.deepEqual([refused.status, refused.body.error.code], [403, 'email_not_verified'])
    assert.match(refused.body.error.message, /verify\/resend/)

    const [letter, ...more] = await readMails()
    assert.ok(letter)
    assert.deepEqual([letter.recipient, more.length], [email, 0])
    const proven = await owner.post(VERIFY, { token: tokenIn(letter) })
    assert.deepEqual([proven.status, proven.body], [200, { verified: true }])
    const after = await owner.get('/v1/identity/me')
    assert.equal(after.body.owner.email_verified, true)
    assert.equal(after.body.stores[0].tenant_ref, tenant)
    assert.equal((await owner.post('/v1/my/credentials/initial')).status, 201)
  })

  test('no session of a stranger learns whether a store exists', async () => {
    const { app, tenant, domain, email: owners, readMails } = await open()
    const initial = '/v1/my/credentials/initial'
    const bodies = [{ tenant_ref: tenant }, { tenant_ref: 'nobodys' }, {}, undefined]
    /** Status, headers and code of each answer; only the id of the request may differ. */
    const answersOf = async (session: Awaited<ReturnType<typeof app.owner>>) => {
      const seen = new Set<string>()
      for (const body of bodies) {
        const answer = essence(await session.post(initial, body))
        seen.add(JSON.stringify(answer).replace(/[0-9a-f-]{36}/g, ''))
      }
      return [...seen]
    }
    // One of them has signed up with the address of the owner, and cannot open the owner's mails.
    for (const email of [`stranger@${domain}`, owners]) {
      const [only, ...others] = await answersOf(await app.owner(email))
      assert.deepEqual(others, [])
      assert.match(only ?? '', /email_not_verified/)
    }

    const proven = await app.owner(`proven@${domain}`)
    const letter = (await readMails()).find(({ recipient }) => /^proven/.test(recipient))
    assert.ok(letter)
    await proven.post(VERIFY, { token: tokenIn(letter) })
    const [only, ...others] = await answersOf(proven)
    assert.deepEqual(others, [])
    assert.match(only ?? '', /unknown_tenant/)
  })

  test('a sign-up with a verified address is answered like any other, and gets no token', async () => {
    const { app, domain, email, readMails } = await open()
    const owner = await app.owner(email)
    const [letter] = await readMails()
    await owner.post(VERIFY, { token: tokenIn(letter ?? { body: '' }) })
    const again = { email, password: 'another one', name: 'Eve' }
    const fresh = { ...again, email: `fresh@${domain}` }
    const [taken, free] = [
      await app.anyone.post('/v1/identity/signup', again),
      await app.anyone.post('/v1/identity/signup', fresh),
    ]
    assert.deepEqual([taken.status, free.status], [201, 201])
    assert.deepEqual(
      { ...taken.body.owner, id: '', email: '' },
      { ...free.body.owner, id: '', email: '' },
    )
    for (const account of [again, fresh]) {
      assert.equal((await app.anyone.post('/v1/identity/login', account)).status, 200)
    }
    const eve = app.as({ authorization: `Bearer ${taken.body.session.token}` })
    assert.deepEqual((await eve.get('/v1/identity/me')).body.stores, [])
    assert.equal((await eve.post(RESEND)).status, 202)
    const toAnn = (await readMails()).filter(({ recipient }) => recipient === email)
    assert.deepEqual(
      toAnn.map(({ subject }) => subject),
      ['Confirm your e-mail address', 'You already have an account', 'You already have an account'],
    )
    assert.deepEqual(toAnn.slice(1).map(tokenIn), ['', ''])
    assert.equal((await owner.get('/v1/identity/me')).body.stores.length, 1)
  })

  test('a stranger who signs up first neither keeps the owner out nor gets in', async () => {
    const { app, email, readMails } = await open()
    const stranger = await app.owner(email)
    const owner = await app.owner(email)
    const letters = await readMails()
    assert.equal(letters.length, 2)
    const token = tokenIn(letters[1] ?? { body: '' })
    assert.equal((await stranger.post(VERIFY, { token })).status, 401)
    assert.equal((await owner.post(VERIFY, { token })).status, 200)
    assert.equal((await owner.get('/v1/identity/me')).body.stores.length, 1)
    assert.equal((await stranger.get('/v1/identity/me')).status, 401)
  })

  test('a token that was mailed for another account verifies nothing', async () => {
    const { app, domain, email, readMails } = await open()
    const eve = await app.owner(email)
    const reader = await app.owner(`reader@${domain}`)
    const [letter] = await readMails()
    const token = tokenIn(letter ?? { body: '' })
    assert.equal((await app.anyone.post(VERIFY, { token })).status, 401)
    assert.equal((await reader.post(VERIFY, { token })).status, 401)
    assert.deepEqual((await eve.get('/v1/identity/me')).body.stores, [])
  })
})

describe('several sign-ups with one unverified address', () => {
  async function signUpTwice(opened = shared.current) {
    const { app, superuser, domain, email, readMails } = await open(opened)
    const first = { email, password: 'of the first alone', name: 'First' }
    const second = { email, password: 'of the second alone', name: 'Second' }
    const sessions = []
    for (const account of [first, second]) {
      const { status, body } = await app.anyone.post('/v1/identity/signup', account)
      assert.equal(status, 201)
      sessions.push(app.as({ authorization: `Bearer ${body.session.token}` }))
    }
    const mailed = (await readMails()).map(tokenIn)
    const [one, two] = sessions
    assert.ok(one && two && mailed.length === 2)
    const letters = mailed as [string, string]
    return { app, superuser, domain, email, first, second, one, two, letters }
  }

  const logIn = (app: TestApp, account: object) => app.anyone.post('/v1/identity/login', account)

  test('keep their sessions, passwords and mails apart', async () => {
    const { app, first, second, one, two, letters } = await signUpTwice()
    assert.equal((await one.get('/v1/identity/me')).body.owner.name, 'First')
    assert.equal((await two.get('/v1/identity/me')).body.owner.name, 'Second')
    assert.equal((await logIn(app, first)).body.owner.name, 'First')
    assert.equal((await logIn(app, second)).body.owner.name, 'Second')
    assert.equal((await one.post(VERIFY, { token: letters[0] })).status, 200)
    assert.equal((await one.get('/v1/identity/me')).body.stores.length, 1)
  })

  test('end when one of them verifies the address, and leave that one', async () => {
    const { app, first, second, one, two, letters } = await signUpTwice()
    assert.equal((await one.post(VERIFY, { token: letters[1] })).status, 401, 'not its letter')
    assert.equal((await two.post(VERIFY, { token: letters[1] })).status, 200)
    assert.equal((await one.get('/v1/identity/me')).status, 401)
    assert.equal((await one.post(VERIFY, { token: letters[0] })).status, 401)
    assert.equal((await logIn(app, first)).status, 401)
    assert.equal((await logIn(app, second)).status, 200)
  })

  test('can be verified by one only, also at the same time', async () => {
    const { superuser, domain, one, two, letters } = await signUpTwice()
    const answers = await Promise.all([
      one.post(VERIFY, { token: letters[0] }),
      two.post(VERIFY, { token: letters[1] }),
    ])
    assert.deepEqual(countStatuses(answers), { 200: 1, 401: 1 })
    const { rows } = await superuser.query(
      'select email_verified_at from owners where email like $1',
      [`%@${domain}`],
    )
    assert.equal(rows.length, 1)
  })

  test('are deleted after three days without verification', async (t) => {
    // It deletes the sign-ups of all people.
    const opened = await signUpTwice(await openApp(t))
    const { app, superuser, domain, email, first, one, two, letters } = opened
    await two.post(VERIFY, { token: letters[1] })
    await app.anyone.post('/v1/identity/signup', { ...first, email: `other@${domain}` })
    await superuser.query(`update owners set created_at = now() - interval '4 days'`)
    assert.equal(await deletePendingSignUps(app.runtime.workerDatabase.due), 1)
    const { rows } = await superuser.query('select email from owners')
    assert.deepEqual(rows, [{ email }])
    assert.equal((await one.get('/v1/identity/me')).status, 401)
  })
})

describe('a token that verifies an address', () => {
  test('is refused with any character changed, with the same answer for every reason', async () => {
    const { app, email, readMails } = await open()
    const owner = await app.owner(email)
    const [letter] = await readMails()
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

  test('verifies one account only, and may be sent twice', async () => {
    const { app, domain, email, readMails } = await open()
    const ann = await app.owner(email)
    const eve = await app.owner(`eve@${domain}`)
    const letters = await readMails()
    const token = tokenIn(letters.find(({ recipient }) => recipient === email) ?? { body: '' })
    const answers = await times(20, () => ann.post(VERIFY, { token }))
    assert.deepEqual(countStatuses(answers), { 200: 20 })
    assert.equal((await ann.get('/v1/identity/me')).body.owner.email_verified, true)
    assert.equal((await eve.get('/v1/identity/me')).body.owner.email_verified, false)
  })

  test('is refused once the account has another address', async () => {
    const { app, superuser, domain, email, readMails } = await open()
    const eve = await app.owner(`eve@${domain}`)
    const [letter] = await readMails()
    await superuser.query('update owners set email = $1 where email = $2', [email, `eve@${domain}`])
    const answer = await eve.post(VERIFY, { token: tokenIn(letter ?? { body: '' }) })
    assert.equal(answer.status, 401)
  })

  test('is refused after a day', async (t) => {
    let ahead = 0
    const clock = { now: () => Date.now() + ahead }
    const { app, email, readMails } = await open(await openApp(t, clock))
    const owner = await app.owner(email)
    const [letter] = await readMails()
    const token = tokenIn(letter ?? { body: '' })
    ahead = 24 * HOUR_MS + 1_000
    assert.equal((await owner.post(VERIFY, { token })).status, 401)
    assert.equal((await owner.get('/v1/identity/me')).body.owner.email_verified, false)
    ahead = 24 * HOUR_MS - 60_000
    assert.equal((await owner.post(VERIFY, { token })).status, 200)
  })

  test('must be a text', async () => {
    const { app, email } = await open()
    const bad = [
      ['nothing', {}, 'invalid_body', 'token'],
      ['a number', { token: 1 }, 'invalid_body', 'token'],
      ['a book', { token: 'x'.repeat(1_001) }, 'invalid_body', 'token'],
    ] as const
    const owner = await app.owner(email)
    await assertRefused(bad, (body) => owner.post(VERIFY, body))
  })
})

/** Sends a request's head now and its body on command, so that a test can act in between. */
async function slowPost(app: TestApp, path: string, token: string, body: unknown) {
  const text = JSON.stringify(body)
  const { port } = new URL(app.url)
  const socket = connect({ port: Number(port), host: '127.0.0.1' })
  await once(socket, 'connect')
  const arrived = once(app.app.server, 'request')
  const head = requestText(`POST ${path}`, {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': String(text.length),
    connection: 'close',
  })
  socket.write(head)
  await arrived
  // The check of the session is under way by then, and over when no connection is in use.
  await pause(50)
  const { database, operatorDatabase } = app.runtime
  const isIdle = () => database.load.busy === 0 && operatorDatabase.load.busy === 0
  await until('the head is checked', isIdle)
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
  const accountOf = (email: string) => ({ email, password: 'a password for tests', name: 'Ann' })

  test('a stranger who signs up again is not verified by the owner', async () => {
    const { app, email, readMails } = await open()
    const account = accountOf(email)
    const signed = await app.anyone.post('/v1/identity/signup', account)
    const [letter] = await readMails()
    const token = tokenIn(letter ?? { body: '' })
    const finish = await slowPost(app, VERIFY, signed.body.session.token, { token })
    const eve = await app.anyone.post('/v1/identity/signup', {
      ...account,
      password: 'of Eve alone',
    })
    assert.equal(eve.status, 201)
    assert.equal(await finish(), 200)
    const caller = app.as({ authorization: `Bearer ${eve.body.session.token}` })
    assert.equal((await caller.get('/v1/identity/me')).status, 401)
  })

  test('a session that ends gets no key', async () => {
    const { app, superuser, tenant, email, readMails } = await open()
    const signed = await app.anyone.post('/v1/identity/signup', accountOf(email))
    const session = signed.body.session.token
    const owner = app.as({ authorization: `Bearer ${session}` })
    const [letter] = await readMails()
    await owner.post(VERIFY, { token: tokenIn(letter ?? { body: '' }) })
    const finish = await slowPost(app, '/v1/my/credentials/initial', session, {})
    assert.equal((await owner.post('/v1/identity/logout')).status, 200)
    assert.equal(await finish(), 401)
    const { rows } = await superuser.query(
      'select count(*)::int as n from credentials where tenant_ref = $1',
      [tenant],
    )
    assert.equal(rows[0].n, 0)
  })
})

describe('the verification mail', () => {
  test('is sent at most three times a minute, for any number of sign-ups', async () => {
    const { app, domain, readMails } = await open()
    const wanted = { email: `target@${domain}`, password: 'a long password', name: 'x' }
    const answers = await times(20, () => app.anyone.post('/v1/identity/signup', wanted))
    assert.deepEqual(countStatuses(answers), { 201: 3, 429: 17 })
    assert.equal((await readMails()).length, 3)
  })

  test('is sent again on request, three times a minute', async () => {
    const { app, domain, email, readMails } = await open()
    const owner = await app.owner(email)
    const answers = await times(20, () => owner.post(RESEND))
    assert.deepEqual(countStatuses(answers), { 202: 3, 429: 17 })
    const over = await owner.post(RESEND)
    assert.deepEqual([over.body.error.code, over.headers['retry-after']], ['rate_limited', '60'])
    const letters = await readMails()
    assert.equal(letters.length, 4)
    const other = await app.owner(`eve@${domain}`)
    const sent = await other.post(RESEND)
    assert.deepEqual([sent.status, sent.body], [202, { sent: true }], 'each account for itself')
    const token = tokenIn(letters[3] ?? { body: '' })
    assert.equal((await owner.post(VERIFY, { token })).status, 200)
  })

  test('is sent at most twenty times a day to one mailbox, for sign-ups and resends together', async () => {
    const { app, domain, readMails } = await open()
    await fillDay(app.runtime.limits, 'sign_up', `target@${domain}`, 19)
    const signUp = (email: string) =>
      app.anyone.post('/v1/identity/signup', { email, password: 'a long password', name: 'x' })
    assert.equal((await signUp(`target@${domain}`)).status, 201)
    assert.equal((await readMails()).length, 1)
    const refused = await signUp(`target+again@${domain}`)
    assert.deepEqual([refused.status, refused.headers['retry-after']], [429, '86400'])
    assert.equal((await signUp(`other@${domain}`)).status, 201)
    assert.equal((await readMails()).length, 2)
  })

  test('is not sent again to a verified address', async () => {
    const { app, email, readMails } = await open()
    const owner = await app.owner(email)
    const [letter] = await readMails()
    await owner.post(VERIFY, { token: tokenIn(letter ?? { body: '' }) })
    assert.equal((await owner.post(RESEND)).status, 202)
    assert.equal((await readMails()).length, 1)
  })
})
