import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import { createGuards, decorateRequests, onPlane } from '../../src/http/guards.ts'
import { createServer } from '../../src/http/server.ts'
import { Params } from '../../src/kernel/schema.ts'
import * as stores from '../../src/modules/stores/service.ts'
import { createLogger } from '../../src/platform/log.ts'
import { callerOf } from '../../src/platform/rate-limits.ts'
import { OPERATOR_TOKEN, openTestApp, STOREFRONT_TOKEN } from '../harness/app.ts'

const PREVIOUS = 'the token that storefronts had before'
const OWN = 'what the storefront of the same process has'

test('the storefront plane accepts only its token, and only for an existing store', async (t) => {
  const app = await openTestApp(t, { env: { RATE_LIMIT_FAILED_PER_MINUTE: '5' } })
  const key = await app.key('acme')
  const { limits, database } = app.runtime
  const guards = createGuards({
    limits,
    callerOf,
    database,
    checkKey: async () => null,
    checkSession: async () => null,
    checkStoreToken: async () => 'none' as const,
    requireStore: async (db) => void (await stores.get(db)),
    operatorTokens: [OPERATOR_TOKEN],
    storefrontTokens: [STOREFRONT_TOKEN, PREVIOUS],
    ownToken: OWN,
  })
  const server = createServer({ logger: createLogger('silent'), trustProxy: [] })
  decorateRequests(server)
  const response = { 200: Type.Object({ tenant: Type.String(), actor: Type.String() }) }
  const schema = { params: Params('tenant'), response }
  const routes = onPlane('storefront', guards.storefront, [
    async (plane) => {
      plane.get('/v1/tenants/:tenant/try', { schema }, async ({ db, actor }) => ({
        tenant: db.tenant,
        actor: actor.name,
      }))
    },
  ])
  await server.register(routes)
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  t.after(() => server.close())
  const ask = async (tenant: string, headers: Record<string, string>) => {
    const answer = await fetch(`${url}/v1/tenants/${tenant}/try`, { headers })
    return { status: answer.status, body: (await answer.json()) as { error: { code: string } } }
  }

  for (const token of [STOREFRONT_TOKEN, PREVIOUS, OWN]) {
    const { status, body } = await ask('acme', { 'x-storefront-token': token })
    assert.deepEqual<unknown>([status, body], [200, { tenant: 'acme', actor: 'storefront' }])
  }
  const unknown = await ask('nobody', { 'x-storefront-token': STOREFRONT_TOKEN })
  assert.deepEqual([unknown.status, unknown.body.error.code], [404, 'unknown_tenant'])

  const wrong: Record<string, string>[] = [
    {},
    { 'x-storefront-token': '' },
    { 'x-storefront-token': OPERATOR_TOKEN },
    { 'x-storefront-token': key },
    { authorization: `Bearer ${key}`, 'x-operator-token': OPERATOR_TOKEN },
  ]
  for (const headers of wrong) {
    const { status, body } = await ask('acme', headers)
    assert.deepEqual([status, body.error.code], [401, 'unauthorized'])
  }
  const spent = await ask('acme', { 'x-storefront-token': STOREFRONT_TOKEN })
  assert.deepEqual([spent.status, spent.body.error.code], [429, 'rate_limited'])
  assert.equal((await ask('acme', { 'x-storefront-token': OWN })).status, 200)
})
