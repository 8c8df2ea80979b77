import type { Db } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { readCursor, writeCursor } from '../../kernel/cursor.ts'
import { isUuid } from '../../kernel/schema.ts'
import { isDay, localDay } from '../../kernel/time.ts'
import { type Limits, requireWithin } from '../../platform/rate-limits.ts'
import * as stores from '../stores/service.ts'
import * as queries from './funnel-queries.ts'
import { daysOf, headOf, type ReportRequest } from './period.ts'
import { listBuckets } from './read-queries.ts'
import { ALL, hrefOf, scopeOf } from './reports.ts'
import { FUNNEL_TYPES, type FunnelEvents, type FunnelType, type Period } from './schema.ts'

/** Counts the steps of shoppers before they buy, by day. No stored row says which person it was. */

/** Calls of one store in a minute: the limit of a storefront that sends a call for each page, ten pages a second. */
const PER_MINUTE = 600

const SHARDS = 8

export interface FunnelDeps {
  limits: Pick<Limits, 'velocity'>
}

export async function count(
  { limits }: FunnelDeps,
  db: Db,
  { events }: FunnelEvents,
): Promise<{ accepted: number }> {
  await requireWithin(limits, `funnel:${db.tenant}`, PER_MINUTE)
  const { time_zone } = await stores.get(db)
  const same = Map.groupBy(
    events,
    ({ type, product_id = queries.NO_PRODUCT }) => `${type} ${product_id.toLowerCase()}`,
  )
  const counts = [...same.values()].flatMap((own) =>
    own[0] === undefined
      ? []
      : [
          {
            type: own[0].type,
            product_id: own[0].product_id ?? queries.NO_PRODUCT,
            count: own.length,
          },
        ],
  )
  const day = localDay(time_zone, new Date(db.clock.now()))
  const shard = Math.floor(Math.random() * SHARDS)
  await queries.addToFunnel(db, day, shard, counts)
  return { accepted: events.length }
}

/** Returns the address of the rows behind a step, or of the list without a chosen step. */
const rowsHref = ({ from, to }: Period, type?: FunnelType): string =>
  `/v1/merchant/analytics/funnel/rows?${new URLSearchParams({ from, to, ...(type !== undefined && { type }) })}`

export async function report(db: Db, request: ReportRequest) {
  const { period } = request
  const booked: ReportRequest = { ...request, calendar: 'booked' }
  const [rows, sold] = await Promise.all([
    queries.listFunnel(db, period.from, period.to),
    listBuckets(db, scopeOf(booked, ALL), period, 'day'),
  ])
  const countOf = (type: FunnelType, day?: string) =>
    rows
      .filter((row) => row.type === type && (day ?? row.day) === row.day)
      .reduce((sum, { count: each }) => sum + each, 0)
  const countsOf = (day?: string) => ({
    ...(Object.fromEntries(FUNNEL_TYPES.map((type) => [type, countOf(type, day)])) as Record<
      FunnelType,
      number
    >),
    paid: sold
      .filter(({ start }) => (day ?? start) === start)
      .reduce((sum, { orders_count }) => sum + orders_count, 0),
  })
  const counts = countsOf()
  const figures = Object.fromEntries(
    FUNNEL_TYPES.map((type) => [
      type,
      { value: counts[type], drilldown: { href: rowsHref(period, type) } },
    ]),
  ) as Record<FunnelType, { value: number; drilldown: { href: string } }>
  const paidHref = (of: Period) => hrefOf(booked, of, { figure: 'orders_count' })
  return {
    ...headOf(booked),
    ...counts,
    figures: { ...figures, paid: { value: counts.paid, drilldown: { href: paidHref(period) } } },
    buckets: daysOf(period).map((day) => {
      const one = { from: day, to: day }
      const drilldown = { href: rowsHref(one), paid_href: paidHref(one) }
      return { day, ...countsOf(day), drilldown }
    }),
  }
}

export async function listRows(
  db: Db,
  { period }: ReportRequest,
  type: FunnelType,
  { after, limit }: { after: string | undefined; limit: number },
) {
  const page = { ...period, after: readAfter(after), limit: limit + 1 }
  const found = await queries.listFunnelRows(db, type, page)
  const rows = found.slice(0, limit)
  const last = rows.at(-1)
  return {
    rows: rows.map((row) => ({ ...row, type })),
    ...(found.length > limit &&
      last !== undefined && {
        next_after: writeCursor([last.day, last.product_id ?? queries.NO_PRODUCT]),
      }),
  }
}

function readAfter(after: string | undefined): queries.FunnelKey | null {
  if (after === undefined) return null
  const [day, product_id] = readCursor(after) ?? []
  const isKey = typeof day === 'string' && typeof product_id === 'string'
  if (!isKey || !isDay(day) || !isUuid(product_id)) throw new ApiError('invalid_query')
  return { day, product_id }
}
