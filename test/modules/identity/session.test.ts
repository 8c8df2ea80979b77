import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deleteExpiredSessions } from '../../../src/modules/identity/jobs.ts'
import { openTestApp } from '../../harness/app.ts'
import { requestText, talk } from '../../harness/raw-http.ts'
import { essence, isRefusal, times } from '../../harness/refusals.ts'
import { share } from '../../harness/scope.ts'
import { openSuperuser } from '../../harness/superuser.ts'

const MANY = { RATE_LIMIT_FAILED_PER_MINUTE: '1000' }
const shared = share((scope) => openTestApp(scope, { env: MANY }))
let people = 0

/** The next person, with a session. */
async function signUp(app = shared.current) {
  people++
  const account = { email: `ann-${people}@acme.example`, password: 'correct horse', name: 'Ann' }
  const { body } = await app.anyone.post('/v1/identity/signup', account)
  const { token } = body.session
  const cookie = `__Host-fd_session=${token}`
  return {
    app,
    account,
    id: body.owner.id as string,
    token,
    bearer: app.as({ authorization: `Bearer ${token}` }),
    cookie: app.as({ cookie: `theme=dark; ${cookie}; a=b` }),
    ownPage: app.as({ cookie, 'x-fd-csrf': '1' }),
  }
}

const ME = '/v1/identity/me'

describe('a session', () => {
  test('lasts twelve hours from its last use', async (t) => {
    const { app, id, bearer } = await signUp()
    const superuser = await openSuperuser(t, app.database)
    const move = (left: string) =>
      superuser.query(
        'update owner_sessions set expires_at = now() + $1::interval where owner_id = $2',
        [left, id],
      )
    const left = async () => {
      const { rows } = await superuser.query(
        `select extract(epoch from expires_at - now())::float8 / 3600 as hours
           from owner_sessions where owner_id = $1`,
        [id],
      )
      return rows[0].hours
    }
    await move('11 hours 30 minutes')
    assert.equal((await bearer.get(ME)).status, 200)
    assert.ok((await left()) < 11.6, 'moved at most once an hour')
    await move('1 minute')
    assert.equal((await bearer.get(ME)).status, 200)
    assert.ok((await left()) > 11.9)
    await move('-1 second')
    assert.equal((await bearer.get(ME)).status, 401)
    assert.ok((await left()) < 0, 'what has ended is not moved')
  })

  test('ends on the thirtieth day, used or not', async (t) => {
    const { app, id, bearer } = await signUp()
    const superuser = await openSuperuser(t, app.database)
    await superuser.query(
      `update owner_sessions set created_at = now() - interval '29 days 23 hours',
                                 expires_at = now() + interval '5 minutes'
        where owner_id = $1`,
      [id],
    )
    assert.equal((await bearer.get(ME)).status, 200)
    const { rows } = await superuser.query(
      `select expires_at = created_at + interval '30 days' as capped
         from owner_sessions where owner_id = $1`,
      [id],
    )
    assert.equal(rows[0].capped, true)
    await superuser.query(
      `update owner_sessions set created_at = created_at - interval '61 minutes',
                                 expires_at = expires_at - interval '61 minutes'
        where owner_id = $1`,
      [id],
    )
    assert.equal((await bearer.get(ME)).status, 401)
  })

  test('ends at logout, and no other session does', async () => {
    const { app, account, bearer } = await signUp()
    const login = await app.anyone.post('/v1/identity/login', account)
    const other = app.as({ authorization: `Bearer ${login.body.session.token}` })
    const out = await bearer.post('/v1/identity/logout')
    assert.deepEqual([out.status, out.body], [200, { logged_out: true }])
    assert.match(String(out.headers['set-cookie']), /^__Host-fd_session=; .*Max-Age=0$/)
    assert.equal((await bearer.get(ME)).status, 401)
    assert.equal((await bearer.post('/v1/identity/logout')).status, 401)
    assert.equal((await other.get(ME)).status, 200)
  })

  test('is found only by its whole token', async (t) => {
    const { app, id, token } = await signUp()
    const superuser = await openSuperuser(t, app.database)
    const { rows } = await superuser.query(
      `select encode(token_hash, 'hex') as hex from owner_sessions where owner_id = $1`,
      [id],
    )
    const withoutToken = await app.anyone.get(ME)
    const wrong = [
      token.slice(4),
      token.slice(0, -1),
      `${token}0`,
      token.toUpperCase(),
      rows[0].hex,
    ]
    for (const each of wrong) {
      const answer = await app.as({ authorization: `Bearer ${each}` }).get(ME)
      assert.deepEqual(essence(answer), essence(withoutToken))
    }
  })

  test('is deleted after its end', async (t) => {
    // It counts the expired sessions of all people.
    const { app, account, bearer } = await signUp(await openTestApp(t))
    const superuser = await openSuperuser(t, app.database)
    await app.anyone.post('/v1/identity/login', account)
    await superuser.query(
      `update owner_sessions set expires_at = now() - interval '1 second'
        where token_hash = (select min(token_hash::text)::bytea from owner_sessions)`,
    )
    assert.equal(await deleteExpiredSessions(app.runtime.workerDatabase.due), 1)
    assert.equal(await deleteExpiredSessions(app.runtime.workerDatabase.due), 0)
    assert.ok([200, 401].includes((await bearer.get(ME)).status))
  })

  test('is extended without an error by fifty concurrent requests', async (t) => {
    const { app, id, bearer } = await signUp()
    const superuser = await openSuperuser(t, app.database)
    await superuser.query(
      `update owner_sessions set expires_at = now() + interval '1 minute' where owner_id = $1`,
      [id],
    )
    const answers = await times(50, () => bearer.get(ME))
    assert.ok(answers.every(({ status }) => status === 200))
  })
})

describe('a session by cookie', () => {
  test('can read, and write only with a header that a foreign page cannot send', async () => {
    const { cookie, ownPage } = await signUp()
    assert.equal((await cookie.get(ME)).status, 200)
    const refused = await cookie.post('/v1/identity/logout')
    assert.deepEqual([refused.status, refused.body.error.code], [403, 'csrf_required'])
    const initial = await cookie.post('/v1/my/credentials/initial', {})
    assert.deepEqual([initial.status, initial.body.error.code], [403, 'csrf_required'])
    assert.equal((await cookie.get(ME)).status, 200, 'the refused logout ended nothing')
    assert.equal((await ownPage.post('/v1/identity/logout')).status, 200)
    assert.equal((await ownPage.get(ME)).status, 401)
  })

  test('is read from the session cookie alone', async () => {
    const { app, token } = await signUp()
    const wrong = [`fd_session=${token}`, `x__Host-fd_session=${token}`, `a="; __Host-fd=${token}`]
    for (const cookie of wrong) assert.equal((await app.as({ cookie }).get(ME)).status, 401, cookie)
  })

  test('is refused if two cookies are sent, in one header or in two, even if one of them is right', async () => {
    const { app, token } = await signUp()
    const right = `__Host-fd_session=${token}`
    const wrong = '__Host-fd_session=fds_wrong'
    const unreadable = `__Host-fd_session=${'x'.repeat(300)}`
    const twice = [
      [`${right}; ${wrong}`],
      [`${wrong}; ${right}`],
      [`${right};__Host-fd_session =fds_wrong`],
      [`${unreadable}; ${right}`],
      [right, wrong],
      [wrong, right],
      [right, right],
      [right, 'theme=dark'],
    ]
    for (const [first = '', ...others] of twice) {
      const text = requestText(`GET ${ME}`, { cookie: [first, ...others] })
      isRefusal((await talk(app.url, text)).answers[0], 'invalid_request', true)
    }
    const once = requestText(`GET ${ME}`, { cookie: [`theme=dark; ${right}`] })
    assert.equal((await talk(app.url, once)).answers[0]?.status, 200)
  })

  test('is ignored beside a bearer token, even a wrong one', async () => {
    const { app, token } = await signUp()
    const both = { cookie: `__Host-fd_session=${token}`, authorization: 'Bearer fds_wrong' }
    assert.equal((await app.as(both).get(ME)).status, 401)
  })
})
