import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Static, type TObject, type TSchema, Type } from 'typebox'
import type { Db } from '../../db/database.ts'
import { forHeavyRead } from '../../db/list.ts'
import type { App, Routes } from '../../http/route.ts'
import { clamp, LIST, PAGE_QUERY } from '../../kernel/page.ts'
import { readOneOf, readText } from '../../kernel/query.ts'
import { Currency, Params } from '../../kernel/schema.ts'
import { type TableRow, tableOf, withRest } from './csv.ts'
import { FIGURE_NAMES } from './definition-schema.ts'
import * as funnel from './funnel.ts'
import * as live from './live.ts'
import { COHORT_DAYS_MAX, readInterval, readReportRequest } from './period.ts'
import * as reports from './reports.ts'
import { isFigure, listRows, ROW_GROUPINGS } from './rows.ts'
import {
  AttemptRow,
  Calendar,
  CustomerReport,
  Day,
  FUNNEL_TYPES,
  FunnelEvents,
  FunnelReport,
  FunnelRow,
  GROUPINGS,
  INTERVALS,
  OUTCOMES,
  PaymentReport,
  RowPage,
  Sales,
  StockReport,
  SUBSCRIPTION_COUNTS,
  SubscriptionReport,
  SubscriptionRow,
  Summary,
  TaxReport,
} from './schema.ts'

const scope = 'manage:own_analytics' as const
const tags = ['merchant-ops']
const url = '/v1/merchant/analytics'

const PERIOD = {
  from: Type.String({ format: 'date', description: 'The first day. Default: 30 days with `to`.' }),
  to: Type.String({ format: 'date', description: 'The last day. Default: today.' }),
  currency: Type.String({
    ...Currency,
    description: 'Counts only orders in this currency. Default: the currency of the store.',
  }),
}
const CALENDAR = { ...PERIOD, calendar: Calendar }
const COMPARED = {
  ...CALENDAR,
  compare: Type.Enum(['previous'], {
    description: '`previous`: also the period of the same length before.',
  }),
  interval: Type.Enum([...INTERVALS], { default: 'day' }),
}

const PAGE = { limit: PAGE_QUERY.limit, after: PAGE_QUERY.after }

const CSV_NOTE = 'As CSV by `Accept: text/csv`, or with `.csv` after the path.'

const Csv = Type.String()

/**
 * The schema of an answer in two forms, JSON and CSV. The cast is needed because the compiler cannot follow
 * an unknown shape into them.
 */
const answerOf = (shape: TObject): TSchema =>
  ({
    content: { 'application/json': { schema: shape }, 'text/csv': { schema: Csv } },
  }) as unknown as TSchema

interface Report<S extends TObject> {
  path: string
  operationId: string
  summary: string
  query: Record<string, TSchema>
  shape: S
  read: (db: Db, query: unknown) => Promise<Static<S>>
  /** The rows of the table. */
  table: (answer: Static<S>) => readonly TableRow[]
}

/** Reads the rows of a report page by page, each page when it is needed. The first page was read before. */
async function* listTable<S extends TObject>(
  { read, table }: Report<S>,
  db: Db,
  { query, first }: { query: unknown; first: Static<S> },
): AsyncGenerator<readonly TableRow[]> {
  // All pages have the period of the first one: midnight may come in between.
  const { from, to } = first as { from?: string; to?: string }
  let page = first
  for (;;) {
    yield table(page)
    const { next_after: after } = page as { next_after?: string }
    if (after === undefined) return
    page = await read(db, { ...(query as object), from, to, after })
  }
}

/** Registers a report: as JSON, and as a table. */
function addReport<S extends TObject>(app: App, report: Report<S>): void {
  const { path, operationId, summary, query, shape, read } = report
  const config = { scope, query }
  /** Sends a report as a table. The first page is read before, so that a refusal comes before the first line. */
  const sendTable = async (reply: FastifyReply, db: Db, given: unknown) => {
    const first = await read(db, given)
    return reply
      .header('content-type', 'text/csv; charset=utf-8')
      .header('content-disposition', `attachment; filename="${path}.csv"`)
      .header('cache-control', 'no-store')
      .send(Readable.from(tableOf(listTable(report, db, { query: given, first }))) as never)
  }

  app.get(
    `${url}/${path}`,
    {
      config,
      schema: {
        operationId,
        tags,
        summary,
        description: CSV_NOTE,
        response: { 200: answerOf(shape) },
      },
    },
    async ({ db, query: given, headers }, reply) => {
      reply.header('vary', 'accept')
      return wantsTable(headers)
        ? sendTable(reply, forHeavyRead(db), given)
        : reply.send((await read(forHeavyRead(db), given)) as never)
    },
  )

  app.get(
    `${url}/${path}.csv`,
    {
      config,
      schema: {
        operationId: operationId.replace(/^read/, 'export'),
        tags,
        summary: summary.replace(/^Read /, 'Export as CSV '),
        response: { 200: { content: { 'text/csv': { schema: Csv } } } },
      },
    },
    ({ db, query: given }, reply) => sendTable(reply, forHeavyRead(db), given),
  )
}

/** Whether a request prefers a table: `text/csv` is first in its `accept`. */
const wantsTable = ({ accept }: FastifyRequest['headers']): boolean =>
  accept?.split(',')[0]?.trim().toLowerCase().startsWith('text/csv') ?? false

const isCompared = (query: unknown) => readOneOf(query, 'compare', ['previous']) !== undefined

export const merchantRoutes: Routes = async (app) => {
  salesReports(app)
  otherReports(app)
  await rowRoutes(app)
}

function salesReports(app: App): void {
  addReport(app, {
    path: 'summary',
    operationId: 'readAnalyticsSummary',
    summary: 'Read the sales of a period, in all and by day, week or month.',
    query: COMPARED,
    shape: Summary,
    read: async (db, query) =>
      reports.report(db, await readReportRequest(db, query), {
        interval: readInterval(query),
        compare: isCompared(query),
      }),
    table: ({ buckets }) => buckets,
  })
  addReport(app, {
    path: 'sales',
    operationId: 'readAnalyticsSales',
    summary:
      'Read the sales of a period by product, variant, collection, coupon, code of an affiliate or source.',
    query: {
      ...COMPARED,
      group_by: Type.Enum([...GROUPINGS], {
        description:
          '`affiliate`: by the code that orders are credited to. One with several codes has a group for each, of the same label.',
      }),
      key: Type.String({ description: 'Shows only the group with this `key`.' }),
    },
    shape: Sales,
    read: async (db, query) => {
      const group_by = readOneOf(query, 'group_by', GROUPINGS)
      const key = readKey(query)
      return reports.sales(db, await readReportRequest(db, query), {
        interval: readInterval(query),
        compare: isCompared(query),
        ...(group_by !== undefined && { group_by }),
        ...(key !== undefined && { key }),
      })
    },
    table: ({ groups, rest, buckets }) =>
      groups === undefined || rest === undefined ? buckets : withRest(groups, rest),
  })
  addReport(app, {
    path: 'customers',
    operationId: 'readAnalyticsCustomers',
    summary: 'Read new and returning customers, with cohorts by the month of the first order.',
    query: CALENDAR,
    shape: CustomerReport,
    read: async (db, query) => reports.customers(db, await readReportRequest(db, query)),
    table: ({ cohorts }) => cohorts,
  })
  addReport(app, {
    path: 'tax',
    operationId: 'readAnalyticsTax',
    summary: 'Read tax and sales by the country and state of the address.',
    query: CALENDAR,
    shape: TaxReport,
    read: async (db, query) => reports.tax(db, await readReportRequest(db, query)),
    table: ({ groups, rest }) => withRest(groups, rest),
  })
}

/** Reads the key of a group. It may be empty: the group of orders without a coupon, product or place. */
function readKey(query: unknown): string | undefined {
  const { key } = query as { key?: unknown }
  const text = Array.isArray(key) ? key[0] : key
  return typeof text === 'string' ? text.slice(0, 300) : undefined
}

function otherReports(app: App): void {
  addReport(app, {
    path: 'payments',
    operationId: 'readAnalyticsPayments',
    summary: 'Read how many payments were approved, and why others were not.',
    query: PERIOD,
    shape: PaymentReport,
    read: async (db, query) => live.payments(db, await readReportRequest(db, query)),
    table: ({ reasons }) => reasons,
  })
  addReport(app, {
    path: 'subscriptions',
    operationId: 'readAnalyticsSubscriptions',
    summary: 'Read what subscriptions bring in, and how many began and ended.',
    query: PERIOD,
    shape: SubscriptionReport,
    read: async (db, query) => live.subscriptions(db, await readReportRequest(db, query)),
    table: (answer) => [answer],
  })
  addReport(app, {
    path: 'inventory',
    operationId: 'readAnalyticsInventory',
    summary:
      'Read how well tracked variants sold, how long the rest lasts, and what they earned. A page has 25 variants, the CSV all of them.',
    query: { ...PERIOD, after: PAGE_QUERY.after },
    shape: StockReport,
    read: async (db, query) =>
      live.inventory(db, await readReportRequest(db, query), readText(query, 'after')),
    table: ({ variants }) => variants,
  })
  addReport(app, {
    path: 'funnel',
    operationId: 'readAnalyticsFunnel',
    summary: 'Read the funnel: views, searches, carts, begun checkouts and paid orders by day.',
    query: PERIOD,
    shape: FunnelReport,
    read: async (db, query) => funnel.report(db, await readReportRequest(db, query)),
    table: ({ buckets }) => buckets,
  })
}

const next_after = Type.Optional(
  Type.String({ description: 'The `after` of the next page. Absent on the last page.' }),
)

const readRowPage = (query: unknown) => ({
  after: readText(query, 'after'),
  limit: clamp((query as { limit?: unknown }).limit, {
    min: 1,
    max: LIST.limitMax,
    otherwise: LIST.limitDefault,
  }),
})

const rowRoutes: Routes = async (app) => {
  app.get(
    `${url}/rows`,
    {
      config: {
        scope,
        query: {
          ...CALENDAR,
          figure: Type.Enum([...FIGURE_NAMES], { default: 'net_cents' }),
          group_by: Type.Enum([...ROW_GROUPINGS]),
          key: Type.String({ description: 'The group. Counts with `group_by` alone.' }),
          ...PAGE,
        },
      },
      schema: {
        operationId: 'listAnalyticsRows',
        tags,
        summary: 'List the rows behind a figure, by day. Their `amount_cents` add up to it.',
        response: { 200: RowPage },
      },
    },
    async ({ db, query }) => {
      const figure = readText(query, 'figure')
      const group_by = readOneOf(query, 'group_by', ROW_GROUPINGS)
      const of = group_by === undefined ? null : { group_by, key: readKey(query) ?? '' }
      const daysMax = group_by === 'cohort' ? COHORT_DAYS_MAX : undefined
      return listRows(forHeavyRead(db), await readReportRequest(db, query, daysMax), {
        figure: isFigure(figure) ? figure : 'net_cents',
        of,
        ...readRowPage(query),
      })
    },
  )

  app.get(
    `${url}/payments/rows`,
    {
      config: {
        scope,
        query: {
          ...PERIOD,
          outcome: Type.Enum([...OUTCOMES]),
          reason: Type.String(),
          ...PAGE,
        },
      },
      schema: {
        operationId: 'listAnalyticsPaymentRows',
        tags,
        summary: 'List the payment attempts behind a count, oldest first.',
        response: { 200: Type.Object({ rows: Type.Array(AttemptRow), next_after }) },
      },
    },
    async ({ db, query }) =>
      live.paymentRows(
        forHeavyRead(db),
        await readReportRequest(db, query),
        {
          outcome: readOneOf(query, 'outcome', OUTCOMES) ?? null,
          reason: readText(query, 'reason') ?? null,
        },
        readRowPage(query),
      ),
  )

  app.get(
    `${url}/subscriptions/rows`,
    {
      config: {
        scope,
        query: {
          ...PERIOD,
          figure: Type.Enum([...SUBSCRIPTION_COUNTS], { default: 'active_count' }),
          ...PAGE,
        },
      },
      schema: {
        operationId: 'listAnalyticsSubscriptionRows',
        tags,
        summary: 'List the subscriptions, or the recovered renewals, behind a figure.',
        response: { 200: Type.Object({ rows: Type.Array(SubscriptionRow), next_after }) },
      },
    },
    async ({ db, query }) =>
      live.subscriptionRows(
        forHeavyRead(db),
        await readReportRequest(db, query),
        readOneOf(query, 'figure', SUBSCRIPTION_COUNTS) ?? 'active_count',
        readRowPage(query),
      ),
  )

  app.get(
    `${url}/funnel/rows`,
    {
      config: {
        scope,
        query: {
          from: Day,
          to: Day,
          type: Type.Enum([...FUNNEL_TYPES], { default: 'view' }),
          ...PAGE,
        },
      },
      schema: {
        operationId: 'listAnalyticsFunnelRows',
        tags,
        summary: 'List the counts behind a step of the funnel, by day and product.',
        response: { 200: Type.Object({ rows: Type.Array(FunnelRow), next_after }) },
      },
    },
    async ({ db, query }) =>
      funnel.listRows(
        forHeavyRead(db),
        await readReportRequest(db, query),
        readOneOf(query, 'type', FUNNEL_TYPES) ?? 'view',
        readRowPage(query),
      ),
  )
}

export const storefrontRoutes =
  (deps: funnel.FunnelDeps): Routes =>
  async (app) => {
    app.post(
      '/v1/tenants/:tenant/funnel',
      {
        config: { failures: ['unknown_tenant', 'rate_limited'] },
        schema: {
          operationId: 'countFunnelEvents',
          tags: ['checkout'],
          summary: 'Count events of the funnel by day. No data about the shopper is stored.',
          params: Params('tenant'),
          body: FunnelEvents,
          response: {
            200: Type.Object({
              accepted: Type.Integer({ description: 'How many events were counted.' }),
            }),
          },
        },
      },
      ({ db, body }) => funnel.count(deps, db, body),
    )
  }
