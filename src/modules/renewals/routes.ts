import { Type } from 'typebox'
import { once } from '../../http/idempotent.ts'
import type { Routes } from '../../http/route.ts'
import { Params } from '../../kernel/schema.ts'
import { CheckoutAnswer, HeldAnswer } from '../checkout/schema.ts'
import type { CheckoutDeps } from '../checkout/service.ts'
import { chargeNow } from './charge-money.ts'

export interface RenewalRouteDeps extends CheckoutDeps {
  /** Keys the fingerprints of requests. */
  idempotencyKey: Buffer
}

export const merchantRoutes =
  (deps: RenewalRouteDeps): Routes =>
  async (app) => {
    app.post(
      '/v1/merchant/subscriptions/:id/charge',
      {
        config: {
          scope: 'manage:own_subscriptions',
          idempotent: true,
          failures: [
            'subscription_not_found',
            'invalid_transition',
            'charge_in_progress',
            'cycle_not_chargeable',
            'card_unusable',
            'card_tries_exhausted',
            'unknown_tenant',
            'variant_not_found',
            'currency_mismatch',
            'country_not_served',
            'insufficient_stock',
            'tax_provider_unavailable',
            'payment_declined',
            'fraud_rejected',
            'payment_unconfirmed',
          ],
        },
        schema: {
          operationId: 'chargeSubscription',
          tags: ['merchant-ops'],
          summary: 'Charge the next cycle of a subscription now.',
          description:
            'Places the order of the next cycle at once, or tries a declined charge again. The dates of the cycles after it stay as they are. At most one cycle is charged before its date. Send its `cycle`, so that no second call charges the next one.',
          params: Params('id'),
          body: ChargeRequest,
          response: { 201: CheckoutAnswer, 202: HeldAnswer },
        },
        async preValidation(request) {
          request.body ??= {}
        },
      },
      (request, reply) => {
        const { db, actor, params, body } = request
        const options = {
          operation: 'renewal',
          secret: deps.idempotencyKey,
          target: params.id,
          passing: PASSING,
        }
        return once(request, reply, options, (claim) =>
          chargeNow(deps, db, { actor, claim }, { id: params.id, cycle: body.cycle }),
        )
      },
    )
  }

/** Cycle 1 is the order that started the subscription. */
const ChargeRequest = Type.Object({
  cycle: Type.Optional(
    Type.Integer({
      minimum: 2,
      description:
        'The cycle that is meant. Where it is charged already, or another one is next, nothing is charged.',
    }),
  ),
})

/** Refusals that pass without an action. */
const PASSING = [
  'charge_in_progress',
  'cycle_not_chargeable',
  'tax_provider_unavailable',
  'card_tries_exhausted',
] as const
