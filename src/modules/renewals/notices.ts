import type { TenantDb } from '../../db/database.ts'
import type { CheckoutDeps } from '../checkout/service.ts'
import type { DueSubscription } from '../subscriptions/cycle-schema.ts'
import * as cycles from '../subscriptions/cycles.ts'
import { cardExpiring, priceChanged, subscriptionUpcoming } from '../subscriptions/events.ts'
import { cardNoticeOf } from './plan-step.ts'
import { priceNext } from './price.ts'

/** The notices that customers get in advance. Each notice is an event, which causes its mail. */

/** Emits the notice of the next charge. If its price differs from the last one, the notice is about the new price. */
export async function noticeCharge(
  deps: CheckoutDeps,
  db: TenantDb,
  subscription: DueSubscription,
): Promise<void> {
  const price = await priceNext(deps, db, subscription)
  const { next_cycle: cycle, next_charge_at, unit_price_cents: before } = subscription
  const isChanged = price !== null && price.unit_price_cents !== before
  const data = { cycle, at: next_charge_at, ...price, previous_unit_price_cents: before }
  await db.transaction('renewals: notice', async (tx) => {
    await cycles.markNoticed(tx, subscription)
    if (isChanged) await priceChanged.emit(tx, subscription, data)
    else if (subscription.pre_renewal_notice_days !== null)
      await subscriptionUpcoming.emit(tx, subscription, data)
  })
}

/** Emits the notice of a card that expires soon: 30 days before, and 7. */
export async function noticeCard(
  _deps: CheckoutDeps,
  db: TenantDb,
  subscription: DueSubscription,
): Promise<void> {
  const notice = cardNoticeOf(subscription)
  if (notice === null) return
  const { expires_on, days, told } = notice
  await db.transaction('renewals: card notice', async (tx) => {
    await cycles.markCardTold(tx, subscription, told)
    await cardExpiring.emit(tx, subscription, { expires_on, days })
  })
}
