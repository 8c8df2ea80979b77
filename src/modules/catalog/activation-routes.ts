import { Type } from 'typebox'
import type { AllStores, Database } from '../../db/database.ts'
import type { Routes } from '../../http/route.ts'
import { PAGE_QUERY, readPage } from '../../kernel/page.ts'
import { readOneOf } from '../../kernel/query.ts'
import { PageOf, Params, ref } from '../../kernel/schema.ts'
import { Decision, REQUEST_STATUSES } from '../entitlements/schema.ts'
import * as activation from './activation.ts'
import {
  ActivationRequest,
  ActivationWarning,
  NewActivationRequest,
  StoreActivationRequest,
} from './activation-schema.ts'
import { type AssetBase, toMerchantProduct } from './product-json.ts'
import { MerchantProduct } from './schema.ts'

const warnings = Type.Array(ActivationWarning, {
  description: 'What shoppers would miss: a price or an image. Nothing is refused for it.',
})
const OneRequest = Type.Object({ request: ref(ActivationRequest), warnings })

export const merchantRoutes: Routes = async (app) => {
  app.post(
    '/v1/merchant/catalog/products/:id/activation-request',
    {
      config: {
        scope: 'manage:own_catalog',
        failures: ['product_not_found', 'invalid_transition'],
      },
      schema: {
        operationId: 'requestActivation',
        tags: ['merchant-commerce'],
        summary:
          'Request that the operator makes a draft product active. The decision is mailed to the owner, and `activation_request` of the product shows it.',
        params: Params('id'),
        body: NewActivationRequest,
        response: {
          201: OneRequest,
          200: Type.Object({ ...OneRequest.properties, already_requested: Type.Boolean() }),
        },
      },
      // Every member may be left out, so the whole body may be.
      preValidation: async (request) => {
        request.body ??= {}
      },
    },
    async ({ db, actor, params, body }, reply) => {
      const requested = await activation.request(db, actor, params.id, body)
      if (requested.already_requested) return reply.code(200).send(requested)
      const { request, warnings } = requested
      return reply.code(201).send({ request, warnings })
    },
  )
}

interface OperatorDeps {
  operator: AllStores
  database: Database
  assetBase(): AssetBase
}

export const operatorRoutes =
  (deps: OperatorDeps): Routes =>
  async (app) => {
    app.post(
      '/v1/stores/:tenant/products/:id/activate',
      {
        config: { failures: ['unknown_tenant', 'product_not_found', 'invalid_transition'] },
        schema: {
          operationId: 'activateProduct',
          tags: ['operator'],
          summary:
            'Activate a draft product. Merchants cannot; their open request for it is approved.',
          params: Params('tenant', 'id'),
          response: { 200: Type.Object({ product: ref(MerchantProduct), warnings }) },
        },
      },
      async ({ db, actor, params }) => {
        const { product, warnings } = await activation.activate(db, actor, params.id)
        return { product: toMerchantProduct(deps.assetBase(), product), warnings }
      },
    )

    app.post(
      '/v1/stores/:tenant/products/:id/unarchive',
      {
        config: { failures: ['unknown_tenant', 'product_not_found', 'slug_exists'] },
        schema: {
          operationId: 'unarchiveProduct',
          tags: ['operator'],
          summary:
            'Unarchive a product: it is a draft again. Merchants cannot. 409 `slug_exists` if another product has its slug by now.',
          params: Params('tenant', 'id'),
          response: { 200: Type.Object({ product: ref(MerchantProduct) }) },
        },
      },
      async ({ db, actor, params }) => {
        const product = await activation.unarchive(db, actor, params.id)
        return { product: toMerchantProduct(deps.assetBase(), product) }
      },
    )

    app.get(
      '/v1/catalog/activation-requests',
      {
        config: { query: { status: ActivationRequest.properties.status, ...PAGE_QUERY } },
        schema: {
          operationId: 'listActivationRequests',
          tags: ['operator'],
          summary: 'List the activation requests of all stores, newest first.',
          response: { 200: PageOf('requests', ref(StoreActivationRequest)) },
        },
      },
      ({ query }) => {
        const status = readOneOf(query, 'status', REQUEST_STATUSES)
        return activation.listAllRequests(deps.operator, status, readPage(query))
      },
    )

    app.put(
      '/v1/catalog/activation-requests/:id',
      {
        config: { failures: ['request_not_found', 'request_decided'] },
        schema: {
          operationId: 'decideActivationRequest',
          tags: ['operator'],
          summary:
            'Approve or decline an activation request. An approval makes the product active at once.',
          params: Params('id'),
          body: Decision,
          response: { 200: OneRequest },
        },
      },
      ({ actor, params, body }) => activation.decide(deps, actor, params.id, body),
    )
  }
