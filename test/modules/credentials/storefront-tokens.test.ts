import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { type Caller, openTestApp, type TestApp } from '../../harness/app.ts'
import { until } from '../../harness/eventually.ts'
import { suiteScope } from '../../harness/scope.ts'
import { openSuperuser } from '../../harness/superuser.ts'
import { addVariant, openShop } from '../checkout/setup.ts'

const TOKENS = '/v1/my/storefront-tokens'

let app: TestApp
/** Another process of the same installation. */
let other: TestApp

const scope = suiteScope()
before(async () => {
  app = await openTestApp(scope as never, { live: true })
  other = await openTestApp(scope as never, { live: true, database: app.database })
})

let stores = 0

interface Shop {
  tenant: string
  merchant: Caller
  /** What a storefront asks for first. */
  cart: { items: { variant_id: string; quantity: number }[] }
}

async function openStore(): Promise<Shop> {
  const { tenant, merchant } = await openShop(app, `own-${++stores}`, [])
  const items = [{ variant_id: await addVariant(merchant, 1_000), quantity: 1 }]
  return { tenant, merchant, cart: { items } }
}

async function makeToken(merchant: Caller, label = 'Web shop') {
  const made = await merchant.post(TOKENS, { label })
  assert.equal(made.status, 201, made.text)
  return made.body.storefront_token as { id: string; token: string; hint: string; label: string }
}

const quote = (process: TestApp, token: string, tenant: string, cart: object) =>
  process.as({ 'x-storefront-token': token }).post(`/v1/tenants/${tenant}/checkout/preview`, cart)

describe('a storefront token of a store', () => {
  test('opens the storefront routes of its store at once, on every process', async () => {
    const { tenant, merchant, cart } = await openStore()
    const { token } = await makeToken(merchant)
    for (const process of [app, other]) {
      const answer = await quote(process, token, tenant, cart)
      assert.equal(answer.status, 200, answer.text)
      assert.equal(answer.body.total_cents, 1_000)
    }
  })

  test('is shown once, and only its hash is stored', async (t) => {
    const { tenant, merchant } = await openStore()
    const { token, id, hint, label } = await makeToken(merchant)
    assert.match(token, /^fdst_[0-9A-Za-z]{43}$/)
    const { body, text } = await merchant.get(TOKENS)
    assert.ok(!text.includes(token))
    const { created_at, ...listed } = body.storefront_tokens[0]
    assert.deepEqual(listed, { id, label, hint: token.slice(-4) })
    assert.equal(hint, token.slice(-4))
    assert.ok(!Number.isNaN(Date.parse(created_at)))
    const client = await openSuperuser(t, app.database)
    const { rows } = await client.query(
      'select t::text as row from storefront_tokens t where tenant_ref = $1',
      [tenant],
    )
    assert.equal(rows.length, 1)
    assert.ok(!rows[0].row.includes(token.slice(5)))
    const trail = (await merchant.get('/v1/my/audit')).text
    assert.ok(trail.includes('storefront_token.created') && !trail.includes(token))
  })

  test('answers for another store exactly as for an unknown one', async () => {
    const [own, foreign] = [await openStore(), await openStore()]
    const { token } = await makeToken(own.merchant)
    // Also after the token was seen for its own store.
    assert.equal((await quote(app, token, own.tenant, own.cart)).status, 200)
    const answers = await Promise.all(
      [foreign.tenant, 'no-such-store', 'No Store', `x-${randomUUID()}`].map(async (tenant) => {
        const name = encodeURIComponent(tenant)
        const { status, headers, bytes } = await quote(app, token, name, foreign.cart)
        const { date: _, 'x-correlation-id': __, ...rest } = headers
        return { status, headers: rest, bytes: bytes.toString() }
      }),
    )
    assert.deepEqual(
      [answers[0]?.status, answers[0]?.bytes.includes('unknown_tenant')],
      [404, true],
    )
    for (const each of answers) assert.deepEqual(each, answers[0])
    const unknown = await app.storefront.post('/v1/tenants/no-such-store/checkout/preview', {})
    assert.deepEqual(unknown.bytes.toString(), answers[0]?.bytes)
  })

  test('ends on every process with its deletion, which is audited', async () => {
    const { tenant, merchant, cart } = await openStore()
    const { token, id } = await makeToken(merchant)
    for (const process of [app, other]) {
      assert.equal((await quote(process, token, tenant, cart)).status, 200)
    }
    const removed = await merchant.send('DELETE', `${TOKENS}/${id}`)
    assert.equal(removed.status, 200, removed.text)
    const here = await quote(app, token, tenant, cart)
    assert.deepEqual([here.status, here.body.error.code], [401, 'unauthorized'])
    await until('the other process refuses it', async () => {
      return (await quote(other, token, tenant, cart)).status === 401
    })
    assert.deepEqual((await merchant.get(TOKENS)).body.storefront_tokens, [])
    assert.ok((await merchant.get('/v1/my/audit')).text.includes('storefront_token.deleted'))
    const again = await merchant.send('DELETE', `${TOKENS}/${id}`)
    assert.deepEqual([again.status, again.body.error.code], [404, 'storefront_token_not_found'])
  })

  test('costs no statement beyond those of the platform token after its first use', async () => {
    const { tenant, merchant, cart } = await openStore()
    const { token } = await makeToken(merchant)
    await until('the cache is trusted', async () => app.runtime.cache.trusted)
    await quote(app, token, tenant, cart)
    const before = app.runtime.cache.stats().hits
    for (let time = 0; time < 5; time++) {
      assert.equal((await quote(app, token, tenant, cart)).status, 200)
    }
    assert.ok(app.runtime.cache.stats().hits >= before + 5, 'the token was found in memory')
  })

  test('is limited in number, also when many are created at once', async () => {
    const { merchant } = await openStore()
    const made = await Promise.all(
      Array.from({ length: 24 }, (_, at) => merchant.post(TOKENS, { label: `${at}` })),
    )
    assert.equal(made.filter(({ status }) => status === 201).length, 20)
    const [refused] = made.filter(({ status }) => status !== 201)
    assert.deepEqual(
      [refused?.status, refused?.body.error.code, refused?.body.limit, refused?.body.max],
      [409, 'limit_reached', 'storefront_tokens', 20],
    )
  })

  test('is created, listed and deleted with write:own_store alone, and by its own store alone', async () => {
    const { tenant, merchant } = await openStore()
    const { id } = await makeToken(merchant)
    const reader = await app.merchant(tenant, 'read:own_store')
    for (const answer of [
      await reader.get(TOKENS),
      await reader.post(TOKENS, { label: 'x' }),
      await reader.send('DELETE', `${TOKENS}/${id}`),
    ]) {
      assert.deepEqual([answer.status, answer.body.error.code], [403, 'forbidden'])
    }
    const stranger = (await openStore()).merchant
    assert.equal((await stranger.send('DELETE', `${TOKENS}/${id}`)).status, 404)
    assert.equal((await merchant.get(TOKENS)).body.storefront_tokens.length, 1)
    for (const label of [undefined, '', 'x'.repeat(81), 7, null]) {
      const answer = await merchant.post(TOKENS, { label })
      assert.deepEqual([answer.status, answer.body.error.code], [400, 'invalid_body'])
    }
  })

  test('opens no other plane, and a text that is not a token opens nothing', async () => {
    const { tenant, merchant, cart } = await openStore()
    const { token } = await makeToken(merchant)
    const holder = app.as({ 'x-storefront-token': token, authorization: `Bearer ${token}` })
    assert.equal((await holder.get('/v1/my/store')).status, 401)
    assert.equal((await holder.get(`/v1/stores/${tenant}`)).status, 401)
    const last = token.at(-1) === 'a' ? 'b' : 'a'
    for (const wrong of ['', 'fdst_', token.slice(0, -1), token.slice(0, -1) + last, `${token}a`]) {
      const answer = await quote(app, wrong, tenant, cart)
      assert.deepEqual([answer.status, answer.body.error.code], [401, 'unauthorized'], wrong)
    }
  })

  test('tries other stores only as often as a caller may fail', async (t) => {
    const strict = await openTestApp(t, { env: { RATE_LIMIT_FAILED_PER_MINUTE: '5' } })
    const merchant = await strict.merchant('own-strict')
    const { token } = await makeToken(merchant)
    const statuses: number[] = []
    for (let n = 0; n < 7; n++) {
      statuses.push((await quote(strict, token, `other-${n}`, { items: [] })).status)
    }
    assert.deepEqual(statuses, [404, 404, 404, 404, 404, 429, 429])
  })

  test('is useless while its store is not live', async () => {
    const { tenant, merchant, cart } = await openStore()
    const { token } = await makeToken(merchant)
    await app.operator.put(`/v1/stores/${tenant}/status`, { status: 'suspended' })
    const answer = await quote(app, token, tenant, cart)
    assert.deepEqual([answer.status, answer.body.error.code], [404, 'unknown_tenant'])
  })
})
