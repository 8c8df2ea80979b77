import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { AllStores, Database } from '../../db/database.ts'
import { ApiError } from '../../errors.ts'
import { readJson } from '../../http/body.ts'
import type { Limited } from '../../http/guards.ts'
import type { App, Routes } from '../../http/route.ts'
import { machineNow } from '../../kernel/clock.ts'
import { PAGE_QUERY, readPage } from '../../kernel/page.ts'
import { readOneOf, readText } from '../../kernel/query.ts'
import { PageOf, Params, ref } from '../../kernel/schema.ts'
import { verifyStandard } from '../../platform/event-signatures.ts'
import {
  Feedback,
  FeedbackReceipt,
  GlobalSuppression,
  LiftRequest,
  NewSuppression,
  SUPPRESSION_REASONS,
  Suppression,
} from './suppression-schema.ts'
import * as suppressions from './suppressions.ts'

const tags = ['merchant-ops']
const scope = 'manage:own_marketing' as const
const path = '/v1/merchant/marketing/suppressions'
const OneSuppression = Type.Object({ suppression: ref(Suppression) })

export const merchantRoutes: Routes = async (app) => {
  app.get(
    path,
    {
      config: {
        scope,
        query: {
          email: Type.String({ description: 'The whole address, in any case.' }),
          reason: Type.Enum([...SUPPRESSION_REASONS]),
          ...PAGE_QUERY,
        },
      },
      schema: {
        operationId: 'listMailSuppressions',
        tags,
        summary: 'List the addresses that get no marketing of the store, newest first.',
        response: { 200: PageOf('suppressions', ref(Suppression)) },
      },
    },
    ({ db, query }) => {
      const email = readText(query, 'email')
      const reason = readOneOf(query, 'reason', SUPPRESSION_REASONS)
      return suppressions.list(db, { email, reason }, readPage(query))
    },
  )

  app.post(
    path,
    {
      config: { scope, failures: ['suppression_not_found'] },
      schema: {
        operationId: 'addMailSuppression',
        tags,
        summary:
          'Suppress an address. One that is suppressed already is answered with 200 and stays as it is.',
        body: NewSuppression,
        response: { 200: OneSuppression, 201: OneSuppression },
      },
    },
    async ({ db, actor, body }, reply) => {
      const { suppression, isNew } = await suppressions.add(db, actor, body)
      return reply.code(isNew ? 201 : 200).send({ suppression })
    },
  )

  app.post(
    `${path}/:id/lift`,
    {
      config: { scope, failures: ['suppression_not_found', 'complaint_stands'] },
      schema: {
        operationId: 'liftMailSuppression',
        tags,
        summary: 'Lift a suppression. A complaint can only be lifted by the reader.',
        params: Params('id'),
        response: { 200: OneSuppression },
      },
    },
    async ({ db, actor, params }) => ({
      suppression: await suppressions.lift(db, actor, params.id),
    }),
  )
}

export interface FeedbackDeps {
  database: Database
  /** Verifies the signature of the mail provider, after Standard Webhooks. If absent, nothing is accepted. */
  feedbackKey: string | undefined
  limited: Limited
}

/**
 * Adds the route of the mail provider, in a Fastify scope of its own: the signature covers the bytes, so they are
 * kept beside the parsed body.
 */
export const publicRoutes =
  (deps: FeedbackDeps): Routes =>
  async (app) => {
    await app.register(async (inner) => addFeedback(inner as App, deps))
  }

function addFeedback(app: App, { database, feedbackKey, limited }: FeedbackDeps): void {
  const received = new WeakMap<FastifyRequest, Buffer>()
  const isSigned = (request: FastifyRequest) =>
    feedbackKey !== undefined &&
    verifyStandard(
      feedbackKey,
      { headers: request.headers, raw: received.get(request) ?? Buffer.alloc(0) },
      machineNow(),
    )
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, bytes: Buffer) => {
      received.set(request, bytes)
      return readJson(request, bytes)
    },
  )
  app.post(
    '/v1/mail/feedback',
    {
      config: { failures: ['invalid_signature', 'rate_limited', 'db_error'] },
      // Runs before the body is checked: only the provider learns what is wrong with it.
      preValidation: (request) =>
        limited(request, async () => {
          if (!isSigned(request)) throw new ApiError('invalid_signature')
        }),
      schema: {
        operationId: 'receiveMailFeedback',
        tags: ['public'],
        summary:
          "Receive bounces and complaints from the operator's mail provider, signed after Standard Webhooks.",
        body: Feedback,
        response: { 200: FeedbackReceipt },
      },
    },
    ({ body }) => suppressions.receive(database, body.events),
  )
}

export const operatorRoutes =
  ({ database, operator }: { database: Database; operator: AllStores }): Routes =>
  async (app) => {
    app.get(
      '/v1/mail/suppressions',
      {
        config: { query: PAGE_QUERY },
        schema: {
          operationId: 'listGlobalMailSuppressions',
          tags: ['operator'],
          summary: 'List the addresses that get no marketing of any store, newest first.',
          response: { 200: PageOf('suppressions', ref(GlobalSuppression)) },
        },
      },
      ({ query }) => suppressions.listGlobal(operator, readPage(query)),
    )

    app.post(
      '/v1/mail/suppressions/lift',
      {
        config: { failures: ['suppression_not_found'] },
        schema: {
          operationId: 'liftGlobalMailSuppression',
          tags: ['operator'],
          summary: 'Lift the suppression of an address in all stores. Those of stores stay.',
          body: LiftRequest,
          response: { 200: Type.Object({ lifted: Type.Boolean() }) },
        },
      },
      async ({ body }) => {
        await suppressions.liftGlobal(database, body.email)
        return { lifted: true }
      },
    )
  }
