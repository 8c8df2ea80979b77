import type { Caller } from '../../harness/app.ts'
import { addVariant, enable, openShop } from '../../modules/checkout/setup.ts'
import { COUPONS } from '../../modules/marketing/resources.ts'
import { GROUPS } from '../../modules/pricing/resources.ts'
import { ok } from '../../modules/returns/setup.ts'
import type { MailApp } from '../../modules/shopper-mail/setup.ts'
import { freshKey } from '../ids.ts'
import type { Recorder } from './record.ts'

const TENANT = 'bookshop'
const CARDS = '/v1/merchant/gift-cards'
const CREDIT = '/v1/merchant/store-credit/ann'

/** A bookshop gives gift cards, credit, coupons and special prices. */
export async function givePrices(app: MailApp, recorder: Recorder): Promise<void> {
  const shop = await openShop(app, TENANT, [])
  const merchant = recorder.recorded(shop.merchant)
  const feature_key = 'gift_cards'
  ok(await merchant.post('/v1/merchant/entitlements/enable', { feature_key }))
  await enable(shop.merchant, 'store_credit', 'pricing_groups')
  const code = await giveCards(merchant)
  const url = `/v1/tenants/${TENANT}/gift-cards/balance`
  ok(await recorder.recorded(app.storefront).post(url, { code }))
  await giveCredit(merchant)
  await giveCoupons(merchant)
  const novel = await addVariant(shop.merchant, 1_800, { name: 'A novel' }, { sku: 'NOVEL' })
  await givePriceGroups(merchant, novel)
}

async function giveCards(merchant: Caller): Promise<string> {
  const card = { initial_balance_cents: 5_000, note: 'For the reading circle' }
  const issued = ok(await merchant.post(CARDS, card, freshKey()), 201)
  const batch = { count: 2, initial_balance_cents: 1_000 }
  ok(await merchant.post(`${CARDS}/batch`, batch, freshKey()), 201)
  const url = `${CARDS}/${issued.gift_card.id}`
  const less = { delta_cents: -500, reason: 'Corrected at the counter' }
  ok(await merchant.post(`${url}/adjust`, less, freshKey()))
  ok(await merchant.patch(url, { note: 'For the reading circle, May' }))
  ok(await merchant.post(`${url}/disable`))
  ok(await merchant.post(`${url}/enable`))
  ok(await merchant.get(`${url}/transactions`))
  ok(await merchant.get(url))
  ok(await merchant.get(`${CARDS}?limit=1`))
  return issued.code
}

async function giveCredit(merchant: Caller): Promise<void> {
  const credit = { amount_cents: 1_500, currency: 'USD', reason: 'A torn page' }
  ok(await merchant.post(`${CREDIT}/credit`, credit, freshKey()), 201)
  const debit = { amount_cents: 500, currency: 'USD', reason: 'Given twice' }
  ok(await merchant.post(`${CREDIT}/debit`, debit, freshKey()), 201)
  ok(await merchant.get(CREDIT))
  ok(await merchant.get(`${CREDIT}/transactions`))
  ok(await merchant.get('/v1/merchant/store-credit?limit=1'))
}

async function giveCoupons(merchant: Caller): Promise<void> {
  const terms = { code: 'READ10', type: 'percent', percent_bps: 1_000, status: 'draft' }
  const { coupon } = ok(await merchant.post(COUPONS, terms), 201)
  const url = `${COUPONS}/${coupon.id}`
  ok(await merchant.patch(url, { usage_limit: 100, usage_limit_per_customer: 1 }))
  ok(await merchant.post(`${url}/activate`))
  ok(await merchant.post(`${url}/codes`, { count: 2, prefix: 'READ-' }), 201)
  ok(await merchant.get(`${url}/codes`))
  ok(await merchant.get(`${url}/redemptions`))
  ok(await merchant.post(`${url}/pause`))
  ok(await merchant.get(url))
  ok(await merchant.get(`${COUPONS}?limit=1`))
}

async function givePriceGroups(merchant: Caller, variant_id: string): Promise<void> {
  const named = { name: 'Schools', adjustment_bps: 500 }
  const { pricing_group } = ok(await merchant.post(GROUPS, named), 201)
  const url = `${GROUPS}/${pricing_group.id}`
  ok(await merchant.patch(url, { name: 'Schools and libraries' }))
  ok(await merchant.post(`${url}/members`, { customer_ref: 'ann' }), 201)
  ok(await merchant.get(`${url}/members`))
  const price = { variant_id, price_cents: 1_500, min_quantity: 10 }
  ok(await merchant.put(`${url}/prices`, price))
  ok(await merchant.get(`${url}/prices`))
  ok(await merchant.get(url))
  ok(await merchant.get(GROUPS))
  ok(await merchant.send('DELETE', `${url}/prices/${variant_id}?min_quantity=10`))
  ok(await merchant.send('DELETE', `${url}/members/ann`))
  ok(await merchant.send('DELETE', url))
}
