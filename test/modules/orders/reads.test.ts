import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import type { Answer } from '../../harness/app.ts'
import { keyed, type OrderStore, shareOrderStore } from './setup.ts'

const shared = shareOrderStore()

describe('reading orders', () => {
  let store: OrderStore
  let first: Answer['body']
  let second: Answer['body']
  before(async () => {
    store = shared.current
    first = await store.place({ customer_ref: 'zoe', email: 'Zoe@Example.com' })
    second = await store.place({
      customer_ref: '=cmd|calc',
      items: [{ variant_id: store.shop.variants[333], quantity: 1 }],
    })
  })

  const list = async (query: string) => {
    const answer = await store.shop.merchant.get(`/v1/merchant/orders?${query}`)
    assert.equal(answer.status, 200, answer.text)
    return answer.body
  }
  const found = async (query: string) =>
    (await list(query)).orders.map(({ id }: { id: string }) => id)

  test('lists the newest first, with the total', async () => {
    const { orders, total, limit, offset } = await list('limit=1')
    assert.deepEqual([orders.length, total, limit, offset], [1, 2, 1, 0])
    assert.equal(orders[0].id, second.order.id)
  })

  test('filters by every filter, and searches by number, customer, e-mail, name and SKU', async () => {
    const sku = first.items[0].sku
    const only = [
      'customer_ref=zoe',
      `order_number=${first.order.order_number}`,
      `q=%23${first.order.order_number}`,
      'q=zo',
      'q=zoe@EXAMPLE',
      `q=${sku.slice(0, 8)}`,
      'q=WORTH%2010',
      `sku=${sku}`,
      `sku=${sku}&status=placed`,
      `sku=${sku}&q=zo`,
      `sku=${sku}&q=zo&is_test=false`,
    ]
    for (const query of only) assert.deepEqual(await found(query), [first.order.id], query)
    const both = [second.order.id, first.order.id]
    for (const query of [
      'status=placed',
      'payment_status=paid',
      'fulfillment_status=unfulfilled',
      'is_test=false',
      'created_from=2020-01-01',
      'q=worth',
    ]) {
      assert.deepEqual(await found(query), both, query)
    }
    for (const query of [
      'status=shipped',
      'created_to=2020-01-01',
      'coupon_code=X',
      'q=%25',
      `sku=${sku}&status=shipped`,
      `sku=${sku}&q=nobody`,
      'sku=none&status=placed',
    ]) {
      assert.deepEqual(await found(query), [], query)
    }
  })

  test('shows one order with its lines, charges, refunds, timeline and notes', async () => {
    const detail = await store.read(first.order.id)
    assert.deepEqual(Object.keys(detail), [
      'order',
      'items',
      'customer_name',
      'charges',
      'refunds',
      'fulfillments',
      'open',
      'returns',
      'gift_cards',
      'exchange',
      'payment_request',
      'timeline',
      'notes',
      'attestation',
    ])
    assert.equal(detail.order.email, 'Zoe@Example.com')
    assert.deepEqual(
      detail.timeline.map(({ type }: { type: string }) => type),
      ['created', 'placed'],
    )
    const { body } = await store.shop.merchant.get(`/v1/merchant/orders/${first.order.id}/timeline`)
    assert.deepEqual(body.timeline, detail.timeline)
  })

  test('a shopper sees their own orders, and no other', async () => {
    const at = (id: string, customer: string) =>
      store.app.storefront.get(`/v1/tenants/acme/orders/${id}?customer_ref=${customer}`)
    const own = await at(first.order.id, 'zoe')
    assert.equal(own.status, 200, own.text)
    assert.equal(own.body.order.email, undefined)
    assert.equal(own.body.order.id, first.order.id)
    const none = await at(randomUUID(), 'zoe')
    for (const other of [
      await at(first.order.id, 'ann'),
      await at(first.order.id, ''),
      await at('x', 'zoe'),
    ]) {
      assert.equal(other.status, 404)
      assert.equal(other.text, none.text)
    }
    const listed = await store.app.storefront.get('/v1/tenants/acme/customers/zoe/orders')
    assert.equal(listed.body.total, 1)
    assert.equal(listed.body.orders[0].email, undefined)
  })

  test('shoppers can read their orders while the store is suspended', async () => {
    await store.app.operator.put('/v1/stores/acme/status', {
      status: 'suspended',
      reason: 'a test',
    })
    const url = `/v1/tenants/acme/orders/${first.order.id}?customer_ref=zoe`
    assert.equal((await store.app.storefront.get(url)).status, 200)
    await store.app.operator.put('/v1/stores/acme/status', { status: 'live' })
  })

  test('explains why an order has its status', async () => {
    const url = `/v1/merchant/orders/${first.order.id}/explain`
    const { body } = await store.shop.merchant.get(url)
    assert.equal(body.status, 'placed')
    assert.equal(body.rule.number, 12)
    assert.match(body.rule.meaning, /is paid/)
    assert.ok(body.allowed.includes('cancel'))
    const release = body.refused.find(({ action }: { action: string }) => action === 'release')
    assert.deepEqual(release, {
      action: 'release',
      reason: 'order_placed',
      meaning: 'This is not possible for an order that is placed.',
    })
  })

  test('shows a hold once, and marks another order as being processed', async () => {
    const { order } = await store.place()
    const url = `/v1/merchant/orders/${order.id}`
    const processed = await store.shop.merchant.post(`${url}/process`)
    assert.equal(processed.body.order.status, 'processing', processed.text)
    const held = await store.shop.merchant.post(`${url}/hold`, { reason: 'call first' })
    assert.equal(held.body.order.status, 'on_hold', held.text)
    assert.equal(held.body.order.hold.reason, 'call first')
    const { id, customer_ref } = held.body.order
    const query = `customer_ref=${encodeURIComponent(customer_ref)}`
    const seen = await store.app.storefront.get(`/v1/tenants/acme/orders/${id}?${query}`)
    const { reason, by } = seen.body.order.hold
    assert.deepEqual({ reason, by }, { reason: 'merchant', by: 'merchant' }, 'and not why')
    const again = await store.shop.merchant.post(`${url}/hold`)
    assert.equal(again.body.error.code, 'invalid_transition')
    assert.equal(again.body.current_status, 'on_hold')
    assert.ok(again.body.allowed.includes('release'))
    assert.equal((await store.shop.merchant.post(`${url}/hold`, { reason: 1 })).status, 400)
  })

  test('shows the time of a hold in one format everywhere', async () => {
    const { merchant } = store.shop
    const ban = { kind: 'email', value: 'look@bad.example', action: 'review', reason: 'a test' }
    await merchant.post('/v1/merchant/fraud/bans', ban)
    const { order: looked } = await store.place({ email: ban.value })
    const { order } = await store.place()
    const { body: held } = await merchant.post(`/v1/merchant/orders/${order.id}/hold`)
    // A time whose last digit is zero, which PostgreSQL leaves out.
    await store.superuser.query(
      `update orders set hold_at = date_trunc('second', hold_at) + interval '470 ms' where id = any($1)`,
      [[order.id, looked.id]],
    )
    const answers = [
      await merchant.get('/v1/merchant/fraud/reviews'),
      await merchant.get(`/v1/merchant/orders/${order.id}`),
      await merchant.get('/v1/merchant/orders?status=on_hold'),
      await store.merchant(order.id, 'refunds', { amount_cents: 1 }),
      await store.app.storefront.get(`/v1/tenants/acme/orders/${order.id}?customer_ref=ann`),
    ]
    const times = [held, ...answers.map(({ body }) => body)].flatMap((body) =>
      [...JSON.stringify(body).matchAll(/"placed_at":"([^"]*)"/g)].map(([, at]) => at),
    )
    assert.ok(times.filter((at) => at?.includes('.47')).length >= 5, times.join())
    for (const at of times) assert.match(at ?? '', /^[\d-]{10}T[\d:]{8}\.\d{3}Z$/)
  })

  test('keeps notes for the merchant', async () => {
    const url = `/v1/merchant/orders/${first.order.id}/notes`
    const made = await store.shop.merchant.post(url, { note: 'gift wrap' })
    assert.equal(made.status, 201, made.text)
    assert.equal((await store.read(first.order.id)).notes[0].note, 'gift wrap')
    assert.equal((await store.shop.merchant.post(url, { note: '' })).status, 400)
  })

  test('shows the newest thousand notes and entries, and refuses a further note', async () => {
    const { order } = await store.place()
    const url = `/v1/merchant/orders/${order.id}`
    const { merchant } = store.shop
    const before = (await store.read(order.id)).timeline.length
    const admin = await store.app.database.openAdmin()
    await admin.query(
      `with noted as (
         insert into order_notes (tenant_ref, order_id, note, actor, created_at)
         select 'acme', $1, 'note ' || n, 'x', timestamptz '2026-01-01' + n * interval '1 s'
           from generate_series(1, 1001) n)
       insert into order_timeline (tenant_ref, order_id, type, actor, data)
       select 'acme', $1, 'noted', 'x', jsonb_build_object('n', n)
         from generate_series(1, 1001) n order by n`,
      [order.id],
    )
    const { notes, timeline } = await store.read(order.id)
    assert.deepEqual([notes.length, timeline.length], [1_000, 1_000])
    assert.deepEqual([notes[0].note, notes.at(-1).note], ['note 2', 'note 1001'])
    assert.deepEqual([timeline[0].data.n, timeline.at(-1).data.n], [2, 1_001])

    const first = (await merchant.get(`${url}/timeline`)).body
    assert.deepEqual([first.timeline.length, first.total], [1_000, before + 1_001])
    const rest = (await merchant.get(`${url}/timeline?after=${first.next_after}`)).body
    assert.deepEqual([...first.timeline, ...rest.timeline].slice(-1_000), timeline)

    const refused = await merchant.post(`${url}/notes`, { note: 'one more' })
    assert.equal(refused.status, 409)
    const { limit, max, used } = refused.body
    assert.deepEqual([limit, max, used], ['order_notes', 1_000, 1_001])
  })

  test('has at most a thousand notes, also when fifty are written at once', async () => {
    const { order } = await store.place()
    const admin = await store.app.database.openAdmin()
    await admin.query(
      `insert into order_notes (tenant_ref, order_id, note, actor)
       select 'acme', $1, 'note ' || n, 'x' from generate_series(1, 995) n`,
      [order.id],
    )
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        store.shop.merchant.post(`/v1/merchant/orders/${order.id}/notes`, { note: `more ${n}` }),
      ),
    )
    const count = (status: number) => answers.filter((each) => each.status === status).length
    assert.deepEqual([count(201), count(409)], [5, 45])
  })

  test("the audit log has the merchants' acts, without free text, and nothing about shoppers", async () => {
    const { merchant } = store.shop
    const words = 'Zoe Zebra asked for it'
    const { order, items } = await store.place({ email: 'zoe@zebra.example' })
    const other = await store.place()
    const { id } = order
    const edits = (quantity: number) => ({ edits: [{ order_item_id: items[0].id, quantity }] })
    const done = [
      await merchant.post(`/v1/merchant/orders/${id}/notes`, { note: words }),
      await store.merchant(id, 'process'),
      await store.merchant(id, 'hold', { reason: words }),
      await store.merchant(id, 'release'),
      await store.merchant(id, 'edit', edits(1)),
      await store.merchant(id, 'refunds', { amount_cents: 100, reason: words }),
      await store.merchant(id, 'cancel', { reason: 'customer', note: words, restock: false }),
    ]
    for (const { status, text } of done) assert.ok(status < 300, text)
    const [charge] = other.charges
    const request = { charge_id: charge.charge_id, amount_cents: 5, reason: words }
    await store.shopper(other.order.id, 'refund', request)
    await store.shopper(other.order.id, 'cancel', { reason: words })

    const { body, text } = await merchant.get('/v1/my/audit?limit=100')
    const ofOrder = (wanted: string) =>
      body.entries
        .filter(({ entity }: { entity: string }) => entity === `order:${wanted}`)
        .reverse()
    const [noted, ...rest] = ofOrder(id).map(
      ({ action, before, after }: Record<string, unknown>) => [action, before, after],
    )
    assert.deepEqual(noted, ['order.noted', null, { note_id: done[0]?.body.note.id }])
    const { refund_id } = done[5]?.body.refund ?? {}
    assert.deepEqual(rest, [
      ['order.processing', { status: 'placed' }, { status: 'processing' }],
      ['order.held', { status: 'processing' }, { status: 'on_hold' }],
      ['order.released', { status: 'on_hold' }, { status: 'processing' }],
      ['order.edited', { total_cents: 2_000 }, { total_cents: 1_000, delta_cents: -1_000 }],
      ['order.refunded', null, { refund_id, amount_cents: 100, method: 'original' }],
      [
        'order.cancelled',
        { status: 'partially_refunded' },
        { reason: 'customer', restock: false, refunded_cents: 900 },
      ],
    ])
    const requests = done.map(({ headers }) => headers['x-correlation-id'])
    assert.deepEqual(
      ofOrder(id).map(({ correlation_id }: { correlation_id: string }) => correlation_id),
      requests,
    )
    assert.match(ofOrder(id)[0].actor, /^merchant_key:/)
    assert.deepEqual(ofOrder(other.order.id), [])
    for (const secret of ['Zebra', 'zebra']) assert.ok(!text.includes(secret), text)
    const url = '/v1/audit?tenant_ref=acme&action=order.cancelled'
    assert.equal((await store.app.operator.get(url)).body.total, 1)
  })

  test('an operator flags a test order, and the audit log has it', async () => {
    const { order } = await store.place()
    const url = `/v1/stores/acme/orders/${order.id}/test-flag`
    const flagged = await store.app.operator.post(url, { is_test: true })
    assert.equal(flagged.body.order.is_test, true, flagged.text)
    assert.deepEqual(await found('is_test=true'), [order.id])
    const { body } = await store.app.operator.get('/v1/stores/acme/audit?action=order.test_flag')
    assert.equal(body.entries.length, 1)
    const nothing = await store.app.operator.post(`/v1/stores/acme/orders/x/test-flag`, {
      is_test: true,
    })
    assert.equal(nothing.body.error.code, 'order_not_found')
  })

  test('exports a table in which a spreadsheet finds no formulas', async () => {
    const answer = await store.shop.merchant.get('/v1/merchant/orders/export.csv')
    assert.equal(answer.status, 200)
    assert.match(answer.headers['content-type'] ?? '', /^text\/csv/)
    const lines = answer.text.trimEnd().split('\r\n')
    assert.equal(lines.length - 1, (await list('')).total)
    assert.match(lines[0] ?? '', /^"order_number","id"/)
    assert.match(answer.text, /"'=cmd\|calc"/)
    const one = await store.shop.merchant.get('/v1/merchant/orders/export.csv?customer_ref=zoe')
    assert.equal(one.text.trimEnd().split('\r\n').length, 2)
  })

  test('exports how an order was shipped and what came back, beside its costs', async () => {
    const { order, items } = await store.place({ customer_ref: 'exported' })
    const line = { order_item_id: items[0].id, quantity: 1 }
    const path = `/v1/merchant/orders/${order.id}/fulfillments`
    for (let n = 0; n < 3; n++) {
      const packed = await store.shop.merchant.post(path, { items: [line] })
      assert.equal(packed.status, 201, packed.text)
      const { id } = packed.body.fulfillment
      // The second of them is cancelled, and has no part in the table.
      const [verb, body] = n === 1 ? ['cancel', {}] : ['ship', { tracking_number: `=T${n}` }]
      await store.shop.merchant.post(`/v1/merchant/fulfillments/${id}/${verb}`, body as object)
    }
    const made = await store.shop.merchant.post('/v1/merchant/returns', {
      order_id: order.id,
      lines: [line],
    })
    const received = await store.shop.merchant.post(
      `/v1/merchant/returns/${made.body.return.id}/receive`,
      {
        lines: [
          {
            return_line_id: made.body.return.lines[0].id,
            received_quantity: 1,
            disposition: 'damaged',
          },
        ],
        refund: { method: 'none' },
      },
      keyed(),
    )
    assert.equal(received.status, 200, received.text)
    const url = '/v1/merchant/orders/export.csv?customer_ref='
    const [header = '', row = ''] = (await store.shop.merchant.get(`${url}exported`)).text.split(
      '\r\n',
    )
    assert.match(header, /,"parcels","tracking_numbers","returned_units"$/)
    assert.match(row, /,"2","'=T0 =T2","1"$/)
    const none = (await store.shop.merchant.get(`${url}zoe`)).text.trimEnd()
    assert.match(none, /,"0","","0"$/)
  })

  test('an export that fails half-way ends the connection', async () => {
    await store.superuser.query('alter table orders rename column coupon_code to gone')
    const cut = store.shop.merchant.get('/v1/merchant/orders/export.csv')
    await assert.rejects(cut)
    await store.superuser.query('alter table orders rename column gone to coupon_code')
  })
})
