import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { Agent, request } from 'undici'
import { openTestApp } from '../../harness/app.ts'
import { countStatuses, essence, keysOf, times } from '../../harness/refusals.ts'
import { share } from '../../harness/scope.ts'
import { openSuperuser } from '../../harness/superuser.ts'

const URL = '/v1/my/credentials'

const shared = share((scope) => openTestApp(scope))
let stores = 0

/** The next store, its merchant, and a key that they have issued. */
async function openStore(app = shared.current) {
  const tenant = `acme-${++stores}`
  const acme = await app.merchant(tenant)
  const wanted = { label: 'Till', scopes: ['manage:own_credentials', 'read:own_store'] }
  const { id, key } = (await acme.post(URL, wanted)).body.credential
  return { app, tenant, acme, id, key, holder: app.as({ authorization: `Bearer ${key}` }) }
}

describe('revoking a key', () => {
  test('ends it at its next request, and can be repeated', async () => {
    const { acme, id, holder } = await openStore()
    assert.equal((await holder.get('/v1/my/store')).status, 200)
    const first = await acme.post(`${URL}/${id}/revoke`)
    assert.equal(first.status, 200, first.text)
    assert.deepEqual(keysOf(first.body), ['alreadyRevoked', 'credential', 'selfRevoked'])
    assert.deepEqual([first.body.alreadyRevoked, first.body.selfRevoked], [false, false])
    assert.equal(first.body.credential.id, id)
    assert.ok(first.body.credential.revoked_at)
    assert.equal((await holder.get('/v1/my/store')).status, 401)

    const again = await acme.post(`${URL}/${id}/revoke`)
    assert.deepEqual([again.status, again.body.alreadyRevoked], [200, true])
    assert.deepEqual(again.body.credential, first.body.credential, 'the first time stands')
  })

  test('may be done by the key itself, which then no longer works', async () => {
    const { id, holder } = await openStore()
    const gone = await holder.post(`${URL}/${id}/revoke`)
    assert.deepEqual([gone.body.alreadyRevoked, gone.body.selfRevoked], [false, true])
    assert.equal((await holder.post(`${URL}/${id}/revoke`)).status, 401)
  })

  test('is recorded once of many concurrent requests', async (t) => {
    const { app, tenant, acme, id } = await openStore()
    const superuser = await openSuperuser(t, app.database)
    const answers = await times(50, () => acme.post(`${URL}/${id}/revoke`))
    assert.deepEqual(countStatuses(answers), { 200: 50 })
    const firsts = answers.filter(({ body }) => !body.alreadyRevoked)
    assert.equal(firsts.length, 1)
    const { rows } = await superuser.query(
      `select count(*)::int as written from audit_log
        where action = 'credential.revoked' and tenant_ref = $1`,
      [tenant],
    )
    assert.equal(rows[0].written, 1)
  })

  test('applies to open connections too', async (t) => {
    // More refused requests than the usual limit of a minute.
    const app = await openTestApp(t, { env: { RATE_LIMIT_FAILED_PER_MINUTE: '1000' } })
    const { acme, id, key } = await openStore(app)
    const dispatcher = new Agent({ connections: 50, pipelining: 1 })
    t.after(() => dispatcher.close())
    const ask = async () => {
      const answer = await request(`${app.url}/v1/merchant/entitlements/requests`, {
        dispatcher,
        headers: { authorization: `Bearer ${key}` },
      })
      await answer.body.dump()
      return answer.statusCode
    }
    const known = await times(50, ask)
    assert.ok(known.every((status) => status === 200))
    const racing = times(50, ask)
    const revoked = await acme.post(`${URL}/${id}/revoke`)
    assert.equal(revoked.status, 200, revoked.text)
    const after = await times(50, ask)
    assert.ok(
      after.every((status) => status === 401),
      `${after}`,
    )
    assert.ok((await racing).every((status) => status === 200 || status === 401))
  })
})

describe('the caller that may revoke a key', () => {
  test('is its store: another store gets the answer for an unknown id', async () => {
    const { acme } = await openStore()
    const foreign = await openStore()
    const unknown = await acme.post(`${URL}/${randomUUID()}/revoke`)
    assert.deepEqual([unknown.status, unknown.body.error.code], [404, 'credential_not_found'])
    const odd = ['x', '%20', "1' or '1'='1", `${randomUUID()}-`, 'a'.repeat(4_000), '%F0%9F%92%9A']
    for (const id of [foreign.id, ...odd]) {
      const answer = await acme.post(`${URL}/${encodeURI(id)}/revoke`)
      assert.deepEqual(essence(answer), essence(unknown), id)
    }
    assert.equal((await foreign.holder.get('/v1/my/store')).status, 200)
  })

  test('is its owner, by session, in each of their stores and in no other', async () => {
    const { app, ...mine } = await openStore()
    const theirs = await openStore()
    await app.operator.put(`/v1/stores/${mine.tenant}/owner`, { email: 'Owner@Acme.example' })
    await app.operator.put(`/v1/stores/${theirs.tenant}/owner`, { email: 'owner@globex.example' })
    const owner = await app.owner('owner@acme.example')
    const revoked = await owner.post(`${URL}/${mine.id}/revoke`)
    assert.deepEqual([revoked.status, revoked.body.selfRevoked], [200, false])
    assert.equal((await mine.holder.get('/v1/my/store')).status, 401)
    const refused = await owner.post(`${URL}/${theirs.id}/revoke`)
    const unknown = await owner.post(`${URL}/${randomUUID()}/revoke`)
    assert.equal(refused.status, 404)
    assert.deepEqual(essence(refused), essence(unknown))
    assert.deepEqual(essence(await owner.post(`${URL}/x/revoke`)), essence(unknown))
    assert.equal((await theirs.holder.get('/v1/my/store')).status, 200)
  })
})
