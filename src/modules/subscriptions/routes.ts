import { Type } from 'typebox'
import type { App, Routes } from '../../http/route.ts'
import { clamp, PAGE_QUERY, readPage } from '../../kernel/page.ts'
import { readOneOf, readText, readTimestamp } from '../../kernel/query.ts'
import { isCustomerRef, PageOf, Params, ref, Timestamp } from '../../kernel/schema.ts'
import { edit } from './edit.ts'
import { FORECAST_DAYS, forecast } from './forecast.ts'
import { Forecast } from './forecast-schema.ts'
import { type LinkDeps, openLink } from './link.ts'
import type { CardDeps } from './new-card.ts'
import * as read from './read.ts'
import {
  Cycle,
  MerchantCycle,
  OneSubscription,
  STATUSES,
  Subscription,
  SubscriptionStatus,
} from './schema.ts'
import { putSettings, readSettings } from './settings.ts'
import { FAILURES, type Plane, verbRoutes } from './verb-routes.ts'
import {
  Change,
  Changed,
  LinkToken,
  OpenedLink,
  Settings,
  SettingsChange,
  ShopperChange,
} from './verb-schema.ts'

const scope = 'manage:own_subscriptions'
const tags = ['merchant-commerce']

const BASE = '/v1/merchant/subscriptions'
const OWN = '/v1/tenants/:tenant/subscriptions'

const OneSettings = Type.Object({ settings: ref(Settings) })

/** The reference of no customer, for a text that cannot name one. */
const NO_CUSTOMER = ''

function customerOf(query: unknown): string | undefined {
  const text = readText(query, 'customer_ref')
  return text === undefined || isCustomerRef(text) ? text : NO_CUSTOMER
}

/** Returns the customer of a shopper's request. Without one, nothing is found. */
const ownOf = ({ query }: { query: unknown }): string => customerOf(query) ?? NO_CUSTOMER

const MERCHANT: Plane = {
  base: BASE,
  config: { scope, failures: [] },
  tags,
  params: Params('id'),
  nameOf: (verb) => `${verb}Subscription`,
  whoseOf: () => null,
  byShopper: false,
}

const CUSTOMER_QUERY = {
  customer_ref: Type.String({
    description: "The customer of the subscription. Another customer's is a 404.",
  }),
}

const SHOPPER: Plane = {
  base: OWN,
  config: { query: CUSTOMER_QUERY, failures: ['unknown_tenant'] },
  tags: ['checkout'],
  params: Params('tenant', 'id'),
  nameOf: (verb) => `${verb}OwnSubscription`,
  whoseOf: ownOf,
  byShopper: true,
}

export const merchantRoutes =
  (deps: CardDeps): Routes =>
  async (app) => {
    await readRoutes(app)
    await storeRoutes(app)
    verbRoutes(app, MERCHANT, deps)
    app.patch(
      `${BASE}/:id`,
      {
        config: { scope, failures: FAILURES.change },
        schema: {
          operationId: 'changeSubscription',
          tags,
          summary: 'Change the variant, quantity, dates, address or price of a subscription.',
          params: Params('id'),
          body: Change,
          response: { 200: Changed },
        },
      },
      ({ db, actor, params, body }) =>
        edit(db, { actor, whose: null, id: params.id, version: body.version }, body),
    )
  }

async function readRoutes(app: App) {
  app.get(
    BASE,
    {
      config: {
        scope,
        query: {
          status: SubscriptionStatus,
          customer_ref: Type.String(),
          due_before: Type.String({
            ...Timestamp,
            description:
              'Lists the subscriptions whose next charge is before this time, the earliest first.',
          }),
          ...PAGE_QUERY,
        },
      },
      schema: {
        operationId: 'listSubscriptions',
        tags,
        summary: "List the store's subscriptions, newest first.",
        response: { 200: PageOf('subscriptions', ref(Subscription)) },
      },
    },
    ({ db, query }) => {
      const filters = {
        status: readOneOf(query, 'status', STATUSES),
        customer_ref: customerOf(query),
        due_before: readTimestamp(query, 'due_before'),
      }
      return read.list(db, filters, readPage(query))
    },
  )

  app.get(
    `${BASE}/:id`,
    {
      config: { scope, failures: ['subscription_not_found'] },
      schema: {
        operationId: 'readSubscription',
        tags,
        summary: 'Read a subscription, with its next three charges.',
        params: Params('id'),
        response: { 200: OneSubscription },
      },
    },
    async ({ db, params }) => ({ subscription: await read.get(db, params.id, null) }),
  )

  app.get(
    `${BASE}/:id/cycles`,
    {
      config: { scope, failures: ['subscription_not_found'], query: PAGE_QUERY },
      schema: {
        operationId: 'listSubscriptionCycles',
        tags,
        summary:
          'List the cycles of a subscription with their outcome, newest first, with the codes of banks and card networks.',
        params: Params('id'),
        response: { 200: PageOf('cycles', ref(MerchantCycle)) },
      },
    },
    ({ db, params, query }) => read.listMerchantCycles(db, params.id, readPage(query)),
  )
}

async function storeRoutes(app: App) {
  app.get(
    `${BASE}/upcoming`,
    {
      config: {
        scope,
        query: {
          days: Type.Integer({
            minimum: 1,
            maximum: FORECAST_DAYS.max,
            default: FORECAST_DAYS.default,
          }),
        },
      },
      schema: {
        operationId: 'forecastSubscriptions',
        tags,
        summary:
          'Forecast the charges of the coming days: how many, how much, and the stock that they need.',
        response: { 200: Forecast },
      },
    },
    ({ db, query }) => {
      const { days } = query as { days?: unknown }
      const bounds = { min: 1, max: FORECAST_DAYS.max, otherwise: FORECAST_DAYS.default }
      return forecast(db, clamp(days, bounds))
    },
  )

  app.get(
    `${BASE}/settings`,
    {
      config: { scope },
      schema: {
        operationId: 'readSubscriptionSettings',
        tags,
        summary: 'Read the settings of renewals: notices, missing stock and declined charges.',
        response: { 200: OneSettings },
      },
    },
    async ({ db }) => ({ settings: await readSettings(db) }),
  )

  app.put(
    `${BASE}/settings`,
    {
      config: { scope },
      schema: {
        operationId: 'setSubscriptionSettings',
        tags,
        summary: 'Set the settings of renewals. A member that is left out has its default.',
        body: SettingsChange,
        response: { 200: OneSettings },
      },
    },
    async ({ db, actor, body }) => ({ settings: await putSettings(db, actor, body) }),
  )
}

export interface ShopperDeps extends CardDeps {
  links: LinkDeps
}

export const storefrontRoutes =
  (deps: ShopperDeps): Routes =>
  async (app) => {
    await ownReadRoutes(app)
    verbRoutes(app, SHOPPER, deps)
    app.patch(
      `${OWN}/:id`,
      {
        config: { ...SHOPPER.config, failures: ['unknown_tenant', ...FAILURES.change] },
        schema: {
          operationId: 'changeOwnSubscription',
          tags: SHOPPER.tags,
          summary:
            "Change the variant, quantity, dates or address of a shopper's own subscription. Only the merchant changes its price policy and its length.",
          params: Params('tenant', 'id'),
          body: ShopperChange,
          response: { 200: Changed },
        },
      },
      (request) => {
        const { db, actor, params, body } = request
        const { quantity, variant_id, interval, interval_count, next_charge_at, ship_to } = body
        const changes = { quantity, variant_id, interval, interval_count, next_charge_at, ship_to }
        const named = Object.entries(changes).filter(([, value]) => value !== undefined)
        const changing = { actor, whose: ownOf(request), id: params.id, version: body.version }
        return edit(db, changing, Object.fromEntries(named))
      },
    )

    app.post(
      `${OWN}/links/open`,
      {
        config: { failures: ['unknown_tenant', 'subscription_not_found'] },
        schema: {
          operationId: 'openSubscriptionLink',
          tags: SHOPPER.tags,
          summary:
            "Open a mailed link to a subscription: its token gives the subscription's id and customer_ref. A token that expired, or of another store, is a 404.",
          params: Params('tenant'),
          body: LinkToken,
          response: { 200: OpenedLink },
        },
      },
      ({ db, body }) => openLink(deps.links, db, body.token),
    )
  }

async function ownReadRoutes(app: App) {
  app.get(
    OWN,
    {
      config: { query: { ...CUSTOMER_QUERY, ...PAGE_QUERY }, failures: ['unknown_tenant'] },
      schema: {
        operationId: 'listOwnSubscriptions',
        tags: SHOPPER.tags,
        summary: "List a shopper's own subscriptions, newest first.",
        params: Params('tenant'),
        response: { 200: PageOf('subscriptions', ref(Subscription)) },
      },
    },
    (request) => {
      const filters = { status: undefined, customer_ref: ownOf(request), due_before: undefined }
      return read.list(request.db, filters, readPage(request.query))
    },
  )

  app.get(
    `${OWN}/:id`,
    {
      config: { ...SHOPPER.config, failures: ['unknown_tenant', 'subscription_not_found'] },
      schema: {
        operationId: 'readOwnSubscription',
        tags: SHOPPER.tags,
        summary: "Read a shopper's own subscription. One of another customer is a 404.",
        params: Params('tenant', 'id'),
        response: { 200: OneSubscription },
      },
    },
    async (request) => ({
      subscription: await read.get(request.db, request.params.id, ownOf(request)),
    }),
  )

  app.get(
    `${OWN}/:id/cycles`,
    {
      config: {
        query: { ...CUSTOMER_QUERY, ...PAGE_QUERY },
        failures: ['unknown_tenant', 'subscription_not_found'],
      },
      schema: {
        operationId: 'listOwnSubscriptionCycles',
        tags: SHOPPER.tags,
        summary:
          "List the cycles of a shopper's own subscription with their outcome, newest first.",
        params: Params('tenant', 'id'),
        response: { 200: PageOf('cycles', ref(Cycle)) },
      },
    },
    (request) =>
      read.listCycles(request.db, request.params.id, ownOf(request), readPage(request.query)),
  )
}
