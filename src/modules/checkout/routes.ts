import { Type } from 'typebox'
import type { TenantDb } from '../../db/database.ts'
import type { ErrorCode } from '../../error-codes.ts'
import { once } from '../../http/idempotent.ts'
import type { Routes } from '../../http/route.ts'
import { Params } from '../../kernel/schema.ts'
import { STARTED } from '../../platform/idempotency.ts'
import * as marketing from '../marketing/service.ts'
import { readSource } from '../payments/card.ts'
import { limitCodes } from './code-limit.ts'
import { checkoutOperation } from './place-money.ts'
import { preview } from './preview.ts'
import { CheckoutAnswer, CheckoutRequest, HeldAnswer, Preview, PreviewRequest } from './schema.ts'
import { type CheckoutDeps, readRequest } from './service.ts'

export interface CheckoutRouteDeps extends CheckoutDeps {
  /** Keys the fingerprints of requests. */
  idempotencyKey: Buffer
  /** Keeps a cart with an address for a reminder, if the store wants reminders. */
  keepCart?: (db: TenantDb, cart: PreviewRequest) => Promise<void>
}

const tags = ['checkout']

/** Refusals of a cart that cannot be sold or priced. */
const UNSALEABLE: readonly ErrorCode[] = [
  'unknown_tenant',
  'variant_not_found',
  'currency_mismatch',
  'tax_provider_unavailable',
  'feature_not_enabled',
  'unreadable_policy',
]

interface CouponRequest {
  db: TenantDb
  body: Pick<CheckoutRequest, 'coupon_code' | 'ip'>
  ip: string
}

export const storefrontRoutes =
  (deps: CheckoutRouteDeps): Routes =>
  async (app) => {
    const limitGuesses = ({ db, body, ip }: CouponRequest) =>
      limitCodes(
        deps.limits,
        {
          kind: 'coupons',
          tenant: db.tenant,
          code: body.coupon_code,
          shopper: body.ip,
          caller: ip,
        },
        async (code) => (await marketing.hasCode(db, code)) || null,
      )

    app.post(
      '/v1/tenants/:tenant/checkout',
      {
        config: {
          idempotent: true,
          failures: [
            ...UNSALEABLE,
            'card_required',
            'payment_declined',
            'fraud_rejected',
            'attestation_required',
            'insufficient_stock',
            'price_changed',
            'coupon_invalid',
            'gift_card_invalid',
            'limit_reached',
            'subscription_card_required',
            'feature_disabled',
            'country_not_served',
            'velocity_exceeded',
            'payment_unconfirmed',
          ],
        },
        schema: {
          operationId: 'placeOrder',
          tags,
          summary: 'Place an order. The total is always computed from the catalog.',
          params: Params('tenant'),
          body: CheckoutRequest,
          response: { 201: CheckoutAnswer, 202: HeldAnswer },
        },
      },
      async (request, reply) => {
        const { db, body } = request
        const options = { operation: 'checkout', secret: deps.idempotencyKey }
        return once(request, reply, options, async (claim) => {
          // A resumed checkout does not need the card, which may have expired since.
          const isNew = claim.recoveryPoint === STARTED
          const source = isNew ? readSource(body, db.clock) : null
          const caller = { actor: request.actor, claim }
          if (isNew) await limitGuesses(request)
          return checkoutOperation.run(deps, db, caller, { request: readRequest(body), source })
        })
      },
    )

    app.post(
      '/v1/tenants/:tenant/checkout/preview',
      {
        config: {
          failures: [
            ...UNSALEABLE,
            'feature_disabled',
            'country_not_served',
            'gift_card_invalid',
            'rate_limited',
          ],
        },
        schema: {
          operationId: 'previewOrder',
          tags,
          summary:
            'Preview a checkout: its total now, computed as the checkout does. Nothing is reserved.',
          params: Params('tenant'),
          body: PreviewRequest,
          response: { 200: Type.Object(Preview.properties) },
        },
      },
      async (request) => {
        await limitGuesses(request)
        const shown = await preview(request.db, deps, request.body, request.ip)
        await deps.keepCart?.(request.db, request.body)
        return shown
      },
    )
  }
