import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { showsCard } from '../harness/card-digits.ts'
import { suiteScope } from '../harness/scope.ts'
import type { Seen } from '../harness/shopper.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import * as setup from './setup.ts'
import { card, DETAILS, GOOD_CARD } from './setup.ts'

let shop: TestShop

const scope = suiteScope()
before(async () => {
  shop = await openTestShop(scope)
})

const DECLINED = '4000 0000 0000 0002'

/** Sends a checkout form with these fields, and answers with the page that comes back. */
async function send(fields: Record<string, string>) {
  const shopper = await setup.withCart(shop, 'cedar-candle')
  const key = (await shopper.get('/checkout')).field('key')
  return { shopper, seen: await shopper.follow('/checkout', { ...DETAILS, ...fields, key }) }
}

const errorAt = ({ text }: Seen, name: string): string | undefined =>
  new RegExp(`id="${name}-error"[^>]*>([^<]*)`).exec(text)?.[1]

describe('a checkout with mistakes', () => {
  test('counts as an unfinished checkout to remind of; a checkout that was only opened does not', async () => {
    const merchant = await shop.merchant('demo')
    const url = '/v1/merchant/marketing/reminders'
    const settings = { enabled: true, law_allows: true }
    assert.equal((await merchant.put(`${url}/settings`, settings)).status, 200)
    const addresses = async () =>
      (await merchant.get(url)).body.reminders.map(({ email }: { email: string }) => email)
    const shopper = await setup.withCart(shop, 'cedar-candle')
    const key = (await shopper.get('/checkout')).field('key')
    assert.deepEqual(await addresses(), [])
    const email = 'unfinished@example.com'
    await shopper.post('/checkout', { ...DETAILS, ...card(DECLINED), email, key })
    assert.deepEqual(await addresses(), [email])
    const other = await setup.withCart(shop, 'cedar-candle')
    const otherKey = (await other.get('/checkout')).field('key')
    const mistaken = { ...DETAILS, ...GOOD_CARD, line1: '', email: 'mistaken@example.com' }
    await other.post('/checkout', { ...mistaken, key: otherKey })
    assert.deepEqual((await addresses()).toSorted(), ['mistaken@example.com', email])
    assert.equal((await merchant.put(`${url}/settings`, { enabled: false })).status, 200)
  })

  test('shows each mistake at its field, and all of them above the form, with links', async () => {
    const fields = { email: 'nonsense', line1: '', postal_code: '1', card_number: '4111' }
    const { seen } = await send({ ...GOOD_CARD, ...fields, card_cvv: '' })
    const [, summary = ''] =
      /role="alert" tabindex="-1" data-focus>([\s\S]*?)<\/div>/.exec(seen.text) ?? []
    assert.match(summary, /^<p>Please check the marked fields\.<\/p>/)
    const names = ['email', 'line1', 'postal_code', 'number', 'cvv']
    const links = [...summary.matchAll(/href="#field-(\w+)"/g)].map(([, name]) => name)
    assert.deepEqual(links, names)
    for (const name of names) {
      assert.ok(errorAt(seen, name), name)
      const [input = ''] =
        new RegExp(`<(?:input|select) id="field-${name}"[^>]*>`).exec(seen.text) ?? []
      assert.match(input, new RegExp(`aria-invalid="true" aria-describedby="${name}-error"`), name)
    }
  })

  test('sends no invalid card: wrong digits, a past month, no security code', async () => {
    const merchant = await shop.merchant('demo')
    const orders = await setup.countOrders(merchant)
    for (const [fields, name, message] of [
      [{ card_number: '4111 1111 1111 1112' }, 'number', /check the card number/],
      [{ card_number: '4111' }, 'number', /check the card number/],
      [{ card_number: '' }, 'number', /enter a card/],
      [{ card_expiry: '13/40' }, 'expiry', /expiry date/],
      [{ card_expiry: '' }, 'expiry', /expiry date/],
      [{ card_expiry: '01/20' }, 'expiry', /has expired/],
      [{ card_cvv: '' }, 'cvv', /security code/],
      [{ card_cvv: '12' }, 'cvv', /security code/],
      [{ card_cvv: '12a' }, 'cvv', /security code/],
    ] as const) {
      const { seen } = await send({ ...GOOD_CARD, ...fields })
      assert.match(errorAt(seen, name) ?? '', message, JSON.stringify(fields))
      assert.ok(!showsCard(seen.text, GOOD_CARD.card_number, GOOD_CARD.card_cvv))
    }
    assert.equal(await setup.countOrders(merchant), orders)
  })

  test('accepts a card of this month, in the usual spellings of its date', async () => {
    const now = new Date()
    const month = String(now.getUTCMonth() + 1).padStart(2, '0')
    const year = String(now.getUTCFullYear())
    for (const card_expiry of [`${month}/${year.slice(2)}`, `${month} / ${year}`]) {
      const { seen } = await send({ ...GOOD_CARD, card_expiry })
      assert.match(seen.text, /Thank you for your order!/, card_expiry)
    }
  })

  test('tells browsers what each card field is, and to show digits', async () => {
    const shopper = await setup.withCart(shop, 'cedar-candle')
    const { text } = await shopper.get('/checkout')
    for (const [name, token] of [
      ['number', 'cc-number'],
      ['expiry', 'cc-exp'],
      ['cvv', 'cc-csc'],
    ]) {
      const form = new RegExp(
        `name="card_${name}" inputmode="numeric" autocomplete="${token}" required`,
      )
      assert.match(text, form)
    }
  })
})

describe('a declined card', () => {
  test('is reported at the card fields, and everything else is still filled in', async () => {
    const { shopper, seen } = await send({ ...card(DECLINED), line2: 'Flat 2' })
    const [, fieldset = ''] = /<fieldset id="card"([\s\S]*?)<\/fieldset>/.exec(seen.text) ?? []
    assert.match(fieldset, /^ aria-describedby="card-error"/)
    assert.match(fieldset, /id="card-error" role="alert"[^>]*>Your card was declined/)
    assert.equal(seen.text.match(/data-focus/g)?.length, 1, 'the focus goes to one place')
    for (const [name, value] of Object.entries({ ...DETAILS, line2: 'Flat 2' })) {
      if (name !== 'country') assert.equal(seen.field(name), value, name)
    }
    assert.match(seen.text, /<option value="GB" selected>/)
    assert.ok(!showsCard(seen.text, DECLINED, GOOD_CARD.card_cvv))
    const form = { ...DETAILS, ...GOOD_CARD, key: seen.field('key') }
    assert.match((await shopper.follow('/checkout', form)).text, /Thank you for your order!/)
  })

  test('says the reason that the bank gives', async () => {
    for (const [number, message] of [
      ['4000 0000 0000 9995', /does not have enough funds/],
      ['4000 0000 0000 0069', /has expired/],
      ['4000 0000 0000 0127', /security code does not match/],
    ] as const) {
      assert.match(errorAt((await send(card(number))).seen, 'card') ?? '', message, number)
    }
  })
})
