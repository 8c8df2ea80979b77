import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { AllStores } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import type { App, Routes } from '../../http/route.ts'
import { PAGE_QUERY, readPage } from '../../kernel/page.ts'
import { readOneOf, readText } from '../../kernel/query.ts'
import { OpenObject, PageOf, Params, ref } from '../../kernel/schema.ts'
import type { Limits } from '../../platform/rate-limits.ts'
import { type CallerQueues, createCallerQueues } from './caller-queues.ts'
import {
  AccountChange,
  EVENT_STATUSES,
  GatewayAccount,
  GatewayEvent,
  GatewayEventDetail,
  Receipt,
} from './schema.ts'
import * as providerEvents from './service.ts'

export interface InboundDeps extends providerEvents.ProviderEventDeps {
  limits: Pick<Limits, 'checkFailures' | 'countFailure'>
  callerOf(ip: string): string
}

/** The most bytes of an event: more than any provider sends, and small enough for many requests at once. */
const BODY_BYTES_MAX = 256 * 1_024

const BYTES = 'application/octet-stream'
const NOT_ENCODED = 'identity'

const PATH = '/v1/gateway/:provider/:account_ref'
const OneAccount = Type.Object({ account: ref(GatewayAccount) })

/** Counts a refusal against the caller. A signed event is accepted even if the caller failed often. */
async function countingRefusals<T>(
  { limits, callerOf }: InboundDeps,
  queues: CallerQueues,
  request: FastifyRequest,
  attempt: () => Promise<T>,
): Promise<T> {
  const caller = callerOf(request.ip)
  return queues.run(caller, async () => {
    try {
      return await attempt()
    } catch (error) {
      if (error instanceof ApiError && error.status < 500) {
        queues.markFailed(caller)
        await limits.checkFailures(caller)
        await limits.countFailure(caller)
      }
      throw error
    }
  })
}

async function addInbound(app: App, deps: InboundDeps) {
  const queues = createCallerQueues(deps.clock)
  app.removeAllContentTypeParsers()
  // The bytes are not parsed before their signature is verified, with any content type or with none,
  // which the framework would refuse.
  app.addHook('onRequest', (request, _reply, done) => {
    request.headers = { 'content-type': BYTES }
    done()
  })
  app.addContentTypeParser(
    BYTES,
    { parseAs: 'buffer' },
    async (_: FastifyRequest, bytes: Buffer) => {
      return bytes
    },
  )
  app.post(
    PATH,
    {
      bodyLimit: BODY_BYTES_MAX,
      config: { failures: ['unknown_provider', 'invalid_signature', 'rate_limited', 'db_error'] },
      validatorCompiler: () => () => true,
      schema: {
        operationId: 'receiveProviderEvent',
        tags: ['public'],
        summary:
          "Receive an event of a payment provider or a carrier, signed with the account's key.",
        params: Params('provider', 'account_ref'),
        body: { content: { 'application/json': { schema: OpenObject } } },
        response: { 200: Receipt },
      },
    },
    async (request) => {
      const { params } = request
      const { headers } = request.raw
      const encoding = headers['content-encoding'] ?? NOT_ENCODED
      if (encoding.toLowerCase() !== NOT_ENCODED) throw new ApiError('unsupported_media_type')
      const raw = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
      return countingRefusals(deps, queues, request, () =>
        providerEvents.receive(deps, params, { headers, raw }),
      )
    },
  )
}

/** Adds the route for the events of providers, in a Fastify scope of its own: every other route accepts JSON only. */
export const publicRoutes =
  (deps: InboundDeps): Routes =>
  async (app) => {
    await app.register(async (scope) => addInbound(scope as App, deps))
  }

export const operatorRoutes =
  ({ operator, ...deps }: providerEvents.ProviderEventDeps & { operator: AllStores }): Routes =>
  async (app) => {
    app.put(
      PATH,
      {
        config: { failures: ['unknown_tenant', 'unknown_provider', 'gateway_account_taken'] },
        schema: {
          operationId: 'setGatewayAccount',
          tags: ['operator'],
          summary: "Register a provider's account for a store, with its signing key.",
          params: Params('provider', 'account_ref'),
          body: AccountChange,
          response: { 200: OneAccount },
        },
      },
      async ({ actor, params, body }) => ({
        account: await providerEvents.setAccount(deps, actor, params, body),
      }),
    )

    addAccountReads(app, operator)

    app.delete(
      PATH,
      {
        config: { failures: ['unknown_provider'] },
        schema: {
          operationId: 'removeGatewayAccount',
          tags: ['operator'],
          summary:
            'Remove an account: its events are no longer accepted. Another store can register it then.',
          params: Params('provider', 'account_ref'),
          response: { 200: OneAccount },
        },
      },
      async ({ actor, params }) => ({
        account: await providerEvents.removeAccount(deps, actor, params),
      }),
    )

    addEventRoutes(app, operator)
  }

function addAccountReads(app: App, operator: AllStores): void {
  app.get(
    '/v1/gateway',
    {
      config: {
        query: { provider: Type.String(), tenant_ref: Type.String(), ...PAGE_QUERY },
      },
      schema: {
        operationId: 'listGatewayAccounts',
        tags: ['operator'],
        summary: 'List the accounts whose events are accepted.',
        response: { 200: PageOf('accounts', ref(GatewayAccount)) },
      },
    },
    ({ query }) => {
      const filters = {
        provider: readText(query, 'provider'),
        tenant_ref: readText(query, 'tenant_ref'),
      }
      return providerEvents.listAccounts(operator, filters, readPage(query))
    },
  )

  app.get(
    PATH,
    {
      config: { failures: ['unknown_provider'] },
      schema: {
        operationId: 'readGatewayAccount',
        tags: ['operator'],
        summary: 'Read an account, without its key.',
        params: Params('provider', 'account_ref'),
        response: { 200: OneAccount },
      },
    },
    async ({ params }) => ({ account: await providerEvents.getAccount(operator, params) }),
  )
}

/** Adds the routes that show an operator what providers have sent, and how it was handled. */
function addEventRoutes(app: App, operator: AllStores): void {
  app.get(
    '/v1/gateway/events',
    {
      config: {
        query: {
          provider: Type.String(),
          account_ref: Type.String(),
          tenant_ref: Type.String(),
          status: Type.Enum([...EVENT_STATUSES]),
          ...PAGE_QUERY,
        },
      },
      schema: {
        operationId: 'listGatewayEvents',
        tags: ['operator'],
        summary: 'List the events of providers with their outcome, newest first.',
        response: { 200: PageOf('events', ref(GatewayEvent)) },
      },
    },
    ({ query }) => {
      const filters = {
        provider: readText(query, 'provider'),
        account_ref: readText(query, 'account_ref'),
        tenant_ref: readText(query, 'tenant_ref'),
        status: readOneOf(query, 'status', EVENT_STATUSES),
      }
      return providerEvents.listEvents(operator, filters, readPage(query))
    },
  )

  app.get(
    `${PATH}/events/:event_id`,
    {
      config: { failures: ['gateway_event_not_found'] },
      schema: {
        operationId: 'readGatewayEvent',
        tags: ['operator'],
        summary: 'Read an event with its headers and body.',
        params: Params('provider', 'account_ref', 'event_id'),
        response: { 200: Type.Object({ event: GatewayEventDetail }) },
      },
    },
    async ({ params }) => ({
      event: await providerEvents.getEvent(operator, params, params.event_id),
    }),
  )
}
