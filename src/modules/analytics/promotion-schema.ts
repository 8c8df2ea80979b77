import { type Static, Type } from 'typebox'
import { Id } from '../../kernel/schema.ts'
import { headFields } from './schema.ts'

const figureFields = {
  orders: Type.Integer({
    description: 'Captured orders with the coupon. Test orders do not count.',
  }),
  revenue_cents: Type.Integer({
    description: 'Goods of these orders at charged prices, less the discount, without tax.',
  }),
  discount_cents: Type.Integer({ description: 'What the coupon took off the goods.' }),
  refunded_cents: Type.Integer({ description: 'Refunded value of goods, also by a cancellation.' }),
  net_cents: Type.Integer({ description: '`revenue_cents` less `refunded_cents`.' }),
  new_customers: Type.Integer({
    description: 'Customers whose first captured order is one of these.',
  }),
}

const PromotionFigures = Type.Object(figureFields)
export type PromotionFigures = Static<typeof PromotionFigures>

const couponFields = {
  coupon_id: Id,
  code: Type.String(),
  uses: Type.Integer({
    description: 'Orders that use it now: also unpaid ones and tests, not cancelled ones.',
  }),
}

const CouponFigures = Type.Object({ ...couponFields, ...figureFields })
export type CouponFigures = Static<typeof CouponFigures>

/** These figures cover all days, so that they have no members of a period. */
const { from: _, to: __, final_until: ___, ...head } = headFields
const promotionHead = {
  ...head,
  sealed_to: Type.Integer({ description: 'The number of the last journal that is counted.' }),
}

export const CouponReport = Type.Object({ ...promotionHead, ...couponFields, ...figureFields })

export const CampaignPerformance = Type.Object({
  ...promotionHead,
  campaign_id: Id,
  ...figureFields,
  coupons: Type.Array(CouponFigures, {
    description: 'The same by coupon. They add up to the figures of the campaign.',
  }),
})
