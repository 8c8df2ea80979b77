import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { ErrorCode } from '../../error-codes.ts'
import { once } from '../../http/idempotent.ts'
import type { App, Routes } from '../../http/route.ts'
import { Params, ref } from '../../kernel/schema.ts'
import { STARTED, type StoredAnswer } from '../../platform/idempotency.ts'
import type { Caller } from '../operations/schema.ts'
import { MerchantOrder } from '../orders/schema.ts'
import { readSource } from '../payments/card.ts'
import { cancelOperation } from './cancel-money.ts'
import { cancelRemainingOperation } from './cancel-remaining-money.ts'
import type { OrderChangeDeps } from './deps.ts'
import { setDispute } from './dispute-money.ts'
import { editOrder } from './edit-money.ts'
import type { LossDeps } from './lost-dispute-money.ts'
import { previewRefund, refundOperation } from './refund-money.ts'
import {
  DisputeChange,
  MerchantCancel,
  MerchantCancelled,
  MerchantEdit,
  MerchantEdited,
  MerchantRefund,
  MerchantRefunded,
  RefundPreview,
  RemainingCancelled,
  ShopperCancel,
  ShopperCancelled,
  ShopperEdit,
  ShopperEdited,
  ShopperRefund,
  ShopperRefunded,
} from './schema.ts'

/** Routes that move an order's money, each under an Idempotency-Key, for shoppers and merchants. */

export interface OrderChangeRouteDeps extends OrderChangeDeps {
  /** Keys the fingerprints of requests. */
  idempotencyKey: Buffer
}

/** Refusals after which the same key may try again: a running operation ends without the caller. */
const BUSY: readonly ErrorCode[] = ['order_busy']

const MONEY: readonly ErrorCode[] = [
  'order_not_found',
  'order_busy',
  'disputed',
  'refund_failed',
  'payment_unconfirmed',
]
const REFUND: readonly ErrorCode[] = [
  ...MONEY,
  'not_refundable',
  'amount_exceeds_refundable',
  'gift_card_spent',
  'credit_unspendable',
]
const CANCEL: readonly ErrorCode[] = [...MONEY, 'invalid_transition', 'gift_card_spent']
const EDIT: readonly ErrorCode[] = [
  ...CANCEL,
  'already_shipped',
  'gift_card_issued',
  'order_item_not_found',
  'charge_not_found',
  'quantity_exceeds_open',
  'card_required',
  'payment_declined',
  'insufficient_stock',
  'tax_provider_unavailable',
]

interface Target {
  operation: 'refund' | 'cancel' | 'cancel_remaining' | 'edit'
  /** Part of the fingerprint: a shopper's key never answers with a merchant's answer. */
  plane: 'shopper' | 'merchant'
  id: string
  /** Refusals after which the same key may try again. */
  passing?: readonly ErrorCode[]
}

const runOnce =
  (deps: OrderChangeRouteDeps) =>
  (
    request: FastifyRequest,
    reply: FastifyReply,
    { operation, plane, id, passing = BUSY }: Target,
    work: (caller: Caller) => Promise<StoredAnswer>,
  ) => {
    const target = `${plane} ${id}`
    const options = { operation, secret: deps.idempotencyKey, target, passing }
    return once(request, reply, options, (claim) => work({ actor: request.actor, claim }))
  }

export const storefrontRoutes =
  (deps: OrderChangeRouteDeps): Routes =>
  async (app) => {
    await shopperRefund(app, deps)
    await shopperCancel(app, deps)
    await shopperEdit(app, deps)
  }

const tags = ['checkout']
const failuresOf = (codes: readonly ErrorCode[]) => ['unknown_tenant', ...codes] as const

async function shopperRefund(app: App, deps: OrderChangeRouteDeps) {
  app.post(
    '/v1/tenants/:tenant/orders/:orderId/refund',
    {
      config: { idempotent: true, failures: failuresOf([...REFUND, 'charge_not_found']) },
      schema: {
        operationId: 'refundShopperOrder',
        tags,
        summary: 'Refund a charge of an order, or a part of it.',
        params: Params('tenant', 'orderId'),
        body: ShopperRefund,
        response: { 200: ShopperRefunded },
      },
    },
    (request, reply) => {
      const { db, body, params } = request
      const what = { operation: 'refund', plane: 'shopper', id: params.orderId } as const
      return runOnce(deps)(request, reply, what, (caller) =>
        refundOperation.run(deps, db, caller, {
          orderId: params.orderId,
          request: { by: 'shopper', body },
        }),
      )
    },
  )
}

/** Returns the shopper's own words, for the merchant's notes only. */
const noteOf = (reason: string | null | undefined, actor: string | null | undefined) =>
  [reason, actor ? `(${actor})` : null].filter(Boolean).join(' ') || null

async function shopperCancel(app: App, deps: OrderChangeRouteDeps) {
  app.post(
    '/v1/tenants/:tenant/orders/:orderId/cancel',
    {
      config: { idempotent: true, failures: failuresOf([...CANCEL, 'charge_not_found']) },
      schema: {
        operationId: 'cancelShopperOrder',
        tags,
        summary: 'Cancel an order of which nothing has shipped, and refund it in full.',
        params: Params('tenant', 'orderId'),
        body: ShopperCancel,
        response: { 200: ShopperCancelled },
      },
      preValidation: emptyBody,
    },
    (request, reply) => {
      const { db, body, params } = request
      const what = { operation: 'cancel', plane: 'shopper', id: params.orderId } as const
      const note = noteOf(body.reason, body.actor)
      const { charge_id } = body
      const terms = { reason: 'customer', note, charge_id, restock: true, as: 'cancel' } as const
      return runOnce(deps)(request, reply, what, (caller) =>
        cancelOperation.run(deps, db, caller, { orderId: params.orderId, ...terms }),
      )
    },
  )
}

/** Replaces a missing body: every member is optional, so the body is too. */
async function emptyBody(request: { body?: unknown }): Promise<void> {
  request.body ??= {}
}

async function shopperEdit(app: App, deps: OrderChangeRouteDeps) {
  app.post(
    '/v1/tenants/:tenant/orders/:orderId/edit',
    {
      config: {
        idempotent: true,
        failures: failuresOf([...EDIT, 'fraud_rejected', 'velocity_exceeded']),
      },
      schema: {
        operationId: 'editShopperOrder',
        tags,
        summary: 'Edit the quantities of an order. The difference is charged or refunded.',
        params: Params('tenant', 'orderId'),
        body: ShopperEdit,
        response: { 200: ShopperEdited },
      },
    },
    (request, reply) => {
      const { db, body, params } = request
      const what = { operation: 'edit', plane: 'shopper', id: params.orderId } as const
      const note = noteOf(null, body.actor)
      return runOnce(deps)(request, reply, what, async (caller) => {
        // A resumed edit does not need the card, which may have expired since.
        const isNew = caller.claim.recoveryPoint === STARTED
        const source = isNew ? readSource({ card: body.card }, db.clock) : null
        const tender = { by: 'card', source } as const
        return editOrder(deps, db, caller, { orderId: params.orderId, body, tender, note })
      })
    },
  )
}

const scope = 'manage:own_orders'
const merchantTags = ['merchant-orders']

export const merchantRoutes =
  (deps: OrderChangeRouteDeps): Routes =>
  async (app) => {
    await merchantRefund(app, deps)
    await merchantCancel(app, deps)
    await merchantCancelRemaining(app, deps)
    await merchantEdit(app, deps)
  }

async function merchantRefund(app: App, deps: OrderChangeRouteDeps) {
  app.post(
    '/v1/merchant/orders/:id/refunds',
    {
      config: {
        scope,
        idempotent: true,
        failures: [...REFUND, 'order_item_not_found', 'quantity_exceeds_open'],
      },
      schema: {
        operationId: 'refundOrder',
        tags: merchantTags,
        summary: 'Refund an amount, units or shipping; without any of them, all that is left.',
        params: Params('id'),
        body: MerchantRefund,
        response: { 201: MerchantRefunded },
      },
      preValidation: emptyBody,
    },
    (request, reply) => {
      const { db, body, params } = request
      const what = { operation: 'refund', plane: 'merchant', id: params.id } as const
      return runOnce(deps)(request, reply, what, (caller) =>
        refundOperation.run(deps, db, caller, {
          orderId: params.id,
          request: { by: 'merchant', body },
        }),
      )
    },
  )

  app.post(
    '/v1/merchant/orders/:id/refunds/preview',
    {
      config: {
        scope: 'read:own_orders',
        failures: [
          'order_not_found',
          'order_item_not_found',
          'quantity_exceeds_open',
          'disputed',
          'credit_unspendable',
          'not_refundable',
          'amount_exceeds_refundable',
          'gift_card_spent',
        ],
      },
      schema: {
        operationId: 'previewRefund',
        tags: merchantTags,
        summary:
          'Preview a refund: its amount and the tenders it would go to. Nothing is reserved.',
        params: Params('id'),
        body: MerchantRefund,
        response: { 200: RefundPreview },
      },
      preValidation: emptyBody,
    },
    ({ db, params, body }) => previewRefund(db, params.id, body),
  )
}

async function merchantCancelRemaining(app: App, deps: OrderChangeRouteDeps) {
  app.post(
    '/v1/merchant/orders/:id/cancel-remaining',
    {
      config: {
        scope,
        idempotent: true,
        failures: [...MONEY, 'invalid_transition', 'order_on_hold', 'amount_exceeds_refundable'],
      },
      schema: {
        operationId: 'cancelRemaining',
        tags: merchantTags,
        summary:
          'Cancel the units of a partly shipped order that have not shipped, and refund what was paid for them.',
        params: Params('id'),
        body: MerchantCancel,
        response: { 200: RemainingCancelled },
      },
    },
    (request, reply) => {
      const { db, params } = request
      const { reason, note = null, restock = true } = request.body
      const what = {
        operation: 'cancel_remaining',
        plane: 'merchant',
        id: params.id,
        // The same key may try again once the order is released.
        passing: [...BUSY, 'order_on_hold'],
      } as const
      return runOnce(deps)(request, reply, what, (caller) =>
        cancelRemainingOperation.run(deps, db, caller, {
          orderId: params.id,
          reason,
          note,
          restock,
        }),
      )
    },
  )
}

async function merchantCancel(app: App, deps: OrderChangeRouteDeps) {
  app.post(
    '/v1/merchant/orders/:id/cancel',
    {
      config: { scope, idempotent: true, failures: CANCEL },
      schema: {
        operationId: 'cancelOrder',
        tags: merchantTags,
        summary: 'Cancel an order of which nothing has shipped, and refund it in full.',
        params: Params('id'),
        body: MerchantCancel,
        response: { 200: MerchantCancelled },
      },
    },
    (request, reply) => {
      const { db, params } = request
      const { reason, note = null, restock = true } = request.body
      const what = { operation: 'cancel', plane: 'merchant', id: params.id } as const
      return runOnce(deps)(request, reply, what, (caller) =>
        cancelOperation.run(deps, db, caller, {
          orderId: params.id,
          reason,
          note,
          restock,
          as: 'cancel',
        }),
      )
    },
  )
}

async function merchantEdit(app: App, deps: OrderChangeRouteDeps) {
  app.post(
    '/v1/merchant/orders/:id/edit',
    {
      config: { scope, idempotent: true, failures: EDIT },
      schema: {
        operationId: 'editOrder',
        tags: merchantTags,
        summary: 'Edit the quantities of an order. The difference is charged or refunded.',
        params: Params('id'),
        body: MerchantEdit,
        response: { 200: MerchantEdited },
      },
    },
    (request, reply) => {
      const { db, body, params } = request
      const what = { operation: 'edit', plane: 'merchant', id: params.id } as const
      const tender = { by: 'vault', allowed: body.charge_card ?? false } as const
      return runOnce(deps)(request, reply, what, (caller) =>
        editOrder(deps, db, caller, { orderId: params.id, body, tender, note: null }),
      )
    },
  )
}

export const operatorRoutes =
  (deps: LossDeps): Routes =>
  async (app) => {
    app.post(
      '/v1/stores/:tenant/orders/:id/dispute',
      {
        config: {
          failures: [
            'unknown_tenant',
            'order_not_found',
            'order_busy',
            'invalid_transition',
            'amount_exceeds_refundable',
            'exchange_open',
          ],
        },
        schema: {
          operationId: 'setOrderDispute',
          tags: ['operator'],
          summary: 'Record that the payment of an order is disputed, or how the dispute ended.',
          params: Params('tenant', 'id'),
          body: DisputeChange,
          response: { 200: Type.Object({ order: ref(MerchantOrder) }) },
        },
      },
      async ({ db, actor, params, body }) => ({
        order: await setDispute(deps, db, actor, { orderId: params.id, change: body }),
      }),
    )
  }
