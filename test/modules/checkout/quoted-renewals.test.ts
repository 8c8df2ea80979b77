import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { addressIn, openDestinationTax } from '../../harness/destination-tax.ts'
import { suiteScope } from '../../harness/scope.ts'
import { createCoupon } from '../marketing/setup.ts'
import {
  ALL_OPTIONS,
  APPROVED,
  addVariant,
  type CheckoutApp,
  checkout,
  enable,
  openCheckoutApp,
  openShop,
  preview,
  type Shop,
} from './setup.ts'

const EVERY_2_WEEKS = {
  is_subscription: true,
  subscription_interval: 'week',
  subscription_interval_count: 2,
}
const SHIPPING = {
  mode: 'flat',
  flat_rate_cents: 500,
  expedited_rate_cents: 900,
  max_cents: 900,
  free_shipping_threshold_cents: 2_500,
}
const FLAT = { provider: 'flat_rate', rate_bps: 1_000 }
const DESTINATION = { provider: 'acme_tax', rate_bps: 0 }

let app: CheckoutApp
let shop: Shop
let coffee: string
let tea: string
let cup: string

const scope = suiteScope()
before(async () => {
  const provider = await openDestinationTax(scope)
  app = await openCheckoutApp(scope as never, { env: provider.env })
  shop = await openShop(app, 'again', [], ALL_OPTIONS)
  await enable(shop.merchant, 'subscriptions', 'subscribe_and_save')
  coffee = await addVariant(shop.merchant, 1_000, {
    ...EVERY_2_WEEKS,
    subscription_price_cents: 800,
  })
  tea = await addVariant(shop.merchant, 3_000, EVERY_2_WEEKS)
  cup = await addVariant(shop.merchant, 2_000)
})

const bodyOf = (more: object = {}) => ({
  customer_ref: 'ann',
  items: [
    { variant_id: coffee, quantity: 2, subscribe: true },
    { variant_id: cup, quantity: 1 },
    { variant_id: tea, quantity: 1, subscribe: true },
  ],
  shipping: SHIPPING,
  tax: FLAT,
  shipping_address: addressIn('ME'),
  ...more,
})

const couponCode = async (more: Record<string, unknown>) =>
  (await createCoupon(shop.merchant, more)).code as string

describe('the renewals of a quote', () => {
  test('are one for each line that is subscribed to, with interval, shipping and tax', async () => {
    const { body } = await preview(app, shop, bodyOf())
    const every = { interval: 'week', interval_count: 2 }
    // Each is an order of its own: the coffee pays for its shipping, and the tea has it free.
    assert.deepEqual(body.renewals, [
      { variant_id: coffee, quantity: 2, ...every, amount_cents: 1_760 + 500 },
      { variant_id: tea, quantity: 1, ...every, amount_cents: 3_300 },
    ])
    const once = bodyOf({ items: [{ variant_id: coffee, quantity: 1 }] })
    assert.deepEqual((await preview(app, shop, once)).body.renewals, [])
  })

  test('cost what the subscriptions of the order then say of their next charge', async () => {
    const percent = { type: 'percent', percent_bps: 1_000 }
    const fixed = { type: 'fixed', percent_bps: null, amount_cents: 380 }
    const orders = [
      {},
      { expedited: true },
      { shipping: null, tax: null },
      { tax: DESTINATION },
      { tax: DESTINATION, shipping_address: addressIn('OR') },
      { coupon_code: await couponCode({ ...percent, recurring: false }) },
      { coupon_code: await couponCode({ ...percent, recurring: true }) },
      { coupon_code: await couponCode({ ...fixed, recurring: true }), tax: DESTINATION },
    ]
    for (const more of orders) {
      const body = bodyOf(more)
      const { renewals, quote_token } = (await preview(app, shop, body)).body
      const placed = await checkout(app, shop, { ...body, quote_token, card: APPROVED })
      assert.equal(placed.status, 201, placed.text)
      const started = await Promise.all(
        placed.body.subscriptions.map(async ({ id }: { id: string }) => {
          const path = `/v1/merchant/subscriptions/${id}`
          return (await shop.merchant.get(path)).body.subscription
        }),
      )
      const told = started.map(({ variant_id, next_charges: [next] }) => {
        const { amount_cents, is_estimate } = next
        return { variant_id, amount_cents, is_estimate }
      })
      const quoted = renewals.map((each: (typeof told)[number]) => {
        const { variant_id, amount_cents, is_estimate } = each
        return { variant_id, amount_cents, is_estimate }
      })
      assert.deepEqual(quoted, told, JSON.stringify(more))
    }
  })
})
