import type { Db } from '../../db/database.ts'
import * as queries from './refund-queries.ts'

/** Adds up the amounts that gateways have refunded of failed refunds: in part, or in whole if that was found late. */
export const sumPaidOfFailed = async (db: Db, refund_ids: readonly string[]): Promise<number> =>
  refund_ids.length === 0 ? 0 : (await queries.sumPaidOfFailed(db, refund_ids)).amount_cents

/** Finds the refund that an attempt belongs to. Returns null if it belongs to none. */
export const findRefundOfAttempt = async (
  db: Db,
  orderId: string,
  attemptId: string,
): Promise<string | null> =>
  (await queries.findOfAttempt(db, orderId, attemptId))?.refund_id ?? null
