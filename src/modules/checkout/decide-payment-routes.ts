import type { Routes } from '../../http/route.ts'
import { Params } from '../../kernel/schema.ts'
import { resolvePayment } from './decide-payment-money.ts'
import { Resolution, Resolved } from './decide-payment-schema.ts'
import type { CheckoutDeps } from './service.ts'

export const operatorRoutes =
  (deps: CheckoutDeps): Routes =>
  async (app) => {
    app.post(
      '/v1/stores/:tenant/payments/:attempt_id/resolve',
      {
        config: {
          failures: ['unknown_tenant', 'payment_not_found', 'payment_not_resolvable', 'order_busy'],
        },
        schema: {
          operationId: 'resolvePayment',
          tags: ['operator'],
          summary: 'Resolve by hand a payment whose gateway no longer answers.',
          params: Params('tenant', 'attempt_id'),
          body: Resolution,
          response: { 200: Resolved },
        },
      },
      ({ db, actor, params, body }) =>
        resolvePayment(deps, db, actor, { attemptId: params.attempt_id, decision: body }),
    )
  }
