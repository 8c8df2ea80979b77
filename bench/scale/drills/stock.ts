import * as stock from '../../../src/modules/inventory/stock-queries.ts'
import { PAGES_FREE, PAGES_TIMES_MAX } from '../compare.ts'
import type { FilledApp } from '../filled-app.ts'
import { countPages } from '../pages.ts'
import { ORDERS } from '../size.ts'
import type { Drill } from './drill.ts'

/** The nightly recount of one store, whose history only grows. */
export async function compareRecounts({ admin, runtime }: FilledApp): Promise<Drill> {
  const recount = async (tenant: string) => {
    const began = performance.now()
    const db = runtime.workerDatabase.tenant(tenant)
    const { total } = await countPages(admin, () => stock.recount(db))
    return { total, ms: performance.now() - began }
  }
  const full = await recount(ORDERS.full)
  const hundredth = await recount(ORDERS.hundredth)
  return {
    line:
      `stock recount: ${full.total} pages and ${full.ms.toFixed(0)} ms, ` +
      `of a hundredth ${hundredth.total} and ${hundredth.ms.toFixed(0)} ms`,
    holds: full.total <= PAGES_TIMES_MAX * hundredth.total + PAGES_FREE,
  }
}
