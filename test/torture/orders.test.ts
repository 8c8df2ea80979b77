import { test } from 'node:test'
import fc from 'fast-check'
import { follow, sequences } from '../modules/orders/random.ts'
import { fund, shareDesk } from '../modules/orders/setup.ts'

const shared = shareDesk()

/** Some minutes' worth. */
const RUNS = 400

test('four hundred orders through any sequence of changes: every status derived, every cent found', async () => {
  const desk = shared.current
  await fc.assert(
    fc.asyncProperty(sequences, async (sequence) => {
      await follow(desk, sequence, (credit, gift) => fund(desk, credit, gift))
      await desk.check()
    }),
    { numRuns: RUNS, endOnFailure: true },
  )
})
