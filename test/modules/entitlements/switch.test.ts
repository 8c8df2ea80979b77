import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Caller, openTestApp } from '../../harness/app.ts'
import { assertRefused } from '../../harness/refusals.ts'
import { share } from '../../harness/scope.ts'

const shared = share((scope) => openTestApp(scope))
let stores = 0

const key = 'gift_cards'
const enable = (caller: Caller, feature_key: unknown = key) =>
  caller.post('/v1/merchant/entitlements/enable', { feature_key })
const disable = (caller: Caller, feature_key: unknown = key) =>
  caller.post('/v1/merchant/entitlements/disable', { feature_key })
const rule = (tenant: string, state: string, feature = key) =>
  shared.current.operator.put(`/v1/entitlements/tenants/${tenant}/features/${feature}`, { state })

/** The next store, and its merchant. */
async function openStore() {
  const app = shared.current
  const tenant = `acme-${++stores}`
  return { app, tenant, acme: await app.merchant(tenant) }
}

async function actionsOf(caller: Caller) {
  const { entries } = (await caller.get('/v1/my/audit?limit=100')).body
  return entries
    .map(({ action }: { action: string }) => action)
    .filter((action: string) => action.startsWith('addon.'))
    .reverse()
}

describe('switching an add-on', () => {
  test('on or off is idempotent, and audited once', async () => {
    const { acme } = await openStore()
    const steps = [
      [enable, { feature_key: key, enabled: true, already_enabled: false }],
      [enable, { feature_key: key, enabled: true, already_enabled: true }],
      [disable, { feature_key: key, enabled: false, already_disabled: false }],
      [disable, { feature_key: key, enabled: false, already_disabled: true }],
    ] as const
    for (const [act, expected] of steps) {
      const { status, body } = await act(acme)
      assert.equal(status, 200)
      assert.deepEqual(body, expected)
    }
    assert.deepEqual(await actionsOf(acme), [
      'addon.self_serve_enabled',
      'addon.self_serve_disabled',
    ])
    const { entries } = (await acme.get('/v1/my/audit?action=addon.self_serve_enabled')).body
    assert.equal(entries[0].entity, `feature:${key}`)
    assert.deepEqual([entries[0].before.state, entries[0].after.state], ['off', 'on'])
    assert.match(entries[0].actor, /^merchant_key:/)
  })

  test('off leaves an add-on on that the tier includes', async () => {
    const { app, tenant, acme } = await openStore()
    await app.operator.put(`/v1/entitlements/tenants/${tenant}/tier`, { tier: 'growth' })
    assert.equal((await enable(acme)).body.already_enabled, true)
    const off = await disable(acme)
    assert.deepEqual(off.body, { feature_key: key, enabled: true, already_disabled: true })
    assert.deepEqual(await actionsOf(acme), [])
  })

  test('is for self-serve add-ons: the same answer refuses others and unknown ones', async () => {
    const { acme } = await openStore()
    const keys = ['dedicated_gateway', 'advanced_fraud', 'no_such', 'GIFT_CARDS', '__proto__']
    for (const act of [enable, disable]) {
      const refusals = keys.map((each) => [each, each, 'not_self_serve'] as const)
      await assertRefused(refusals, (each) => act(acme, each))
      const bad = [null, '', 5, ['gift_cards'], {}].map(
        (each) => [JSON.stringify(each), each, 'invalid_body', 'feature_key'] as const,
      )
      await assertRefused(bad, (each) => act(acme, each))
    }
  })
})

describe("an operator's ruling", () => {
  test('deny stops the merchant from switching the add-on, until the ruling is removed', async () => {
    const { tenant, acme } = await openStore()
    await enable(acme)
    const denied = await rule(tenant, 'deny')
    assert.deepEqual(denied.body.feature, { feature_key: key, state: 'denied', source: 'operator' })
    const refused = ['operator_restricted', 403]
    for (const act of [enable, disable, enable]) {
      const { status, body } = await act(acme)
      assert.deepEqual([body.error.code, status], refused)
    }
    const restored = await rule(tenant, 'default')
    const mine = { feature_key: key, state: 'on', source: 'self_serve' }
    assert.deepEqual(restored.body.feature, mine, 'the merchant’s own switch is as it was')
    assert.equal((await disable(acme)).body.already_disabled, false)
    assert.deepEqual(await actionsOf(acme), [
      'addon.self_serve_enabled',
      'addon.operator_deny',
      'addon.operator_default',
      'addon.self_serve_disabled',
    ])
  })

  test('allow stays when the merchant switches the add-on off, and works for any add-on', async () => {
    const { app, tenant, acme } = await openStore()
    await rule(tenant, 'allow')
    assert.equal((await enable(acme)).body.already_enabled, true)
    const off = await disable(acme)
    assert.deepEqual(off.body, { feature_key: key, enabled: true, already_disabled: true })
    await rule(tenant, 'allow', 'advanced_fraud')
    const url = `/v1/entitlements/tenants/${tenant}/features/advanced_fraud`
    const read = await app.operator.get(url)
    const given = { feature_key: 'advanced_fraud', state: 'on', source: 'operator' }
    assert.deepEqual(read.body, { feature: given })
    await rule(tenant, 'default', 'advanced_fraud')
    await rule(tenant, 'default', 'advanced_fraud')
    assert.equal((await app.operator.get(url)).body.feature.state, 'off')
  })

  test('is for one store and one known add-on', async () => {
    const { app, tenant, acme } = await openStore()
    const { acme: globex } = await openStore()
    await rule(tenant, 'deny')
    assert.equal((await enable(globex)).body.already_enabled, false)
    assert.equal((await enable(acme, 'store_credit')).status, 200)
    for (const feature of ['no_such', '__proto__', 'x'.repeat(500)]) {
      const url = `/v1/entitlements/tenants/${tenant}/features/${feature}`
      for (const answer of [await rule(tenant, 'deny', feature), await app.operator.get(url)]) {
        assert.deepEqual([answer.status, answer.body.error.code], [400, 'unknown_feature'])
      }
    }
    const bad = ['on', '', null, true].map(
      (state) => [String(state), { state }, 'invalid_body', 'state'] as const,
    )
    const url = `/v1/entitlements/tenants/${tenant}/features/${key}`
    await assertRefused(bad, (body) => app.operator.put(url, body))
    const listed = await app.operator.get(`/v1/entitlements/tenants/${tenant}/features`)
    assert.deepEqual(listed.body, (await acme.get('/v1/my/entitlements')).body)
  })
})
