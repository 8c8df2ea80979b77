import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { enable } from '../checkout/setup.ts'
import { buy, keyed, type MailApp, mailsOf, newShop, shareMailApp } from './setup.ts'

/** What a supporter does with the mails and the notes of an order. */

let app: MailApp

const ELSEWHERE = {
  label: 'Home',
  line1: '9 Other Street',
  city: 'Portland',
  state: 'ME',
  postal_code: '04101',
  country: 'US',
}

const refusal = ({ status, body }: { status: number; body: { error: { code: string } } }) => [
  status,
  body.error.code,
]

/** A store with one order and its first mail, which is sent. */
async function open(more: object = {}) {
  const shop = await newShop(app)
  const bought = await buy(app, shop, more)
  const [sent] = await app.sendAll()
  const [mail] = await mailsOf(shop)
  assert.ok(sent !== undefined && mail !== undefined)
  const { merchant } = shop
  return {
    shop,
    merchant,
    order: bought.order,
    sent,
    mail,
    read: (id = mail.id) => merchant.get(`/v1/merchant/mails/${id}`),
    resend: (body?: object, id = mail.id) => merchant.post(`/v1/merchant/mails/${id}/resend`, body),
  }
}

describe('a mail of an order', () => {
  const shared = shareMailApp()
  before(() => {
    app = shared.current
  })

  test('is sent again to another address, once, and the audit log does not name the address', async () => {
    const { merchant, mail, resend, sent } = await open()
    const answer = await resend({ to: 'partner@example.org' })
    assert.equal(answer.status, 202, answer.text)
    const [copy] = await app.sendAll()
    assert.deepEqual([copy?.to, copy?.subject], [['partner@example.org'], sent.subject])
    const audit = await merchant.get('/v1/my/audit?action=mail.resent')
    assert.equal(audit.body.entries[0].after.to_another_address, true)
    assert.ok(!audit.text.includes('partner@'))
    assert.equal((await resend()).status, 202)
    const [back] = await app.sendAll()
    assert.deepEqual(back?.to, ['ann@example.com'], 'the next one goes to the address of the order')
    const rows = await app.sql(`select resend_to from shopper_mails where id = $1`, [mail.id])
    assert.deepEqual(rows, [{ resend_to: null }])
  })

  test('is never sent to an invalid address, nor to one address too often', async () => {
    const { resend, shop } = await open()
    for (const name of ['email', 'too', 'TO']) {
      const misspelt = await resend({ [name]: 'partner@example.org' })
      assert.deepEqual(refusal(misspelt), [400, 'invalid_body'], 'the shopper must not get it')
    }
    for (const to of ['nobody', '', 'a@b\r\nBcc: c@example.org', 7]) {
      assert.deepEqual(refusal(await resend({ to })), [400, 'invalid_body'], String(to))
    }
    const to = `${randomUUID()}@example.org`
    for (let n = 0; n < 3; n++) {
      assert.equal((await resend({ to })).status, 202)
      await app.sendAll()
    }
    assert.deepEqual(refusal(await resend({ to: to.toUpperCase() })), [429, 'rate_limited'])
    const sameMailbox = to.replace('@', '+other@')
    assert.deepEqual(refusal(await resend({ to: sameMailbox })), [429, 'rate_limited'])
    const reader = await app.merchant(shop.tenant, 'read:own_orders')
    const [mail] = await mailsOf(shop)
    const url = `/v1/merchant/mails/${mail?.id}/resend`
    assert.deepEqual(refusal(await reader.post(url, { to: 'x@example.org' })), [403, 'forbidden'])
  })

  test('goes to at most a hundred addresses a day that are not those of orders', async () => {
    const { resend, shop } = await open()
    const { limits } = app.runtime
    for (let n = 0; n < 100; n++) await limits.velocity(`mail-others:${shop.tenant}`, 100, 86_400)
    const refused = await resend({ to: 'stranger@example.org' })
    assert.deepEqual(refusal(refused), [429, 'rate_limited'])
    assert.equal(refused.headers['retry-after'], '86400')
    assert.equal((await resend()).status, 202, 'the address of the order still gets its mail')
  })

  test('a mail of an order with the code of a gift card goes to its recipient alone', async () => {
    const { shop, resend } = await open()
    await enable(shop.merchant, 'gift_cards')
    const card = { initial_balance_cents: 1_000, recipient_email: 'bob@example.org' }
    const issued = await shop.merchant.post('/v1/merchant/gift-cards', card, keyed())
    assert.equal(issued.status, 201, issued.text)
    const [sent] = await app.sendAll()
    assert.ok(sent?.text.includes(issued.body.code))
    const [mail] = await mailsOf(shop, 'kind=gift_card')
    assert.ok(mail)
    const refused = await resend({ to: 'thief@example.org' }, mail.id)
    assert.deepEqual(refusal(refused), [400, 'invalid_body'])
    const shown = await shop.merchant.get(`/v1/merchant/mails/${mail.id}`)
    assert.equal(shown.status, 200, shown.text)
    assert.ok(!shown.text.includes(issued.body.code))
    assert.match(shown.body.content.text, new RegExp(issued.body.code.slice(-4)))
  })

  test('is shown as its shopper saw it, without links that could act for the shopper', async () => {
    const { read, sent, shop, mail } = await open()
    const answer = await read()
    assert.equal(answer.status, 200, answer.text)
    const { content } = answer.body
    assert.equal(answer.body.mail.id, mail.id)
    assert.deepEqual([content.subject, content.kind], [sent.subject, 'order_placed'])
    assert.equal(answer.body.as_sent, true)
    const link = /\/orders\/link\/[\w.~-]+/
    assert.match(sent.text, link)
    for (const text of [content.text, content.html]) assert.doesNotMatch(text, link)
    const plain = (text: string) => text.replaceAll(/\/orders(\/link\/[\w.~-]+)?/g, '').trim()
    assert.equal(plain(content.text), plain(sent.text.replaceAll('\r\n', '\n')))
    const other = await newShop(app)
    const foreign = await other.merchant.get(`/v1/merchant/mails/${mail.id}`)
    assert.deepEqual(refusal(foreign), [404, 'mail_not_found'])
    const unknown = await shop.merchant.get(`/v1/merchant/mails/${randomUUID()}`)
    assert.equal(foreign.text, unknown.text)
    assert.deepEqual(refusal(await read('x')), [404, 'mail_not_found'])
  })

  test('stays as it was sent, however the order and the store change, until it is sent again', async () => {
    const { read, resend, merchant, order, shop } = await open({ name: 'Ann Example' })
    const before = (await read()).body.content
    const corrected = await merchant.send(
      'PATCH',
      `/v1/merchant/orders/${order.id}`,
      { ship_to: { ...ELSEWHERE }, name: 'Other' },
      keyed(),
    )
    assert.equal(corrected.status, 200, corrected.text)
    await merchant.patch('/v1/my/store', { display_name: 'Renamed' })
    assert.deepEqual((await read()).body.content, before)
    const off = { mails: [{ kind: 'order_edited', enabled: false }] }
    assert.equal((await merchant.put('/v1/my/store/mails', off)).status, 200)
    assert.equal((await resend()).status, 202)
    assert.deepEqual((await read()).body.content, before, 'until then it is what was read')
    await app.sendAll()
    const [edited] = await mailsOf(shop, 'kind=order_edited')
    const unsent = (await read(edited?.id)).body
    assert.deepEqual([unsent.mail.kind, unsent.as_sent], ['order_edited', false])
    assert.match(unsent.content.text, /9 Other Street/)
    const after = (await read()).body
    assert.equal(after.as_sent, true)
    assert.match(after.content.text, /9 Other Street/)
    const rows = await app.sql(`select sent_as::text as text from shopper_mails where id = $1`, [
      after.mail.id,
    ])
    assert.doesNotMatch(String(rows[0]?.text), /\/orders\/link\//, 'no row has a link that acts')
  })

  test('keeps the language in which it was sent', async () => {
    const { read, merchant, sent } = await open()
    await merchant.patch('/v1/my/store', { language: 'de' })
    assert.deepEqual(
      [(await read()).body.content.language, (await read()).body.content.subject],
      ['en', sent.subject],
    )
  })

  test('a mail of an order of an erased customer is not shown any more, and goes nowhere', async () => {
    const { merchant, read, resend } = await open({ customer_ref: 'leaving' })
    assert.equal((await resend({ to: 'left@example.org' })).status, 202)
    const asked = await merchant.post('/v1/my/privacy/erase', { customer_ref: 'leaving' })
    const body = { customer_ref: 'leaving', confirm: asked.body.confirm }
    const erased = await merchant.post('/v1/my/privacy/erase', body, keyed())
    assert.equal(erased.status, 200, erased.text)
    const gone = (await read()).body
    assert.deepEqual([gone.content, gone.as_sent], [null, false])
    assert.deepEqual(await app.sendAll(), [])
    const rows = await app.sql(
      `select 1 from shopper_mails where id = $1 and (resend_to is not null or sent_as is not null)`,
      [gone.mail.id],
    )
    assert.deepEqual(rows, [])
  })

  test('a mail and a note appear at the order, and a deleted note leaves no trace of its text', async () => {
    const { merchant, order, shop } = await open()
    const url = `/v1/merchant/orders/${order.id}`
    const made = await merchant.post(`${url}/notes`, { note: 'Called, wants it on Monday' })
    const { id } = made.body.note
    const read = async () => (await merchant.get(url)).body
    assert.deepEqual(
      (await read()).notes.map((each: { id: string }) => each.id),
      [id],
    )
    const other = await newShop(app)
    const foreign = await other.merchant.send('DELETE', `${url}/notes/${id}`)
    assert.deepEqual(refusal(foreign), [404, 'order_not_found'])
    const reader = await app.merchant(shop.tenant, 'read:own_orders')
    const lesser = await reader.send('DELETE', `${url}/notes/${id}`)
    assert.deepEqual(refusal(lesser), [403, 'forbidden'])
    const gone = await merchant.send('DELETE', `${url}/notes/${id}`)
    assert.deepEqual([gone.status, gone.body], [200, { id, deleted: true }])
    for (const note of [id, randomUUID(), 'x']) {
      const again = await merchant.send('DELETE', `${url}/notes/${note}`)
      assert.deepEqual(refusal(again), [404, 'note_not_found'])
    }
    const after = await read()
    assert.deepEqual(after.notes, [])
    const types = after.timeline.map(({ type }: { type: string }) => type)
    assert.deepEqual(types.slice(-2), ['noted', 'note_deleted'])
    assert.ok(!JSON.stringify(after).includes('Monday'))
  })
})
