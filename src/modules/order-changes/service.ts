import type { Db } from '../../db/database.ts'
import * as queries from './refund-queries.ts'

/** The refund that an attempt belongs to; null where it belongs to none. */
export const findRefundOfAttempt = async (
  db: Db,
  orderId: string,
  attemptId: string,
): Promise<string | null> =>
  (await queries.findOfAttempt(db, orderId, attemptId))?.refund_id ?? null
