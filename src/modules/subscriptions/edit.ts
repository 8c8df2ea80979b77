import { isDeepStrictEqual } from 'node:util'
import type { TenantDb } from '../../db/database.ts'
import { ApiError, invalidBody } from '../../errors.ts'
import { isUuid } from '../../kernel/schema.ts'
import type { SaleVariant } from '../catalog/schema.ts'
import * as catalog from '../catalog/service.ts'
import { knownAddress, requireServedCountry } from '../orders/ship-to.ts'
import { saleTermsOf } from '../sites/sale-terms.ts'
import { invalidTransition } from './actions.ts'
import { type Changing, changeSubscription, type Work } from './change.ts'
import * as dates from './dates.ts'
import { refuse } from './errors.ts'
import { catalogPrices, renewalAmount } from './price.ts'
import type { SubscriptionRow } from './schema.ts'
import type { Change } from './verb-schema.ts'

/** Changes a subscription's goods, dates, address or price. */
export async function edit(db: TenantDb, changing: Changing, request: Change) {
  let price_change: { before_cents: number; after_cents: number } | null = null
  const subscription = await changeSubscription(db, changing, 'change', async (work) => {
    const { row: before } = work
    const row = await changed(work, request)
    const names = changedNames(before, row)
    price_change = priceChange(before, row)
    if (names.length === 0) return null
    const data = { changed: names, ...(price_change && { price_change }) }
    return { row, verb: 'changed', data }
  })
  return { subscription, price_change }
}

const priceChange = (before: SubscriptionRow, after: SubscriptionRow) =>
  before.unit_price_cents === after.unit_price_cents
    ? null
    : { before_cents: before.unit_price_cents, after_cents: after.unit_price_cents }

const NAMED = [
  'quantity',
  'variant_id',
  'interval',
  'interval_count',
  'anchor_on',
  'anchor_cycle',
  'ship_to',
  'max_cycles',
  'price_policy',
  'unit_price_cents',
] as const

const changedNames = (before: SubscriptionRow, after: SubscriptionRow): string[] =>
  NAMED.filter((name) => !isDeepStrictEqual(before[name], after[name]))

async function changed(work: Work, request: Change): Promise<SubscriptionRow> {
  const { quantity, max_cycles } = request
  const row: SubscriptionRow = {
    ...work.row,
    ...(quantity !== undefined && { quantity }),
    ...(max_cycles !== undefined && { max_cycles: readMaxCycles(max_cycles, work.row) }),
    ...readDates(work, request),
    ...(await readAddress(work, request)),
  }
  const priced = await priceRow(work, row, request)
  await requireWithinLimits(work, priced)
  return priced
}

function readMaxCycles(max_cycles: number | null, { paid_cycles }: SubscriptionRow): number | null {
  if (max_cycles === null || max_cycles >= paid_cycles) return max_cycles
  throw invalidBody('max_cycles', `must be at least ${paid_cycles}: the number of paid cycles`)
}

const NO_DATE =
  'The charge that is due was declined, and has no other date. Skip it, or give another card.'

/**
 * Reads the interval and the anchor. The next charge keeps its date when the interval changes: no customer is charged
 * earlier than announced.
 */
function readDates({ tx, store, row }: Work, request: Change) {
  const { interval = row.interval, interval_count = row.interval_count, next_charge_at } = request
  const isOther = interval !== row.interval || interval_count !== row.interval_count
  const anchor = isOther ? dates.anchorAtNextCharge(row, store.time_zone) : {}
  if (next_charge_at === undefined) return { interval, interval_count, ...anchor }
  if (row.status === 'past_due') throw invalidTransition(row, NO_DATE)
  const on = dates.readChargeDate(next_charge_at, tx.clock.now(), store.time_zone)
  return { interval, interval_count, ...dates.anchorOn(row, on) }
}

async function readAddress({ tx, store }: Work, { ship_to }: Change) {
  if (ship_to === undefined) return {}
  const { countries } = await saleTermsOf(tx, store.activeVersion)
  requireServedCountry('ship_to', ship_to, countries)
  return { ship_to: ship_to === null ? null : knownAddress(ship_to) }
}

/**
 * Sets the variant and the price of a row. A locked price stays, unless the variant changes, or the price becomes
 * locked now.
 */
async function priceRow(
  { tx, store, row: before }: Work,
  row: SubscriptionRow,
  { variant_id, price_policy = row.price_policy }: Change,
): Promise<SubscriptionRow> {
  const requested = variant_id?.toLowerCase() ?? row.variant_id
  const isSwap = requested !== before.variant_id
  const variant = isSwap ? await findVariant(tx, requested, row.currency) : row
  const { product_id } = variant
  const after = { ...row, product_id, variant_id: requested, price_policy }
  const isLockedNow = price_policy === 'locked' && before.price_policy === 'current'
  if (!isSwap && !isLockedNow) return after
  const unit = (await catalogPrices(tx, [after])).get(after.id)
  if (unit === undefined) return after
  const { pricesIncludeTax } = await saleTermsOf(tx, store.activeVersion)
  return { ...after, unit_price_cents: unit, prices_include_tax: pricesIncludeTax }
}

/** Finds a variant that is sold by subscription, in the same currency. */
async function findVariant(tx: Work['tx'], id: string, currency: string): Promise<SaleVariant> {
  const [variant] = await catalog.variantsForSale(tx, [id])
  if (variant === undefined)
    throw new ApiError('variant_not_found', { body: isUuid(id) ? { variant_id: id } : {} })
  if (!variant.is_subscription) throw refuse('not_subscribable')
  if (variant.currency !== currency)
    throw new ApiError('currency_mismatch', {
      message: `The subscription is charged in ${currency}. Choose a variant in that currency.`,
    })
  return variant
}

/** Refuses a subscription whose amount could never be charged. */
async function requireWithinLimits({ tx, store }: Work, row: SubscriptionRow): Promise<void> {
  const { pricesIncludeTax } = await saleTermsOf(tx, store.activeVersion)
  const current = row.price_policy === 'current' ? await catalogPrices(tx, [row]) : null
  if (renewalAmount(row, current?.get(row.id), pricesIncludeTax) !== null) return
  throw invalidBody('quantity', 'must come to at most 100,000,000,000 cents for one charge')
}
