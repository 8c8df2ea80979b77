import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { OPERATIONS } from '../../src/modules/operations/table.ts'
import { OFFERED } from '../../src/modules/orders/status.ts'
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
  // The shopper pays; no merchant can.
  pay: '/v1/tenants/{tenant}/orders/{orderId}/pay',
}
const routeOf = (action: string): string =>
  ROUTES[action] ?? `/v1/merchant/orders/{id}/${action.replaceAll('_', '-')}`

const { paths } = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'))

for (const action of ACTIONS) {
  const isOffered = OFFERED.includes(action)
  test(`the action ${action} ${isOffered ? 'is offered and has a route' : 'has no route and is not offered'}`, () => {
    assert.equal(paths[routeOf(action)]?.post !== undefined, isOffered)
  })
}

test('every action of an operation is an action of an order', () => {
  const carried = Object.values(OPERATIONS).flatMap(({ actions }) => actions as readonly string[])
  assert.deepEqual(
    carried.filter((action) => !(ACTIONS as readonly string[]).includes(action)),
    [],
  )
})
