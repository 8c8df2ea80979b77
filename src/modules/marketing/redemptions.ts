import type { Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
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
}

/** Reserves a use for an order. Concurrent calls never exceed the limits of the coupon. */
export async function reserve(tx: Tx, { code_id = null, ...rest }: Reservation): Promise<void> {
  const use = { code_id, ...rest }
  if ((await queries.reserveUse(tx, use.coupon_id)) === 0) throw invalid('exhausted')
  if (code_id !== null && (await queries.reserveCode(tx, use)) === 0) throw invalid('exhausted')
  const [, inserted] = await Promise.all([
    queries.lockFirstOrder(tx, use),
    queries.insertRedemption(tx, use),
  ])
  if (inserted === 0) throw invalid('per_customer')
}

/** Confirms the use of an order that is placed. */
export async function confirm(tx: Tx, { order_id }: { order_id: string }): Promise<void> {
  await queries.confirmRedemption(tx, order_id)
}

/** Releases the use of an order, once. An order without a coupon has none. */
export async function release(tx: Tx, { order_id }: { order_id: string }): Promise<void> {
  const released = await queries.releaseRedemption(tx, order_id)
  if (released === null) return
  await queries.releaseUse(tx, released.coupon_id)
  if (released.code_id !== null) await queries.releaseCode(tx, released.code_id, order_id)
}

const invalid = (reason: 'exhausted' | 'per_customer') =>
  new ApiError('coupon_invalid', { body: { reason } })
