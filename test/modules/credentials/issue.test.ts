import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { describe, test } from 'node:test'
import { SCOPES, type Scope } from '../../../src/kernel/scopes.ts'
import { HOUR_MS } from '../../../src/kernel/time.ts'
import { openTestApp } from '../../harness/app.ts'
import { until } from '../../harness/eventually.ts'
import { assertRefused, keysOf, times } from '../../harness/refusals.ts'
import { shareStores } from '../../harness/share-stores.ts'
import { openSuperuser } from '../../harness/superuser.ts'

const URL = '/v1/my/credentials'

const openStore = shareStores(openTestApp)

describe('issuing a key', () => {
  test('answers 201 with the key, which works at once and only for its scopes', async () => {
    const { app, tenant, acme } = await openStore()
    const made = await acme.post(URL, { label: 'Till', scopes: ['read:own_store'] })
    assert.equal(made.status, 201, made.text)
    assert.deepEqual(keysOf(made.body.credential), ['expires_at', 'id', 'key', 'label', 'scopes'])
    assert.equal(made.body.credential.label, 'Till')
    const holder = app.as({ authorization: `Bearer ${made.body.credential.key}` })
    assert.equal((await holder.get('/v1/my/store')).body.store.tenant_ref, tenant)
    assert.equal((await holder.patch('/v1/my/store', { display_name: 'x' })).status, 403)
  })

  test('keeps each scope once, in the order of the allowlist', async () => {
    const { acme } = await openStore()
    const scopes = ['manage:own_media', 'read:own_orders', 'manage:own_media', 'read:own_store']
    const made = await acme.post(URL, { label: 'Till', scopes })
    const kept = ['read:own_orders', 'read:own_store', 'manage:own_media']
    assert.deepEqual(made.body.credential.scopes, kept)
    const listed = await acme.get(URL)
    assert.deepEqual(listed.body.credentials[0].scopes, kept)
  })

  test('names an unknown scope, before any other refusal', async () => {
    const { acme: clerk } = await openStore('manage:own_credentials')
    const cases = [
      [['read:all_stores'], 'read:all_stores'],
      [['manage:own_orders', 'admin:*', '*'], 'admin:*, *'],
      [['Read:own_store'], 'Read:own_store'],
      [['nope', 'nope'], 'nope'],
      [['<b>4111111111111112</b>'], '(unreadable)'],
      [['constructor'], 'constructor'],
    ] as const
    for (const [scopes, named] of cases) {
      const { status, body } = await clerk.post(URL, { label: 'x', scopes })
      assert.deepEqual([status, body.error.code], [400, 'unknown_scope'])
      assert.equal(
        body.error.message,
        `No such scope: ${named}. Use a scope that the API reference names.`,
      )
    }
  })

  test('names every scope that the issuing key does not have, and issues nothing', async () => {
    const { acme: clerk } = await openStore('manage:own_credentials', 'read:own_orders')
    const scopes = ['read:own_orders', 'manage:own_orders', 'write:own_store']
    const { status, body } = await clerk.post(URL, { label: 'x', scopes })
    assert.deepEqual([status, body.error.code], [403, 'scope_escalation'])
    assert.deepEqual(body.scopes, ['manage:own_orders', 'write:own_store'])
    assert.match(body.error.message, /manage:own_orders, write:own_store/)
    assert.equal((await clerk.get(URL)).body.credentials.length, 1)
  })

  test('accepts only one pair of scopes as sufficient: to manage a resource includes reading it', async () => {
    const { app, tenant } = await openStore()
    const covering: Partial<Record<Scope, Scope>> = {
      'manage:own_orders': 'read:own_orders',
      'manage:own_catalog': 'read:own_catalog',
      'write:own_store': 'read:own_store',
      'manage:own_affiliates': 'read:own_affiliates',
    }
    for (const held of SCOPES) {
      const clerk = await app.merchant(tenant, 'manage:own_credentials', held)
      const allowed = new Set<Scope>(['manage:own_credentials', held])
      const covered = covering[held]
      if (covered !== undefined) allowed.add(covered)
      const { status, body } = await clerk.post(URL, { label: 'all', scopes: SCOPES })
      assert.equal(status, 403)
      assert.deepEqual(
        body.scopes,
        SCOPES.filter((scope) => !allowed.has(scope)),
        held,
      )
    }
  })

  test('refuses an invalid body', async () => {
    const { acme } = await openStore()
    const scopes = ['read:own_store']
    const bad = [
      ['nothing', undefined, 'invalid_body', ''],
      ['no label', { scopes }, 'invalid_body', 'label'],
      ['an empty label', { label: '', scopes }, 'invalid_body', 'label'],
      ['a label of 81 characters', { label: 'x'.repeat(81), scopes }, 'invalid_body', 'label'],
      ['a label of null', { label: null, scopes }, 'invalid_body', 'label'],
      ['a label with U+0000', { label: 'a\0b', scopes }, 'invalid_body', 'label'],
      ['no scopes', { label: 'x' }, 'invalid_body', 'scopes'],
      ['an empty list', { label: 'x', scopes: [] }, 'invalid_body', 'scopes'],
      ['a text', { label: 'x', scopes: 'read:own_store' }, 'invalid_body', 'scopes'],
      ['a number in it', { label: 'x', scopes: [1] }, 'invalid_body', 'scopes.0'],
      ['a nested list', { label: 'x', scopes: [scopes] }, 'invalid_body', 'scopes.0'],
    ] as const
    await assertRefused(bad, (body) => acme.post(URL, body))
    const widest = await acme.post(URL, { label: '💚'.repeat(80), scopes })
    assert.equal(widest.status, 201, widest.text)
  })

  test('takes only label, scopes and expiry from the caller', async () => {
    const { app, tenant, acme } = await openStore()
    await app.store('globex')
    const body = { label: 'x', scopes: ['read:own_store'], tenant_ref: 'globex', id: 'x', key: 'y' }
    const made = await acme.post(URL, { ...body, initial_stage: 'live', revoked_at: null })
    const holder = app.as({ authorization: `Bearer ${made.body.credential.key}` })
    assert.equal((await holder.get('/v1/my/store')).body.store.tenant_ref, tenant)
  })

  test('issues fifty different keys for fifty concurrent requests', async () => {
    const { acme } = await openStore()
    const made = await times(50, (i) =>
      acme.post(URL, { label: `Till ${i}`, scopes: ['read:own_store'] }),
    )
    assert.equal(new Set(made.map(({ body }) => body.credential.key)).size, 50)
    assert.equal((await acme.get(URL)).body.credentials.length, 51)
  })
})

describe('the expiry of a key', () => {
  test('must be in the future, in any notation', async () => {
    const { acme } = await openStore()
    const issue = (expires_at: unknown) =>
      acme.post(URL, { label: 'x', scopes: ['read:own_store'], expires_at })
    const bad = [
      'now',
      '2020-01-01T00:00:00Z',
      '2035-02-30T00:00:00Z',
      '2035-01-01',
      2_000_000_000,
      '2035-12-31T23:59:60Z',
      '9999-12-31T23:59:59-20:00',
    ]
    const refusals = bad.map((each) => [String(each), each, 'invalid_body', 'expires_at'] as const)
    await assertRefused(refusals, issue)
    const good: [unknown, string | null][] = [
      [null, null],
      ['2035-01-01T00:00:00Z', '2035-01-01T00:00:00.000Z'],
      ['2035-01-01T02:00:00.500+02:00', '2035-01-01T00:00:00.500Z'],
      ['2035-01-01T20:00:00+20:00', '2035-01-01T00:00:00.000Z'],
    ]
    for (const [sent, kept] of good) {
      const { status, body, text } = await issue(sent)
      assert.equal(status, 201, `${sent}: ${text}`)
      assert.equal(body.credential.expires_at, kept)
    }
  })

  test('ends the key at that moment', async (t) => {
    const { app, acme } = await openStore()
    const superuser = await openSuperuser(t, app.database)
    const body = { label: 'x', scopes: ['read:own_store'], expires_at: '2035-01-01T00:00:00Z' }
    const { credential } = (await acme.post(URL, body)).body
    const holder = app.as({ authorization: `Bearer ${credential.key}` })
    assert.equal((await holder.get('/v1/my/store')).status, 200)
    await superuser.query('update credentials set expires_at = now() where id = $1', [
      credential.id,
    ])
    assert.equal((await holder.get('/v1/my/store')).status, 401)
  })
})

test('a key that is revoked while its request is still arriving issues no other key', async (t) => {
  const app = await openTestApp(t)
  const superuser = await openSuperuser(t, app.database)
  const acme = await app.merchant('acme')
  const stolen = await acme.post(URL, { label: 'stolen', scopes: SCOPES })
  const { id, key } = stolen.body.credential
  const body = JSON.stringify({ label: 'kept by the thief', scopes: ['read:own_store'] })
  const head = [
    `POST ${URL} HTTP/1.1`,
    'host: platform.example',
    `authorization: Bearer ${key}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
    'connection: close',
  ]
  const { rows } = await superuser.query('select clock_timestamp() as begun')
  const socket = connect(Number(new globalThis.URL(app.url).port), '127.0.0.1')
  socket.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, 5)}`)
  await until('the key is checked', async () => {
    const { rowCount } = await superuser.query(
      `select from pg_stat_activity
        where query like '%fd_find_credential%' and state = 'idle'
          and usename = 'fd_app' and datname = current_database() and query_start > $1`,
      [rows[0].begun],
    )
    return rowCount === 1
  })
  assert.equal((await acme.post(`${URL}/${id}/revoke`)).status, 200)
  socket.write(body.slice(5))
  let answer = ''
  for await (const chunk of socket) answer += chunk
  assert.match(answer, /^HTTP\/1.1 401 /)
  assert.ok(!(await acme.get(URL)).text.includes('kept by the thief'))
})

test('a key that expires cannot issue one that expires later', async () => {
  const { app, acme } = await openStore()
  const scopes = ['manage:own_credentials', 'read:own_store']
  const inAnHour = new Date(Date.now() + HOUR_MS).toISOString()
  const made = await acme.post(URL, { label: 'Ends', scopes, expires_at: inAnHour })
  const ending = app.as({ authorization: `Bearer ${made.body.credential.key}` })
  const later = new Date(Date.now() + 7_200_000).toISOString()
  const bad = [
    ['no end', { label: 'x', scopes }, 'invalid_body', 'expires_at'],
    ['a later end', { label: 'x', scopes, expires_at: later }, 'invalid_body', 'expires_at'],
  ] as const
  await assertRefused(bad, (body) => ending.post(URL, body))
  const same = await ending.post(URL, { label: 'x', scopes, expires_at: inAnHour })
  assert.equal(same.status, 201, same.text)
})
