import { Type } from 'typebox'
import type { AllStores, Database } from '../../db/database.ts'
import type { Routes } from '../../http/route.ts'
import { PAGE_QUERY, readPage } from '../../kernel/page.ts'
import { readOneOf } from '../../kernel/query.ts'
import { PageOf, Params, ref } from '../../kernel/schema.ts'
import {
  Decision,
  EntitlementRequest,
  Feature,
  FeatureChoice,
  FeatureState,
  NewRequest,
  OperatorRuling,
  REQUEST_STATUSES,
  StoreRequest,
  TierChoice,
} from './schema.ts'
import * as entitlements from './service.ts'

const FeatureList = Type.Object({ tier: Type.String(), features: Type.Array(ref(Feature)) })
const OneRequest = Type.Object({ request: ref(EntitlementRequest) })

export const merchantRoutes: Routes = async (app) => {
  app.get(
    '/v1/my/entitlements',
    {
      config: { scope: 'read:own_store' },
      schema: {
        operationId: 'listEntitlements',
        tags: ['merchant-ops'],
        summary: 'List all add-ons with their state in this store.',
        response: { 200: FeatureList },
      },
    },
    (request) => entitlements.listFeatures(request.db),
  )

  app.post(
    '/v1/merchant/entitlements/enable',
    {
      config: { scope: 'write:own_store', failures: ['not_self_serve', 'operator_restricted'] },
      schema: {
        operationId: 'enableEntitlement',
        tags: ['merchant-ops'],
        summary: 'Enable an add-on. This never bills the store.',
        body: FeatureChoice,
        response: {
          200: Type.Object({
            feature_key: Type.String(),
            enabled: Type.Boolean(),
            already_enabled: Type.Boolean(),
          }),
        },
      },
    },
    (request) => entitlements.enable(request.db, request.actor, request.body.feature_key),
  )

  app.post(
    '/v1/merchant/entitlements/disable',
    {
      config: { scope: 'write:own_store', failures: ['not_self_serve', 'operator_restricted'] },
      schema: {
        operationId: 'disableEntitlement',
        tags: ['merchant-ops'],
        summary: "Disable an add-on. The default of the store's tier applies again.",
        body: FeatureChoice,
        response: {
          200: Type.Object({
            feature_key: Type.String(),
            enabled: Type.Boolean(),
            already_disabled: Type.Boolean(),
          }),
        },
      },
    },
    (request) => entitlements.disable(request.db, request.actor, request.body.feature_key),
  )

  await requestRoutes(app)

  await oneRequestRoutes(app)
}

const requestRoutes: Routes = async (app) => {
  app.post(
    '/v1/merchant/entitlements/requests',
    {
      config: {
        scope: 'write:own_store',
        failures: ['unknown_feature', 'self_serve_available', 'already_enabled'],
      },
      schema: {
        operationId: 'requestEntitlement',
        tags: ['merchant-ops'],
        summary: 'Request an add-on that only the operator can enable.',
        body: NewRequest,
        response: {
          201: OneRequest,
          200: Type.Object({
            request: ref(EntitlementRequest),
            already_requested: Type.Boolean(),
          }),
        },
      },
    },
    async (request, reply) => {
      const requested = await entitlements.request(request.db, request.actor, request.body)
      if (requested.already_requested) return reply.code(200).send(requested)
      return reply.code(201).send({ request: requested.request })
    },
  )

  app.get(
    '/v1/merchant/entitlements/requests',
    {
      config: { scope: 'read:own_store', query: PAGE_QUERY },
      schema: {
        operationId: 'listEntitlementRequests',
        tags: ['merchant-ops'],
        summary: 'List the add-on requests of the store, newest first.',
        response: { 200: PageOf('requests', ref(EntitlementRequest)) },
      },
    },
    (request) => entitlements.listRequests(request.db, readPage(request.query)),
  )
}

const oneRequestRoutes: Routes = async (app) => {
  app.get(
    '/v1/merchant/entitlements/requests/:id',
    {
      config: { scope: 'read:own_store', failures: ['request_not_found'] },
      schema: {
        operationId: 'readEntitlementRequest',
        tags: ['merchant-ops'],
        summary: 'Read an add-on request and its status.',
        params: Params('id'),
        response: { 200: OneRequest },
      },
    },
    (request) => entitlements.getRequest(request.db, request.params.id),
  )

  app.post(
    '/v1/merchant/entitlements/requests/:id/withdraw',
    {
      config: { scope: 'write:own_store', failures: ['request_not_found', 'request_decided'] },
      schema: {
        operationId: 'withdrawEntitlementRequest',
        tags: ['merchant-ops'],
        summary: 'Withdraw an add-on request that is still open.',
        params: Params('id'),
        response: { 200: OneRequest },
      },
    },
    (request) => entitlements.withdraw(request.db, request.actor, request.params.id),
  )
}

interface OperatorDeps {
  operator: AllStores
  database: Database
}

export const operatorRoutes =
  (deps: OperatorDeps): Routes =>
  async (app) => {
    app.get(
      '/v1/entitlements/tenants/:tenant/features',
      {
        config: { failures: ['unknown_tenant'] },
        schema: {
          operationId: 'listTenantFeatures',
          tags: ['operator'],
          summary: 'List the add-ons of a store, with its tier.',
          params: Params('tenant'),
          response: { 200: FeatureList },
        },
      },
      (request) => entitlements.listFeatures(request.db),
    )

    app.get(
      '/v1/entitlements/tenants/:tenant/features/:key',
      {
        config: { failures: ['unknown_tenant', 'unknown_feature'] },
        schema: {
          operationId: 'readTenantFeature',
          tags: ['operator'],
          summary: 'Read the state of one add-on in a store.',
          params: Params('tenant', 'key'),
          response: { 200: Type.Object({ feature: FeatureState }) },
        },
      },
      async (request) => ({
        feature: await entitlements.findState(request.db, request.params.key),
      }),
    )

    app.put(
      '/v1/entitlements/tenants/:tenant/features/:key',
      {
        config: { failures: ['unknown_tenant', 'unknown_feature'] },
        schema: {
          operationId: 'ruleTenantFeature',
          tags: ['operator'],
          summary: 'Allow an add-on, deny it, or leave it to the tier and the merchant.',
          params: Params('tenant', 'key'),
          body: OperatorRuling,
          response: { 200: Type.Object({ feature: FeatureState }) },
        },
      },
      async ({ db, actor, params, body }) => ({
        feature: await entitlements.rule(db, actor, params.key, body),
      }),
    )

    app.put(
      '/v1/entitlements/tenants/:tenant/tier',
      {
        config: { failures: ['unknown_tenant'] },
        schema: {
          operationId: 'setTenantTier',
          tags: ['operator'],
          summary: 'Set the tier of a store.',
          params: Params('tenant'),
          body: TierChoice,
          response: { 200: FeatureList },
        },
      },
      ({ db, actor, body }) => entitlements.setTier(db, actor, body.tier),
    )

    await decisionRoutes(deps)(app)
  }

const decisionRoutes =
  (deps: OperatorDeps): Routes =>
  async (app) => {
    app.get(
      '/v1/entitlements/requests',
      {
        config: { query: { status: EntitlementRequest.properties.status, ...PAGE_QUERY } },
        schema: {
          operationId: 'listAllEntitlementRequests',
          tags: ['operator'],
          summary: 'List the add-on requests of all stores, newest first.',
          response: { 200: PageOf('requests', StoreRequest) },
        },
      },
      ({ query }) => {
        const status = readOneOf(query, 'status', REQUEST_STATUSES)
        return entitlements.listAllRequests(deps.operator, status, readPage(query))
      },
    )

    app.put(
      '/v1/entitlements/requests/:id',
      {
        config: { failures: ['request_not_found', 'request_decided'] },
        schema: {
          operationId: 'decideEntitlementRequest',
          tags: ['operator'],
          summary: 'Approve or decline an add-on request. An approval allows the add-on at once.',
          params: Params('id'),
          body: Decision,
          response: { 200: OneRequest },
        },
      },
      ({ actor, params, body }) => entitlements.decide(deps, actor, params.id, body),
    )
  }
