import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { PRE_LIVE_SCOPES, SCOPES } from '../../../src/kernel/scopes.ts'
import { openTestApp, type TestApp } from '../../harness/app.ts'
import { until } from '../../harness/eventually.ts'
import { assertRefused, countStatuses, essence, keysOf, times } from '../../harness/refusals.ts'
import { share } from '../../harness/scope.ts'
import { openSuperuser, putLive } from '../../harness/superuser.ts'

const URL = '/v1/my/credentials/initial'

const makeStore = (app: TestApp, tenant_ref: string, owner_email: string) =>
  app.operator.post('/v1/stores', { tenant_ref, display_name: tenant_ref, owner_email })

const shared = share((scope) => openTestApp(scope))
let stores = 0

/** The next store, and its owner. */
async function openStore(app = shared.current) {
  const tenant = `acme-${++stores}`
  const email = `owner@${tenant}.example`
  await makeStore(app, tenant, email)
  return { app, tenant, email, owner: await app.owner(email) }
}

describe('the initial key', () => {
  test('the initial key of a draft store may build the site, and has no scope for shoppers or money', async () => {
    const { app, tenant, owner } = await openStore()
    const made = await owner.post(URL, {})
    assert.equal(made.status, 201)
    const { credential } = made.body
    assert.deepEqual(keysOf(made.body), ['credential'])
    assert.deepEqual(keysOf(credential), ['expires_at', 'id', 'key', 'label', 'scopes'])
    assert.match(credential.key, /^fdk_[0-9A-Za-z]{8}_[0-9A-Za-z]{43}$/)
    assert.deepEqual(credential.scopes, [
      'read:own_catalog',
      'manage:own_catalog',
      'read:own_store',
      'write:own_store',
      'manage:own_webhooks',
      'manage:own_domains',
      'manage:own_credentials',
      'read:own_billing',
      'manage:own_media',
      'manage:own_inventory',
      'manage:own_marketing',
    ])
    assert.deepEqual([credential.label, credential.expires_at], ['Initial key', null])
    const holder = app.as({ authorization: `Bearer ${credential.key}` })
    const self = await holder.get('/v1/my/credentials/self')
    assert.deepEqual([self.status, self.body.tenant_ref], [200, tenant])
  })

  test('the initial key of a live store has every scope', async (t) => {
    const { app, tenant, owner } = await openStore()
    const superuser = await openSuperuser(t, app.database)
    await putLive(superuser, tenant)
    const made = await owner.post(URL, { label: 'For the till' })
    assert.deepEqual(made.body.credential.scopes, SCOPES)
    assert.equal(made.body.credential.label, 'For the till')
  })

  test('is created without a request body', async () => {
    const { owner } = await openStore()
    const made = await owner.post(URL)
    assert.equal(made.status, 201, made.text)
  })

  test('exists once for each stage until the owner revokes it', async (t) => {
    const { app, tenant, owner } = await openStore()
    const superuser = await openSuperuser(t, app.database)
    const first = await owner.post(URL, {})
    const again = await owner.post(URL, {})
    assert.deepEqual([again.status, again.body.error.code], [409, 'initial_credential_exists'])

    assert.equal(again.body.credential_id, first.body.credential.id)
    const revoked = await owner.post(`/v1/my/credentials/${first.body.credential.id}/revoke`)
    assert.deepEqual([revoked.status, revoked.body.alreadyRevoked], [200, false])
    assert.equal(revoked.body.selfRevoked, false)
    const second = await owner.post(URL, {})
    assert.deepEqual([second.status, second.body.credential.scopes], [201, PRE_LIVE_SCOPES])

    await putLive(superuser, tenant)
    const live = await owner.post(URL, {})
    assert.deepEqual([live.status, live.body.credential.scopes], [201, SCOPES])
    assert.equal((await owner.post(URL, {})).status, 409)
  })

  test('the initial key of the previous owner is shown to the new one, who revokes it and gets another', async () => {
    const { app, tenant, owner: previous } = await openStore()
    const { key } = (await previous.post(URL)).body.credential
    await app.operator.put(`/v1/stores/${tenant}/owner`, { email: `new@${tenant}.example` })
    const owner = await app.owner(`new@${tenant}.example`)
    const { credential_id } = (await owner.post(URL)).body
    assert.equal((await owner.post(`/v1/my/credentials/${credential_id}/revoke`)).status, 200)
    const before = app.as({ authorization: `Bearer ${key}` })
    assert.equal((await before.get('/v1/my/credentials/self')).status, 401)
    assert.equal((await owner.post(URL)).status, 201)
  })

  test('is refused to the previous owner, also while the owner is being changed', async (t) => {
    const app = await openTestApp(t)
    const [operator, watcher] = [
      await openSuperuser(t, app.database),
      await openSuperuser(t, app.database),
    ]
    const { owner } = await openStore(app)
    await operator.query('begin')
    await operator.query(`update stores set owner_email = 'new@owner.example'`)
    const late = owner.post(URL)
    await until('waits for the change', async () => {
      const { rows } = await watcher.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return rows.length === 1
    })
    await operator.query('commit')
    assert.deepEqual([(await late).status, (await late).body.error.code], [404, 'unknown_tenant'])
  })

  test('is issued once of fifty concurrent requests', async (t) => {
    const { app, tenant, owner } = await openStore()
    const superuser = await openSuperuser(t, app.database)
    const answers = await times(50, () => owner.post(URL, {}))
    assert.deepEqual(countStatuses(answers), { 201: 1, 409: 49 })
    const { rows } = await superuser.query(
      'select count(*)::int as kept from credentials where tenant_ref = $1',
      [tenant],
    )
    assert.equal(rows[0].kept, 1)
    const { rows: trail } = await superuser.query(
      `select count(*)::int as written from audit_log
        where action = 'credential.issued' and tenant_ref = $1`,
      [tenant],
    )
    assert.equal(trail[0].written, 1, 'a refused mint leaves no trace')
  })
})

describe('the store of an initial key', () => {
  test('must be named by an owner of several stores', async () => {
    const { app, tenant, email, owner } = await openStore()
    const bolt = `${tenant}-bolt`
    await makeStore(app, bolt, email)
    await assertRefused([['no store named', {}, 'invalid_body', 'tenant_ref']], (body) =>
      owner.post(URL, body),
    )
    const made = await owner.post(URL, { tenant_ref: bolt })
    const holder = app.as({ authorization: `Bearer ${made.body.credential.key}` })
    assert.equal((await holder.get('/v1/my/credentials/self')).body.tenant_ref, bolt)
  })

  test("must belong to the owner: another's store gets the same bytes as an unknown one", async () => {
    const { app, owner } = await openStore()
    await makeStore(app, 'theirs', 'somebody@else.example')
    const foreign = await owner.post(URL, { tenant_ref: 'theirs' })
    const unknown = await owner.post(URL, { tenant_ref: 'nobodys' })
    assert.deepEqual([foreign.status, foreign.body.error.code], [404, 'unknown_tenant'])
    assert.deepEqual(essence(foreign), essence(unknown))
    const homeless = await app.owner('homeless@else.example')
    assert.deepEqual(essence(await homeless.post(URL, {})), essence(unknown))
  })

  test('refuses an invalid body', async () => {
    const { owner } = await openStore()
    const bad = [
      ['a list', [], 'invalid_body', ''],
      ['null', null, 'invalid_body', ''],
      ['no slug', { tenant_ref: 'Not A Slug' }, 'invalid_body', 'tenant_ref'],
      ['a slug in a list', { tenant_ref: ['acme'] }, 'invalid_body', 'tenant_ref'],
      ['an empty label', { label: '' }, 'invalid_body', 'label'],
      ['a label of 81 characters', { label: 'x'.repeat(81) }, 'invalid_body', 'label'],
      ['a label that is a number', { label: 7 }, 'invalid_body', 'label'],
    ] as const
    await assertRefused(bad, (body) => owner.post(URL, body))
    const wide = await owner.post(URL, { label: '💚'.repeat(80), scopes: SCOPES })
    assert.equal(
      wide.status,
      201,
      'eighty characters, of any width, and scopes of the caller are ignored',
    )
    assert.deepEqual(wide.body.credential.scopes, PRE_LIVE_SCOPES)
  })
})
