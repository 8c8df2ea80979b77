import { Type } from 'typebox'
import type { ErrorCode } from '../../error-codes.ts'
import type { Routes } from '../../http/route.ts'
import { PAGE_QUERY, readPage } from '../../kernel/page.ts'
import { readOneOf, readText } from '../../kernel/query.ts'
import { Email, OpenObject, PageOf, Params, ref } from '../../kernel/schema.ts'
import { eraseAffiliate, exportAffiliate } from './customer-data.ts'
import { mailApproved, makeLink, type PageDeps } from './page.ts'
import {
  AFFILIATE_STATES,
  Affiliate,
  AffiliatePatch,
  Balance,
  CodePatch,
  Decision,
  Erasure,
  ErasureAnswer,
  NewAffiliate,
  NewCode,
  PageLink,
  Settings,
  SettingsPatch,
} from './schema.ts'
import * as affiliates from './service.ts'

export interface AffiliateDeps extends PageDeps {
  keys: affiliates.AffiliateKeys
  /** The key that signs the confirmation of an erasure. */
  confirmKey: Buffer
  /** Keys the fingerprints of requests. */
  idempotencyKey: Buffer
}

export const READ = 'read:own_affiliates'
export const MANAGE = 'manage:own_affiliates'
export const tags = ['merchant-ops']
export const PATH = '/v1/merchant/affiliates'

/** Writes need the add-on. */
export const FEATURE_OFF: readonly ErrorCode[] = ['feature_not_enabled', 'operator_restricted']
const CHANGE: readonly ErrorCode[] = [...FEATURE_OFF, 'affiliate_not_found', 'invalid_transition']

const OneAffiliate = Type.Object({ affiliate: ref(Affiliate) })

/** Accepts a request without a body: every member may be left out, so the whole body may be. */
export async function emptyBody(request: { body?: unknown }): Promise<void> {
  request.body ??= {}
}

export const merchantRoutes =
  (deps: AffiliateDeps): Routes =>
  async (app) => {
    await settingRoutes(app)
    await readRoutes(app)
    await writeRoutes(deps)(app)
    await decisionRoutes(deps)(app)
    await codeRoutes(app)
    await personRoutes(deps)(app)
  }

const settingRoutes: Routes = async (app) => {
  app.get(
    `${PATH}/settings`,
    {
      config: { scope: READ },
      schema: {
        operationId: 'readAffiliateSettings',
        tags,
        summary: 'Read the terms of new affiliates, and whether shoppers may apply.',
        response: { 200: Type.Object({ settings: ref(Settings) }) },
      },
    },
    async ({ db }) => ({ settings: await affiliates.getSettings(db) }),
  )

  app.patch(
    `${PATH}/settings`,
    {
      config: { scope: MANAGE, failures: FEATURE_OFF },
      schema: {
        operationId: 'changeAffiliateSettings',
        tags,
        summary: 'Change the terms of new affiliates. Those that the store has keep theirs.',
        body: SettingsPatch,
        response: { 200: Type.Object({ settings: ref(Settings) }) },
      },
    },
    async ({ db, actor, body }) => ({
      settings: await affiliates.changeSettings(db, actor, body),
    }),
  )
}

const readRoutes: Routes = async (app) => {
  app.get(
    PATH,
    {
      config: {
        scope: READ,
        query: { status: Type.Enum([...AFFILIATE_STATES]), email: Email, ...PAGE_QUERY },
      },
      schema: {
        operationId: 'listAffiliates',
        tags,
        summary: 'List affiliates and applicants, newest first.',
        response: { 200: PageOf('affiliates', ref(Affiliate)) },
      },
    },
    ({ db, query }) => {
      const status = readOneOf(query, 'status', AFFILIATE_STATES)
      return affiliates.list(db, { status, email: readText(query, 'email') }, readPage(query))
    },
  )

  app.get(
    `${PATH}/:id`,
    {
      config: { scope: READ, failures: ['affiliate_not_found'] },
      schema: {
        operationId: 'readAffiliate',
        tags,
        summary: 'Read an affiliate, with what they are owed and were paid in each currency.',
        params: Params('id'),
        response: {
          200: Type.Object({ affiliate: ref(Affiliate), balances: Type.Array(Balance) }),
        },
      },
    },
    ({ db, params }) => affiliates.get(db, params.id),
  )
}

const writeRoutes =
  ({ keys }: AffiliateDeps): Routes =>
  async (app) => {
    app.post(
      PATH,
      {
        config: {
          scope: MANAGE,
          failures: [...FEATURE_OFF, 'affiliate_exists', 'referral_code_exists', 'limit_reached'],
        },
        schema: {
          operationId: 'createAffiliate',
          tags,
          summary:
            'Create an affiliate who is active at once, or invite one. Terms that are left out are those of the settings.',
          body: NewAffiliate,
          response: { 201: OneAffiliate },
        },
      },
      async ({ db, actor, body }, reply) =>
        reply.code(201).send({ affiliate: await affiliates.create(db, { actor, keys }, body) }),
    )

    app.patch(
      `${PATH}/:id`,
      {
        config: { scope: MANAGE, failures: [...CHANGE, 'affiliate_exists'] },
        schema: {
          operationId: 'changeAffiliate',
          tags,
          summary:
            'Change an affiliate. New terms hold for later orders; earlier ones keep theirs.',
          params: Params('id'),
          body: AffiliatePatch,
          response: { 200: OneAffiliate },
        },
      },
      async ({ db, actor, params, body }) => ({
        affiliate: await affiliates.change(db, { actor, keys }, params.id, body),
      }),
    )
  }

const VERBS: Record<affiliates.Verb, { operationId: string; summary: string }> = {
  approve: {
    operationId: 'approveAffiliate',
    summary: 'Approve an applicant or an invited affiliate. A mail tells them, with their page.',
  },
  decline: {
    operationId: 'declineAffiliate',
    summary: 'Decline an applicant, or withdraw an invitation.',
  },
  suspend: {
    operationId: 'suspendAffiliate',
    summary: 'Suspend an affiliate: new orders earn nothing. What they have earned stays theirs.',
  },
  resume: {
    operationId: 'resumeAffiliate',
    summary: 'Let a suspended affiliate earn again.',
  },
}

const decisionRoutes =
  (deps: AffiliateDeps): Routes =>
  async (app) => {
    for (const verb of ['approve', 'decline', 'suspend', 'resume'] as const) {
      app.post(
        `${PATH}/:id/${verb}`,
        {
          config: { scope: MANAGE, failures: CHANGE },
          preValidation: emptyBody,
          schema: {
            ...VERBS[verb],
            tags,
            params: Params('id'),
            body: Decision,
            response: { 200: OneAffiliate },
          },
        },
        async ({ db, actor, params, body }) => {
          const onActive: Parameters<typeof affiliates.decide>[1]['onActive'] = (tx, affiliate) =>
            mailApproved(deps, tx, affiliate)
          const decision = { id: params.id, verb }
          return { affiliate: await affiliates.decide(db, { actor, onActive }, decision, body) }
        },
      )
    }
  }

const codeRoutes: Routes = async (app) => {
  app.post(
    `${PATH}/:id/codes`,
    {
      config: { scope: MANAGE, failures: [...CHANGE, 'referral_code_exists', 'limit_reached'] },
      schema: {
        operationId: 'addReferralCode',
        tags,
        summary: "Give an affiliate a code. Links to the store's pages count with `?ref=<code>`.",
        params: Params('id'),
        body: NewCode,
        response: { 201: OneAffiliate },
      },
    },
    async ({ db, actor, params, body }, reply) =>
      reply
        .code(201)
        .send({ affiliate: await affiliates.addCode(db, actor, params.id, body.code) }),
  )

  app.patch(
    `${PATH}/:id/codes/:code`,
    {
      config: { scope: MANAGE, failures: [...CHANGE, 'referral_code_not_found'] },
      schema: {
        operationId: 'switchReferralCode',
        tags,
        summary: 'Switch a referral code off or on again. No other affiliate can get the code.',
        params: Params('id', 'code'),
        body: CodePatch,
        response: { 200: OneAffiliate },
      },
    },
    async ({ db, actor, params, body }) => ({
      affiliate: await affiliates.switchCode(db, actor, params, body.active),
    }),
  )
}

const personRoutes =
  (deps: AffiliateDeps): Routes =>
  async (app) => {
    app.post(
      `${PATH}/:id/link`,
      {
        config: { scope: MANAGE, failures: ['affiliate_not_found'] },
        schema: {
          operationId: 'createAffiliateLink',
          tags,
          summary:
            "Create a link to an affiliate's page: codes, commissions and payouts. It works for 90 days.",
          params: Params('id'),
          response: { 201: PageLink },
        },
      },
      async ({ db, params }, reply) => reply.code(201).send(await makeLink(deps, db, params.id)),
    )

    app.get(
      `${PATH}/:id/export`,
      {
        config: { scope: MANAGE, failures: ['affiliate_not_found'] },
        schema: {
          operationId: 'exportAffiliate',
          tags,
          summary:
            'Export all data that the store has about a person who is an affiliate, for them.',
          params: Params('id'),
          response: { 200: Type.Object({ data: OpenObject }) },
        },
      },
      async ({ db, actor, params }) => ({ data: await exportAffiliate(db, actor, params.id) }),
    )

    app.post(
      `${PATH}/:id/erase`,
      {
        config: { scope: MANAGE, failures: ['affiliate_not_found', 'confirm_invalid'] },
        preValidation: emptyBody,
        schema: {
          operationId: 'eraseAffiliate',
          tags,
          summary:
            'Erase a person who is an affiliate. The first call answers `confirm`; sent back, it erases. Amounts stay, and nothing more is earned.',
          params: Params('id'),
          body: Erasure,
          response: { 200: ErasureAnswer },
        },
      },
      ({ db, actor, params, body }) =>
        eraseAffiliate(db, { actor, key: deps.confirmKey }, params.id, body.confirm ?? null),
    )
  }
