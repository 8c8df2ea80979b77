import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { DAY_MS } from '../../../src/kernel/time.ts'
import { APPROVED, addVariant, DECLINED, movableClock, stock } from '../checkout/setup.ts'
import {
  giveBalances,
  keyed,
  type OrderStore,
  openOrderStore,
  shareOrderStore,
} from '../orders/setup.ts'

const shared = shareOrderStore()

/** Stores the card of a charge, as if the shopper had agreed to it. */
async function storeCard({ superuser }: OrderStore, charge_id: string): Promise<void> {
  const { rows } = await superuser.query(
    `insert into sim_vault (tenant_ref, vault_id, card, fingerprint, behaviour)
     values ('acme', gen_random_uuid(), $1, 'f', '100') returning vault_id`,
    [JSON.stringify({ brand: 'visa', last4: '1111', exp_month: 1, exp_year: 2040 })],
  )
  const { vault_id } = rows[0]
  await superuser.query(`update charges set vault_id = $1 where charge_id = $2`, [
    vault_id,
    charge_id,
  ])
}

describe('an edit', () => {
  let store: OrderStore
  before(() => {
    store = shared.current
  })

  const edits = (items: { id: string }[], ...quantities: number[]) => ({
    edits: quantities.map((quantity, at) => ({ order_item_id: items[at]?.id, quantity })),
  })

  test('charges the difference to the card that was sent', async () => {
    const { order, items } = await store.place()
    const answer = await store.shopper(order.id, 'edit', { ...edits(items, 5), card: APPROVED })
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.body.delta_cents, 3_000)
    assert.equal(answer.body.charge.amount_cents, 3_000)
    assert.equal(answer.body.refund, null)
    assert.equal(answer.body.order.total_cents, 5_000)
    assert.equal(answer.body.items[0].quantity, 5)
    assert.equal(answer.body.order.status, 'placed')
    assert.equal(await store.net(order.id), 5_000)
  })

  test('refunds the difference, and the order does not count as refunded', async () => {
    const { order, items } = await store.place()
    const answer = await store.shopper(order.id, 'edit', edits(items, 1))
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.body.delta_cents, -1_000)
    assert.equal(answer.body.refund.kind, 'adjustment')
    assert.equal(answer.body.order.status, 'placed')
    assert.equal(answer.body.order.total_cents, 1_000)
    const detail = await store.read(order.id)
    assert.equal(detail.order.captured_cents, 1_000)
    assert.equal(detail.order.refunded_cents, 0)
    assert.equal(await store.net(order.id), 1_000)
    const rest = await store.merchant(order.id, 'refunds', {})
    assert.equal(rest.body.refund.amount_cents, 1_000, rest.text)
    assert.equal(rest.body.order.status, 'refunded')
  })

  test('keeps the unit prices, and removes a coupon whose minimum is no longer met', async () => {
    const code = randomUUID()
    const coupon = { code, type: 'percent', percent_bps: 1_000, min_subtotal_cents: 2_000 }
    await store.shop.merchant.post('/v1/merchant/marketing/coupons', coupon)
    const { order, items } = await store.place({ coupon_code: code })
    assert.equal(order.total_cents, 1_800)
    const answer = await store.shopper(order.id, 'edit', edits(items, 1))
    assert.equal(answer.body.delta_cents, -800, answer.text)
    assert.equal(answer.body.order.discount_cents, 0)
    assert.equal(answer.body.order.total_cents, 1_000)
  })

  test('keeps the terms of the coupon as they were when it was used', async () => {
    const url = '/v1/merchant/marketing/coupons'
    const coupon = { code: randomUUID(), type: 'percent', percent_bps: 1_000 }
    const made = await store.shop.merchant.post(url, coupon)
    const { order, items } = await store.place({ coupon_code: coupon.code })
    const raised = { percent_bps: 9_000 }
    const patched = await store.shop.merchant.patch(`${url}/${made.body.coupon.id}`, raised)
    assert.equal(patched.status, 200, patched.text)
    const same = await store.shopper(order.id, 'edit', edits(items, 2))
    assert.equal(same.body.delta_cents, 0, same.text)
    const fewer = await store.shopper(order.id, 'edit', edits(items, 1))
    assert.equal(fewer.body.order.total_cents, 900, fewer.text)
  })

  test('keeps a coupon for a collection, even if the collection changes', async () => {
    const { merchant } = store.shop
    const variant_id = await addVariant(merchant, 1_000)
    const { body } = await merchant.get('/v1/merchant/catalog/products')
    const product = body.products.find((each: { variants: { id: string }[] }) =>
      each.variants.some(({ id }) => id === variant_id),
    )
    const url = '/v1/merchant/catalog/collections'
    const slug = randomUUID()
    const { collection } = (await merchant.post(url, { slug, title: 'Mugs' })).body
    const members = { product_ids: [product.id] }
    assert.equal((await merchant.put(`${url}/${collection.id}/products`, members)).status, 200)
    const applies_to = { collection_slugs: [slug] }
    const coupon = { code: randomUUID(), type: 'percent', percent_bps: 1_000, applies_to }
    await merchant.post('/v1/merchant/marketing/coupons', coupon)
    const line = { variant_id, quantity: 3 }
    const other = { variant_id: store.shop.variants[1_000], quantity: 1 }
    const { order, items } = await store.place({ items: [line, other], coupon_code: coupon.code })
    assert.equal(order.total_cents, 3_700)
    const renamed = await merchant.patch(`${url}/${collection.id}`, { slug: randomUUID() })
    assert.equal(renamed.status, 200, renamed.text)
    const two = await store.shopper(order.id, 'edit', edits(items, 2))
    assert.equal(two.body.order?.total_cents, 2_800, two.text)
    await merchant.post(`/v1/merchant/catalog/products/${product.id}/archive`)
    const one = await store.shopper(order.id, 'edit', edits(items, 1))
    assert.equal(one.body.order?.total_cents, 1_900, one.text)
  })

  test('keeps shipping and tax as they were priced, unless it sends new ones', async () => {
    const shipping = {
      mode: 'flat',
      flat_rate_cents: 500,
      expedited_rate_cents: 900,
      max_cents: 900,
    }
    const tax = { provider: 'flat_rate', rate_bps: 1_000 }
    const { order, items } = await store.place({ shipping, tax })
    assert.equal(order.total_cents, 2_700)
    const one = await store.shopper(order.id, 'edit', edits(items, 1))
    assert.equal(one.body.order.total_cents, 1_600, one.text)
    const fast = await store.shopper(order.id, 'edit', {
      ...edits(items, 1),
      expedited: true,
      card: APPROVED,
    })
    assert.equal(fast.body.delta_cents, 400, fast.text)
    assert.equal(fast.body.order.shipping_cents, 900)
    const unnamed = { shipping: null, tax: null, expedited: null }
    const same = await store.shopper(order.id, 'edit', { ...edits(items, 1), ...unnamed })
    assert.equal(same.body.delta_cents, 0, same.text)
  })

  test('repeats the answer of its key after the card has expired', async (t) => {
    const clock = movableClock()
    const own = await openOrderStore(t, { clock })
    const { order, items } = await own.place()
    const now = new Date(clock.now())
    const month = String(now.getUTCMonth() + 1).padStart(2, '0')
    const card = { ...APPROVED, ccexp: `${month}/${now.getUTCFullYear() % 100}` }
    const key = randomUUID()
    const first = await own.shopper(order.id, 'edit', { ...edits(items, 3), card }, key)
    assert.equal(first.status, 200, first.text)
    clock.advance(40 * DAY_MS)
    const again = await own.shopper(order.id, 'edit', { ...edits(items, 3), card }, key)
    assert.equal(again.text, first.text)
    const fresh = await own.shopper(order.id, 'edit', { ...edits(items, 4), card })
    assert.equal(fresh.status, 400, fresh.text)
  })

  test('leaves the order unchanged if the card is declined', async () => {
    const { order, items } = await store.place()
    const declined = await store.shopper(order.id, 'edit', { ...edits(items, 3), card: DECLINED })
    assert.equal(declined.status, 402, declined.text)
    assert.equal(declined.body.error.code, 'payment_declined')
    assert.equal(declined.body.decline.reason, 'card_declined')
    const detail = await store.read(order.id)
    assert.equal(detail.order.total_cents, 2_000)
    assert.equal(detail.items[0].quantity, 2)
    assert.equal(detail.charges.length, 1)
    const again = await store.shopper(order.id, 'edit', { ...edits(items, 3), card: APPROVED })
    assert.equal(again.status, 200, 'it is free for the next edit')
  })

  test('an edit that names a charge of another order changes nothing, even with all quantities zero', async () => {
    const { order, items } = await store.place()
    const { charges } = await store.place()
    const [foreign] = charges
    for (const quantity of [1, 0]) {
      const request = { ...edits(items, quantity), charge_id: foreign.charge_id }
      const answer = await store.shopper(order.id, 'edit', request)
      assert.deepEqual([answer.status, answer.body.error?.code], [404, 'charge_not_found'])
    }
    const detail = await store.read(order.id)
    assert.deepEqual([detail.order.status, detail.order.total_cents], ['placed', 2_000])
  })

  test('charges no stored card without `charge_card`', async () => {
    const { order, items } = await store.place()
    const shopper = await store.shopper(order.id, 'edit', edits(items, 3))
    assert.equal(shopper.status, 402)
    assert.equal(shopper.body.error.code, 'card_required')
    assert.equal(shopper.body.amount_due_cents, 1_000)
    const merchant = await store.merchant(order.id, 'edit', {
      ...edits(items, 3),
      charge_card: true,
    })
    assert.equal(merchant.body.error.code, 'card_required', 'no card is stored')
  })

  test('an edit that a merchant may not charge says what to do, and does not ask for a card', async () => {
    const { order, items, charges } = await store.place()
    const says = async (more: object) => {
      const answer = await store.merchant(order.id, 'edit', { ...edits(items, 3), ...more })
      assert.deepEqual([answer.status, answer.body.amount_due_cents], [402, 1_000], answer.text)
      return answer.body.error.message
    }
    const nothingKept = await says({ charge_card: true })
    assert.match(nothingKept, /no card/i)
    assert.equal(await says({}), nothingKept, 'saying charge_card would not help')
    await storeCard(store, charges[0].charge_id)
    assert.match(await says({}), /charge_card: true/)
    for (const message of [nothingKept, await says({})])
      assert.doesNotMatch(message, /send a card/i)
  })

  test('lets a merchant charge the stored card, and names it', async () => {
    const { order, items, charges } = await store.place()
    await storeCard(store, charges[0].charge_id)
    const unasked = await store.merchant(order.id, 'edit', edits(items, 3))
    assert.equal(unasked.body.error.code, 'card_required')
    const answer = await store.merchant(order.id, 'edit', { ...edits(items, 3), charge_card: true })
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.body.charge.card.last4, '1111')
    assert.equal(await store.net(order.id), 3_000)
  })

  test('an edit that removes all units of a cancelled order is answered as an edit without changes', async () => {
    const { order, items } = await store.place()
    await store.merchant(order.id, 'cancel', { reason: 'staff' })
    const { items: lines } = await store.read(order.id)
    for (const plane of [store.shopper, store.merchant]) {
      const answer = await plane(order.id, 'edit', edits(items, 0))
      assert.equal(answer.status, 200, answer.text)
      const { order: shown, ...rest } = answer.body
      assert.equal(shown.status, 'cancelled')
      assert.equal(shown.email === undefined, plane === store.shopper)
      assert.deepEqual(rest, { items: lines, charge: null, refund: null, delta_cents: 0 })
    }
    const some = await store.merchant(order.id, 'edit', edits(items, 1))
    assert.equal(some.body.error.code, 'invalid_transition', some.text)
  })

  test('an edit that removes all units is a cancellation', async () => {
    const { order, items } = await store.place()
    const answer = await store.shopper(order.id, 'edit', edits(items, 0))
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.body.order.status, 'cancelled')
    assert.equal(answer.body.delta_cents, -2_000)
    assert.equal(answer.body.refund.amount_cents, 2_000)
    assert.equal(await store.net(order.id), 0)
  })

  test('refunds the tenders in the reverse order of payment', async () => {
    const gift = await giveBalances(store, 300, 1_700)
    const { order, items } = await store.place({
      apply_store_credit: true,
      gift_card_code: gift.code,
    })
    const answer = await store.shopper(order.id, 'edit', edits(items, 1))
    assert.deepEqual(
      answer.body.refund.tenders.map((each: { tender: string; amount_cents: number }) => [
        each.tender,
        each.amount_cents,
      ]),
      [['gift_card', 1_000]],
      answer.text,
    )
  })

  test('reserves and releases stock with the quantities, and never more than is available', async () => {
    const id = await addVariant(store.shop.merchant, 1_000)
    const url = `/v1/merchant/inventory/${id}`
    await store.shop.merchant.put(url, { track_inventory: true })
    await store.shop.merchant.post(`${url}/adjust`, { set_on_hand: 4, reason: 'counted' })
    const { order, items } = await store.place({ items: [{ variant_id: id, quantity: 2 }] })
    const short = await store.shopper(order.id, 'edit', { ...edits(items, 5), card: APPROVED })
    assert.equal(short.body.error.code, 'insufficient_stock', short.text)
    const declined = await store.shopper(order.id, 'edit', { ...edits(items, 4), card: DECLINED })
    assert.equal(declined.status, 402)
    const more = await store.shopper(order.id, 'edit', { ...edits(items, 4), card: APPROVED })
    assert.equal(more.status, 200, 'the units of the declined edit are available again')
    const fewer = await store.shopper(order.id, 'edit', edits(items, 1))
    assert.equal(fewer.status, 200, fewer.text)
    const { rows } = await store.superuser.query(
      `select allocated::int from inventory_levels where variant_id = $1`,
      [id],
    )
    assert.deepEqual(rows, [{ allocated: 1 }])
  })

  test('keeps the stock that the order needs, if some units were bought while stock was not tracked', async () => {
    const { merchant } = store.shop
    const id = await addVariant(merchant, 1_000)
    await stock(merchant, id, 10)
    const count = (track_inventory: boolean) =>
      merchant.put(`/v1/merchant/inventory/${id}`, { track_inventory })
    const allocated = async () =>
      (await merchant.get(`/v1/merchant/inventory/${id}`)).body.item.allocated
    const { order, items } = await store.place({ items: [{ variant_id: id, quantity: 3 }] })
    const edit = async (quantity: number, card: object = APPROVED) =>
      (await store.shopper(order.id, 'edit', { ...edits(items, quantity), card })).status
    await count(false)
    assert.equal(await edit(5), 200)
    await count(true)
    assert.deepEqual([await edit(3), await allocated()], [200, 3])
    assert.deepEqual([await edit(4, DECLINED), await allocated()], [402, 3])
    assert.deepEqual([await edit(4), await allocated()], [200, 4])
    assert.deepEqual([await edit(1), await allocated()], [200, 1])
  })

  test('emits one low-stock event at the threshold, and none when the edit is declined', async () => {
    const { merchant } = store.shop
    const id = await addVariant(merchant, 1_000)
    await stock(merchant, id, 10)
    const counted = { track_inventory: true, low_stock_threshold: 4 }
    await merchant.put(`/v1/merchant/inventory/${id}`, counted)
    const { order, items } = await store.place({ items: [{ variant_id: id, quantity: 5 }] })
    const lowStockEvents = async () => {
      const { rows } = await store.superuser.query(
        `select (data::json->>'remaining')::int as remaining from webhook_events
          where type = 'commerce.inventory.low.v1' and data::json->>'variant_id' = $1`,
        [id],
      )
      return rows.map(({ remaining }) => remaining)
    }
    const more = (card: object) => store.shopper(order.id, 'edit', { ...edits(items, 7), card })
    assert.equal((await more(DECLINED)).status, 402)
    assert.deepEqual(await lowStockEvents(), [])
    assert.equal((await more(APPROVED)).status, 200)
    await store.place({ items: [{ variant_id: id, quantity: 1 }] })
    assert.deepEqual(await lowStockEvents(), [3])
  })

  test('charges no banned card', async () => {
    const { order, items } = await store.place()
    const banned = { ...APPROVED, ccnumber: '5555 5555 5555 4444' }
    const ban = { kind: 'card_bin', value: '55555555' }
    const made = await store.shop.merchant.post('/v1/merchant/fraud/bans', ban)
    assert.equal(made.status, 201, made.text)
    const more = { ...edits(items, 3), card: banned }
    const refused = await store.shopper(order.id, 'edit', more)
    assert.equal(refused.status, 403, refused.text)
    assert.equal(refused.body.error.code, 'fraud_rejected')
    assert.equal(await store.net(order.id), 2_000)
    assert.equal((await store.read(order.id)).items[0].quantity, 2)
    const fewer = await store.shopper(order.id, 'edit', { ...edits(items, 1), card: banned })
    assert.equal(fewer.status, 200, 'nothing is charged to it')
  })

  test('an edit of a shopper under review holds the order until it is released', async () => {
    const { merchant } = store.shop
    const value = 'look@edit.example'
    const reviewed = async () => {
      const { order, items } = await store.place({ email: value })
      return { id: order.id as string, items }
    }
    const [first, second, third] = [await reviewed(), await reviewed(), await reviewed()]
    const ban = { kind: 'email', value, action: 'review' }
    const made = await merchant.post('/v1/merchant/fraud/bans', ban)
    assert.equal(made.status, 201, made.text)
    const more = ({ id, items }: typeof first) =>
      store.shopper(id, 'edit', { ...edits(items, 3), card: APPROVED })
    for (const each of [first, second]) {
      const answer = await more(each)
      assert.equal(answer.status, 200, answer.text)
      assert.deepEqual([answer.body.order.status, answer.body.delta_cents], ['on_hold', 1_000])
    }
    const { reviews } = (await merchant.get('/v1/merchant/fraud/reviews')).body
    const review = reviews.find((each: { order: { id: string } }) => each.order.id === first.id)
    assert.equal(review.order.hold.reason, 'fraud_review')
    assert.deepEqual(review.decision.ban_ids, [made.body.ban.id])
    const types = (await store.read(first.id)).timeline.map(({ type }: { type: string }) => type)
    assert.deepEqual(types.toSorted(), ['created', 'edited', 'held', 'placed'])

    const url = '/v1/merchant/fraud/reviews'
    const approved = await merchant.post(`${url}/${first.id}/approve`, undefined, keyed())
    assert.deepEqual([approved.status, approved.body.order?.status], [200, 'placed'])
    const rejected = await merchant.post(`${url}/${second.id}/reject`, {}, keyed())
    assert.deepEqual([rejected.status, rejected.body.order?.status], [200, 'cancelled'])
    assert.equal(await store.net(second.id), 0, 'both charges are refunded')

    const fewer = await store.shopper(third.id, 'edit', edits(third.items, 1))
    assert.equal(fewer.body.order.status, 'placed', 'an edit without a charge needs no review')
    const declined = { ...edits(third.items, 3), card: DECLINED }
    assert.equal((await store.shopper(third.id, 'edit', declined)).status, 402)
    assert.equal((await store.read(third.id)).order.status, 'placed', 'nothing was charged')
    await store.merchant(third.id, 'hold', {})
    assert.equal((await more(third)).body.order?.status, 'on_hold')
    assert.equal((await store.read(third.id)).order.hold.reason, 'merchant', 'held already')
  })

  test('is refused for too many units of one variant, spread over any number of lines', async () => {
    const line = { variant_id: store.shop.variants[1_000], quantity: 1 }
    const { order, items } = await store.place({ items: [line, line] })
    const request = { ...edits(items, 10_000, 1), card: APPROVED }
    const refused = await store.shopper(order.id, 'edit', request)
    assert.equal(refused.status, 400, refused.text)
    const message = 'must leave at most 10,000 units of one variant'
    assert.deepEqual(refused.body.issues, [{ path: 'edits', message }])
    const most = await store.shopper(order.id, 'edit', { ...request, ...edits(items, 9_999, 1) })
    assert.equal(most.status, 200, most.text)
  })

  test('is refused for unknown lines, and once the order was refunded', async () => {
    const { order, items } = await store.place()
    const unknown = await store.shopper(order.id, 'edit', edits([{ id: randomUUID() }], 1))
    assert.equal(unknown.body.error.code, 'order_item_not_found')
    const twice = { edits: [1, 2].map((quantity) => ({ order_item_id: items[0].id, quantity })) }
    assert.equal((await store.shopper(order.id, 'edit', twice)).body.error.code, 'invalid_body')
    const charge = { ...edits(items, 1), charge_id: randomUUID() }
    assert.equal(
      (await store.shopper(order.id, 'edit', charge)).body.error.code,
      'charge_not_found',
    )
    assert.equal((await store.shopper(order.id, 'edit', { edits: [] })).status, 400)
    const bad = { ...edits(items, 3), card: { ...APPROVED, ccnumber: '4111111111111112' } }
    const refused = await store.shopper(order.id, 'edit', bad)
    assert.equal(refused.body.issues[0].path, 'card.ccnumber')
    await store.merchant(order.id, 'refunds', { amount_cents: 1 })
    const late = await store.shopper(order.id, 'edit', edits(items, 1))
    assert.equal(late.body.error.code, 'invalid_transition')
  })
})

test('a stored card is charged at its own gateway, even if the store uses another one now', async (t) => {
  // No server listens there.
  const env = { NMI_URL: 'http://127.0.0.1:9', NMI_SECURITY_KEY: 'a security key of nmi' }
  const store = await openOrderStore(t, { env })
  const { order, items, charges } = await store.place()
  await storeCard(store, charges[0].charge_id)
  const moved = await store.app.operator.put('/v1/stores/acme/payments', { gateway: 'nmi' })
  assert.equal(moved.status, 200, moved.text)
  const three = [{ order_item_id: items[0].id, quantity: 3 }]
  const answer = await store.merchant(order.id, 'edit', { edits: three, charge_card: true })
  assert.equal(answer.status, 200, answer.text)
  assert.equal(await store.net(order.id), 3_000)
  await store.check()
})

test('the velocity limit counts edits like checkouts', async (t) => {
  const store = await openOrderStore(t, { env: { CHECKOUT_VELOCITY_PER_MINUTE: '8' } })
  const { order, items } = await store.place()
  const body = { edits: [{ order_item_id: items[0].id, quantity: 3 }], card: DECLINED }
  const statuses: number[] = []
  for (let n = 0; n < 5; n++) {
    statuses.push((await store.shopper(order.id, 'edit', body)).status)
  }
  assert.deepEqual(statuses, [402, 402, 402, 429, 429], 'a decline counts as three')
})
