import { test } from 'node:test'
import fc from 'fast-check'
import { follow, sequences } from './random.ts'
import { fund, shareDesk } from './setup.ts'

const shared = shareDesk()

/** The long form is in test/torture. */
const RUNS = 12

test('whatever happens to an order, its status follows from its facts and its money adds up', async () => {
  const desk = shared.current
  await fc.assert(
    fc.asyncProperty(sequences, async (sequence) => {
      await follow(desk, sequence, (credit, gift) => fund(desk, credit, gift))
      await desk.check()
    }),
    { numRuns: RUNS, endOnFailure: true },
  )
})
