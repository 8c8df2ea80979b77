import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  missingForFreeShipping,
  offersExpedited,
  shippingPrice,
  shippingRate,
} from '../../manifest/shipping.ts'

const rates = {
  flat_rate_cents: 500,
  expedited_rate_cents: 1_500,
  max_cents: 1_200,
  free_shipping_threshold_cents: 5_000,
}

describe('the price of shipping', () => {
  const costs = (goods_cents: number, expedited: boolean) => [
    shippingPrice(rates, { goods_cents, expedited }),
    missingForFreeShipping(rates, { goods_cents, expedited }),
  ]

  test('is the rate below the threshold, and zero from the threshold on', () => {
    assert.deepEqual(costs(4_999, false), [500, 1])
    assert.deepEqual(costs(5_000, false), [0, 0])
    assert.deepEqual(costs(5_001, false), [0, 0])
  })

  test('is never waived for expedited shipping, and never above the maximum', () =>
    assert.deepEqual(costs(9_000, true), [1_200, null]))

  test('is never waived if the threshold is absent or null', () => {
    const { free_shipping_threshold_cents: _, ...without } = rates
    for (const each of [without, { ...rates, free_shipping_threshold_cents: null }]) {
      const shipment = { goods_cents: 100_000, expedited: false }
      assert.equal(shippingPrice(each, shipment), 500)
      assert.equal(missingForFreeShipping(each, shipment), null)
    }
  })
})

test('the rate of each way of shipping is at most the maximum', () =>
  assert.deepEqual([shippingRate(rates, false), shippingRate(rates, true)], [500, 1_200]))

test('expedited shipping is offered if it has a rate of its own', () => {
  assert.equal(offersExpedited(rates), true)
  assert.equal(offersExpedited({ ...rates, expedited_rate_cents: 500 }), false)
})
