import type { Static } from 'typebox'
import { awaitAll } from '../../db/await-all.ts'
import type { Db } from '../../db/database.ts'
import * as catalog from '../catalog/service.ts'
import type { ShownShipTo } from '../orders/schema.ts'
import { saleTermsOf } from '../sites/sale-terms.ts'
import type { Store } from '../stores/schema.ts'
import { allowedNow, isRunning } from './actions.ts'
import { catalogPrices, renewalAmount } from './price.ts'
import type { Subscription, SubscriptionRow, UpcomingCharge } from './schema.ts'

/**
 * Shows subscriptions as the API does: with their next charges and what these cost, and without the card's
 * references.
 */
export async function showAll(
  db: Db,
  store: Store,
  rows: readonly SubscriptionRow[],
): Promise<Subscription[]> {
  if (rows.length === 0) return []
  const variants = [...new Set(rows.map(({ variant_id }) => variant_id))]
  const [names, prices, { pricesIncludeTax }] = await awaitAll([
    catalog.variantNames(db, variants),
    catalogPrices(
      db,
      rows.filter(({ price_policy }) => price_policy === 'current'),
    ),
    saleTermsOf(db, store.activeVersion),
  ])
  return rows.map((row) => {
    const named = names.get(row.variant_id)
    return {
      ...shown(row),
      product_name: named?.product_name ?? null,
      sku: named?.sku ?? null,
      label: named?.label ?? null,
      next_charges: chargesOf(row, prices.get(row.id), pricesIncludeTax),
    }
  })
}

export async function show(db: Db, store: Store, row: SubscriptionRow): Promise<Subscription> {
  const [only] = await showAll(db, store, [row])
  if (only === undefined) throw new Error('a subscription was not shown')
  return only
}

/** Lists the next three charges. There are none where the subscription ends before, or its pause has no end yet. */
function chargesOf(
  row: SubscriptionRow,
  current: number | undefined,
  includesTax: boolean,
): UpcomingCharge[] {
  const { status, cancel_at_period_end, paused_until, next_charge_at } = row
  const isWaiting = status === 'paused' && paused_until === null
  if (!isRunning(row) || isWaiting || cancel_at_period_end) return []
  const amount = renewalAmount(row, current, includesTax)
  if (amount === null) return []
  const { amount_cents, is_estimate } = amount
  return row.coming.slice(0, chargesLeft(row)).map(({ cycle, at }, index) => ({
    cycle,
    // The next charge keeps its time when the store changes its time zone.
    at: index === 0 ? (next_charge_at ?? at) : at,
    amount_cents,
    ...(is_estimate && { is_estimate }),
  }))
}

const chargesLeft = ({ max_cycles, paid_cycles }: SubscriptionRow): number =>
  max_cycles === null ? Number.POSITIVE_INFINITY : Math.max(0, max_cycles - paid_cycles)

/** Whether there will be no further charge: the subscription ends with the period that is paid. */
const isLast = (row: SubscriptionRow): boolean => row.cancel_at_period_end || chargesLeft(row) === 0

function shown(row: SubscriptionRow) {
  const { coupon } = row.pricing ?? {}
  const { card_brand: brand, card_last4: last4, dunning_attempt: attempt } = row
  const { card_exp_month: exp_month, card_exp_year: exp_year } = row
  const updatable = allowedNow(row).includes('change_card')
  return {
    id: row.id,
    subscription_number: row.subscription_number,
    customer_ref: row.customer_ref,
    person_id: row.person_id,
    email: row.email,
    product_id: row.product_id,
    variant_id: row.variant_id,
    quantity: row.quantity,
    interval: row.interval,
    interval_count: row.interval_count,
    unit_price_cents: row.unit_price_cents,
    currency: row.currency,
    price_policy: row.price_policy,
    coupon_code: coupon?.code ?? null,
    status: row.status,
    origin_order_id: row.origin_order_id,
    last_order_id: row.last_order_id,
    cycle: row.cycle,
    paid_cycles: row.paid_cycles,
    max_cycles: row.max_cycles,
    current_period_start: row.current_period_start,
    next_charge_at: isLast(row) ? null : row.next_charge_at,
    anchor_day: Number(row.anchor_on.slice(-2)),
    paused_until: row.paused_until,
    cancel_at_period_end: row.cancel_at_period_end,
    cancelled_at: row.cancelled_at,
    cancel_reason: row.cancel_reason,
    ship_to: row.ship_to as Static<typeof ShownShipTo> | null,
    payment_method: row.vault_id === null ? null : { brand, last4, exp_month, exp_year, updatable },
    dunning:
      row.status !== 'past_due'
        ? null
        : { attempt, next_attempt_at: row.dunning_next_at, last_reason: row.dunning_reason },
    skipped: row.skipped,
    allowed: allowedNow(row),
    version: row.version,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}

/** The state of a subscription after a change, for its event. */
export const standingOf = (row: SubscriptionRow) => ({
  status: row.status,
  next_charge_at: isLast(row) ? null : row.next_charge_at,
  paused_until: row.paused_until,
  cancel_at_period_end: row.cancel_at_period_end,
})
