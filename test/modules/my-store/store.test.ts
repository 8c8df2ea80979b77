import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { openTestApp } from '../../harness/app.ts'
import { keysOf } from '../../harness/refusals.ts'
import { shareStores } from '../../harness/share-stores.ts'
import { openSuperuser, putActiveVersion } from '../../harness/superuser.ts'

const FEATURES = [
  'subscriptions',
  'gift_cards',
  'store_credit',
  'pricing_groups',
  'subscribe_and_save',
  'affiliates',
  'bulk_fulfillment',
  'funnel_gate',
  'dedicated_gateway',
  'advanced_fraud',
  'extended_events',
]

const MEMBERS = [
  'activeVersion',
  'auto_deliver_days',
  'created_at',
  'currency',
  'display_name',
  'features',
  'language',
  'owner_email',
  'primary_hostname',
  'sandbox',
  'status',
  'stock_hint',
  'store_number',
  'tenant_ref',
  'time_zone',
  'updated_at',
]

const openStore = shareStores(openTestApp)

describe('the store as its own key sees it', () => {
  test('has the members of the contract, and each add-on with its state', async () => {
    const { tenant, acme } = await openStore()
    const { status, body } = await acme.get('/v1/my/store')
    assert.equal(status, 200)
    assert.deepEqual(keysOf(body.store), MEMBERS)
    assert.deepEqual([body.store.tenant_ref, body.store.status], [tenant, 'draft'])
    assert.deepEqual([body.store.activeVersion, body.store.primary_hostname], [null, null])
    assert.deepEqual(
      body.store.features,
      FEATURES.map((feature_key) => ({ feature_key, state: 'off', source: 'tier' })),
    )
  })

  test('works in every status', async (t) => {
    const { app, tenant, acme } = await openStore()
    const superuser = await openSuperuser(t, app.database)
    await putActiveVersion(superuser, tenant)
    for (const wanted of ['live', 'suspended', 'draft']) {
      const change = 'update stores set status = $1 where tenant_ref = $2'
      await superuser.query(change, [wanted, tenant])
      const { status, body } = await acme.get('/v1/my/store')
      assert.deepEqual([status, body.store.status, body.store.activeVersion], [200, wanted, 1])
    }
  })
})

test('the store as the operator sees it also has its tier and counts', async (t) => {
  const { app, tenant, acme } = await openStore()
  const superuser = await openSuperuser(t, app.database)
  await app.key(tenant, 'read:own_store')
  await app.key(tenant, 'read:own_store')
  await superuser.query(
    `update credentials set revoked_at = now()
      where id = (select min(id::text)::uuid from credentials
                   where cardinality(scopes) = 1 and tenant_ref = $1)`,
    [tenant],
  )
  await acme.post('/v1/merchant/entitlements/requests', { feature_key: 'advanced_fraud' })
  const { status, body } = await app.operator.get(`/v1/stores/${tenant}`)
  assert.equal(status, 200)
  assert.deepEqual(keysOf(body.store), [...MEMBERS, 'counts', 'tier'].sort())
  assert.deepEqual(body.store.counts, { active_credentials: 2, open_requests: 1 })
  assert.equal(body.store.tier, 'standard')
  assert.deepEqual(keysOf(body.store.features[0]), ['feature_key', 'source', 'state'])
})
