import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { REVIEWED_EMAIL, runThroughFaults } from './faults.ts'
import { addVariant, openCheckoutApp, openShop, stock } from './setup.ts'

const RUNS = process.env.LONG === '1' ? 1_000 : 20

test('after any faults of a gateway no cent is lost or charged twice', async (t) => {
  const app = await openCheckoutApp(t)
  const shop = await openShop(app)
  const ban = { kind: 'email', value: REVIEWED_EMAIL, action: 'review' }
  assert.equal((await shop.merchant.post('/v1/merchant/fraud/bans', ban)).status, 201)
  const counted = await addVariant(shop.merchant, 1_000)
  await stock(shop.merchant, counted, 100_000)
  await fc.assert(
    fc.asyncProperty(fc.gen(), (chance) => runThroughFaults(app, shop, counted, chance)),
    { numRuns: RUNS, endOnFailure: true },
  )
})
