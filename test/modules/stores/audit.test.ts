import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openTestApp, type TestApp } from '../../harness/app.ts'
import { keysOf } from '../../harness/refusals.ts'
import { share } from '../../harness/scope.ts'
import { openSuperuser } from '../../harness/superuser.ts'

const shared = share((scope) => openTestApp(scope))
let stores = 0

/** The next two stores, of which `acme` has a history. */
async function makeHistory(app: TestApp) {
  const [tenant, other] = [`acme-${++stores}`, `globex-${stores}`]
  const acme = await app.merchant(tenant)
  await app.store(other)
  await acme.patch('/v1/my/store', { display_name: 'Renamed' })
  await app.operator.put(`/v1/stores/${tenant}/owner`, { email: `ann@${tenant}.example` })
  return { tenant, other, acme }
}

const actions = ({ body }: { body: { entries: { action: string }[] } }) =>
  body.entries.map(({ action }) => action)

describe('the audit log', () => {
  test('says who changed what and in which request, newest first', async () => {
    const app = shared.current
    const { tenant, acme } = await makeHistory(app)
    const change = await acme.patch('/v1/my/store', { currency: 'EUR' })
    const trail = await acme.get('/v1/my/audit')
    assert.equal(trail.status, 200)
    assert.deepEqual(keysOf(trail.body), ['entries', 'limit', 'offset', 'total'])
    assert.deepEqual(actions(trail), [
      'store.settings_changed',
      'store.owner_changed',
      'store.settings_changed',
      'credential.issued',
      'store.created',
    ])
    const [entry] = trail.body.entries
    const members =
      'action actor after before correlation_id created_at entity id reason tenant_ref'
    assert.deepEqual(keysOf(entry), members.split(' '))
    assert.match(entry.actor, /^merchant_key:[0-9a-f-]{36}$/)
    assert.equal(entry.correlation_id, change.headers['x-correlation-id'])
    assert.deepEqual([entry.before.currency, entry.after.currency], ['USD', 'EUR'])
    const seen = await app.operator.get(`/v1/stores/${tenant}/audit`)
    assert.deepEqual(seen.body, trail.body)
  })

  test('is filtered by actor, action and time, and shows the operator every store', async (t) => {
    const app = await openTestApp(t)
    const { acme } = await makeHistory(app)
    const all = await app.operator.get('/v1/audit')
    assert.equal(all.body.total, 5)
    const [newest] = all.body.entries
    const later = new Date(Date.parse(newest.created_at) + 1).toISOString()
    const own = `actor=${encodeURIComponent(`${newest.actor}`)}`
    const cases: [string, number, number][] = [
      ['action=store.created', 2, 1],
      ['action=store.creat', 0, 0],
      [own, 1, 1],
      ['actor=system&action=credential.issued', 1, 1],
      ["actor=' or true --", 0, 0],
      [`from=${later}`, 0, 0],
      [`to=${later}`, 5, 4],
      [`from=${newest.created_at}`, 1, 1],
      ['from=2020-01-01&to=2020-12-31', 0, 0],
      ['to=9999-12-31T23:59:59Z', 5, 4],
      ['limit=1&offset=4', 5, 4],
    ]
    for (const [query, ofAll, ofAcme] of cases) {
      const [everywhere, here] = [
        await app.operator.get(`/v1/audit?${query}`),
        await acme.get(`/v1/my/audit?${query}`),
      ]
      assert.equal(everywhere.status, 200, `${query}: ${everywhere.text}`)
      assert.deepEqual([everywhere.body.total, here.body.total], [ofAll, ofAcme], query)
    }
    assert.equal((await app.operator.get('/v1/audit?limit=1&offset=4')).body.entries.length, 1)
    for (const query of ['from=nonsense', 'to=0000-01-01', 'to=9999-12-31T23:59:59-20:00']) {
      const refused = await acme.get(`/v1/my/audit?${query}`)
      assert.equal(refused.body.error.code, 'validation_error', query)
    }
  })

  test('is narrowed to one store by the operator', async () => {
    const app = shared.current
    await Promise.all([app.store('acme'), app.store('globex')])
    const { entries, total } = (await app.operator.get('/v1/audit?tenant_ref=globex')).body
    assert.equal(total, 1)
    assert.equal(entries[0].tenant_ref, 'globex')
    const acme = await app.merchant('acme')
    const refused = await acme.get('/v1/my/audit?tenant_ref=globex')
    assert.equal(refused.body.error.code, 'validation_error')
    const own = (await acme.get('/v1/my/audit')).body
    assert.ok(own.entries.every(({ tenant_ref }: { tenant_ref: string }) => tenant_ref === 'acme'))
  })

  test('cannot be changed or deleted by any role', async (t) => {
    const app = shared.current
    const superuser = await openSuperuser(t, app.database)
    const { tenant, other } = await makeHistory(app)
    const month = `audit_log_${new Date().toISOString().slice(0, 7).replace('-', '_')}`
    const acts = [
      `delete from ${month}`,
      `truncate ${month}`,
      `update audit_log set actor = 'somebody else'`,
      'delete from audit_log',
      'delete from audit_log where false',
      'truncate audit_log',
      'truncate stores cascade',
      `insert into audit_log (tenant_ref, id, created_at, actor, action, entity)
       select tenant_ref, id, created_at, 'x', 'x', 'x' from audit_log
       on conflict (tenant_ref, id, created_at) do update set actor = 'x'`,
    ]
    for (const role of ['none', 'fd_owner', 'fd_app', 'fd_worker', 'fd_operator', 'fd_gate']) {
      for (const act of acts) {
        await superuser.query(`begin; set local role ${role}; set local app.tenant = '${tenant}'`)
        await assert.rejects(superuser.query(act), ({ code }: { code: string }) => {
          const expected = role === 'none' || role === 'fd_owner' ? ['FD002'] : ['FD002', '42501']
          assert.ok(expected.includes(code), `${role}: ${act}: ${code}`)
          return true
        })
        await superuser.query('rollback')
      }
    }
    const totalOf = async (store: string) =>
      (await app.operator.get(`/v1/stores/${store}/audit`)).body.total
    assert.deepEqual([await totalOf(tenant), await totalOf(other)], [4, 1])
  })
})
