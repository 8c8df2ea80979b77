import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import * as customers from '../../src/modules/customers/service.ts'
import type { Caller, TestApp } from '../harness/app.ts'
import { makeVariant as plantVariant } from '../harness/variants.ts'
import { APPROVED, checkout, openShop } from '../modules/checkout/setup.ts'
import { putVariant } from '../modules/inventory/setup.ts'

/**
 * How to call each merchant route that names something by id: creates that thing in the caller's
 * own store and answers its path parameters. The generated tests fail for a route that is missing
 * here, so that none is ever left out.
 */
export type Fixture = (merchant: Caller, app: TestApp) => Promise<Record<string, string>>

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAADElEQVQImWMQMgkDAAD4AJ2ZdwzOAAAAAElFTkSuQmCC'

/**
 * Another image, for products to use. An asset in use cannot be deleted, so `PIXEL` stays unused.
 */
const SHOWN_PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAADElEQVQImWM4kcwMAAMlAS9AfySPAAAAAElFTkSuQmCC'
const SHOWN_HASH = createHash('sha256').update(Buffer.from(SHOWN_PIXEL, 'base64')).digest('hex')

/** The generated tests call their own store `acme`. */
const ACME_IMAGE = { asset_ref: `asset:acme/${SHOWN_HASH}.png` }

export const VARIANT = '11111111-1111-4111-8111-111111111111'
const ITEM = '22222222-2222-4222-8222-222222222222'
/** The line of the last return. */
const LINE = '33333333-3333-4333-8333-333333333333'
/** Reads that name an order in their query, and are no lists. Their own tests ask for a foreign one. */
export const ABOUT_AN_ORDER: readonly string[] = ['/v1/merchant/fulfillments/rates']

const LABEL = { carrier: 'simulated', service: 'standard' }
const COUPONS = '/v1/merchant/marketing/coupons'
const GROUPS = '/v1/merchant/pricing-groups'

const RECEIPT = {
  lines: [{ return_line_id: LINE, received_quantity: 1, disposition: 'restock' }],
  refund: { method: 'original' },
}

export const FIXTURES: Record<string, Fixture> = {
  'POST /v1/my/credentials/:id/revoke': async (merchant) => {
    const body = { label: 'a canary', scopes: ['read:own_store'] }
    const made = await merchant.post('/v1/my/credentials', body)
    return { id: made.body.credential.id }
  },
  'GET /v1/merchant/entitlements/requests/:id': requestFeature,
  'POST /v1/merchant/entitlements/requests/:id/withdraw': requestFeature,
  'GET /v1/merchant/orders/:id': placeOrder,
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
  'POST /v1/merchant/mails/:id/resend': sendMail,
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
  'POST /v1/merchant/orders/:id/edit': async (merchant, app) => {
    const { id } = await placeOrder(merchant, app)
    const admin = await app.database.openAdmin()
    await admin.query('update order_items set id = $1 where order_id = $2', [ITEM, id])
    return { id }
  },
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
  'POST /v1/merchant/marketing/subscribers/:id/unsubscribe': askForNewsletter,
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
  'GET /v1/my/privacy/exports/:id': requestExport,
  'DELETE /v1/merchant/webhooks/:id': registerWebhook,
  'POST /v1/merchant/webhooks/:id/test': registerWebhook,
  'POST /v1/merchant/webhooks/:id/rotate-secret': registerWebhook,
  'GET /v1/merchant/deliveries/:id': async (merchant) => {
    const made = await merchant.post(
      `/v1/merchant/webhooks/${(await registerWebhook(merchant)).id}/test`,
    )
    assert.ok(made.body.delivery_id, made.text)
    return { id: made.body.delivery_id }
  },
}

async function recordCustomer(_merchant: Caller, app: TestApp) {
  const customer_ref = `Zoë/${randomUUID()}`
  const key = app.runtime.key('customers')
  const acme = await app.store('acme')
  await acme.transaction('see', (tx) =>
    customers.recordSeen(tx, key, { customer_ref, name: 'a canary' }),
  )
  return { customer_ref }
}

async function requestExport(merchant: Caller) {
  const made = await merchant.post('/v1/my/privacy/export', { customer_ref: 'a canary' })
  assert.ok(made.body.job, made.text)
  return { id: made.body.job.id as string }
}

async function registerWebhook(merchant: Caller) {
  const body = { url: 'https://hook.example/a-canary', events: ['commerce.order.placed.v1'] }
  const made = await merchant.post('/v1/merchant/webhooks', body)
  assert.ok(made.body.subscription, made.text)
  return { id: made.body.subscription.id as string }
}

/** The bodies for the routes above, for the caller and for another store alike. */
export const BODIES: Record<string, unknown> = {
  'PATCH /v1/merchant/gift-cards/:id': { note: 'a canary' },
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
  'POST /v1/merchant/fulfillments/:id/label': LABEL,
  'POST /v1/merchant/orders/:id/cancel-remaining': { reason: 'inventory', note: 'a canary' },
  'POST /v1/merchant/orders/:id/hold': { reason: 'a canary' },
  'POST /v1/merchant/orders/:id/refunds': { amount_cents: 1, reason: 'a canary' },
  'POST /v1/merchant/orders/:id/refunds/preview': { amount_cents: 1 },
  'POST /v1/merchant/orders/:id/cancel': { reason: 'other', note: 'a canary' },
  'POST /v1/merchant/orders/:id/edit': { edits: [{ order_item_id: ITEM, quantity: 1 }] },
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

/** A new key for each request. */
export const freshKey = () => ({ 'idempotency-key': randomUUID() })

/** Both stores have the add-on, so that only the row is missing in the other. */
async function allowFeature(app: TestApp, feature_key: string) {
  for (const tenant of ['acme', 'globex']) {
    const url = `/v1/entitlements/tenants/${tenant}/features/${feature_key}`
    await app.operator.put(url, { state: 'allow' })
  }
}

/** A paid order of two units. */
async function placeOrder(_merchant: Caller, app: TestApp, more: object = {}) {
  const shop = await openShop(app)
  const items = [{ variant_id: shop.variants[1_000], quantity: 2 }]
  const body = { customer_ref: 'a canary', items, card: APPROVED, ...more }
  const placed = await checkout(app, shop, body)
  assert.equal(placed.status, 201, placed.text)
  return { id: placed.body.order.id as string }
}

async function askForNewsletter(merchant: Caller, app: TestApp) {
  const email = `${randomUUID()}@canary.example`
  const asked = await app.storefront.post('/v1/tenants/acme/newsletter', { email })
  assert.equal(asked.status, 202, asked.text)
  const found = await merchant.get(`/v1/merchant/marketing/subscribers?email=${email}`)
  return { id: found.body.subscribers[0].id as string }
}

async function packOrder(merchant: Caller, app: TestApp, more: object = {}) {
  const { id } = await placeOrder(merchant, app, more)
  const packed = await merchant.post(`/v1/merchant/orders/${id}/fulfillments`)
  assert.equal(packed.status, 201, packed.text)
  return { id: packed.body.fulfillment.id as string }
}

/** A shipped order, of which one unit comes back. */
async function shipOrder(merchant: Caller, app: TestApp, quantity = 2) {
  const { id } = await placeOrder(merchant, app)
  const { body } = await merchant.get(`/v1/merchant/orders/${id}`)
  const packed = await merchant.post(`/v1/merchant/orders/${id}/fulfillments`, {
    items: [{ order_item_id: body.items[0].id, quantity }],
  })
  await merchant.post(`/v1/merchant/fulfillments/${packed.body.fulfillment.id}/ship`)
  const units = { order_item_id: body.items[0].id as string, quantity: 1, reason: 'a canary' }
  return { order_id: id, lines: [units] }
}

/** Gives the line of a return the id that the bodies name, in place of an earlier return's. */
async function nameLine(app: TestApp, id: string) {
  const admin = await app.database.openAdmin()
  await admin.query(`set session_replication_role = replica`)
  for (const [table, column] of [
    ['return_receipt_lines', 'return_line_id'],
    ['return_resolutions', 'return_line_id'],
    ['return_lines', 'id'],
  ]) {
    await admin.query(`update ${table} set ${column} = gen_random_uuid() where ${column} = $1`, [
      LINE,
    ])
  }
  await admin.query('update return_lines set id = $1 where return_id = $2', [LINE, id])
  await admin.query(`set session_replication_role = default`)
  return { id }
}

async function makeReturn(merchant: Caller, app: TestApp) {
  const body = { ...(await shipOrder(merchant, app)), note: 'a canary' }
  const made = await merchant.post('/v1/merchant/returns', body)
  assert.equal(made.status, 201, made.text)
  return nameLine(app, made.body.return.id as string)
}

async function requestReturn(merchant: Caller, app: TestApp) {
  const { order_id, lines } = await shipOrder(merchant, app)
  const url = `/v1/tenants/acme/orders/${order_id}/returns`
  const made = await app.storefront.post(url, { customer_ref: 'a canary', lines }, freshKey())
  assert.equal(made.status, 201, made.text)
  return { id: made.body.return.id as string }
}

const SHIP_TO = {
  label: 'a canary',
  line1: '1 High Street',
  city: 'London',
  state: '',
  postal_code: 'SW1A 1AA',
  country: 'GB',
}

function packAddressed(merchant: Caller, app: TestApp) {
  return packOrder(merchant, app, { shipping_address: SHIP_TO })
}

async function buyLabel(merchant: Caller, app: TestApp) {
  const { id } = await packAddressed(merchant, app)
  const bought = await merchant.post(`/v1/merchant/fulfillments/${id}/label`, LABEL, freshKey())
  assert.equal(bought.status, 201, bought.text)
  return { id }
}

/** A mail that was sent. */
async function sendMail(merchant: Caller, app: TestApp) {
  const { id: order_id } = await placeOrder(merchant, app)
  const admin = await app.database.openAdmin()
  const { rows } = await admin.query(
    `insert into shopper_mails (tenant_ref, kind, about_id, order_id, recipient, state,
                                next_attempt_at, sent_at)
     select tenant_ref, 'order_placed', id, id, 'a canary', 'sent', null, now()
       from orders where id = $1
     returning id`,
    [order_id],
  )
  return { id: rows[0].id as string }
}

async function holdOrder(merchant: Caller, app: TestApp) {
  const { id } = await placeOrder(merchant, app)
  const held = await merchant.post(`/v1/merchant/orders/${id}/hold`, {})
  assert.equal(held.status, 200, held.text)
  return { id }
}

async function issueGiftCard(merchant: Caller, app: TestApp) {
  await allowFeature(app, 'gift_cards')
  const body = { initial_balance_cents: 500, note: 'a canary' }
  const made = await merchant.post('/v1/merchant/gift-cards', body, freshKey())
  assert.ok(made.body.gift_card, made.text)
  return { id: made.body.gift_card.id as string }
}

async function creditCustomer(merchant: Caller, app: TestApp) {
  await allowFeature(app, 'store_credit')
  const customer_ref = `Zoë/${randomUUID()}`
  const url = `/v1/merchant/store-credit/${encodeURIComponent(customer_ref)}/credit`
  const body = { amount_cents: 500, currency: 'USD', reason: 'a canary' }
  const made = await merchant.post(url, body, freshKey())
  assert.ok(made.body.account, made.text)
  return { customer_ref }
}

async function newVariant(_merchant: Caller, app: TestApp) {
  return { variant_id: await putVariant(await app.database.openAdmin()) }
}

const newAsset = (alt: string) => ({ content_type: 'image/png', data_base64: PIXEL, alt })

async function uploadAsset(merchant: Caller) {
  const made = await merchant.post('/v1/merchant/media', newAsset('a canary'))
  assert.ok(made.body.asset, made.text)
  return { sha256: made.body.asset.sha256 as string }
}

/** A product, and an asset that can be its image. */
async function makeProduct(merchant: Caller) {
  const picture = { content_type: 'image/png', data_base64: SHOWN_PIXEL }
  await merchant.post('/v1/merchant/media', picture)
  const body = { slug: randomUUID(), name: 'a canary' }
  const made = await merchant.post('/v1/merchant/catalog/products', body)
  assert.ok(made.body.product, made.text)
  return { id: made.body.product.id as string }
}

async function makeDraft(merchant: Caller) {
  const body = { slug: randomUUID(), name: 'a canary', status: 'draft' }
  const made = await merchant.post('/v1/merchant/catalog/products', body)
  assert.ok(made.body.product, made.text)
  return { id: made.body.product.id as string }
}

async function makeVariant(merchant: Caller) {
  const { id } = await makeProduct(merchant)
  const body = { sku: randomUUID(), price_cents: 1 }
  const made = await merchant.post(`/v1/merchant/catalog/products/${id}/variants`, body)
  assert.ok(made.body.variant, made.text)
  return { id, variantId: made.body.variant.id as string }
}

async function makeCollection(merchant: Caller) {
  const body = { slug: randomUUID(), title: 'a canary' }
  const made = await merchant.post('/v1/merchant/catalog/collections', body)
  assert.ok(made.body.collection, made.text)
  return { id: made.body.collection.id as string }
}

async function makeCoupon(merchant: Caller) {
  const body = { code: randomUUID(), type: 'fixed', amount_cents: 100 }
  const made = await merchant.post(COUPONS, body)
  assert.ok(made.body.coupon, made.text)
  return { id: made.body.coupon.id as string }
}

async function makeGroup(merchant: Caller, app: TestApp) {
  await allowFeature(app, 'pricing_groups')
  await plantVariant(await app.store('acme'), VARIANT)
  const made = await merchant.post(GROUPS, { name: 'a canary' })
  assert.ok(made.body.pricing_group, made.text)
  return { id: made.body.pricing_group.id as string }
}

async function requestFeature(merchant: Caller) {
  const body = { feature_key: 'advanced_fraud', note: 'a canary' }
  const made = await merchant.post('/v1/merchant/entitlements/requests', body)
  assert.ok(made.body.request, made.text)
  return { id: made.body.request.id }
}

async function claimDomain(merchant: Caller) {
  const body = { hostname: `${randomUUID()}.example` }
  const made = await merchant.post('/v1/merchant/domains', body)
  assert.ok(made.body.domain, made.text)
  return { id: made.body.domain.id as string }
}

async function ban(merchant: Caller) {
  const body = { kind: 'customer_ref', value: randomUUID(), reason: 'a canary' }
  const made = await merchant.post('/v1/merchant/fraud/bans', body)
  assert.ok(made.body.ban, made.text)
  return { id: made.body.ban.id as string }
}

async function createLocation(merchant: Caller) {
  const body = { id: `l-${randomUUID()}`, name: 'a canary' }
  const made = await merchant.post('/v1/merchant/inventory/locations', body)
  assert.ok(made.body.location, made.text)
  return { id: made.body.location.id as string }
}

/** A count of one variant, at a location of its own: a level is counted once at a time. */
async function beginCount(merchant: Caller, app: TestApp) {
  await plantVariant(await app.store('acme'), VARIANT)
  const { id: location_id } = await createLocation(merchant)
  const body = { location_id, variant_ids: [VARIANT] }
  const made = await merchant.post('/v1/merchant/inventory/counts', body)
  assert.ok(made.body.count, made.text)
  return { id: made.body.count.id as string }
}

async function createVendor(merchant: Caller) {
  const made = await merchant.post('/v1/merchant/purchasing/vendors', { name: 'a canary' })
  assert.ok(made.body.vendor, made.text)
  return { id: made.body.vendor.id as string }
}

const PURCHASES = '/v1/merchant/purchasing/orders'

/** A draft of three units. */
async function draftPurchase(merchant: Caller, app: TestApp) {
  const { id: vendor_id } = await createVendor(merchant)
  const { variant_id } = await newVariant(merchant, app)
  const lines = [{ variant_id, quantity: 3, unit_cost_cents: 100 }]
  const made = await merchant.post(PURCHASES, { vendor_id, lines, notes: 'a canary' })
  assert.equal(made.status, 201, made.text)
  return { id: made.body.purchase_order.id as string }
}

/** An order, on the line that the bodies name. */
async function orderPurchase(merchant: Caller, app: TestApp) {
  const { id } = await draftPurchase(merchant, app)
  const admin = await app.database.openAdmin()
  await admin.query('update purchase_order_lines set id = fd_uuid() where id = $1', [ITEM])
  await admin.query('update purchase_order_lines set id = $1 where purchase_order_id = $2', [
    ITEM,
    id,
  ])
  const ordered = await merchant.post(`${PURCHASES}/${id}/order`)
  assert.equal(ordered.status, 200, ordered.text)
  return { id }
}

async function receivePurchase(merchant: Caller, app: TestApp) {
  const { id } = await draftPurchase(merchant, app)
  const { body } = await merchant.post(`${PURCHASES}/${id}/order`)
  const lines = body.purchase_order.lines.map((line: { id: string }) => ({
    line_id: line.id,
    quantity: 1,
  }))
  const received = await merchant.post(`${PURCHASES}/${id}/receive`, { lines }, freshKey())
  assert.equal(received.status, 200, received.text)
  return { id }
}

/** Writes a marker into every free text of the store. */
export async function plantCanary(merchant: Caller, canary: string): Promise<void> {
  const plants: [string, string, unknown][] = [
    ['PATCH', '/v1/my/store', { display_name: canary }],
    ['POST', '/v1/my/credentials', { label: canary, scopes: ['read:own_store'] }],
    [
      'POST',
      '/v1/merchant/entitlements/requests',
      { feature_key: 'dedicated_gateway', note: canary },
    ],
    ['POST', '/v1/merchant/domains', { hostname: `${canary}.example` }],
    ['POST', '/v1/merchant/fraud/bans', { kind: 'address', value: canary, reason: canary }],
    ['POST', '/v1/merchant/inventory/locations', { id: canary, name: canary }],
    ['POST', '/v1/merchant/purchasing/vendors', { name: canary, notes: canary, phone: canary }],
    [
      'POST',
      '/v1/merchant/webhooks',
      {
        url: `https://${canary}.example/${canary}`,
        description: canary,
        events: ['commerce.order.placed.v1'],
      },
    ],
    ['POST', '/v1/merchant/media', newAsset(canary)],
    ['POST', '/v1/merchant/catalog/products', { slug: canary, name: canary, description: canary }],
    ['POST', '/v1/merchant/catalog/collections', { slug: canary, title: canary }],
    ['POST', '/v1/merchant/entitlements/enable', { feature_key: 'pricing_groups' }],
    ['POST', GROUPS, { name: canary }],
    ['POST', COUPONS, { code: canary, type: 'free_shipping' }],
    ['PUT', '/v1/my/store/manifest', { manifest: { brand: { name: canary } } }],
    ['PUT', '/v1/my/site/draft', { manifest: { seo: { [canary]: canary } } }],
    ['POST', '/v1/merchant/entitlements/enable', { feature_key: 'gift_cards' }],
    ['POST', '/v1/merchant/entitlements/enable', { feature_key: 'store_credit' }],
    ['POST', '/v1/my/privacy/export', { customer_ref: canary }],
    ['POST', '/v1/merchant/gift-cards', { initial_balance_cents: 5, note: canary }],
    [
      'POST',
      `/v1/merchant/store-credit/${canary}/credit`,
      { amount_cents: 5, currency: 'USD', reason: canary },
    ],
  ]
  for (const [method, url, body] of plants) {
    const answer = await merchant.send(method, url, body, freshKey())
    assert.ok(answer.status < 300, `${method} ${url}: ${answer.text}`)
  }
}

/** A path with its parameters filled in; a missing parameter becomes an id that does not exist. */
export const fillPath = (url: string, params: Record<string, string> = {}): string =>
  url.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? randomUUID()))
