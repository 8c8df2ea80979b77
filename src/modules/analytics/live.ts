import type { Db } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { readCursor, writeCursor } from '../../kernel/cursor.ts'
import { sum } from '../../kernel/money.ts'
import { isUuid } from '../../kernel/schema.ts'
import { addDays, localDay, startOfDay } from '../../kernel/time.ts'
import * as live from './live-queries.ts'
import type { DayRange } from './payment-queries.ts'
import { daysOf, finalUntil, headOf, type ReportRequest } from './period.ts'
import * as queries from './read-queries.ts'
import { hrefOf, scopeOf } from './reports.ts'
import {
  type Outcome,
  PAYMENT_COUNTS,
  type RowPlace,
  SUBSCRIPTION_COUNTS,
  type SubscriptionCount,
} from './schema.ts'
import * as subscriptionCounts from './subscription-queries.ts'

/** Reports about payments, subscriptions and stock, and the rows behind them. */

/** Returns the address of the rows behind one of these reports. */
const rowsHref = (
  path: string,
  { period, currency }: ReportRequest,
  more: Record<string, string> = {},
): string =>
  `/v1/merchant/analytics/${path}/rows?${new URLSearchParams({ ...period, currency, ...more })}`

const rangeOf = (timezone: string, day: string): DayRange => ({
  day,
  from: startOfDay(timezone, day).toISOString(),
  to: startOfDay(timezone, addDays(day, 1)).toISOString(),
})

const timesOf = ({ timezone, period }: ReportRequest): subscriptionCounts.Times => ({
  from: startOfDay(timezone, period.from).toISOString(),
  to: startOfDay(timezone, addDays(period.to, 1)).toISOString(),
})

/** Lists payments by day. All but those of the last minutes are counted already. */
function listPayments(db: Db, { generation, currency, period, timezone }: ReportRequest) {
  const counted = generation?.payments_to ?? null
  const first = counted === null ? period.from : localDay(timezone, new Date(counted))
  const uncounted = daysOf(period).filter((day) => day >= first)
  return live.listPaymentDays(
    db,
    { generation: generation?.generation ?? 0, currency },
    { period, uncounted: uncounted.map((day) => rangeOf(timezone, day)) },
  )
}

const sumAttempts = (rows: readonly live.PaymentDay[], outcome?: Outcome): number =>
  sum(
    rows
      .filter((row) => outcome === undefined || row.outcome === outcome)
      .map(({ attempts }) => attempts),
  )

function countsOf(rows: readonly live.PaymentDay[]) {
  const approved_count = sumAttempts(rows, 'approved')
  const declined_count = sumAttempts(rows, 'declined')
  const decided = approved_count + declined_count
  return {
    attempts_count: sumAttempts(rows),
    approved_count,
    declined_count,
    failed_count: sumAttempts(rows, 'failed'),
    open_count: sumAttempts(rows, 'open'),
    approval_rate_bps: decided === 0 ? null : Math.round((approved_count * 10_000) / decided),
  }
}

const outcomeOfCount = (name: (typeof PAYMENT_COUNTS)[number]): Record<string, string> =>
  name === 'attempts_count' ? {} : { outcome: name.replace('_count', '') }

/** Whether the attempts of a row are in no other row: a recovered renewal is also among the approved ones. */
const isOnce = (
  row: live.PaymentDay,
): row is live.PaymentDay & { outcome: Exclude<Outcome, 'recovered'> } =>
  row.outcome !== 'recovered'

/**
 * Returns the last day whose payments are final: no payment of it or of a day before waits for its outcome.
 * It is read before the payments, so that a payment that gets its outcome in between is not shown as final
 * with its old outcome.
 */
async function paymentsFinalUntil(db: Db, request: ReportRequest): Promise<string | null> {
  const { at } = await live.firstOpenAttempt(db, request.currency)
  const counted = finalUntil({ ...request, calendar: 'booked' })
  if (at === null || counted === null) return counted
  const settled = addDays(localDay(request.timezone, new Date(at)), -1)
  return settled < counted ? settled : counted
}

export async function payments(db: Db, request: ReportRequest) {
  const final_until = await paymentsFinalUntil(db, request)
  const rows = (await listPayments(db, request)).filter(isOnce)
  const counts = countsOf(rows)
  const byReason = Map.groupBy(rows, ({ outcome, reason }) => `${outcome} ${reason}`)
  return {
    ...headOf(request, final_until),
    ...counts,
    figures: Object.fromEntries(
      PAYMENT_COUNTS.map((name) => [
        name,
        {
          value: counts[name],
          drilldown: { href: rowsHref('payments', request, outcomeOfCount(name)) },
        },
      ]),
    ) as Record<(typeof PAYMENT_COUNTS)[number], { value: number; drilldown: { href: string } }>,
    reasons: [...byReason.values()]
      .flatMap((own) => (own[0] === undefined ? [] : [{ first: own[0], own }]))
      .map(({ first: { outcome, reason }, own }) => ({
        outcome,
        reason,
        attempts_count: sumAttempts(own),
        amount_cents: sum(own.map(({ amount_cents }) => amount_cents)),
        drilldown: { href: rowsHref('payments', request, { outcome, reason }) },
      }))
      .sort((a, b) => b.attempts_count - a.attempts_count || (a.reason < b.reason ? -1 : 1)),
    buckets: daysOf(request.period).map((day) => ({
      day,
      ...countsOf(rows.filter((row) => row.day === day)),
      drilldown: { href: rowsHref('payments', { ...request, period: { from: day, to: day } }) },
    })),
  }
}

interface PageRequest {
  after: string | undefined
  limit: number
}

/**
 * Lists the attempts behind a count. How many each day has is known, so that no more days are read than the
 * page needs.
 */
export async function paymentRows(
  db: Db,
  request: ReportRequest,
  filter: { outcome: Outcome | null; reason: string | null },
  { after, limit }: PageRequest,
) {
  const { outcome, reason } = filter
  const begins = readPlace(after)
  const counted = (await listPayments(db, request)).filter(
    (row) =>
      (outcome === null ? row.outcome !== 'recovered' : row.outcome === outcome) &&
      (reason === null || row.reason === reason),
  )
  const found = await live.listAttempts(
    db,
    { currency: request.currency, outcome, reason },
    { days: daysFor(request, counted, begins, limit), after: begins, limit: limit + 1 },
  )
  return timedPage(found, limit, ({ attempt_id }) => attempt_id)
}

/** Chooses the days to read: the day of the cursor, and the following days until they have a page and one row more. */
function daysFor(
  { timezone }: ReportRequest,
  counted: readonly live.PaymentDay[],
  begins: RowPlace | null,
  limit: number,
): DayRange[] {
  const first = begins === null ? '' : localDay(timezone, new Date(begins.at_us / 1_000))
  const days: DayRange[] = []
  let rows = 0
  for (const day of [...new Set(counted.map((row) => row.day))].toSorted()) {
    if (day < first) continue
    if (rows > limit) break
    days.push(rangeOf(timezone, day))
    if (day > first) rows += sumAttempts(counted.filter((row) => row.day === day))
  }
  return days
}

function readPlace(after: string | undefined): RowPlace | null {
  if (after === undefined) return null
  const [at_us, id] = readCursor(after) ?? []
  if (!Number.isSafeInteger(at_us) || typeof id !== 'string' || !isUuid(id)) {
    throw new ApiError('invalid_query')
  }
  return { at_us: at_us as number, id }
}

/** Cuts a page from rows that are listed by their time, of which one more was read than the page may have. */
function timedPage<T extends { at_us: number }>(
  found: readonly T[],
  limit: number,
  idOf: (row: T) => string,
) {
  const rows = found.slice(0, limit)
  const last = rows.at(-1)
  const hasMore = found.length > limit && last !== undefined
  return {
    rows: rows.map(({ at_us: _, ...row }) => row),
    ...(hasMore && { next_after: writeCursor([last.at_us, idOf(last)]) }),
  }
}

export async function subscriptions(db: Db, request: ReportRequest) {
  const times = timesOf(request)
  const final_until = await paymentsFinalUntil(db, request)
  const [{ running_before, ...sums }, paid] = await Promise.all([
    subscriptionCounts.readSums(db, request.currency, times),
    listPayments(db, request),
  ])
  const counts = { ...sums, recovered_count: sumAttempts(paid, 'recovered') }
  return {
    ...headOf(request, final_until),
    ...counts,
    churn_bps:
      running_before === 0 ? null : Math.round((counts.churned_count * 10_000) / running_before),
    figures: Object.fromEntries(
      SUBSCRIPTION_COUNTS.map((name) => [
        name,
        {
          value: counts[name],
          drilldown: { href: rowsHref('subscriptions', request, { figure: name }) },
        },
      ]),
    ) as Record<SubscriptionCount, { value: number; drilldown: { href: string } }>,
  }
}

export async function subscriptionRows(
  db: Db,
  request: ReportRequest,
  figure: SubscriptionCount,
  page: PageRequest,
) {
  if (figure === 'recovered_count') return recoveredRows(db, request, page)
  const { limit } = page
  const chosen = { figure, currency: request.currency, times: timesOf(request) }
  const found = await subscriptionCounts.listRows(db, chosen, {
    after: readPlace(page.after),
    limit: limit + 1,
  })
  return timedPage(found, limit, ({ id }) => id)
}

/** The renewals that were approved after a decline. */
async function recoveredRows(db: Db, request: ReportRequest, page: PageRequest) {
  const recovered = { outcome: 'recovered', reason: null } as const
  const { rows, ...rest } = await paymentRows(db, request, recovered, page)
  return {
    rows: rows.map(({ attempt_id: id, at, amount_cents }) => ({
      id,
      status: 'approved',
      at,
      amount_cents,
    })),
    ...rest,
  }
}

function readId(after: string | undefined): string | null {
  if (after === undefined) return null
  const [id] = readCursor(after) ?? []
  if (typeof id !== 'string' || !isUuid(id)) throw new ApiError('invalid_query')
  return id
}

function pageOf<T>(found: readonly T[], limit: number, keyOf: (row: T) => string) {
  const rows = found.slice(0, limit)
  const last = rows.at(-1)
  const hasMore = found.length > limit && last !== undefined
  return { rows, ...(hasMore && { next_after: writeCursor([keyOf(last)]) }) }
}

/** Variants of one page. Each has a sum for every day of the period. */
const STOCK_PAGE = 25

/** Reports the tracked variants: what was sold of each, what is left and what it cost. */
export async function inventory(db: Db, request: ReportRequest, after: string | undefined) {
  const found = await queries.listStocked(db, readId(after), STOCK_PAGE + 1)
  const { rows, ...page } = pageOf(found, STOCK_PAGE, ({ variant_id }) => variant_id)
  const keys = rows.map(({ variant_id }) => variant_id)
  const scope = scopeOf(request, { dimension: 'variant', keys })
  const sold = new Map(
    (await queries.listVariantSums(db, scope, request.period)).map((each) => [each.key, each]),
  )
  const days = daysOf(request.period).length
  return {
    ...headOf(request),
    variants: rows.map(({ cost_units, cost_value_cents, ...variant }) => {
      const { units_count = 0, net_cents = 0 } = sold.get(variant.variant_id) ?? {}
      const cost = costOf(units_count, cost_units, cost_value_cents)
      const of = { group_by: 'variant', key: variant.variant_id }
      return {
        ...variant,
        units_count,
        net_cents,
        ...cost,
        ...ratesOf(variant.on_hand, units_count, days),
        margin_bps:
          cost.cost_cents === null || net_cents <= 0
            ? null
            : Math.round(((net_cents - cost.cost_cents) * 10_000) / net_cents),
        drilldown: {
          href: hrefOf(request, request.period, { of }),
          levels_href: `/v1/merchant/inventory/${variant.variant_id}`,
        },
      }
    }),
    ...page,
  }
}

function costOf(sold: number, units: number | null, value_cents: number | null) {
  if (units === null || value_cents === null) return { unit_cost_cents: null, cost_cents: null }
  return {
    unit_cost_cents: Math.round(value_cents / units),
    cost_cents: Math.round((value_cents * sold) / units),
  }
}

/** Computes how fast stock sells. Negative stock, which was sold before it arrived, counts as no stock left. */
function ratesOf(on_hand: number, sold: number, days: number) {
  const left = Math.max(0, on_hand)
  const all = Math.max(0, sold) + left
  return {
    sell_through_bps: all === 0 ? null : Math.round((Math.max(0, sold) * 10_000) / all),
    days_of_cover: sold <= 0 ? null : Math.floor((left * days) / sold),
  }
}
