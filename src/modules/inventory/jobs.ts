import type { Logger } from 'pino'
import type { Database } from '../../db/database.ts'
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
  for (const { tenant_ref } of await queries.listCountingTenants(database.global)) {
    if (signal?.aborted) break
    for (const found of await queries.recount(database.tenant(tenant_ref))) {
      logger.error({ tenant_ref, ...found }, 'a stock counter disagrees with what it counts')
    }
  }
  return 0
}
