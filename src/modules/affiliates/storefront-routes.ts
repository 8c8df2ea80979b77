import { Type } from 'typebox'
import type { Routes } from '../../http/route.ts'
import { Params } from '../../kernel/schema.ts'
import { callerOf } from '../../platform/rate-limits.ts'
import { type ApplyDeps, apply, readProgram, touch } from './apply.ts'
import { AffiliatePage } from './commission-schema.ts'
import { openPage, type PageDeps } from './page.ts'
import { FEATURE_OFF } from './routes.ts'
import { Application, NewTouch, OpenPage, Program, Touch } from './schema.ts'

const tags = ['checkout']
const PATH = '/v1/tenants/:tenant/affiliates'

const Accepted = Type.Object(
  { accepted: Type.Boolean() },
  {
    'x-response-description':
      'Accepted. An application is stored unless the store knows the address already.',
  },
)

export const storefrontRoutes =
  (deps: ApplyDeps & PageDeps): Routes =>
  async (app) => {
    app.get(
      `${PATH}/program`,
      {
        config: { failures: ['unknown_tenant'] },
        schema: {
          operationId: 'readAffiliateProgram',
          tags,
          summary: 'Read what the store offers to affiliates, and whether they can apply.',
          params: Params('tenant'),
          response: { 200: Program },
        },
      },
      ({ db }) => readProgram(db),
    )

    app.post(
      `${PATH}/applications`,
      {
        config: {
          failures: [
            ...FEATURE_OFF,
            'unknown_tenant',
            'applications_closed',
            'limit_reached',
            'rate_limited',
          ],
        },
        schema: {
          operationId: 'applyAsAffiliate',
          tags,
          summary:
            'Apply as an affiliate. The merchant decides. The answer is the same for an address that the store knows already.',
          params: Params('tenant'),
          body: Application,
          response: { 202: Accepted },
        },
      },
      async ({ db, ip, body }, reply) => {
        await apply(deps, db, callerOf(ip), body)
        return reply.code(202).send({ accepted: true })
      },
    )

    app.post(
      `${PATH}/touches`,
      {
        config: { failures: ['unknown_tenant', 'referral_code_not_found', 'rate_limited'] },
        schema: {
          operationId: 'touchReferral',
          tags,
          summary:
            'Record that a shopper followed a link with `?ref=`. Only the click is counted, without personal data. Keep the answer in the browser for `window_days`, and send it with the checkout.',
          params: Params('tenant'),
          body: NewTouch,
          response: { 200: Touch },
        },
      },
      ({ db, body }) => touch(deps, db, body.code),
    )

    app.post(
      `${PATH}/page`,
      {
        config: { failures: ['unknown_tenant', 'affiliate_not_found'] },
        schema: {
          operationId: 'openAffiliatePage',
          tags,
          summary:
            "Open an affiliate's page by the token of its link. A token that expired, or of another store, is a 404.",
          params: Params('tenant'),
          body: OpenPage,
          response: { 200: AffiliatePage },
        },
      },
      ({ db, body }) => openPage(deps, db, body),
    )
  }
