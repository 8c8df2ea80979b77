import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { openTestApp } from '../../harness/app.ts'
import { assertRefused, essence } from '../../harness/refusals.ts'
import { share } from '../../harness/scope.ts'
import { openSuperuser, putActiveVersion } from '../../harness/superuser.ts'

const shared = share((scope) => openTestApp(scope))
let stores = 0

/** The next store, its address for the operator, and a call that sets its status. */
async function openStore() {
  const app = shared.current
  const tenant = `acme-${++stores}`
  await app.store(tenant)
  const url = `/v1/stores/${tenant}`
  const setStatus = (body: unknown) => app.operator.put(`${url}/status`, body)
  return { app, tenant, url, setStatus }
}

describe('the status of a store', () => {
  test('cannot be live without a site', async () => {
    const { app, url, setStatus } = await openStore()
    const refused = await setStatus({ status: 'live' })
    assert.deepEqual([refused.status, refused.body.error.code], [409, 'no_active_version'])
    assert.equal((await app.operator.get(url)).body.store.status, 'draft')
    assert.equal((await app.operator.get(`${url}/audit`)).body.total, 1)
  })

  test('changes between live, suspended and draft, each change audited', async (t) => {
    const { app, tenant, url, setStatus } = await openStore()
    const superuser = await openSuperuser(t, app.database)
    await putActiveVersion(superuser, tenant)
    const reason = 'Paid at last ✓\n  "quoted"'
    const live = await setStatus({ status: 'live', reason })
    assert.deepEqual([live.status, live.body.store.status], [200, 'live'])
    assert.equal(live.body.store.activeVersion, 1)
    await setStatus({ status: 'suspended' })
    await setStatus({ status: 'draft' })

    const { entries } = (await app.operator.get(`${url}/audit`)).body
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
    assert.deepEqual([first.actor, first.entity], ['operator', `store:${tenant}`])
    assert.equal(moves[0].reason, null)
  })

  test('refuses an invalid body', async () => {
    const { setStatus } = await openStore()
    const bad = [
      ['nothing', undefined, 'invalid_body', ''],
      ['no status', { reason: 'x' }, 'invalid_body', 'status'],
      ['an unknown one', { status: 'closed' }, 'invalid_body', 'status'],
      ['in capitals', { status: 'DRAFT' }, 'invalid_body', 'status'],
      ['a long reason', { status: 'draft', reason: 'x'.repeat(2_001) }, 'invalid_body', 'reason'],
    ] as const
    await assertRefused(bad, setStatus)
    const longest = await setStatus({ status: 'draft', reason: '💚'.repeat(2_000) })
    assert.equal(longest.status, 200, longest.text)
  })
})

test('every operator route answers an unknown store with the same 404', async () => {
  const app = shared.current
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
