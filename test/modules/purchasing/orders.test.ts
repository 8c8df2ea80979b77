import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import type { Caller } from '../../harness/app.ts'
import { assertRefused, countStatuses, times } from '../../harness/refusals.ts'
import { addVariant } from '../checkout/setup.ts'
import { type OrderStore, shareOrderStore } from '../orders/setup.ts'
import {
  codeOf,
  draft,
  newVendor,
  ORDERS,
  ok,
  ordered,
  receive,
  receiveAll,
  stockOf,
  tracked,
  VENDORS,
} from './setup.ts'

const shared = shareOrderStore()
let store: OrderStore
let merchant: Caller

describe('purchasing', () => {
  before(() => {
    store = shared.current
    merchant = store.shop.merchant
  })

  describe('a vendor', () => {
    test('is created, changed, archived and restored, and is listed by name', async () => {
      const made = await newVendor(merchant, { name: 'Zeta', lead_time_days: 7 })
      assert.deepEqual(
        [made.email, made.lead_time_days, made.archived_at],
        [null, 7, null],
        'what is not named is null',
      )
      const body = { email: 'sales@zeta.example', notes: 'closed in August', wrong: 1 }
      const changed = ok(await merchant.patch(`${VENDORS}/${made.id}`, body))
      assert.equal(changed.vendor.email, 'sales@zeta.example')
      assert.deepEqual(changed.ignored, ['wrong'])
      const archived = ok(await merchant.patch(`${VENDORS}/${made.id}`, { archived: true })).vendor
      assert.ok(archived.archived_at)
      const again = ok(await merchant.patch(`${VENDORS}/${made.id}`, { archived: true })).vendor
      assert.equal(again.archived_at, archived.archived_at, 'the first time counts')
      const names = async (query: string) =>
        ok(await merchant.get(`${VENDORS}?limit=100${query}`)).vendors.map(
          (vendor: { id: string }) => vendor.id,
        )
      assert.ok(!(await names('')).includes(made.id))
      assert.deepEqual(await names('&archived=true'), [made.id])
      const lines = [{ variant_id: await tracked(merchant), quantity: 1, unit_cost_cents: 1 }]
      const refused = await merchant.post(ORDERS, { vendor_id: made.id, lines })
      assert.equal(codeOf(refused), 'vendor_not_found', 'an archived vendor gets no new orders')
      ok(await merchant.patch(`${VENDORS}/${made.id}`, { archived: false }))
      ok(await merchant.post(ORDERS, { vendor_id: made.id, lines }), 201)
      assert.equal(codeOf(await merchant.get(`${VENDORS}/${randomUUID()}`)), 'vendor_not_found')
      assert.equal(codeOf(await merchant.patch(`${VENDORS}/none`, {})), 'vendor_not_found')
    })

    test('a vendor who is a person is named in no audit entry, and can be emptied', async () => {
      const secret = `Zoe-${randomUUID()}`
      const person = {
        name: secret,
        email: `${secret}@example.com`,
        phone: secret,
        address: secret,
      }
      const { id } = await newVendor(merchant, person)
      const empty = { name: 'Erased', email: null, phone: null, address: null, notes: null }
      const { vendor } = ok(await merchant.patch(`${VENDORS}/${id}`, empty))
      assert.deepEqual([vendor.name, vendor.email, vendor.phone], ['Erased', null, null])
      const { rows } = await store.superuser.query(
        `select count(*)::int as n, bool_or(position($2 in audit_log::text) > 0) as told
           from audit_log where entity = $1`,
        [`vendor:${id}`, secret],
      )
      assert.deepEqual(rows[0], { n: 2, told: false })
    })

    test('is refused without a name, and with a bad address or lead time', async () => {
      await assertRefused(
        [
          ['no name', {}, 'invalid_body', 'name'],
          ['a blank name', { name: '' }, 'invalid_body', 'name'],
          ['no address', { name: 'V', email: 'x' }, 'invalid_body', 'email'],
          ['a long time', { name: 'V', lead_time_days: 731 }, 'invalid_body', 'lead_time_days'],
        ],
        (body) => merchant.post(VENDORS, body),
      )
    })
  })

  describe('a purchase order', () => {
    test('goes from draft to received, and the expected stock follows it', async () => {
      const [a, b] = [await tracked(merchant), await tracked(merchant)]
      const lines = [
        { variant_id: a, quantity: 10, unit_cost_cents: 250 },
        { variant_id: b.toUpperCase(), quantity: 4, unit_cost_cents: 1_999 },
      ]
      const made = await draft(merchant, lines, { shipping_cents: 500 })
      assert.match(made.po_number, /^PO-\d+$/)
      assert.deepEqual(
        [made.status, made.location_id, made.currency, made.subtotal_cents, made.total_cents],
        ['draft', 'default', 'USD', 10_496, 10_996],
      )
      assert.equal((await stockOf(merchant, a)).incoming, 0, 'a draft is no order')
      const order = ok(await merchant.post(`${ORDERS}/${made.id}/order`)).purchase_order
      assert.equal(order.status, 'ordered')
      assert.deepEqual(
        order.lines.map((line: { open_quantity: number }) => line.open_quantity),
        [10, 4],
      )
      const { incoming, available } = await stockOf(merchant, a)
      assert.deepEqual([incoming, available], [10, 0], 'what is expected is not available')
      const [first, second] = order.lines
      const part = ok(
        await receive(merchant, made.id, [
          { line_id: first.id, quantity: 6, rejected_quantity: 1, reason: 'broken' },
        ]),
      )
      assert.equal(part.purchase_order.status, 'partially_received')
      assert.deepEqual(part.lines, [
        {
          line_id: first.id,
          variant_id: a,
          received_quantity: 6,
          rejected_quantity: 1,
          open_quantity: 3,
          added: 6,
          added_rejected: 1,
        },
      ])
      const after = await stockOf(merchant, a)
      assert.deepEqual([after.on_hand, after.incoming, after.available], [6, 3, 6])
      const rest = ok(
        await receive(merchant, made.id, [
          { line_id: first.id, quantity: 9 },
          { line_id: second.id, quantity: 4 },
        ]),
      )
      assert.equal(rest.purchase_order.status, 'received')
      assert.deepEqual(
        rest.lines.map((line: { added: number }) => line.added),
        [3, 4],
      )
      assert.ok(rest.purchase_order.received_at)
      assert.equal((await stockOf(merchant, a)).incoming, 0)
      const { receipts } = ok(await merchant.get(`${ORDERS}/${made.id}/receipts`))
      assert.deepEqual(
        receipts.map((each: { number: number; lines: { added: number }[] }) => [
          each.number,
          each.lines.map(({ added }) => added),
        ]),
        [
          [1, [6]],
          [2, [3, 4]],
        ],
      )
      const { movements } = ok(
        await merchant.get(`/v1/merchant/inventory/movements?variant_id=${a}&kind=received`),
      )
      assert.deepEqual(
        movements.map((each: Record<string, unknown>) => [each.quantity, each.purchase_order_id]),
        [
          [3, made.id],
          [6, made.id],
        ],
      )
    })

    test('is changed only as a draft, and its lines are replaced as a whole', async () => {
      const [a, b] = [await tracked(merchant), await tracked(merchant)]
      const made = await draft(merchant, [{ variant_id: a, quantity: 1, unit_cost_cents: 100 }])
      const expected_at = '2027-01-02T03:04:05.000Z'
      const body = {
        expected_at,
        notes: 'by sea',
        over_receipt_percent: 10,
        lines: [{ variant_id: b, quantity: 3, unit_cost_cents: 7 }],
      }
      const { purchase_order } = ok(await merchant.patch(`${ORDERS}/${made.id}`, body))
      assert.deepEqual(
        [purchase_order.expected_at, purchase_order.subtotal_cents, purchase_order.lines.length],
        [expected_at, 21, 1],
      )
      assert.equal(purchase_order.lines[0].variant_id, b)
      ok(await merchant.post(`${ORDERS}/${made.id}/order`))
      const late = await merchant.patch(`${ORDERS}/${made.id}`, { notes: 'by air' })
      assert.deepEqual([late.status, codeOf(late)], [409, 'invalid_transition'])
      assert.deepEqual(late.body.allowed, ['receive', 'close', 'cancel'])
    })

    test('a purchase order that is closed short or cancelled expects no more goods', async () => {
      const variant = await tracked(merchant)
      const line = { variant_id: variant, quantity: 5, unit_cost_cents: 100 }
      const short = await ordered(merchant, [line])
      ok(await receive(merchant, short.id, [{ line_id: short.lines[0].id, quantity: 2 }]))
      const early = await merchant.post(`${ORDERS}/${short.id}/cancel`)
      assert.equal(codeOf(early), 'invalid_transition', 'something has come')
      const closed = ok(await merchant.post(`${ORDERS}/${short.id}/close`)).purchase_order
      assert.deepEqual([closed.status, closed.lines[0].open_quantity], ['closed_short', 0])
      const gone = await ordered(merchant, [line])
      assert.equal((await stockOf(merchant, variant)).incoming, 5)
      assert.equal(
        ok(await merchant.post(`${ORDERS}/${gone.id}/cancel`)).purchase_order.status,
        'cancelled',
      )
      const { on_hand, incoming } = await stockOf(merchant, variant)
      assert.deepEqual([on_hand, incoming], [2, 0])
      for (const { id, lines } of [closed, gone]) {
        const refused = await receive(merchant, id, [{ line_id: lines[0].id, quantity: 5 }])
        assert.equal(codeOf(refused), 'invalid_transition')
      }
    })

    test('names all lines that cost too much when it is refused', async () => {
      const { id: vendor_id } = await newVendor(merchant)
      const quantities = [1_000_000, 1, 1_000_000]
      const lines = await Promise.all(
        quantities.map(async (quantity) => ({
          variant_id: await tracked(merchant),
          quantity,
          unit_cost_cents: 1_000_000,
        })),
      )
      const { body } = await merchant.post(ORDERS, { vendor_id, lines })
      assert.deepEqual(
        body.issues.map(({ path }: { path: string }) => path),
        ['lines.0', 'lines.2'],
      )
    })

    test('is refused for vendors, variants and locations that the store does not have', async () => {
      const variant_id = await tracked(merchant)
      const { id: vendor_id } = await newVendor(merchant)
      const line = { variant_id, quantity: 1, unit_cost_cents: 1 }
      const archived = await addVariant(merchant, 500)
      const { product_id } = await stockOf(merchant, archived)
      const catalog = `/v1/merchant/catalog/products/${product_id}/variants/${archived}/archive`
      ok(await merchant.post(catalog))
      const all = { vendor_id, lines: [line] }
      await assertRefused(
        [
          ['a vendor', { ...all, vendor_id: randomUUID() }, 'vendor_not_found'],
          ['a location', { ...all, location_id: 'nowhere' }, 'location_not_found'],
          ['a variant', { ...all, lines: [{ ...line, variant_id: 'x' }] }, 'variant_not_found'],
          [
            'an archived one',
            { ...all, lines: [{ ...line, variant_id: archived }] },
            'variant_not_found',
          ],
          ['another currency', { ...all, currency: 'EUR' }, 'invalid_body', 'currency'],
          ['one twice', { ...all, lines: [line, line] }, 'invalid_body', 'lines'],
          ['no lines', { ...all, lines: [] }, 'invalid_body', 'lines'],
          [
            'too much money',
            { ...all, lines: [{ ...line, quantity: 1_000_000, unit_cost_cents: 1_000_000 }] },
            'invalid_body',
            'lines.0',
          ],
          ['no time', { ...all, expected_at: 'tomorrow' }, 'invalid_body', 'expected_at'],
        ],
        (body) => merchant.post(ORDERS, body),
      )
      assert.equal(
        codeOf(await merchant.post(`${ORDERS}/${randomUUID()}/order`)),
        'purchase_order_not_found',
      )
    })

    test('is listed by status and vendor, newest first', async () => {
      const variant_id = await tracked(merchant)
      const line = { variant_id, quantity: 1, unit_cost_cents: 1 }
      const one = await draft(merchant, [line])
      const two = await ordered(merchant, [line])
      const ids = async (query: string) =>
        ok(await merchant.get(`${ORDERS}?limit=100&${query}`)).purchase_orders.map(
          (each: { id: string }) => each.id,
        )
      const [first, second] = await ids('')
      assert.deepEqual([first, second], [two.id, one.id])
      assert.ok(!(await ids('status=draft')).includes(two.id))
      assert.deepEqual(await ids(`vendor_id=${one.vendor_id}`), [one.id])
      assert.deepEqual(await ids('vendor_id=none'), [])
    })

    test('fixes the currency of its store', async () => {
      const other = await store.app.merchant('fixed')
      const variant_id = await tracked(other)
      assert.equal((await other.patch('/v1/my/store', { currency: 'EUR' })).status, 200)
      const made = await draft(other, [{ variant_id, quantity: 1, unit_cost_cents: 1 }])
      assert.equal(made.currency, 'EUR')
      const refused = await other.patch('/v1/my/store', { currency: 'USD' })
      assert.equal(codeOf(refused), 'currency_fixed')
    })
  })

  describe('a receipt', () => {
    test('never reduces the received total, and never exceeds the tolerance', async () => {
      const variant_id = await tracked(merchant)
      const line = { variant_id, quantity: 10, unit_cost_cents: 100 }
      const order = await ordered(merchant, [line], { over_receipt_percent: 15 })
      const [{ id: line_id }] = order.lines
      ok(await receive(merchant, order.id, [{ line_id, quantity: 8, rejected_quantity: 2 }]))
      const back = await receive(merchant, order.id, [{ line_id, quantity: 7 }])
      assert.deepEqual([back.status, codeOf(back)], [422, 'receipt_decreased'])
      assert.equal(back.body.lines[0].received_quantity, 8)
      const unreject = { line_id, quantity: 8, rejected_quantity: 1 }
      assert.equal(codeOf(await receive(merchant, order.id, [unreject])), 'receipt_decreased')
      const over = await receive(merchant, order.id, [{ line_id, quantity: 10 }])
      assert.deepEqual([over.status, codeOf(over)], [422, 'exceeds_ordered'])
      assert.deepEqual([over.body.lines[0].requested, over.body.lines[0].most], [12, 11])
      const most = ok(await receive(merchant, order.id, [{ line_id, quantity: 9 }]))
      assert.deepEqual([most.purchase_order.status, most.lines[0].added], ['received', 1])
      assert.equal((await stockOf(merchant, variant_id)).on_hand, 9)
    })

    test('a receipt of the same totals adds nothing, with the same key or another', async () => {
      const variant_id = await tracked(merchant)
      const order = await ordered(merchant, [{ variant_id, quantity: 5, unit_cost_cents: 100 }])
      const totals = [{ line_id: order.lines[0].id, quantity: 3 }]
      const key = randomUUID()
      const first = await receive(merchant, order.id, totals, key)
      const replay = await receive(merchant, order.id, totals, key)
      assert.equal(replay.text, first.text)
      assert.equal(replay.headers['idempotent-replayed'], 'true')
      const again = ok(await receive(merchant, order.id, totals))
      assert.deepEqual([again.receipt, again.lines[0].added], [null, 0])
      const reused = await receive(
        merchant,
        order.id,
        [{ ...totals[0], quantity: 4 } as never],
        key,
      )
      assert.equal(codeOf(reused), 'idempotency_key_reused')
      const keyless = await merchant.post(`${ORDERS}/${order.id}/receive`, { lines: totals })
      assert.equal(codeOf(keyless), 'idempotency_key_required')
      assert.equal((await stockOf(merchant, variant_id)).on_hand, 3)
    })

    test('names lines of its own order, each once', async () => {
      const variant_id = await tracked(merchant)
      const order = await ordered(merchant, [{ variant_id, quantity: 5, unit_cost_cents: 100 }])
      const total = { line_id: order.lines[0].id, quantity: 1 }
      const strange = await receive(merchant, order.id, [{ ...total, line_id: randomUUID() }])
      assert.equal(strange.body.issues[0].path, 'lines.0.line_id')
      const others = [randomUUID(), order.lines[0].id, randomUUID()]
      const several = await receive(
        merchant,
        order.id,
        others.map((line_id) => ({ ...total, line_id })),
      )
      assert.deepEqual(
        several.body.issues.map(({ path }: { path: string }) => path),
        ['lines.0.line_id', 'lines.2.line_id'],
      )
      const twice = await receive(merchant, order.id, [total, total])
      assert.equal(twice.body.issues[0].path, 'lines')
      assert.equal(
        codeOf(await receive(merchant, randomUUID(), [total])),
        'purchase_order_not_found',
      )
    })

    test('is added once, however many callers receive the same totals at the same time', async () => {
      const variant_id = await tracked(merchant)
      const order = await ordered(merchant, [{ variant_id, quantity: 50, unit_cost_cents: 100 }])
      const [{ id: line_id }] = order.lines
      const answers = await times(10, (n) =>
        receive(merchant, order.id, [{ line_id, quantity: n < 5 ? 20 : 30 }]),
      )
      for (const answer of answers) {
        assert.ok(['done', 'receipt_decreased'].includes(codeOf(answer)), answer.text)
      }
      const added = answers
        .filter(({ status }) => status === 200)
        .reduce((total, { body }) => total + body.lines[0].added, 0)
      const { on_hand, incoming } = await stockOf(merchant, variant_id)
      assert.deepEqual([added, on_hand, incoming], [30, 30, 20])
    })

    test('is either in a closing at the same time or refused, and no stock stays expected', async () => {
      for (let round = 0; round < 5; round++) {
        const variant_id = await tracked(merchant)
        const order = await ordered(merchant, [{ variant_id, quantity: 5, unit_cost_cents: 100 }])
        const [received, closed] = await Promise.all([
          receive(merchant, order.id, [{ line_id: order.lines[0].id, quantity: 5 }]),
          merchant.post(`${ORDERS}/${order.id}/close`),
        ])
        assert.deepEqual(countStatuses([received, closed]), { 200: 1, 409: 1 })
        const { on_hand, incoming } = await stockOf(merchant, variant_id)
        assert.deepEqual([on_hand, incoming], [received.status === 200 ? 5 : 0, 0])
      }
    })

    test('a receipt of many orders with the same variants at once never deadlocks', async () => {
      const variants = await times(3, () => tracked(merchant))
      const line = (variant_id: string) => ({ variant_id, quantity: 2, unit_cost_cents: 100 })
      const purchases = await times(6, (n) =>
        ordered(merchant, (n % 2 === 0 ? variants : variants.toReversed()).map(line)),
      )
      await Promise.all(purchases.map((purchase) => receiveAll(merchant, purchase)))
      for (const variant of variants) assert.equal((await stockOf(merchant, variant)).on_hand, 12)
    })
  })

  describe('the scope', () => {
    test('is the scope of the inventory, and another store sees nothing', async () => {
      const variant_id = await tracked(merchant)
      const order = await draft(merchant, [{ variant_id, quantity: 1, unit_cost_cents: 1 }])
      const lesser = await store.app.merchant('acme', 'manage:own_catalog')
      assert.equal((await lesser.get(`${ORDERS}/${order.id}`)).status, 403)
      const other = await store.app.merchant('globex', 'manage:own_inventory')
      assert.equal(codeOf(await other.get(`${ORDERS}/${order.id}`)), 'purchase_order_not_found')
      const body = {
        vendor_id: order.vendor_id,
        lines: [{ variant_id, quantity: 1, unit_cost_cents: 1 }],
      }
      assert.equal(codeOf(await other.post(ORDERS, body)), 'vendor_not_found')
    })
  })
})
