import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createLogger } from '../../../src/platform/log.ts'
import { showsCard } from '../../harness/card-digits.ts'
import { startNmi } from '../../harness/nmi.ts'
import { share } from '../../harness/scope.ts'
import { APPROVED, addVariant, cart, checkout, enable, openCheckoutApp, openShop } from './setup.ts'

const KEY = 'a-security-key-of-32-characters!'
const OTHER_KEY = 'another-security-key-32-letters?'

/** For tests that leave no operation running, and the clock alone. */
const shared = share(async (scope) => {
  const nmi = await startNmi(KEY)
  scope.after(() => nmi.close())
  const env = { PAYMENT_GATEWAY: 'nmi', NMI_URL: nmi.url, NMI_SECURITY_KEY: KEY }
  return { nmi, app: await openCheckoutApp(scope, { env }) }
})

test('a partial approval by NMI', async (t) => {
  const { nmi, app } = shared.current
  const shop = await openShop(app, 'partial')
  const { merchant } = shop
  const body = cart(shop.variants[1_000])
  const read = async (id: string) => (await merchant.get(`/v1/merchant/orders/${id}`)).body
  const resumeAll = async () => {
    await app.expireClaims()
    assert.equal(await app.reconcile(), 1)
  }
  t.afterEach(() => app.assertAddsUp())

  await t.test('pays for no order, even if the answer to its void is lost', async () => {
    nmi.failNext({ authorises: '4.00' }, 'reset_before')
    const key = randomUUID()
    assert.equal((await checkout(app, shop, body, key)).status, 503)
    await resumeAll()
    const answer = await checkout(app, shop, body, key)
    assert.equal(answer.status, 402, answer.text)
    assert.equal(answer.body.decline.reason, 'insufficient_funds')
    assert.equal(nmi.journal.at(-1)?.condition, 'canceled')
  })

  for (const how of ['voided', 'refunded'] as const) {
    await t.test(`pays for no edit, and is ${how}`, async () => {
      const { order, items } = (await checkout(app, shop, body)).body
      const url = `/v1/tenants/${shop.tenant}/orders/${order.id}/edit`
      const edit = { edits: [{ order_item_id: items[0].id, quantity: 2 }], card: APPROVED }
      const key = { 'idempotency-key': randomUUID() }
      nmi.failNext({ authorises: '4.00' }, 'reset_before')
      assert.equal((await app.storefront.post(url, edit, key)).status, 503)
      const sale = nmi.journal.at(-1)
      if (how === 'refunded') nmi.settle()
      await resumeAll()
      const answer = await app.storefront.post(url, edit, key)
      assert.equal(answer.status, 402, answer.text)
      assert.equal(answer.body.decline.reason, 'insufficient_funds')
      assert.deepEqual(
        [sale?.condition, sale?.actions.at(-1)?.type, sale?.actions.at(-1)?.amount],
        how === 'voided' ? ['canceled', 'void', '0'] : ['complete', 'refund', '4.00'],
      )
      const after = await read(order.id)
      assert.deepEqual([after.order.total_cents, after.charges.length], [1_000, 1])
    })
  }

  await t.test('a partial approval, or a refunded charge, pays for no edit', async () => {
    const { order, items } = (await checkout(app, shop, body)).body
    const url = `/v1/tenants/${shop.tenant}/orders/${order.id}/edit`
    const edit = { edits: [{ order_item_id: items[0].id, quantity: 2 }], card: APPROVED }
    const key = { 'idempotency-key': randomUUID() }
    nmi.failNext('reset_after')
    assert.equal((await app.storefront.post(url, edit, key)).status, 503)
    const sale = nmi.journal.at(-1)
    assert.ok(sale)
    sale.condition = 'complete'
    sale.actions.push({ ...sale.actions[0], type: 'refund' } as never)
    await resumeAll()
    assert.equal((await app.storefront.post(url, edit, key)).status, 402)
    assert.equal((await read(order.id)).order.total_cents, 1_000)
  })

  await t.test('releases no order, if it was captured in the gateway’s back office', async () => {
    const ban = { kind: 'email', value: 'review@example.com', action: 'review' }
    assert.equal((await merchant.post('/v1/merchant/fraud/bans', ban)).status, 201)
    const held = await checkout(app, shop, { ...body, email: ban.value })
    assert.equal(held.status, 202, held.text)
    const { id } = held.body.order
    const auth = nmi.journal.at(-1)
    assert.ok(auth)
    auth.condition = 'pendingsettlement'
    auth.actions.push({ ...auth.actions[0], type: 'capture', amount: '4.00' } as never)
    const ask = (verb: string, request?: object) =>
      merchant.post(`/v1/merchant/orders/${id}/${verb}`, request, {
        'idempotency-key': randomUUID(),
      })
    const refused = await ask('release')
    assert.equal(refused.body.error?.code, 'payment_declined', refused.text)
    assert.equal((await read(id)).order.status, 'on_hold')
    assert.equal((await ask('cancel', { reason: 'staff' })).body.order?.status, 'cancelled')
    assert.equal(auth.condition, 'canceled')
  })
})

test('a subscription whose card NMI has not stored', async (t) => {
  const { nmi, app } = shared.current
  const shop = await openShop(app, 'unstored')
  await enable(shop.merchant, 'subscriptions')
  const terms = { is_subscription: true, subscription_interval: 'month' }
  const tea = await addVariant(shop.merchant, 1_000, terms)
  const body = cart(tea, { subscribe: true })
  const read = async (id: string) => (await shop.merchant.get(`/v1/merchant/orders/${id}`)).body
  const started = async () => {
    const subscriptions = 'select from subscriptions where tenant_ref = $1'
    return (await app.superuser.query(subscriptions, [shop.tenant])).rowCount
  }
  t.afterEach(() => app.assertAddsUp())

  await t.test('is refused, and its authorisation is voided', async () => {
    nmi.failNext('stores_no_card')
    const answer = await checkout(app, shop, body)
    assert.equal(answer.status, 422, answer.text)
    assert.equal(answer.body.error.code, 'subscription_card_required')
    assert.equal(answer.body.order.status, 'payment_failed')
    assert.equal(nmi.journal.at(-1)?.condition, 'canceled')
    assert.equal(await started(), 0)
  })

  await t.test('is refused for the same reason by the process that resumes it', async () => {
    const key = randomUUID()
    nmi.failNext('stores_no_card', 'reset_after')
    assert.equal((await checkout(app, shop, body, key)).status, 503)
    await app.expireClaims()
    assert.equal(await app.reconcile(), 1)
    const answer = await checkout(app, shop, body, key)
    assert.equal(answer.status, 422, answer.text)
    assert.equal(answer.body.error.code, 'subscription_card_required')
    assert.equal(nmi.journal.at(-1)?.condition, 'canceled')
  })

  await t.test('is not started, if the payment was captured all the same', async () => {
    const key = randomUUID()
    nmi.failNext('reset_after')
    assert.equal((await checkout(app, shop, body, key)).status, 503)
    const auth = nmi.journal.at(-1)
    assert.ok(auth)
    delete auth.fields.customer_vault
    auth.condition = 'pendingsettlement'
    auth.actions.push({ ...auth.actions[0], type: 'capture' } as never)
    await app.expireClaims()
    assert.equal(await app.reconcile(), 1)
    const answer = await checkout(app, shop, body, key)
    assert.equal(answer.status, 201, answer.text)
    assert.deepEqual(answer.body.subscriptions, [])
    assert.equal(await started(), 0)
    const { timeline } = await read(answer.body.order.id)
    const entry = timeline.find(
      (each: { type: string }) => each.type === 'subscription_not_started',
    )
    assert.deepEqual(entry?.data, { reason: 'card_not_stored', variant_ids: [tea] })
  })

  await t.test('does not stop an order without a subscription, nor a stored card', async () => {
    assert.equal((await checkout(app, shop, cart(tea))).status, 201)
    const subscribed = await checkout(app, shop, body)
    assert.equal(subscribed.status, 201, subscribed.text)
    assert.equal(await started(), 1)
  })
})

test('an attempt at an account that the store has since replaced', async (t) => {
  const nmi = await startNmi(KEY, OTHER_KEY)
  t.after(() => nmi.close())
  const env = { PAYMENT_GATEWAY: 'nmi', NMI_URL: nmi.url, NMI_SECURITY_KEY: KEY }
  const app = await openCheckoutApp(t, { env })
  const shop = await openShop(app)
  const { merchant } = shop
  const body = cart(shop.variants[1_000])
  const read = async (id: string) => (await merchant.get(`/v1/merchant/orders/${id}`)).body
  const ask = (id: string, verb: string, request?: object) =>
    merchant.post(`/v1/merchant/orders/${id}/${verb}`, request, { 'idempotency-key': randomUUID() })
  const payBy = async (security_key: string) => {
    const settings = { gateway: 'nmi', credentials: { security_key } }
    const set = await app.operator.put('/v1/stores/acme/payments', settings)
    assert.equal(set.status, 200, set.text)
  }
  const resumeAll = async () => {
    await app.expireClaims()
    app.clock.advance(11_000)
    assert.equal(await app.reconcile(), 1)
    app.clock.reset()
  }
  t.beforeEach(() => payBy(KEY))
  t.afterEach(() => app.assertAddsUp())

  await t.test('does not count as a payment that was not found', async () => {
    nmi.failNext('reset_after')
    const unconfirmed = await checkout(app, shop, body)
    assert.equal(unconfirmed.body.error.code, 'payment_unconfirmed', unconfirmed.text)
    const { id } = unconfirmed.body.order
    await payBy(OTHER_KEY)
    await resumeAll()
    assert.equal((await read(id)).order.status, 'pending_payment')
    await payBy(KEY)
    await resumeAll()
    assert.equal((await read(id)).order.status, 'placed')
  })

  await t.test('does not count as a refund that was not found', async () => {
    const { id } = (await checkout(app, shop, body)).body.order
    nmi.settle()
    nmi.failNext('reset_after')
    const unconfirmed = await ask(id, 'refunds', { amount_cents: 400 })
    assert.equal(unconfirmed.body.error.code, 'payment_unconfirmed', unconfirmed.text)
    await payBy(OTHER_KEY)
    await resumeAll()
    assert.equal((await read(id)).refunds[0].status, 'pending')
    await payBy(KEY)
    await resumeAll()
    assert.equal((await read(id)).order.refunded_cents, 400)
  })

  await t.test('does not count as a release that was not found', async () => {
    const ban = { kind: 'email', value: 'review@example.com', action: 'review' }
    assert.equal((await merchant.post('/v1/merchant/fraud/bans', ban)).status, 201)
    const { id } = (await checkout(app, shop, { ...body, email: ban.value })).body.order
    nmi.failNext('reset_after')
    const unconfirmed = await ask(id, 'release')
    assert.equal(unconfirmed.body.error.code, 'payment_unconfirmed', unconfirmed.text)
    await payBy(OTHER_KEY)
    await resumeAll()
    assert.equal((await ask(id, 'cancel', { reason: 'staff' })).body.error.code, 'order_busy')
    await payBy(KEY)
    await resumeAll()
    assert.equal((await read(id)).order.status, 'placed')
  })

  await t.test('is looked up as before if the store has kept its account', async () => {
    await app.superuser.query(
      `update payment_accounts set credentials_at = credentials_at - interval '1 hour'`,
    )
    nmi.failNext('reset_before')
    const { id } = (await checkout(app, shop, body)).body.order
    const back = await app.operator.put('/v1/stores/acme/payments', { gateway: 'simulated' })
    assert.equal(back.status, 200, back.text)
    await payBy(KEY)
    await resumeAll()
    assert.equal((await read(id)).order.status, 'payment_failed')
  })
})

test("an attempt in the first seconds of a store's first account counts as not found like any other", async (t) => {
  const nmi = await startNmi(KEY)
  t.after(() => nmi.close())
  const app = await openCheckoutApp(t, { env: { NMI_URL: nmi.url } })
  const shop = await openShop(app)
  const settings = { gateway: 'nmi', credentials: { security_key: KEY } }
  const set = await app.operator.put('/v1/stores/acme/payments', settings)
  assert.equal(set.status, 200, set.text)
  nmi.failNext('reset_before')
  const unconfirmed = await checkout(app, shop, cart(shop.variants[1_000]))
  assert.equal(unconfirmed.body.error.code, 'payment_unconfirmed', unconfirmed.text)
  await app.expireClaims()
  app.clock.advance(11_000)
  assert.equal(await app.reconcile(), 1)
  const { id } = unconfirmed.body.order
  const { body } = await shop.merchant.get(`/v1/merchant/orders/${id}`)
  assert.equal(body.order.status, 'payment_failed')
})

test('a gateway that does not answer is logged as an upstream fault, without data of the shopper', async (t) => {
  const nmi = await startNmi(KEY)
  t.after(() => nmi.close())
  const env = { PAYMENT_GATEWAY: 'nmi', NMI_URL: nmi.url, NMI_SECURITY_KEY: KEY }
  const lines: string[] = []
  const logger = createLogger('warn', { write: (line: string) => void lines.push(line) })
  const app = await openCheckoutApp(t, { env, logger })
  const shop = await openShop(app)
  /** The log lines since the last call. */
  const read = () =>
    lines.splice(0).map((line) => {
      for (const secret of ['ann@', KEY]) assert.ok(!line.includes(secret), line)
      assert.ok(!showsCard(line, APPROVED.ccnumber, APPROVED.cvv), line)
      const { level, kind, tenant, code, call, why } = JSON.parse(line)
      return { level, kind, tenant, logged: code ?? `${call} ${why}` }
    })
  const upstream = { level: 40, kind: 'upstream', tenant: 'acme' }
  const body = { ...cart(shop.variants[1_000]), email: 'ann@example.com' }

  nmi.failNext('reset_after')
  assert.equal((await checkout(app, shop, body)).body.error.code, 'payment_unconfirmed')
  assert.deepEqual(read(), [
    { ...upstream, logged: 'transaction ECONNRESET' },
    { ...upstream, tenant: undefined, logged: 'payment_unconfirmed' },
  ])
  const ask = async () => {
    await app.expireClaims()
    await app.reconcile()
    return read()
  }
  nmi.failNext('html_502')
  assert.deepEqual(await ask(), [{ ...upstream, logged: 'lookup http_502' }])
  nmi.failNext({ body: 'gone for lunch' })
  assert.deepEqual(await ask(), [{ ...upstream, logged: 'lookup unreadable' }])
  await nmi.close()
  assert.deepEqual(await ask(), [{ ...upstream, logged: 'lookup ECONNREFUSED' }])
})

test('a fault of the account is an alert, and a decline of a card is not', async (t) => {
  const nmi = await startNmi(KEY)
  t.after(() => nmi.close())
  const env = { PAYMENT_GATEWAY: 'nmi', NMI_URL: nmi.url, NMI_SECURITY_KEY: KEY }
  const lines: string[] = []
  const logger = createLogger('warn', { write: (line: string) => void lines.push(line) })
  const app = await openCheckoutApp(t, { env, logger })
  const shop = await openShop(app)
  const body = { ...cart(shop.variants[1_000]), email: 'ann@example.com' }
  const buy = async (code: string, text = 'no') => {
    nmi.failNext({ code, text: `${text} REFID:4111111111111111` })
    const answer = await checkout(app, shop, body)
    assert.equal(answer.status, 402, answer.text)
    return lines.splice(0).map((line) => {
      for (const secret of ['ann@', KEY, 'REFID']) assert.ok(!line.includes(secret), line)
      assert.ok(!showsCard(line, APPROVED.ccnumber, APPROVED.cvv), line)
      const { level, kind, tenant, call, why } = JSON.parse(line)
      return { level, kind, tenant, call, why }
    })
  }
  const expected = { level: 50, kind: 'upstream', tenant: 'acme', call: 'transaction' }
  for (const code of ['400', '410', '411', '440', '441', '460']) {
    assert.deepEqual(await buy(code), [{ ...expected, why: `code_${code}` }], code)
  }
  assert.deepEqual(await buy('300'), [{ ...expected, why: 'code_300' }])
  assert.deepEqual(await buy('300', 'Authentication Failed'), [
    { ...expected, why: 'authentication_failed' },
  ])
  const refused = 'The cc payment type [JCB] and/or currency [USD] is not accepted'
  assert.deepEqual(await buy('300', refused), [{ ...expected, why: 'type_or_currency_refused' }])
  for (const code of ['200', '202', '225', '251', '461']) {
    assert.deepEqual(await buy(code), [], code)
  }
  assert.deepEqual(await buy('300', 'Invalid Credit Card Number'), [])
  nmi.failNext({ code: '420' })
  assert.equal((await checkout(app, shop, body)).body.error.code, 'payment_unconfirmed')
  const { level, why } = JSON.parse(lines[0] ?? '{}')
  assert.deepEqual(
    [level, why],
    [40, 'code_420'],
    'its connection to the card network is down: the payment is looked up later',
  )
})

test('a held order whose payment NMI no longer has is cancelled at once', async () => {
  const { nmi, app } = shared.current
  const shop = await openShop(app, 'held')
  const ban = { kind: 'email', value: 'review@shop.test', action: 'review' }
  assert.equal((await shop.merchant.post('/v1/merchant/fraud/bans', ban)).status, 201)
  const body = { ...cart(shop.variants[1_000]), email: 'review@shop.test' }
  const { order } = (await checkout(app, shop, body)).body
  assert.equal(order.status, 'on_hold')
  nmi.journal.length = 0
  const url = `/v1/merchant/orders/${order.id}/cancel`
  const key = { 'idempotency-key': randomUUID() }
  const cancelled = await shop.merchant.post(url, { reason: 'fraud' }, key)
  assert.deepEqual([cancelled.status, cancelled.body.order?.status], [200, 'cancelled'])
})

test("a bank's reason about renewals is a plain decline for a shopper who pays now", async () => {
  const { nmi, app } = shared.current
  const shop = await openShop(app, 'bank')
  const body = cart(shop.variants[1_000])
  const placed = (await checkout(app, shop, body)).body
  const edits = [{ order_item_id: placed.items[0].id, quantity: 2 }]
  const url = `/v1/tenants/${shop.tenant}/orders/${placed.order.id}/edit`
  const edit = () =>
    app.storefront.post(url, { edits, card: APPROVED }, { 'idempotency-key': randomUUID() })
  const retryable: Record<string, boolean> = { 261: false, 262: false, 263: false, 264: true }
  for (const code of Object.keys(retryable)) {
    for (const pay of [() => checkout(app, shop, body), edit]) {
      nmi.failNext({ code })
      const { status, body: answer } = await pay()
      const decline = { reason: 'card_declined', retryable: retryable[code] }
      assert.deepEqual([status, answer.decline], [402, decline], code)
    }
  }
})
