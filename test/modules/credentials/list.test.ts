import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sha256 } from '../../../src/kernel/tokens.ts'
import { openTestApp } from '../../harness/app.ts'
import { keysOf } from '../../harness/refusals.ts'
import { share } from '../../harness/scope.ts'
import { dumpText, openSuperuser } from '../../harness/superuser.ts'

const URL = '/v1/my/credentials'

const shared = share((scope) => openTestApp(scope))
let stores = 0

/** The next store, and its merchant. */
async function openStore() {
  const app = shared.current
  const tenant = `acme-${++stores}`
  return { app, tenant, acme: await app.merchant(tenant) }
}

describe('the list of keys', () => {
  test('shows every key of the store, newest first, the revoked ones too', async () => {
    const { app, acme } = await openStore()
    await app.key('globex')
    const labels = ['first', 'second', 'third']
    for (const label of labels) await acme.post(URL, { label, scopes: ['read:own_store'] })
    const before = (await acme.get(URL)).body.credentials
    await acme.post(`${URL}/${before[0].id}/revoke`)
    const { status, body } = await acme.get(URL)
    assert.equal(status, 200)
    assert.deepEqual(keysOf(body), ['credentials', 'limit', 'offset', 'total'])
    assert.deepEqual([body.total, body.limit, body.offset], [4, 5_000, 0])
    const shown = body.credentials.map(({ label }: { label: string }) => label)
    assert.deepEqual(shown, ['third', 'second', 'first', 'test'])
    for (const row of body.credentials) {
      const members = 'created_at expires_at id key_hint label revoked_at scopes'.split(' ')
      assert.deepEqual(keysOf(row), members)
      assert.match(row.key_hint, /^fdk_[0-9A-Za-z]{8}$/)
      assert.equal(row.revoked_at !== null, row.label === 'third')
    }
  })

  test('has all keys of a store on its first page, and fewer with a smaller limit', async () => {
    const { app, tenant, acme } = await openStore()
    const admin = await app.database.openAdmin()
    await admin.query(`
      insert into credentials (tenant_ref, public_id, secret_hash, label, scopes)
      select '${tenant}', lpad(n::text, 8, '0'), sha256(n::text::bytea), 'Key ' || n,
             '{read:own_store}'
        from generate_series(1, 4999) n`)
    const { credentials, ...whole } = (await acme.get(URL)).body
    assert.deepEqual(
      [credentials.length, whole],
      [5_000, { total: 5_000, limit: 5_000, offset: 0 }],
    )
    const first = (await acme.get(`${URL}?limit=3000`)).body
    const second = (await acme.get(`${URL}?limit=3000&after=${first.next_after}`)).body
    assert.deepEqual([...first.credentials, ...second.credentials], credentials)
    assert.equal(second.next_after, undefined)
  })

  test('shows no secret, like every other answer and row: only a hash is stored', async (t) => {
    const { app, tenant, acme } = await openStore()
    const superuser = await openSuperuser(t, app.database)
    const made = await acme.post(URL, { label: 'Till', scopes: ['manage:own_credentials'] })
    const { id, key } = made.body.credential
    const holder = app.as({ authorization: `Bearer ${key}` })
    const answers = [
      await holder.get(URL),
      await holder.get(`${URL}/self`),
      await acme.get('/v1/my/audit'),
      await app.operator.get('/v1/audit'),
      await app.operator.get(`/v1/stores/${tenant}`),
      await acme.post(`${URL}/${id}/revoke`),
    ]
    const secret = key.slice('fdk_00000000_'.length)
    const hash = sha256(secret)
    const forms = [hash.toString('hex'), hash.toString('base64'), hash.toString('base64url')]
    for (const { text, status } of answers) {
      assert.equal(status, 200)
      for (const form of [secret, ...forms, sha256(key).toString('hex'), 'secret_hash']) {
        assert.ok(!text.includes(form), text)
      }
    }
    const dump = await dumpText(superuser)
    assert.ok(!dump.includes(secret), 'no row holds the secret')
    assert.equal(dump.split(hash.toString('hex')).length, 2, 'one row holds its hash')
  })
})

test('any key may read itself', async () => {
  const app = shared.current
  const clerk = await app.merchant('acme', 'manage:own_media')
  const { status, body } = await clerk.get(`${URL}/self`)
  assert.equal(status, 200)
  assert.deepEqual(keysOf(body), ['credential', 'tenant_ref'])
  assert.equal(body.tenant_ref, 'acme')
  assert.deepEqual(body.credential.scopes, ['manage:own_media'])
  assert.equal((await clerk.get(URL)).status, 403, 'but not about the others')
})
