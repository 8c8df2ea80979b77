import { Type } from 'typebox'
import type { Routes } from '../../http/route.ts'
import { clamp, PAGE_QUERY, readPage } from '../../kernel/page.ts'
import { readId, readOneOf, readText } from '../../kernel/query.ts'
import { PageOf, Params, ref } from '../../kernel/schema.ts'
import { type OperatorDeps, redrive, redriveAll } from './redrive.ts'
import { REPLAY_EVENTS_MAX, REPLAYS_PER_MINUTE, replay } from './replay.ts'
import {
  DELIVERY_STATUSES,
  Delivery,
  DeliveryDetail,
  DeliveryStatus,
  Feed,
  ListedSubscription,
  NewSubscription,
  Redrive,
  Redriven,
  Replay,
  Replayed,
  SecretRotated,
  SubscriptionCreated,
  SubscriptionDeleted,
  TestOutcome,
} from './schema.ts'
import * as webhooks from './service.ts'
import { fireTest } from './test-fire.ts'

const scope = 'manage:own_webhooks'
const tags = ['merchant-ops']

export const merchantRoutes =
  (deps: webhooks.Webhooks): Routes =>
  async (app) => {
    app.post(
      '/v1/merchant/webhooks',
      {
        config: { scope, failures: ['unknown_event', 'unsafe_url', 'webhook_limit_reached'] },
        schema: {
          operationId: 'createWebhook',
          tags,
          summary: 'Register an endpoint. The signing secret is shown only in this answer.',
          body: NewSubscription,
          response: { 201: SubscriptionCreated },
        },
      },
      async ({ db, actor, body }, reply) =>
        reply.code(201).send(await webhooks.subscribe(deps, db, actor, body)),
    )

    app.get(
      '/v1/merchant/webhooks',
      {
        config: { scope },
        schema: {
          operationId: 'listWebhooks',
          tags,
          summary: "List the store's endpoints, with their failures.",
          response: { 200: Type.Object({ subscriptions: Type.Array(ref(ListedSubscription)) }) },
        },
      },
      async ({ db }) => ({ subscriptions: await webhooks.list(deps, db) }),
    )

    app.delete(
      '/v1/merchant/webhooks/:id',
      {
        config: { scope, failures: ['webhook_not_found'] },
        schema: {
          operationId: 'deleteWebhook',
          tags,
          summary:
            'Delete an endpoint. Its pending deliveries become dead letters when they are due.',
          params: Params('id'),
          response: { 200: SubscriptionDeleted },
        },
      },
      ({ db, actor, params }) => webhooks.remove(db, actor, params.id),
    )

    await oneEndpointRoutes(deps)(app)

    await app.register(deliveryRoutes)
  }

const oneEndpointRoutes =
  (deps: webhooks.Webhooks): Routes =>
  async (app) => {
    app.post(
      '/v1/merchant/webhooks/:id/test',
      {
        config: { scope, failures: ['webhook_not_found'] },
        schema: {
          operationId: 'testWebhook',
          tags,
          summary: 'Send a signed test event now, in one attempt; at most ten times a minute.',
          params: Params('id'),
          response: { 200: TestOutcome },
        },
      },
      ({ db, params }) => fireTest(deps, db, params.id),
    )

    app.post(
      '/v1/merchant/webhooks/:id/rotate-secret',
      {
        config: { scope, failures: ['webhook_not_found', 'rotation_in_progress'] },
        schema: {
          operationId: 'rotateWebhookSecret',
          tags,
          summary:
            'Rotate the signing secret. For 24 hours deliveries are signed with the previous one too.',
          params: Params('id'),
          response: { 200: SecretRotated },
        },
      },
      ({ db, actor, params }) => webhooks.rotate(deps, db, actor, params.id),
    )

    app.post(
      '/v1/merchant/webhooks/:id/replay',
      {
        config: { scope, failures: ['webhook_not_found', 'webhook_paused'] },
        schema: {
          operationId: 'replayWebhook',
          tags,
          summary: `Send the events again that an endpoint has missed, in their order: up to ${REPLAY_EVENTS_MAX} events in a call, ${REPLAYS_PER_MINUTE} calls a minute. Sent in the background, marked by \`x-webhook-replay\`.`,
          params: Params('id'),
          body: Replay,
          response: { 202: Type.Object({ replay: Replayed }) },
        },
      },
      async ({ db, actor, params, body }, reply) =>
        reply.code(202).send({ replay: await replay(deps, db, actor, { id: params.id, ...body }) }),
    )
  }

const FILTERS = {
  status: DeliveryStatus,
  subscription_id: Type.String({ format: 'uuid' }),
  event_type: Type.String(),
  event_id: Type.String({ format: 'uuid' }),
}

/** The bounds of a page of the feed, which may be larger than a page of a list: programs read it, again and again. */
const FEED_LIMIT = { min: 1, max: 500, otherwise: 100 }

const deliveryRoutes: Routes = async (app) => {
  app.get(
    '/v1/merchant/deliveries',
    {
      config: { scope, query: { ...FILTERS, ...PAGE_QUERY } },
      schema: {
        operationId: 'listDeliveries',
        tags,
        summary: 'List the deliveries, newest first.',
        response: { 200: PageOf('deliveries', ref(Delivery)) },
      },
    },
    ({ db, query }) => webhooks.listDeliveries(db, readFilters(query), readPage(query)),
  )

  app.get(
    '/v1/merchant/deliveries/:id',
    {
      config: { scope, failures: ['delivery_not_found'] },
      schema: {
        operationId: 'readDelivery',
        tags,
        summary: 'Read a delivery with its attempts.',
        params: Params('id'),
        response: { 200: Type.Object({ delivery: DeliveryDetail }) },
      },
    },
    async ({ db, params }) => ({ delivery: await webhooks.getDelivery(db, params.id) }),
  )

  app.get(
    '/v1/merchant/events',
    {
      config: {
        scope,
        query: {
          after: Type.Integer({ minimum: 0, default: 0 }),
          limit: Type.Integer({ minimum: 1, maximum: FEED_LIMIT.max, default: 100 }),
        },
      },
      schema: {
        operationId: 'listEvents',
        tags,
        summary: 'List the feed: all events after a position, in order and without gaps.',
        response: { 200: Feed },
      },
    },
    ({ db, query }) => {
      const { after, limit } = query as { after?: unknown; limit?: unknown }
      const position = clamp(after, { min: 0, max: Number.MAX_SAFE_INTEGER, otherwise: 0 })
      return webhooks.readFeed(db, position, clamp(limit, FEED_LIMIT))
    },
  )
}

/** Reads the filters of a list of deliveries. */
const readFilters = (query: unknown) => ({
  status: readOneOf(query, 'status', DELIVERY_STATUSES),
  subscription_id: readId(query, 'subscription_id'),
  event_id: readId(query, 'event_id'),
  event_type: readText(query, 'event_type'),
})

export const operatorRoutes =
  (deps: OperatorDeps): Routes =>
  async (app) => {
    app.post(
      '/v1/deliveries/:id/redrive',
      {
        config: { failures: ['delivery_not_found', 'not_redrivable'] },
        schema: {
          operationId: 'redriveDelivery',
          tags: ['operator'],
          summary: 'Send a delivery again, with the same bytes and six new attempts.',
          params: Params('id'),
          response: { 200: Type.Object({ delivery: DeliveryDetail }) },
        },
      },
      async ({ actor, params }) => ({ delivery: await redrive(deps, actor, params.id) }),
    )

    app.post(
      '/v1/deliveries/redrive',
      {
        config: { failures: ['webhook_not_found'] },
        schema: {
          operationId: 'redriveDeliveries',
          tags: ['operator'],
          summary: "Send an endpoint's dead letters of a period again.",
          body: Redrive,
          response: { 200: Redriven },
        },
      },
      ({ actor, body }) => redriveAll(deps, actor, body),
    )
  }
