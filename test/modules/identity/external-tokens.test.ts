import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { openTestApp } from '../../harness/app.ts'
import { essence } from '../../harness/refusals.ts'
import { openServers } from '../../harness/servers.ts'
import { openSuperuser } from '../../harness/superuser.ts'

const ISSUER = 'https://id.example'
const AUDIENCE = 'fairdock'
const EMAIL = 'ann@acme.example'
const ME = '/v1/identity/me'
const CLAIMS = { email: EMAIL, email_verified: true, name: 'Ann', iss: ISSUER, aud: AUDIENCE }

/** An identity provider on loopback, with a key of each kind. */
async function openProvider(t: TestContext) {
  const servers = openServers()
  t.after(() => servers.close())
  const keys = new Map<string, CryptoKey>()
  const jwks: object[] = []
  for (const alg of ['RS256', 'ES256', 'EdDSA', 'PS256']) {
    const pair = await generateKeyPair(alg, { extractable: true })
    keys.set(alg, pair.privateKey)
    jwks.push({ ...(await exportJWK(pair.publicKey)), kid: alg })
  }
  const provider = { isUp: true, jwks }
  const port = await servers.http((_, response) => {
    if (!provider.isUp) return void response.writeHead(502).end('<h1>Bad gateway</h1>')
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: jwks }))
  })
  const sign = (claims: JWTPayload, { alg = 'RS256', kid = '', expires = '5m' } = {}) => {
    const key = keys.get(alg)
    assert.ok(key)
    const token = new SignJWT(claims).setProtectedHeader({ alg, kid: kid || alg })
    return (expires === '' ? token : token.setExpirationTime(expires)).sign(key)
  }
  const env = {
    IDENTITY_JWKS_URL: `http://127.0.0.1:${port}/jwks`,
    IDENTITY_ISSUER: ISSUER,
    IDENTITY_AUDIENCE: AUDIENCE,
    IDENTITY_EMAIL_VERIFICATION: 'required',
    RATE_LIMIT_FAILED_PER_MINUTE: '1000',
  }
  return { provider, sign, env }
}

async function open(t: TestContext) {
  const { provider, sign, env } = await openProvider(t)
  const app = await openTestApp(t, { env })
  const store = { tenant_ref: 'acme', display_name: 'Acme', owner_email: EMAIL }
  await app.operator.post('/v1/stores', store)
  const bearer = (token: string) => app.as({ authorization: `Bearer ${token}` })
  return { app, provider, sign, bearer }
}

describe("an external provider's token", () => {
  test('authenticates an owner, with each kind of key, as the same account', async (t) => {
    const { sign, bearer } = await open(t)
    const ids = new Set()
    for (const alg of ['RS256', 'ES256', 'EdDSA']) {
      const { status, body, text } = await bearer(await sign(CLAIMS, { alg })).get(ME)
      assert.equal(status, 200, `${alg}: ${text}`)
      assert.deepEqual([body.owner.email, body.owner.email_verified], [EMAIL, true])
      assert.equal(body.stores[0].tenant_ref, 'acme')
      ids.add(body.owner.id)
    }
    assert.equal(ids.size, 1)
    const shouting = await sign({ ...CLAIMS, email: 'ANN@ACME.EXAMPLE', aud: ['x', AUDIENCE] })
    assert.ok(ids.has((await bearer(shouting).get(ME)).body.owner.id))
  })

  test('gets the initial key of a store', async (t) => {
    const { sign, bearer } = await open(t)
    const made = await bearer(await sign(CLAIMS)).post('/v1/my/credentials/initial')
    assert.equal(made.status, 201, made.text)
  })

  test('is refused with the same bytes for every reason', async (t) => {
    const { app, sign, bearer, provider } = await open(t)
    const withoutToken = essence(await app.anyone.get(ME))
    const good = await sign(CLAIMS)
    const [head = '', payload = '', signature = ''] = good.split('.')
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const publicKey = new TextEncoder().encode(JSON.stringify(provider.jwks[0]))
    const shared = new SignJWT(CLAIMS).setProtectedHeader({ alg: 'HS256', kid: 'RS256' })
    const stranger = await generateKeyPair('RS256')
    const forged = new SignJWT(CLAIMS).setProtectedHeader({ alg: 'RS256', kid: 'RS256' })
    const { email_verified: _, ...unproven } = CLAIMS
    const { email: __, ...nameless } = CLAIMS
    const tokens: Record<string, string> = {
      'no algorithm': `${encode({ alg: 'none' })}.${payload}.`,
      'no algorithm, with a signature': `${encode({ alg: 'none' })}.${payload}.${signature}`,
      'the public key as a shared secret': await shared.setExpirationTime('5m').sign(publicKey),
      'another key': await forged.setExpirationTime('5m').sign(stranger.privateKey),
      'an algorithm not asked for': await sign(CLAIMS, { alg: 'PS256' }),
      'an unknown key id': await sign(CLAIMS, { kid: 'nobody' }),
      'the key of another algorithm': await sign(CLAIMS, { alg: 'ES256', kid: 'RS256' }),
      'another issuer': await sign({ ...CLAIMS, iss: `${ISSUER}/` }),
      'another audience': await sign({ ...CLAIMS, aud: 'somebody else' }),
      'no audience': await sign({ email: EMAIL, email_verified: true, iss: ISSUER }),
      'an end in the past': await sign(CLAIMS, { expires: '-10s' }),
      'no end': await sign(CLAIMS, { expires: '' }),
      'a start in the future': await sign({ ...CLAIMS, nbf: Date.now() / 1_000 + 600 }),
      'an unverified address': await sign({ ...CLAIMS, email_verified: false }),
      'no word on the address': await sign(unproven),
      'a word that is no boolean': await sign({ ...CLAIMS, email_verified: 'true' }),
      'no address': await sign(nameless),
      'an address that is none': await sign({ ...CLAIMS, email: 'ann' }),
      'an address with U+0000': await sign({ ...CLAIMS, email: 'a\0nn@acme.example' }),
      'a list of addresses': await sign({ ...CLAIMS, email: [EMAIL] }),
      'a changed payload': `${head}.${encode({ ...CLAIMS, exp: 9_999_999_999 })}.${signature}`,
      'an unreadable one': 'a.b.c',
      'an empty one': '..',
    }
    for (const [what, token] of Object.entries(tokens)) {
      const answer = await bearer(token).get(ME)
      assert.deepEqual(essence(answer), withoutToken, `${what}: ${answer.text}`)
    }
    assert.equal((await bearer(good).get(ME)).status, 200)
  })

  test('cannot impersonate another address by a character with a special lower case', async (t) => {
    const { app, sign, bearer } = await open(t)
    const superuser = await openSuperuser(t, app.database)
    await superuser.query(`update stores set owner_email = 'kim@acme.example'`)
    const kelvin = await sign({ ...CLAIMS, email: '\u212Aim@acme.example' })
    assert.equal((await bearer(kelvin).get(ME)).status, 401)
  })

  test('is answered 503, never 401, when the provider is unreachable', async (t) => {
    const { provider, sign, bearer } = await open(t)
    provider.isUp = false
    const token = await sign(CLAIMS)
    const { status, body } = await bearer(token).get(ME)
    assert.deepEqual([status, body.error.code], [503, 'auth_unavailable'])
    provider.isUp = true
    assert.equal((await bearer(token).get(ME)).status, 200)
  })
})

describe('an account that a stranger created before its address was verified', () => {
  test('is taken from the stranger when the provider identifies the owner', async (t) => {
    const { app, sign, bearer } = await open(t)
    const password = 'known to the stranger'
    const account = { email: EMAIL, password, name: 'Not Ann' }
    const squat = await app.anyone.post('/v1/identity/signup', account)
    const stranger = bearer(squat.body.session.token)
    assert.deepEqual((await stranger.get(ME)).body.stores, [])
    const ann = await bearer(await sign(CLAIMS)).get(ME)
    assert.equal(ann.body.stores[0].tenant_ref, 'acme')
    assert.equal((await stranger.get(ME)).status, 401, 'the old session has ended')
    const login = await app.anyone.post('/v1/identity/login', account)
    assert.equal(login.status, 401, 'the old password is gone')
  })

  test('stays as it is if the address was verified before', async (t) => {
    const { app, sign, bearer } = await open(t)
    const superuser = await openSuperuser(t, app.database)
    const account = { email: EMAIL, password: 'known to Ann', name: 'Ann' }
    const made = await app.anyone.post('/v1/identity/signup', account)
    await superuser.query('update owners set email_verified_at = now()')
    assert.equal((await bearer(await sign(CLAIMS)).get(ME)).status, 200)
    assert.equal((await bearer(made.body.session.token).get(ME)).status, 200)
    assert.equal((await app.anyone.post('/v1/identity/login', account)).status, 200)
  })
})
