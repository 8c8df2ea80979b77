import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { FEATURES } from '../../../src/modules/entitlements/catalog.ts'
import { requireFeature, stateOf } from '../../../src/modules/entitlements/service.ts'
import { openTestApp } from '../../harness/app.ts'
import { assertRefused, keysOf } from '../../harness/refusals.ts'
import { shareStores } from '../../harness/share-stores.ts'

const SELF_SERVE = [
  'subscriptions',
  'gift_cards',
  'store_credit',
  'pricing_groups',
  'subscribe_and_save',
  'affiliates',
  'bulk_fulfillment',
  'funnel_gate',
]

interface Listed {
  key: string
  feature_key: string
  self_serve: boolean
  state: string
  source: string
  docsPath?: string
  priceCentsMonthly?: number
}

const namesOf = (features: Listed[], state: string) =>
  features.filter((each) => each.state === state).map(({ key }) => key)

const openStore = shareStores(openTestApp)

describe('the catalog of add-ons', () => {
  test('has the self-serve list of the contract and the add-ons of the operator', async () => {
    const { acme } = await openStore()
    const { status, body } = await acme.get('/v1/my/entitlements')
    assert.equal(status, 200)
    assert.deepEqual(keysOf(body), ['features', 'tier'])
    const features: Listed[] = body.features
    const keys = (selfServe: boolean) =>
      features.filter((each) => each.self_serve === selfServe).map(({ key }) => key)
    assert.deepEqual(keys(true), SELF_SERVE)
    assert.deepEqual(keys(false), ['dedicated_gateway', 'advanced_fraud', 'extended_events'])
    const always = 'category feature_key key name self_serve source state tagline whatItDoes'
    for (const feature of features) {
      const { docsPath, priceCentsMonthly, ...rest } = feature
      assert.deepEqual(keysOf(rest), always.split(' '))
      assert.equal(feature.feature_key, feature.key)
      assert.ok((rest as unknown as { whatItDoes: string[] }).whatItDoes.length > 0)
      assert.equal(feature.docsPath ?? null, findEntry(feature.key).docsPath ?? null)
      assert.equal(feature.priceCentsMonthly, findEntry(feature.key).priceCentsMonthly)
      assert.ok(priceCentsMonthly === undefined || Number.isInteger(priceCentsMonthly))
      assert.ok(docsPath === undefined || docsPath.startsWith('/docs'))
    }
  })

  test('has the states of the tier until a merchant or operator changes them', async () => {
    const { app, tenant, acme } = await openStore()
    const cases: [string, string[]][] = [
      ['growth', ['subscriptions', 'gift_cards', 'store_credit', 'subscribe_and_save']],
      ['scale', SELF_SERVE],
      ['standard', []],
    ]
    for (const [tier, on] of cases) {
      const set = await app.operator.put(`/v1/entitlements/tenants/${tenant}/tier`, { tier })
      assert.equal(set.status, 200, set.text)
      const { body } = await acme.get('/v1/my/entitlements')
      assert.deepEqual(body, set.body)
      assert.equal(body.tier, tier)
      assert.deepEqual(namesOf(body.features, 'on'), on)
      assert.ok(body.features.every(({ source }: Listed) => source === 'tier'))
    }
    const { entries } = (await acme.get('/v1/my/audit?action=entitlements.tier_set')).body
    const moves = entries.map(({ before, after }: Record<string, { tier: string }>) => [
      before?.tier,
      after?.tier,
    ])
    assert.deepEqual(moves, [
      ['scale', 'standard'],
      ['growth', 'scale'],
      ['standard', 'growth'],
    ])
  })

  test('has three tiers', async () => {
    const { app, tenant } = await openStore()
    const bad = ['platinum', '', null, 'constructor', 'Growth', 1].map(
      (tier) => [String(tier), { tier }, 'invalid_body', 'tier'] as const,
    )
    const url = `/v1/entitlements/tenants/${tenant}/tier`
    await assertRefused(bad, (body) => app.operator.put(url, body))
  })
})

function findEntry(key: string) {
  const entry = FEATURES.find((each) => each.key === key)
  assert.ok(entry)
  return entry
}

test("an operator's ruling overrides the merchant's switch, and the switch overrides the tier", () => {
  const key = 'subscriptions'
  const self = { feature_key: key, source: 'self_serve', state: 'allow' } as const
  const allow = { feature_key: key, source: 'operator', state: 'allow' } as const
  const deny = { feature_key: key, source: 'operator', state: 'deny' } as const
  const other = { feature_key: 'gift_cards', source: 'operator', state: 'deny' } as const
  const cases = [
    ['standard', [], 'off', 'tier'],
    ['standard', [other], 'off', 'tier'],
    ['growth', [], 'on', 'tier'],
    ['no such tier', [], 'off', 'tier'],
    ['standard', [self], 'on', 'self_serve'],
    ['standard', [allow], 'on', 'operator'],
    ['growth', [deny], 'denied', 'operator'],
    ['growth', [self, deny], 'denied', 'operator'],
    ['growth', [deny, self], 'denied', 'operator'],
    ['standard', [self, allow], 'on', 'operator'],
  ] as const
  for (const [tier, rulings, state, source] of cases) {
    assert.deepEqual(stateOf(key, tier, rulings), { feature_key: key, state, source })
  }
})

test('a module of an add-on writes only while the add-on is on', async () => {
  const { app, tenant, acme } = await openStore()
  const db = await app.store(tenant)
  const off = (key: string) => ({
    code: 'feature_not_enabled',
    status: 403,
    body: { feature_key: key },
  })
  await assert.rejects(requireFeature(db, 'gift_cards'), off('gift_cards'))
  await acme.post('/v1/merchant/entitlements/enable', { feature_key: 'gift_cards' })
  await requireFeature(db, 'gift_cards')
  const globex = await app.store('globex')
  await assert.rejects(requireFeature(globex, 'gift_cards'), off('gift_cards'))
  const rulings = `/v1/entitlements/tenants/${tenant}/features`
  await app.operator.put(`${rulings}/gift_cards`, { state: 'deny' })
  const denied = { ...off('gift_cards'), code: 'operator_restricted' }
  await assert.rejects(requireFeature(db, 'gift_cards'), denied)
  await assert.rejects(requireFeature(db, 'no_such_thing'), off('no_such_thing'))
})
