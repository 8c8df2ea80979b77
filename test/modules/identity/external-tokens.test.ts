import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { openTestApp } from '../../harness/app.ts'
import { essence } from '../../harness/refusals.ts'
import { share } from '../../harness/scope.ts'
import { openServers } from '../../harness/servers.ts'
import { openSuperuser } from '../../harness/superuser.ts'

const ISSUER = 'https://id.example'
const AUDIENCE = 'fairdock'
const ME = '/v1/identity/me'

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

async function openApp(t: TestContext) {
  const { provider, sign, env } = await openProvider(t)
  const app = await openTestApp(t, { env })
  const bearer = (token: string) => app.as({ authorization: `Bearer ${token}` })
  return { app, provider, sign, bearer }
}

const shared = share(openApp)
let stores = 0

/** The next store, and what the provider says of its owner. */
async function open(opened = shared.current) {
  stores++
  const tenant = `acme-${stores}`
  const email = `ann@${tenant}.example`
  const store = { tenant_ref: tenant, display_name: 'Acme', owner_email: email }
  await opened.app.operator.post('/v1/stores', store)
  const claims = { email, email_verified: true, name: 'Ann', iss: ISSUER, aud: AUDIENCE }
  return { ...opened, tenant, email, claims }
}

describe("an external provider's token", () => {
  test('authenticates an owner, with each kind of key, as the same account', async () => {
    const { sign, bearer, tenant, email, claims } = await open()
    const ids = new Set()
    for (const alg of ['RS256', 'ES256', 'EdDSA']) {
      const { status, body, text } = await bearer(await sign(claims, { alg })).get(ME)
      assert.equal(status, 200, `${alg}: ${text}`)
      assert.deepEqual([body.owner.email, body.owner.email_verified], [email, true])
      assert.equal(body.stores[0].tenant_ref, tenant)
      ids.add(body.owner.id)
    }
    assert.equal(ids.size, 1)
    const shouting = await sign({ ...claims, email: email.toUpperCase(), aud: ['x', AUDIENCE] })
    assert.ok(ids.has((await bearer(shouting).get(ME)).body.owner.id))
  })

  test('gets the initial key of a store', async () => {
    const { sign, bearer, claims } = await open()
    const made = await bearer(await sign(claims)).post('/v1/my/credentials/initial')
    assert.equal(made.status, 201, made.text)
  })

  test('is refused with the same bytes for every reason', async () => {
    const { app, sign, bearer, provider, email, claims } = await open()
    const withoutToken = essence(await app.anyone.get(ME))
    const good = await sign(claims)
    const [head = '', payload = '', signature = ''] = good.split('.')
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const publicKey = new TextEncoder().encode(JSON.stringify(provider.jwks[0]))
    const hashed = new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'RS256' })
    const stranger = await generateKeyPair('RS256')
    const forged = new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'RS256' })
    const { email_verified: _, ...unproven } = claims
    const { email: __, ...nameless } = claims
    const tokens: Record<string, string> = {
      'no algorithm': `${encode({ alg: 'none' })}.${payload}.`,
      'no algorithm, with a signature': `${encode({ alg: 'none' })}.${payload}.${signature}`,
      'the public key as a shared secret': await hashed.setExpirationTime('5m').sign(publicKey),
      'another key': await forged.setExpirationTime('5m').sign(stranger.privateKey),
      'an algorithm not asked for': await sign(claims, { alg: 'PS256' }),
      'an unknown key id': await sign(claims, { kid: 'nobody' }),
      'the key of another algorithm': await sign(claims, { alg: 'ES256', kid: 'RS256' }),
      'another issuer': await sign({ ...claims, iss: `${ISSUER}/` }),
      'another audience': await sign({ ...claims, aud: 'somebody else' }),
      'no audience': await sign({ email, email_verified: true, iss: ISSUER }),
      'an end in the past': await sign(claims, { expires: '-10s' }),
      'no end': await sign(claims, { expires: '' }),
      'a start in the future': await sign({ ...claims, nbf: Date.now() / 1_000 + 600 }),
      'an unverified address': await sign({ ...claims, email_verified: false }),
      'no word on the address': await sign(unproven),
      'a word that is no boolean': await sign({ ...claims, email_verified: 'true' }),
      'no address': await sign(nameless),
      'an address that is none': await sign({ ...claims, email: 'ann' }),
      'an address with U+0000': await sign({ ...claims, email: 'a\0nn@acme.example' }),
      'a list of addresses': await sign({ ...claims, email: [email] }),
      'a changed payload': `${head}.${encode({ ...claims, exp: 9_999_999_999 })}.${signature}`,
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
    const { app, sign, bearer, tenant, claims } = await open()
    const superuser = await openSuperuser(t, app.database)
    await superuser.query('update stores set owner_email = $1 where tenant_ref = $2', [
      `kim@${tenant}.example`,
      tenant,
    ])
    const kelvin = await sign({ ...claims, email: `\u212Aim@${tenant}.example` })
    assert.equal((await bearer(kelvin).get(ME)).status, 401)
  })

  test('is answered 503, never 401, when the provider is unreachable', async (t) => {
    const { provider, sign, bearer, claims } = await open(await openApp(t))
    // Before it has ever answered: its keys are kept.
    provider.isUp = false
    const token = await sign(claims)
    const { status, body } = await bearer(token).get(ME)
    assert.deepEqual([status, body.error.code], [503, 'auth_unavailable'])
    provider.isUp = true
    assert.equal((await bearer(token).get(ME)).status, 200)
  })
})

describe('an account that a stranger created before its address was verified', () => {
  test('is taken over by the owner whom the provider identifies', async () => {
    const { app, sign, bearer, tenant, email, claims } = await open()
    const password = 'known to the stranger'
    const account = { email, password, name: 'Not Ann' }
    const squat = await app.anyone.post('/v1/identity/signup', account)
    const stranger = bearer(squat.body.session.token)
    assert.deepEqual((await stranger.get(ME)).body.stores, [])
    const ann = await bearer(await sign(claims)).get(ME)
    assert.equal(ann.body.stores[0].tenant_ref, tenant)
    assert.equal((await stranger.get(ME)).status, 401, 'the old session has ended')
    const login = await app.anyone.post('/v1/identity/login', account)
    assert.equal(login.status, 401, 'the old password is gone')
  })

  test('stays as it is if its address was verified before', async (t) => {
    const { app, sign, bearer, email, claims } = await open()
    const superuser = await openSuperuser(t, app.database)
    const account = { email, password: 'known to Ann', name: 'Ann' }
    const made = await app.anyone.post('/v1/identity/signup', account)
    const prove = 'update owners set email_verified_at = now() where email = $1'
    await superuser.query(prove, [email])
    assert.equal((await bearer(await sign(claims)).get(ME)).status, 200)
    assert.equal((await bearer(made.body.session.token).get(ME)).status, 200)
    assert.equal((await app.anyone.post('/v1/identity/login', account)).status, 200)
  })
})
