import type { Db, Tx } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { isUuid } from '../../kernel/schema.ts'
import * as queries from './queries.ts'
import type { Campaign, CampaignState } from './schema.ts'

/**
 * Whether the coupons of a campaign can be used: while it is active and its budget lasts. Only orders with a coupon of
 * a campaign come here (decision 0054).
 */

/** More coupons than a campaign needs: one coupon can have millions of codes. */
const COUPONS_MAX = 100

/** Why no coupon of a campaign can be used, in the words of coupons. Null: they can be used. */
export type Stop = 'paused' | 'not_started' | 'expired' | 'exhausted'

export function stopOf({ status, is_over, budget_left }: CampaignState): Stop | null {
  if (status === 'draft' || status === 'paused') return 'paused'
  if (status === 'ended' || status === 'cancelled' || is_over) return 'expired'
  if (status === 'scheduled') return 'not_started'
  return budget_left !== null && budget_left <= 0 ? 'exhausted' : null
}

/** The limits of a campaign's coupons. */
export interface Allowance {
  stop: Stop | null
  starts_at: string | null
  /** How much discount they may still give. Null: any amount. */
  budget_left_cents: number | null
}

export async function allowanceOf(db: Db, campaign_id: string): Promise<Allowance> {
  const state = await queries.findState(db, campaign_id)
  const isSpend = state.budget_type === 'spend'
  const { starts_at, budget_left } = state
  return { stop: stopOf(state), starts_at, budget_left_cents: isSpend ? budget_left : null }
}

/**
 * Reserves the part of the budget that an order uses, in the transaction that reserves the order. Concurrent orders
 * never reserve more than there is: the row of the campaign is their guard. Returns the reserved amount, or why nothing
 * can be reserved. A campaign without a budget is not locked.
 */
export async function take(
  tx: Tx,
  campaign_id: string,
  spend_cents: number,
): Promise<{ taken: number } | { stop: Stop }> {
  const state = await queries.findState(tx, campaign_id)
  const stop = stopOf(state)
  if (stop !== null) return { stop }
  if (state.budget_type === null) return { taken: 0 }
  const amount = state.budget_type === 'uses' ? 1 : spend_cents
  if ((await queries.reserveBudget(tx, campaign_id, amount)) > 0) return { taken: amount }
  return { stop: stopOf(await queries.findState(tx, campaign_id)) ?? 'exhausted' }
}

/** Releases what an order had reserved of the budget, once: its redemption is released once. */
export const releaseBudget = (tx: Tx, campaign_id: string, taken: number) =>
  queries.releaseBudget(tx, campaign_id, taken)

/** Adds a coupon to a campaign that is not over. Locks the campaign. */
export async function attachCoupon(tx: Tx, campaign_id: string): Promise<void> {
  const campaign = isUuid(campaign_id) ? await queries.lock(tx, campaign_id) : null
  if (campaign === null) throw new ApiError('campaign_not_found')
  requireOpen(campaign)
  const { coupon_count: used } = campaign
  if (used >= COUPONS_MAX) {
    throw new ApiError('limit_reached', {
      message: `A campaign has at most ${COUPONS_MAX} coupons. Make codes of one coupon instead.`,
      body: { limit: 'campaign_coupons', max: COUPONS_MAX, used },
    })
  }
  await queries.countCoupons(tx, campaign_id, 1)
}

export const detachCoupon = (tx: Tx, campaign_id: string) =>
  queries.countCoupons(tx, campaign_id, -1)

/** Refuses a campaign that is over. */
export function requireOpen({ status }: Pick<Campaign, 'status'>): void {
  if (status !== 'ended' && status !== 'cancelled') return
  throw new ApiError('invalid_transition', { body: { current_status: status, allowed: [] } })
}
