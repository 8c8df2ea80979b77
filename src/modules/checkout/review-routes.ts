import type { ErrorCode } from '../../error-codes.ts'
import { once } from '../../http/idempotent.ts'
import type { App, Routes } from '../../http/route.ts'
import { PAGE_QUERY, readPage } from '../../kernel/page.ts'
import { PageOf, Params } from '../../kernel/schema.ts'
import { MerchantCancelled } from '../order-changes/schema.ts'
import { listHeldForReview } from '../orders/read.ts'
import { banFromOrder } from './ban-from-order.ts'
import { reject } from './reject-money.ts'
import { releaseOperation } from './release-money.ts'
import { BanFromOrder, Banned, OneOrder, Rejection, Review } from './review-schema.ts'
import type { CheckoutRouteDeps } from './routes.ts'

/** Refusals that free the key: a running operation ends by itself, so that the key can be used again. */
const BUSY: readonly ErrorCode[] = ['order_busy']

const RELEASE: readonly ErrorCode[] = [
  'order_not_found',
  'order_busy',
  'invalid_transition',
  'payment_declined',
  'payment_unconfirmed',
]

export const merchantRoutes =
  (deps: CheckoutRouteDeps): Routes =>
  async (app) => {
    releaseRoutes(app, deps)
    rejectRoute(app, deps)

    app.get(
      '/v1/merchant/fraud/reviews',
      {
        config: { scope: 'manage:own_fraud', query: PAGE_QUERY },
        schema: {
          operationId: 'listFraudReviews',
          tags: ['merchant-ops'],
          summary: 'List the orders that wait for review, the longest waiting first.',
          response: { 200: PageOf('reviews', Review) },
        },
      },
      ({ db, query }) => listHeldForReview(db, readPage(query)),
    )

    app.post(
      '/v1/merchant/fraud/bans/from-order',
      {
        config: { scope: 'manage:own_fraud', failures: ['order_not_found'] },
        schema: {
          operationId: 'banFromOrder',
          tags: ['merchant-ops'],
          summary: 'Ban the shopper of an order by the data of the order.',
          body: BanFromOrder,
          response: { 201: Banned },
        },
      },
      async ({ db, actor, body }, reply) =>
        reply.code(201).send({ bans: await banFromOrder(db, actor, body) }),
    )
  }

/**
 * One operation on two routes: for the scope that manages orders, and for the one that reviews
 * fraud.
 */
function releaseRoutes(app: App, deps: CheckoutRouteDeps): void {
  const { idempotencyKey: secret } = deps
  app.post(
    '/v1/merchant/orders/:id/release',
    {
      config: { scope: 'manage:own_orders', idempotent: true, failures: RELEASE },
      schema: {
        operationId: 'releaseOrder',
        tags: ['merchant-orders'],
        summary: 'Release a held order. A payment that is only authorised is captured now.',
        params: Params('id'),
        response: { 200: OneOrder },
      },
    },
    (request, reply) => {
      const { db, actor, params } = request
      const options = { operation: 'release', secret, target: params.id, passing: BUSY }
      return once(request, reply, options, (claim) =>
        releaseOperation.run(deps, db, { actor, claim }, { orderId: params.id }),
      )
    },
  )

  app.post(
    '/v1/merchant/fraud/reviews/:order_id/approve',
    {
      config: { scope: 'manage:own_fraud', idempotent: true, failures: RELEASE },
      schema: {
        operationId: 'approveFraudReview',
        tags: ['merchant-ops'],
        summary: 'Approve an order that is held for review, and release it.',
        params: Params('order_id'),
        response: { 200: OneOrder },
      },
    },
    (request, reply) => {
      const { db, actor, params } = request
      const options = { operation: 'release', secret, target: params.order_id, passing: BUSY }
      return once(request, reply, options, (claim) =>
        releaseOperation.run(deps, db, { actor, claim }, { orderId: params.order_id }),
      )
    },
  )
}

function rejectRoute(app: App, deps: CheckoutRouteDeps): void {
  app.post(
    '/v1/merchant/fraud/reviews/:order_id/reject',
    {
      config: {
        scope: 'manage:own_fraud',
        idempotent: true,
        failures: [
          'order_not_found',
          'order_busy',
          'invalid_transition',
          'disputed',
          'refund_failed',
          'payment_unconfirmed',
          'gift_card_spent',
        ],
      },
      schema: {
        operationId: 'rejectFraudReview',
        tags: ['merchant-ops'],
        summary:
          'Reject an order that is held for review: cancel it and, with `ban`, ban its shopper.',
        params: Params('order_id'),
        body: Rejection,
        response: { 200: MerchantCancelled },
      },
      // Every member is optional, so the whole body is.
      preValidation: async (request) => {
        request.body ??= {}
      },
    },
    (request, reply) => {
      const { db, actor, params, body } = request
      const target = `reject ${params.order_id}`
      const options = { operation: 'cancel', secret: deps.idempotencyKey, target, passing: BUSY }
      return once(request, reply, options, (claim) =>
        reject(deps, db, { actor, claim }, { orderId: params.order_id, ...body }),
      )
    },
  )
}
