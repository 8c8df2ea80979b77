import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { ACTIONS } from '../../src/modules/orders/status-schema.ts'

/** Routes whose path does not end with the name of the action. */
const ROUTES: Record<string, string> = {
  release: '/v1/merchant/orders/{id}/release',
  reject: '/v1/merchant/fraud/reviews/{order_id}/reject',
  refund: '/v1/merchant/orders/{id}/refunds',
  fulfill: '/v1/merchant/orders/{id}/fulfillments',
  ship: '/v1/merchant/fulfillments/{id}/ship',
  deliver: '/v1/merchant/fulfillments/{id}/deliver',
  cancel_fulfillment: '/v1/merchant/fulfillments/{id}/cancel',
  recall: '/v1/merchant/fulfillments/{id}/cancel',
  return: '/v1/merchant/returns',
  correct: '/v1/merchant/orders/{id}',
  // The shopper pays; no merchant can.
  pay: '/v1/tenants/{tenant}/orders/{orderId}/pay',
}
const routeOf = (action: string): string =>
  ROUTES[action] ?? `/v1/merchant/orders/{id}/${action.replaceAll('_', '-')}`

const { paths } = JSON.parse(
  readFileSync(new URL('../../generated/openapi.json', import.meta.url), 'utf8'),
)

for (const action of ACTIONS) {
  test(`the action ${action} has a route`, () => {
    const path = paths[routeOf(action)]
    assert.ok(path?.post ?? path?.patch)
  })
}
