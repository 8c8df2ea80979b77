import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Caller, TestApp } from '../harness/app.ts'
import { makeVariant as plantVariant } from '../harness/variants.ts'
import { APPROVED } from '../modules/checkout/setup.ts'
import { freshKey, ITEM, LINE, VARIANT } from './ids.ts'
import {
  earnCommission,
  inviteAffiliate,
  makeAffiliate,
  makePayout,
  makeReferralCode,
  suspendAffiliate,
} from './make-affiliates.ts'
import { makeCreditNote, makeInvoice } from './make-billing.ts'
import {
  addRecipients,
  CAMPAIGNS,
  loseMails,
  makeCampaign,
  makeMailCampaign,
  startCampaign,
} from './make-campaigns.ts'
import {
  ACME_IMAGE,
  GROUPS,
  makeCollection,
  makeCoupon,
  makeDraft,
  makeGroup,
  makeProduct,
  makeVariant,
  SHOWN_HASH,
  uploadAsset,
} from './make-catalog.ts'
import { askToPay, EXCHANGE, makeExchangeable } from './make-exchanges.ts'
import {
  buyLabel,
  holdOrder,
  LABEL,
  makeReturn,
  packAddressed,
  packOrder,
  placeOrder,
  requestReturn,
  sendMail,
  shipOrder,
} from './make-orders.ts'
import {
  beginCount,
  createLocation,
  createVendor,
  draftPurchase,
  newVariant,
  orderPurchase,
  receivePurchase,
} from './make-stock.ts'
import {
  askForNewsletter,
  ban,
  claimDomain,
  creditCustomer,
  issueGiftCard,
  makeSegment,
  recordCustomer,
  registerWebhook,
  requestExport,
  requestFeature,
  suppressAddress,
} from './make-store.ts'
import { act, subscribe } from './make-subscriptions.ts'

/**
 * How to call each merchant route that names something by id: creates that thing in the caller's
 * own store and answers its path parameters. The generated tests fail for a route that is missing
 * here, so that none is ever left out.
 */
export type Fixture = (merchant: Caller, app: TestApp) => Promise<Record<string, string>>

/** Reads that name an order in their query, and are no lists. Their own tests ask for a foreign one. */
export const ABOUT_AN_ORDER: readonly string[] = ['/v1/merchant/fulfillments/rates']

const RECEIPT = {
  lines: [{ return_line_id: LINE, received_quantity: 1, disposition: 'restock' }],
  refund: { method: 'original' },
}

/** The line of an order whose edit is previewed: one that is edited has the id `ITEM`. */
const PREVIEWED_ITEM = '77777777-7777-4777-8777-777777777777'

/** Places an order whose line has this id, which `BODIES` name. */
const placeWithItem =
  (item: string): Fixture =>
  async (merchant, app) => {
    const { id } = await placeOrder(merchant, app)
    const admin = await app.database.openAdmin()
    await admin.query('update order_items set id = $1 where order_id = $2', [item, id])
    return { id }
  }

export const FIXTURES: Record<string, Fixture> = {
  'POST /v1/my/credentials/:id/revoke': async (merchant) => {
    const body = { label: 'a canary', scopes: ['read:own_store'] }
    const made = await merchant.post('/v1/my/credentials', body)
    return { id: made.body.credential.id }
  },
  'DELETE /v1/my/storefront-tokens/:id': async (merchant) => {
    const made = await merchant.post('/v1/my/storefront-tokens', { label: 'a canary' })
    return { id: made.body.storefront_token.id }
  },
  'GET /v1/my/site/versions/:version': async (merchant) => {
    // More versions than any other store of the test has.
    for (const title of ['one', 'two', 'three']) {
      await merchant.put('/v1/my/site/draft', { manifest: { seo: { title } } })
    }
    return { version: '3' }
  },
  'GET /v1/merchant/entitlements/requests/:id': requestFeature,
  'POST /v1/merchant/entitlements/requests/:id/withdraw': requestFeature,
  'POST /v1/merchant/subscriptions/:id/charge': subscribe,
  'GET /v1/merchant/orders/:id': placeOrder,
  'PATCH /v1/merchant/orders/:id': placeOrder,
  'POST /v1/merchant/orders/:id/preview': placeOrder,
  'GET /v1/merchant/orders/:id/timeline': placeOrder,
  'GET /v1/merchant/orders/:id/explain': placeOrder,
  'POST /v1/merchant/orders/:id/notes': placeOrder,
  'POST /v1/merchant/orders/:id/hold': placeOrder,
  'POST /v1/merchant/orders/:id/process': placeOrder,
  'POST /v1/merchant/orders/:id/refunds': placeOrder,
  'POST /v1/merchant/orders/:id/refunds/preview': placeOrder,
  'POST /v1/merchant/orders/:id/cancel': placeOrder,
  'POST /v1/merchant/orders/:id/cancel-remaining': async (merchant, app) => {
    const { order_id } = await shipOrder(merchant, app, 1)
    return { id: order_id }
  },
  'POST /v1/merchant/orders/:id/fulfillments': placeOrder,
  'GET /v1/merchant/orders/:id/invoice.html': placeOrder,
  'GET /v1/merchant/orders/:id/invoice.pdf': placeOrder,
  'GET /v1/merchant/fulfillments/:id': packOrder,
  'GET /v1/merchant/fulfillments/:id/packing-slip.html': packOrder,
  'GET /v1/merchant/fulfillments/:id/packing-slip.pdf': packOrder,
  'GET /v1/merchant/fulfillments/:id/label': buyLabel,
  'GET /v1/merchant/fulfillments/:id/label.pdf': buyLabel,
  'POST /v1/merchant/fulfillments/:id/label': packAddressed,
  'DELETE /v1/merchant/fulfillments/:id/label': buyLabel,
  'POST /v1/merchant/fulfillments/:id/ship': packOrder,
  'POST /v1/merchant/fulfillments/:id/cancel': packOrder,
  'PATCH /v1/merchant/fulfillments/:id/tracking': packOrder,
  'POST /v1/merchant/fulfillments/:id/deliver': async (merchant, app) => {
    const { id } = await packOrder(merchant, app)
    await merchant.post(`/v1/merchant/fulfillments/${id}/ship`)
    return { id }
  },
  'GET /v1/merchant/returns/:id': makeReturn,
  'POST /v1/merchant/returns/:id/approve': requestReturn,
  'POST /v1/merchant/returns/:id/decline': requestReturn,
  'POST /v1/merchant/returns/:id/cancel': makeReturn,
  'POST /v1/merchant/returns/:id/close': makeReturn,
  'POST /v1/merchant/returns/:id/receive': makeReturn,
  'POST /v1/merchant/returns/:id/receive/preview': makeReturn,
  'POST /v1/merchant/returns/:id/resolve': async (merchant, app) => {
    const { id } = await makeReturn(merchant, app)
    const url = `/v1/merchant/returns/${id}/receive`
    const body = {
      lines: [{ return_line_id: LINE, received_quantity: 1, disposition: 'quarantine' }],
      refund: { method: 'none' },
    }
    const received = await merchant.post(url, body, freshKey())
    assert.equal(received.status, 200, received.text)
    return { id }
  },
  'GET /v1/merchant/subscriptions/:id': subscribe,
  'PATCH /v1/merchant/subscriptions/:id': subscribe,
  'GET /v1/merchant/subscriptions/:id/cycles': async (merchant, app) => {
    const { id } = await subscribe(merchant, app)
    for (const _ of [2, 3]) await act(merchant, id, 'skip')
    return { id }
  },
  'POST /v1/merchant/subscriptions/:id/pause': subscribe,
  'POST /v1/merchant/subscriptions/:id/resume': async (merchant, app) => {
    const { id } = await subscribe(merchant, app)
    return act(merchant, id, 'pause')
  },
  'POST /v1/merchant/subscriptions/:id/skip': subscribe,
  'POST /v1/merchant/subscriptions/:id/unskip': async (merchant, app) => {
    const { id } = await subscribe(merchant, app)
    return act(merchant, id, 'skip')
  },
  'POST /v1/merchant/subscriptions/:id/cancel': subscribe,
  'POST /v1/merchant/subscriptions/:id/payment-method': subscribe,
  'POST /v1/merchant/returns/:id/exchange': makeExchangeable,
  'POST /v1/merchant/returns/:id/exchange/preview': makeExchangeable,
  'POST /v1/merchant/orders/:id/payment-request/send': askToPay,
  'POST /v1/merchant/orders/:id/payment-request/withdraw': askToPay,
  'POST /v1/merchant/mails/:id/resend': sendMail,
  'GET /v1/merchant/mails/:id': sendMail,
  'DELETE /v1/merchant/orders/:id/notes/:noteId': async (merchant, app) => {
    const { id } = await placeOrder(merchant, app)
    const made = await merchant.post(`/v1/merchant/orders/${id}/notes`, { note: 'a canary' })
    return { id, noteId: made.body.note.id }
  },
  'POST /v1/merchant/orders/:id/release': holdOrder,
  'POST /v1/merchant/fraud/reviews/:order_id/approve': async (merchant, app) => ({
    order_id: (await holdOrder(merchant, app)).id,
  }),
  'POST /v1/merchant/fraud/reviews/:order_id/reject': async (merchant, app) => ({
    order_id: (await holdOrder(merchant, app)).id,
  }),
  'GET /v1/merchant/idempotency/:operation/:key': async (merchant, app) => {
    const { id } = await placeOrder(merchant, app)
    const { body } = await merchant.get(`/v1/merchant/orders/${id}`)
    return { operation: 'checkout', key: body.order.idempotency_key }
  },
  'POST /v1/merchant/orders/:id/edit': placeWithItem(ITEM),
  'POST /v1/merchant/orders/:id/edit/preview': placeWithItem(PREVIEWED_ITEM),
  'GET /v1/merchant/fraud/bans/:id': ban,
  'POST /v1/merchant/fraud/bans/:id/lift': ban,
  'GET /v1/merchant/inventory/:variant_id': newVariant,
  'PUT /v1/merchant/inventory/:variant_id': newVariant,
  'POST /v1/merchant/inventory/:variant_id/adjust': newVariant,
  'GET /v1/merchant/inventory/:variant_id/costs': newVariant,
  'GET /v1/merchant/inventory/counts/:id': beginCount,
  'PUT /v1/merchant/inventory/counts/:id/lines': async (merchant, app) => {
    await plantVariant(await app.store('acme'), VARIANT)
    return beginCount(merchant, app)
  },
  'POST /v1/merchant/inventory/counts/:id/post': beginCount,
  'POST /v1/merchant/inventory/counts/:id/cancel': beginCount,
  'GET /v1/merchant/purchasing/vendors/:id': createVendor,
  'PATCH /v1/merchant/purchasing/vendors/:id': createVendor,
  'GET /v1/merchant/purchasing/orders/:id': draftPurchase,
  'PATCH /v1/merchant/purchasing/orders/:id': draftPurchase,
  'GET /v1/merchant/purchasing/orders/:id/receipts': draftPurchase,
  'POST /v1/merchant/purchasing/orders/:id/order': draftPurchase,
  'POST /v1/merchant/purchasing/orders/:id/cancel': draftPurchase,
  'POST /v1/merchant/purchasing/orders/:id/close': orderPurchase,
  'POST /v1/merchant/purchasing/orders/:id/receive': orderPurchase,
  'POST /v1/merchant/purchasing/orders/:id/costs': receivePurchase,
  'GET /v1/merchant/inventory/locations/:id': createLocation,
  'PATCH /v1/merchant/inventory/locations/:id': createLocation,
  'DELETE /v1/merchant/inventory/locations/:id': createLocation,
  'GET /v1/merchant/catalog/products/:id': makeProduct,
  'PATCH /v1/merchant/catalog/products/:id': makeProduct,
  'POST /v1/merchant/catalog/products/:id/activation-request': makeDraft,
  'POST /v1/merchant/catalog/products/:id/archive': makeProduct,
  'POST /v1/merchant/catalog/products/:id/variants': makeProduct,
  'PATCH /v1/merchant/catalog/products/:id/variants/:variantId': makeVariant,
  'POST /v1/merchant/catalog/products/:id/variants/:variantId/archive': makeVariant,
  'PUT /v1/merchant/catalog/products/:id/image': makeProduct,
  'GET /v1/merchant/catalog/products/:id/images': makeProduct,
  'POST /v1/merchant/catalog/products/:id/images': makeProduct,
  'PUT /v1/merchant/catalog/products/:id/images': makeProduct,
  'DELETE /v1/merchant/catalog/products/:id/images/:sha256': async (merchant) => {
    const { id } = await makeProduct(merchant)
    const made = await merchant.post(`/v1/merchant/catalog/products/${id}/images`, ACME_IMAGE)
    assert.equal(made.status, 201, made.text)
    return { id, sha256: SHOWN_HASH }
  },
  'GET /v1/merchant/catalog/collections/:id': makeCollection,
  'PATCH /v1/merchant/catalog/collections/:id': makeCollection,
  'DELETE /v1/merchant/catalog/collections/:id': makeCollection,
  'PUT /v1/merchant/catalog/collections/:id/products': makeCollection,
  'GET /v1/merchant/media/:sha256': uploadAsset,
  'PATCH /v1/merchant/media/:sha256': uploadAsset,
  'DELETE /v1/merchant/media/:sha256': uploadAsset,
  'GET /v1/merchant/domains/:id': claimDomain,
  'POST /v1/merchant/domains/:id/verify': claimDomain,
  'DELETE /v1/merchant/domains/:id': claimDomain,
  'GET /v1/merchant/gift-cards/:id': issueGiftCard,
  'GET /v1/merchant/gift-cards/:id/transactions': issueGiftCard,
  'POST /v1/merchant/gift-cards/:id/adjust': issueGiftCard,
  'POST /v1/merchant/gift-cards/:id/disable': issueGiftCard,
  'POST /v1/merchant/gift-cards/:id/enable': issueGiftCard,
  'PATCH /v1/merchant/gift-cards/:id': issueGiftCard,
  'GET /v1/merchant/store-credit/:customer_ref': creditCustomer,
  'GET /v1/merchant/store-credit/:customer_ref/transactions': creditCustomer,
  'POST /v1/merchant/store-credit/:customer_ref/debit': creditCustomer,
  'POST /v1/merchant/domains/:id/primary': async (merchant, app) => {
    const { id } = await claimDomain(merchant)
    await app.operator.post(`/v1/stores/acme/domains/${id}/activate`)
    return { id }
  },
  'GET /v1/merchant/affiliates/:id': makeAffiliate,
  'PATCH /v1/merchant/affiliates/:id': makeAffiliate,
  'POST /v1/merchant/affiliates/:id/approve': inviteAffiliate,
  'POST /v1/merchant/affiliates/:id/decline': inviteAffiliate,
  'POST /v1/merchant/affiliates/:id/suspend': makeAffiliate,
  'POST /v1/merchant/affiliates/:id/resume': suspendAffiliate,
  'POST /v1/merchant/affiliates/:id/codes': makeAffiliate,
  'PATCH /v1/merchant/affiliates/:id/codes/:code': makeReferralCode,
  'POST /v1/merchant/affiliates/:id/link': makeAffiliate,
  'GET /v1/merchant/affiliates/:id/export': makeAffiliate,
  'POST /v1/merchant/affiliates/:id/erase': makeAffiliate,
  'GET /v1/merchant/affiliates/commissions/:id': earnCommission,
  'POST /v1/merchant/affiliates/commissions/:id/approve': earnCommission,
  'POST /v1/merchant/affiliates/commissions/:id/decline': earnCommission,
  'GET /v1/merchant/affiliates/payouts/:id': makePayout,
  'POST /v1/merchant/affiliates/payouts/:id/mark-paid': makePayout,
  'POST /v1/merchant/affiliates/payouts/:id/cancel': makePayout,
  'POST /v1/merchant/marketing/subscribers/:id/unsubscribe': askForNewsletter,
  'POST /v1/merchant/marketing/suppressions/:id/lift': suppressAddress,
  'GET /v1/merchant/marketing/segments/:id': makeSegment,
  'PATCH /v1/merchant/marketing/segments/:id': makeSegment,
  'DELETE /v1/merchant/marketing/segments/:id': makeSegment,
  'GET /v1/merchant/marketing/campaigns/:id': makeCampaign,
  'PATCH /v1/merchant/marketing/campaigns/:id': makeCampaign,
  'DELETE /v1/merchant/marketing/campaigns/:id': makeCampaign,
  'POST /v1/merchant/marketing/campaigns/:id/schedule': makeCampaign,
  'POST /v1/merchant/marketing/campaigns/:id/pause': startCampaign,
  'POST /v1/merchant/marketing/campaigns/:id/resume': async (merchant) => {
    const { id } = await startCampaign(merchant)
    await merchant.post(`${CAMPAIGNS}/${id}/pause`)
    return { id }
  },
  'POST /v1/merchant/marketing/campaigns/:id/cancel': makeCampaign,
  'POST /v1/merchant/marketing/campaigns/:id/test': makeMailCampaign,
  'POST /v1/merchant/marketing/campaigns/:id/resend-unknown': loseMails,
  'GET /v1/merchant/marketing/campaigns/:id/recipients': addRecipients,
  'GET /v1/merchant/marketing/campaigns/:id/performance': makeCampaign,
  'GET /v1/merchant/marketing/coupons/:id/report': makeCoupon,
  'GET /v1/merchant/marketing/coupons/:id': makeCoupon,
  'PATCH /v1/merchant/marketing/coupons/:id': makeCoupon,
  'POST /v1/merchant/marketing/coupons/:id/pause': makeCoupon,
  'POST /v1/merchant/marketing/coupons/:id/activate': makeCoupon,
  'GET /v1/merchant/marketing/coupons/:id/redemptions': makeCoupon,
  'POST /v1/merchant/marketing/coupons/:id/codes': makeCoupon,
  'GET /v1/merchant/marketing/coupons/:id/codes': makeCoupon,
  'GET /v1/merchant/pricing-groups/:id': makeGroup,
  'PATCH /v1/merchant/pricing-groups/:id': makeGroup,
  'DELETE /v1/merchant/pricing-groups/:id': makeGroup,
  'POST /v1/merchant/pricing-groups/:id/members': makeGroup,
  'GET /v1/merchant/pricing-groups/:id/members': makeGroup,
  'DELETE /v1/merchant/pricing-groups/:id/members/:customer_ref': async (merchant, app) => {
    const { id } = await makeGroup(merchant, app)
    await merchant.post(`${GROUPS}/${id}/members`, { customer_ref: 'a canary' })
    return { id, customer_ref: 'a canary' }
  },
  'PUT /v1/merchant/pricing-groups/:id/prices': makeGroup,
  'GET /v1/merchant/pricing-groups/:id/prices': makeGroup,
  'DELETE /v1/merchant/pricing-groups/:id/prices/:variant_id': async (merchant, app) => {
    const { id } = await makeGroup(merchant, app)
    await merchant.put(`${GROUPS}/${id}/prices`, { variant_id: VARIANT, price_cents: 1 })
    return { id, variant_id: VARIANT }
  },
  'GET /v1/merchant/customers/:customer_ref': recordCustomer,
  'GET /v1/merchant/billing/invoices/:id': makeInvoice,
  'GET /v1/merchant/billing/invoices/:id.pdf': makeInvoice,
  'GET /v1/merchant/billing/credit-notes/:id.pdf': makeCreditNote,
  'GET /v1/my/privacy/exports/:id': requestExport,
  'DELETE /v1/merchant/webhooks/:id': registerWebhook,
  'POST /v1/merchant/webhooks/:id/test': registerWebhook,
  'POST /v1/merchant/webhooks/:id/rotate-secret': registerWebhook,
  'POST /v1/merchant/webhooks/:id/replay': registerWebhook,
  'GET /v1/merchant/deliveries/:id': async (merchant) => {
    const made = await merchant.post(
      `/v1/merchant/webhooks/${(await registerWebhook(merchant)).id}/test`,
    )
    assert.ok(made.body.delivery_id, made.text)
    return { id: made.body.delivery_id }
  },
}

/** The bodies for the routes above, for the caller and for another store alike. */
export const BODIES: Record<string, unknown> = {
  'POST /v1/merchant/webhooks/:id/replay': { from: 1 },
  'PATCH /v1/merchant/gift-cards/:id': { note: 'a canary' },
  'PATCH /v1/merchant/orders/:id': { name: 'a canary' },
  'POST /v1/merchant/orders/:id/preview': { name: 'a canary' },
  'POST /v1/merchant/orders/:id/notes': { note: 'a canary' },
  'POST /v1/merchant/fulfillments/:id/ship': { carrier: 'a canary' },
  'PATCH /v1/merchant/fulfillments/:id/tracking': { carrier: 'a canary' },
  'POST /v1/merchant/returns/:id/approve': { instructions: 'a canary' },
  'POST /v1/merchant/returns/:id/decline': { reason: 'a canary' },
  'POST /v1/merchant/returns/:id/receive': RECEIPT,
  'POST /v1/merchant/returns/:id/receive/preview': RECEIPT,
  'POST /v1/merchant/returns/:id/resolve': {
    lines: [{ return_line_id: LINE, quantity: 1, disposition: 'damaged' }],
  },
  'PATCH /v1/merchant/subscriptions/:id': { quantity: 2 },
  'POST /v1/merchant/subscriptions/:id/cancel': { reason: 'a canary' },
  'POST /v1/merchant/subscriptions/:id/payment-method': { card: APPROVED },
  'POST /v1/merchant/returns/:id/exchange': EXCHANGE,
  'POST /v1/merchant/returns/:id/exchange/preview': EXCHANGE,
  'POST /v1/merchant/fulfillments/:id/label': LABEL,
  'POST /v1/merchant/orders/:id/cancel-remaining': { reason: 'inventory', note: 'a canary' },
  'POST /v1/merchant/orders/:id/hold': { reason: 'a canary' },
  'POST /v1/merchant/orders/:id/refunds': { amount_cents: 1, reason: 'a canary' },
  'POST /v1/merchant/orders/:id/refunds/preview': { amount_cents: 1 },
  'POST /v1/merchant/orders/:id/cancel': { reason: 'other', note: 'a canary' },
  'POST /v1/merchant/orders/:id/edit': { edits: [{ order_item_id: ITEM, quantity: 1 }] },
  'POST /v1/merchant/orders/:id/edit/preview': {
    edits: [{ order_item_id: PREVIEWED_ITEM, quantity: 1 }],
  },
  'POST /v1/merchant/gift-cards/:id/adjust': { delta_cents: 1, reason: 'a canary' },
  'POST /v1/merchant/store-credit/:customer_ref/debit': {
    amount_cents: 1,
    currency: 'USD',
    reason: 'a canary',
  },
  'PUT /v1/merchant/inventory/:variant_id': { track_inventory: true },
  'POST /v1/merchant/inventory/:variant_id/adjust': { delta: 1, reason: 'a canary' },
  'PUT /v1/merchant/inventory/counts/:id/lines': {
    lines: [{ variant_id: VARIANT, counted: 1, reason: 'a canary' }],
  },
  'PATCH /v1/merchant/purchasing/vendors/:id': { name: 'a canary' },
  'PATCH /v1/merchant/purchasing/orders/:id': { notes: 'a canary' },
  'POST /v1/merchant/purchasing/orders/:id/receive': { lines: [{ line_id: ITEM, quantity: 1 }] },
  'POST /v1/merchant/purchasing/orders/:id/costs': {
    description: 'a canary',
    amount_cents: 1,
    split_by: 'quantity',
  },
  'PATCH /v1/merchant/inventory/locations/:id': { name: 'a canary' },
  'PATCH /v1/merchant/catalog/products/:id': { name: 'a canary' },
  'POST /v1/merchant/catalog/products/:id/variants': { sku: 'canary', price_cents: 1 },
  'PATCH /v1/merchant/catalog/products/:id/variants/:variantId': { price_cents: 2 },
  'PUT /v1/merchant/catalog/products/:id/image': ACME_IMAGE,
  'POST /v1/merchant/catalog/products/:id/images': ACME_IMAGE,
  'PUT /v1/merchant/catalog/products/:id/images': { images: [ACME_IMAGE] },
  'PATCH /v1/merchant/catalog/collections/:id': { title: 'a canary' },
  'PUT /v1/merchant/catalog/collections/:id/products': { product_ids: [] },
  'PATCH /v1/merchant/media/:sha256': { alt: 'a canary' },
  'PATCH /v1/merchant/marketing/segments/:id': {},
  'PATCH /v1/merchant/affiliates/:id': { name: 'a canary' },
  'POST /v1/merchant/affiliates/:id/decline': { reason: 'a canary' },
  'POST /v1/merchant/affiliates/:id/codes': { code: 'a-canary' },
  'PATCH /v1/merchant/affiliates/:id/codes/:code': { active: false },
  'POST /v1/merchant/affiliates/commissions/:id/decline': { reason: 'a canary' },
  'PATCH /v1/merchant/marketing/campaigns/:id': { name: 'a canary' },
  'POST /v1/merchant/marketing/campaigns/:id/schedule': {},
  'PATCH /v1/merchant/marketing/coupons/:id': {},
  'POST /v1/merchant/marketing/coupons/:id/codes': { count: 1 },
  'PATCH /v1/merchant/pricing-groups/:id': {},
  'POST /v1/merchant/pricing-groups/:id/members': { customer_ref: 'a canary' },
  'PUT /v1/merchant/pricing-groups/:id/prices': { variant_id: VARIANT, price_cents: 1 },
}

/** Routes whose path contains a name of the caller's choice, so that any name may be new. */
export const CALLERS_WORD: readonly string[] = [
  'POST /v1/merchant/store-credit/:customer_ref/credit',
]

/** A path with its parameters filled in; a missing parameter becomes an id that does not exist. */
export const fillPath = (url: string, params: Record<string, string> = {}): string =>
  url.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? randomUUID()))
