import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { Caller } from '../../harness/app.ts'
import { putVariant } from '../inventory/setup.ts'
import { type OrderStore, shareOrderStore } from '../orders/setup.ts'
import { newVendor, ORDERS, ok, receiveAll, stockOf, tracked } from './setup.ts'

const shared = shareOrderStore()
let store: OrderStore
let merchant: Caller

const URL = '/v1/merchant/purchasing/suggestions'
const suggestionOf = async (variant: string, query = '') =>
  ok(await merchant.get(`${URL}${query}`)).suggestions.find(
    (each: { variant_id: string }) => each.variant_id === variant,
  )

/** Removes stock that no order has moved, which the oracles would find. */
async function forgetStock(tenant: string): Promise<void> {
  await store.superuser.query('begin')
  await store.superuser.query('set local session_replication_role = replica')
  for (const table of ['inventory_movements', 'inventory_levels', 'inventory_settings']) {
    await store.superuser.query(`delete from ${table} where tenant_ref = $1`, [tenant])
  }
  await store.superuser.query('commit')
}

describe('a suggestion', () => {
  before(() => {
    store = shared.current
    merchant = store.shop.merchant
  })

  test('is the number that sells within the lead time, less what is available and incoming', async () => {
    const variant = await tracked(merchant, { allow_backorder: true })
    assert.equal(await suggestionOf(variant), undefined, 'nothing was sold')
    const url = `/v1/merchant/inventory/${variant}/adjust`
    ok(await merchant.post(url, { delta: 10, reason: 'count' }))
    const kept = await store.place({ items: [{ variant_id: variant, quantity: 7 }] })
    const given = await store.place({ items: [{ variant_id: variant, quantity: 50 }] })
    ok(await store.merchant(given.order.id, 'cancel', { reason: 'customer' }))
    const second = await store.place({ items: [{ variant_id: variant, quantity: 7 }] })
    // 14 in 28 days, 14 days: 7 are needed, and 4 too few are there.
    const numbers = {
      sold_units: 14,
      sold_days: 28,
      velocity_per_day: 0.5,
      lead_time_days: 14,
      needed: 7,
      available: -4,
      incoming: 0,
      suggested: 11,
    }
    const { sku: _, vendor_id, variant_id: __, ...rest } = await suggestionOf(variant)
    assert.deepEqual([rest, vendor_id], [numbers, null])
    assert.equal((await suggestionOf(variant, '?lead_time_days=56')).suggested, 28 + 4)
    const vendor = await newVendor(merchant, { lead_time_days: 30 })
    const body = {
      vendor_id: vendor.id,
      lines: [{ variant_id: variant, quantity: 12, unit_cost_cents: 5 }],
    }
    const { purchase_order } = ok(await merchant.post(ORDERS, body), 201)
    const expected = { lead_time_days: 30, needed: 15, suggested: 19, vendor_id: vendor.id }
    assert.deepEqual({ ...(await suggestionOf(variant)), ...expected }, await suggestionOf(variant))
    ok(await merchant.post(`${ORDERS}/${purchase_order.id}/order`))
    const { incoming, suggested } = await suggestionOf(variant)
    assert.deepEqual([incoming, suggested], [12, 7])
    await receiveAll(merchant, purchase_order)
    const after = await suggestionOf(variant)
    assert.deepEqual([after.available, after.incoming, after.suggested], [8, 0, 7])
    for (const { order } of [kept, second]) {
      ok(await store.merchant(order.id, 'cancel', { reason: 'customer' }))
    }
    assert.equal(await suggestionOf(variant), undefined, 'all was given back')
  })

  test('a suggestion of a parcel that was recalled counts its units once', async () => {
    const variant = await tracked(merchant)
    const url = `/v1/merchant/inventory/${variant}/adjust`
    ok(await merchant.post(url, { delta: 4, reason: 'count' }))
    const { order } = await store.place({ items: [{ variant_id: variant, quantity: 4 }] })
    const packed = ok(await merchant.post(`/v1/merchant/orders/${order.id}/fulfillments`), 201)
    const parcel = `/v1/merchant/fulfillments/${packed.fulfillment.id}`
    ok(await merchant.post(`${parcel}/ship`))
    ok(await merchant.post(`${parcel}/cancel`, { reason: 'lost' }))
    const { sold_units } = await suggestionOf(variant)
    assert.equal(sold_units, 4)
    assert.equal((await stockOf(merchant, variant)).available, -4)
    ok(await merchant.post(url, { delta: 4, reason: 'replaced' }))
  })

  test('looks at a bounded part of a large store, and continues from there', async () => {
    const big = await store.app.merchant('big')
    const variant = await putVariant(store.superuser, 'big')
    await store.superuser.query(
      `insert into inventory_locations (tenant_ref, id, name) values ('big', 'default', 'D')`,
    )
    await store.superuser.query(
      `with made as (
         insert into variants (tenant_ref, product_id, sku, price_cents, currency)
         select 'big', product_id, 'sku-' || n, 1, 'USD'
           from variants, generate_series(1, 449) n where id = $1
         returning id),
       every as (select id from made union all select $1::uuid),
       tracked as (insert into inventory_settings (tenant_ref, variant_id, track_inventory)
                   select 'big', id, true from every)
       insert into inventory_levels (tenant_ref, variant_id, location_id, on_hand, allocated)
       select 'big', id, 'default', 0, 1 from every`,
      [variant],
    )
    // Of the hot variant only the newest movements are read: 200 of an hour, of 1,000.
    await store.superuser.query(
      `insert into inventory_movements (tenant_ref, variant_id, location_id, kind, quantity,
                                        on_hand_after, allocated_after, actor, created_at)
       select 'big', $1, 'default', 'allocated', 1, 0, n, 'test', now() - interval '1 hour' * (1000 - n) / 200
         from generate_series(1, 1000) n`,
      [variant],
    )
    const seen: number[] = []
    const found: { variant_id: string; sold_units: number; sold_days: number }[] = []
    let after: string | undefined
    do {
      const query = after === undefined ? '' : `?after=${encodeURIComponent(after)}`
      const body = ok(await big.get(`${URL}${query}`))
      seen.push(body.examined)
      found.push(...body.suggestions)
      after = body.next_after
    } while (after !== undefined)
    assert.deepEqual(seen, [200, 200, 50])
    assert.equal(found.length, 450, 'each lacks a unit')
    const hot = found.find(({ variant_id }) => variant_id === variant)
    assert.equal(hot?.sold_days, 1)
    assert.ok(hot !== undefined && hot.sold_units >= 199 && hot.sold_units <= 200)
    assert.equal((await big.get(`${URL}?after=garbage`)).body.error.code, 'invalid_query')
    await forgetStock('big')
  })
})
