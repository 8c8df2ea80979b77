import { Type } from 'typebox'
import type { ErrorCode } from '../../error-codes.ts'
import { onceIfKeyed } from '../../http/idempotent.ts'
import type { Routes } from '../../http/route.ts'
import { PAGE_QUERY, readPage } from '../../kernel/page.ts'
import { readId, readOneOf, readText } from '../../kernel/query.ts'
import { Id, PageOf, Params, ref } from '../../kernel/schema.ts'
import * as entitlements from '../entitlements/service.ts'
import { isLocationId } from '../inventory/schema.ts'
import { FULFILLMENT_STATES, Fulfillment } from '../orders/parcel-schema.ts'
import { pack, packMany, packManyOnce } from './pack.ts'
import {
  BulkFulfillment,
  BulkResult,
  Cancellation,
  Delivery,
  KEYED,
  NewFulfillment,
  QueuedOrder,
  Shipment,
  TrackingPatch,
} from './schema.ts'
import * as fulfillment from './service.ts'

const scope = 'manage:own_fulfillment'
const tags = ['merchant-commerce']

const OneParcel = Type.Object({ fulfillment: ref(Fulfillment) })

/** Refusals of the routes that pack or ship. */
const ORDER: readonly ErrorCode[] = ['order_on_hold', 'order_busy', 'invalid_transition']
const PARCEL: readonly ErrorCode[] = ['fulfillment_not_found', 'invalid_transition']

/** Accepts a request without a body: every member may be left out, so the whole body may be. */
async function emptyBody(request: { body?: unknown }): Promise<void> {
  request.body ??= {}
}

export interface FulfillmentDeps {
  /** Keys the fingerprints of requests. */
  idempotencyKey: Buffer
}

/** Refusals that free the key: a running change ends by itself, and an add-on may be switched on. */
const PASSING: readonly ErrorCode[] = ['order_busy', 'feature_not_enabled', 'operator_restricted']

export const merchantRoutes =
  (deps: FulfillmentDeps): Routes =>
  async (app) => {
    await packRoutes(app)
    await keyedRoutes(deps)(app)
    await readRoutes(app)
    await changeRoutes(app)
  }

const packRoutes: Routes = async (app) => {
  app.post(
    '/v1/merchant/orders/:id/fulfillments',
    {
      config: {
        scope,
        failures: [
          'order_not_found',
          'order_item_not_found',
          'quantity_exceeds_open',
          'limit_reached',
          ...ORDER,
        ],
      },
      schema: {
        operationId: 'packOrder',
        tags,
        summary: 'Pack units of an order into a parcel, or into one for each location they lie at.',
        params: Params('id'),
        body: NewFulfillment,
        response: {
          201: Type.Object({
            ...OneParcel.properties,
            fulfillments: Type.Array(ref(Fulfillment), {
              description: 'All parcels that were made; `fulfillment` is the first of them.',
            }),
          }),
        },
      },
      preValidation: emptyBody,
    },
    async ({ db, actor, params, body }, reply) =>
      reply.code(201).send(await pack(db, actor, params.id, body)),
  )
}

const keyedRoutes =
  ({ idempotencyKey: secret }: FulfillmentDeps): Routes =>
  async (app) => {
    app.post(
      '/v1/merchant/fulfillments/bulk',
      {
        config: {
          scope,
          idempotent: 'optional',
          failures: ['feature_not_enabled', 'operator_restricted'],
        },
        schema: {
          operationId: 'packOrders',
          tags,
          summary:
            'Pack, and ship if you say so, units of up to 500 orders. Each row has its own result; a refused row does not affect the others.',
          body: BulkFulfillment,
          response: { 200: Type.Object({ results: Type.Array(BulkResult) }) },
        },
      },
      (request, reply) => {
        const { db, actor, body, headers } = request
        const isKeyed = headers['idempotency-key'] !== undefined
        const options = { operation: KEYED.bulk, secret, passing: PASSING }
        return onceIfKeyed(request, reply, options, async (keep) => {
          await entitlements.requireFeature(db, 'bulk_fulfillment')
          const results = isKeyed
            ? await packManyOnce(db, { actor, keep }, body)
            : await packMany(db, actor, body)
          return { results }
        })
      },
    )

    app.post(
      '/v1/merchant/fulfillments/:id/ship',
      {
        config: {
          scope,
          idempotent: 'optional',
          failures: [...PARCEL, 'order_on_hold', 'order_busy'],
        },
        schema: {
          operationId: 'shipFulfillment',
          tags,
          summary: 'Ship a parcel: its units leave the stock, and the shopper can follow it.',
          params: Params('id'),
          body: Shipment,
          response: { 200: OneParcel },
        },
        preValidation: emptyBody,
      },
      (request, reply) => {
        const { db, actor, params, body } = request
        const target = params.id
        const options = { operation: KEYED.ship, secret, target, passing: PASSING }
        return onceIfKeyed(request, reply, options, async (keep) => ({
          fulfillment: await fulfillment.ship(db, { actor, keep }, target, body),
        }))
      },
    )
  }

const readRoutes: Routes = async (app) => {
  app.get(
    '/v1/merchant/fulfillments',
    {
      config: {
        scope,
        query: { status: Type.Enum(FULFILLMENT_STATES), order_id: Id, ...PAGE_QUERY },
      },
      schema: {
        operationId: 'listFulfillments',
        tags,
        summary: "List the store's parcels, newest first.",
        response: { 200: PageOf('fulfillments', ref(Fulfillment)) },
      },
    },
    ({ db, query }) => {
      const filters = {
        status: readOneOf(query, 'status', FULFILLMENT_STATES),
        order_id: readId(query, 'order_id'),
      }
      return fulfillment.list(db, filters, readPage(query))
    },
  )

  app.get(
    '/v1/merchant/fulfillments/queue',
    {
      config: {
        scope,
        query: {
          location_id: Type.String({
            description: 'Only orders with units to pack at this location, and only these units.',
          }),
          ...PAGE_QUERY,
        },
      },
      schema: {
        operationId: 'listPickQueue',
        tags,
        summary:
          'List the pick queue: orders with units to pack that are not held, the oldest first, with the units by location.',
        response: { 200: PageOf('orders', QueuedOrder) },
      },
    },
    ({ db, query }) => {
      const text = readText(query, 'location_id')
      const location_id = text === undefined || isLocationId(text) ? text : NO_LOCATION
      return fulfillment.listQueue(db, { location_id }, readPage(query))
    },
  )

  app.get(
    '/v1/merchant/fulfillments/:id',
    {
      config: { scope, failures: ['fulfillment_not_found'] },
      schema: {
        operationId: 'readFulfillment',
        tags,
        summary: 'Read a parcel.',
        params: Params('id'),
        response: { 200: OneParcel },
      },
    },
    async ({ db, params }) => ({ fulfillment: await fulfillment.get(db, params.id) }),
  )
}

/** Stands for a filter that does not have the form of an id: no location has it, so the list is empty. */
const NO_LOCATION = '-'

const changeRoutes: Routes = async (app) => {
  app.post(
    '/v1/merchant/fulfillments/:id/deliver',
    {
      config: { scope, failures: PARCEL },
      schema: {
        operationId: 'deliverFulfillment',
        tags,
        summary: 'Mark a shipped parcel as delivered.',
        params: Params('id'),
        body: Delivery,
        response: { 200: OneParcel },
      },
      preValidation: emptyBody,
    },
    async ({ db, actor, params, body }) => ({
      fulfillment: await fulfillment.deliver(db, actor, params.id, body),
    }),
  )

  app.post(
    '/v1/merchant/fulfillments/:id/cancel',
    {
      config: { scope, failures: [...PARCEL, 'order_busy'] },
      schema: {
        operationId: 'cancelFulfillment',
        tags,
        summary:
          'Cancel a parcel: its units are open again. One that was shipped is recalled, and needs a reason.',
        params: Params('id'),
        body: Cancellation,
        response: { 200: OneParcel },
      },
      preValidation: emptyBody,
    },
    async ({ db, actor, params, body }) => ({
      fulfillment: await fulfillment.cancel(db, actor, params.id, body),
    }),
  )

  app.patch(
    '/v1/merchant/fulfillments/:id/tracking',
    {
      config: { scope, failures: PARCEL },
      schema: {
        operationId: 'changeTracking',
        tags,
        summary: 'Change the carrier, the service and the tracking of a parcel.',
        params: Params('id'),
        body: TrackingPatch,
        response: { 200: OneParcel },
      },
    },
    async ({ db, actor, params, body }) => ({
      fulfillment: await fulfillment.patch(db, actor, params.id, body),
    }),
  )
}
