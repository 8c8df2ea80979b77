import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Ruling } from '../../../src/modules/entitlements/schema.ts'
import { stateOf } from '../../../src/modules/entitlements/service.ts'
import { openTestApp } from '../../harness/app.ts'
import { openSuperuser } from '../../harness/superuser.ts'

const ACTS = ['enable', 'disable', 'deny', 'allow', 'default'] as const

interface Step {
  action: string
  before: { state: string }
  after: { state: string }
}

/** Checks that each audited step begins where the last one ended, and that no merchant acted in a deny. */
function assertSequence(steps: readonly Step[], begun: string): string {
  let state = begun
  for (const { action, before, after } of steps) {
    assert.equal(before.state, state, `${action} began elsewhere`)
    if (action.startsWith('addon.self_serve')) assert.notEqual(state, 'denied', action)
    if (action === 'addon.operator_deny') assert.equal(after.state, 'denied')
    state = after.state
  }
  return state
}

test('thirty concurrent switches and rulings end in the state that their audit log gives', async (t) => {
  const app = await openTestApp(t)
  const superuser = await openSuperuser(t, app.database)
  const acme = await app.merchant('acme')
  const feature_key = 'affiliates'
  const url = `/v1/entitlements/tenants/acme/features/${feature_key}`
  const perform = (act: (typeof ACTS)[number]) =>
    act === 'enable' || act === 'disable'
      ? acme.post(`/v1/merchant/entitlements/${act}`, { feature_key })
      : app.operator.put(url, { state: act })

  const runs = fc.array(fc.constantFrom(...ACTS), { minLength: 30, maxLength: 30 })
  await fc.assert(
    fc.asyncProperty(runs, async (acts) => {
      const begun = (await app.operator.get(url)).body.feature.state
      const { rows: mark } = await superuser.query('select clock_timestamp() as at')
      for (const { status, body, text } of await Promise.all(acts.map(perform))) {
        const isRefusal = status === 403 && body.error.code === 'operator_restricted'
        assert.ok(status === 200 || isRefusal, text)
      }
      const { rows: steps } = await superuser.query<Step>(
        `select action, before, after from audit_log
          where action like 'addon.%' and created_at > $1 order by created_at`,
        [mark[0].at],
      )
      const { rows: rulings } = await superuser.query<Ruling>(
        'select feature_key, source, state from entitlements',
      )
      const { feature } = (await app.operator.get(url)).body
      assert.deepEqual(feature, stateOf(feature_key, 'standard', rulings))
      assert.equal(assertSequence(steps, begun), feature.state)
    }),
    { numRuns: 8 },
  )
})
