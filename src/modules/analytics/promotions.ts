import type { Db } from '../../db/database.ts'
import { sum } from '../../kernel/money.ts'
import * as campaigns from '../campaigns/service.ts'
import type { Coupon } from '../marketing/schema.ts'
import * as marketing from '../marketing/service.ts'
import { headOf, type ReportRequest } from './period.ts'
import { listCouponSums } from './promotion-queries.ts'
import type { CouponFigures, PromotionFigures } from './promotion-schema.ts'

/**
 * The figures of coupons and campaigns, from the counted days: the figures of a campaign are the sum of those of its
 * coupons, which stay in it once they were used.
 */

const NOTHING: PromotionFigures = {
  orders: 0,
  revenue_cents: 0,
  discount_cents: 0,
  refunded_cents: 0,
  net_cents: 0,
  new_customers: 0,
}

/** The figures of one coupon. */
export async function couponReport(db: Db, request: ReportRequest, id: string) {
  const coupon = await marketing.get(db, id)
  const [figures = NOTHING] = await figuresOf(db, request, [coupon])
  return { ...headFor(request), ...figures, ...nameOf(coupon) }
}

/** The figures of a campaign, in total and by coupon. */
export async function performance(db: Db, request: ReportRequest, id: string) {
  const { id: campaign_id } = await campaigns.get(db, id)
  const coupons = await marketing.listOfCampaign(db, campaign_id)
  const figures = await figuresOf(db, request, coupons)
  return {
    ...headFor(request),
    campaign_id,
    ...figures.reduce(add, NOTHING),
    coupons: coupons.map(
      (coupon, at): CouponFigures => ({
        ...nameOf(coupon),
        ...(figures[at] ?? NOTHING),
      }),
    ),
  }
}

const nameOf = ({ id, code, used_count }: Coupon) => ({ coupon_id: id, code, uses: used_count })

/** Makes the head of an answer without a period, so that it has no final day. */
const headFor = (request: ReportRequest) => {
  const { from: _, to: __, final_until: ___, ...head } = headOf(request)
  return { ...head, sealed_to: request.generation?.sequence ?? 0 }
}

const add = (a: PromotionFigures, b: PromotionFigures): PromotionFigures => ({
  orders: sum([a.orders, b.orders]),
  revenue_cents: sum([a.revenue_cents, b.revenue_cents]),
  discount_cents: sum([a.discount_cents, b.discount_cents]),
  refunded_cents: sum([a.refunded_cents, b.refunded_cents]),
  net_cents: sum([a.net_cents, b.net_cents]),
  new_customers: sum([a.new_customers, b.new_customers]),
})

/** The figures of coupons, in their order. */
async function figuresOf(
  db: Db,
  { generation, currency }: ReportRequest,
  coupons: readonly Pick<Coupon, 'id'>[],
): Promise<PromotionFigures[]> {
  const ids = coupons.map(({ id }) => id)
  const counted = { generation: generation?.generation ?? 0, currency }
  const sums = new Map(
    (await listCouponSums(db, counted, ids)).map(({ coupon_id, ...rest }) => [coupon_id, rest]),
  )
  return ids.map((id) => {
    const found = sums.get(id)
    if (found === undefined) return NOTHING
    const { gross_cents, ...rest } = found
    const revenue_cents = gross_cents - rest.discount_cents
    return { ...rest, revenue_cents, net_cents: revenue_cents - rest.refunded_cents }
  })
}
