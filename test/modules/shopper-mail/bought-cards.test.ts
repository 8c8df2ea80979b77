import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { DAY_MS } from '../../../src/kernel/time.ts'
import { eraseOldCodes } from '../../../src/modules/gift-cards/jobs.ts'
import { makeDueExports } from '../../../src/modules/privacy/jobs.ts'
import { enable, type Shop } from '../checkout/setup.ts'
import { codeOf, sellGiftCard } from '../gift-cards/setup.ts'
import { buy, keyed, type MailApp, newShop, shareMailApp } from './setup.ts'

const ROBIN = 'robin@example.com'

/** A day some days from now, in UTC, which is the zone of the stores. */
const dayIn = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10)

describe('the mail of a bought gift card', () => {
  let app: MailApp
  const shared = shareMailApp()
  before(() => {
    app = shared.current
  })

  /** Buys a card for Robin, and answers its id. */
  async function buyCard(shop: Shop, gift_card: object | null, more: object = {}) {
    const variant_id = await sellGiftCard(shop)
    const items = [{ variant_id, quantity: 1, ...(gift_card && { gift_card }) }]
    const { order } = await buy(app, shop, { items, ...more })
    const { body } = await shop.merchant.get(`/v1/merchant/orders/${order.id}`)
    const id = body.gift_cards[0].cards[0].gift_card_id as string
    return { order_id: order.id, id, code: await codeOf(app, shop.tenant, id) }
  }

  const cardOf = async ({ merchant }: Shop, id: string) =>
    (await merchant.get(`/v1/merchant/gift-cards/${id}`)).body.gift_card

  const mailsOf = async ({ merchant }: Shop, order_id: string) =>
    (await merchant.get(`/v1/merchant/mails?kind=gift_card&order_id=${order_id}`)).body.mails

  /** As if the day had come. */
  const comesDue = ({ tenant }: Shop) =>
    app.sql(
      `update shopper_mails set next_attempt_at = now() where tenant_ref = $1 and kind = 'gift_card'`,
      [tenant],
    )

  test("goes to the recipient at once, with the buyer's message, escaped", async () => {
    const shop = await newShop(app)
    const { id, code } = await buyCard(shop, {
      recipient_email: ROBIN,
      recipient_name: 'Robin <b>Hood</b>',
      message: 'Enjoy <script>alert(1)</script>\nYours, Ann',
    })
    const mails = await app.sendAll()
    const mail = mails.find(({ to }) => to[0] === ROBIN)
    assert.ok(mail, 'the recipient has a mail')
    assert.ok(mail.text.includes(code) && mail.html?.includes(code))
    assert.match(mail.text, /Enjoy <script>alert\(1\)<\/script>\nYours, Ann/)
    assert.doesNotMatch(mail.html ?? '', /<script|<b>Hood/)
    assert.ok(mails.filter(({ to }) => to[0] !== ROBIN).every(({ text }) => !text.includes(code)))
    assert.notEqual((await cardOf(shop, id)).sent_at, null)
  })

  test('is announced by a confirmation that mentions no parcel and no shipping', async () => {
    const shop = await newShop(app)
    await buyCard(shop, { recipient_email: ROBIN })
    const confirmation = (await app.sendAll()).find(({ to }) => to[0] !== ROBIN)
    assert.match(confirmation?.text ?? '', /Your gift card comes by e-mail: right away/)
    assert.doesNotMatch(confirmation?.text ?? '', /on its way|Shipping/)
    await buy(app, shop)
    const [other] = await app.sendAll()
    assert.match(other?.text ?? '', /You will hear from us when it is on its way/)
    assert.match(other?.text ?? '', /Shipping: Free/)
  })

  test('waits for its day, with its code encrypted and stored in no other row', async () => {
    const shop = await newShop(app)
    const send_on = dayIn(40)
    const { id, code, order_id } = await buyCard(shop, { recipient_email: ROBIN, send_on })
    assert.ok((await app.sendAll()).every(({ to }) => to[0] !== ROBIN))
    const { send_at, sent_at } = await cardOf(shop, id)
    assert.deepEqual([send_at, sent_at], [`${send_on}T09:00:00.000Z`, null])
    const [mail] = await mailsOf(shop, order_id)
    assert.deepEqual([mail.state, mail.next_attempt_at], ['queued', send_at])

    // Codes of cards that were shown a day ago are erased; this one still has to be mailed.
    await app.sql(
      `update gift_cards set created_at = created_at - interval '39 days' where tenant_ref = $1`,
      [shop.tenant],
    )
    await eraseOldCodes(app.runtime.workerDatabase)
    await comesDue(shop)
    const sent = await app.sendAll()
    assert.deepEqual(
      sent.map(({ to }) => to[0]),
      [ROBIN],
    )
    assert.ok(sent[0]?.text.includes(code))
    const rows = await app.sql(
      `select to_jsonb(g) as card from gift_cards g where tenant_ref = $1
       union all select to_jsonb(p) from gift_card_purchases p where tenant_ref = $1
       union all select to_jsonb(m) from shopper_mails m where tenant_ref = $1`,
      [shop.tenant],
    )
    assert.ok(!JSON.stringify(rows).includes(code))
  })

  test('is kept for 30 days after it was sent, and then erased', async () => {
    const shop = await newShop(app)
    const { id } = await buyCard(shop, { recipient_email: ROBIN })
    const isKept = async () =>
      (
        await app.sql('select code_sealed is not null as kept from gift_cards where id = $1', [id])
      )[0]
    await eraseOldCodes(app.runtime.workerDatabase)
    assert.deepEqual(await isKept(), { kept: true })
    await app.sql(
      `update gift_cards set code_until = code_until - interval '30 days' where id = $1`,
      [id],
    )
    await eraseOldCodes(app.runtime.workerDatabase)
    assert.deepEqual(await isKept(), { kept: false })
  })

  test('can be sent again, and its recipient corrected only before it is sent', async () => {
    const shop = await newShop(app)
    const { id, code, order_id } = await buyCard(shop, {
      recipient_email: 'robbin@example.com',
      send_on: dayIn(3),
    })
    await app.queue()
    const path = `/v1/merchant/gift-cards/${id}`
    const changed = await shop.merchant.patch(path, { recipient_email: ROBIN })
    assert.equal(changed.body.gift_card?.recipient_email, ROBIN, changed.text)
    await comesDue(shop)
    const mails = (await app.sendAll()).filter(({ text }) => text.includes(code))
    assert.deepEqual(
      mails.map(({ to }) => to[0]),
      [ROBIN],
    )
    const late = await shop.merchant.patch(path, { recipient_email: 'other@example.com' })
    assert.deepEqual([late.status, late.body.error.code], [409, 'invalid_transition'])
    const [mail] = await mailsOf(shop, order_id)
    const resent = await shop.merchant.post(`/v1/merchant/mails/${mail.id}/resend`)
    assert.equal(resent.status, 202, resent.text)
    const again = await app.sendAll()
    assert.deepEqual(
      again.map(({ to }) => to[0]),
      [ROBIN],
    )
    assert.ok(again[0]?.text.includes(code))
  })

  test('is not sent once the card was refunded before its day', async () => {
    const shop = await newShop(app)
    const { order_id } = await buyCard(shop, { recipient_email: ROBIN, send_on: dayIn(9) })
    await app.sendAll()
    const refunds = `/v1/merchant/orders/${order_id}/refunds`
    assert.equal((await shop.merchant.post(refunds, {}, keyed())).status, 201)
    await comesDue(shop)
    assert.ok((await app.sendAll()).every(({ to }) => to[0] !== ROBIN))
    const [mail] = await mailsOf(shop, order_id)
    assert.deepEqual([mail.state, mail.reason], ['skipped', 'recalled'])
  })

  const erase = async ({ merchant }: Shop, customer_ref: string) => {
    const url = '/v1/my/privacy/erase'
    const { body } = await merchant.post(url, { customer_ref })
    const answer = await merchant.post(url, { customer_ref, confirm: body.confirm }, keyed())
    assert.equal(answer.status, 200, answer.text)
  }

  const GIFT = {
    recipient_email: ROBIN,
    recipient_name: 'Robin',
    message: 'From Ann Quillfeather',
    send_on: dayIn(5),
  }

  test("still goes to its recipient after the buyer was erased, without the buyer's message", async () => {
    const shop = await newShop(app)
    const { code } = await buyCard(shop, GIFT)
    await app.sendAll()
    await erase(shop, 'ann')
    await comesDue(shop)
    const [mail] = await app.sendAll()
    assert.deepEqual(mail?.to, [ROBIN])
    assert.ok(mail?.text.includes(code))
    assert.doesNotMatch(mail?.text ?? '', /Quillfeather/)
  })

  test('is not sent to an erased recipient, and no row names them', async () => {
    const shop = await newShop(app)
    await buyCard(shop, GIFT)
    await buy(app, shop, { customer_ref: 'robin', email: 'Robin@Example.com' })
    await app.sendAll()
    await erase(shop, 'robin')
    await comesDue(shop)
    assert.deepEqual(await app.sendAll(), [])
    const rows = await app.sql(
      `select to_jsonb(g) as row from gift_cards g where tenant_ref = $1
       union all select to_jsonb(p) from gift_card_purchases p where tenant_ref = $1
       union all select to_jsonb(m) from shopper_mails m where tenant_ref = $1`,
      [shop.tenant],
    )
    assert.doesNotMatch(JSON.stringify(rows), /robin|quillfeather/i)
  })

  test('is in the export of its buyer, and not of another customer', async () => {
    const shop = await newShop(app)
    await enable(shop.merchant, 'gift_cards')
    await buyCard(shop, GIFT)
    await buy(app, shop, { customer_ref: 'bob', email: 'bob@example.com' })
    const keys = {
      exportKey: app.runtime.key('privacy export'),
      customersKey: app.runtime.key('customers'),
    }
    const exportOf = async (customer_ref: string) => {
      const asked = await shop.merchant.post('/v1/my/privacy/export', { customer_ref })
      await makeDueExports(app.runtime.workerDatabase, keys)
      const { body } = await shop.merchant.get(`/v1/my/privacy/exports/${asked.body.job.id}`)
      return body.data
    }
    const [bought] = (await exportOf('ann')).orders[0].gift_cards
    assert.deepEqual([bought.recipient_email, bought.message], [ROBIN, GIFT.message])
    assert.doesNotMatch(JSON.stringify(await exportOf('bob')), /robin|Quillfeather/i)
  })
})
