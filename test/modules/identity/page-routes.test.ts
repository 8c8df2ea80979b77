import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openTestApp } from '../../harness/app.ts'
import { share } from '../../harness/scope.ts'
import { openSuperuser } from '../../harness/superuser.ts'

const VERIFY = '/account/verify'
const FORGOT = '/account/password'
const CHOOSE = '/account/password/new'

/** The tests that share it ask for few new passwords: one caller may ask 20 times per hour. */
const shared = share(async (scope) => {
  const env = { IDENTITY_EMAIL_VERIFICATION: 'required', RATE_LIMIT_FAILED_PER_MINUTE: '1000' }
  const app = await openTestApp(scope, { env })
  return { app, superuser: await openSuperuser(scope, app.database) }
})
let people = 0

/** The next person. All addresses of a test are of a domain of its own. */
async function open() {
  const { app, superuser } = shared.current
  people++
  const domain = `acme-${people}.example`
  const ann = { email: `ann@${domain}`, password: 'correct horse', name: 'Ann' }
  const { body } = await app.anyone.post('/v1/identity/signup', ann)
  const cookie = `__Host-fd_session=${body.session.token}`
  const isVerified = async () => {
    const owner = app.as({ authorization: `Bearer ${body.session.token}` })
    return (await owner.get('/v1/identity/me')).body.owner?.email_verified
  }
  /** The path and query of the link in the newest mail. */
  const mailedLink = async () => {
    const { rows } = await superuser.query(
      'select body from mails where recipient like $1 order by created_at desc limit 1',
      [`%@${domain}`],
    )
    const link = /^http\S+$/m.exec(rows[0].body)?.[0] ?? ''
    assert.equal(new URL(link).origin, app.url)
    return link.slice(app.url.length)
  }
  const read = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(app.url + path, { headers })
    return { status: answer.status, headers: answer.headers, text: await answer.text() }
  }
  const send = async (
    path: string,
    form: Record<string, string>,
    headers: Record<string, string> = { origin: app.url },
  ) => {
    const body = new URLSearchParams(form)
    const answer = await fetch(app.url + path, { method: 'POST', body, headers })
    return { status: answer.status, headers: answer.headers, text: await answer.text() }
  }
  return { app, superuser, domain, ann, cookie, isVerified, mailedLink, read, send }
}

const tokenOf = (link: string) => new URL(link, 'http://x').searchParams.get('token') ?? ''

describe('the link of a verification mail', () => {
  test('opens a page that changes nothing until its button is pressed', async () => {
    const { cookie, isVerified, mailedLink, read, send, app } = await open()
    const link = await mailedLink()
    const page = await read(link, { cookie })
    assert.equal(page.status, 200)
    assert.doesNotMatch(page.text, /type="password"/)
    assert.equal(await isVerified(), false)
    const done = await send(VERIFY, { token: tokenOf(link) }, { cookie, origin: app.url })
    assert.match(done.text, /Your address is confirmed/)
    assert.equal(await isVerified(), true)
  })

  test('asks for the login of the account in another browser', async () => {
    const { ann, isVerified, mailedLink, read, send } = await open()
    const link = await mailedLink()
    assert.match((await read(link)).text, /type="password"/)
    const wrong = await send(VERIFY, { token: tokenOf(link), ...ann, password: 'wrong horse' })
    assert.equal(wrong.status, 401)
    assert.match(wrong.text, /role="alert"/)
    assert.ok(wrong.text.includes(`value="${ann.email}"`), wrong.text)
    assert.doesNotMatch(wrong.text, /wrong horse/)
    assert.equal(await isVerified(), false)
    const done = await send(VERIFY, { token: tokenOf(link), ...ann })
    assert.match(done.headers.get('set-cookie') ?? '', /^__Host-fd_session=fds_\w+; .*HttpOnly/)
    assert.equal(await isVerified(), true)
  })

  test('confirms no other account, and none by a form of another site', async () => {
    const { app, ann, cookie, isVerified, mailedLink, send } = await open()
    const link = await mailedLink()
    const other = await app.anyone.post('/v1/identity/signup', { ...ann, password: 'other horse' })
    const theirs = `__Host-fd_session=${other.body.session.token}`
    const refused = await send(VERIFY, { token: tokenOf(link) }, { cookie: theirs })
    assert.equal(refused.status, 401)
    for (const headers of [
      { origin: 'http://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
    ]) {
      const { status } = await send(VERIFY, { token: tokenOf(link) }, { cookie, ...headers })
      assert.equal(status, 403, JSON.stringify(headers))
    }
    assert.equal(await isVerified(), false)
  })
})

describe('the pages for a forgotten password', () => {
  test('lead to a new password', async () => {
    const { app, superuser, ann, mailedLink, read, send } = await open()
    const prove = 'update owners set email_verified_at = now() where email = $1'
    await superuser.query(prove, [ann.email])
    assert.match((await read(FORGOT)).text, /type="email"/)
    const asked = await send(FORGOT, { email: ann.email })
    assert.match(asked.text, /a mail is on its way/)
    const link = await mailedLink()
    assert.match((await read(link)).text, /autocomplete="new-password"/)
    const form = { token: tokenOf(link), password: 'another battery' }
    assert.match((await send(CHOOSE, form)).text, /Your password is changed/)
    const again = await send(CHOOSE, form)
    assert.deepEqual([again.status, /was used or has expired/.test(again.text)], [401, true])
    const login = { email: ann.email, password: form.password }
    assert.equal((await app.anyone.post('/v1/identity/login', login)).status, 200)
  })

  test('say what is wrong, and say the same for an address without an account', async () => {
    const { domain, ann, mailedLink, send } = await open()
    const before = await mailedLink()
    const known = await send(FORGOT, { email: ann.email })
    const unknown = await send(FORGOT, { email: `nobody@${domain}` })
    assert.equal(known.text.replace(ann.email, `nobody@${domain}`), unknown.text)
    // Ann has not proven her address, so that neither has an account.
    assert.equal(await mailedLink(), before)
    for (const [path, form] of [
      [FORGOT, { email: 'no address' }],
      [FORGOT, {}],
      [CHOOSE, { token: tokenOf(before), password: 'short' }],
      [CHOOSE, { password: 'long enough' }],
    ] as const) {
      const { status, text } = await send(path, form)
      assert.equal(status, 400)
      assert.match(text, /role="alert">Enter/)
    }
  })
})

describe('every page of an account', () => {
  test('runs no script, is kept by no cache and tells its address to no other site', async () => {
    const { read } = await open()
    for (const path of [VERIFY, FORGOT, CHOOSE]) {
      const attack = `${path}?token=${encodeURIComponent('"><script>alert(1)</script>')}&email=${encodeURIComponent("'><img src=x>")}`
      const { status, headers, text } = await read(attack)
      assert.equal(status, 200)
      assert.doesNotMatch(text, /<script|<img/)
      assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'/)
      assert.equal(headers.get('cache-control'), 'no-store')
      assert.equal(headers.get('referrer-policy'), 'same-origin')
    }
  })

  test('refuses a form that is too large, and any other body', async () => {
    const { app, ann, send } = await open()
    assert.equal((await send(FORGOT, { email: 'x'.repeat(9_000) })).status, 413)
    const other = await app.anyone.post(FORGOT, { email: ann.email })
    assert.equal(other.status, 415)
  })

  test('treats repeated and odd members of a query as text', async () => {
    const { read } = await open()
    const { status } = await read(`${FORGOT}?email=a&email=b&__proto__=x&constructor=y`)
    assert.equal(status, 200)
  })
})
