import { Type } from 'typebox'
import type { AllStores } from '../../db/database.ts'
import type { Routes } from '../../http/route.ts'
import { PAGE_QUERY, readPage } from '../../kernel/page.ts'
import { readOneOf } from '../../kernel/query.ts'
import { PageOf, Params, ref } from '../../kernel/schema.ts'
import { SimCharge } from './adapters/simulated/schema.ts'
import { dropOwn, type OwnGatewayDeps, readOwn, setOwn } from './own-gateway.ts'
import {
  CardForm,
  Discrepancy,
  OwnGatewayChange,
  PaymentSettings,
  SettingsChange,
  Unsettled,
  UnsettledOfStore,
} from './schema.ts'
import * as payments from './service.ts'
import { listAllUnsettled, listUnsettled } from './unsettled.ts'

const Settings = Type.Object({ payments: ref(PaymentSettings) })
const STATUSES = ['open', 'all'] as const

const ownGatewayRoutes =
  (deps: OwnGatewayDeps): Routes =>
  async (app) => {
    const url = '/v1/my/gateway'
    const scope = 'manage:own_gateway'
    const tags = ['merchant-ops']
    const Gateway = Type.Object({ gateway: ref(PaymentSettings) })
    app.get(
      url,
      {
        config: { scope },
        schema: {
          operationId: 'readOwnGateway',
          tags,
          summary: 'Read which gateway account takes the payments of the store.',
          response: { 200: Gateway },
        },
      },
      async ({ db }) => ({ gateway: await readOwn(db, deps) }),
    )

    app.put(
      url,
      {
        config: {
          scope,
          failures: [
            'feature_not_enabled',
            'operator_restricted',
            'sandbox_store',
            'gateway_refused',
            'gateway_unavailable',
          ],
        },
        schema: {
          operationId: 'setOwnGateway',
          tags,
          summary:
            "Take payments by the store's own gateway account. Its credential is tried at the provider first, without moving money. Needs the add-on `dedicated_gateway`.",
          body: OwnGatewayChange,
          response: { 200: Gateway },
        },
      },
      async ({ db, actor, body }) => ({ gateway: await setOwn(db, actor, deps, body) }),
    )

    app.delete(
      url,
      {
        config: { scope, failures: ['gateway_busy'] },
        schema: {
          operationId: 'deleteOwnGateway',
          tags,
          summary: 'Take payments by the account of the installation again.',
          response: {
            200: Type.Object({ ...Gateway.properties, already_removed: Type.Boolean() }),
          },
        },
      },
      ({ db, actor }) => dropOwn(db, actor, deps),
    )
  }

export const merchantRoutes =
  (deps: OwnGatewayDeps): Routes =>
  async (app) => {
    await ownGatewayRoutes(deps)(app)
    await recordRoutes(app)
  }

const recordRoutes: Routes = async (app) => {
  app.get(
    '/v1/merchant/payments/discrepancies',
    {
      config: {
        scope: 'read:own_orders',
        query: { status: Type.Enum([...STATUSES], { default: 'open' }), ...PAGE_QUERY },
      },
      schema: {
        operationId: 'listPaymentDiscrepancies',
        tags: ['merchant-ops'],
        summary: "List the differences between the gateway's records and ours, newest first.",
        response: { 200: PageOf('discrepancies', ref(Discrepancy)) },
      },
    },
    ({ db, query }) => {
      const status = readOneOf(query, 'status', STATUSES) ?? 'open'
      return payments.listDiscrepancies(db, status === 'open', readPage(query))
    },
  )
}

export const storefrontRoutes =
  (deps: payments.PaymentDeps): Routes =>
  async (app) => {
    app.get(
      '/v1/tenants/:tenant/card-form',
      {
        config: { failures: ['unknown_tenant'] },
        schema: {
          operationId: 'readCardForm',
          tags: ['checkout'],
          summary:
            'Read whether a storefront asks for a card in its own fields or in those of the gateway.',
          params: Params('tenant'),
          response: { 200: Type.Object({ card_form: ref(CardForm) }) },
        },
      },
      async ({ db }) => ({ card_form: await payments.cardForm(db, deps) }),
    )
  }

export const operatorRoutes =
  (deps: payments.PaymentDeps, operator: AllStores): Routes =>
  async (app) => {
    app.get(
      '/v1/payments/unsettled',
      {
        config: { query: PAGE_QUERY },
        schema: {
          operationId: 'listAllUnsettledPayments',
          tags: ['operator'],
          summary:
            'List the payments of all stores without an answer from their gateway for hours, oldest first.',
          response: { 200: PageOf('payments', ref(UnsettledOfStore)) },
        },
      },
      ({ query }) => listAllUnsettled(operator, readPage(query)),
    )

    app.put(
      '/v1/stores/:tenant/payments',
      {
        config: { failures: ['unknown_tenant', 'sandbox_store'] },
        schema: {
          operationId: 'setStorePayments',
          tags: ['operator'],
          summary: 'Set the gateway of a store and its credentials.',
          params: Params('tenant'),
          body: SettingsChange,
          response: { 200: Settings },
        },
      },
      async ({ db, actor, body }) => ({
        payments: await payments.setGateway(db, actor, deps, body),
      }),
    )

    app.get(
      '/v1/stores/:tenant/payments',
      {
        config: { failures: ['unknown_tenant'] },
        schema: {
          operationId: 'readStorePayments',
          tags: ['operator'],
          summary: 'Read the gateway of a store.',
          params: Params('tenant'),
          response: { 200: Settings },
        },
      },
      async ({ db }) => ({ payments: await payments.settings(db, deps) }),
    )

    app.get(
      '/v1/stores/:tenant/payments/unsettled',
      {
        config: { failures: ['unknown_tenant'], query: PAGE_QUERY },
        schema: {
          operationId: 'listUnsettledPayments',
          tags: ['operator'],
          summary:
            'List the payments without an answer from their gateway for hours, oldest first.',
          params: Params('tenant'),
          response: { 200: PageOf('payments', ref(Unsettled)) },
        },
      },
      ({ db, query }) => listUnsettled(db, readPage(query)),
    )

    app.get(
      '/v1/stores/:tenant/payments/simulated',
      {
        config: { failures: ['unknown_tenant'], query: PAGE_QUERY },
        schema: {
          operationId: 'listSimulatedCharges',
          tags: ['operator'],
          summary: "List the simulated gateway's own record of a store's charges, newest first.",
          params: Params('tenant'),
          response: { 200: PageOf('charges', ref(SimCharge)) },
        },
      },
      ({ db, query }) => payments.listSimulated(db, readPage(query)),
    )
  }
