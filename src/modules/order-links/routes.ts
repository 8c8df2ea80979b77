import { Type } from 'typebox'
import type { Routes } from '../../http/route.ts'
import { Params } from '../../kernel/schema.ts'
import { callerOf } from '../../platform/rate-limits.ts'
import { LinkRequest, LinkToken, OpenedLink } from './schema.ts'
import { type LinkDeps, mailLink, openLink } from './service.ts'

const tags = ['checkout']

export const storefrontRoutes =
  (deps: LinkDeps): Routes =>
  async (app) => {
    app.post(
      '/v1/tenants/:tenant/orders/links',
      {
        config: { failures: ['unknown_tenant', 'rate_limited'] },
        schema: {
          operationId: 'mailOrderLink',
          tags,
          summary:
            'Mail a link to an order to its shopper, by its number and e-mail address. The answer is the same if there is no such order.',
          params: Params('tenant'),
          body: LinkRequest,
          response: { 202: Type.Object({ accepted: Type.Boolean() }) },
        },
      },
      async ({ db, ip, body }, reply) => {
        await mailLink(deps, db, callerOf(ip), body)
        return reply.code(202).send({ accepted: true })
      },
    )

    app.post(
      '/v1/tenants/:tenant/orders/links/open',
      {
        config: { failures: ['unknown_tenant', 'order_not_found'] },
        schema: {
          operationId: 'openOrderLink',
          tags,
          summary:
            "Open a mailed link to an order: its token gives the order's id and customer_ref. A token that expired, or of another store, is a 404.",
          params: Params('tenant'),
          body: LinkToken,
          response: { 200: OpenedLink },
        },
      },
      ({ db, body }) => openLink(deps, db, body.token),
    )
  }
