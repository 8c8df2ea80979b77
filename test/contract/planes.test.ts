import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import type { RouteEntry } from '../../src/http/route.ts'
import { SCOPES, type Scope, satisfies } from '../../src/kernel/scopes.ts'
import { BODIES, FIXTURES } from '../harness/all-resources.ts'
import { type Answer, type Caller, openTestApp, type TestApp } from '../harness/app.ts'
import { share } from '../harness/scope.ts'
import { openSuperuser, putLive } from '../harness/superuser.ts'
import { freshKey } from './ids.ts'
import { ABOUT_AN_ORDER, CALLERS_WORD, fillPath } from './paths.ts'
import { plantCanary } from './plant-canary.ts'

/** Generated from the route table: a new route is tested here without a change of this file. */

/** The fixtures of all routes place many orders for one shopper. */
const MANY_ORDERS = { CHECKOUT_VELOCITY_PER_MINUTE: '100000' }

const nameOf = ({ method, url }: RouteEntry) => `${method} ${url}`

const routesOf = ({ app }: TestApp, plane: RouteEntry['plane']) =>
  app.routeTable.filter((route) => route.plane === plane)

/** Everything except what must differ between two requests. */
function comparable({ status, headers, text }: Answer) {
  const { date, 'x-correlation-id': _, ...rest } = headers
  return { status, headers: rest, text }
}

const UNAUTHORIZED =
  '{"error":{"code":"unauthorized","message":"The credential is missing, invalid, expired or revoked. Send a valid one."}}'

async function wrongCredentials(app: TestApp) {
  const bearer = (token: string) => app.as({ authorization: `Bearer ${token}` })
  const key = await app.key('acme')
  const owner = await app.owner('someone@else.example')
  return {
    'no credential': app.anyone,
    'an unknown key': bearer('fdk_00000000_0000000000000000000000000000000000000000000'),
    'a malformed key': bearer('fdk_nonsense'),
    'a merchant key': bearer(key),
    'a session': owner,
    'the storefront token': app.storefront,
    'the operator token': app.operator,
    'the operator token as a key': bearer('the operator token of every test app'),
    'a key as the operator token': app.as({ 'x-operator-token': key }),
    'a key as the storefront token': app.as({ 'x-storefront-token': key }),
  }
}

const RIGHT: Record<string, readonly string[]> = {
  merchant: ['a merchant key'],
  operator: ['the operator token'],
  storefront: ['the storefront token'],
  owner: ['a session'],
}

describe('a credential on the wrong plane', () => {
  const shared = share(async (scope) => {
    const app = await openTestApp(scope, { env: { RATE_LIMIT_FAILED_PER_MINUTE: '100000' } })
    return { app, callers: Object.entries(await wrongCredentials(app)) }
  })
  for (const plane of ['merchant', 'operator', 'owner', 'storefront'] as const) {
    test(`gets the same plain 401 on every ${plane} route`, async () => {
      const { app, callers } = shared.current
      const routes = routesOf(app, plane)
      assert.ok(routes.length > 0)
      for (const route of routes) {
        const allowed = [...(RIGHT[plane] ?? []), ...(route.orOwner ? ['a session'] : [])]
        for (const [who, caller] of callers) {
          if (allowed.includes(who)) continue
          const answer = await caller.send(route.method, fillPath(route.url))
          assert.equal(answer.status, 401, `${nameOf(route)} with ${who}: ${answer.text}`)
          assert.equal(answer.text, UNAUTHORIZED, `${nameOf(route)} with ${who}`)
          assert.equal(answer.headers['www-authenticate'], 'Bearer')
        }
      }
    })
  }
})

test('a key without the scope gets 403 on every merchant route, whatever other scopes it has', async (t) => {
  const app = await openTestApp(t, { env: MANY_ORDERS })
  // A live store gets no sample products, whose fifty drawings would take as long as all routes.
  await app.store('acme')
  await putLive(await openSuperuser(t, app.database), 'acme')
  const keys = new Map<string, Promise<Caller>>()
  const merchantWith = (scopes: readonly Scope[]) => {
    const known = keys.get(scopes.join()) ?? app.merchant('acme', ...scopes)
    keys.set(scopes.join(), known)
    return known
  }
  for (const route of routesOf(app, 'merchant')) {
    const { scope } = route
    if (scope === undefined || scope === 'any') continue
    const others = SCOPES.filter((each) => !satisfies([each], scope))
    const send = async (...scopes: Scope[]) =>
      (await merchantWith(scopes)).send(route.method, fillPath(route.url))
    // All other scopes together do not suffice, so no single one does.
    const refused = await send(...others)
    const what = `${nameOf(route)}: ${refused.text}`
    assert.deepEqual([refused.status, refused.body.error.code], [403, 'forbidden'], what)
    for (const enough of SCOPES.filter((each) => satisfies([each], scope))) {
      const admitted = await send(enough)
      assert.notEqual(admitted.body?.error?.code, 'forbidden', `${nameOf(route)} with ${enough}`)
    }
  }
})

test("another store's ids get the same answer as ids that do not exist, to the byte", async (t) => {
  const app = await openTestApp(t, { env: MANY_ORDERS })
  const [acme, globex] = await Promise.all([app.merchant('acme'), app.merchant('globex')])
  const send = (caller: Caller, route: RouteEntry, params?: Record<string, string>) =>
    caller.send(route.method, fillPath(route.url, params), BODIES[nameOf(route)], freshKey())
  for (const route of routesOf(app, 'merchant').filter(({ url }) => url.includes(':'))) {
    if (CALLERS_WORD.includes(nameOf(route))) continue
    const fixture = FIXTURES[nameOf(route)]
    assert.ok(fixture, `${nameOf(route)} needs a fixture in the resources.ts of its module`)
    const params = await fixture(acme, app)
    const foreign = await send(globex, route, params)
    const random = await send(globex, route)
    const malformed = await send(globex, route, { id: 'no-id' })
    assert.equal(foreign.status, 404, `${nameOf(route)}: ${foreign.text}`)
    assert.deepEqual(comparable(foreign), comparable(random), nameOf(route))
    assert.deepEqual(comparable(malformed), comparable(random), nameOf(route))
    const own = await send(acme, route, params)
    assert.ok(own.status < 300, `${nameOf(route)} on the caller's own: ${own.text}`)
  }
})

test('no list shows a byte of another store', async (t) => {
  const app = await openTestApp(t, { env: MANY_ORDERS })
  const [acme, globex] = await Promise.all([app.merchant('acme'), app.merchant('globex')])
  const canary = `canary-${randomUUID()}`
  await plantCanary(acme, canary)
  let seen = 0
  for (const route of routesOf(app, 'merchant')) {
    if (route.method !== 'GET' || route.url.includes(':')) continue
    if (ABOUT_AN_ORDER.includes(route.url)) continue
    const [own, foreign] = await Promise.all([acme.get(route.url), globex.get(route.url)])
    assert.equal(own.status, 200, `${nameOf(route)}: ${own.text}`)
    assert.equal(foreign.status, 200, `${nameOf(route)}: ${foreign.text}`)
    assert.ok(!foreign.text.includes(canary), `${nameOf(route)} shows another store's data`)
    if (own.text.includes(canary)) seen++
  }
  assert.ok(seen >= 3, 'the canary must be where it could be seen')
})

test('every route declares its plane, its responses and its errors', async (t) => {
  const app = await openTestApp(t, { env: MANY_ORDERS })
  assert.ok(app.app.routeTable.length > 20)
  for (const route of app.app.routeTable) {
    assert.ok(route.plane, nameOf(route))
    if (route.plane === 'merchant') assert.ok(route.scope, nameOf(route))
    assert.ok(route.failures.includes('service_unavailable'), nameOf(route))
  }
})
