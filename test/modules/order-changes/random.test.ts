import { test } from 'node:test'
import fc from 'fast-check'
import { giveBalances, shareOrderStore } from '../orders/setup.ts'
import { runSequence, sequences } from './random.ts'

const shared = shareOrderStore()

/** A short run. test/torture has the long one. */
const RUNS = 12

test('after any sequence of changes the status follows from the facts and the money adds up', async () => {
  const store = shared.current
  await fc.assert(
    fc.asyncProperty(sequences, async (sequence) => {
      await runSequence(store, sequence, (credit, gift) => giveBalances(store, credit, gift))
      await store.check()
    }),
    { numRuns: RUNS, endOnFailure: true },
  )
})
