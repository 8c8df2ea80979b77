import type { ErrorCode } from '../../error-codes.ts'
import { once } from '../../http/idempotent.ts'
import type { App, Routes } from '../../http/route.ts'
import { Params } from '../../kernel/schema.ts'
import { STARTED } from '../../platform/idempotency.ts'
import { cancelOperation } from '../order-changes/cancel-money.ts'
import { MerchantCancelled } from '../order-changes/schema.ts'
import { requireOpen, sendAgain } from '../orders/payment-request.ts'
import * as orders from '../orders/service.ts'
import { readSource } from '../payments/card.ts'
import { exchangeOperation, previewExchange } from './exchange-money.ts'
import {
  Exchanged,
  ExchangePreview,
  NewExchange,
  OneRequest,
  Paid,
  Payment,
} from './exchange-schema.ts'
import { isCorrection, withdrawCorrection } from './pay-correction-money.ts'
import { payOperation } from './pay-request-money.ts'
import type { CheckoutRouteDeps } from './routes.ts'

/** Exchanges of a return, and the payment requests of their orders. */

/** Refusals that free the key: a running operation ends by itself, so that the key can be used again. */
const BUSY: readonly ErrorCode[] = ['order_busy']

const EXCHANGE: readonly ErrorCode[] = [
  'return_not_found',
  'invalid_transition',
  'nothing_to_exchange',
  'limit_reached',
  'disputed',
  'unknown_tenant',
  'variant_not_found',
  'currency_mismatch',
  'tax_provider_unavailable',
]

export const merchantRoutes =
  (deps: CheckoutRouteDeps): Routes =>
  async (app) => {
    await exchangeRoutes(app, deps)
    await requestRoutes(app, deps)
  }

async function exchangeRoutes(app: App, deps: CheckoutRouteDeps) {
  const scope = 'manage:own_returns'
  const tags = ['merchant-commerce']
  app.post(
    '/v1/merchant/returns/:id/exchange',
    {
      config: {
        scope,
        idempotent: true,
        failures: [...EXCHANGE, 'insufficient_stock', 'order_busy'],
      },
      schema: {
        operationId: 'exchangeReturn',
        tags,
        summary:
          'Exchange a return for new goods: an order that its refund pays. The shopper is asked to pay the rest, and never charged for it.',
        params: Params('id'),
        body: NewExchange,
        response: { 201: Exchanged },
      },
    },
    (request, reply) => {
      const { db, body, params, actor } = request
      const target = `merchant ${params.id}`
      const options = { operation: 'exchange', secret: deps.idempotencyKey, target, passing: BUSY }
      return once(request, reply, options, (claim) =>
        exchangeOperation.run(deps, db, { actor, claim }, { returnId: params.id, body }),
      )
    },
  )

  app.post(
    '/v1/merchant/returns/:id/exchange/preview',
    {
      config: { scope, failures: EXCHANGE },
      schema: {
        operationId: 'previewExchange',
        tags,
        summary: 'Preview an exchange: its total and its balance. Nothing is changed.',
        params: Params('id'),
        body: NewExchange,
        response: { 200: ExchangePreview },
      },
    },
    ({ db, params, body }) => previewExchange(deps, db, params.id, body),
  )
}

async function requestRoutes(app: App, deps: CheckoutRouteDeps) {
  const scope = 'manage:own_orders'
  const tags = ['merchant-orders']
  app.post(
    '/v1/merchant/orders/:id/payment-request/send',
    {
      config: { scope, failures: ['order_not_found', 'payment_request_closed', 'limit_reached'] },
      schema: {
        operationId: 'sendPaymentRequest',
        tags,
        summary: 'Mail a payment request to its shopper again.',
        params: Params('id'),
        response: { 200: OneRequest },
      },
    },
    async ({ db, actor, params }) => ({ payment_request: await sendAgain(db, actor, params.id) }),
  )

  app.post(
    '/v1/merchant/orders/:id/payment-request/withdraw',
    {
      config: {
        scope,
        idempotent: true,
        failures: ['order_not_found', 'order_busy', 'invalid_transition', 'payment_request_closed'],
      },
      schema: {
        operationId: 'withdrawPaymentRequest',
        tags,
        summary:
          'Withdraw a payment request: the order of an exchange is cancelled, its stock is free again, and the return has its refund back. An order that was to be corrected stays as it was.',
        params: Params('id'),
        response: { 200: MerchantCancelled },
      },
    },
    (request, reply) => {
      const { db, params, actor } = request
      const target = `withdraw ${params.id}`
      const options = { operation: 'cancel', secret: deps.idempotencyKey, target, passing: BUSY }
      const terms = { reason: 'staff', note: null, restock: true, as: 'cancel' } as const
      return once(request, reply, options, async (claim) => {
        if (isCorrection(await orders.get(db, params.id))) {
          return withdrawCorrection(db, { actor, claim }, params.id)
        }
        return cancelOperation.run(
          deps,
          db,
          { actor, claim },
          {
            orderId: params.id,
            ...terms,
            also: async (tx, order) => {
              await requireOpen(tx, order.id)
            },
          },
        )
      })
    },
  )
}

export const storefrontRoutes =
  (deps: CheckoutRouteDeps): Routes =>
  async (app) => {
    app.post(
      '/v1/tenants/:tenant/orders/:orderId/pay',
      {
        config: {
          idempotent: true,
          failures: [
            'unknown_tenant',
            'order_not_found',
            'order_busy',
            'invalid_transition',
            'payment_request_closed',
            'card_required',
            'payment_declined',
            'fraud_rejected',
            'velocity_exceeded',
            'payment_unconfirmed',
          ],
        },
        schema: {
          operationId: 'payOrder',
          tags: ['checkout'],
          summary: 'Pay what the payment request of an order asks for (`payment_request`).',
          params: Params('tenant', 'orderId'),
          body: Payment,
          response: { 200: Paid },
        },
      },
      (request, reply) => {
        const { db, body, params, actor } = request
        const { customer_ref } = body
        const target = `shopper ${params.orderId}`
        const options = { operation: 'pay', secret: deps.idempotencyKey, target, passing: BUSY }
        return once(request, reply, options, (claim) => {
          // A resumed payment does not need the card, which may have expired since.
          const source = claim.recoveryPoint === STARTED ? readSource(body, db.clock) : null
          const paying = { orderId: params.orderId, customer_ref, source }
          return payOperation.run(deps, db, { actor, claim }, paying)
        })
      },
    )
  }
