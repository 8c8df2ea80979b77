import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openTestApp } from '../../harness/app.ts'
import { keysOf } from '../../harness/refusals.ts'
import { share } from '../../harness/scope.ts'
import { openSuperuser, putLive } from '../../harness/superuser.ts'

const refs = ({ body }: { body: { stores: { tenant_ref: string }[] } }) =>
  body.stores.map(({ tenant_ref }) => tenant_ref)

/** The tests only read these stores. */
const shared = share(async (scope) => {
  const app = await openTestApp(scope)
  const rows = [
    ['acme', 'Tools & Co', 'ann@acme.example'],
    ['bolt', 'Bolts by ACME', 'ann@acme.example'],
    ['cog', '100% Cogs_', 'bob@cog.example'],
  ]
  for (const [tenant_ref, display_name, owner_email] of rows) {
    await app.operator.post('/v1/stores', { tenant_ref, display_name, owner_email })
  }
  await putLive(await openSuperuser(scope, app.database), 'bolt')
  return app
})

describe('the list of stores', () => {
  test('shows every store, newest first, and their number', async () => {
    const app = shared.current
    const all = await app.operator.get('/v1/stores')
    assert.equal(all.status, 200)
    assert.deepEqual(keysOf(all.body), ['limit', 'offset', 'stores', 'total'])
    assert.deepEqual(refs(all), ['cog', 'bolt', 'acme'])
    const { total, limit, offset } = all.body
    assert.deepEqual([total, limit, offset], [3, 25, 0])
  })

  test('is filtered by valid filters, and refuses invalid ones', async () => {
    const app = shared.current
    const cases: [string, string[]][] = [
      ['status=live', ['bolt']],
      ['status=draft', ['cog', 'acme']],
      ['status=suspended', []],
      ['q=acme', ['bolt', 'acme']],
      ['q=%20', ['cog', 'bolt', 'acme']],
      ['q=%25', ['cog']],
      ['q=_', ['cog']],
      ["q=' or true --", []],
      ['q=BOLT', ['bolt']],
      ['owner_email=ANN@acme.example', ['bolt', 'acme']],
      ['owner_email=ann@acme.example&status=live', ['bolt']],
      ['owner_email=nobody', []],
    ]
    for (const [query, expected] of cases) {
      const answer = await app.operator.get(`/v1/stores?${query}`)
      assert.equal(answer.status, 200, `${query}: ${answer.text}`)
      assert.deepEqual(refs(answer), expected, query)
      assert.equal(answer.body.total, expected.length, query)
    }
    for (const query of ['status=LIVE', 'status=nonsense', 'name=acme', 'q=bolt&q=cog']) {
      const { status, body } = await app.operator.get(`/v1/stores?${query}`)
      assert.deepEqual([status, body.error.code], [400, 'validation_error'], query)
    }
  })

  test('clamps any limit and offset, and never refuses them', async () => {
    const app = shared.current
    const cases: [string, number, number][] = [
      ['', 25, 0],
      ['limit=2&offset=1', 2, 1],
      ['limit=0', 1, 0],
      ['limit=-5&offset=-5', 1, 0],
      ['limit=1000&offset=1000', 100, 1_000],
      ['limit=1.9&offset=1.9', 1, 1],
      ['limit=-0.5&offset=-0.5', 1, 0],
      ['limit=abc&offset=abc', 25, 0],
      ['limit=&offset=', 25, 0],
      ['limit=%20%20&offset=%20', 25, 0],
      ['limit=NaN&offset=NaN', 25, 0],
      ['limit=Infinity&offset=-Infinity', 100, 0],
      ['limit=2&limit=3&offset=1&offset=2', 2, 1],
      ['limit[]=2', 25, 0],
      ['limit=2x', 25, 0],
      ['limit=1e1', 10, 0],
      ['offset=9007199254740993', 25, Number.MAX_SAFE_INTEGER],
      ['offset=1e308', 25, Number.MAX_SAFE_INTEGER],
      ['limit=null&offset=undefined', 25, 0],
      ['limit=%F0%9F%92%9A', 25, 0],
      ['limit=2;drop', 25, 0],
    ]
    for (const [query, limit, offset] of cases) {
      const answer = await app.operator.get(`/v1/stores?${query}`)
      assert.equal(answer.status, 200, `${query}: ${answer.text}`)
      assert.deepEqual([answer.body.limit, answer.body.offset], [limit, offset], query)
      assert.equal(answer.body.total, 3, query)
      assert.equal(answer.body.stores.length, Math.max(0, Math.min(limit, 3 - offset)), query)
    }
  })
})
