import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { uploadDrawing } from '../../harness/sample-products.ts'
import { APPROVED, addVariant, cart, checkout, enable, issueGiftCard } from '../checkout/setup.ts'
import { buy, keyed, type MailApp, mailsOf, newShop, SHIP_TO, shareMailApp, ship } from './setup.ts'

let app: MailApp

const kindsOf = async (shop: Parameters<typeof mailsOf>[0]) =>
  (await mailsOf(shop)).map(({ kind }) => kind).sort()

describe('mail to shoppers', () => {
  const shared = shareMailApp()
  before(() => {
    app = shared.current
  })

  test('confirms an order once, with its lines, sums, address and a link that opens it', async () => {
    const shop = await newShop(app)
    const { order } = await buy(app, shop)
    const [mail, ...more] = await app.sendAll()
    assert.ok(mail)
    assert.deepEqual([mail.to, more], [['ann@example.com'], []])
    assert.equal(mail.subject, `Order #${order.order_number} confirmed – The ${shop.tenant} store`)
    for (const part of [mail.text, mail.html ?? '']) {
      for (const said of [
        'Worth 1000',
        '$20.00',
        '1 Main Street',
        'Springfield',
        'Visa ending in',
      ]) {
        assert.ok(part.includes(said), said)
      }
    }
    const token = /\/orders\/link\/([\w-]+)/.exec(mail.text)?.[1]
    const opened = await app.storefront.post(`/v1/tenants/${shop.tenant}/orders/links/open`, {
      token,
    })
    assert.deepEqual([opened.status, opened.body.order_id], [200, order.id])
    assert.deepEqual(await app.sendAll(), [], 'it is sent once')
    const [row] = await mailsOf(shop, `order_id=${order.id}`)
    assert.deepEqual([row?.state, row?.attempt_count], ['sent', 1])
  })

  test("comes from the store's name at the platform's address, and replies go to the store", async () => {
    const manifest = { brand: { name: 'Ann\'s "Shop"', email: 'hello@anns.example' } }
    await buy(app, await newShop(app, manifest))
    const [mail] = await app.sendAll()
    assert.equal(mail?.header('from'), '"Ann\'s \\"Shop\\"" <no-reply@fairdock.example>')
    assert.equal(mail?.header('reply-to'), 'hello@anns.example')
    assert.match(mail?.header('message-id') ?? '', /^<[0-9a-f-]{36}\.0@fairdock\.example>$/)
  })

  test('has for every parcel its own carrier, number and link', async () => {
    const shop = await newShop(app)
    const { order, items } = await buy(app, shop)
    await app.sendAll()
    // Numbers of full length: a link's random token may hold a short one, and would be found for it.
    const [ups, dpd] = ['1Z999AA10123456784', '05222580123456']
    const units = { items: [{ order_item_id: items[0]?.id, quantity: 1 }] }
    await ship(shop, order.id, units, { carrier: 'UPS', tracking_number: ups })
    const second = await ship(shop, order.id, units, { carrier: 'DPD', tracking_number: dpd })
    const mails = await app.sendAll()
    assert.deepEqual(
      mails.map(({ subject }) => subject),
      Array(2).fill(`Order #${order.order_number} is on its way – The ${shop.tenant} store`),
    )
    const of = (number: string) => mails.find(({ text }) => text.includes(number))
    assert.ok(of(ups)?.text.includes(`https://www.ups.com/track?tracknum=${ups}`))
    assert.ok(of(ups)?.html?.includes(`href="https://www.ups.com/track?tracknum=${ups}"`))
    assert.ok(of(dpd)?.text.includes(`https://tracking.dpd.de/status/en_US/parcel/${dpd}`))
    assert.ok(!of(dpd)?.text.includes(ups))
    await shop.merchant.post(`/v1/merchant/fulfillments/${second.id}/deliver`)
    const [delivered, ...others] = await app.sendAll()
    assert.match(delivered?.subject ?? '', /has been delivered/)
    assert.deepEqual(others, [])
  })

  test('asks for a payment with amount, time and link, again when it is sent again, and not once it is paid', async () => {
    const shop = await newShop(app)
    const { merchant } = shop
    const { order, items } = await buy(app, shop)
    await ship(shop, order.id)
    const lines = [{ order_item_id: items[0]?.id, quantity: 1 }]
    const made = await merchant.post('/v1/merchant/returns', { order_id: order.id, lines })
    const dear = { items: [{ variant_id: shop.variants[1_000], quantity: 3 }], advance: true }
    const url = `/v1/merchant/returns/${made.body.return.id}/exchange`
    const exchanged = await merchant.post(url, dear, keyed())
    assert.equal(exchanged.status, 201, exchanged.text)
    const asking = async () => (await app.sendAll()).filter(({ subject }) => / pay /.test(subject))
    const [mail, ...more] = await asking()
    assert.deepEqual([mail?.to, more], [['ann@example.com'], []])
    for (const part of [mail?.text ?? '', mail?.html ?? '']) {
      for (const said of ['$30.00', '−$10.00', '$20.00', 'Pay now', 'Please pay by']) {
        assert.ok(part.includes(said), said)
      }
    }
    const { id } = exchanged.body.order
    assert.match(mail?.text ?? '', /\/orders\/link\/[\w-]+/)
    const again = `/v1/merchant/orders/${id}/payment-request/send`
    assert.equal((await merchant.post(again)).status, 200)
    assert.equal((await asking()).length, 1)
    assert.equal((await merchant.post(again)).status, 200)
    const body = { customer_ref: 'ann', card: APPROVED }
    const paid = await app.storefront.post(
      `/v1/tenants/${shop.tenant}/orders/${id}/pay`,
      body,
      keyed(),
    )
    assert.equal(paid.status, 200, paid.text)
    assert.deepEqual(await asking(), [])
    const rows = await mailsOf(shop, `order_id=${id}&kind=payment_request`)
    assert.deepEqual(rows.map(({ state }) => state).sort(), ['sent', 'sent', 'skipped'])
  })

  test('asks to pay for a correction at the earlier address, with the amount already paid and the corrected order', async () => {
    const shop = await newShop(app)
    const tax = { provider: 'flat_rate', rate_bps: 1_000 }
    const { order } = await buy(app, shop, { tax })
    await app.sendAll()
    const correction = {
      email: 'ann@moved.example',
      ship_to: { ...SHIP_TO, line1: '9 New Lane', line2: null },
      tax: { ...tax, rate_bps: 2_000 },
    }
    const url = `/v1/merchant/orders/${order.id}`
    const asked = await shop.merchant.send('PATCH', url, correction, keyed())
    assert.deepEqual([asked.status, asked.body.applied], [200, false], asked.text)
    const mails = await app.sendAll()
    assert.ok(mails.every(({ to }) => to.join() === 'ann@moved.example'))
    const mail = mails.find(({ subject }) => / pay /.test(subject))
    for (const part of [mail?.text ?? '', mail?.html ?? '']) {
      const said = [
        '$24.00',
        '−$22.00',
        '$2.00',
        '$4.00',
        '9 New Lane',
        'another address',
        'Pay now',
      ]
      for (const each of said) assert.ok(part.includes(each), each)
      assert.ok(!part.includes('1 Main Street'))
    }
    assert.match(mail?.text ?? '', /\/orders\/link\/[\w-]+/)
    const body = { customer_ref: 'ann', card: APPROVED }
    const pay = `/v1/tenants/${shop.tenant}/orders/${order.id}/pay`
    const paid = await app.storefront.post(pay, body, keyed())
    assert.equal(paid.status, 200, paid.text)
    const [changed, ...more] = await app.sendAll()
    assert.deepEqual(more, [])
    for (const said of ['$22.00', '$2.00', '$24.00', '9 New Lane']) {
      assert.ok(changed?.text.includes(said), said)
    }
    const late = await shop.merchant.post(`${url}/payment-request/send`)
    assert.deepEqual([late.status, late.body.error.code], [409, 'payment_request_closed'])
  })

  test('confirms a subscription, too, and names its next charge', async () => {
    const shop = await newShop(app)
    await enable(shop.merchant, 'subscriptions')
    const coffee = await addVariant(shop.merchant, 1_400, {
      is_subscription: true,
      subscription_interval: 'month',
      subscription_interval_count: 1,
    })
    const items = [
      { variant_id: coffee, quantity: 1, subscribe: true },
      { variant_id: shop.variants[1_000], quantity: 1 },
    ]
    const answer = await checkout(app, shop, cart(coffee, { items, email: 'ann@example.com' }))
    assert.equal(answer.status, 201, answer.text)
    const [started] = answer.body.subscriptions
    const day = new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeZone: 'UTC' })
    const said = `The next delivery is charged on ${day.format(new Date(started.next_charge_at))}.`
    const [mail] = await app.sendAll()
    for (const part of [mail?.text ?? '', mail?.html ?? '']) {
      assert.ok(part.includes(said), `${said} in ${part}`)
      assert.equal(part.split('You have subscribed to').length, 2)
    }
    const { order } = await buy(app, shop)
    const plain = (await app.sendAll()).find(({ subject }) =>
      subject.includes(`#${order.order_number}`),
    )
    assert.ok(plain && !plain.text.includes('subscribed'))
  })

  test('shows each line with the picture of the bought variant, or of its product', async () => {
    const shop = await newShop(app)
    const { merchant } = shop
    const [main, own] = [
      await uploadDrawing(merchant, [400, 400], 10),
      await uploadDrawing(merchant, [400, 400], 200),
    ]
    const { body } = await merchant.get('/v1/merchant/catalog/products')
    const { id } = body.products.find(({ variants }: { variants: { id: string }[] }) =>
      variants.some((each) => each.id === shop.variants[1_000]),
    )
    const path = `/v1/merchant/catalog/products/${id}`
    const images = [{ asset_ref: main }, { asset_ref: own }]
    assert.equal((await merchant.put(`${path}/images`, { images })).status, 200)
    const shownBy = async () => {
      await buy(app, shop)
      const [mail] = await app.sendAll()
      return [main, own].filter((ref) => mail?.html?.includes(ref.split('/').at(-1) ?? ''))
    }
    assert.deepEqual(await shownBy(), [main])
    const named = await merchant.patch(`${path}/variants/${shop.variants[1_000]}`, {
      image_asset_ref: own,
    })
    assert.equal(named.status, 200, named.text)
    assert.deepEqual(await shownBy(), [own])
  })

  test('does not announce a parcel that was recalled before the mail was sent', async () => {
    const shop = await newShop(app)
    const { order } = await buy(app, shop)
    await app.sendAll()
    const { id } = await ship(shop, order.id)
    const reason = { reason: 'error' }
    const recalled = await shop.merchant.post(`/v1/merchant/fulfillments/${id}/cancel`, reason)
    assert.equal(recalled.status, 200, recalled.text)
    assert.deepEqual(await app.sendAll(), [])
    const [mail] = await mailsOf(shop, 'kind=order_shipped')
    assert.deepEqual([mail?.state, mail?.reason], ['skipped', 'recalled'])
  })

  test('reports an approved return, and each receipt with its refund', async () => {
    const shop = await newShop(app)
    const { order, items } = await buy(app, shop)
    await ship(shop, order.id)
    await app.sendAll()
    const url = '/v1/merchant/returns'
    const made = await shop.merchant.post(url, {
      order_id: order.id,
      lines: [{ order_item_id: items[0]?.id, quantity: 2, reason: 'a secret' }],
      instructions: 'Ring <twice>',
      label_url: 'https://labels.example/1',
    })
    assert.equal(made.status, 201, made.text)
    const [approved, ...others] = await app.sendAll()
    assert.deepEqual(others, [])
    assert.ok(approved?.text.includes('Ring <twice>'))
    assert.ok(approved?.html?.includes('Ring &lt;twice&gt;'))
    assert.ok(approved?.html?.includes('href="https://labels.example/1"'))
    const { id, lines } = made.body.return
    for (const received_quantity of [1, 1]) {
      const line = { return_line_id: lines[0].id, received_quantity, disposition: 'restock' }
      const receipt = { lines: [line], refund: { method: 'original' } }
      const answer = await shop.merchant.post(`${url}/${id}/receive`, receipt, keyed())
      assert.equal(answer.status, 200, answer.text)
    }
    const mails = await app.sendAll()
    assert.equal(mails.length, 2, 'a receipt and its refund are one mail')
    for (const { text } of mails) {
      assert.ok(text.includes('$10.00'), text)
      assert.ok(!text.includes('a secret'))
    }
  })

  test('reports a refund with its amount and its tenders', async () => {
    const shop = await newShop(app)
    const { order } = await buy(app, shop)
    await app.sendAll()
    const url = `/v1/merchant/orders/${order.id}/refunds`
    for (const amount_cents of [300, 450]) {
      const answer = await shop.merchant.post(url, { amount_cents, reason: 'a secret' }, keyed())
      assert.equal(answer.status, 201, answer.text)
    }
    const mails = await app.sendAll()
    assert.equal(mails.length, 2)
    const text = mails.map((mail) => mail.text).join()
    assert.ok(text.includes('$3.00') && text.includes('$4.50') && text.includes('Visa ending in'))
    assert.ok(!text.includes('a secret'), 'the reason is the merchant’s own')
  })

  test('reports a cancellation and its refund in one mail', async () => {
    const shop = await newShop(app)
    const { order } = await buy(app, shop)
    await app.sendAll()
    const url = `/v1/merchant/orders/${order.id}/cancel`
    const answer = await shop.merchant.post(url, { reason: 'other' }, keyed())
    assert.equal(answer.status, 200, answer.text)
    const mails = await app.sendAll()
    assert.equal(mails.length, 1)
    assert.match(mails[0]?.text ?? '', /has been cancelled, and \$20\.00 has been refunded/)
  })

  test('reports an edit, with the totals before and after', async () => {
    const shop = await newShop(app)
    const { order, items } = await buy(app, shop)
    await app.sendAll()
    const edits = [{ order_item_id: items[0]?.id, quantity: 1 }]
    const url = `/v1/merchant/orders/${order.id}/edit`
    const answer = await shop.merchant.post(url, { edits }, keyed())
    assert.equal(answer.status, 200, answer.text)
    const [mail, ...more] = await app.sendAll()
    assert.deepEqual(more, [])
    assert.match(mail?.text ?? '', /Total before: \$20\.00\nRefunded: \$10\.00/)
  })

  test('reports a payment under review, and confirms the order when it is released', async () => {
    const shop = await newShop(app)
    const ban = { kind: 'email', value: 'ann@example.com', action: 'review' }
    assert.equal((await shop.merchant.post('/v1/merchant/fraud/bans', ban)).status, 201)
    const { order } = await buy(app, shop)
    const [held, ...more] = await app.sendAll()
    assert.match(held?.subject ?? '', /We are checking order/)
    assert.deepEqual(more, [], 'it is not confirmed yet')
    const url = `/v1/merchant/orders/${order.id}/release`
    assert.equal((await shop.merchant.post(url, {}, keyed())).status, 200)
    const mails = await app.sendAll()
    assert.deepEqual(
      mails.map(({ subject }) => /confirmed/.test(subject)),
      [true],
    )
  })

  test('does not say why a merchant or a bank holds an order', async () => {
    const shop = await newShop(app)
    const [held, disputed] = [await buy(app, shop), await buy(app, shop)]
    await app.sendAll()
    const hold = `/v1/merchant/orders/${held.order.id}/hold`
    assert.equal((await shop.merchant.post(hold, { reason: 'odd' })).status, 200)
    const dispute = `/v1/stores/${shop.tenant}/orders/${disputed.order.id}/dispute`
    assert.equal((await app.operator.post(dispute, { outcome: 'opened' })).status, 200)
    assert.deepEqual(await app.sendAll(), [])
    assert.deepEqual(await kindsOf(shop), ['order_placed', 'order_placed'])
  })

  test('sends a gift card to its recipient, and stores its code in no row', async () => {
    const shop = await newShop(app)
    await enable(shop.merchant, 'gift_cards')
    const { code } = await issueGiftCard(shop.merchant, 5_000, {
      recipient_email: 'friend@example.com',
    })
    await issueGiftCard(shop.merchant, 100)
    const mails = await app.sendAll()
    assert.deepEqual(
      mails.map(({ to }) => to),
      [['friend@example.com']],
    )
    assert.ok(mails[0]?.text.includes(code) && mails[0].html?.includes(code))
    assert.match(mails[0]?.subject ?? '', /^A gift card of \$50\.00 –/)
    const [row] = await app.sql<{ mail: object }>(
      `select to_jsonb(m) as mail from shopper_mails m where kind = 'gift_card' and tenant_ref = $1`,
      [shop.tenant],
    )
    assert.ok(row && !JSON.stringify(row.mail).includes(code))
    assert.deepEqual(await kindsOf(shop), ['gift_card'], 'a card without a recipient has no mail')
  })

  test('does not mail a gift card whose code is erased already', async () => {
    const shop = await newShop(app)
    await enable(shop.merchant, 'gift_cards')
    await issueGiftCard(shop.merchant, 5_000, { recipient_email: 'late@example.com' })
    await app.sql('update gift_cards set code_sealed = null where tenant_ref = $1', [shop.tenant])
    assert.deepEqual(await app.sendAll(), [])
    const [mail] = await mailsOf(shop)
    assert.deepEqual([mail?.state, mail?.reason], ['skipped', 'no_code'])
  })

  test('keeps the mails of one store out of sight of another', async () => {
    const [one, other] = [await newShop(app), await newShop(app)]
    await buy(app, one)
    await app.sendAll()
    assert.deepEqual(await mailsOf(other), [])
    assert.equal((await mailsOf(one)).length, 1)
  })

  test('skips an order without an address, and a kind that the store has switched off', async () => {
    const shop = await newShop(app)
    const off = { mails: [{ kind: 'order_placed', enabled: false }] }
    assert.equal((await shop.merchant.put('/v1/my/store/mails', off)).status, 200)
    const { order } = await buy(app, shop)
    await ship(shop, order.id)
    const mails = await app.sendAll()
    assert.match(mails.map(({ subject }) => subject).join(), /^Order #\d+ is on its way/)
    const [placed] = await mailsOf(shop, 'kind=order_placed')
    assert.deepEqual([placed?.state, placed?.reason], ['skipped', 'opted_out'])
    const quiet = await newShop(app)
    await buy(app, quiet, { email: undefined })
    assert.deepEqual(await app.sendAll(), [])
    const [unsent] = await mailsOf(quiet)
    assert.deepEqual([unsent?.state, unsent?.reason], ['skipped', 'no_address'])
  })

  test('is written in the language of the store, with its forms of money and dates', async () => {
    for (const [language, subject, total] of [
      ['de', /^Bestellung #\d+ bestätigt/, '20,00 $'],
      ['fr-CA', /^Commande #\d+ confirmée/, '20,00 $ US'],
      ['es', /^Pedido #\d+ confirmado/, '20,00 US$'],
      ['ja', /^Order #\d+ confirmed/, '$20.00'],
    ] as const) {
      const shop = await newShop(app)
      const changed = await shop.merchant.patch('/v1/my/store', { language })
      assert.equal(changed.status, 200, changed.text)
      await buy(app, shop)
      const [mail] = await app.sendAll()
      assert.match(mail?.subject ?? '', subject)
      assert.ok(mail?.text.replaceAll(/\s/g, ' ').includes(total), `${language}: ${mail?.text}`)
    }
  })
})
