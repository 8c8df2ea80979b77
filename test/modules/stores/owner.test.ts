import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openTestApp } from '../../harness/app.ts'
import { assertRefused } from '../../harness/refusals.ts'

const URL = '/v1/stores/acme/owner'

describe('the owner of a store', () => {
  test('is the account with the address that the operator sets, at once', async (t) => {
    const app = await openTestApp(t)
    await app.store('acme')
    const [ann, bob] = [await app.owner('ann@acme.example'), await app.owner('bob@acme.example')]
    const owned = async (who: typeof ann) =>
      (await who.get('/v1/identity/me')).body.stores.map(
        (s: { tenant_ref: string }) => s.tenant_ref,
      )
    const named = await app.operator.put(URL, { email: 'ANN@Acme.example' })
    assert.deepEqual([named.status, named.body.store.owner_email], [200, 'ann@acme.example'])
    assert.deepEqual([await owned(ann), await owned(bob)], [['acme'], []])
    await app.operator.put(URL, { email: 'bob@acme.example' })
    assert.deepEqual([await owned(ann), await owned(bob)], [[], ['acme']])
    assert.equal((await ann.post('/v1/my/credentials/initial')).status, 404)
    const [entry] = (await app.operator.get('/v1/stores/acme/audit')).body.entries
    assert.equal(entry.action, 'store.owner_changed')
    assert.equal(entry.before.owner_email, 'ann@acme.example')
    assert.equal(entry.after.owner_email, 'bob@acme.example')
  })

  test('must be an e-mail address', async (t) => {
    const app = await openTestApp(t)
    await app.store('acme')
    const bad = [
      ['nothing', undefined, 'invalid_body', ''],
      ['null', { email: null }, 'invalid_body', 'email'],
      ['no address', { email: 'ann' }, 'invalid_body', 'email'],
      ['a long one', { email: `${'x'.repeat(250)}@b.example` }, 'invalid_body', 'email'],
    ] as const
    await assertRefused(bad, (body) => app.operator.put(URL, body))
  })
})
