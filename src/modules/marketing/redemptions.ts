import type { Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import * as campaigns from '../campaigns/budget.ts'
import * as queries from './queries.ts'

/**
 * The redemptions of a coupon. An order reserves one use, which has no time limit of its own: it is
 * confirmed when the order is placed, and released when the order fails or is cancelled.
 */

interface Reservation {
  coupon_id: string
  /** The single-use code, if the shopper typed one. */
  code_id?: string | null
  order_id: string
  customer_ref: string
  /** The discount that the coupon gives on the goods of the order, for the budget of its campaign. */
  discount_cents?: number
}

/**
 * Reserves a use for an order. Concurrent calls never exceed the limits of the coupon, nor the budget of
 * its campaign. The row of the coupon is locked before that of the campaign.
 */
export async function reserve(tx: Tx, reservation: Reservation): Promise<void> {
  const { code_id = null, discount_cents = 0, ...rest } = reservation
  const reserved = await queries.reserveUse(tx, rest.coupon_id)
  if (reserved === null) throw invalid('exhausted')
  const use = { code_id, ...rest, budget_taken: await reserveBudget(tx, reserved, discount_cents) }
  if (code_id !== null && (await queries.reserveCode(tx, use)) === 0) throw invalid('exhausted')
  const [, inserted] = await Promise.all([
    queries.lockFirstOrder(tx, use),
    queries.insertRedemption(tx, use),
  ])
  if (inserted === 0) throw invalid('per_customer')
}

/** Reserves the discount from the budget of the campaign. A coupon without a campaign costs no statement. */
async function reserveBudget(
  tx: Tx,
  { campaign_id }: { campaign_id: string | null },
  discount_cents: number,
): Promise<number> {
  if (campaign_id === null) return 0
  const result = await campaigns.take(tx, campaign_id, discount_cents)
  if ('taken' in result) return result.taken
  throw invalid(result.stop === 'paused' ? 'unknown' : result.stop)
}

/** Confirms the use of an order that is placed. */
export async function confirm(tx: Tx, { order_id }: { order_id: string }): Promise<void> {
  await queries.confirmRedemption(tx, order_id)
}

/** Releases the use of an order, once. An order without a coupon has no use to release. */
export async function release(tx: Tx, { order_id }: { order_id: string }): Promise<void> {
  const released = await queries.releaseRedemption(tx, order_id)
  if (released === null) return
  const { coupon_id, code_id, budget_taken } = released
  const { campaign_id } = await queries.releaseUse(tx, coupon_id)
  if (code_id !== null) await queries.releaseCode(tx, code_id, order_id)
  if (campaign_id === null || budget_taken === 0) return
  await campaigns.releaseBudget(tx, campaign_id, budget_taken)
}

const invalid = (reason: 'unknown' | 'expired' | 'not_started' | 'exhausted' | 'per_customer') =>
  new ApiError('coupon_invalid', { body: { reason } })
