import { Readable } from 'node:stream'
import { Type } from 'typebox'
import type { Routes } from '../../http/route.ts'
import { PAGE_QUERY, pageQuery, readPage } from '../../kernel/page.ts'
import { readOneOf, readText, readTimestamp } from '../../kernel/query.ts'
import { Id, PageOf, Params, ref, Timestamp } from '../../kernel/schema.ts'
import {
  deleteNote,
  holdOrder,
  noteOrder,
  type OnTestFlag,
  processOrder,
  setTestFlag,
} from './annotate.ts'
import { exportCsv } from './export.ts'
import { list, listOfCustomer, type Parcels, read, readForShopper, readTimeline } from './read.ts'
import type { OrderFilters } from './read-queries.ts'
import {
  FulfillmentStatus,
  MerchantOrder,
  NewHold,
  NewNote,
  Note,
  OrderDetail,
  OrderStatus,
  PaymentStatus,
  SHOWN_MAX,
  ShopperDetail,
  StorefrontOrder,
  TimelineEntry,
} from './schema.ts'
import { FULFILLMENT_STATUSES, ORDER_STATUSES, PAYMENT_STATUSES } from './status-schema.ts'

const READ = 'read:own_orders'
const MANAGE = 'manage:own_orders'
const tags = ['merchant-orders']

const FILTERS = {
  status: OrderStatus,
  payment_status: PaymentStatus,
  fulfillment_status: FulfillmentStatus,
  customer_ref: Type.String(),
  order_number: Type.Integer(),
  q: Type.String({
    description:
      'The order number, or the beginning of a customer_ref, an e-mail address, a product name or a SKU.',
  }),
  created_from: Timestamp,
  created_to: Timestamp,
  is_test: Type.Boolean(),
  coupon_code: Type.String(),
  sku: Type.String(),
}

const BOOLEANS = ['true', 'false'] as const

/** The longest search text. A longer one is cut. */
const Q_LENGTH_MAX = 200

function readFilters(query: unknown): OrderFilters {
  const number = readText(query, 'order_number')
  const isTest = readOneOf(query, 'is_test', BOOLEANS)
  return {
    status: readOneOf(query, 'status', ORDER_STATUSES),
    payment_status: readOneOf(query, 'payment_status', PAYMENT_STATUSES),
    fulfillment_status: readOneOf(query, 'fulfillment_status', FULFILLMENT_STATUSES),
    customer_ref: readText(query, 'customer_ref'),
    order_number: number !== undefined && /^\d{1,15}$/.test(number) ? Number(number) : undefined,
    q: readText(query, 'q')?.trim().slice(0, Q_LENGTH_MAX),
    created_from: readTimestamp(query, 'created_from'),
    created_to: readTimestamp(query, 'created_to'),
    is_test: isTest === undefined ? undefined : isTest === 'true',
    coupon_code: readText(query, 'coupon_code')?.trim(),
    // SKUs are stored in Unicode form C, in whichever form they were sent.
    sku: readText(query, 'sku')?.normalize('NFC'),
  }
}

/**
 * The limits of a page of the timeline. They are those of an order's answer, so that one page has the whole
 * timeline of nearly every order.
 */
const TIMELINE = { limitDefault: SHOWN_MAX, limitMax: SHOWN_MAX }

const Csv = { content: { 'text/csv': { schema: Type.String() } } }
const OneOrder = Type.Object({ order: ref(MerchantOrder) })

export const merchantRoutes =
  (parcels: Parcels): Routes =>
  async (app) => {
    await listRoutes(parcels)(app)
    await readRoutes(parcels)(app)
    await annotateRoutes(app)
  }

const listRoutes =
  (parcels: Parcels): Routes =>
  async (app) => {
    app.get(
      '/v1/merchant/orders',
      {
        config: { scope: READ, query: { ...FILTERS, ...PAGE_QUERY } },
        schema: {
          operationId: 'listOrders',
          tags,
          summary: "List the store's orders, newest first.",
          response: { 200: PageOf('orders', ref(MerchantOrder)) },
        },
      },
      ({ db, query }) => list(db, readFilters(query), readPage(query)),
    )

    app.get(
      '/v1/merchant/orders/export.csv',
      {
        config: { scope: READ, query: FILTERS },
        schema: {
          operationId: 'exportOrders',
          tags,
          summary: 'Export all matching orders as CSV, highest number first.',
          response: { 200: Csv },
        },
      },
      // A failure halfway ends the connection, so that half a table never looks complete.
      async ({ db, query }, reply) =>
        reply
          .header('content-type', 'text/csv; charset=utf-8')
          .header('content-disposition', 'attachment; filename="orders.csv"')
          .header('cache-control', 'no-store')
          .send(Readable.from(exportCsv(db, readFilters(query), parcels)) as never),
    )
  }

const readRoutes =
  (parcels: Parcels): Routes =>
  async (app) => {
    const config = { scope: READ, failures: ['order_not_found'] } as const

    app.get(
      '/v1/merchant/orders/:id',
      {
        config,
        schema: {
          operationId: 'readOrder',
          tags,
          summary: 'Read an order with its lines, charges, refunds and timeline.',
          params: Params('id'),
          response: { 200: OrderDetail },
        },
      },
      ({ db, params }) => read(db, params.id, parcels),
    )

    app.get(
      '/v1/merchant/orders/:id/timeline',
      {
        config: { ...config, query: pageQuery(TIMELINE) },
        schema: {
          operationId: 'listOrderTimeline',
          tags,
          summary: 'List the timeline of an order, oldest first.',
          params: Params('id'),
          response: { 200: PageOf('timeline', ref(TimelineEntry)) },
        },
      },
      ({ db, params, query }) => readTimeline(db, params.id, readPage(query, TIMELINE)),
    )
  }

const annotateRoutes: Routes = async (app) => {
  app.post(
    '/v1/merchant/orders/:id/notes',
    {
      config: { scope: MANAGE, failures: ['order_not_found', 'limit_reached'] },
      schema: {
        operationId: 'addOrderNote',
        tags,
        summary: 'Add a note to an order. Only the merchant sees it.',
        params: Params('id'),
        body: NewNote,
        response: { 201: Type.Object({ note: ref(Note) }) },
      },
    },
    async ({ db, actor, params, body }, reply) => {
      const note = await noteOrder(db, actor, params.id, body.note)
      return reply.code(201).send({ note })
    },
  )

  app.delete(
    '/v1/merchant/orders/:id/notes/:noteId',
    {
      config: { scope: MANAGE, failures: ['order_not_found', 'note_not_found'] },
      schema: {
        operationId: 'deleteOrderNote',
        tags,
        summary: 'Delete a note of an order. Notes are not changed: write another.',
        params: Params('id', 'noteId'),
        response: { 200: Type.Object({ id: Id, deleted: Type.Literal(true) }) },
      },
    },
    ({ db, actor, params }) =>
      deleteNote(db, actor, { id: params.id, note_id: params.noteId.toLowerCase() }),
  )

  app.post(
    '/v1/merchant/orders/:id/hold',
    {
      config: { scope: MANAGE, failures: ['order_not_found', 'order_busy', 'invalid_transition'] },
      schema: {
        operationId: 'holdOrder',
        tags,
        summary: 'Hold an order: it must not ship until it is released.',
        params: Params('id'),
        body: NewHold,
        response: { 200: OneOrder },
      },
      // All members of the body are optional, so the body is too.
      preValidation: async (request) => {
        request.body ??= {}
      },
    },
    async ({ db, actor, params, body }) => ({
      order: await holdOrder(db, actor, params.id, body.reason),
    }),
  )

  app.post(
    '/v1/merchant/orders/:id/process',
    {
      config: { scope: MANAGE, failures: ['order_not_found', 'order_busy', 'invalid_transition'] },
      schema: {
        operationId: 'processOrder',
        tags,
        summary: 'Mark an order as being processed.',
        params: Params('id'),
        response: { 200: OneOrder },
      },
    },
    async ({ db, actor, params }) => ({ order: await processOrder(db, actor, params.id) }),
  )
}

export const storefrontRoutes =
  (parcels: Parcels): Routes =>
  async (app) => {
    app.get(
      '/v1/tenants/:tenant/orders/:orderId',
      {
        config: {
          query: {
            customer_ref: Type.String({
              description: "The customer of the order. Another customer's order is a 404.",
            }),
          },
          failures: ['unknown_tenant', 'order_not_found'],
        },
        schema: {
          operationId: 'readShopperOrder',
          tags: ['checkout'],
          summary: "Read a shopper's own order. An order of another customer is a 404.",
          params: Params('tenant', 'orderId'),
          response: { 200: ShopperDetail },
        },
      },
      ({ db, params, query }) =>
        readForShopper(db, params.orderId, readText(query, 'customer_ref'), parcels),
    )

    app.get(
      '/v1/tenants/:tenant/customers/:customer_ref/orders',
      {
        config: { query: PAGE_QUERY, failures: ['unknown_tenant'] },
        schema: {
          operationId: 'listShopperOrders',
          tags: ['checkout'],
          summary: "List a shopper's own orders, newest first.",
          params: Params('tenant', 'customer_ref'),
          response: { 200: PageOf('orders', ref(StorefrontOrder)) },
        },
      },
      ({ db, params, query }) => listOfCustomer(db, params.customer_ref, readPage(query)),
    )
  }

export const operatorRoutes =
  (onTestFlag: OnTestFlag): Routes =>
  async (app) => {
    app.post(
      '/v1/stores/:tenant/orders/:id/test-flag',
      {
        config: { failures: ['unknown_tenant', 'order_not_found'] },
        schema: {
          operationId: 'flagTestOrder',
          tags: ['operator'],
          summary: 'Mark an order as a test or as real. Money reports leave out test orders.',
          params: Params('tenant', 'id'),
          body: Type.Object({ is_test: Type.Boolean() }),
          response: { 200: OneOrder },
        },
      },
      async ({ db, actor, params, body }) => ({
        order: await setTestFlag(db, actor, { id: params.id, is_test: body.is_test }, onTestFlag),
      }),
    )
  }
