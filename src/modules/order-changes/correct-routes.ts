import type { ErrorCode } from '../../error-codes.ts'
import { once } from '../../http/idempotent.ts'
import type { Routes } from '../../http/route.ts'
import { Params } from '../../kernel/schema.ts'
import { correctOperation, previewCorrection } from './correct-money.ts'
import { CorrectionPreview, OrderCorrected, OrderCorrection } from './correct-schema.ts'
import type { OrderChangeDeps } from './deps.ts'

interface CorrectionDeps extends OrderChangeDeps {
  /** Keys the fingerprints of requests. */
  idempotencyKey: Buffer
}

const CORRECTION: readonly ErrorCode[] = [
  'order_not_found',
  'order_busy',
  'invalid_transition',
  'customer_erased',
  'stale_order',
  'price_changed',
  'country_not_served',
  'disputed',
  'tax_provider_unavailable',
]

/** The same key may try again once the labels or the order are read again. */
const PASSING: readonly ErrorCode[] = [
  'order_busy',
  'labels_bought',
  'stale_order',
  'price_changed',
]

const tags = ['merchant-orders']

export const merchantRoutes =
  (deps: CorrectionDeps): Routes =>
  async (app) => {
    app.patch(
      '/v1/merchant/orders/:id',
      {
        config: {
          scope: 'manage:own_orders',
          idempotent: true,
          failures: [...CORRECTION, 'labels_bought', 'refund_failed', 'payment_unconfirmed'],
        },
        schema: {
          operationId: 'correctOrder',
          tags,
          summary:
            'Correct the address, the e-mail address or the name of an order of which nothing has shipped. What it costs less then is refunded; what it costs more is asked of the shopper, and never charged.',
          params: Params('id'),
          body: OrderCorrection,
          response: { 200: OrderCorrected },
        },
      },
      (request, reply) => {
        const { db, actor, body, params } = request
        const target = `merchant ${params.id}`
        const { idempotencyKey: secret } = deps
        const options = { operation: 'correct', secret, target, passing: PASSING }
        return once(request, reply, options, (claim) =>
          correctOperation.run(deps, db, { actor, claim }, { orderId: params.id, body }),
        )
      },
    )

    app.post(
      '/v1/merchant/orders/:id/preview',
      {
        config: { scope: 'read:own_orders', failures: CORRECTION },
        schema: {
          operationId: 'previewCorrection',
          tags,
          summary:
            'Preview a correction: what changes, what it costs, and how the difference would be settled. Nothing is reserved.',
          params: Params('id'),
          body: OrderCorrection,
          response: { 200: CorrectionPreview },
        },
      },
      ({ db, params, body }) => previewCorrection(deps, db, params.id, body),
    )
  }
