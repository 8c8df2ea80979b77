import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTestApp } from '../../harness/app.ts'
import { deliver, deliverNmi, KEYS, nmiEvent, register, signNmi } from './setup.ts'

test('an account of a provider', async (t) => {
  const app = await openTestApp(t)
  const { operator } = app
  const change = { tenant_ref: 'acme', scheme: 'nmi', signing_key: KEYS.nmi }
  await app.store('acme')

  await t.test('is registered, shown without its key, and recorded in the audit log', async () => {
    const made = await operator.put('/v1/gateway/nmi/first', change)
    assert.equal(made.status, 200, made.text)
    const { created_at, updated_at, ...rest } = made.body.account
    assert.ok(created_at && updated_at)
    const named = { provider: 'nmi', account_ref: 'first', tenant_ref: 'acme', scheme: 'nmi' }
    assert.deepEqual(rest, named)
    const shown = await operator.get('/v1/gateway/nmi/first')
    assert.deepEqual(shown.body, made.body)
    const audit = await operator.get('/v1/stores/acme/audit?action=gateway.account_set')
    assert.equal(audit.body.entries[0].entity, 'gateway:nmi/first')
    for (const { text } of [made, shown, audit]) assert.ok(!text.includes(KEYS.nmi))
  })

  await t.test('is listed by store and provider', async () => {
    await register(app, 'other-store', { provider: 'sim', account: 'mine' }, 'standard')
    const names = async (query: string) => {
      const { body } = await operator.get(`/v1/gateway${query}`)
      assert.equal(body.accounts.length, Math.min(body.total, body.limit))
      return body.accounts.map(
        (each: { provider: string; account_ref: string }) => `${each.provider}/${each.account_ref}`,
      )
    }
    assert.deepEqual(await names(''), ['nmi/first', 'sim/mine'])
    assert.deepEqual(await names('?tenant_ref=other-store'), ['sim/mine'])
    assert.deepEqual(await names('?provider=nmi'), ['nmi/first'])
    assert.deepEqual(await names('?provider=none'), [])
  })

  await t.test('accepts a new key at once, and no longer the old one', async () => {
    const path = await register(app, 'acme', { provider: 'nmi', account: 'rotated' })
    const raw = nmiEvent()
    assert.equal((await deliverNmi(app, path, raw)).status, 200)
    const other = 'another-key-altogether'
    const changed = await operator.put(path, { ...change, signing_key: other })
    assert.equal(changed.status, 200)
    assert.equal((await deliverNmi(app, path, raw)).status, 401)
    assert.deepEqual((await deliver(app, path, raw, signNmi(other, raw))).body, {
      received: true,
      deduped: true,
    })
  })

  await t.test('stays with its store until it is removed', async () => {
    const path = await register(app, 'acme', { provider: 'nmi', account: 'moved' })
    const elsewhere = { ...change, tenant_ref: 'other-store' }
    const taken = await operator.put(path, elsewhere)
    assert.equal(taken.status, 409)
    assert.equal(taken.body.error.code, 'gateway_account_taken')
    const removed = await operator.send('DELETE', path)
    assert.equal(removed.status, 200, removed.text)
    assert.equal(removed.body.account.tenant_ref, 'acme')
    assert.equal((await deliverNmi(app, path, nmiEvent())).status, 404)
    assert.equal((await operator.get(path)).status, 404)
    assert.equal((await operator.send('DELETE', path)).body.error.code, 'unknown_provider')
    assert.equal((await operator.put(path, elsewhere)).body.account.tenant_ref, 'other-store')
    assert.equal((await deliverNmi(app, path, nmiEvent())).status, 200)
    const audit = await operator.get('/v1/stores/acme/audit?action=gateway.account_removed')
    assert.equal(audit.body.entries.length, 1)
    // The first store may register it again.
    await operator.send('DELETE', path)
    assert.equal((await operator.put(path, change)).body.account.tenant_ref, 'acme')
  })

  await t.test('goes to one of two stores that register it at the same time', async () => {
    const answers = await Promise.all(
      ['acme', 'other-store'].map((tenant_ref) =>
        operator.put('/v1/gateway/nmi/race', { ...change, tenant_ref }),
      ),
    )
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409])
  })

  await t.test('needs a store, a scheme and a key that fits the scheme', async () => {
    const refused = async (other: object, path = '/v1/gateway/nmi/bad') => {
      const { status, body } = await operator.put(path, { ...change, ...other })
      return `${status} ${body.error.code} ${body.issues?.[0]?.path ?? ''}`.trim()
    }
    assert.equal(await refused({ tenant_ref: 'nobody' }), '404 unknown_tenant')
    assert.equal(await refused({ scheme: 'md5' }), '400 invalid_body scheme')
    assert.equal(await refused({ signing_key: 'short' }), '400 invalid_body signing_key')
    assert.equal(await refused({ signing_key: undefined }), '400 invalid_body signing_key')
    // Characters that were copied by mistake: with them no signature would match.
    for (const more of [' ', '\n', '\u00a0', '\u200b']) {
      const signing_key = change.signing_key + more
      assert.equal(await refused({ signing_key }), '400 invalid_body signing_key')
    }
    const noBase64 = { scheme: 'standard', signing_key: 'whsec_no-base64' }
    assert.equal(await refused(noBase64), '400 invalid_body signing_key')
    for (const path of [
      '/v1/gateway/NMI/x',
      '/v1/gateway/nmi/%20',
      `/v1/gateway/nmi/${'x'.repeat(101)}`,
    ]) {
      assert.equal(await refused({}, path), '404 unknown_provider', path)
    }
    assert.equal((await operator.get('/v1/gateway/nmi/bad')).status, 404)
  })
})
