import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { STOREFRONT_TOKEN } from '../../harness/app.ts'
import { APPROVED, cart, checkout, counts, enable, openCheckoutApp, openShop } from './setup.ts'

/** The kinds of fields. With a `?` the field may be null or missing. */
type Kind = 'text' | 'flag' | 'cents' | 'count' | 'record' | 'list'
type Fields = Record<string, `${Kind}${'' | '?'}`>

const SHIPPING: Fields = {
  shipping: 'record?',
  'shipping.mode': 'text',
  'shipping.flat_rate_cents': 'cents',
  'shipping.expedited_rate_cents': 'cents',
  'shipping.max_cents': 'cents',
  'shipping.free_shipping_threshold_cents': 'cents?',
  tax: 'record?',
  'tax.provider': 'text',
  'tax.rate_bps': 'cents',
  expedited: 'flag',
}

const CHECKOUT: Fields = {
  customer_ref: 'text',
  items: 'list',
  'items.0': 'record',
  'items.0.variant_id': 'text',
  'items.0.quantity': 'count',
  person_id: 'text?',
  card: 'record?',
  'card.ccnumber': 'text',
  'card.ccexp': 'text',
  'card.cvv': 'text?',
  payment_token: 'text?',
  apply_store_credit: 'flag',
  gift_card_code: 'text?',
  coupon_code: 'text?',
  subscribe: 'flag',
  shipping_address: 'record?',
  'shipping_address.label': 'text',
  'shipping_address.line1': 'text',
  'shipping_address.line2': 'text?',
  'shipping_address.city': 'text',
  'shipping_address.state': 'text',
  'shipping_address.postal_code': 'text',
  'shipping_address.country': 'text',
  email: 'text?',
  ip: 'text?',
  attestation: 'record?',
  'attestation.statement_version': 'text',
  'attestation.accepted_at': 'text',
  quote_token: 'text?',
  ...SHIPPING,
}

/** JSON texts that are not valid for a kind. */
const WRONG: Record<Kind, readonly string[]> = {
  text: ['7', '0', '-1', '1.5', 'true', '[]', '{}', '["a"]', `"${'x'.repeat(100_000)}"`],
  flag: ['"true"', '"yes"', '0', '1', '[]', '{}'],
  cents: [
    '"1"',
    '-1',
    '1.5',
    'true',
    '[]',
    '{}',
    '-1e0',
    '15e-1',
    '1e-1',
    '1e16',
    '1e400',
    '-1e400',
  ],
  count: [
    '0',
    '"1"',
    '-1',
    '1.5',
    'null',
    '10001',
    '[]',
    '{}',
    '0e0',
    '-1e0',
    '15e-1',
    '1e15',
    '1e400',
  ],
  record: ['"x"', '7', '0', 'true', '[]', `[${'[],'.repeat(30_000)}[]]`],
  list: ['"x"', '7', '{}', 'true', 'null', '[]', '[null]', '[[]]', '[1]'],
}

/** A placeholder in a body, replaced by the invalid text. */
const MARK = '\u{1f3ab}'

interface Spoilt {
  body: string
  what: string
  path: string
}

/** The body with another text at a path, or without that member. */
function spoil(good: object, path: string, text: string | undefined): string {
  const body = structuredClone(good) as Record<string, unknown>
  const names = path.split('.')
  const last = names.pop() ?? ''
  let at = body
  for (const name of names) at = at[name] as Record<string, unknown>
  if (text === undefined) delete at[last]
  else at[last] = MARK
  return JSON.stringify(body).replace(JSON.stringify(MARK), () => text ?? '')
}

function* spoilt(good: object, fields: Fields): Generator<Spoilt> {
  for (const [path, kind] of Object.entries(fields)) {
    const isOptional = kind.endsWith('?')
    for (const text of WRONG[kind.replace('?', '') as Kind]) {
      yield { body: spoil(good, path, text), what: `${path}: ${text.slice(0, 30)}`, path }
    }
    const isLoose = isOptional || kind === 'flag'
    if (!isLoose) yield { body: spoil(good, path, undefined), what: `no ${path}`, path }
    if (!isOptional && path !== 'tax.provider') {
      yield { body: spoil(good, path, 'null'), what: `${path}: null`, path }
    }
  }
}

/** Whether a path is within another: an issue may name the object or the member that is missing. */
const isWithin = (path: string, other: string) => other === '' || `${path}.`.startsWith(`${other}.`)

const AT_ONCE = 8

test('a wrong value in a body', async (t) => {
  const app = await openCheckoutApp(t)
  const shop = await openShop(app, 'acme', [1_000])
  await enable(shop.merchant, 'gift_cards', 'store_credit', 'subscriptions')
  const variant_id = shop.variants[1_000]
  const send = async (path: string, body: string, key: string = randomUUID()) => {
    const answer = await fetch(`${app.url}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'idempotency-key': key,
        'x-storefront-token': STOREFRONT_TOKEN,
      },
      body,
    })
    return { status: answer.status, text: await answer.text() }
  }
  const sendAsMerchant = (path: string, body: string) =>
    shop.merchant.post(path, JSON.parse(body), { 'idempotency-key': randomUUID() })
  const everything = async () => {
    const { rows } = await app.superuser.query(
      `select (select count(*) from idempotency_keys) as keys,
              (select md5(string_agg(o::text, ',' order by id)) from orders o) as orders,
              (select md5(string_agg(c::text, ',' order by charge_id)) from charges c) as charges,
              (select count(*) from refunds) as refunds`,
    )
    return { ...(await counts(app)), ...rows[0] }
  }
  /** Fails unless each is 400 `invalid_body`, names the expected field, and writes no row. */
  const refuseAll = async (
    url: string,
    cases: Iterable<Spoilt>,
    ask: typeof sendAsMerchant | typeof send = send,
  ) => {
    const before = await everything()
    const queue = [...cases]
    const next = async () => {
      for (let each = queue.shift(); each !== undefined; each = queue.shift()) {
        const { status, text } = await ask(url, each.body)
        assert.equal(status, 400, `${each.what}: ${text.slice(0, 300)}`)
        const { error, issues = [] } = JSON.parse(text)
        assert.equal(error.code, 'invalid_body', each.what)
        const { path: wanted } = each
        const named = issues.map(({ path }: { path: string }) => path)
        const isNamed = named.some(
          (path: string) => isWithin(path, wanted) || isWithin(wanted, path),
        )
        assert.ok(isNamed, `${each.what}: ${named}`)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, next))
    assert.deepEqual(await everything(), before, 'something was left behind')
  }

  const good = {
    ...cart(variant_id),
    person_id: randomUUID(),
    shipping: {
      mode: 'flat',
      flat_rate_cents: 100,
      expedited_rate_cents: 200,
      max_cents: 300,
      free_shipping_threshold_cents: 5_000,
    },
    tax: { provider: 'flat_rate', rate_bps: 825 },
    expedited: false,
    subscribe: false,
    apply_store_credit: false,
    email: 'ann@example.com',
    ip: '192.0.2.1',
    shipping_address: {
      label: 'Ann',
      line1: '888',
      line2: '2nd floor',
      city: 'Springfield',
      state: 'IL',
      postal_code: '77777',
      country: 'US',
    },
    attestation: { statement_version: 'v1', accepted_at: '2026-01-01T00:00:00Z' },
  }
  const url = '/v1/tenants/acme/checkout'

  await t.test('bad input of a checkout is refused, for every field', async () => {
    await refuseAll(url, spoilt(good, CHECKOUT))
    const placed = await checkout(app, shop, good)
    assert.equal(placed.status, 201, 'without the fault it is a good one')
  })

  await t.test('bad input of a preview is refused', async () => {
    const { items, shipping, tax } = good
    const fields = {
      items: 'list',
      'items.0.variant_id': 'text',
      'items.0.quantity': 'count',
      ...SHIPPING,
    } as const
    await refuseAll(`${url}/preview`, spoilt({ items, shipping, tax }, fields))
  })

  await t.test('a body that is no JSON object, or too large, is refused', async () => {
    const item = { variant_id, quantity: 1 }
    const many = (length: number) => ({ ...good, items: Array.from({ length }, () => item) })
    const bodies = [null, [], [good], 'text', 7, true, {}, many(501), many(10_000)]
    const cases = bodies.map((body) => ({ body: JSON.stringify(body), what: 'a body', path: '' }))
    const before = await everything()
    for (const { body } of cases) {
      const { status, text } = await send(url, body)
      assert.equal(status, 400, text)
      assert.equal(JSON.parse(text).error.code, 'invalid_body', body.slice(0, 80))
    }
    for (const body of [
      '',
      '{',
      '{"items":[}',
      '{"a":1,"a":1}',
      `${'['.repeat(70)}`,
      '{"__proto__":{}}',
    ]) {
      const { status } = await send(url, body)
      assert.equal(status, 400, body)
    }
    for (const name of ['label', 'line1', 'city', 'country']) {
      const shipping_address = { ...good.shipping_address, [name]: '' }
      assert.equal((await send(url, JSON.stringify({ ...good, shipping_address }))).status, 400)
    }
    const huge = await send(url, JSON.stringify({ ...good, ip: 'x'.repeat(3_000_000) }))
    assert.equal(JSON.parse(huge.text).error.code, 'body_too_large')
    assert.deepEqual(await everything(), before)
  })

  await t.test('bad input is not a matter of notation: 1e0 is 1, under the same key', async () => {
    const key = randomUUID()
    const body = spoil(good, 'items.0.quantity', '1')
    const first = await send(url, body, key)
    assert.equal(first.status, 201, first.text)
    for (const spelt of ['1e0', '1.0', '10e-1', '0.1E+1']) {
      const again = await send(url, spoil(good, 'items.0.quantity', spelt), key)
      assert.deepEqual([again.status, again.text], [201, first.text], spelt)
    }
  })

  await t.test('an amount above the limit is refused, and never rounded', async () => {
    const most = '9007199254740991'
    const before = await everything()
    for (const path of ['shipping.flat_rate_cents', 'tax.rate_bps']) {
      const huge = { ...good, shipping: { ...good.shipping, max_cents: Number(most) } }
      const { status, text } = await send(url, spoil(huge, path, most))
      assert.equal(status, 400, `${path}: ${text}`)
      assert.equal(JSON.parse(text).error.code, 'invalid_body')
    }
    assert.deepEqual(await everything(), before)
  })

  await t.test(
    'bad input of a change of an order is refused, and the order does not change',
    async () => {
      const placed = await checkout(app, shop, cart(variant_id))
      const { order, items, charges } = placed.body
      const [order_item_id, charge_id] = [items[0].id, charges[0].charge_id]
      const shoppers = `/v1/tenants/acme/orders/${order.id}`
      const edit = {
        edits: [{ order_item_id, quantity: 2 }],
        charge_id,
        shipping: good.shipping,
        tax: good.tax,
        expedited: false,
        card: APPROVED,
        actor: 'ann',
      }
      const edits: Fields = {
        edits: 'list',
        'edits.0': 'record',
        'edits.0.order_item_id': 'text',
        charge_id: 'text?',
        actor: 'text?',
        card: 'record?',
        'card.ccnumber': 'text',
        'card.ccexp': 'text',
        ...SHIPPING,
        expedited: 'flag?',
      }
      await refuseAll(`${shoppers}/edit`, spoilt(edit, edits))
      const refund = { charge_id, amount_cents: 100, reason: 'late' }
      const amount: Fields = { charge_id: 'text', reason: 'text?' }
      await refuseAll(`${shoppers}/refund`, spoilt(refund, amount))
      const cents = [
        '"1"',
        '0',
        '-1',
        '1.5',
        'true',
        '[]',
        'null',
        '1e-1',
        '15e-1',
        '1e16',
        '1e400',
      ]
      const path = 'amount_cents'
      const wrong = cents.map((text) => ({ body: spoil(refund, path, text), what: text, path }))
      await refuseAll(`${shoppers}/refund`, wrong)
      const cancel: Fields = { charge_id: 'text?', reason: 'text?', actor: 'text?' }
      const request = { charge_id, reason: 'no', actor: 'ann' }
      await refuseAll(`${shoppers}/cancel`, spoilt(request, cancel))

      const merchants = `/v1/merchant/orders/${order.id}`
      const refuseMerchant = (verb: string, body: object, fields: Fields) => {
        // A number larger than any double cannot be written by a client that uses doubles.
        const cases = [...spoilt(body, fields)].filter((each) => !each.what.includes('e400'))
        return refuseAll(`${merchants}/${verb}`, cases, sendAsMerchant)
      }
      const units = {
        items: [{ order_item_id, quantity: 1 }],
        shipping_cents: 0,
        method: 'original',
      }
      await refuseMerchant('refunds', units, {
        'items.0': 'record',
        'items.0.order_item_id': 'text',
        method: 'text?',
      })
      await refuseMerchant(
        'cancel',
        { reason: 'staff', note: 'n', restock: true },
        {
          reason: 'text',
          note: 'text?',
          restock: 'flag',
        },
      )
      const { card: _, actor: __, ...merchantEdit } = edit
      await refuseMerchant(
        'edit',
        { ...merchantEdit, charge_card: true },
        {
          edits: 'list',
          'edits.0': 'record',
          'edits.0.order_item_id': 'text',
          charge_card: 'flag',
          ...SHIPPING,
          expedited: 'flag?',
        },
      )
      await refuseMerchant('notes', { note: 'n' }, { note: 'text' })
      await refuseMerchant('hold', { reason: 'r' }, { reason: 'text?' })
      const read = await shop.merchant.get(merchants)
      assert.deepEqual([read.body.order.status, read.body.order.total_cents], ['placed', 1_000])
    },
  )

  await app.assertAddsUp()
})

test('an order costs what the catalog says, whatever price and discount its request names', async (t) => {
  const app = await openCheckoutApp(t)
  const shop = await openShop(app, 'acme', [1_000])
  const items = [{ variant_id: shop.variants[1_000], quantity: 2, unit_price_cents: 1 }]
  const coupon = { type: 'percent', percent_bps: 10_000, amount_cents: null, applies_to: null }
  const hostile = {
    kept: { unit_price_cents: 1, coupon: { ...coupon, code: 'ALL' } },
    unit_price_cents: 1,
    locked_price_cents: 1,
    total_cents: 2,
    renewal: { kept: { unit_price_cents: 1 } },
    taxed: { question: {}, tax: null },
  }
  const request = { customer_ref: 'ann', items, ...hostile }
  const preview = await app.storefront.post('/v1/tenants/acme/checkout/preview', request)
  assert.deepEqual([preview.status, preview.body.total_cents], [200, 2_000], preview.text)
  const answer = await checkout(app, shop, { ...request, card: APPROVED })
  assert.equal(answer.status, 201, answer.text)
  const { total_cents, discount_cents } = answer.body.order
  assert.deepEqual([total_cents, discount_cents], [2_000, 0])
})
