import * as orderLink from '../../../src/modules/order-links/service.ts'
import type { Caller } from '../../harness/app.ts'
import { APPROVED, addVariant, openShop } from '../../modules/checkout/setup.ts'
import { ok } from '../../modules/returns/setup.ts'
import type { MailApp } from '../../modules/shopper-mail/setup.ts'
import { freshKey } from '../ids.ts'
import type { Recorder } from './record.ts'

const TENANT = 'corner'
const SHOPPERS = `/v1/tenants/${TENANT}`
const ORDERS = '/v1/merchant/orders'

const POLICIES = {
  shipping: {
    mode: 'flat',
    flat_rate_cents: 590,
    expedited_rate_cents: 1_490,
    max_cents: 5_000,
    free_shipping_threshold_cents: 10_000,
  },
  tax: { provider: 'flat_rate', rate_bps: 700 },
}

interface Placed {
  order: { id: string; order_number: number }
  items: { id: string; variant_id: string }[]
  charges: { charge_id: string }[]
}

/** A corner shop with two goods. Its orders are read, changed and returned, by both sides. */
export async function sellLamps(app: MailApp, recorder: Recorder): Promise<void> {
  const shop = await openShop(app, TENANT, [])
  const lamp = await addVariant(shop.merchant, 4_000, { name: 'Desk lamp' }, { sku: 'LAMP-1' })
  const merchant = recorder.recorded(shop.merchant)
  const storefront = recorder.recorded(app.storefront)
  const items = [{ variant_id: lamp, quantity: 2 }]
  ok(await storefront.get(`${SHOPPERS}/card-form`))
  ok(await storefront.post(`${SHOPPERS}/checkout/preview`, { items, ...POLICIES }))
  const key = freshKey()
  const buy = async (headers = freshKey()): Promise<Placed> => {
    const who = { customer_ref: 'ann', email: 'ann@example.com', name: 'Ann Archer' }
    const body = { ...who, items, card: APPROVED, ...POLICIES }
    const placed = ok(await storefront.post(`${SHOPPERS}/checkout`, body, headers), 201)
    return { ...placed, ...ok(await shop.merchant.get(`${ORDERS}/${placed.order.id}`)) }
  }
  const first = await buy(key)
  const path = `idempotency/checkout/${key['idempotency-key']}`
  ok(await storefront.get(`${SHOPPERS}/${path}`))
  ok(await merchant.get(`/v1/merchant/${path}`))
  await workOn(merchant, first)
  await changeAsShopper(app, storefront, buy)
  const cancelled = await buy()
  const reason = { reason: 'inventory', note: 'The last one is broken.' }
  ok(await merchant.post(`${ORDERS}/${cancelled.order.id}/cancel`, reason, freshKey()))
  await askToPay(merchant, storefront, await buy())
  ok(await merchant.get('/v1/merchant/customers?limit=1'))
  ok(await merchant.get('/v1/merchant/customers/ann'))
  const operator = recorder.recorded(app.operator)
  const url = `/v1/stores/${TENANT}/orders/${(await buy()).order.id}`
  ok(await operator.post(`${url}/test-flag`, { is_test: true }))
  ok(await operator.post(`${url}/dispute`, { outcome: 'opened' }))
}

/** What a merchant does with an order, from its first look to a refund. */
async function workOn(merchant: Caller, { order, items }: Placed): Promise<void> {
  const url = `${ORDERS}/${order.id}`
  ok(await merchant.get(`${ORDERS}?limit=1`))
  ok(await merchant.get(url))
  const { note } = ok(await merchant.post(`${url}/notes`, { note: 'Called: ring twice.' }), 201)
  ok(await merchant.send('DELETE', `${url}/notes/${note.id}`))
  const ship_to = {
    label: 'Home',
    name: 'Ann Archer',
    line1: '14 Harbour Street',
    city: 'Portland',
    state: 'ME',
    postal_code: '04101',
    country: 'US',
  }
  const corrected = { email: 'ann@example.com', ship_to }
  ok(await merchant.post(`${url}/preview`, corrected))
  ok(await merchant.send('PATCH', url, corrected, freshKey()))
  ok(await merchant.post(`${url}/hold`, { reason: 'The address is unclear.' }))
  ok(await merchant.get(`${url}/explain`))
  ok(await merchant.post(`${url}/release`, undefined, freshKey()))
  const [line] = items
  const edits = [{ order_item_id: line?.id, quantity: 1 }]
  ok(await merchant.post(`${url}/edit/preview`, { edits }))
  ok(await merchant.post(`${url}/edit`, { edits }, freshKey()))
  const refund = { amount_cents: 500, reason: 'A scratch on the shade.' }
  ok(await merchant.post(`${url}/refunds/preview`, refund))
  ok(await merchant.post(`${url}/refunds`, refund, freshKey()), 201)
  ok(await merchant.post(`${url}/process`))
  ok(await merchant.get(`${url}/timeline?limit=5`))
}

async function changeAsShopper(
  app: MailApp,
  storefront: Caller,
  buy: () => Promise<Placed>,
): Promise<void> {
  const { order, items, charges } = await buy()
  const url = `${SHOPPERS}/orders/${order.id}`
  ok(await storefront.get(`${SHOPPERS}/customers/ann/orders?limit=1`))
  ok(await storefront.get(`${url}?customer_ref=ann`))
  const edits = [{ order_item_id: items[0]?.id, quantity: 1 }]
  ok(await storefront.post(`${url}/edit/preview`, { edits }))
  ok(await storefront.post(`${url}/edit`, { edits }, freshKey()))
  const refund = { charge_id: charges[0]?.charge_id, amount_cents: 250, reason: 'It came late.' }
  ok(await storefront.post(`${url}/refund`, refund, freshKey()))
  const reason = { reason: 'Bought twice.' }
  ok(await storefront.post(`${url}/cancel`, reason, freshKey()))
  const asked = {
    order_number: order.order_number,
    email: 'ann@example.com',
    return_url: `http://${TENANT}.localhost/orders/link`,
  }
  ok(await storefront.post(`${SHOPPERS}/orders/links`, asked), 202)
  const key = app.runtime.key('order link')
  const db = app.runtime.database.tenant(TENANT)
  const token = orderLink.createLinkToken(key, db, { id: order.id, email: 'ann@example.com' }, 30)
  ok(await storefront.post(`${SHOPPERS}/orders/links/open`, { token }))
}

/** Two exchanges for more than came back: one is paid, the other withdrawn. */
async function askToPay(merchant: Caller, storefront: Caller, { order, items }: Placed) {
  const packed = await merchant.post(`${ORDERS}/${order.id}/fulfillments`)
  await merchant.post(`/v1/merchant/fulfillments/${packed.body.fulfillment.id}/ship`)
  const [line] = items
  const exchange = async (): Promise<string> => {
    const lines = [{ order_item_id: line?.id, quantity: 1 }]
    const made = ok(await merchant.post('/v1/merchant/returns', { order_id: order.id, lines }), 201)
    const wanted = { items: [{ variant_id: line?.variant_id, quantity: 2 }], advance: true }
    const url = `/v1/merchant/returns/${made.return.id}/exchange`
    return ok(await merchant.post(url, wanted, freshKey()), 201).order.id
  }
  const paid = await exchange()
  ok(await merchant.post(`${ORDERS}/${paid}/payment-request/send`))
  const payment = { customer_ref: 'ann', card: APPROVED }
  ok(await storefront.post(`${SHOPPERS}/orders/${paid}/pay`, payment, freshKey()))
  const url = `${ORDERS}/${await exchange()}/payment-request/withdraw`
  ok(await merchant.post(url, undefined, freshKey()))
}
