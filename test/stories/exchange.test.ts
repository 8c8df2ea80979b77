import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import * as jobs from '../../src/modules/checkout/jobs.ts'
import { openCheckout } from '../../src/modules/checkout/open.ts'
import type { Answer } from '../harness/app.ts'
import { assertOrdersAddUp } from '../harness/order-oracles.ts'
import {
  APPROVED,
  addVariant,
  checkout,
  DECLINED,
  openShop,
  stock,
} from '../modules/checkout/setup.ts'
import { openMailApp } from '../modules/shopper-mail/setup.ts'

/** An exchange for a more expensive size, step by step for its merchant and its shopper. */

const keyed = () => ({ 'idempotency-key': randomUUID() })

function ok(answer: Answer, status = 200): Answer['body'] {
  assert.equal(answer.status, status, answer.text)
  return answer.body
}

const TAX = { provider: 'flat_rate', rate_bps: 1_900 }
const SHIPPING = {
  mode: 'flat',
  flat_rate_cents: 490,
  expedited_rate_cents: 990,
  max_cents: 990,
}

describe('an exchange for a dearer size', () => {
  test('is requested, paid, shipped, sent back and refunded, and every book adds up', async (t) => {
    const app = await openMailApp(t)
    const { merchant } = await openShop(app, 'acme', [])
    const admin = await app.database.openAdmin()
    const price = async (cents: number) => {
      const id = await addVariant(merchant, cents)
      await stock(merchant, id, 3)
      return id
    }
    const small = await price(9_900)
    const large = await price(11_900)
    const stockOf = async (id: string) =>
      ok(await merchant.get(`/v1/merchant/inventory/${id}`)).item
    const read = async (id: string) => ok(await merchant.get(`/v1/merchant/orders/${id}`))
    const ship = async (id: string) => {
      const packed = ok(await merchant.post(`/v1/merchant/orders/${id}/fulfillments`), 201)
      const url = `/v1/merchant/fulfillments/${packed.fulfillment.id}`
      ok(await merchant.post(`${url}/ship`, { carrier: 'UPS', tracking_number: '1Z1' }))
      ok(await merchant.post(`${url}/deliver`))
    }

    // Monday: Ann buys the small one, and gets it on Thursday.
    const bought = ok(
      await checkout(
        app,
        { tenant: 'acme' },
        {
          customer_ref: 'ann',
          email: 'ann@example.com',
          items: [{ variant_id: small, quantity: 1 }],
          card: APPROVED,
          tax: TAX,
          shipping: SHIPPING,
        },
      ),
      201,
    )
    await ship(bought.order.id)
    assert.equal((await stockOf(small)).on_hand, 2)
    await app.sendAll()

    // Friday: it is too small. She asks for a return, and the store agrees.
    const lines = [{ order_item_id: bought.items[0].id, quantity: 1, reason: 'too small' }]
    const asked = ok(
      await app.storefront.post(
        `/v1/tenants/acme/orders/${bought.order.id}/returns`,
        { customer_ref: 'ann', lines },
        keyed(),
      ),
      201,
    )
    const url = `/v1/merchant/returns/${asked.return.id}`
    ok(await merchant.post(`${url}/approve`, { instructions: 'Use the old box.' }))

    // The store previews the price, and offers the large one before the small one is back.
    const wanted = { items: [{ variant_id: large, quantity: 1 }], advance: true }
    const shown = ok(await merchant.post(`${url}/exchange/preview`, wanted))
    const worth = Math.round(9_900 * 1.19)
    const total = Math.round(11_900 * 1.19)
    assert.deepEqual(
      [shown.total_cents, shown.credit_cents, shown.amount_due_cents, shown.shipping_cents],
      [total, worth, total - worth, 0],
    )
    const made = ok(await merchant.post(`${url}/exchange`, wanted, keyed()), 201)
    const { id } = made.order
    assert.equal(made.order.status, 'on_hold')
    assert.equal((await stockOf(large)).available, 2)
    const packing = await merchant.post(`/v1/merchant/orders/${id}/fulfillments`)
    assert.equal(packing.status, 409, 'nothing ships before it is paid')

    // Ann gets a mail with a link. It opens the order, which says what is to pay.
    const mail = (await app.sendAll()).find(({ subject }) => /pay/.test(subject))
    assert.ok(mail?.text.includes('$23.80'), mail?.text)
    const token = /\/orders\/link\/([\w-]+)/.exec(mail?.text ?? '')?.[1]
    const opened = ok(await app.storefront.post('/v1/tenants/acme/orders/links/open', { token }))
    assert.equal(opened.order_id, id)
    const payUrl = `/v1/tenants/acme/orders/${id}/pay`
    const pay = (card: object) =>
      app.storefront.post(payUrl, { customer_ref: opened.customer_ref, card }, keyed())

    // Her first card is declined. She tries another, and clicks twice.
    assert.equal((await pay(DECLINED)).status, 402)
    const paid = (await Promise.all([pay(APPROVED), pay(APPROVED)])).map(({ status }) => status)
    assert.deepEqual(paid.toSorted(), [200, 409])
    assert.equal((await read(id)).order.status, 'placed')
    await ship(id)

    // Next week the small one is back, a little worn. It was paid for by the exchange.
    const returnLine = asked.return.lines[0].id
    const receive = (at: string, line: string, disposition: string) =>
      merchant.post(
        `${at}/receive`,
        {
          lines: [{ return_line_id: line, received_quantity: 1, disposition }],
          refund: { method: 'original' },
        },
        keyed(),
      )
    const came = ok(await receive(url, returnLine, 'quarantine'))
    assert.equal(came.refund, null)
    ok(
      await merchant.post(`${url}/resolve`, {
        lines: [{ return_line_id: returnLine, quantity: 1, disposition: 'restock' }],
      }),
    )
    assert.equal((await stockOf(small)).on_hand, 3)
    assert.equal(ok(await merchant.get(url)).return.status, 'closed')

    // The large one does not fit either. She sends it back, and gets all her money: from both payments.
    const again = ok(
      await merchant.post('/v1/merchant/returns', {
        order_id: id,
        lines: [{ order_item_id: made.items[0].id, quantity: 1 }],
      }),
      201,
    ).return
    const refunded = ok(
      await receive(`/v1/merchant/returns/${again.id}`, again.lines[0].id, 'restock'),
    )
    assert.equal(refunded.refund.amount_cents, total)
    assert.equal((await stockOf(large)).on_hand, 3)
    const { rows: kept } = await admin.query(
      `select sum(captured_cents - refunded_cents)::int as cents from sim_charges
        where outcome = 'approved' and voided_at is null`,
    )
    assert.equal(kept[0].cents, 490, 'the shop has the shipping, and nothing else')

    // Bob, too, wants a larger one, and then does not pay. The store receives his small one and refunds it.
    const second = ok(
      await checkout(
        app,
        { tenant: 'acme' },
        { customer_ref: 'bob', items: [{ variant_id: small, quantity: 1 }], card: APPROVED },
      ),
      201,
    )
    await ship(second.order.id)
    const his = ok(
      await merchant.post('/v1/merchant/returns', {
        order_id: second.order.id,
        lines: [{ order_item_id: second.items[0].id, quantity: 1 }],
      }),
      201,
    ).return
    const hisUrl = `/v1/merchant/returns/${his.id}`
    const unpaid = ok(await merchant.post(`${hisUrl}/exchange`, wanted, keyed()), 201).order
    const back = ok(await receive(hisUrl, his.lines[0].id, 'restock'))
    assert.equal(back.refund, null, 'the exchange has it')
    await admin.query(
      `update payment_requests set expires_at = now(), due_at = now() where status = 'open'`,
    )
    const deps = { ...openCheckout(app.runtime), database: app.runtime.workerDatabase }
    assert.equal(await jobs.expirePaymentRequests(deps), 1)
    assert.equal((await read(unpaid.id)).order.status, 'cancelled')
    assert.equal((await stockOf(large)).available, 3)
    const settle = { lines: [], refund: { method: 'original' } }
    const settled = ok(await merchant.post(`${hisUrl}/receive`, settle, keyed()))
    assert.equal(settled.refund.amount_cents, 9_900)
    assert.equal((await read(second.order.id)).order.status, 'refunded')

    await assertOrdersAddUp(admin)
  })
})
