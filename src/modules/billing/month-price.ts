import { exactCents, sum } from '../../kernel/money.ts'
import { DAY_MS } from '../../kernel/time.ts'
import { dayOf, daysBefore, daysIn, startOf } from './months.ts'
import {
  METERS,
  type Meter,
  type MeterPrice,
  type Plan,
  type StorePlan,
  type Tier,
} from './plan-schema.ts'
import type { Month, PricedLine } from './schema.ts'

/** What a month costs, as pure functions that the invoice, the draft and the preview share. */

/** The used quantity of a meter, and the first and last position that it was counted from. */
export interface MeteredQuantity {
  quantity: number
  /** Null: nothing was counted. */
  from_position: number | null
  to_position: number | null
}

export type MeteredUsage = Readonly<Record<Meter, MeteredQuantity>>

/** A plan and the days of a month on which a store had it: `to` is the first day after them. */
export interface Segment {
  plan: Plan
  from: number
  to: number
}

/** The units of a quantity that fall into a tier, beyond the included ones. */
function unitsIn({ up_to }: Tier, before: number, { quantity, included }: Counted): number {
  const from = Math.max(before, included)
  const to = Math.min(up_to ?? quantity, quantity)
  return Math.max(0, to - from)
}

interface Counted {
  quantity: number
  included: number
}

/**
 * The price of a quantity: each unit beyond the included ones has the price of its tier. The exact sum over
 * all tiers is rounded once, half a cent up, so that no order of tiers and no split into tiers of one price
 * changes it.
 */
export function priceOf(quantity: number, { included, tiers }: MeterPrice): number {
  let [cents, parts] = [0n, 1n]
  let before = 0
  for (const tier of tiers) {
    const units = unitsIn(tier, before, { quantity, included })
    const per = BigInt(tier.per)
    cents = cents * per + BigInt(units) * BigInt(tier.price_cents) * parts
    parts *= per
    before = tier.up_to ?? before
  }
  return exactCents((2n * cents + parts) / (2n * parts))
}

/**
 * The part of a monthly amount for some of its days. Both ends are rounded, and not the difference: so the parts of a
 * month add up to the amount, wherever it is divided.
 */
export function shareOfDays(cents: number, { from, to, days }: Days): number {
  const until = (day: number) =>
    (2n * BigInt(cents) * BigInt(day) + BigInt(days)) / (2n * BigInt(days))
  return Number(until(to) - until(from))
}

interface Days {
  from: number
  to: number
  days: number
}

/**
 * Divides a month among the plans of a store, by their first days. Of two plans that begin on one day the later one
 * counts. Days before the first plan have the `otherwise` plan.
 */
export function cutMonth(
  month: Month,
  plans: readonly StorePlan[],
  otherwise: Plan,
): readonly Segment[] {
  const days = daysIn(month)
  const starts = plans.map(({ from_day, plan }) => ({ plan, at: daysBefore(month, from_day) }))
  const begun = starts.filter(({ at }) => at <= 0).at(-1)?.plan ?? otherwise
  const changes = [{ plan: begun, at: 0 }, ...starts.filter(({ at }) => at > 0 && at < days)]
  return changes
    .map(({ plan, at }, i) => ({ plan, from: at, to: changes[i + 1]?.at ?? days }))
    .filter(({ from, to }) => to > from)
}

/** The plan that prices the usage of a month: that of its last day. */
const lastPlan = (segments: readonly Segment[]): Plan | undefined => segments.at(-1)?.plan

const dayAt = (month: Month, days: number): string => dayOf(startOf(month) + days * DAY_MS)

function basePart(month: Month, { plan, from, to }: Segment): PricedLine[] {
  if (plan.base_cents === 0) return []
  return [
    {
      kind: 'plan',
      description: plan.name,
      amount_cents: shareOfDays(plan.base_cents, { from, to, days: daysIn(month) }),
      plan_key: plan.plan_key,
      plan_version: plan.version,
      from_day: dayAt(month, from),
      to_day: dayAt(month, to - 1),
      meter: null,
      quantity: null,
      price: null,
      from_position: null,
      to_position: null,
    },
  ]
}

export const METER_NAMES: Readonly<Record<Meter, string>> = {
  orders: 'Orders',
  gross_volume: 'Gross volume',
  webhook_deliveries: 'Webhook deliveries',
  media_bytes: 'Media storage',
  api_calls: 'API calls',
}

/** The lines of a month: the base of each plan by its days, and the usage by the plan of the last day. */
export function linesOf(
  month: Month,
  segments: readonly Segment[],
  usage: MeteredUsage,
): PricedLine[] {
  const plan = lastPlan(segments)
  const metered = METERS.flatMap((meter): PricedLine[] => {
    const price = plan?.meters[meter]
    if (plan === undefined || price === undefined) return []
    // If more was refunded than sold, the store owes nothing, and gets nothing.
    const quantity = Math.max(0, usage[meter].quantity)
    return [
      {
        kind: 'usage',
        description: METER_NAMES[meter],
        amount_cents: priceOf(quantity, price),
        plan_key: plan.plan_key,
        plan_version: plan.version,
        from_day: null,
        to_day: null,
        meter,
        quantity,
        price,
        from_position: usage[meter].from_position,
        to_position: usage[meter].to_position,
      },
    ]
  })
  return [...segments.flatMap((segment) => basePart(month, segment)), ...metered]
}

export const totalOf = (lines: readonly { amount_cents: number }[]): number =>
  sum(lines.map(({ amount_cents }) => amount_cents))

/** Whether a plan can ever cost something. */
export const isFree = ({ base_cents, meters }: Pick<Plan, 'base_cents' | 'meters'>): boolean =>
  base_cents === 0 &&
  METERS.every(
    (meter) => meters[meter]?.tiers.every(({ price_cents }) => price_cents === 0) ?? true,
  )

/** Projects a quantity to a whole month, as if the rest of the month were like the part that is over. */
export function projected(quantity: number, passedMs: number, allMs: number): number {
  const [all, passed] = [BigInt(Math.round(allMs)), BigInt(Math.round(passedMs))]
  return exactCents((2n * BigInt(quantity) * all + passed) / (2n * passed))
}
