import { test } from 'node:test'
import fc from 'fast-check'
import { runSequence, sequences } from '../modules/order-changes/random.ts'
import { giveBalances, shareOrderStore } from '../modules/orders/setup.ts'

const shared = shareOrderStore()

/** The sequences of one run, which takes some minutes. */
const RUNS = 400

test('four hundred random sequences of changes: every status follows from facts, every cent is accounted for', async () => {
  const store = shared.current
  await fc.assert(
    fc.asyncProperty(sequences, async (sequence) => {
      await runSequence(store, sequence, (credit, gift) => giveBalances(store, credit, gift))
      await store.check()
    }),
    { numRuns: RUNS, endOnFailure: true },
  )
})
