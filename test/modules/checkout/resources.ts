import assert from 'node:assert/strict'
import { freshKey, VARIANT } from '../../contract/ids.ts'
import type { Caller, TestApp } from '../../harness/app.ts'
import type { Resources } from '../../harness/resources.ts'
import { makeVariant as plantVariant } from '../../harness/variants.ts'
import { holdOrder, placeOrder } from '../orders/resources.ts'
import { makeReturn } from '../returns/resources.ts'

/** An exchange for more than the returned goods, so that the shopper is asked to pay. */
const EXCHANGE = { items: [{ variant_id: VARIANT, quantity: 3 }], advance: true }

/** A return, and something to exchange it for. */
async function makeExchangeable(merchant: Caller, app: TestApp) {
  await plantVariant(await app.store('acme'), VARIANT)
  return makeReturn(merchant, app)
}

/** An order that its shopper is asked to pay for. */
async function askToPay(merchant: Caller, app: TestApp) {
  const { id } = await makeExchangeable(merchant, app)
  const url = `/v1/merchant/returns/${id}/exchange`
  const made = await merchant.post(url, EXCHANGE, freshKey())
  assert.equal(made.status, 201, made.text)
  return { id: made.body.order.id as string }
}

export const resources: Resources = {
  fixtures: {
    'POST /v1/merchant/returns/:id/exchange': makeExchangeable,
    'POST /v1/merchant/returns/:id/exchange/preview': makeExchangeable,
    'POST /v1/merchant/orders/:id/payment-request/send': askToPay,
    'POST /v1/merchant/orders/:id/payment-request/withdraw': askToPay,
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
  },
  bodies: {
    'POST /v1/merchant/returns/:id/exchange': EXCHANGE,
    'POST /v1/merchant/returns/:id/exchange/preview': EXCHANGE,
  },
}
