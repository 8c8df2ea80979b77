import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { assertStockIsCounted } from '../../harness/stock-oracles.ts'
import { openCheckoutApp, openShop } from '../checkout/setup.ts'
import { assertModelMatches } from './stock-model/model.ts'
import { openModel, runStep } from './stock-model/run.ts'
import { SUSPECT, sequences } from './stock-model/sequences.ts'

const RUNS = process.env.LONG === '1' ? 150 : 3

test('the stock reserves and allocates exactly what the orders need, in any sequence of steps', async (t) => {
  const app = await openCheckoutApp(t)
  const shop = await openShop(app)
  const ban = { kind: 'email', value: SUSPECT, action: 'review' }
  assert.equal((await shop.merchant.post('/v1/merchant/fraud/bans', ban)).status, 201)
  await fc.assert(
    fc.asyncProperty(sequences, async (steps) => {
      const model = await openModel(app, shop)
      for (const step of steps) {
        await runStep(model, step)
        await assertModelMatches(model)
      }
      await runStep(model, { do: 'outcomes are known' })
      await assertModelMatches(model)
      await assertStockIsCounted(app.superuser)
    }),
    // There are few runs, and by default the first of them would use small numbers only.
    { numRuns: RUNS, endOnFailure: true, unbiased: true },
  )
})
