import type { Caller } from '../../harness/app.ts'
import { addVariant, cart, checkout, openShop, type Shop } from '../../modules/checkout/setup.ts'
import { ok } from '../../modules/returns/setup.ts'
import type { MailApp } from '../../modules/shopper-mail/setup.ts'
import { freshKey } from '../ids.ts'
import type { Recorder } from './record.ts'

const TENANT = 'kiosk'
const STORE = `/v1/stores/${TENANT}`

/** The key of an account at the gateway that the examples run against. */
export const GATEWAY_KEY = 'the-security-key-of-the-kiosk'

const MANIFEST = {
  brand: { name: 'Kiosk', tagline: 'Papers and coffee' },
  template: { id: 'home', sections: [{ type: 'hero', props: { heading: 'Good morning' } }] },
}

/** A store from its first day: its site, its add-ons and keys, its endpoints and its bans. */
export async function openKiosk(app: MailApp, recorder: Recorder): Promise<void> {
  const operator = recorder.recorded(app.operator)
  const shop = await openShop(app, TENANT, [])
  const recorded = { ...shop, merchant: recorder.recorded(shop.merchant) }
  await buildSite(recorded.merchant, recorder.recorded(app.anyone))
  await useOwnStorefront(recorded.merchant)
  await takeHostname(recorded.merchant, operator)
  await chooseAddOns(recorded.merchant, operator)
  await lookAfterKeys(recorded.merchant)
  const paper = await addVariant(shop.merchant, 300, { name: 'Paper' }, { sku: 'PAPER' })
  await listen(app, recorded, paper)
  await guard(app, recorded, paper)
  await know(recorded.merchant, recorder.recorded(app.storefront))
  await operate(operator)
  await connectGateway(app, recorded.merchant)
}

/** The store takes payments by an account of its own for a while. */
async function connectGateway(app: MailApp, merchant: Caller): Promise<void> {
  const allowed = `/v1/entitlements/tenants/${TENANT}/features/dedicated_gateway`
  await app.operator.put(allowed, { state: 'allow' })
  const credentials = { security_key: GATEWAY_KEY }
  ok(await merchant.put('/v1/my/gateway', { gateway: 'nmi', credentials }))
  ok(await merchant.get('/v1/my/gateway'))
  ok(await merchant.send('DELETE', '/v1/my/gateway'))
}

async function buildSite(merchant: Caller, anyone: Caller): Promise<void> {
  ok(await merchant.get('/v1/my/store'))
  ok(await merchant.get('/v1/my/compliance'))
  ok(await merchant.patch('/v1/my/store', { display_name: 'Kiosk', stock_hint: 'low' }))
  const { version } = ok(await merchant.put('/v1/my/site/draft', { manifest: MANIFEST }))
  const { token } = ok(await merchant.post('/v1/my/site/preview-token', { version }))
  ok(await anyone.get(`/v1/preview-resolve?token=${token}`))
  ok(await merchant.post('/v1/my/site/publish', { version }))
  ok(await merchant.put('/v1/my/store/manifest', { manifest: { ...MANIFEST, seo: {} } }))
  ok(await merchant.get('/v1/my/site'))
  ok(await merchant.get(`/v1/my/site/versions/${version}`))
  ok(await anyone.get(`/v1/tenants/${TENANT}/site`))
  ok(await anyone.get(`/v1/resolve?tenant=${TENANT}`))
}

async function useOwnStorefront(merchant: Caller): Promise<void> {
  const url = '/v1/my/storefront-tokens'
  const { storefront_token } = ok(await merchant.post(url, { label: 'Web shop' }), 201)
  ok(await merchant.get(url))
  ok(await merchant.send('DELETE', `${url}/${storefront_token.id}`))
}

async function takeHostname(merchant: Caller, operator: Caller): Promise<void> {
  const url = '/v1/merchant/domains'
  const claim = async (hostname: string): Promise<string> =>
    ok(await merchant.post(url, { hostname }), 201).domain.id
  const id = await claim('kiosk.example')
  ok(await operator.get(`${STORE}/domains`))
  ok(await operator.post(`${STORE}/domains/${id}/activate`))
  ok(await merchant.post(`${url}/${id}/primary`))
  ok(await merchant.get(`${url}/${id}`))
  ok(await merchant.get(url))
  ok(await merchant.send('DELETE', `${url}/${await claim('old.kiosk.example')}`))
  const unwanted = await claim('other.kiosk.example')
  ok(await operator.send('DELETE', `${STORE}/domains/${unwanted}`))
}

/** One add-on is switched, one requested and approved, one requested and withdrawn. */
async function chooseAddOns(merchant: Caller, operator: Caller): Promise<void> {
  const feature_key = 'subscriptions'
  ok(await merchant.post('/v1/merchant/entitlements/enable', { feature_key }))
  ok(await merchant.get('/v1/my/entitlements'))
  ok(await merchant.post('/v1/merchant/entitlements/disable', { feature_key }))
  const requests = '/v1/merchant/entitlements/requests'
  const request = async (key: string): Promise<string> => {
    const body = { feature_key: key, note: 'For the season' }
    return ok(await merchant.post(requests, body), 201).request.id
  }
  const wanted = await request('advanced_fraud')
  ok(await merchant.get(`${requests}/${wanted}`))
  ok(await operator.get('/v1/entitlements/requests?limit=1'))
  ok(await operator.put(`/v1/entitlements/requests/${wanted}`, { status: 'approved' }))
  ok(await merchant.post(`${requests}/${await request('extended_events')}/withdraw`))
  ok(await merchant.get(`${requests}?limit=1`))
  const url = `/v1/entitlements/tenants/${TENANT}`
  ok(await operator.put(`${url}/tier`, { tier: 'growth' }))
  ok(await operator.put(`${url}/features/affiliates`, { state: 'allow' }))
  ok(await operator.get(`${url}/features/affiliates`))
  ok(await operator.get(`${url}/features`))
  ok(
    await operator.put('/v1/entitlements/limits', { tier: 'growth', limits: { products: 20_000 } }),
  )
  ok(await operator.get('/v1/entitlements/limits'))
  ok(await operator.put(`${url}/limits`, { products: 25_000 }))
  ok(await operator.get(`${url}/limits`))
  ok(await merchant.get('/v1/my/limits'))
}

async function lookAfterKeys(merchant: Caller): Promise<void> {
  const url = '/v1/my/credentials'
  const wanted = { label: 'Till', scopes: ['read:own_orders'] }
  const { credential } = ok(await merchant.post(url, wanted), 201)
  ok(await merchant.get(`${url}/self`))
  ok(await merchant.post(`${url}/${credential.id}/revoke`))
  ok(await merchant.get(`${url}?limit=1`))
  ok(await merchant.get('/v1/my/audit?limit=1'))
}

/** An endpoint gets the events of an order and their replay, gets a new secret, and is removed. */
async function listen(app: MailApp, shop: Shop, paper: string): Promise<void> {
  const { merchant } = shop
  const url = '/v1/merchant/webhooks'
  const endpoint = {
    url: 'https://kiosk.example/hook',
    events: ['commerce.order.placed.v1'],
    description: 'The till',
  }
  const { subscription } = ok(await merchant.post(url, endpoint), 201)
  ok(await checkout(app, shop, cart(paper)), 201)
  await app.queue()
  ok(await merchant.get('/v1/merchant/events?limit=1'))
  const { deliveries } = ok(await merchant.get('/v1/merchant/deliveries?limit=1'))
  ok(await merchant.get(`/v1/merchant/deliveries/${deliveries[0].id}`))
  const one = `${url}/${subscription.id}`
  ok(await merchant.post(`${one}/replay`, { from: 1 }), 202)
  ok(await merchant.post(`${one}/rotate-secret`))
  ok(await merchant.get(url))
  ok(await merchant.send('DELETE', one))
}

/** Two orders are held and reviewed; a shopper whom the store does not want again is banned. */
async function guard(app: MailApp, shop: Shop, paper: string): Promise<void> {
  const { merchant } = shop
  const bans = '/v1/merchant/fraud/bans'
  const settings = '/v1/merchant/fraud/settings'
  ok(await merchant.get(settings))
  const strict = { review_from: 60, signals: { cvv_mismatch: { action: 'hold' } } }
  const allowed = `/v1/entitlements/tenants/${TENANT}/features/advanced_fraud`
  await app.operator.put(allowed, { state: 'allow' })
  ok(await merchant.put(settings, strict))
  const domain = { kind: 'email_domain', value: 'throwaway.example', action: 'review' }
  const { ban } = ok(await merchant.post(bans, domain), 201)
  ok(await merchant.get(`${bans}/${ban.id}`))
  ok(await merchant.post(`${bans}/${ban.id}/lift`))
  const held = async (): Promise<string> => {
    const { order } = ok(
      await checkout(app, shop, cart(paper, { email: 'mallory@example.com' })),
      201,
    )
    ok(await merchant.post(`/v1/merchant/orders/${order.id}/hold`, {}))
    return order.id
  }
  const order_id = await held()
  const kinds = ['email', 'customer_ref']
  const other = await held()
  ok(await merchant.post(`${bans}/from-order`, { order_id, kinds, reason: 'Resold abroad' }), 201)
  ok(await merchant.get(`${bans}?limit=1`))
  ok(await merchant.get('/v1/merchant/fraud/reviews?limit=1'))
  const reviews = '/v1/merchant/fraud/reviews'
  ok(await merchant.post(`${reviews}/${other}/approve`, undefined, freshKey()))
  const note = { note: 'The same card as last week.' }
  ok(await merchant.post(`${reviews}/${order_id}/reject`, note, freshKey()))
  ok(await merchant.get('/v1/merchant/fraud/decisions?limit=1'))
}

/** A reader of the newsletter, and a customer who asks what the store knows. */
async function know(merchant: Caller, storefront: Caller): Promise<void> {
  const reader = { email: 'reader@example.com', source: 'footer' }
  ok(await storefront.post(`/v1/tenants/${TENANT}/newsletter`, reader), 202)
  const subscribers = '/v1/merchant/marketing/subscribers'
  const found = ok(await merchant.get(`${subscribers}?limit=1`))
  ok(await merchant.post(`${subscribers}/${found.subscribers[0].id}/unsubscribe`))
  const { job } = ok(await merchant.post('/v1/my/privacy/export', { customer_ref: 'ann' }), 202)
  ok(await merchant.get(`/v1/my/privacy/exports/${job.id}`))
  ok(await merchant.post('/v1/my/privacy/erase', { customer_ref: 'ann' }), 202)
  ok(await merchant.get('/v1/merchant/payments/discrepancies'))
}

/** What the operator of the installation sees and does. */
async function operate(operator: Caller): Promise<void> {
  ok(await operator.get(STORE))
  ok(await operator.get('/v1/stores?q=kiosk'))
  ok(await operator.put(`${STORE}/owner`, { email: 'owner@kiosk.example' }))
  ok(await operator.put(`${STORE}/manifest`, { manifest: MANIFEST }))
  const claim = { ...MANIFEST, brand: { name: 'Kiosk', tagline: 'Our tea cures every cold' } }
  ok(await operator.post(`${STORE}/manifest/scan`, { manifest: claim }))
  ok(await operator.put(`${STORE}/payments`, { gateway: 'simulated' }))
  ok(await operator.get(`${STORE}/payments`))
  ok(await operator.get(`${STORE}/payments/simulated?limit=1`))
  ok(await operator.get(`${STORE}/payments/unsettled`))
  const reason = 'Closed for the winter'
  ok(await operator.put(`${STORE}/status`, { status: 'suspended', reason }))
  ok(await operator.get(`${STORE}/audit?limit=1`))
  ok(await operator.get(`/v1/audit?tenant_ref=${TENANT}&limit=1`))
  ok(await operator.get('/v1/payments/unsettled'))
}
