import { Type } from 'typebox'
import type { Routes } from '../../http/route.ts'
import { Currency, Params } from '../../kernel/schema.ts'
import { readReportRequest } from './period.ts'
import { CampaignPerformance, CouponReport } from './promotion-schema.ts'
import * as promotions from './promotions.ts'

const tags = ['merchant-ops']
const scope = 'manage:own_marketing' as const
const query = {
  currency: Type.String({
    ...Currency,
    description: 'Counts only orders in this currency. Default: the currency of the store.',
  }),
}

/** Figures for the pages of marketing. They are about orders alone, and name no person. */
export const merchantRoutes: Routes = async (app) => {
  app.get(
    '/v1/merchant/marketing/campaigns/:id/performance',
    {
      config: { scope, query, failures: ['campaign_not_found'] },
      schema: {
        operationId: 'readCampaignPerformance',
        tags,
        summary:
          'Read what the orders with the coupons of a campaign have brought, in all and by coupon.',
        params: Params('id'),
        response: { 200: CampaignPerformance },
      },
    },
    async ({ db, params, query: given }) =>
      promotions.performance(db, await readReportRequest(db, given), params.id),
  )

  app.get(
    '/v1/merchant/marketing/coupons/:id/report',
    {
      config: { scope, query, failures: ['coupon_not_found'] },
      schema: {
        operationId: 'readCouponReport',
        tags,
        summary: 'Read what the orders with a coupon have brought.',
        params: Params('id'),
        response: { 200: CouponReport },
      },
    },
    async ({ db, params, query: given }) =>
      promotions.couponReport(db, await readReportRequest(db, given), params.id),
  )
}
