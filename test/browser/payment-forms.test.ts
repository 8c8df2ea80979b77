import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { DAY_MS } from '../../src/kernel/time.ts'
import { openCheckout } from '../../src/modules/checkout/open.ts'
import { runDue } from '../../src/modules/renewals/jobs.ts'
import { openShopperMail } from '../../src/modules/shopper-mail/open.ts'
import { listNewest, queueMails, showMail } from '../../src/modules/shopper-mail/service.ts'
import { numberNewEvents } from '../../src/modules/webhooks/jobs.ts'
import { openBrowser, openTab, type Tab } from '../harness/browser.ts'
import { showsCard } from '../harness/card-digits.ts'
import { startCollect, type TestCollect } from '../harness/collect.ts'
import { startNmi, type TestNmi } from '../harness/nmi.ts'
import { suiteScope } from '../harness/scope.ts'
import { moveTo } from '../harness/store-time.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import { cardOf, cart, checkout } from '../modules/checkout/setup.ts'

/** The forms that ask for a card outside of the checkout, opened by the links of mails. */

const SECURITY_KEY = 'a-security-key-of-32-characters!'
const PUBLIC_KEY = 'abcdef-123456-public'

let shop: TestShop
let browser: Browser
let nmi: TestNmi
let collect: TestCollect

const scope = suiteScope()

before(async () => {
  nmi = await startNmi(SECURITY_KEY)
  collect = await startCollect()
  scope.after(() => Promise.all([nmi.close(), collect.close()]))
  const env = { NMI_URL: nmi.url, NMI_COLLECT_URL: collect.url }
  shop = await openTestShop(scope, ['demo', 'objects', 'ember'], { env })
  browser = await openBrowser(scope)
})

const SCREENS: Readonly<Record<string, BrowserContextOptions>> = {
  desktop: { viewport: { width: 1280, height: 900 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
}
const APPROVED = '4111 1111 1111 1111'
const DECLINED = '4000 0000 0000 0002'
/** Approved when it is typed; once it is stored, its bank says that it was stolen. */
const STOLEN_LATER = cardOf('4000000000000911')

const SHIP_TO = {
  label: 'Home',
  name: 'Ada Lovelace',
  line1: '12 Harbour Street',
  city: 'Cheyenne',
  state: 'WY',
  postal_code: '82001',
  country: 'US',
}

/** Takes a picture, where a folder for them is named: for a person to look at. */
async function shoot(page: Page, name: string) {
  const folder = process.env.PICTURES
  if (folder) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true })
}

/** Checks that a page is accessible and fits its screen. */
async function check({ page, checkAccessibility }: Tab) {
  await checkAccessibility()
  const wide = Number(await page.evaluate('document.documentElement.scrollWidth'))
  assert.ok(wide <= (page.viewportSize()?.width ?? 0), `${page.url()} is ${wide} wide`)
}

const variantOf = async (tenant: string, slug: string): Promise<string> =>
  (await shop.anyone.get(`/v1/tenants/${tenant}/catalog/products/${slug}`)).body.product.variants[0]
    .id

async function buy(tenant: string, slug: string, more: object = {}) {
  const body = { email: 'ada@example.com', shipping_address: SHIP_TO, ...more }
  const bought = await checkout(shop, { tenant }, cart(await variantOf(tenant, slug), body))
  assert.equal(bought.status, 201, bought.text)
  return bought.body
}

/** The path of the link in the newest mail of a kind. */
async function linkInMail(tenant: string, kind: string): Promise<string> {
  const { workerDatabase, operatorDatabase, database } = shop.runtime
  while ((await numberNewEvents(workerDatabase, { onNumbered: queueMails })) > 0);
  const mails = await listNewest(operatorDatabase.allStores, 20)
  const mail = mails.find((each) => each.kind === kind && each.tenant_ref === tenant)
  assert.ok(mail, `no mail ${kind}`)
  const shown = await showMail(openShopperMail(shop.runtime), database.tenant(tenant), mail)
  const [, path] = /https?:\/\/[^/\s]+(\/\w+\/link\/[\w.-]+)/.exec(shown?.text ?? '') ?? []
  assert.ok(path, shown?.text)
  return path
}

describe('the page to put in another card', () => {
  const renew = () => runDue(openCheckout(shop.runtime), shop.runtime.workerDatabase.tenant('demo'))
  let days = 0

  /** A subscription whose first renewal was declined today, by the clock of its store. */
  async function declinedSubscription(): Promise<string> {
    const { subscriptions } = await buy('demo', 'house-coffee', {
      customer_ref: randomUUID(),
      card: STOLEN_LATER,
      subscribe: true,
    })
    days += 40
    moveTo(shop.runtime, 'demo', new Date(Date.now() + days * DAY_MS).toISOString())
    await renew()
    return subscriptions[0].id
  }

  for (const [name, options] of Object.entries(SCREENS)) {
    test(`opens from the mail about a declined card and pays with another card, on a ${name}`, async (t) => {
      const id = await declinedSubscription()
      const link = await linkInMail('demo', 'subscription_payment_failed')
      const tab = await openTab(t, browser, shop.at('demo'), options)
      const { page } = tab
      await page.goto(link)
      assert.equal(new URL(page.url()).pathname, `/subscriptions/${id}`, 'without the token')
      await page.getByText('Your card was declined').waitFor()
      await check(tab)
      await shoot(page, `declined-subscription-${name}`)
      await page.getByRole('link', { name: 'Use another card' }).click()
      await page.getByText('tried again with it at once').waitFor()
      await check(tab)
      await shoot(page, `new-card-${name}`)

      const type = async (number: string) => {
        await page.locator('[name="card_number"]').fill(number)
        await page.locator('[name="card_expiry"]').fill('10/40')
        await page.locator('[name="card_cvv"]').fill('999')
        await page.getByRole('button', { name: 'Use this card' }).click()
      }
      await type('4111 1111 1111 1112')
      await page.locator('[name="card_number"][aria-invalid="true"]').waitFor()
      await check(tab)
      await shoot(page, `wrong-card-${name}`)
      await type(DECLINED)
      await page.locator('#card-error').waitFor()
      assert.match(String(await page.evaluate('document.activeElement.textContent')), /declined/)
      assert.equal(await page.locator('[name="card_number"]').inputValue(), '')
      await check(tab)
      await type(APPROVED)
      await page.getByText('The card has been changed.').waitFor()
      await check(tab)
      await renew()
      await page.reload()
      await page.locator('[data-status="active"]').waitFor()
      await page.getByText('Visa ending in 1111').waitFor()
      await shoot(page, `paid-again-${name}`)
    })
  }
})

describe('the form that pays for an order, with card fields of the gateway', () => {
  /** Exchanges one bought unit for two of the same variant: the shopper has to pay for the second. */
  async function askToPay(): Promise<{ id: string; link: string }> {
    const { order } = await buy('objects', 'cup-01')
    const merchant = await shop.merchant('objects')
    const parcel = await merchant.post(`/v1/merchant/orders/${order.id}/fulfillments`)
    await merchant.post(`/v1/merchant/fulfillments/${parcel.body.fulfillment.id}/ship`)
    const { items } = (await merchant.get(`/v1/merchant/orders/${order.id}`)).body
    const lines = [{ order_item_id: items[0].id, quantity: 1 }]
    const made = await merchant.post('/v1/merchant/returns', { order_id: order.id, lines })
    const wanted = { items: [{ variant_id: items[0].variant_id, quantity: 2 }], advance: true }
    const url = `/v1/merchant/returns/${made.body.return.id}/exchange`
    const exchanged = await merchant.post(url, wanted, { 'idempotency-key': randomUUID() })
    assert.equal(exchanged.status, 201, exchanged.text)
    return {
      id: exchanged.body.order.id,
      link: await linkInMail('objects', 'payment_request'),
    }
  }

  test('shows the card fields and sends only their token: no card number reaches the store', async (t) => {
    const { id, link } = await askToPay()
    const change = {
      gateway: 'nmi',
      credentials: { security_key: SECURITY_KEY },
      tokenization_key: PUBLIC_KEY,
    }
    assert.equal((await shop.operator.put('/v1/stores/objects/payments', change)).status, 200)
    for (const [name, options] of Object.entries(SCREENS)) {
      const others = [collect.origin]
      const tab = await openTab(t, browser, shop.at('objects'), options, { others })
      await tab.page.goto(link)
      await tab.page.locator('#field-number iframe').waitFor()
      await check(tab)
      await shoot(tab.page, `pay-hosted-${name}`)
    }

    const tab = await openTab(t, browser, shop.at('objects'), {}, { others: [collect.origin] })
    const { page } = tab
    const sent: string[] = []
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== collect.origin) sent.push(request.postData() ?? '')
    })
    await page.goto(link)
    assert.equal(await page.locator('[name="card_number"]').count(), 0)
    const input = (place: string) => page.frameLocator(`#field-${place} iframe`).locator('input')
    assert.equal(await input('number').getAttribute('placeholder'), '1234 1234 1234 1234')
    assert.equal(await input('cvv').getAttribute('placeholder'), '123')
    await input('number').fill(APPROVED)
    await page.locator('[data-pay]').click()
    await page.locator('#card-error').waitFor()
    assert.match(
      String(await page.evaluate('document.activeElement.textContent')),
      /check your card/,
    )
    assert.equal(nmi.calls.length, 0, 'nothing was charged')
    await input('expiry').fill('10/40')
    await input('cvv').fill('999')
    await page.locator('[data-pay]').click()
    await page.getByText('Thank you, your payment has arrived').waitFor()
    await check(tab)
    const paid = nmi.calls.find(({ fields }) => fields.payment_token)
    assert.equal(collect.cards.get(paid?.fields.payment_token ?? '')?.ccnumber, APPROVED)
    assert.ok(!showsCard(sent.join(' '), APPROVED, '999'), 'the store has seen no card')
    assert.ok(!nmi.calls.some(({ fields }) => fields.ccnumber))
    const merchant = await shop.merchant('objects')
    const { order } = (await merchant.get(`/v1/merchant/orders/${id}`)).body
    assert.equal(order.status, 'placed')
  })
})
