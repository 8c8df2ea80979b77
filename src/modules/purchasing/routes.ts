import { Type } from 'typebox'
import type { ErrorCode } from '../../error-codes.ts'
import { once, onceIfKeyed } from '../../http/idempotent.ts'
import type { Routes } from '../../http/route.ts'
import { clamp, PAGE_QUERY, readPage } from '../../kernel/page.ts'
import { readOneOf, readText } from '../../kernel/query.ts'
import { Id, isUuid, Nullable, PageOf, Params, ref } from '../../kernel/schema.ts'
import { addCost } from './costs.ts'
import { listReceipts, receive } from './receive.ts'
import {
  LandedCost,
  NewCost,
  NewPurchaseOrder,
  PO_STATES,
  PurchaseOrder,
  PurchaseOrderHead,
  PurchaseOrderPatch,
  PurchaseOrderState,
  Receipt,
  ReceivedLine,
  ReceivedTotals,
  Suggestion,
} from './schema.ts'
import * as purchasing from './service.ts'
import { LEAD_TIME_DAYS, listSuggestions } from './suggestions.ts'
import { vendorRoutes } from './vendor-routes.ts'

export interface PurchasingDeps {
  /** Keys the fingerprints of requests. */
  idempotencyKey: Buffer
}

const scope = 'manage:own_inventory'
const tags = ['merchant-ops']
const url = '/v1/merchant/purchasing/orders'

const OneOrder = Type.Object({ purchase_order: ref(PurchaseOrder) })

const CHANGE: readonly ErrorCode[] = ['purchase_order_not_found', 'invalid_transition']
const TERMS: readonly ErrorCode[] = ['vendor_not_found', 'variant_not_found', 'location_not_found']

/** Stands for a filter that is no UUID: no vendor has this id, so the list is empty. */
const NO_VENDOR = '00000000-0000-0000-0000-000000000000'

export const merchantRoutes =
  (deps: PurchasingDeps): Routes =>
  async (app) => {
    await vendorRoutes(app)
    await readRoutes(app)
    await draftRoutes(app)
    await statusRoutes(app)
    await keyedRoutes(deps)(app)
  }

const readRoutes: Routes = async (app) => {
  app.get(
    url,
    {
      config: { scope, query: { status: PurchaseOrderState, vendor_id: Id, ...PAGE_QUERY } },
      schema: {
        operationId: 'listPurchaseOrders',
        tags,
        summary: 'List the purchase orders, newest first.',
        response: { 200: PageOf('purchase_orders', ref(PurchaseOrderHead)) },
      },
    },
    ({ db, query }) => {
      const vendor_id = readText(query, 'vendor_id')
      const filters = {
        status: readOneOf(query, 'status', PO_STATES),
        vendor_id: vendor_id === undefined || isUuid(vendor_id) ? vendor_id : NO_VENDOR,
      }
      return purchasing.list(db, filters, readPage(query))
    },
  )

  app.get(
    `${url}/:id`,
    {
      config: { scope, failures: ['purchase_order_not_found'] },
      schema: {
        operationId: 'readPurchaseOrder',
        tags,
        summary: 'Read a purchase order with its lines and landed costs.',
        params: Params('id'),
        response: { 200: OneOrder },
      },
    },
    async ({ db, params }) => ({ purchase_order: await purchasing.get(db, params.id) }),
  )

  app.get(
    `${url}/:id/receipts`,
    {
      config: { scope, query: PAGE_QUERY, failures: ['purchase_order_not_found'] },
      schema: {
        operationId: 'listPurchaseReceipts',
        tags,
        summary: 'List the receipts of a purchase order, the first one first.',
        params: Params('id'),
        response: { 200: PageOf('receipts', ref(Receipt)) },
      },
    },
    ({ db, params, query }) => listReceipts(db, params.id, readPage(query)),
  )

  app.get(
    '/v1/merchant/purchasing/suggestions',
    {
      config: {
        scope,
        query: {
          lead_time_days: Type.Integer({
            minimum: 0,
            maximum: 730,
            default: LEAD_TIME_DAYS,
            description: 'For variants whose vendor is unknown, or has no lead time.',
          }),
          after: PAGE_QUERY.after,
        },
      },
      schema: {
        operationId: 'listReorderSuggestions',
        tags,
        summary:
          'Suggest what to order: what sells within the lead time, less what is available and what is incoming. A page looks at 200 variants, and may suggest none of them.',
        response: {
          200: Type.Object({
            suggestions: Type.Array(Suggestion),
            examined: Type.Integer({ description: 'How many variants this page has looked at.' }),
            next_after: Type.Optional(
              Type.String({
                description: 'The `after` of the next page. Absent on the last page.',
              }),
            ),
          }),
        },
      },
    },
    ({ db, query }) => {
      const { lead_time_days } = query as { lead_time_days?: unknown }
      const bounds = { min: 0, max: 730, otherwise: LEAD_TIME_DAYS }
      const leadTimeDays = clamp(lead_time_days, bounds)
      return listSuggestions(db, { after: readText(query, 'after'), leadTimeDays })
    },
  )
}

const draftRoutes: Routes = async (app) => {
  app.post(
    url,
    {
      config: { scope, failures: [...TERMS, 'limit_reached'] },
      schema: {
        operationId: 'createPurchaseOrder',
        tags,
        summary: 'Create a purchase order as a draft. Nothing is expected until it is ordered.',
        body: NewPurchaseOrder,
        response: { 201: OneOrder },
      },
    },
    async ({ db, actor, body }, reply) =>
      reply.code(201).send({ purchase_order: await purchasing.create(db, actor, body) }),
  )

  app.patch(
    `${url}/:id`,
    {
      config: { scope, failures: [...CHANGE, ...TERMS] },
      schema: {
        operationId: 'changePurchaseOrder',
        tags,
        summary: 'Change a draft. `lines`, if present, replaces all lines.',
        params: Params('id'),
        body: PurchaseOrderPatch,
        response: { 200: OneOrder },
      },
    },
    async ({ db, actor, params, body }) => ({
      purchase_order: await purchasing.patch(db, actor, params.id, body),
    }),
  )
}

const statusRoutes: Routes = async (app) => {
  for (const [verb, act, operationId, summary] of [
    [
      'order',
      purchasing.order,
      'orderPurchaseOrder',
      'Order a draft purchase order: its units become incoming.',
    ],
    [
      'close',
      purchasing.close,
      'closePurchaseOrder',
      'Close a purchase order of which no more units are expected. Received units stay.',
    ],
    [
      'cancel',
      purchasing.cancel,
      'cancelPurchaseOrder',
      'Cancel a purchase order of which nothing has been received.',
    ],
  ] as const) {
    app.post(
      `${url}/:id/${verb}`,
      {
        config: { scope, failures: [...CHANGE, 'location_not_found'] },
        schema: { operationId, tags, summary, params: Params('id'), response: { 200: OneOrder } },
      },
      async ({ db, actor, params }) => ({ purchase_order: await act(db, actor, params.id) }),
    )
  }
}

const keyedRoutes =
  ({ idempotencyKey: secret }: PurchasingDeps): Routes =>
  async (app) => {
    app.post(
      `${url}/:id/receive`,
      {
        config: {
          scope,
          idempotent: true,
          failures: [
            ...CHANGE,
            'location_not_found',
            'receipt_decreased',
            'exceeds_ordered',
            'limit_reached',
          ],
        },
        schema: {
          operationId: 'receivePurchaseOrder',
          tags,
          summary:
            'Receive goods: name the totals received so far, which only grow. What is added serves the oldest backorder first.',
          params: Params('id'),
          body: ReceivedTotals,
          response: {
            200: Type.Object({
              ...OneOrder.properties,
              receipt: Nullable(ref(Receipt)),
              lines: Type.Array(ReceivedLine),
            }),
          },
        },
      },
      (request, reply) => {
        const { db, actor, params, body } = request
        const options = { operation: 'purchase_receive', secret, target: params.id }
        return once(request, reply, options, (claim) =>
          receive(db, { actor, claim }, params.id, body),
        )
      },
    )

    app.post(
      `${url}/:id/costs`,
      {
        config: { scope, idempotent: 'optional', failures: [...CHANGE, 'limit_reached'] },
        schema: {
          operationId: 'addLandedCost',
          tags,
          summary:
            'Add a cost that became known later, such as freight: split over the lines, and over what is on hand and what was sold since.',
          params: Params('id'),
          body: NewCost,
          response: { 201: Type.Object({ cost: LandedCost, ...OneOrder.properties }) },
        },
      },
      (request, reply) => {
        const { db, actor, params, body } = request
        const options = { operation: 'purchase_cost', secret, target: params.id, status: 201 }
        return onceIfKeyed(request, reply, options, (keep) =>
          addCost(db, { actor, keep }, params.id, body),
        )
      },
    )
  }
