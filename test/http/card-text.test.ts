import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { fillPath } from '../contract/paths.ts'
import { type Caller, openTestApp } from '../harness/app.ts'
import { share } from '../harness/scope.ts'
import { openSuperuser } from '../harness/superuser.ts'
import { APPROVED, cart, openCheckoutApp, openShop } from '../modules/checkout/setup.ts'

const CARD = '5555555555554444'
const WRITTEN = '5555 5555-5555 4444'
const MESSAGE = 'looks like a card number; send card numbers in `card` alone'

/**
 * Routes for texts that are full of barcodes, for bytes of providers, to erase a person, and for the button
 * of a mail program, whose form is not read.
 */
const ANY_DIGITS = [
  /^(POST|PUT|PATCH) \/v1\/merchant\/catalog\/(?!.*activation-request)/,
  /^(POST|PATCH) \/v1\/merchant\/media/,
  /^(POST|PUT) \/v1\/my\/(site|store\/manifest)/,
  /^(POST|PUT) \/v1\/stores\/:tenant\/manifest/,
  /^POST \/v1\/my\/privacy\//,
  /^POST \/v1\/gateway\//,
  /^POST \/v1\/mail\/feedback$/,
  /^POST \/v1\/unsubscribe\//,
]

const shared = share((scope) =>
  openTestApp(scope, { env: { RATE_LIMIT_FAILED_PER_MINUTE: '100000' } }),
)

test('every route that writes refuses a card number anywhere in its body, with the path', async () => {
  const app = shared.current
  const callers: Record<string, Caller> = {
    merchant: await app.merchant('acme'),
    owner: await app.owner('ann@acme.example'),
    public: app.anyone,
    operator: app.operator,
    storefront: app.storefront,
  }
  const writes = app.app.routeTable.filter(({ method }) =>
    ['POST', 'PUT', 'PATCH'].includes(method),
  )
  assert.ok(writes.length > 60)
  for (const { method, url, plane } of writes) {
    const caller = callers[plane]
    assert.ok(caller)
    const key = { 'idempotency-key': randomUUID() }
    const path = fillPath(url, { tenant: 'acme' })
    const body = { deep: [{ note: `call me, ${WRITTEN}` }] }
    const { status, body: answer } = await caller.send(method, path, body, key)
    const issue = answer.error?.issues?.[0] ?? answer.issues?.[0]
    const isRefused = status === 400 && issue?.message === MESSAGE && issue.path === 'deep.0.note'
    const isExempt = ANY_DIGITS.some((route) => route.test(`${method} ${url}`))
    assert.equal(isRefused, !isExempt, `${method} ${url}: ${status} ${JSON.stringify(answer)}`)
  }
})

describe('a card number in', () => {
  test('each text of a checkout is refused, and stored nowhere', async (t) => {
    const app = await openCheckoutApp(t)
    const superuser = await openSuperuser(t, app.database)
    const shop = await openShop(app)
    const address = {
      label: 'Home',
      line1: '1 High St',
      city: 'X',
      postal_code: '1',
      country: 'DE',
    }
    const wrong: [string, object][] = [
      ['customer_ref', { customer_ref: CARD }],
      ['email', { email: `${CARD}@acme.example` }],
      ['name', { name: WRITTEN }],
      ['referral_code', { referral_code: CARD }],
      ['coupon_code', { coupon_code: CARD }],
      ['gift_card_code', { gift_card_code: CARD }],
      ['shipping_address.line1', { shipping_address: { ...address, line1: `c/o ${WRITTEN}` } }],
      ['shipping_address.city', { shipping_address: { ...address, city: CARD } }],
    ]
    const post = (more: object, key: string = randomUUID()) =>
      app.storefront.post(
        '/v1/tenants/acme/checkout',
        { ...cart(shop.variants[1_000]), card: APPROVED, ...more },
        { 'idempotency-key': key },
      )
    for (const [path, more] of wrong) {
      const { status, body, text } = await post(more)
      assert.deepEqual([status, body.error?.code], [400, 'invalid_body'], path)
      assert.ok(text.includes(`"${path}"`), text)
      assert.ok(!text.replace(body.error.correlationId, '').includes('5555'), text)
    }
    const keyed = await post({}, CARD)
    assert.deepEqual([keyed.status, keyed.body.error.code], [400, 'idempotency_key_invalid'])
    assert.equal((await post({})).status, 201, 'the card itself is welcome in its place')
    const { rows } = await superuser.query('select count(*)::int as n from orders')
    assert.equal(rows[0].n, 1)
  })

  test('a card number in the path of a write is refused, and in the path of a read or an erasure accepted', async () => {
    const merchant = await shared.current.merchant('globex')
    const path = `/v1/merchant/store-credit/${CARD}/credit`
    const credit = { amount_cents: 100, reason: 'x' }
    const answer = await merchant.post(path, credit, { 'idempotency-key': randomUUID() })
    assert.deepEqual([answer.status, answer.body.error.code], [400, 'invalid_request'])
    assert.equal((await merchant.get(`/v1/merchant/customers/${CARD}`)).status, 404)
    const copy = await merchant.post('/v1/my/privacy/export', { customer_ref: CARD })
    assert.ok(copy.status < 300, copy.text)
  })

  test('a card number in the catalog counts as an article number', async () => {
    const merchant = await shared.current.merchant('initech')
    const product = { slug: `a-${CARD}`, name: 'Pen', metadata: { gtin: CARD } }
    const made = await merchant.post('/v1/merchant/catalog/products', product)
    assert.equal(made.status, 201, made.text)
  })
})
