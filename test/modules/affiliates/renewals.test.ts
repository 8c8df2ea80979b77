import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { enable } from '../checkout/setup.ts'
import { type RenewalApp, shareRenewalApp } from '../renewals/setup.ts'
import { ok } from '../returns/setup.ts'
import { AFFILIATES, balanceOf, commissionsOf, linesOf, makeAffiliate, refund } from './setup.ts'

describe('the renewals of a subscription that an affiliate has sold', () => {
  const shared = shareRenewalApp()
  let app: RenewalApp
  before(() => {
    app = shared.current
  })

  const MONTHS = ['2027-01-10', '2027-02-10', '2027-03-10', '2027-04-10']

  const begin = async (terms: object = {}) => {
    const shop = await app.newShop()
    await enable(shop.merchant, 'affiliates')
    const affiliate = await makeAffiliate(shop, terms)
    const renew = async (month: number) => {
      app.setTime(shop, `${MONTHS[month]}T08:00:00Z`)
      return app.run(shop)
    }
    app.setTime(shop, `${MONTHS[0]}T12:00:00Z`)
    return { shop, affiliate, renew }
  }
  const lastOrder = async (id: string): Promise<string> => (await app.orders(id)).at(-1).id

  test('earn as renewals, long after the window, and are clawed back as sales are', async () => {
    const { shop, affiliate, renew } = await begin({ cookie_days: 1 })
    const { id, order_id } = await app.subscribe(shop, { referral_code: affiliate.code })
    assert.deepEqual(await linesOf(shop, order_id), ['sale pending 100'])
    await renew(1)
    await renew(2)
    const renewal = await lastOrder(id)
    assert.deepEqual(await linesOf(shop, renewal), ['renewal pending 100'])
    const [commission] = await commissionsOf(shop, { order_id: renewal })
    assert.deepEqual(
      [commission.attribution.source, commission.attribution.code],
      ['subscription', affiliate.code],
    )
    assert.deepEqual(await balanceOf(shop, affiliate.id), [300, 0, 0, 0])
    ok(await refund(shop, renewal, { amount_cents: 500 }), 201)
    assert.deepEqual(await linesOf(shop, renewal), ['renewal pending 100', 'clawback pending -50'])
  })

  test('go on with a code that is switched off, and stop when the affiliate is suspended or the settings say so', async () => {
    const { shop, affiliate, renew } = await begin()
    const { id } = await app.subscribe(shop, { referral_code: affiliate.code })
    const url = `${AFFILIATES}/${affiliate.id}`
    ok(await shop.merchant.patch(`${url}/codes/${affiliate.code}`, { active: false }))
    await renew(1)
    assert.deepEqual(await linesOf(shop, await lastOrder(id)), ['renewal pending 100'])
    ok(await shop.merchant.post(`${url}/suspend`))
    await renew(2)
    const [declined] = await commissionsOf(shop, { order_id: await lastOrder(id) })
    assert.deepEqual([declined.status, declined.reason], ['declined', 'affiliate_not_active'])
    ok(await shop.merchant.post(`${url}/resume`))
    ok(await shop.merchant.patch(`${AFFILIATES}/settings`, { pays_renewals: false }))
    await renew(3)
    assert.deepEqual(await linesOf(shop, await lastOrder(id)), [])
  })

  test('earn nothing if the first order was the affiliate’s own', async () => {
    const { shop, affiliate, renew } = await begin({ customer_ref: 'fay' })
    const more = { referral_code: affiliate.code, customer_ref: 'fay', email: 'f@example.com' }
    const { id, order_id } = await app.subscribe(shop, more)
    assert.deepEqual(await linesOf(shop, order_id), ['sale declined 100'])
    await renew(1)
    assert.deepEqual(await linesOf(shop, await lastOrder(id)), [])
    assert.deepEqual(await balanceOf(shop, affiliate.id), [0, 0, 0, 0])
  })
})
