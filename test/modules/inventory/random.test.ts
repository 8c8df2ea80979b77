import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { assertStockIsCounted } from '../../harness/stock-oracles.ts'
import { openCheckoutApp, openShop } from '../checkout/setup.ts'
import { agree, openWorld, SUSPECT, sequences, take } from './random.ts'

const RUNS = process.env.LONG === '1' ? 150 : 3

test('whatever happens, each order holds what it wants of what is counted, and nobody else does', async (t) => {
  const app = await openCheckoutApp(t)
  const shop = await openShop(app)
  const ban = { kind: 'email', value: SUSPECT, action: 'review' }
  assert.equal((await shop.merchant.post('/v1/merchant/fraud/bans', ban)).status, 201)
  await fc.assert(
    fc.asyncProperty(sequences, async (steps) => {
      const world = await openWorld(app, shop)
      for (const step of steps) {
        await take(world, step)
        await agree(world)
      }
      await take(world, { do: 'outcomes are known' })
      await agree(world)
      await assertStockIsCounted(app.superuser)
    }),
    // The first runs would be of small numbers otherwise, and there are few.
    { numRuns: RUNS, endOnFailure: true, unbiased: true },
  )
})
