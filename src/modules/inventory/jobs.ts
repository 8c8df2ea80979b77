import type { Logger } from 'pino'
import type { Database } from '../../db/database.ts'
import { forEachStore } from '../../platform/for-each-store.ts'
import * as queries from './stock-queries.ts'

/**
 * Recounts the stock of every store once, as fd_worker. A counter that disagrees with its movements
 * or reservations is a bug of ours: it is recorded and logged as an alert, and never corrected
 * automatically. Always answers 0, nothing left to do, so that the loop waits for its next turn. A
 * store that failed is no exception: otherwise every store would be recounted and reported again
 * every few seconds.
 */
export async function recountAll(
  database: Database,
  logger: Pick<Logger, 'error'>,
  signal?: AbortSignal,
): Promise<number> {
  const recount = async (tenant_ref: string) => {
    try {
      for (const found of await queries.recount(database.tenant(tenant_ref))) {
        logger.error(
          { tenant_ref, ...found },
          'a stock counter differs from its movements or reservations',
        )
      }
    } catch (err) {
      logger.error({ tenant_ref, err }, 'the stock of a store could not be recounted today')
    }
    return 0
  }
  return forEachStore(await queries.listTrackingStores(database.global), recount, { signal })
}
