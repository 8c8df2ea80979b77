import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { symbols } from 'pino'
import { HOUR_MS } from '../../../src/kernel/time.ts'
import { openTestApp } from '../../harness/app.ts'
import { assertRefused, countStatuses, keysOf, times } from '../../harness/refusals.ts'
import { share } from '../../harness/scope.ts'
import { dumpText, openSuperuser } from '../../harness/superuser.ts'

const URL = '/v1/identity/signup'
const MANY = { RATE_LIMIT_FAILED_PER_MINUTE: '1000' }
const account = { email: 'ann@acme.example', password: 'correct horse', name: 'Ann' }

/** Each of its tests has an address of its own. */
const shared = share((scope) => openTestApp(scope, { env: MANY }))

describe('signing up', () => {
  test('answers 201 with the owner and a valid session', async () => {
    const app = shared.current
    const { status, body } = await app.anyone.post(URL, { ...account, email: 'Ann@Acme.Example' })
    assert.equal(status, 201)
    assert.deepEqual(keysOf(body), ['owner', 'session'])
    assert.deepEqual(keysOf(body.owner), ['email', 'email_verified', 'id', 'name'])
    assert.deepEqual([body.owner.email, body.owner.name], [account.email, 'Ann'])
    assert.deepEqual(keysOf(body.session), ['expires_at', 'token'])
    assert.match(body.session.token, /^fds_[0-9A-Za-z]{43}$/)
    const hours = (Date.parse(body.session.expires_at) - Date.now()) / HOUR_MS
    assert.ok(Math.abs(hours - 12) < 0.1, `${hours}`)
    const me = await app
      .as({ authorization: `Bearer ${body.session.token}` })
      .get('/v1/identity/me')
    assert.deepEqual(me.body, { owner: body.owner, stores: [] })
  })

  test('sets a cookie that only this host, only TLS and no script can read', async () => {
    const app = shared.current
    const { headers, body } = await app.anyone.post(URL, { ...account, email: 'bea@acme.example' })
    const [pair, ...attributes] = String(headers['set-cookie']).split('; ')
    assert.equal(pair, `__Host-fd_session=${body.session.token}`)
    const seconds = Number(attributes.pop()?.replace('Max-Age=', ''))
    assert.ok(seconds > 43_000 && seconds <= 43_200, `${seconds}`)
    assert.deepEqual(attributes, ['Path=/', 'Secure', 'HttpOnly', 'SameSite=Lax'])
  })

  test('shows the stores that already have this address as their owner', async () => {
    const app = shared.current
    for (const tenant_ref of ['bolt', 'acme']) {
      const store = {
        tenant_ref,
        display_name: `The ${tenant_ref}`,
        owner_email: 'CY@acme.example',
      }
      await app.operator.post('/v1/stores', store)
    }
    await app.store('theirs')
    const owner = await app.owner('cy@acme.example')
    assert.deepEqual((await owner.get('/v1/identity/me')).body.stores, [
      { tenant_ref: 'acme', display_name: 'The acme', status: 'draft' },
      { tenant_ref: 'bolt', display_name: 'The bolt', status: 'draft' },
    ])
  })

  test('accepts an address once, in any spelling', async () => {
    const app = shared.current
    const first = { ...account, email: 'dan@acme.example' }
    await app.anyone.post(URL, first)
    const other = { ...first, email: 'DAN@ACME.EXAMPLE', password: 'another one' }
    const { status, body } = await app.anyone.post(URL, other)
    assert.deepEqual([status, body.error.code], [409, 'email_exists'])
    const login = await app.anyone.post('/v1/identity/login', other)
    assert.equal(login.status, 401, 'and leaves the password as it was')
  })

  test('accepts an address once among many concurrent requests', async () => {
    const app = shared.current
    const answers = await times(12, (i) =>
      app.anyone.post(URL, { ...account, email: i % 2 ? 'eve@acme.example' : 'Eve@acme.example' }),
    )
    assert.deepEqual(countStatuses(answers), { 201: 1, 409: 11 })
  })

  test('refuses an invalid body', async () => {
    const app = shared.current
    const local = 'x'.repeat(65)
    const bad = [
      ['nothing', undefined, 'invalid_body', ''],
      ['no address', { ...account, email: undefined }, 'invalid_body', 'email'],
      ['no name', { ...account, name: '' }, 'invalid_body', 'name'],
      ['a name of 201 characters', { ...account, name: 'x'.repeat(201) }, 'invalid_body', 'name'],
      ['seven characters', { ...account, password: '1234567' }, 'invalid_body', 'password'],
      ['201 characters', { ...account, password: 'x'.repeat(201) }, 'invalid_body', 'password'],
      ['a number', { ...account, password: 12_345_678 }, 'invalid_body', 'password'],
      ['U+0000', { ...account, password: 'correct\0horse' }, 'invalid_body', 'password'],
      ['no @', { ...account, email: 'ann.acme.example' }, 'invalid_body', 'email'],
      ['no domain', { ...account, email: 'ann@' }, 'invalid_body', 'email'],
      ['two', { ...account, email: 'a@b.example,c@d.example' }, 'invalid_body', 'email'],
      ['a line break', { ...account, email: 'a@b.example\r\nbcc: c@d.example' }, 'invalid_body'],
      ['too long', { ...account, email: `a@${'b'.repeat(250)}.example` }, 'invalid_body', 'email'],
      ['65 before the @', { ...account, email: `${local}@b.example` }, 'invalid_body', 'email'],
      ['the Kelvin sign', { ...account, email: '\u212Aim@b.example' }, 'invalid_body', 'email'],
    ] as const
    await assertRefused(bad, (body) => app.anyone.post(URL, body))
  })
})

describe('a password', () => {
  test('may have any characters, and must be repeated exactly', async () => {
    const app = shared.current
    const odd = [
      '        ',
      '💚'.repeat(200),
      "'; drop table owners; --",
      '\u202e\u0301\t\n\rx\u2028y',
      '\u00e9clair-caf\u00e9',
    ]
    for (const [i, password] of odd.entries()) {
      const wanted = { ...account, email: `odd${i}@acme.example`, password }
      assert.equal((await app.anyone.post(URL, wanted)).status, 201, password)
      assert.equal((await app.anyone.post('/v1/identity/login', wanted)).status, 200, password)
      const other = { ...wanted, password: [...password].slice(1).join('') }
      assert.equal((await app.anyone.post('/v1/identity/login', other)).status, 401, password)
    }
  })

  test('passwords and sessions are stored as hashes only', async (t) => {
    const app = await openTestApp(t)
    const superuser = await openSuperuser(t, app.database)
    const { body } = await app.anyone.post(URL, account)
    const dump = await dumpText(superuser)
    assert.match(dump, /\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    assert.ok(dump.includes(account.email))
    for (const secret of [account.password, body.session.token, body.session.token.slice(4)]) {
      assert.ok(!dump.includes(secret))
      assert.ok(!dump.includes(Buffer.from(secret).toString('hex')))
    }
  })

  test('passwords and sessions are never logged, at any log level', async (t) => {
    const app = await openTestApp(t)
    const lines: string[] = []
    const { logger } = app.runtime
    Object.assign(logger, { [symbols.streamSym]: { write: (line: string) => lines.push(line) } })
    logger.level = 'trace'
    const { body } = await app.anyone.post(URL, account)
    await app.anyone.post('/v1/identity/login', account)
    await app.anyone.post('/v1/identity/login', { ...account, password: 'wrong horse' })
    await app.anyone.post(URL, account)
    const owner = app.as({ authorization: `Bearer ${body.session.token}` })
    await owner.post('/v1/identity/logout')
    const log = lines.join('')
    assert.match(log, /identity\/login/, 'the log is there to be read')
    for (const secret of [account.password, 'wrong horse', body.session.token]) {
      assert.ok(!log.includes(secret))
    }
  })
})
