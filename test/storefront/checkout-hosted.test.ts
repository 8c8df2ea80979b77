import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { startNmi, type TestNmi } from '../harness/nmi.ts'
import { suiteScope } from '../harness/scope.ts'
import { openTestShop, type TestShop } from '../harness/storefront.ts'
import * as setup from './setup.ts'
import { DETAILS, GOOD_CARD } from './setup.ts'

const SECURITY_KEY = 'a-security-key-of-32-characters!'
const PUBLIC_KEY = 'abcdef-123456-public'
const COLLECT = 'https://secure.nmi.com'

let shop: TestShop
let nmi: TestNmi

const scope = suiteScope()
before(async () => {
  nmi = await startNmi(SECURITY_KEY)
  scope.after(() => nmi.close())
  shop = await openTestShop(scope, ['demo'], { env: { NMI_URL: nmi.url } })
})

/** Sets the demo store's gateway, with or without a public key. */
async function setGateway(tokenization_key: string | null) {
  const { status, text } = await shop.operator.put('/v1/stores/demo/payments', {
    gateway: 'nmi',
    credentials: { security_key: SECURITY_KEY },
    tokenization_key,
  })
  assert.equal(status, 200, text)
}

const policyOf = (headers: Record<string, unknown>) => String(headers['content-security-policy'])

describe('the card fields of the gateway', () => {
  test('are missing without a public key: cards are typed into the form', async () => {
    await setGateway(null)
    const shopper = await setup.withCart(shop, 'cedar-candle')
    const { text, headers } = await shopper.get('/checkout')
    assert.match(text, /name="card_number"/)
    assert.doesNotMatch(text, /Collect\.js|card_token/)
    assert.ok(!policyOf(headers).includes(COLLECT))
  })

  test("replace those of the form, and the page's policy allows that one host on that page alone", async () => {
    await setGateway(PUBLIC_KEY)
    const shopper = await setup.withCart(shop, 'cedar-candle')
    const { text, headers } = await shopper.get('/checkout')
    assert.doesNotMatch(text, /name="card_number"|name="card_cvv"/)
    assert.ok(
      text.includes(
        `<script src="${COLLECT}/token/Collect.js" data-tokenization-key="${PUBLIC_KEY}" data-variant="inline"></script>`,
      ),
    )
    assert.match(text, /<noscript><p[^>]*>Please turn on JavaScript to pay by card/)
    assert.match(text, /it never reaches our server/)
    const policy = policyOf(headers)
    for (const directive of ['script-src', 'connect-src']) {
      assert.ok(policy.includes(`${directive} 'self' ${COLLECT};`), policy)
    }
    assert.match(policy, new RegExp(`frame-src ${COLLECT}$`))
    assert.match(policy, /style-src 'self';/)
    for (const path of ['/cart', '/', '/products/cedar-candle']) {
      assert.ok(!policyOf((await shopper.get(path)).headers).includes(COLLECT), path)
    }
  })

  test('give a token, and only the token is sent; a card in the form is not read', async () => {
    await setGateway(PUBLIC_KEY)
    const shopper = await setup.withCart(shop, 'cedar-candle')
    const key = (await shopper.get('/checkout')).field('key')
    const before = nmi.calls.length
    const typed = await shopper.post('/checkout', { ...DETAILS, ...GOOD_CARD, key })
    assert.match(typed.text, /id="card-error"[^>]*>Please enter a card/)
    for (const card_token of ['', 'a b', 'x'.repeat(256), '\u0000']) {
      const answer = await shopper.post('/checkout', { ...DETAILS, key, card_token })
      assert.match(answer.text, /id="card-error"/)
    }
    assert.equal(nmi.calls.length, before, 'nothing was sent to the gateway')
    const form = { ...DETAILS, ...GOOD_CARD, key, card_token: 'tok-1' }
    const paid = await shopper.post('/checkout', form)
    assert.match(String(paid.headers.location), /^\/orders\//, paid.text)
    const sent = nmi.calls.slice(before).find(({ fields }) => fields.payment_token)
    assert.equal(sent?.fields.payment_token, 'tok-1')
    assert.equal(sent?.fields.ccnumber, undefined)
  })

  test('prevent that an order is edited with a card that was typed', async () => {
    await setGateway(PUBLIC_KEY)
    const shopper = await setup.withCart(shop, 'cedar-candle')
    const key = (await shopper.get('/checkout')).field('key')
    const { headers } = await shopper.post('/checkout', { ...DETAILS, key, card_token: 'tok-2' })
    const path = String(headers.location).split('?')[0] ?? ''
    const page = await shopper.get(path)
    const [, line = ''] = /name="(q:[^"]+)"/.exec(page.text) ?? []
    const form = { ...GOOD_CARD, action_key: page.field('action_key'), [line]: '2' }
    const before = nmi.calls.length
    const { text } = await shopper.follow(`${path}/edit`, form)
    assert.doesNotMatch(text, /name="card_number"/)
    assert.ok(!nmi.calls.slice(before).some(({ fields }) => fields.ccnumber))
  })
})
