import { Type } from 'typebox'
import type { ErrorCode } from '../../error-codes.ts'
import { once } from '../../http/idempotent.ts'
import type { App, Routes } from '../../http/route.ts'
import { PAGE_QUERY, readPage } from '../../kernel/page.ts'
import { readId, readOneOf } from '../../kernel/query.ts'
import { Id, PageOf, Params, ref } from '../../kernel/schema.ts'
import type { OperationDeps } from '../operations/service.ts'
import { RETURN_STATES, Return } from '../orders/return-schema.ts'
import { previewReceipt, receiveOperation } from './receive-money.ts'
import { resolve } from './resolve.ts'
import {
  Approval,
  NewReturn,
  Receipt,
  ReceiptPreview,
  Received,
  Refusal,
  Resolution,
  Resolved,
  ReturnRequest,
} from './schema.ts'
import * as returns from './service.ts'

const scope = 'manage:own_returns'
const tags = ['merchant-commerce']

const OneReturn = Type.Object({ return: ref(Return) })

/** Refusals after which the same key may try again: a running operation ends without the caller. */
const BUSY: readonly ErrorCode[] = ['order_busy']

const RETURN: readonly ErrorCode[] = ['return_not_found', 'invalid_transition']
const UNITS: readonly ErrorCode[] = [
  'order_not_found',
  'order_item_not_found',
  'order_busy',
  'invalid_transition',
  'quantity_exceeds_returnable',
  'limit_reached',
]
const RECEIPT: readonly ErrorCode[] = [
  ...RETURN,
  'return_line_not_found',
  'location_not_found',
  'quantity_exceeds_expected',
  'fee_exceeds_refund',
  'amount_exceeds_refundable',
  'credit_unspendable',
  'disputed',
]

export interface ReturnRouteDeps extends OperationDeps {
  /** Keys the fingerprints of requests. */
  idempotencyKey: Buffer
}

/** Replaces a missing body: every member is optional, so the body is too. */
async function emptyBody(request: { body?: unknown }): Promise<void> {
  request.body ??= {}
}

export const merchantRoutes =
  (deps: ReturnRouteDeps): Routes =>
  async (app) => {
    await readRoutes(app)
    await changeRoutes(app)
    await receiveRoutes(app, deps)
  }

const readRoutes: Routes = async (app) => {
  app.get(
    '/v1/merchant/returns',
    {
      config: {
        scope,
        query: { status: Type.Enum([...RETURN_STATES]), order_id: Id, ...PAGE_QUERY },
      },
      schema: {
        operationId: 'listReturns',
        tags,
        summary: "List the store's returns, newest first.",
        response: { 200: PageOf('returns', ref(Return)) },
      },
    },
    ({ db, query }) => {
      const filters = {
        status: readOneOf(query, 'status', RETURN_STATES),
        order_id: readId(query, 'order_id'),
      }
      return returns.list(db, filters, readPage(query))
    },
  )

  app.get(
    '/v1/merchant/returns/:id',
    {
      config: { scope, failures: ['return_not_found'] },
      schema: {
        operationId: 'readReturn',
        tags,
        summary: 'Read a return.',
        params: Params('id'),
        response: { 200: OneReturn },
      },
    },
    async ({ db, params }) => ({ return: await returns.get(db, params.id) }),
  )
}

const changeRoutes: Routes = async (app) => {
  app.post(
    '/v1/merchant/returns',
    {
      config: { scope, failures: UNITS },
      schema: {
        operationId: 'createReturn',
        tags,
        summary: 'Create a return of units that have shipped. It is approved at once.',
        body: NewReturn,
        response: { 201: OneReturn },
      },
    },
    async ({ db, actor, body }, reply) =>
      reply.code(201).send({ return: await returns.create(db, actor, body) }),
  )

  app.post(
    '/v1/merchant/returns/:id/approve',
    {
      config: { scope, failures: RETURN },
      schema: {
        operationId: 'approveReturn',
        tags,
        summary: "Approve a shopper's return, with instructions and a label.",
        params: Params('id'),
        body: Approval,
        response: { 200: OneReturn },
      },
      preValidation: emptyBody,
    },
    async ({ db, actor, params, body }) => ({
      return: await returns.approve(db, actor, params.id, body),
    }),
  )

  app.post(
    '/v1/merchant/returns/:id/decline',
    {
      config: { scope, failures: RETURN },
      schema: {
        operationId: 'declineReturn',
        tags,
        summary: "Decline a shopper's return. The shopper sees the reason.",
        params: Params('id'),
        body: Refusal,
        response: { 200: OneReturn },
      },
    },
    async ({ db, actor, params, body }) => ({
      return: await returns.decline(db, actor, params.id, body.reason),
    }),
  )

  app.post(
    '/v1/merchant/returns/:id/cancel',
    {
      config: { scope, failures: [...RETURN, 'exchange_open'] },
      schema: {
        operationId: 'cancelReturn',
        tags,
        summary: 'Cancel a return of which nothing has come.',
        params: Params('id'),
        response: { 200: OneReturn },
      },
    },
    async ({ db, actor, params }) => ({ return: await returns.cancel(db, actor, params.id) }),
  )

  app.post(
    '/v1/merchant/returns/:id/close',
    {
      config: { scope, failures: RETURN },
      schema: {
        operationId: 'closeReturn',
        tags,
        summary: 'Close a return of which nothing more is expected.',
        params: Params('id'),
        response: { 200: OneReturn },
      },
    },
    async ({ db, actor, params }) => ({ return: await returns.close(db, actor, params.id) }),
  )
}

async function receiveRoutes(app: App, deps: ReturnRouteDeps) {
  app.post(
    '/v1/merchant/returns/:id/receive',
    {
      config: {
        scope,
        idempotent: true,
        failures: [...RECEIPT, 'order_busy', 'payment_unconfirmed'],
      },
      schema: {
        operationId: 'receiveReturn',
        tags,
        summary:
          'Receive units of a return with their dispositions, and refund them in the same step.',
        params: Params('id'),
        body: Receipt,
        response: { 200: Received },
      },
    },
    (request, reply) => {
      const { db, body, params, actor } = request
      const target = `merchant ${params.id}`
      const options = {
        operation: 'return_receive',
        secret: deps.idempotencyKey,
        target,
        passing: BUSY,
      }
      return once(request, reply, options, (claim) =>
        receiveOperation.run(deps, db, { actor, claim }, { returnId: params.id, body }),
      )
    },
  )

  app.post(
    '/v1/merchant/returns/:id/receive/preview',
    {
      config: { scope, failures: RECEIPT },
      schema: {
        operationId: 'previewReceipt',
        tags,
        summary:
          'Preview a receipt: its refund and the units that go back to stock. Nothing is changed.',
        params: Params('id'),
        body: Receipt,
        response: { 200: ReceiptPreview },
      },
    },
    ({ db, params, body }) => previewReceipt(db, params.id, body),
  )

  app.post(
    '/v1/merchant/returns/:id/resolve',
    {
      config: {
        scope,
        failures: [
          'return_not_found',
          'return_line_not_found',
          'location_not_found',
          'quantity_exceeds_expected',
        ],
      },
      schema: {
        operationId: 'resolveReturn',
        tags,
        summary: 'Resolve units in quarantine: put them back to stock, or write them off.',
        params: Params('id'),
        body: Resolution,
        response: { 200: Resolved },
      },
    },
    ({ db, actor, params, body }) => resolve(db, actor, params.id, body),
  )
}

export interface ShopperReturnDeps extends ReturnRouteDeps, returns.ReturnDeps {}

export const storefrontRoutes =
  ({ idempotencyKey: secret, listFulfillments }: ShopperReturnDeps): Routes =>
  async (app) => {
    app.post(
      '/v1/tenants/:tenant/orders/:orderId/returns',
      {
        config: {
          idempotent: true,
          failures: ['unknown_tenant', ...UNITS, 'return_window_closed', 'final_sale'],
        },
        schema: {
          operationId: 'requestReturn',
          tags: ['checkout'],
          summary:
            'Ask to send units of an order back. The order itself says which (`returnable`).',
          params: Params('tenant', 'orderId'),
          body: ReturnRequest,
          response: { 201: OneReturn },
        },
      },
      (request, reply) => {
        const { db, body, params, actor } = request
        const target = `shopper ${params.orderId}`
        const options = { operation: 'return_request', secret, target, passing: BUSY }
        return once(request, reply, options, (claim) =>
          returns.request(db, { actor, claim, listFulfillments }, params.orderId, body),
        )
      },
    )
  }
