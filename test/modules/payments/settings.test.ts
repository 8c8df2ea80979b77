import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openPaymentsApp } from './setup.ts'

const KEY = 'a-security-key-of-32-characters!'
const OTHER_KEY = 'another-security-key-32-letters?'

test('the gateway of a store', async (t) => {
  const app = await openPaymentsApp(t)
  const { operator, superuser, runtime } = app
  const url = (tenant: string) => `/v1/stores/${tenant}/payments`
  await Promise.all(['acme', 'globex', 'initech'].map((tenant) => app.store(tenant)))

  await t.test("is the installation's until the operator sets another", async () => {
    const { status, body } = await operator.get(url('acme'))
    assert.equal(status, 200)
    assert.deepEqual(body.payments, {
      gateway: 'simulated',
      account: 'installation',
      credential_hint: null,
      tokenization_key: null,
      updated_at: null,
    })
    assert.equal((await runtime.payments.forStore(await app.store('acme'))).name, 'simulated')
  })

  await t.test('can be set, and its credential is never shown again', async () => {
    const change = { gateway: 'nmi', credentials: { security_key: KEY } }
    const set = await operator.put(url('acme'), change)
    assert.equal(set.status, 200)
    const { updated_at, ...payments } = set.body.payments
    assert.deepEqual(payments, {
      gateway: 'nmi',
      account: 'store',
      credential_hint: 'ers!',
      tokenization_key: null,
    })
    assert.ok(updated_at)
    const { rows } = await superuser.query(
      `select string_agg(a::text, ' ') || (select string_agg(l::text, ' ') from audit_log l) as all
         from payment_accounts a`,
    )
    const trail = await operator.get('/v1/stores/acme/audit?action=payments.gateway_set')
    for (const text of [
      set.text,
      (await operator.get(url('acme'))).text,
      rows[0].all,
      trail.text,
    ]) {
      assert.ok(!text.includes(KEY), text)
      assert.ok(!text.includes(Buffer.from(KEY).toString('hex')), text)
    }
    const [entry] = trail.body.entries
    assert.deepEqual(
      [entry.actor, entry.before.gateway, entry.after.gateway],
      ['operator', 'simulated', 'nmi'],
    )
    assert.equal((await runtime.payments.forStore(await app.store('acme'))).name, 'nmi')
  })

  await t.test('keeps the credentials of the earlier gateway, for its payments', async () => {
    const back = await operator.put(url('acme'), { gateway: 'simulated' })
    assert.deepEqual(
      [back.body.payments.gateway, back.body.payments.credential_hint],
      ['simulated', null],
    )
    const db = await app.store('acme')
    assert.equal((await runtime.payments.forStore(db)).name, 'simulated')
    assert.equal((await runtime.payments.forStore(db, 'nmi')).name, 'nmi')
    const again = await operator.put(url('acme'), { gateway: 'nmi' })
    assert.equal(again.body.payments.credential_hint, 'ers!')
    const rotated = await operator.put(url('acme'), {
      gateway: 'nmi',
      credentials: { security_key: OTHER_KEY },
    })
    assert.equal(rotated.body.payments.credential_hint, 'ers?')
  })

  await t.test("cannot be decrypted in another store's row", async () => {
    await superuser.query(
      `insert into payment_accounts (tenant_ref, gateway, credentials)
       select 'initech', gateway, credentials from payment_accounts where tenant_ref = 'acme' and gateway = 'nmi'`,
    )
    await assert.rejects(runtime.payments.forStore(await app.store('initech')))
  })

  await t.test('shows no hint of a short credential', async () => {
    const short = { gateway: 'nmi', credentials: { security_key: 'only8let' } }
    const { body } = await operator.put(url('globex'), short)
    assert.deepEqual([body.payments.account, body.payments.credential_hint], ['store', null])
  })

  await t.test('is refused if it could not work', async () => {
    await app.store('umbrella')
    const bad = [
      [{}, 'gateway'],
      [{ gateway: 'stripe' }, 'gateway'],
      [{ gateway: 'nmi' }, 'credentials'],
      [{ gateway: 'simulated', credentials: { security_key: KEY } }, 'credentials'],
      [{ gateway: 'nmi', credentials: {} }, 'credentials.security_key'],
      [{ gateway: 'nmi', credentials: { security_key: 'short' } }, 'credentials.security_key'],
      [{ gateway: 'nmi', credentials: { security_key: `${KEY}\n` } }, 'credentials.security_key'],
      [
        { gateway: 'nmi', credentials: { security_key: 'x'.repeat(201) } },
        'credentials.security_key',
      ],
      [{ gateway: 'nmi', credentials: { security_key: 12345678 } }, 'credentials.security_key'],
    ] as const
    for (const [change, path] of bad) {
      const { status, body, text } = await operator.put(url('umbrella'), change)
      assert.deepEqual([status, body.error.code], [400, 'invalid_body'], text)
      assert.ok(
        body.issues.some((each: { path: string }) => each.path === path),
        text,
      )
      assert.ok(!text.includes(KEY))
    }
    assert.equal((await operator.get(url('umbrella'))).body.payments.gateway, 'simulated')
    assert.equal((await operator.put(url('nobody'), { gateway: 'simulated' })).status, 404)
    assert.equal((await operator.get(url('nobody'))).status, 404)
  })

  await t.test('has a public key for card fields, if it is set', async () => {
    const merchant = await app.merchant('globex')
    await merchant.put('/v1/my/store/manifest', { manifest: {} })
    await operator.put('/v1/stores/globex/status', { status: 'live' })
    const form = async (tenant: string) => {
      const { status, body } = await app.storefront.get(`/v1/tenants/${tenant}/card-form`)
      return [status, body.card_form ?? body.error.code]
    }
    const nmi = (tokenization_key: string | null) => {
      const url = 'https://secure.nmi.com/token/Collect.js'
      const script =
        tokenization_key === null ? null : { driver: 'collect', url, key: tokenization_key }
      return [200, { gateway: 'nmi', tokenization_key, script }]
    }
    const own = { gateway: 'nmi', credentials: { security_key: KEY } }
    await operator.put(url('globex'), own)
    assert.deepEqual(await form('globex'), nmi(null))
    const set = await operator.put(url('globex'), { ...own, tokenization_key: 'public-key-1' })
    assert.equal(set.body.payments.tokenization_key, 'public-key-1')
    assert.deepEqual(await form('globex'), nmi('public-key-1'))
    await operator.put(url('globex'), { gateway: 'nmi' })
    assert.deepEqual(await form('globex'), nmi('public-key-1'), 'left out, it stays')
    await operator.put(url('globex'), { gateway: 'simulated' })
    const none = { gateway: 'simulated', tokenization_key: null, script: null }
    assert.deepEqual(await form('globex'), [200, none])
    await operator.put(url('globex'), { gateway: 'nmi', tokenization_key: null })
    assert.deepEqual(await form('globex'), nmi(null), 'null removes it')
    for (const tenant of ['umbrella', 'nobody']) {
      assert.deepEqual(await form(tenant), [404, 'unknown_tenant'], tenant)
    }
    for (const [change, path] of [
      [{ ...own, tokenization_key: 'short' }, 'tokenization_key'],
      [{ ...own, tokenization_key: 'has "quotes"' }, 'tokenization_key'],
      [{ ...own, tokenization_key: 'x'.repeat(101) }, 'tokenization_key'],
      [{ gateway: 'simulated', tokenization_key: 'public-key-1' }, 'tokenization_key'],
    ] as const) {
      const { status, body, text } = await operator.put(url('globex'), change)
      assert.deepEqual([status, body.issues?.[0].path], [400, path], text)
    }
  })

  await t.test('is one per store, even if it is set many times at once', async () => {
    const changes = ['simulated', 'nmi', 'simulated', 'nmi'].map((gateway) =>
      operator.put(url('acme'), { gateway }),
    )
    for (const { status } of await Promise.all(changes)) assert.equal(status, 200)
    const { rows } = await superuser.query(
      `select count(*)::int as used from payment_accounts where tenant_ref = 'acme' and in_use`,
    )
    assert.equal(rows[0].used, 1)
  })
})
