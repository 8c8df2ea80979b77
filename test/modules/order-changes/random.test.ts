import { test } from 'node:test'
import fc from 'fast-check'
import { giveBalances, shareOrderStore } from '../orders/setup.ts'
import { runSequence, sequences } from './random.ts'

const shared = shareOrderStore()

/** The long form is in test/torture. */
const RUNS = 12

test('whatever happens to an order, its status follows from its facts and its money adds up', async () => {
  const store = shared.current
  await fc.assert(
    fc.asyncProperty(sequences, async (sequence) => {
      await runSequence(store, sequence, (credit, gift) => giveBalances(store, credit, gift))
      await store.check()
    }),
    { numRuns: RUNS, endOnFailure: true },
  )
})
