import type { Db } from '../../db/database.ts'
import * as queries from './refund-queries.ts'

/**
 * What gateways have refunded all the same of refunds that failed: a part of them, or the whole, found
 * late.
 */
export const sumPaidOfFailed = async (db: Db, refund_ids: readonly string[]): Promise<number> =>
  refund_ids.length === 0 ? 0 : (await queries.sumPaidOfFailed(db, refund_ids)).amount_cents

/** The refund that an attempt belongs to; null where it belongs to none. */
export const findRefundOfAttempt = async (
  db: Db,
  orderId: string,
  attemptId: string,
): Promise<string | null> =>
  (await queries.findOfAttempt(db, orderId, attemptId))?.refund_id ?? null
