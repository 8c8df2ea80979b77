import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { before, describe, test } from 'node:test'
import type { Shop } from '../checkout/setup.ts'
import { URL as COUPONS, createCoupon } from '../marketing/setup.ts'
import { ok, shareTimedApp, type TimedApp } from './setup.ts'

const CAMPAIGNS = '/v1/merchant/marketing/campaigns'

interface Figures {
  orders: number
  revenue_cents: number
  discount_cents: number
  refunded_cents: number
  net_cents: number
  new_customers: number
}

const figuresOf = (body: Figures): Figures => ({
  orders: body.orders,
  revenue_cents: body.revenue_cents,
  discount_cents: body.discount_cents,
  refunded_cents: body.refunded_cents,
  net_cents: body.net_cents,
  new_customers: body.new_customers,
})

/** The figures of some coupons from the redemptions, their orders and the ledger, each by itself. */
const RECOUNT = `
  with used as (
    select o.*
      from coupon_redemptions r
      join orders o on o.tenant_ref = r.tenant_ref and o.id = r.order_id
     where r.tenant_ref = $1 and r.coupon_id = any($2::uuid[]) and o.placed_at is not null
       and not o.is_test
  ), booked as (
    select coalesce(-sum(e.amount_cents) filter (where e.account = 'sales'), 0)::int as gross,
           coalesce(sum(e.amount_cents) filter (where e.account = 'discount'), 0)::int as discount,
           coalesce(sum(e.amount_cents) filter (where e.account = 'refund'), 0)::int as refunded
      from used o
      join ledger_journals j on j.tenant_ref = o.tenant_ref and j.order_id = o.id
      join ledger_entries e on e.tenant_ref = j.tenant_ref and e.journal_id = j.id
  )
  select (select count(*)::int from used) as orders, gross - discount as revenue_cents,
         discount as discount_cents, refunded as refunded_cents,
         gross - discount - refunded as net_cents,
         (select count(*)::int from used o
           where not exists (select from orders p
                              where p.tenant_ref = o.tenant_ref and p.customer_ref = o.customer_ref
                                and p.placed_at is not null
                                and (p.placed_at, p.id) < (o.placed_at, o.id))) as new_customers
    from booked`

describe('what coupons and campaigns have brought', () => {
  const shared = shareTimedApp()
  let app: TimedApp
  before(() => {
    app = shared.current
  })

  const recount = async (shop: Shop, ids: readonly string[]): Promise<Figures> =>
    (await app.superuser.query(RECOUNT, [shop.tenant, ids])).rows[0]

  async function startCampaign({ merchant }: Shop): Promise<string> {
    const made = await merchant.post(CAMPAIGNS, { name: 'May', channel: 'social' })
    const { id } = ok(made, 201).campaign
    ok(await merchant.post(`${CAMPAIGNS}/${id}/schedule`, {}))
    return id
  }

  const flagTest = async ({ tenant }: Shop, id: string) =>
    ok(await app.operator.post(`/v1/stores/${tenant}/orders/${id}/test-flag`, { is_test: true }))

  test('equals a recount of redemptions, orders and ledger after random orders', async () => {
    const shop = await app.shopIn('random-promotions', 'Europe/Berlin')
    const { merchant } = shop
    const campaign_id = await startCampaign(shop)
    const coupons = [
      await createCoupon(merchant, { campaign_id, percent_bps: 1_500 }),
      await createCoupon(merchant, {
        campaign_id,
        type: 'fixed',
        percent_bps: undefined,
        amount_cents: 300,
      }),
      await createCoupon(merchant, { percent_bps: 500 }),
    ]
    const { codes } = ok(
      await merchant.post(`${COUPONS}/${coupons[0].id}/codes`, { count: 5 }),
      201,
    )
    const main = [...coupons.map(({ code }) => code), undefined]
    const typed = [...codes, ...Array.from({ length: 19 }, (_, n) => main[n % main.length])]
    for (const [n, coupon_code] of typed.entries()) {
      const items = [
        { variant_id: shop.variants[1_000], quantity: 1 + randomInt(3) },
        { variant_id: shop.variants[333], quantity: 1 + randomInt(4) },
      ]
      const customer_ref = `customer-${randomInt(9)}`
      const { order, items: lines } = await app.place(shop, { customer_ref, items, coupon_code })
      if (n % 6 === 1) ok(await app.act(shop, order.id, 'cancel', { reason: 'other' }))
      if (n % 6 === 2) ok(await app.act(shop, order.id, 'refunds', { amount_cents: 100 }), 201)
      if (n % 6 === 3) {
        const edits = [{ order_item_id: lines[0].id, quantity: 1 }]
        ok(await app.act(shop, order.id, 'edit', { edits }))
      }
    }
    await app.count()

    for (const { id, code } of coupons) {
      const report = ok(await merchant.get(`${COUPONS}/${id}/report`))
      assert.deepEqual(figuresOf(report), await recount(shop, [id]))
      assert.deepEqual([report.coupon_id, report.code, report.currency], [id, code, 'USD'])
      const { body } = await merchant.get(`${COUPONS}/${id}`)
      assert.equal(report.uses, body.coupon.used_count)
    }
    const [first, second] = coupons
    const whole = ok(await merchant.get(`${CAMPAIGNS}/${campaign_id}/performance`))
    assert.deepEqual(figuresOf(whole), await recount(shop, [first.id, second.id]))
    assert.ok(whole.orders >= 10 && whole.discount_cents > 0 && whole.refunded_cents > 0)
    assert.deepEqual(
      whole.coupons.map(({ coupon_id }: { coupon_id: string }) => coupon_id).sort(),
      [first.id, second.id].sort(),
    )
    for (const name of Object.keys(figuresOf(whole)) as (keyof Figures)[]) {
      const sum = whole.coupons.reduce((total: number, each: Figures) => total + each[name], 0)
      assert.equal(sum, whole[name], name)
    }
  })

  test('leaves test orders out, and has the same figures when counted again from the beginning', async () => {
    const shop = await app.shopIn('tested-promotions', 'UTC')
    const coupon = await createCoupon(shop.merchant)
    const [kept, flagged] = [
      await app.place(shop, { customer_ref: 'ann', coupon_code: coupon.code }),
      await app.place(shop, { customer_ref: 'bob', coupon_code: coupon.code }),
    ]
    await app.count()
    const read = async () => ok(await shop.merchant.get(`${COUPONS}/${coupon.id}/report`))
    assert.equal((await read()).orders, 2)
    await flagTest(shop, flagged.order.id)
    const report = await read()
    assert.deepEqual(
      [report.orders, report.new_customers, report.revenue_cents, report.uses],
      [1, 1, kept.order.total_cents, 2],
    )
  })

  test('is zero for coupons that were never used, and in another currency', async () => {
    const shop = await app.shopIn('unused-promotions', 'UTC')
    const campaign_id = await startCampaign(shop)
    const nothing = {
      orders: 0,
      revenue_cents: 0,
      discount_cents: 0,
      refunded_cents: 0,
      net_cents: 0,
      new_customers: 0,
    }
    const performance = ok(await shop.merchant.get(`${CAMPAIGNS}/${campaign_id}/performance`))
    assert.deepEqual(figuresOf(performance), nothing)
    assert.deepEqual([performance.coupons, performance.campaign_id], [[], campaign_id])
    const coupon = await createCoupon(shop.merchant)
    await app.place(shop, { coupon_code: coupon.code })
    await app.count()
    const url = `${COUPONS}/${coupon.id}/report`
    assert.deepEqual(figuresOf(ok(await shop.merchant.get(`${url}?currency=EUR`))), nothing)
    assert.equal(ok(await shop.merchant.get(url)).orders, 1)
  })

  test('is shown only to the store, with the scope of marketing', async () => {
    const shop = await app.shopIn('own-promotions', 'UTC')
    const other = await app.shopIn('other-promotions', 'UTC')
    const coupon = await createCoupon(shop.merchant)
    const campaign_id = await startCampaign(shop)
    const lesser = await app.merchant(shop.tenant, 'manage:own_analytics')
    for (const [url, code] of [
      [`${COUPONS}/${coupon.id}/report`, 'coupon_not_found'],
      [`${CAMPAIGNS}/${campaign_id}/performance`, 'campaign_not_found'],
    ] as const) {
      const hidden = await other.merchant.get(url)
      assert.deepEqual([hidden.status, hidden.body.error.code], [404, code])
      const refused = await lesser.get(url)
      assert.deepEqual([refused.status, refused.body.error.code], [403, 'forbidden'])
      const missing = await shop.merchant.get(url.replace(/[\da-f-]{36}/, 'no-id'))
      assert.deepEqual([missing.status, missing.body.error.code], [404, code])
    }
  })
})
