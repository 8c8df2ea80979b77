import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { openTestApp } from '../../harness/app.ts'
import { assertRefused, essence } from '../../harness/refusals.ts'
import { openSuperuser, putActiveVersion } from '../../harness/superuser.ts'

const URL = '/v1/stores/acme/status'

describe('the status of a store', () => {
  test('cannot be live without a site', async (t) => {
    const app = await openTestApp(t)
    await app.store('acme')
    const refused = await app.operator.put(URL, { status: 'live' })
    assert.deepEqual([refused.status, refused.body.error.code], [409, 'no_active_version'])
    assert.equal((await app.operator.get('/v1/stores/acme')).body.store.status, 'draft')
    assert.equal((await app.operator.get('/v1/stores/acme/audit')).body.total, 1)
  })

  test('changes between live, suspended and draft, each change audited', async (t) => {
    const app = await openTestApp(t)
    const superuser = await openSuperuser(t, app.database)
    await app.store('acme')
    await putActiveVersion(superuser, 'acme')
    const reason = 'Paid at last ✓\n  "quoted"'
    const live = await app.operator.put(URL, { status: 'live', reason })
    assert.deepEqual([live.status, live.body.store.status], [200, 'live'])
    assert.equal(live.body.store.activeVersion, 1)
    await app.operator.put(URL, { status: 'suspended' })
    await app.operator.put(URL, { status: 'draft' })

    const { entries } = (await app.operator.get('/v1/stores/acme/audit')).body
    const moves = entries.filter(
      ({ action }: { action: string }) => action === 'store.status_changed',
    )
    const shown = moves.map(({ before, after }: Record<string, { status: string }>) => [
      before?.status,
      after?.status,
    ])
    assert.deepEqual(shown, [
      ['suspended', 'draft'],
      ['live', 'suspended'],
      ['draft', 'live'],
    ])
    const first = moves[2]
    assert.equal(first.reason, reason)
    assert.equal(first.correlation_id, live.headers['x-correlation-id'])
    assert.deepEqual([first.actor, first.entity], ['operator', 'store:acme'])
    assert.equal(moves[0].reason, null)
  })

  test('refuses an invalid body', async (t) => {
    const app = await openTestApp(t)
    await app.store('acme')
    const bad = [
      ['nothing', undefined, 'invalid_body', ''],
      ['no status', { reason: 'x' }, 'invalid_body', 'status'],
      ['an unknown one', { status: 'closed' }, 'invalid_body', 'status'],
      ['in capitals', { status: 'DRAFT' }, 'invalid_body', 'status'],
      ['a long reason', { status: 'draft', reason: 'x'.repeat(2_001) }, 'invalid_body', 'reason'],
    ] as const
    await assertRefused(bad, (body) => app.operator.put(URL, body))
    const longest = await app.operator.put(URL, { status: 'draft', reason: '💚'.repeat(2_000) })
    assert.equal(longest.status, 200, longest.text)
  })
})

test('every operator route answers an unknown store with the same 404', async (t) => {
  const app = await openTestApp(t)
  await app.store('acme')
  const routes = app.app.routeTable.filter(
    ({ plane, url }) => plane === 'operator' && url.includes(':tenant'),
  )
  assert.ok(routes.length >= 8)
  const body = '{"error":{"code":"unknown_tenant","message":"No such store."}}'
  const odd = [
    'nobodys',
    'ACME',
    'a',
    '..%2Facme',
    'x'.repeat(100),
    '%27%20or%201=1',
    '%F0%9F%92%9A',
  ]
  let first: unknown
  for (const { method, url } of routes) {
    for (const tenant of odd) {
      const path = url.replace(':tenant', tenant).replace(/:\w+/g, randomUUID())
      const answer = await app.operator.send(method, path)
      assert.equal(answer.text, body, `${method} ${path}`)
      first ??= essence(answer)
      assert.deepEqual(essence(answer), first)
    }
  }
})
