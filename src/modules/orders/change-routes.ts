import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorCode } from '../../errors.ts'
import { once } from '../../http/idempotent.ts'
import type { App, Routes } from '../../http/route.ts'
import { Params } from '../../kernel/schema.ts'
import { type Answer, STARTED } from '../../platform/idempotency.ts'
import { readSource } from '../payments/service.ts'
import { cancel } from './cancel-money.ts'
import {
  MerchantCancel,
  MerchantCancelled,
  MerchantEdit,
  MerchantEdited,
  MerchantRefund,
  MerchantRefunded,
  RefundPreview,
  ShopperCancel,
  ShopperCancelled,
  ShopperEdit,
  ShopperEdited,
  ShopperRefund,
  ShopperRefunded,
} from './change-schema.ts'
import { type EditWish, edit } from './edit-money.ts'
import type { Asked } from './operations.ts'
import { previewRefund, refund } from './refund-money.ts'
import type { OrderDeps } from './words.ts'

/** What moves an order's money, each under an Idempotency-Key: the shopper's ways and the merchant's. */

export interface OrderRouteDeps extends OrderDeps {
  /** Keys the fingerprints of requests. */
  idempotencyKey: Buffer
}

/** What is under way ends by itself, so that the same key may try again. */
const BUSY: readonly ErrorCode[] = ['order_busy']

const MONEY: readonly ErrorCode[] = [
  'order_not_found',
  'order_busy',
  'refund_failed',
  'payment_unconfirmed',
]
const REFUND: readonly ErrorCode[] = [...MONEY, 'not_refundable', 'amount_exceeds_refundable']
const CANCEL: readonly ErrorCode[] = [...MONEY, 'invalid_transition']
const EDIT: readonly ErrorCode[] = [
  ...CANCEL,
  'order_item_not_found',
  'charge_not_found',
  'card_required',
  'payment_declined',
  'insufficient_stock',
  'tax_provider_unavailable',
]

interface Once {
  operation: 'refund' | 'cancel' | 'edit'
  /** A shopper's key never answers with what a merchant was told. */
  plane: 'shopper' | 'merchant'
  id: string
}

const doOnce =
  (deps: OrderRouteDeps) =>
  (
    request: FastifyRequest,
    reply: FastifyReply,
    { operation, plane, id }: Once,
    work: (asked: Asked) => Promise<Answer>,
  ) => {
    const target = `${plane} ${id}`
    const options = { operation, secret: deps.idempotencyKey, target, passing: BUSY }
    return once(request, reply, options, (claim) => work({ actor: request.actor, claim }))
  }

export const storefrontRoutes =
  (deps: OrderRouteDeps): Routes =>
  async (app) => {
    await shopperRefund(app, deps)
    await shopperCancel(app, deps)
    await shopperEdit(app, deps)
  }

const tags = ['checkout']
const failuresOf = (codes: readonly ErrorCode[]) => ['unknown_tenant', ...codes] as const

async function shopperRefund(app: App, deps: OrderRouteDeps) {
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
      return doOnce(deps)(request, reply, what, (asked) =>
        refund(deps, db, asked, params.orderId, { by: 'shopper', body }),
      )
    },
  )
}

/** What somebody says of themselves is a claim, and goes no further than the merchant's notes. */
const noteOf = (reason: string | null | undefined, actor: string | null | undefined) =>
  [reason, actor ? `(${actor})` : null].filter(Boolean).join(' ') || null

async function shopperCancel(app: App, deps: OrderRouteDeps) {
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
      const wish = { reason: 'customer', note, charge_id, restock: true, as: 'cancel' } as const
      return doOnce(deps)(request, reply, what, (asked) =>
        cancel(deps, db, asked, params.orderId, wish),
      )
    },
  )
}

/** Every member may be left out, so the whole body may be. */
async function emptyBody(request: { body?: unknown }): Promise<void> {
  request.body ??= {}
}

async function shopperEdit(app: App, deps: OrderRouteDeps) {
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
      return doOnce(deps)(request, reply, what, async (asked) => {
        // What was begun goes on by the gateway's record, also when the card has run out since.
        const isNew = asked.claim.recoveryPoint === STARTED
        const source = isNew ? readSource({ card: body.card }, deps.clock) : null
        const wish: EditWish = { body, funds: { by: 'card', source }, note }
        return edit(deps, db, asked, params.orderId, wish)
      })
    },
  )
}

const scope = 'manage:own_orders'
const merchantTags = ['merchant-orders']

export const merchantRoutes =
  (deps: OrderRouteDeps): Routes =>
  async (app) => {
    await merchantRefund(app, deps)
    await merchantCancel(app, deps)
    await merchantEdit(app, deps)
  }

async function merchantRefund(app: App, deps: OrderRouteDeps) {
  app.post(
    '/v1/merchant/orders/:id/refunds',
    {
      config: { scope, idempotent: true, failures: [...REFUND, 'order_item_not_found'] },
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
      return doOnce(deps)(request, reply, what, (asked) =>
        refund(deps, db, asked, params.id, { by: 'merchant', body }),
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
          'not_refundable',
          'amount_exceeds_refundable',
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

async function merchantCancel(app: App, deps: OrderRouteDeps) {
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
      return doOnce(deps)(request, reply, what, (asked) =>
        cancel(deps, db, asked, params.id, { reason, note, restock, as: 'cancel' }),
      )
    },
  )
}

async function merchantEdit(app: App, deps: OrderRouteDeps) {
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
      const funds = { by: 'vault', allowed: body.charge_card ?? false } as const
      return doOnce(deps)(request, reply, what, (asked) =>
        edit(deps, db, asked, params.id, { body, funds, note: null }),
      )
    },
  )
}
