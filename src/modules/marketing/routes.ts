import { Type } from 'typebox'
import type { Routes } from '../../http/route.ts'
import { PAGE_QUERY, readPage } from '../../kernel/page.ts'
import { readOneOf, readText } from '../../kernel/query.ts'
import { PageOf, Params, ref } from '../../kernel/schema.ts'
import {
  COUPON_STATUSES,
  Coupon,
  CouponCode,
  CouponPatch,
  CouponStatus,
  NewCodes,
  NewCoupon,
  Redemption,
} from './schema.ts'
import * as marketing from './service.ts'

const OneCoupon = Type.Object({ coupon: ref(Coupon) })
const scope = 'manage:own_marketing' as const
const one = { scope, failures: ['coupon_not_found'] as const }

const SWITCHES = [
  ['pause', marketing.pause, 'Pause a coupon. Orders that already use it keep it.'],
  ['activate', marketing.activate, 'Activate a draft or paused coupon.'],
] as const

export const merchantRoutes: Routes = async (app) => {
  app.post(
    '/v1/merchant/marketing/coupons',
    {
      config: {
        scope,
        failures: ['code_exists', 'campaign_not_found', 'invalid_transition', 'limit_reached'],
      },
      schema: {
        operationId: 'createCoupon',
        tags: ['merchant-ops'],
        summary: 'Create a coupon. It is active at once unless its status is draft.',
        body: NewCoupon,
        response: { 201: OneCoupon },
      },
    },
    async ({ db, actor, body }, reply) =>
      reply.code(201).send({ coupon: await marketing.create(db, actor, body) }),
  )

  app.get(
    '/v1/merchant/marketing/coupons',
    {
      config: {
        scope,
        query: {
          status: CouponStatus,
          campaign_id: Type.String({ description: 'The coupons of one campaign.' }),
          ...PAGE_QUERY,
        },
      },
      schema: {
        operationId: 'listCoupons',
        tags: ['merchant-ops'],
        summary: "List the store's coupons, newest first.",
        response: { 200: PageOf('coupons', ref(Coupon)) },
      },
    },
    ({ db, query }) => {
      const status = readOneOf(query, 'status', COUPON_STATUSES)
      const campaign_id = readText(query, 'campaign_id')
      return marketing.list(db, { status, campaign_id }, readPage(query))
    },
  )

  app.get(
    '/v1/merchant/marketing/coupons/:id',
    {
      config: one,
      schema: {
        operationId: 'readCoupon',
        tags: ['merchant-ops'],
        summary: 'Read a coupon.',
        params: Params('id'),
        response: { 200: OneCoupon },
      },
    },
    async ({ db, params }) => ({ coupon: await marketing.get(db, params.id) }),
  )

  app.patch(
    '/v1/merchant/marketing/coupons/:id',
    {
      config: {
        scope,
        failures: [
          'coupon_not_found',
          'campaign_not_found',
          'invalid_transition',
          'coupon_used',
          'limit_reached',
        ],
      },
      schema: {
        operationId: 'changeCoupon',
        tags: ['merchant-ops'],
        summary: 'Change the terms of a coupon. Its code and type cannot change.',
        params: Params('id'),
        body: CouponPatch,
        response: { 200: OneCoupon },
      },
    },
    async ({ db, actor, params, body }) => ({
      coupon: await marketing.change(db, actor, params.id, body),
    }),
  )

  for (const [verb, act, summary] of SWITCHES) {
    app.post(
      `/v1/merchant/marketing/coupons/:id/${verb}`,
      {
        config: one,
        schema: {
          operationId: `${verb}Coupon`,
          tags: ['merchant-ops'],
          summary,
          params: Params('id'),
          response: { 200: OneCoupon },
        },
      },
      async ({ db, actor, params }) => ({ coupon: await act(db, actor, params.id) }),
    )
  }

  app.get(
    '/v1/merchant/marketing/coupons/:id/redemptions',
    {
      config: { ...one, query: PAGE_QUERY },
      schema: {
        operationId: 'listRedemptions',
        tags: ['merchant-ops'],
        summary: 'List the orders that use a coupon, newest first.',
        params: Params('id'),
        response: { 200: PageOf('redemptions', Redemption) },
      },
    },
    ({ db, params, query }) => marketing.listRedemptions(db, params.id, readPage(query)),
  )

  app.post(
    '/v1/merchant/marketing/coupons/:id/codes',
    {
      config: { scope, failures: ['coupon_not_found', 'limit_reached'] },
      schema: {
        operationId: 'createCouponCodes',
        tags: ['merchant-ops'],
        summary: 'Create single-use codes for a coupon, at most 1,000 at a time.',
        params: Params('id'),
        body: NewCodes,
        response: { 201: Type.Object({ codes: Type.Array(Type.String()) }) },
      },
    },
    async ({ db, actor, params, body }, reply) =>
      reply.code(201).send(await marketing.createCodes(db, actor, params.id, body)),
  )

  app.get(
    '/v1/merchant/marketing/coupons/:id/codes',
    {
      config: { ...one, query: PAGE_QUERY },
      schema: {
        operationId: 'listCouponCodes',
        tags: ['merchant-ops'],
        summary:
          'List the single-use codes of a coupon with the order that uses each, oldest first.',
        params: Params('id'),
        response: { 200: PageOf('codes', CouponCode) },
      },
    },
    ({ db, params, query }) => marketing.listCodes(db, params.id, readPage(query)),
  )
}
