import type { Logger } from 'pino'
import type { Database } from '../../db/database.ts'
import { forEachStore } from '../../platform/for-each-store.ts'
import * as queries from './stock-queries.ts'

/**
 * One recount of every store, as fd_worker. A counter that disagrees with its movements or holds is
 * a bug of ours: it is written down and logged for people, and never mended by itself. Answers
 * nothing left to do, so that the loop rests until it is time again; also where a store could not be
 * recounted, since all would be again, and told of again, every few seconds.
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
  return forEachStore(await queries.listCountingTenants(database.global), recount, { signal })
}
