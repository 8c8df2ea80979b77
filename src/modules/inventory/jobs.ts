import type { Logger } from 'pino'
import type { Database } from '../../db/database.ts'
import { eachStore } from '../../platform/each-store.ts'
import * as queries from './stock-queries.ts'

/**
 * One recount of every store, as fd_worker. A counter that disagrees with its movements or holds is
 * a bug of ours: it is written down and logged for people, and never mended by itself. Answers
 * nothing left to do, so that the loop rests until it is time again.
 */
export async function recountAll(
  database: Database,
  logger: Pick<Logger, 'error'>,
  signal?: AbortSignal,
): Promise<number> {
  const recount = async (tenant_ref: string) => {
    for (const found of await queries.recount(database.tenant(tenant_ref))) {
      logger.error({ tenant_ref, ...found }, 'a stock counter disagrees with what it counts')
    }
    return 0
  }
  return eachStore(await queries.listCountingTenants(database.global), recount, { signal })
}
