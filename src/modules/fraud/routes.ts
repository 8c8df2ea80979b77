import { Type } from 'typebox'
import type { Routes } from '../../http/route.ts'
import { PAGE_QUERY, readPage } from '../../kernel/page.ts'
import { readId, readOneOf } from '../../kernel/query.ts'
import { Id, PageOf, Params, ref } from '../../kernel/schema.ts'
import { BAN_KINDS, Ban, BanKind, DECISIONS, Decision, FraudDecision, NewBan } from './schema.ts'
import * as fraud from './service.ts'
import * as settings from './settings.ts'
import { FraudSettingsAnswer, FraudSettingsChange } from './settings-schema.ts'

const OneBan = Type.Object({ ban: ref(Ban) })

const readActive = (query: unknown) => {
  const text = readOneOf(query, 'active', ['true', 'false'])
  return text === undefined ? undefined : text === 'true'
}

const settingsRoutes =
  ({ velocityLimit }: FraudDeps): Routes =>
  async (app) => {
    const url = '/v1/merchant/fraud/settings'
    const scope = 'manage:own_fraud'
    const tags = ['merchant-ops']
    const response = { 200: FraudSettingsAnswer }
    app.get(
      url,
      {
        config: { scope },
        schema: {
          operationId: 'readFraudSettings',
          tags,
          summary: 'Read the settings by which orders are held and refused, and their defaults.',
          response,
        },
      },
      ({ db }) => settings.read(db, velocityLimit),
    )

    app.put(
      url,
      {
        config: { scope, failures: ['feature_not_enabled', 'operator_restricted'] },
        schema: {
          operationId: 'setFraudSettings',
          tags,
          summary:
            'Set thresholds, points, what holds and what refuses an order, and how often a shopper may try. What the body leaves out is the default. Needs the add-on `advanced_fraud`.',
          body: FraudSettingsChange,
          response,
        },
      },
      ({ db, actor, body }) => settings.write(db, actor, body, velocityLimit),
    )
  }

export interface FraudDeps {
  /** The platform's attempts per minute of one shopper. */
  velocityLimit: number
}

export const merchantRoutes =
  (deps: FraudDeps): Routes =>
  async (app) => {
    await settingsRoutes(deps)(app)
    await banRoutes(app)
  }

const banRoutes: Routes = async (app) => {
  app.post(
    '/v1/merchant/fraud/bans',
    {
      config: { scope: 'manage:own_fraud', failures: ['ban_exists', 'limit_reached'] },
      schema: {
        operationId: 'createFraudBan',
        tags: ['merchant-ops'],
        summary: 'Ban an address, network, card or customer, or have their orders held for review.',
        body: NewBan,
        response: { 201: OneBan },
      },
    },
    async ({ db, actor, body }, reply) =>
      reply.code(201).send({ ban: await fraud.ban(db, actor, body) }),
  )

  app.get(
    '/v1/merchant/fraud/bans',
    {
      config: {
        scope: 'manage:own_fraud',
        query: { kind: BanKind, active: Type.Boolean(), ...PAGE_QUERY },
      },
      schema: {
        operationId: 'listFraudBans',
        tags: ['merchant-ops'],
        summary: "List the store's bans, newest first, also lifted ones.",
        response: { 200: PageOf('bans', ref(Ban)) },
      },
    },
    ({ db, query }) => {
      const filters = { kind: readOneOf(query, 'kind', BAN_KINDS), active: readActive(query) }
      return fraud.list(db, filters, readPage(query))
    },
  )

  app.get(
    '/v1/merchant/fraud/bans/:id',
    {
      config: { scope: 'manage:own_fraud', failures: ['ban_not_found'] },
      schema: {
        operationId: 'readFraudBan',
        tags: ['merchant-ops'],
        summary: 'Read a ban, with the number of attempts that matched it.',
        params: Params('id'),
        response: { 200: OneBan },
      },
    },
    async ({ db, params }) => ({ ban: await fraud.get(db, params.id) }),
  )

  app.post(
    '/v1/merchant/fraud/bans/:id/lift',
    {
      config: { scope: 'manage:own_fraud', failures: ['ban_not_found'] },
      schema: {
        operationId: 'liftFraudBan',
        tags: ['merchant-ops'],
        summary: 'Lift a ban. It stays on record.',
        params: Params('id'),
        response: { 200: OneBan },
      },
    },
    async ({ db, actor, params }) => ({ ban: await fraud.lift(db, actor, params.id) }),
  )

  await decisionRoutes(app)
}

const decisionRoutes: Routes = async (app) => {
  app.get(
    '/v1/merchant/fraud/decisions',
    {
      config: {
        scope: 'manage:own_fraud',
        query: { order_id: Id, decision: Decision, ...PAGE_QUERY },
      },
      schema: {
        operationId: 'listFraudDecisions',
        tags: ['merchant-ops'],
        summary: 'List the fraud decisions about checkouts with their signals, newest first.',
        response: { 200: PageOf('decisions', ref(FraudDecision)) },
      },
    },
    ({ db, query }) => {
      const decision = readOneOf(query, 'decision', DECISIONS)
      return fraud.listDecisions(
        db,
        { order_id: readId(query, 'order_id'), decision },
        readPage(query),
      )
    },
  )
}
