import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { voidUnused } from '../../../src/modules/carriers/void-label.ts'
import { expirePaymentRequests } from '../../../src/modules/checkout/jobs.ts'
import { openCheckout } from '../../../src/modules/checkout/open.ts'
import { createLinkToken } from '../../../src/modules/order-links/service.ts'
import { assertOracles } from '../../harness/oracles.ts'
import { share } from '../../harness/scope.ts'
import { ALL_OPTIONS, APPROVED, DECLINED, enable } from '../checkout/setup.ts'
import { keyed, type OrderStore, openOrderStore } from '../orders/setup.ts'

/** A store whose tax provider taxes by the state of the address: none, a tenth or a fifth. */
const shared = share(async (scope) => {
  const asked: unknown[] = []
  const provider = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const { lines, ship_to } = JSON.parse(text)
    asked.push(ship_to)
    const base = lines.reduce(
      (sum: number, line: { amount_cents: number }) => sum + line.amount_cents,
      0,
    )
    const rate = { TEN: 0.1, TWENTY: 0.2 }[ship_to?.state as 'TEN'] ?? 0
    response.end(JSON.stringify({ tax_cents: Math.round(base * rate) }))
  }).listen(0, '127.0.0.1')
  await once(provider, 'listening')
  scope.after(() => {
    provider.closeAllConnections()
    provider.close()
  })
  const { port } = provider.address() as AddressInfo
  const store = await openOrderStore(scope, {
    env: { TAX_PROVIDER_URL: `http://127.0.0.1:${port}/` },
  })
  scope.after(async () => {
    await store.check()
    await assertOracles(store.superuser)
  })
  return { ...store, asked }
})

const ADDRESS = {
  label: 'Home',
  name: 'Ann Example',
  line1: '1 Old Street',
  city: 'Portland',
  state: 'TEN',
  postal_code: '04101',
  country: 'US',
}
const to = (state: string, line1 = '1 New Street') => ({ ...ADDRESS, state, line1 })
const TAX = { tax: { provider: 'acme_tax', rate_bps: 0 } }
const PERSON = { email: 'ann@old.example', name: 'Ann Example' }

const desk = () => {
  const store = shared.current
  const { merchant } = store.shop
  const at = (id: string) => `/v1/merchant/orders/${id}`
  return {
    store,
    merchant,
    place: async (more: object = {}) =>
      (await store.place({ shipping_address: ADDRESS, ...TAX, ...PERSON, ...more })).order,
    preview: (id: string, body: object) => merchant.post(`${at(id)}/preview`, body),
    correct: (id: string, body: object, key?: string) =>
      merchant.send('PATCH', at(id), body, keyed(key)),
    pay: (id: string, card: object = APPROVED) =>
      store.shopper(id, 'pay', { customer_ref: 'ann', card }),
    withdraw: (id: string) =>
      merchant.post(`${at(id)}/payment-request/withdraw`, undefined, keyed()),
    explain: async (id: string) => (await merchant.get(`${at(id)}/explain`)).body,
    eventsOf: async (id: string) => {
      const { rows } = await store.superuser.query(
        `select type, data from webhook_events where order_id = $1 order by created_at, id`,
        [id],
      )
      return rows.map(({ type, data }) => ({
        type: type as string,
        data: (typeof data === 'string' ? JSON.parse(data) : data) as Record<string, unknown>,
      }))
    },
  }
}

const refusal = ({ status, body }: { status: number; body: { error: { code: string } } }) => [
  status,
  body.error.code,
]

async function expire({ app, superuser }: OrderStore, id: string): Promise<void> {
  await superuser.query(
    `update payment_requests set expires_at = fd_now() - interval '1 hour', due_at = fd_now()
      where order_id = $1`,
    [id],
  )
  const database = app.runtime.workerDatabase
  assert.equal(await expirePaymentRequests({ ...openCheckout(app.runtime), database }), 1)
}

describe('a correction of an order', () => {
  test('changes e-mail address and name at once, and moves no money', async () => {
    const { store, place, preview, correct, eventsOf, merchant } = desk()
    const order = await place()
    const body = { email: 'ann@new.example', name: 'Anne Example' }
    const shown = await preview(order.id, body)
    assert.equal(shown.status, 200, shown.text)
    assert.deepEqual(
      [shown.body.changed, shown.body.delta_cents, shown.body.settlement],
      [['ship_to', 'email', 'name'], 0, 'none'],
    )
    assert.equal(
      (await store.read(order.id)).order.email,
      'ann@old.example',
      'a preview writes nothing',
    )
    const key = randomUUID()
    const answer = await correct(order.id, body, key)
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(
      [answer.body.order.email, answer.body.customer_name, answer.body.applied],
      ['ann@new.example', 'Anne Example', true],
    )
    const again = await correct(order.id, body, key)
    assert.deepEqual([again.text, again.headers['idempotent-replayed']], [answer.text, 'true'])
    const read = await store.read(order.id)
    assert.deepEqual([read.order.email, read.customer_name], ['ann@new.example', 'Anne Example'])
    assert.deepEqual(
      read.order.ship_to,
      { ...order.ship_to, name: 'Anne Example' },
      'the parcel goes to the name as it is now',
    )
    assert.deepEqual(
      read.timeline.map(({ type }: { type: string }) => type),
      ['created', 'placed', 'corrected'],
    )
    assert.ok(!JSON.stringify(read.timeline).includes('new.example'))
    const corrected = (await eventsOf(order.id)).filter(({ type }) => type.includes('corrected'))
    assert.deepEqual(
      corrected.map(({ data }) => data.changed),
      [['ship_to', 'email', 'name']],
    )
    const audit = await merchant.get('/v1/my/audit?action=order.corrected')
    const entry = audit.body.entries.find(
      (each: { entity: string }) => each.entity === `order:${order.id}`,
    )
    assert.deepEqual(entry.after.changed, ['ship_to', 'email', 'name'])
    assert.ok(!JSON.stringify(entry).includes('example'))
    const same = await correct(order.id, body)
    assert.deepEqual([same.status, same.body.changed], [200, []])
  })

  test('a corrected name leaves the name of another person on the address, and asks no tax provider', async () => {
    const { store, place, correct } = desk()
    const order = await place({ shipping_address: { ...ADDRESS, name: 'Ben Example' } })
    const asked = store.asked.length
    const answer = await correct(order.id, { name: 'Anne Example' })
    assert.deepEqual([answer.status, answer.body.changed], [200, ['name']], answer.text)
    assert.equal((await store.read(order.id)).order.ship_to.name, 'Ben Example')
    const own = await place()
    const before = store.asked.length
    assert.deepEqual((await correct(own.id, { name: 'Anne' })).body.changed, ['ship_to', 'name'])
    assert.deepEqual([asked + 1, store.asked.length], [before, before], 'a name has no tax')
  })

  test('a correction to an address with less tax refunds the difference to the tender that paid', async () => {
    const { store, place, preview, correct } = desk()
    const order = await place()
    assert.deepEqual([order.tax_cents, order.total_cents], [200, 2_200])
    const shown = (await preview(order.id, { ship_to: to('NONE') })).body
    assert.deepEqual(
      [shown.delta_cents, shown.total_cents, shown.settlement, shown.tenders[0].amount_cents],
      [-200, 2_000, 'refund', 200],
    )
    const { updated_at: expected_updated_at, total_cents: expected_total_cents } = shown
    const expected = { expected_updated_at, expected_total_cents }
    const answer = await correct(order.id, { ship_to: to('NONE'), ...expected })
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(
      [answer.body.refund.kind, answer.body.refund.amount_cents, answer.body.order.total_cents],
      ['adjustment', 200, 2_000],
    )
    assert.deepEqual([answer.body.order.status, answer.body.order.refunded_cents], ['placed', 0])
    assert.equal(answer.body.order.ship_to.line1, '1 New Street')
    assert.equal(await store.net(order.id), 2_000)
    const rest = await store.merchant(order.id, 'refunds', {})
    assert.deepEqual([rest.body.refund.amount_cents, rest.body.order.status], [2_000, 'refunded'])
  })

  test('splits the difference over all tenders of an order', async () => {
    const { store, correct } = desk()
    await enable(store.shop.merchant, 'gift_cards')
    const issued = await store.shop.merchant.post(
      '/v1/merchant/gift-cards',
      { initial_balance_cents: 2_150 },
      keyed(),
    )
    const { order } = await store.place({
      shipping_address: ADDRESS,
      ...TAX,
      ...PERSON,
      gift_card_code: issued.body.code,
    })
    const answer = await correct(order.id, { ship_to: to('NONE') })
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(
      answer.body.refund.tenders.map((each: { tender: string; amount_cents: number }) => [
        each.tender,
        each.amount_cents,
      ]),
      [
        ['card', 50],
        ['gift_card', 150],
      ],
    )
    assert.equal(await store.net(order.id), 0)
  })

  test('a correction that costs more charges nothing: the order is held, and is corrected once the shopper has paid', async () => {
    const { store, place, preview, correct, pay, explain, eventsOf } = desk()
    const order = await place()
    const body = { ship_to: to('TWENTY'), email: 'ann@moved.example' }
    const shown = (await preview(order.id, body)).body
    assert.deepEqual([shown.delta_cents, shown.settlement], [200, 'payment_request'])
    const asked = await correct(order.id, body)
    assert.equal(asked.status, 200, asked.text)
    assert.equal(asked.body.applied, false)
    assert.deepEqual(
      [asked.body.payment_request.status, asked.body.payment_request.amount_cents],
      ['open', 200],
    )
    assert.deepEqual(
      [asked.body.order.status, asked.body.order.total_cents, asked.body.order.ship_to.line1],
      ['on_hold', 2_200, '1 Old Street'],
    )
    assert.equal(
      asked.body.order.email,
      'ann@moved.example',
      'the request has to reach the shopper',
    )
    assert.equal(await store.net(order.id), 2_200, 'nothing is charged')
    const { refused } = await explain(order.id)
    for (const action of ['edit', 'refund', 'release', 'correct']) {
      const found = refused.find((each: { action: string }) => each.action === action)
      assert.equal(found?.reason, 'payment_requested', action)
    }
    assert.deepEqual(refusal(await correct(order.id, { name: 'Other' })), [
      409,
      'invalid_transition',
    ])
    const declined = await pay(order.id, DECLINED)
    assert.equal(declined.status, 402)
    const paid = await pay(order.id)
    assert.equal(paid.status, 200, paid.text)
    assert.deepEqual(
      [paid.body.order.status, paid.body.order.total_cents, paid.body.payment_request.status],
      ['placed', 2_400, 'paid'],
    )
    assert.deepEqual(refusal(await pay(order.id)), [409, 'payment_request_closed'])
    const read = await store.read(order.id)
    assert.deepEqual([read.order.ship_to.line1, read.order.captured_cents], ['1 New Street', 2_400])
    assert.deepEqual([read.order.hold, read.charges.length], [null, 2])
    assert.equal(await store.net(order.id), 2_400)
    const types = (await eventsOf(order.id)).map(({ type }) => type.split('.')[2])
    assert.deepEqual(types, ['placed', 'corrected', 'payment_requested', 'corrected'])
    const all = await store.merchant(order.id, 'refunds', {})
    assert.deepEqual([all.body.refund.amount_cents, all.body.order.status], [2_400, 'refunded'])
  })

  test('a correction that is not paid leaves all but the e-mail address as it was: withdrawn, expired or cancelled', async () => {
    const { store, place, correct, withdraw, pay } = desk()
    for (const end of ['withdrawn', 'expired', 'cancelled']) {
      const order = await place()
      const wanted = { ship_to: to('TWENTY'), email: 'ann@new.example' }
      assert.equal((await correct(order.id, wanted)).status, 200)
      if (end === 'withdrawn') assert.equal((await withdraw(order.id)).status, 200)
      if (end === 'expired') await expire(store, order.id)
      if (end === 'cancelled') {
        const gone = await store.merchant(order.id, 'cancel', { reason: 'customer' })
        assert.equal(gone.status, 200, gone.text)
      }
      const { order: after, payment_request } = await store.read(order.id)
      assert.equal(payment_request?.status ?? 'none', end === 'cancelled' ? 'withdrawn' : 'none')
      assert.deepEqual(
        [after.status, after.total_cents, after.ship_to.line1, after.email],
        [end === 'cancelled' ? 'cancelled' : 'placed', 2_200, '1 Old Street', 'ann@new.example'],
        end,
      )
      assert.deepEqual(refusal(await pay(order.id)), [409, 'payment_request_closed'])
      assert.equal(await store.net(order.id), end === 'cancelled' ? 0 : 2_200)
      if (end === 'cancelled') continue
      const again = await correct(order.id, { ship_to: to('TWENTY') })
      assert.equal(again.body.payment_request?.status, 'open', again.text)
      assert.equal((await pay(order.id)).status, 200)
      assert.equal((await store.read(order.id)).order.total_cents, 2_400)
    }
  })

  test("a correction of a held order leaves the merchant's hold", async () => {
    const { store, place, correct, pay } = desk()
    const order = await place()
    await store.merchant(order.id, 'hold', { reason: 'a wrong address' })
    assert.equal((await correct(order.id, { ship_to: to('TWENTY') })).status, 200)
    assert.equal((await pay(order.id)).status, 200)
    const read = await store.read(order.id)
    assert.deepEqual([read.order.status, read.order.hold.reason], ['on_hold', 'a wrong address'])
    const released = await store.merchant(order.id, 'release')
    assert.equal(released.status, 200, released.text)
  })

  test('is refused if the order has changed since it was read, or the correction would cost something else', async () => {
    const { store, place, preview, correct } = desk()
    const order = await place()
    const { updated_at } = (await preview(order.id, { name: 'x' })).body
    await store.merchant(order.id, 'hold')
    const stale = await correct(order.id, { name: 'x', expected_updated_at: updated_at })
    assert.deepEqual(refusal(stale), [409, 'stale_order'])
    const priced = await correct(order.id, { ship_to: to('NONE'), expected_total_cents: 2_100 })
    assert.deepEqual(refusal(priced), [409, 'price_changed'])
    assert.deepEqual([priced.body.quoted_cents, priced.body.current_cents], [2_100, 2_000])
  })

  test('is refused after shipping, after an erasure, for an unknown order, and by a lesser key', async () => {
    const { store, place, preview, correct, merchant } = desk()
    const order = await place()
    const packed = await merchant.post(`/v1/merchant/orders/${order.id}/fulfillments`)
    await merchant.post(`/v1/merchant/fulfillments/${packed.body.fulfillment.id}/ship`)
    for (const send of [preview, correct]) {
      const shipped = await send(order.id, { name: 'x' })
      assert.deepEqual(refusal(shipped), [409, 'invalid_transition'])
      assert.ok(!shipped.body.allowed.includes('correct'))
      assert.deepEqual(refusal(await send(randomUUID(), { name: 'x' })), [404, 'order_not_found'])
      assert.deepEqual(refusal(await send(order.id, { email: 'no address' })), [
        400,
        'invalid_body',
      ])
    }
    const erased = await place({ customer_ref: 'gone' })
    const asked = await merchant.post('/v1/my/privacy/erase', { customer_ref: 'gone' })
    const { confirm } = asked.body
    const done = await merchant.post(
      '/v1/my/privacy/erase',
      { customer_ref: 'gone', confirm },
      keyed(),
    )
    assert.equal(done.status, 200, done.text)
    for (const send of [preview, correct]) {
      assert.deepEqual(refusal(await send(erased.id, { name: 'x' })), [409, 'customer_erased'])
    }
    const reader = await store.app.merchant('acme', 'read:own_orders')
    const forbidden = await reader.send('PATCH', `/v1/merchant/orders/${order.id}`, {}, keyed())
    assert.deepEqual(refusal(forbidden), [403, 'forbidden'])
    const bare = await merchant.send('PATCH', `/v1/merchant/orders/${order.id}`, { name: 'x' })
    assert.deepEqual(refusal(bare), [400, 'idempotency_key_required'])
  })

  test('is not applied while its customer is being erased: the shopper is asked to pay until then', async () => {
    const { place, correct, merchant } = desk()
    const order = await place({ customer_ref: 'leaving' })
    await correct(order.id, { ship_to: to('TWENTY') })
    const asked = await merchant.post('/v1/my/privacy/erase', { customer_ref: 'leaving' })
    const body = { customer_ref: 'leaving', confirm: asked.body.confirm }
    const busy = await merchant.post('/v1/my/privacy/erase', body, keyed())
    assert.deepEqual(refusal(busy), [409, 'order_busy'])
  })

  test('a correction of an order under review changes the address, and no money that is not captured', async () => {
    const { merchant, place, correct } = desk()
    const ban = { kind: 'customer_ref', value: 'suspect', action: 'review', reason: 'a test' }
    const banned = await merchant.post('/v1/merchant/fraud/bans', ban)
    assert.equal(banned.status, 201, banned.text)
    const order = await place({ customer_ref: 'suspect' })
    assert.equal(order.status, 'on_hold')
    const dearer = await correct(order.id, { ship_to: to('TWENTY') })
    assert.deepEqual(
      [...refusal(dearer), dearer.body.reason],
      [409, 'invalid_transition', 'not_captured'],
    )
    const same = await correct(order.id, { ship_to: to('TEN') })
    assert.deepEqual([same.status, same.body.changed], [200, ['ship_to']], same.text)
  })

  test('invalidates the links that were mailed to the earlier address', async () => {
    const { store, place, correct } = desk()
    const order = await place()
    const { runtime } = store.app
    const mailed = createLinkToken(
      runtime.key('order link'),
      runtime.database.tenant('acme'),
      { id: order.id, email: PERSON.email },
      30,
    )
    const open = (token: string) =>
      store.app.storefront.post('/v1/tenants/acme/orders/links/open', { token })
    assert.equal((await open(mailed)).status, 200)
    assert.equal((await correct(order.id, { ship_to: to('TEN') })).status, 200)
    assert.equal((await open(mailed)).status, 200, 'the address has nothing to do with it')
    assert.equal((await correct(order.id, { email: 'ann@right.example' })).status, 200)
    assert.deepEqual(refusal(await open(mailed)), [404, 'order_not_found'])
  })

  test('needs `void_labels` if there are labels for the old address, and then voids them', async () => {
    const { store, merchant, preview, place, correct } = desk()
    const order = await place()
    const packed = await merchant.post(`/v1/merchant/orders/${order.id}/fulfillments`)
    const parcel = packed.body.fulfillment.id
    const url = `/v1/merchant/fulfillments/${parcel}`
    const bought = await merchant.post(
      `${url}/label`,
      { carrier: 'simulated', service: 'standard' },
      keyed(),
    )
    assert.equal(bought.status, 201, bought.text)
    const { tracking_number } = bought.body.label
    const body = { ship_to: to('TEN') }
    const labels = [
      { fulfillment_id: parcel, fulfillment_number: `${order.order_number}-F1`, tracking_number },
    ]
    assert.deepEqual((await preview(order.id, body)).body.labels, labels)
    const key = randomUUID()
    const refused = await correct(order.id, body, key)
    assert.deepEqual([...refusal(refused), refused.body.labels], [409, 'labels_bought', labels])
    assert.deepEqual(refusal(await correct(order.id, { name: 'Ann E.' })), [409, 'labels_bought'])
    const mailed = await correct(order.id, { email: 'ann@other.example' })
    assert.equal(mailed.status, 200, 'an e-mail address is on no label')
    const made = await correct(order.id, { ...body, void_labels: true })
    assert.equal(made.status, 200, made.text)
    assert.equal((await merchant.get(url)).body.fulfillment.tracking_number, null)
    const printed = await merchant.get(`${url}/label.pdf`)
    assert.equal(printed.status, 404)
    const { workerDatabase, carriers } = store.app.runtime
    const { rows } = await store.superuser.query(
      `select id from carrier_labels where fulfillment_id = $1`,
      [parcel],
    )
    await voidUnused({ carriers }, workerDatabase.tenant('acme'), { label_id: rows[0].id })
    const again = await merchant.post(
      `${url}/label`,
      { carrier: 'simulated', service: 'standard' },
      keyed(),
    )
    assert.equal(again.status, 201, again.text)
  })

  test('a correction to a country that the store does not ship to is refused', async () => {
    const { store, preview, correct, place } = desk()
    const order = await place()
    const manifest = {
      ...ALL_OPTIONS,
      behavior: { ...ALL_OPTIONS.behavior, shipping: { countries: ['US'] } },
    }
    const saved = await store.shop.merchant.put('/v1/my/store/manifest', { manifest })
    assert.equal(saved.status, 200, saved.text)
    const body = { ship_to: { ...to('TEN'), country: 'FR' } }
    for (const send of [preview, correct]) {
      assert.deepEqual(refusal(await send(order.id, body)), [422, 'country_not_served'])
    }
    await store.shop.merchant.put('/v1/my/store/manifest', { manifest: ALL_OPTIONS })
  })

  test('a correction during another one is refused, and one of two at the same time succeeds', async () => {
    const { store, place, correct } = desk()
    const order = await place()
    const answers = await Promise.all([
      correct(order.id, { ship_to: to('NONE', '1 First Street') }),
      correct(order.id, { ship_to: to('NONE', '2 Second Street') }),
    ])
    const made = answers.filter(({ status }) => status === 200)
    assert.ok(made.length > 0)
    for (const { status, body } of answers) {
      if (status !== 200) assert.deepEqual([status, body.error.code], [409, 'order_busy'])
    }
    assert.equal(await store.net(order.id), 2_000)
  })
})
