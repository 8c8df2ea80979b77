import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { ALL_OPTIONS, addVariant, enable } from '../checkout/setup.ts'
import { ok, shareTimedApp, type TimedApp, URL } from './setup.ts'

/** The parts of an order in a report by product. */

const shared = shareTimedApp()
let app: TimedApp

const DAY = 'from=2026-11-02&to=2026-11-02'
const FLAT = { mode: 'flat', flat_rate_cents: 499, expedited_rate_cents: 900, max_cents: 900 }

interface Group {
  key: string | null
  gross_cents: number
  refund_cents: number
  units_count: number
}

async function openStore(tenant: string, prices_include_tax: boolean) {
  app.setTime(tenant, '2026-11-02T12:00:00Z')
  const shop = await app.shopIn(tenant, 'Europe/Berlin')
  const manifest = { ...ALL_OPTIONS, tax: { prices_include_tax } }
  ok(await shop.merchant.put('/v1/my/store/manifest', { manifest }))
  const groupsOf = async () => {
    await app.count()
    const url = `${URL}/sales?${DAY}&group_by=variant`
    return ok(await shop.merchant.get(url)).groups as Group[]
  }
  return { shop, groupsOf }
}

describe('a report by product', () => {
  before(() => {
    app = shared.current
  })

  test('counts gift cards in units alone, and their refunds in no amount of goods', async () => {
    const { shop, groupsOf } = await openStore('cards', false)
    await enable(shop.merchant, 'gift_cards')
    const card = await addVariant(shop.merchant, 2_500, {}, { gift_card: true })
    const goods = shop.variants[1_000] ?? ''
    const bought = await app.place(shop, {
      email: 'ann@example.com',
      items: [
        { variant_id: goods, quantity: 2 },
        { variant_id: card, quantity: 2 },
      ],
    })
    const of = async (id: string) => {
      const found = (await groupsOf()).find(({ key }) => key === id)
      return [found?.gross_cents, found?.refund_cents, found?.units_count]
    }
    assert.deepEqual(await of(card), [0, 0, 2])
    assert.deepEqual(await of(goods), [2_000, 0, 2])
    assert.equal((await groupsOf()).length, 2, 'no row takes anything back')
    const items = (bought.items as { id: string; variant_id: string }[]).map((each) => {
      return { order_item_id: each.id, quantity: 1 }
    })
    ok(await app.act(shop, bought.order.id, 'refunds', { items }), 201)
    assert.deepEqual(await of(card), [0, 0, 2])
    assert.deepEqual(await of(goods), [2_000, 1_000, 2])
    ok(await app.act(shop, bought.order.id, 'refunds', {}), 201)
    assert.deepEqual(await of(goods), [2_000, 2_000, 2])
    assert.equal((await groupsOf()).length, 2)
  })

  test('gives every cent to a line when prices include tax, also after edits', async () => {
    const { shop, groupsOf } = await openStore('inside', true)
    const { merchant } = shop
    const odd = await Promise.all([333, 457, 1_999].map((price) => addVariant(merchant, price)))
    const { order, items } = await app.place(shop, {
      items: odd.map((variant_id, at) => ({ variant_id, quantity: at + 1 })),
      tax: { provider: 'flat_rate', rate_bps: 1_900 },
      shipping: FLAT,
    })
    const total = async () => ok(await merchant.get(`${URL}/summary?${DAY}`)).gross_cents
    const assertNamed = async () => {
      const groups = await groupsOf()
      assert.deepEqual(groups.map(({ key }) => key).toSorted(), odd.toSorted())
      const gross = groups.reduce((sum, each) => sum + each.gross_cents, 0)
      assert.equal(gross, await total())
    }
    await assertNamed()
    for (const [at, quantity] of [1, 2].entries()) {
      const edits = [{ order_item_id: items[at + 1].id, quantity }]
      ok(await app.act(shop, order.id, 'edit', { edits }))
      await assertNamed()
    }
  })
})
