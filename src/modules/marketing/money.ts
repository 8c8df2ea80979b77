import type { Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import * as queries from './queries.ts'

/**
 * The uses of a coupon. A claim belongs to its order and has no time limit of its own: it is confirmed
 * when the order is placed, and released when the order fails or is cancelled.
 */

interface Claim {
  coupon_id: string
  /** The code that is good for one use, if it was one. */
  code_id?: string | null
  order_id: string
  customer_ref: string
}

/** Takes a use for an order. Of however many at once, no more than the limits allow succeed. */
export async function claim(tx: Tx, { code_id = null, ...rest }: Claim): Promise<void> {
  const use = { code_id, ...rest }
  if ((await queries.takeUse(tx, use.coupon_id)) === 0) throw invalid('exhausted')
  if (code_id !== null && (await queries.takeCode(tx, use)) === 0) throw invalid('exhausted')
  const [, written] = await Promise.all([
    queries.lockFirstOrder(tx, use),
    queries.insertRedemption(tx, use),
  ])
  if (written === 0) throw invalid('per_customer')
}

/** The order is placed. */
export async function confirm(tx: Tx, { order_id }: { order_id: string }): Promise<void> {
  await queries.confirmRedemption(tx, order_id)
}

/** Gives the use back, once. An order without a coupon has none to give. */
export async function release(tx: Tx, { order_id }: { order_id: string }): Promise<void> {
  const released = await queries.releaseRedemption(tx, order_id)
  if (released === null) return
  await queries.giveUse(tx, released.coupon_id)
  if (released.code_id !== null) await queries.giveCode(tx, released.code_id, order_id)
}

const invalid = (reason: 'exhausted' | 'per_customer') =>
  new ApiError('coupon_invalid', { body: { reason } })
