import type { Db } from '../../db/database.ts'
import { sum } from '../../kernel/money.ts'
import { isUuid } from '../../kernel/schema.ts'
import * as affiliates from '../affiliates/service.ts'
import {
  FIGURE_NAMES,
  type Figure,
  type Figures,
  figuresOf,
  MEASURES,
  type Measures,
  NOTHING,
} from './definition-schema.ts'
import { bucketsOf, headOf, periodBefore, type ReportRequest } from './period.ts'
import * as queries from './read-queries.ts'
import type { Dimension, Grouping, Interval, Period } from './schema.ts'

/** Reports over a period, from the counted days. */

const ROWS_URL = '/v1/merchant/analytics/rows'

/** The group that a drill-down is restricted to. */
export interface Restriction {
  group_by: string
  key: string
}

/** Returns the address of the rows behind a figure, or of the list without a chosen figure. */
export function hrefOf(
  { calendar, currency }: Pick<ReportRequest, 'calendar' | 'currency'>,
  { from, to }: Period,
  { figure, of }: { figure?: Figure; of?: Restriction | undefined } = {},
): string {
  const query = new URLSearchParams({ from, to, calendar, currency, ...of })
  if (figure !== undefined) query.set('figure', figure)
  return `${ROWS_URL}?${query}`
}

export const addMeasures = (rows: readonly Measures[]): Measures =>
  Object.fromEntries(MEASURES.map((name) => [name, sum(rows.map((row) => row[name]))])) as Measures

const subtractFigures = (from: Figures, less: readonly Figures[]): Figures =>
  Object.fromEntries(
    FIGURE_NAMES.map((name) => [name, sum([from[name], ...less.map((each) => -each[name])])]),
  ) as Figures

/** Makes the value of each figure, with the address of its rows and the value of the previous period. */
export const figureValues = (
  request: ReportRequest,
  figures: Figures,
  { previous, of }: { previous?: Figures | undefined; of?: Restriction | undefined } = {},
) =>
  Object.fromEntries(
    FIGURE_NAMES.map((figure) => [
      figure,
      {
        value: figures[figure],
        ...(previous !== undefined && { previous: previous[figure] }),
        drilldown: { href: hrefOf(request, request.period, { figure, of }) },
      },
    ]),
  ) as Record<Figure, { value: number; previous?: number; drilldown: { href: string } }>

export const ALL = { dimension: 'all' as Dimension, keys: null }

export const scopeOf = (
  { generation, calendar, currency }: ReportRequest,
  part: Pick<queries.Scope, 'dimension' | 'keys'>,
): queries.Scope => ({ generation: generation?.generation ?? 0, calendar, currency, ...part })

/** Makes the head of an answer that comes from the ledger. */
export function ledgerHead(request: ReportRequest, buckets: readonly queries.BucketRow[]) {
  const restated = buckets.flatMap(({ restated_from }) => restated_from ?? [])
  const times = buckets.flatMap(({ restated_at }) => restated_at ?? [])
  return {
    ...headOf(request),
    calendar: request.calendar,
    sealed_to: request.generation?.sequence ?? 0,
    restated_from: restated.toSorted()[0] ?? null,
    restated_at: times.toSorted().at(-1) ?? null,
  }
}

const averageOf = ({ gross_cents, discount_cents, orders_count }: Figures): number | null =>
  orders_count <= 0 ? null : Math.round((gross_cents - discount_cents) / orders_count)

interface ReportOptions {
  interval: Interval
  compare: boolean
  /** The group that the report is about. Absent: everything. */
  part?: Pick<queries.Scope, 'dimension' | 'keys'>
  of?: Restriction
}

/** The figures of a period, as totals and by interval. */
export async function report(db: Db, request: ReportRequest, options: ReportOptions) {
  const { interval, compare, part = ALL, of } = options
  const scope = scopeOf(request, part)
  const before = periodBefore(request.period)
  const [rows, past] = await Promise.all([
    queries.listBuckets(db, scope, request.period, interval),
    compare ? queries.listBuckets(db, scope, before, 'month') : null,
  ])
  const figures = figuresOf(addMeasures(rows))
  const previous = past === null ? undefined : figuresOf(addMeasures(past))
  const found = new Map(rows.map((row) => [row.start, row]))
  return {
    ...ledgerHead(request, rows),
    interval,
    ...figures,
    average_order_cents: averageOf(figures),
    figures: figureValues(request, figures, { previous, of }),
    ...(previous !== undefined && { previous: { ...before, ...previous } }),
    buckets: bucketsOf(request.period, interval).map(({ start, from, to }) => ({
      from,
      to,
      ...figuresOf(found.get(start) ?? NOTHING),
      drilldown: { href: hrefOf(request, { from, to }, { of }) },
    })),
  }
}

/** Groups of one answer: more than a person reads. The others are added up in `rest`. */
const GROUPS_MAX = 100

/** Products of a collection that a report about it counts. */
const PRODUCTS_MAX = 10_000

const isOfCollection = (group_by: string) => group_by === 'collection'

/**
 * Returns the dimension and keys under which the days of a group are stored. Collections have no days of their own, but
 * those of their products.
 */
export async function partOf(
  db: Db,
  group_by: string,
  key: string,
): Promise<Pick<queries.Scope, 'dimension' | 'keys'>> {
  if (!isOfCollection(group_by)) return { dimension: group_by as Dimension, keys: [key] }
  const products = isUuid(key) ? await queries.listProductsOf(db, key, PRODUCTS_MAX) : []
  return { dimension: 'product', keys: products.map((each) => each.key) }
}

/** The groups of a period, those with the highest net sales first, and the rest that is in no group. */
export async function groupsOf(
  db: Db,
  request: ReportRequest,
  { group_by, key, total }: { group_by: Grouping | 'place'; key?: string; total: Figures },
) {
  const dimension = isOfCollection(group_by) ? 'product' : group_by
  const list = isOfCollection(group_by) ? queries.listCollections : queries.listGroups
  const part = key === undefined ? null : await partOf(db, group_by, key)
  const keys = part?.keys ?? null
  const scope = scopeOf(request, { dimension: dimension as Dimension, keys })
  const rows = (await list(db, scope, request.period, GROUPS_MAX)).filter(
    (row) => key === undefined || row.key === key,
  )
  const labels = await labelsOf(db, group_by, rows)
  const groups = rows.map(({ key: of, ...measures }) => ({
    key: of,
    label: labels.get(of) ?? null,
    ...figuresOf(measures),
    drilldown: { href: hrefOf(request, request.period, { of: { group_by, key: of } }) },
  }))
  return { groups, rest: subtractFigures(total, groups) }
}

async function labelsOf(
  db: Db,
  group_by: Grouping | 'place',
  rows: readonly queries.GroupRow[],
): Promise<Map<string, string>> {
  const keys = rows.map(({ key }) => key).filter((key) => key !== '')
  if (group_by === 'affiliate') {
    const names = await affiliates.namesOf(db, keys)
    return new Map(keys.map((key) => [key, names.get(key.toLowerCase()) ?? key]))
  }
  if (group_by !== 'product' && group_by !== 'variant' && group_by !== 'collection') {
    return new Map(keys.map((key) => [key, key]))
  }
  const found = await queries.listLabels(db, group_by, keys)
  return new Map(found.map(({ key, label }) => [key, label]))
}

/** Sales by interval, and by group if the request names a grouping. With `key` they are those of one group. */
export async function sales(
  db: Db,
  request: ReportRequest,
  options: { interval: Interval; compare: boolean; group_by?: Grouping; key?: string },
) {
  const { interval, compare, group_by, key } = options
  if (group_by === undefined) return report(db, request, { interval, compare })
  const one =
    key === undefined ? {} : { part: await partOf(db, group_by, key), of: { group_by, key } }
  const whole = await report(db, request, { interval, compare, ...one })
  const total = figuresFrom(whole)
  const grouped = await groupsOf(db, request, {
    group_by,
    total,
    ...(key !== undefined && { key }),
  })
  return { ...whole, group_by, ...grouped }
}

const figuresFrom = (from: Figures): Figures =>
  Object.fromEntries(FIGURE_NAMES.map((name) => [name, from[name]])) as Figures

/** Tax by the country and state that orders were shipped to. */
export async function tax(db: Db, request: ReportRequest) {
  const rows = await queries.listBuckets(db, scopeOf(request, ALL), request.period, 'month')
  const figures = figuresOf(addMeasures(rows))
  return {
    ...ledgerHead(request, rows),
    ...figures,
    figures: figureValues(request, figures),
    ...(await groupsOf(db, request, { group_by: 'place', total: figures })),
  }
}

const monthOf = (day: string): string => day.slice(0, 7)

/** The days of some months, YYYY-MM. */
function daysOfMonths(first: string, last: string): Period {
  const [year = 0, month = 0] = last.split('-').map(Number)
  const end = new Date(Date.UTC(year, month, 0))
  return { from: `${first}-01`, to: end.toISOString().slice(0, 10) }
}

type CohortCell = Awaited<ReturnType<typeof queries.listCohorts>>[number]

/** The customers who were new in a month, with everything that they bought until now. */
function cohortOf(request: ReportRequest, month: string, cells: readonly CohortCell[]) {
  const all = figuresOf(addMeasures(cells))
  const rowsOf = (period: Period) => ({
    href: hrefOf(request, period, { of: { group_by: 'cohort', key: month } }),
  })
  return {
    month,
    ...all,
    ...loyaltyOf(all),
    months: cells.map((cell) => {
      const { active_customers_count, orders_count, net_cents } = figuresOf(cell)
      const drilldown = rowsOf(daysOfMonths(cell.month, cell.month))
      return { month: cell.month, active_customers_count, orders_count, net_cents, drilldown }
    }),
    drilldown: rowsOf(daysOfMonths(month, cells.at(-1)?.month ?? month)),
  }
}

/** New and returning customers, and the later orders of the customers who were new in the months of the period. */
export async function customers(db: Db, request: ReportRequest) {
  const { period } = request
  const [rows, kinds, cells] = await Promise.all([
    queries.listBuckets(db, scopeOf(request, ALL), period, 'month'),
    queries.listGroups(db, scopeOf(request, { dimension: 'customer', keys: null }), period, 2),
    queries.listCohorts(db, scopeOf(request, ALL), {
      from: monthOf(period.from),
      to: monthOf(period.to),
    }),
  ])
  const figures = figuresOf(addMeasures(rows))
  const kindOf = (key: 'new' | 'returning') => ({
    ...figuresOf(kinds.find((each) => each.key === key) ?? NOTHING),
    drilldown: { href: hrefOf(request, period, { of: { group_by: 'customer', key } }) },
  })
  return {
    ...ledgerHead(request, rows),
    ...figures,
    ...loyaltyOf(figuresOf(addMeasures(cells))),
    figures: figureValues(request, figures),
    new: kindOf('new'),
    returning: kindOf('returning'),
    cohorts: [...Map.groupBy(cells, ({ cohort }) => cohort)].map(([month, own]) =>
      cohortOf(request, month, own),
    ),
  }
}

/** Computes the loyalty of customers from all their orders until now. */
function loyaltyOf({ new_customers_count, repeat_customers_count, net_cents }: Figures) {
  const isNone = new_customers_count <= 0
  return {
    repeat_rate_bps: isNone
      ? null
      : Math.round((repeat_customers_count * 10_000) / new_customers_count),
    lifetime_value_cents: isNone ? null : Math.round(net_cents / new_customers_count),
  }
}
