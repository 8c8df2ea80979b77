import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { MAIL_KINDS, MAIL_LANGUAGES } from '../../../src/modules/shopper-mail/schema.ts'
import type { Shop } from '../checkout/setup.ts'
import { buy, type MailApp, mailsOf, newShop, shareMailApp, ship } from './setup.ts'

let app: MailApp

const SETTINGS = '/v1/my/store/mails'
const PREVIEW = '/v1/merchant/mails/preview'

const resend = ({ merchant }: Shop, id: string) => merchant.post(`/v1/merchant/mails/${id}/resend`)

describe('the routes of mail to shoppers', () => {
  const shared = shareMailApp()
  before(() => {
    app = shared.current
  })

  test('show every kind with whether it is sent, and switch single kinds off and on again', async () => {
    const { merchant, tenant } = await newShop(app)
    const all = MAIL_KINDS.map((kind) => ({ kind, enabled: true }))
    assert.deepEqual((await merchant.get(SETTINGS)).body, { mails: all })
    const off = { mails: [{ kind: 'order_delivered', enabled: false }] }
    const changed = await merchant.put(SETTINGS, off)
    assert.equal(changed.status, 200, changed.text)
    await merchant.put(SETTINGS, { mails: [{ kind: 'gift_card', enabled: false }] })
    const { body } = await merchant.get(SETTINGS)
    const isOff = ({ enabled }: { enabled: boolean }) => !enabled
    assert.deepEqual(
      body.mails.filter(isOff).map(({ kind }: { kind: string }) => kind),
      ['order_delivered', 'gift_card'],
      'the others stay as they are',
    )
    await merchant.put(SETTINGS, { mails: [{ kind: 'order_delivered', enabled: true }] })
    assert.equal((await merchant.get(SETTINGS)).body.mails.filter(isOff).length, 1)
    const other = await newShop(app)
    assert.deepEqual((await other.merchant.get(SETTINGS)).body, { mails: all })
    const { entries } = (await merchant.get('/v1/my/audit?action=store.mails_changed')).body
    assert.equal(entries.length, 3)
    assert.deepEqual(entries[0].before, { off_kinds: ['order_delivered', 'gift_card'] })
    assert.equal(entries[0].entity, `store:${tenant}`)
  })

  test('refuse settings of an unknown kind, of no kind, and other members', async () => {
    const { merchant } = await newShop(app)
    for (const body of [
      {},
      { mails: [] },
      { mails: [{ kind: 'newsletter', enabled: true }] },
      { mails: [{ kind: 'order_placed' }] },
      { mails: [{ kind: 'order_placed', enabled: 'no' }] },
    ]) {
      const answer = await merchant.put(SETTINGS, body)
      assert.deepEqual([answer.status, answer.body.error.code], [400, 'invalid_body'])
    }
  })

  test('keep both of two concurrent changes about different kinds', async () => {
    const { merchant } = await newShop(app)
    const kinds = MAIL_KINDS.slice(0, 6)
    await Promise.all(
      kinds.map((kind) => merchant.put(SETTINGS, { mails: [{ kind, enabled: false }] })),
    )
    const { mails } = (await merchant.get(SETTINGS)).body
    assert.deepEqual(
      mails.slice(0, 6).map(({ enabled }: { enabled: boolean }) => enabled),
      Array(6).fill(false),
    )
  })

  test('preview every kind in every language with sample data, as HTML and as text', async () => {
    const { merchant, tenant } = await newShop(app)
    for (const kind of MAIL_KINDS) {
      for (const language of MAIL_LANGUAGES) {
        const { status, body, text } = await merchant.get(
          `${PREVIEW}?kind=${kind}&language=${language}`,
        )
        assert.equal(status, 200, text)
        assert.deepEqual([body.kind, body.language], [kind, language])
        assert.ok(body.subject.includes(`The ${tenant} store`), body.subject)
        assert.match(body.html, new RegExp(`^<!doctype html>\\n<html lang="${language}">`))
        assert.ok(!/undefined|null|NaN|\[object/.test(body.html + body.text), body.text)
      }
    }
  })

  test('preview an order of the store, without a link or a code that works', async () => {
    const shop = await newShop(app)
    const { order } = await buy(app, shop)
    await ship(shop, order.id, {}, { carrier: 'DPD', tracking_number: '05222580123456' })
    const { body } = await shop.merchant.get(`${PREVIEW}?kind=order_shipped&order_id=${order.id}`)
    assert.ok(body.text.includes('05222580123456') && body.text.includes(`#${order.order_number}`))
    assert.ok(!body.text.includes('/orders/link/') && !body.html.includes('/orders/link/'))
    const card = (await shop.merchant.get(`${PREVIEW}?kind=gift_card`)).body
    assert.match(card.text, /••••-••••-••••-/)
  })

  test('preview a confirmation if no kind is named, and never an order of another store', async () => {
    const [shop, other] = [await newShop(app), await newShop(app)]
    const { order } = await buy(app, other)
    const unnamed = await shop.merchant.get(PREVIEW)
    assert.deepEqual([unnamed.body.kind, unnamed.body.language], ['order_placed', 'en'])
    for (const query of ['kind=newsletter', 'language=xx']) {
      const answer = await shop.merchant.get(`${PREVIEW}?${query}`)
      assert.deepEqual([answer.status, answer.body.error.code], [400, 'validation_error'], query)
    }
    for (const id of [order.id, randomUUID(), 'nonsense']) {
      const answer = await shop.merchant.get(`${PREVIEW}?kind=order_placed&order_id=${id}`)
      assert.deepEqual([answer.status, answer.body.error.code], [404, 'order_not_found'])
    }
  })

  test('list the mails of one order, of one kind and of one state', async () => {
    const shop = await newShop(app)
    const [one, two] = [await buy(app, shop), await buy(app, shop)]
    await ship(shop, one.order.id)
    await app.sendAll()
    await buy(app, shop)
    await app.queue()
    const kinds = async (query: string) =>
      (await mailsOf(shop, query)).map(({ kind }) => kind).sort()
    assert.deepEqual(await kindsIn(one.order.id), ['order_placed', 'order_shipped'])
    assert.deepEqual(await kindsIn(two.order.id), ['order_placed'])
    assert.deepEqual(await kinds('kind=order_shipped'), ['order_shipped'])
    assert.deepEqual(await kinds('state=queued'), ['order_placed'])
    assert.deepEqual(await kinds('order_id=nonsense'), [])
    async function kindsIn(id: string) {
      return kinds(`order_id=${id}`)
    }
    await app.sendAll()
  })

  test('send a mail again, rendered anew and under another message-id, and say who did it', async () => {
    const shop = await newShop(app)
    await buy(app, shop)
    const [first] = await app.sendAll()
    const [{ id } = { id: '' }] = await mailsOf(shop)
    const answer = await resend(shop, id)
    assert.equal(answer.status, 202, answer.text)
    assert.deepEqual([answer.body.mail.state, answer.body.mail.resend_count], ['queued', 1])
    const [second] = await app.sendAll()
    assert.equal(second?.subject, first?.subject)
    assert.notEqual(second?.header('message-id'), first?.header('message-id'))
    const { entries } = (await shop.merchant.get('/v1/my/audit?action=mail.resent')).body
    assert.equal(entries[0]?.entity, `mail:${id}`)
  })

  test("send a mail again at the merchant's request although its kind is off", async () => {
    const shop = await newShop(app)
    await shop.merchant.put(SETTINGS, { mails: [{ kind: 'order_placed', enabled: false }] })
    await buy(app, shop)
    await app.sendAll()
    const [mail] = await mailsOf(shop)
    assert.equal(mail?.reason, 'opted_out')
    assert.equal((await resend(shop, mail?.id ?? '')).status, 202)
    assert.equal((await app.sendAll()).length, 1)
  })

  test('refuse to send again a waiting mail, one without an address, and any mail a sixth time', async () => {
    const shop = await newShop(app)
    await buy(app, shop)
    await app.queue()
    const [{ id } = { id: '' }] = await mailsOf(shop)
    const waits = await resend(shop, id)
    assert.deepEqual([waits.status, waits.body.error.code], [409, 'invalid_transition'])
    await app.sendAll()
    for (const _ of [1, 2, 3, 4, 5]) {
      assert.equal((await resend(shop, id)).status, 202)
      await app.sendAll()
    }
    const sixth = await resend(shop, id)
    assert.deepEqual([sixth.status, sixth.body.error.code], [409, 'limit_reached'])
    const quiet = await newShop(app)
    await buy(app, quiet, { email: undefined })
    await app.sendAll()
    const [unsent] = await mailsOf(quiet)
    const answer = await resend(quiet, unsent?.id ?? '')
    assert.deepEqual([answer.status, answer.body.error.code], [409, 'invalid_transition'])
  })

  test('do not find a mail of another store, or an unknown one', async () => {
    const [shop, other] = [await newShop(app), await newShop(app)]
    await buy(app, shop)
    await app.sendAll()
    const [{ id } = { id: '' }] = await mailsOf(shop)
    for (const wrong of [id, randomUUID(), 'nonsense']) {
      const answer = await resend(other, wrong)
      assert.deepEqual([answer.status, answer.body.error.code], [404, 'mail_not_found'])
    }
  })

  test('limit how often a store sends again in a minute', async () => {
    const shop = await newShop(app)
    const answers = await Promise.all(Array.from({ length: 40 }, () => resend(shop, randomUUID())))
    const limited = answers.filter(({ status }) => status === 429)
    assert.equal(limited.length, 10)
  })

  test('show the operator the mails of all stores, by store, kind and state', async () => {
    const [one, two] = [await newShop(app), await newShop(app)]
    await buy(app, one)
    await buy(app, two)
    await app.sendAll()
    const list = async (query: string) =>
      (await app.operator.get(`/v1/mails?limit=100&${query}`)).body.mails as {
        tenant_ref: string
        recipient: string
      }[]
    const seen = (await list('kind=order_placed&state=sent')).map(({ tenant_ref }) => tenant_ref)
    assert.ok(seen.includes(one.tenant) && seen.includes(two.tenant))
    const [mail, ...more] = await list(`tenant_ref=${one.tenant}`)
    assert.deepEqual([mail?.recipient, more], ['a***@example.com', []])
    assert.deepEqual(await list(`tenant_ref=${one.tenant}&state=dead`), [])
  })
})
