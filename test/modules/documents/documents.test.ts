import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import sharp from 'sharp'
import type { Answer } from '../../harness/app.ts'
import { readPdf } from '../../harness/pdf-text.ts'
import { checkout, DECLINED } from '../checkout/setup.ts'
import { type OrderStore, shareOrderStore } from '../orders/setup.ts'

const shared = shareOrderStore()
let store: OrderStore

const SHIP_TO = {
  label: 'Home',
  name: 'Ann <b>Example</b>',
  line1: 'Hauptstraße 1',
  city: 'Berlin',
  state: '',
  postal_code: '10115',
  country: 'DE',
}

const get = (path: string) => store.shop.merchant.get(path)
const invoice = (id: string, format: string) => get(`/v1/merchant/orders/${id}/invoice.${format}`)
const slip = (id: string, format: string) =>
  get(`/v1/merchant/fulfillments/${id}/packing-slip.${format}`)
const refusal = ({ status, body }: Answer) => [status, body.error.code]

const pdfOf = async (path: string) => {
  const { status, bytes, text } = await get(path)
  assert.equal(status, 200, text)
  return readPdf(bytes)
}
const textsOf = async (path: string) => (await pdfOf(path)).pages.flat()

const place = (more: object = {}) => store.place({ shipping_address: SHIP_TO, ...more })
const pack = async (id: string) =>
  (await store.shop.merchant.post(`/v1/merchant/orders/${id}/fulfillments`)).body.fulfillment

describe('documents', () => {
  before(() => {
    store = shared.current
  })

  describe('GET /v1/merchant/orders/{id}/invoice', () => {
    test('shows the order as a page that runs nothing and is kept by no cache', async () => {
      const { order } = await place()
      const page = await invoice(order.id, 'html')
      assert.equal(page.status, 200, page.text)
      assert.equal(page.headers['content-type'], 'text/html; charset=utf-8')
      assert.equal(page.headers['cache-control'], 'no-store')
      assert.equal(page.headers['x-content-type-options'], 'nosniff')
      assert.equal(page.headers['referrer-policy'], 'no-referrer')
      assert.match(page.headers['content-security-policy'] ?? '', /^default-src 'none'; /)
      assert.equal(
        page.headers['content-disposition'],
        `inline; filename="invoice-${order.order_number}.html"`,
      )
      assert.ok(page.text.includes(`Invoice ${order.order_number}`))
      assert.ok(page.text.includes('Ann &lt;b&gt;Example&lt;/b&gt;'))
      assert.ok(page.text.includes('$20.00'))
      assert.ok(page.text.includes('10115 Berlin'))
    })

    test('prints the same content as a PDF', async () => {
      const { order } = await place()
      const { headers, bytes } = await invoice(order.id, 'pdf')
      assert.equal(headers['content-type'], 'application/pdf')
      assert.equal(
        headers['content-disposition'],
        `inline; filename="invoice-${order.order_number}.pdf"`,
      )
      assert.match(headers['content-security-policy'] ?? '', /default-src 'none'/)
      assert.equal(headers['x-content-type-options'], 'nosniff')
      const texts = readPdf(bytes).pages.flat()
      for (const text of [`Invoice ${order.order_number}`, 'Ann <b>Example</b>', '$20.00']) {
        assert.ok(texts.includes(text), `${text} in ${texts.join(' | ')}`)
      }
    })

    test('has the amounts of the order after an edit, a coupon, a tax and a refund', async () => {
      const coupon = { code: 'TEN', type: 'percent', percent_bps: 1_000 }
      const made = await store.shop.merchant.post('/v1/merchant/marketing/coupons', coupon)
      assert.equal(made.status, 201, made.text)
      const { order, items } = await place({
        items: [{ variant_id: store.shop.variants[2_500], quantity: 3 }],
        tax: { provider: 'flat_rate', rate_bps: 1_900 },
        coupon_code: 'TEN',
      })
      const edited = { edits: [{ order_item_id: items[0].id, quantity: 2 }] }
      assert.equal((await store.merchant(order.id, 'edit', edited)).status, 200)
      const refunded = await store.merchant(order.id, 'refunds', { amount_cents: 700 })
      assert.equal(refunded.status, 201, refunded.text)
      const read = await store.read(order.id)
      const texts = await textsOf(`/v1/merchant/orders/${order.id}/invoice.pdf`)
      const money = (cents: number) =>
        new Intl.NumberFormat('en', { style: 'currency', currency: 'USD' }).format(cents / 100)
      const { subtotal_cents, tax_cents, total_cents, captured_cents, refunded_cents } = read.order
      assert.ok(read.order.discount_cents > 0)
      for (const cents of [
        subtotal_cents,
        -read.order.discount_cents,
        tax_cents,
        total_cents - tax_cents,
        total_cents,
        -700,
        captured_cents - refunded_cents,
      ]) {
        assert.ok(texts.includes(money(cents)), `${money(cents)} in ${texts.join(' | ')}`)
      }
      assert.ok(texts.includes('Tax 19%'))
      assert.ok(texts.includes('Discount TEN'))
      assert.ok(texts.some((text) => text.startsWith('Returned for a change')))
    })

    test('is in the language, the brand and with the legal details of the store', async () => {
      const { merchant } = store.shop
      const png = await sharp({
        create: { width: 60, height: 20, channels: 3, background: '#aa0000' },
      })
        .png()
        .toBuffer()
      const uploaded = await merchant.post('/v1/merchant/media', {
        content_type: 'image/png',
        data_base64: png.toString('base64'),
      })
      assert.ok(uploaded.status < 300, uploaded.text)
      const manifest = {
        brand: { name: 'Töpferei Acme', logoRef: uploaded.body.asset.asset_ref },
        theme: { color: { primary: '#aa0000' } },
        legal: { name: 'Acme GmbH', address: 'Ring 1\n10115 Berlin', taxId: 'USt-IdNr. DE1' },
      }
      const saved = await merchant.put('/v1/my/store/manifest', { manifest })
      assert.equal(saved.status, 200, saved.text)
      assert.equal((await merchant.patch('/v1/my/store', { language: 'de' })).status, 200)
      try {
        const { order } = await place()
        const page = await invoice(order.id, 'html')
        assert.ok(page.text.includes('<html lang="de">'))
        assert.ok(page.text.includes(`Rechnung ${order.order_number}`))
        assert.ok(page.text.includes('20,00'))
        assert.ok(page.text.includes('USt-IdNr. DE1'))
        assert.ok(page.text.includes('#aa0000'))
        const image = /<img src="([^"]+)" alt="Töpferei Acme">/.exec(page.text)?.[1] ?? ''
        assert.equal((await fetch(image)).headers.get('content-type'), 'image/png')
        assert.ok(
          page.headers['content-security-policy']?.includes(`img-src ${new URL(image).origin};`),
        )
        const pdf = await pdfOf(`/v1/merchant/orders/${order.id}/invoice.pdf`)
        assert.equal(pdf.images, 1)
        assert.ok(pdf.pages.flat().includes('Acme GmbH'))
      } finally {
        await merchant.patch('/v1/my/store', { language: 'en' })
      }
    })

    test('is refused for an order that was never placed or does not exist', async () => {
      const items = [{ variant_id: store.shop.variants[1_000], quantity: 1 }]
      const declined = { customer_ref: 'bob', items, card: DECLINED }
      assert.equal((await checkout(store.app, store.shop, declined)).status, 402)
      const [failed] = (await get('/v1/merchant/orders?status=payment_failed')).body.orders
      for (const format of ['html', 'pdf']) {
        assert.deepEqual(refusal(await invoice(failed.id, format)), [409, 'order_not_placed'])
        assert.deepEqual(refusal(await invoice('nothing', format)), [404, 'order_not_found'])
      }
      assert.equal((await invoice(failed.id, 'docx')).status, 404)
    })
  })

  describe('GET /v1/merchant/fulfillments/{id}/packing-slip', () => {
    test('lists what is in the parcel, and no price', async () => {
      const { order } = await place()
      const parcel = await pack(order.id)
      const page = await slip(parcel.id, 'html')
      assert.equal(page.status, 200, page.text)
      assert.ok(page.text.includes(`Packing slip ${parcel.fulfillment_number}`))
      assert.ok(!page.text.includes('$'))
      const texts = await textsOf(`/v1/merchant/fulfillments/${parcel.id}/packing-slip.pdf`)
      assert.ok(texts.includes(parcel.items[0].product_name))
      assert.ok(texts.includes(`Packing slip ${parcel.fulfillment_number}`))
      assert.ok(!texts.join(' ').includes('$'))
    })

    test('says that its parcel was cancelled, and is not found for another id', async () => {
      const { order } = await place()
      const parcel = await pack(order.id)
      await store.shop.merchant.post(`/v1/merchant/fulfillments/${parcel.id}/cancel`)
      assert.match((await slip(parcel.id, 'html')).text, /class="notice">Cancelled on /)
      for (const format of ['html', 'pdf']) {
        assert.deepEqual(refusal(await slip(order.id, format)), [404, 'fulfillment_not_found'])
      }
    })
  })
})
