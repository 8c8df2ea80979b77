import { randomInt } from 'node:crypto'
import { test } from 'node:test'
import { postStockJournals } from '../../../src/modules/inventory/journal-jobs.ts'
import { assertOrdersAddUp } from '../../harness/order-oracles.ts'
import { assertStockIsCounted } from '../../harness/stock-oracles.ts'
import { openCheckoutApp, openShop } from '../checkout/setup.ts'
import { openUnitModel, seededRandom } from './unit-model/model.ts'
import { assertUnitsMatch, takeStep } from './unit-model/steps.ts'

const STEPS = process.env.LONG === '1' ? 10_000 : 300
const SEED = Number(process.env.UNIT_SEED ?? (process.env.LONG ? randomInt(2 ** 31) : 62))

/** So often everything is added up; the levels are compared after every step. */
const SUMS_EVERY = 300

/** So often a worker posts what goods have cost: it is behind when the sums are made, and must be right. */
const POSTED_EVERY = 64

test('units are where they should be at three locations, after each of many random steps', async (t) => {
  const app = await openCheckoutApp(t)
  const shop = await openShop(app)
  const model = await openUnitModel(app, shop, seededRandom(SEED))
  const last: string[] = []
  try {
    for (let n = 1; n <= STEPS; n++) {
      last.push(`${n} ${await takeStep(model)}`)
      await assertUnitsMatch(model)
      if (n % POSTED_EVERY === 0) await postStockJournals(app.runtime.workerDatabase)
      if (n % SUMS_EVERY === 0) await assertStockIsCounted(app.superuser)
    }
  } catch (error) {
    t.diagnostic(`UNIT_SEED=${SEED} repeats it; the last steps: ${last.slice(-8).join(', ')}`)
    throw error
  }
  await assertOrdersAddUp(app.superuser).catch((error: Error) => {
    // A merchant may count fewer units than were sold; nothing else may be wrong.
    if (!error.message.startsWith('no more is reserved than is on hand')) throw error
  })
})
