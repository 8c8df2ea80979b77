import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { listEntriesOfOrder } from '../../../src/modules/ledger/service.ts'
import { assertFiguresAddUp } from '../../harness/analytics-oracles.ts'
import type { Caller } from '../../harness/app.ts'
import { assertOrdersAddUp } from '../../harness/order-oracles.ts'
import { assertStockAddsUp } from '../../harness/stock-oracles.ts'
import { moveTo } from '../../harness/store-time.ts'
import { URL as BILLING, openBilling } from '../billing/setup.ts'
import { openShop } from '../checkout/setup.ts'
import { type OrderStore, shareOrderStore } from '../orders/setup.ts'
import { codeOf, ok, ordered, receive, tracked } from '../purchasing/setup.ts'
import { type Returns, receipt, returnsOf } from '../returns/setup.ts'
import {
  addCost,
  adjust,
  balancesOf,
  bought,
  countTo,
  countWaiting,
  journalsSince,
  lastJournal,
  NO_JOURNAL,
  postAll,
  recall,
  type StockJournal,
} from './journal-setup.ts'

const shared = shareOrderStore()
let store: OrderStore
let merchant: Caller
let returns: Returns

/** The journals that some acts lead to, without their times. */
async function journalsOf(act: () => Promise<unknown>): Promise<Omit<StockJournal, 'at'>[]> {
  await postAll(store.app)
  const after = await lastJournal(store.superuser, 'acme')
  await act()
  await postAll(store.app)
  const journals = await journalsSince(store.superuser, 'acme', after)
  return journals.map(({ kind, ref, accounts }) => ({ kind, ref, accounts }))
}

const shipped = (variant_id: string, quantity: number) =>
  returns.shipped({ items: [{ variant_id, quantity }] })

describe('a journal of stock', () => {
  before(() => {
    store = shared.current
    merchant = store.shop.merchant
    returns = returnsOf(store)
  })

  test('has for each receipt the value of the goods and the debt to the vendor', async () => {
    const [a, b] = [await tracked(merchant), await tracked(merchant)]
    const purchase = await ordered(merchant, [
      { variant_id: a, quantity: 3, unit_cost_cents: 101 },
      { variant_id: b, quantity: 2, unit_cost_cents: 250 },
    ])
    const come = (first: number, second: number) =>
      receive(merchant, purchase.id, [
        { line_id: purchase.lines[0].id, quantity: first },
        { line_id: purchase.lines[1].id, quantity: second },
      ])
    const journals = await journalsOf(async () => {
      ok(await come(2, 2))
      ok(await come(3, 2))
      ok(await come(3, 2))
    })
    const { id: ref } = purchase
    assert.deepEqual(journals, [
      {
        kind: 'stock.received',
        ref,
        accounts: { inventory_asset: 702, goods_in_transit: -702 },
      },
      {
        kind: 'stock.received',
        ref,
        accounts: { inventory_asset: 101, goods_in_transit: -101 },
      },
    ])
  })

  test('moves shipped goods into the cost of goods sold, and back with a recall or a return', async () => {
    const variant = await tracked(merchant)
    const line = { variant_id: variant, quantity: 6, unit_cost_cents: 50 }
    const { id } = await bought(merchant, [line])
    ok(await addCost(merchant, id, 1), 201)
    const [sale] = await journalsOf(() => shipped(variant, 2))
    assert.deepEqual(sale?.accounts, { cogs: 100, inventory_asset: -100 }, '301 x 2 / 6, rounded')
    assert.equal(sale?.kind, 'stock.shipped')

    const { parcels } = await shipped(variant, 1)
    const [parcel = ''] = parcels
    assert.deepEqual(
      await journalsOf(async () => ok(await recall(merchant, parcel, 'returned_to_sender'))),
      [{ kind: 'stock.recalled', ref: parcel, accounts: { cogs: -50, inventory_asset: 50 } }],
    )
    const kinds = await journalsOf(async () => {
      const { parcels: again } = await shipped(variant, 1)
      ok(await recall(merchant, again[0] ?? '', 'lost'))
    })
    assert.deepEqual(
      kinds.map(({ kind }) => kind),
      ['stock.shipped'],
      'what is lost stays sold',
    )
  })

  test('brings returned goods back to stock, and damaged ones not', async () => {
    const variant = await tracked(merchant)
    await bought(merchant, [{ variant_id: variant, quantity: 6, unit_cost_cents: 70 }])
    const sent = await shipped(variant, 4)
    const back = await returns.returned(sent, 3)
    const journals = await journalsOf(async () => {
      ok(await returns.receive(back.id, receipt(back, 1, { disposition: 'damaged' })))
      ok(await returns.receive(back.id, receipt(back, 2)))
    })
    assert.deepEqual(journals, [
      { kind: 'stock.returned', ref: back.id, accounts: { cogs: -140, inventory_asset: 140 } },
    ])
  })

  test('splits a landed cost between goods on hand and goods sold', async () => {
    const [a, b] = [await tracked(merchant), await tracked(merchant)]
    const purchase = await bought(merchant, [
      { variant_id: a, quantity: 4, unit_cost_cents: 10 },
      { variant_id: b, quantity: 4, unit_cost_cents: 10 },
    ])
    await shipped(a, 3)
    const journals = await journalsOf(async () => {
      ok(await addCost(merchant, purchase.id, 800), 201)
      ok(await addCost(merchant, purchase.id, 8), 201)
    })
    assert.deepEqual(journals, [
      {
        kind: 'stock.landed_cost',
        ref: purchase.id,
        accounts: { inventory_asset: 500, cogs: 300, landed_cost: -800 },
      },
      {
        kind: 'stock.landed_cost',
        ref: purchase.id,
        accounts: { inventory_asset: 5, cogs: 3, landed_cost: -8 },
      },
    ])
  })

  test('tells opening stock, adjustments and counts apart', async () => {
    const variant = await tracked(merchant)
    ok(await adjust(merchant, variant, 5))
    let count = ''
    let purchase = ''
    const journals = await journalsOf(async () => {
      const line = { variant_id: variant, quantity: 1, unit_cost_cents: 40 }
      purchase = (await bought(merchant, [line])).id
      ok(await adjust(merchant, variant, 2))
      ok(await adjust(merchant, variant, -1))
      count = (await countTo(merchant, variant, 4)).id
    })
    const { movements } = ok(await merchant.get('/v1/merchant/inventory/movements?limit=3'))
    const [, lost, found] = movements.map(({ id }: { id: string }) => id)
    const adjusted = (cents: number) => ({ inventory_asset: cents, inventory_adjustment: -cents })
    assert.deepEqual(journals, [
      {
        kind: 'stock.opening',
        ref: variant,
        accounts: { inventory_asset: 200, inventory_opening: -200 },
      },
      {
        kind: 'stock.received',
        ref: purchase,
        accounts: { inventory_asset: 40, goods_in_transit: -40 },
      },
      { kind: 'stock.adjusted', ref: found, accounts: adjusted(80) },
      { kind: 'stock.adjusted', ref: lost, accounts: adjusted(-40) },
      { kind: 'stock.counted', ref: count, accounts: adjusted(-120) },
    ])
  })

  test('counts units as sold that were shipped before they were received', async () => {
    const variant = await tracked(merchant)
    await bought(merchant, [{ variant_id: variant, quantity: 3, unit_cost_cents: 100 }])
    const { order } = await store.place({ items: [{ variant_id: variant, quantity: 3 }] })
    const packed = ok(await merchant.post(`/v1/merchant/orders/${order.id}/fulfillments`), 201)
    ok(await adjust(merchant, variant, -2))
    const [sale] = await journalsOf(async () =>
      ok(await merchant.post(`/v1/merchant/fulfillments/${packed.fulfillment.id}/ship`)),
    )
    assert.deepEqual(sale?.accounts, { cogs: 100, inventory_asset: -100 })
    const [late] = await journalsOf(() =>
      bought(merchant, [{ variant_id: variant, quantity: 6, unit_cost_cents: 120 }]),
    )
    assert.deepEqual(late?.accounts, { inventory_asset: 480, cogs: 240, goods_in_transit: -720 })
  })

  test('is not made for a transfer, nor for goods without a cost', async () => {
    const [paid, free] = [await tracked(merchant), await tracked(merchant)]
    ok(await merchant.post('/v1/merchant/inventory/locations', { id: 'attic', name: 'A' }), 201)
    await bought(merchant, [{ variant_id: paid, quantity: 2, unit_cost_cents: 5 }])
    const journals = await journalsOf(async () => {
      const body = { from_location_id: 'default', to_location_id: 'attic', reason: 'room' }
      const transfer = { ...body, variant_id: paid, quantity: 1 }
      ok(await merchant.post('/v1/merchant/inventory/transfers', transfer), 201)
      await bought(merchant, [{ variant_id: free, quantity: 2, unit_cost_cents: 0 }])
      await shipped(free, 1)
    })
    assert.deepEqual(journals, [])
  })

  test('has the date of the change and not of its posting', async () => {
    const { merchant: owner } = await openShop(store.app, 'later')
    const variant = await tracked(owner)
    const purchase = await ordered(owner, [
      { variant_id: variant, quantity: 1, unit_cost_cents: 9 },
    ])
    const lines = [{ line_id: purchase.lines[0].id, quantity: 1 }]
    try {
      moveTo(store.app.runtime, 'later', '2035-03-31T22:00:00Z')
      ok(await receive(owner, purchase.id, lines))
      moveTo(store.app.runtime, 'later', '2035-04-02T08:00:00Z')
      await postAll(store.app)
      const [journal] = await journalsSince(store.superuser, 'later', NO_JOURNAL)
      assert.match(journal?.at ?? '', /^2035-03-31T22:00:/)
    } finally {
      store.app.runtime.clocks.set('later', { offsetMs: 0, isMoving: false })
    }
  })

  test('adds up to what the merchant reads as the value of the stock', async () => {
    await postAll(store.app)
    const { rows } = await store.superuser.query(
      `select (select sum(value_cents)::bigint from inventory_costs where tenant_ref = 'acme') as value,
              (select sum(sold_cents)::bigint from inventory_cost_entries
                where tenant_ref = 'acme') as sold`,
    )
    const balances = await balancesOf(merchant)
    assert.ok(balances.inventory_asset, 'there is stock')
    assert.deepEqual(
      [balances.inventory_asset, balances.cogs],
      [Number(rows[0].value), Number(rows[0].sold)],
    )
    assert.equal(await countWaiting(store.superuser, 'acme'), 0)
    await assertStockAddsUp(store.superuser)
  })

  test('is never in the ledger of another store', async () => {
    const { merchant: other } = await openShop(store.app, 'globex')
    const variant = await tracked(merchant)
    await bought(merchant, [{ variant_id: variant, quantity: 1, unit_cost_cents: 77 }])
    await postAll(store.app)
    assert.deepEqual(await balancesOf(other), {})
  })

  test('is refused at the change of stock if its sum would not be exact', async () => {
    const variant = await tracked(merchant)
    const dear = { variant_id: variant, quantity: 1, unit_cost_cents: 100_000_000_000 }
    const purchase = await bought(merchant, [dear])
    ok(await adjust(merchant, variant, 99))
    for (const delta of [1, 1_000_000, 900_000_000]) {
      const refused = await adjust(merchant, variant, delta)
      assert.deepEqual(
        [refused.status, codeOf(refused), refused.body.limit, refused.body.used],
        [409, 'limit_reached', 'stock_value_cents', 10_000_000_000_000],
      )
    }
    const { posted } = await countTo(merchant, variant, 101)
    assert.deepEqual([posted.status, codeOf(posted)], [409, 'limit_reached'])
    const dearer = await addCost(merchant, purchase.id, 1)
    assert.deepEqual([dearer.status, codeOf(dearer)], [409, 'limit_reached'])
    // What comes back from a shopper is never refused, whatever the rest is worth.
    const sent = await shipped(variant, 1)
    ok(await adjust(merchant, variant, 1))
    ok(await recall(merchant, sent.parcels[0] ?? '', 'error'))
    ok(await adjust(merchant, variant, -100))
    await postAll(store.app)
    await assertStockAddsUp(store.superuser)
  })
})

test('the journals, figures and usage of sales do not change', async (t) => {
  const app = await openBilling(t)
  const shop = await app.shopAt('acme', '2032-01-05T09:00:00Z')
  const variant_id = await tracked(shop.merchant)
  await bought(shop.merchant, [{ variant_id, quantity: 9, unit_cost_cents: 123 }])
  const { order } = await app.place(shop, { items: [{ variant_id, quantity: 2 }] })
  const ofSales = async () => {
    await postAll(app)
    await app.count()
    await app.work()
    const url = '/v1/merchant/analytics/sales?from=2032-01-01&to=2032-01-31&group_by=variant'
    const { groups } = ok(await shop.merchant.get(url))
    const { orders, gmv_cents } = ok(await shop.merchant.get(`${BILLING}/usage?period=2032-01`))
    const entries = await listEntriesOfOrder(app.runtime.database.tenant('acme'), order.id)
    return { groups, orders, gmv_cents, entries }
  }
  const before = await ofSales()
  assert.deepEqual([before.groups.length, before.orders], [1, 1])
  assert.ok(before.gmv_cents > 0 && before.entries.length > 1)
  const packed = ok(await shop.merchant.post(`/v1/merchant/orders/${order.id}/fulfillments`), 201)
  ok(await shop.merchant.post(`/v1/merchant/fulfillments/${packed.fulfillment.id}/ship`))
  assert.deepEqual(await ofSales(), before)
  assert.deepEqual(await balancesOf(shop.merchant), {
    inventory_asset: 7 * 123,
    cogs: 2 * 123,
    goods_in_transit: -9 * 123,
  })
  await app.check()
  await assertFiguresAddUp(app.superuser)
  await assertOrdersAddUp(app.superuser)
})
