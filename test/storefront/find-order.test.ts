import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { suiteScope } from '../harness/scope.ts'
import { openShopper, type Shopper } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import * as setup from './setup.ts'

let shop: TestShop
let path: string
let number: string

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope)
  const buyer = await setup.withCart(shop, 'cedar-candle')
  path = await setup.placeOrder(buyer)
  number = /Order (\d+)/.exec((await buyer.get(path)).text)?.[1] ?? ''
})

/** Another browser: it has no cookie of the one that bought. */
const openBrowser = (): Shopper => openShopper(shop.url, 'demo.localhost')

async function mails(): Promise<{ recipient: string; subject: string; body: string }[]> {
  const admin = await shop.database.openAdmin()
  const { rows } = await admin.query(
    'select recipient, subject, body from mails order by created_at',
  )
  return rows
}

const find = (shopper: Shopper, order_number: string, email: string) =>
  shopper.follow('/orders/find', { order_number, email })

const linkIn = (body: string) =>
  /http:\/\/demo\.localhost:\d+(\/orders\/link\/[\w-]+)/.exec(body)?.[1]

describe('an order is found again', () => {
  test('an order is found again by its number and e-mail address, with a mailed link that any browser can open', async () => {
    const browser = openBrowser()
    const unknown = await browser.get(path)
    assert.equal(unknown.status, 404)
    assert.match(unknown.text, /<a class="button" href="\/orders">Find an order</)
    const asked = await find(browser, number, 'ADA@example.com')
    assert.match(asked.text, /If there is such an order, the link is on its way/)
    const [mail] = await mails()
    assert.deepEqual([mail?.recipient, mail?.subject.includes(number)], ['ada@example.com', true])
    const link = linkIn(mail?.body ?? '') ?? ''
    const opened = await browser.get(link)
    assert.deepEqual([opened.status, opened.headers.location], [303, path])
    const page = await browser.get(path)
    assert.equal(page.status, 200)
    assert.match(page.text, new RegExp(`Order ${number}`))
    assert.match((await browser.get('/orders')).text, new RegExp(`Order ${number}`))
    const key = page.field('action_key')
    const cancelled = await browser.follow(`${path}/cancel`, { action_key: key })
    assert.match(cancelled.text, /Cancelled/)
    assert.equal((await openBrowser().get(path)).status, 404, 'only where the link was opened')
  })

  test('an order is not found by another address, an unknown number or a changed link', async () => {
    const browser = openBrowser()
    const before = (await mails()).length
    const right = await find(browser, number, 'ada@example.com')
    const wrong = await find(browser, number, 'eve@example.com')
    const unknown = await find(browser, '999999', 'ada@example.com')
    assert.deepEqual([wrong.text, unknown.text], [right.text, right.text], 'the pages are equal')
    const sent = await mails()
    assert.equal(sent.length, before + 1)
    const link = linkIn(sent.at(-1)?.body ?? '') ?? ''
    for (const bad of [`${link}A`, link.slice(0, -1), '/orders/link/x'])
      assert.equal((await browser.get(bad)).status, 404, bad)
  })

  test('a form that cannot find an order says what to correct', async () => {
    const browser = openBrowser()
    assert.match((await find(browser, 'mine', 'ada@example.com')).text, /check the order number/)
    const typed = await find(browser, number, 'no address')
    assert.match(typed.text, /enter a valid email address/)
    assert.match(typed.text, new RegExp(`value="${number}"`))
  })
})
