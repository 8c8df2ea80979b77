import assert from 'node:assert/strict'
import { test } from 'node:test'
import { optionsOf } from '../../../src/modules/checkout/site-options.ts'
import { openTestApp } from '../../harness/app.ts'

test('the switches of a version are remembered separately for each database', async (t) => {
  for (const enabled of [true, false]) {
    const app = await openTestApp(t)
    const merchant = await app.merchant('acme')
    const manifest = { brand: { name: 'Acme' }, behavior: { giftCards: { enabled } } }
    const saved = await merchant.put('/v1/my/store/manifest', { manifest })
    assert.equal(saved.body.version, 1, saved.text)
    const db = app.runtime.database.tenant('acme')
    for (const _ of ['read', 'remembered']) {
      assert.equal((await optionsOf(db, 1)).giftCards, enabled)
    }
  }
})
