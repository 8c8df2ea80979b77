import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { hashPassword } from '../../../src/modules/identity/passwords.ts'
import { openTestApp, type TestApp } from '../../harness/app.ts'
import { countStatuses, essence, times } from '../../harness/refusals.ts'
import { openSuperuser } from '../../harness/superuser.ts'

const SIGN_UP = '/v1/identity/signup'
const LOG_IN = '/v1/identity/login'
const ann = { email: 'ann@acme.example', password: 'correct horse', name: 'Ann' }
const wrong = { email: ann.email, password: 'wrong horse' }

const ANNS_ADDRESS = '198.51.100.7'
const ELSEWHERE = '192.0.2.200'
const stranger = (i: number) => `203.0.113.${i % 250}`

/** An app behind a proxy, with the limits of production, and callers at any address. */
async function open(t: TestContext, env: Record<string, string> = {}) {
  const limits = { RATE_LIMIT_SIGNUPS_PER_HOUR: '20', RATE_LIMIT_LOGINS_PER_MINUTE: '60' }
  const app = await openTestApp(t, { env: { TRUST_PROXY: '127.0.0.1', ...limits, ...env } })
  return { app, at: (address: string) => app.as({ 'x-forwarded-for': address }) }
}

const accountOf = (i: number) => ({ ...ann, email: `number${i}@acme.example` })

/** Lets strangers at eight addresses try wrong passwords on Ann's account. */
const guess = (at: (address: string) => ReturnType<TestApp['as']>, count = 200) =>
  times(count, (i) => at(stranger(i % 8)).post(LOG_IN, wrong))

/** A lower limit on guesses: each one below it is a password to hash. */
const FEW = { RATE_LIMIT_WRONG_PASSWORDS_PER_HOUR: '4' }

describe('the limit on sign-ups', () => {
  test('counts the successful sign-ups of a caller, and not those of other callers', async (t) => {
    const { at } = await open(t)
    const answers = []
    for (let i = 0; i < 30; i++) {
      answers.push(await at(stranger(1)).post(SIGN_UP, accountOf(i)))
    }
    assert.deepEqual(countStatuses(answers), { 201: 20, 429: 10 })
    const over = answers.at(-1)
    assert.deepEqual(
      [over?.body.error.code, over?.headers['retry-after']],
      ['rate_limited', '3600'],
    )
    assert.equal((await at(ANNS_ADDRESS).post(SIGN_UP, ann)).status, 201)
    assert.equal((await at(stranger(1)).post(LOG_IN, ann)).status, 200, 'a login is no sign-up')
  })

  test('admits exactly its number among 150 concurrent requests', async (t) => {
    const { at } = await open(t, { RATE_LIMIT_SIGNUPS_PER_HOUR: '4' })
    const answers = await times(150, (i) => at(stranger(1)).post(SIGN_UP, accountOf(i)))
    assert.deepEqual(countStatuses(answers), { 201: 4, 429: 146 })
  })
})

describe('the limit on logins', () => {
  test('counts the successful logins of a caller', async (t) => {
    const { at } = await open(t, { RATE_LIMIT_LOGINS_PER_MINUTE: '5' })
    await at(ANNS_ADDRESS).post(SIGN_UP, ann)
    const answers = []
    for (let i = 0; i < 8; i++) answers.push(await at(ANNS_ADDRESS).post(LOG_IN, ann))
    assert.deepEqual(countStatuses(answers), { 200: 5, 429: 3 })
    assert.equal((await at(ELSEWHERE).post(LOG_IN, ann)).status, 200)
  })
})

describe('wrong passwords on one account', () => {
  test('are tried 30 times an hour, from all addresses together', async (t) => {
    const { at } = await open(t)
    await at(ANNS_ADDRESS).post(SIGN_UP, ann)
    // Each address has been seen before the others are sent at the same time.
    for (let i = 0; i < 8; i++)
      assert.equal((await at(stranger(i)).post(LOG_IN, wrong)).status, 401)
    assert.deepEqual(countStatuses(await guess(at)), { 401: 22, 429: 178 })
    const over = await at(stranger(1)).post(LOG_IN, ann)
    assert.deepEqual([over.status, over.body.error.code], [429, 'rate_limited'])
    assert.match(over.body.error.message, /choose a new password by mail/)
    assert.equal(over.headers['retry-after'], '3600')
  })

  test('leave ten attempts to new addresses, since the owner may be at one of them', async (t) => {
    const { at } = await open(t)
    await at(ANNS_ADDRESS).post(SIGN_UP, ann)
    for (let i = 0; i < 8; i++) await at(stranger(i)).post(LOG_IN, wrong)
    await guess(at)
    for (let i = 0; i < 12; i++) {
      assert.equal(
        (await at(stranger(100 + i)).post(LOG_IN, ann)).status,
        200,
        'good ones do not count',
      )
    }
    const answers = await times(40, (i) => at(stranger(120 + i)).post(LOG_IN, wrong))
    assert.deepEqual(countStatuses(answers), { 401: 10, 429: 30 })
    assert.equal((await at(stranger(200)).post(LOG_IN, ann)).status, 429)
    assert.equal((await at(ANNS_ADDRESS).post(LOG_IN, ann)).status, 200)
  })

  test('never keep out an owner who has opened a mailed link', async (t) => {
    const { app, at } = await open(t, FEW)
    await at(ANNS_ADDRESS).post(SIGN_UP, ann)
    for (let i = 0; i < 40; i++) await at(stranger(i)).post(LOG_IN, wrong)
    assert.equal((await at(ELSEWHERE).post(LOG_IN, ann)).status, 429)
    await at(ELSEWHERE).post('/v1/identity/password/forgot', { email: ann.email })
    const superuser = await openSuperuser(t, app.database)
    const { rows } = await superuser.query('select body from mails where recipient = $1', [
      ann.email,
    ])
    const [token] = /^[\w-]{80,}$/m.exec(String(rows.at(-1)?.body)) ?? []
    const chosen = { token, password: 'another battery' }
    assert.equal((await at(ELSEWHERE).post('/v1/identity/password/reset', chosen)).status, 200)
    const right = { email: ann.email, password: chosen.password }
    assert.equal((await at(ELSEWHERE).post(LOG_IN, right)).status, 200)
    assert.equal((await at(stranger(50)).post(LOG_IN, right)).status, 429)
  })

  test('do not lock the owner out at an address that is known for the account', async (t) => {
    const { at } = await open(t, FEW)
    await at(ANNS_ADDRESS).post(SIGN_UP, ann)
    await at(ELSEWHERE).post(LOG_IN, ann)
    assert.deepEqual(countStatuses(await guess(at, 40)), { 401: 6, 429: 34 })
    assert.equal((await at(ANNS_ADDRESS).post(LOG_IN, ann)).status, 200)
    assert.equal((await at(ELSEWHERE).post(LOG_IN, ann)).status, 200)
    assert.equal((await at(ANNS_ADDRESS).post(LOG_IN, wrong)).status, 401)
  })

  test('are limited at a known address too', async (t) => {
    const { at } = await open(t, { ...FEW, RATE_LIMIT_LOGINS_PER_MINUTE: '1000' })
    await at(ANNS_ADDRESS).post(SIGN_UP, ann)
    const answers = await times(20, () => at(ANNS_ADDRESS).post(LOG_IN, wrong))
    assert.deepEqual(countStatuses(answers), { 401: 4, 429: 16 })
    assert.equal((await at(ELSEWHERE).post(LOG_IN, ann)).status, 200, 'others have their own count')
  })

  test('are answered like those on an account that does not exist', async (t) => {
    const { at } = await open(t, FEW)
    await at(ANNS_ADDRESS).post(SIGN_UP, ann)
    await guess(at, 40)
    const unknown = { email: 'nobody@acme.example', password: 'wrong horse' }
    const others = await times(40, (i) => at(stranger(100 + (i % 8))).post(LOG_IN, unknown))
    assert.deepEqual(countStatuses(others), { 401: 6, 429: 34 })
    const known = await at(stranger(120)).post(LOG_IN, wrong)
    assert.deepEqual(essence(await at(stranger(120)).post(LOG_IN, unknown)), essence(known))
  })

  test('are forgotten after good logins, which do not count', async (t) => {
    const { at } = await open(t, { RATE_LIMIT_WRONG_PASSWORDS_PER_HOUR: '3' })
    await at(ANNS_ADDRESS).post(SIGN_UP, ann)
    for (let i = 0; i < 10; i++) {
      assert.equal((await at(stranger(i)).post(LOG_IN, ann)).status, 200)
    }
  })
})

describe('while three callers flood', () => {
  test('the password check of another caller waits for one check of each, and not for all', async () => {
    const saltKey = Buffer.alloc(32)
    let finished = 0
    const flood = times(48, async (i) => {
      await hashPassword({ caller: stranger(i % 3), email: ann.email, saltKey }, ann.password)
      finished += 1
    })
    await hashPassword({ caller: ANNS_ADDRESS, email: ann.email, saltKey }, ann.password)
    // Two were running, and each of the three had a turn. On a busy machine some more end together with it; without
    // turns all 48 would go first.
    assert.ok(finished <= 20, `${finished} hashes of others went first`)
    await flood
  })

  test('a login of another caller succeeds, and the flooding callers get 429 and not 503', async (t) => {
    const { at } = await open(t, {
      RATE_LIMIT_SIGNUPS_PER_HOUR: '1000',
      RATE_LIMIT_FAILED_PER_MINUTE: '1000',
    })
    await at(ANNS_ADDRESS).post(SIGN_UP, ann)
    const flood = times(180, (i) => at(stranger(i % 3)).post(SIGN_UP, accountOf(i)))
    for (let i = 0; i < 5; i++) {
      assert.equal((await at(ANNS_ADDRESS).post(LOG_IN, ann)).status, 200)
    }
    const { 201: done = 0, 429: refused = 0 } = countStatuses(await flood)
    assert.equal(done + refused, 180)
    assert.ok(refused > 0)
  })
})
