import { DAY_MS } from '../../../src/kernel/time.ts'
import type { FilledApp } from '../filled-app.ts'
import { measureCosts, openClient } from '../measure.ts'
import { ORDERS } from '../size.ts'
import type { Drill } from './drill.ts'

/** How many times the pages and the time of a hundredth a year's summary may take. */
const TIMES_MAX = 3

const DAYS = 365

/** The sums of a day are on a page of their own where the store sells much, and share one where it does not. */
const PAGES_FREE = DAYS

/** Below this a ratio is noise of the machine. */
const MS_FREE = 20

/** The summary of a year: it is read from sums by day, so that the orders behind them cost nothing. */
export async function compareSummaries(filled: FilledApp): Promise<Drill> {
  const client = openClient(filled)
  const today = Date.now()
  const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)
  const query = `from=${dayOf(today - (DAYS - 1) * DAY_MS)}&to=${dayOf(today)}`
  const path = `/v1/merchant/analytics/summary?${query}`
  const requests = await Promise.all(
    [ORDERS.full, ORDERS.hundredth].map((tenant) =>
      client.requestOf({ plane: 'merchant' }, path, tenant),
    ),
  )
  const [full, hundredth] = await measureCosts(filled, requests)
  if (full === undefined || hundredth === undefined) throw new Error('nothing was measured')
  return {
    line:
      `summary of a year: ${full.pages} pages and ${full.ms.toFixed(1)} ms, ` +
      `of a hundredth ${hundredth.pages} and ${hundredth.ms.toFixed(1)} ms`,
    holds:
      full.status === 200 &&
      full.pages <= TIMES_MAX * hundredth.pages + PAGES_FREE &&
      (full.ms <= TIMES_MAX * hundredth.ms || full.ms <= MS_FREE),
  }
}
