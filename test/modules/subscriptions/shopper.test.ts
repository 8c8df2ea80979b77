import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { DAY_MS } from '../../../src/kernel/time.ts'
import { createLinkToken } from '../../../src/modules/subscriptions/link.ts'
import { APPROVED } from '../checkout/setup.ts'
import { ADDRESS, cyclesOf, ok, openStores, refusal } from './setup.ts'

const OTHER = { ccnumber: '5431 1111 1111 1111', ccexp: '12/41', cvv: '999' }

test('a shopper', async (t) => {
  const stores = await openStores(t)
  const store = await stores.open('acme')
  const { shopper } = store

  await t.test('sees their own subscriptions, as the merchant does', async () => {
    const shown = await store.subscribe({ customer_ref: 'Zoë/1' })
    const list = ok(await shopper('GET', '', undefined, 'Zoë/1'))
    assert.deepEqual([list.subscriptions, list.total], [[shown], 1])
    const read = ok(await shopper('GET', `/${shown.id}`, undefined, 'Zoë/1'))
    assert.deepEqual(read.subscription, shown)
    const { cycles } = ok(await shopper('GET', `/${shown.id}/cycles`, undefined, 'Zoë/1'))
    assert.deepEqual(
      cycles.map(({ cycle, state, order_id }: Record<string, unknown>) => [cycle, state, order_id]),
      [[1, 'paid', shown.origin_order_id]],
    )
    assert.deepEqual(ok(await shopper('GET', '', undefined, 'nobody')).subscriptions, [])
    assert.deepEqual(ok(await shopper('GET', '', undefined, '')).subscriptions, [])
  })

  await t.test('pauses, resumes, skips, changes and cancels their own subscriptions', async () => {
    const { id } = await store.subscribe()
    const act = async (verb: string, body?: object) =>
      ok(await shopper('POST', `/${id}/${verb}`, body)).subscription
    assert.deepEqual(cyclesOf(await act('skip', { cycle: 2 })), [3, 4, 5])
    assert.deepEqual(cyclesOf(await act('unskip')), [2, 3, 4])
    assert.equal((await act('pause', { until: null })).status, 'paused')
    assert.equal((await act('resume')).status, 'active')
    const changed = ok(
      await shopper('PATCH', `/${id}`, {
        quantity: 2,
        interval: 'week',
        interval_count: 3,
        ship_to: { ...ADDRESS, line1: '3 Square' },
      }),
    ).subscription
    assert.deepEqual(
      [changed.quantity, changed.interval, changed.interval_count, changed.ship_to.line1],
      [2, 'week', 3, '3 Square'],
    )
    const card = await act('payment-method', { card: OTHER, ip: '192.0.2.1' })
    assert.equal(card.payment_method.brand, 'mastercard')
    assert.equal((await act('cancel', { reason: 'enough' })).status, 'cancelled')
    const { rows } = await store.superuser.query(
      `select reason from subscription_cycles where subscription_id = $1 and cycle = 2`,
      [id],
    )
    assert.deepEqual(rows, [{ reason: null }], 'unskipped')
  })

  await t.test('cannot set the price policy or the length, and is told so', async () => {
    const { id } = await store.subscribe()
    const answer = ok(
      await shopper('PATCH', `/${id}`, { quantity: 2, price_policy: 'current', max_cycles: 2 }),
    )
    assert.deepEqual(answer.ignored.toSorted(), ['max_cycles', 'price_policy'])
    const { quantity, price_policy, max_cycles } = answer.subscription
    assert.deepEqual([quantity, price_policy, max_cycles], [2, 'locked', null])
  })

  await t.test('finds no subscription of another customer, whatever they do', async () => {
    const { id, version } = await store.subscribe()
    const unknown = await shopper('GET', `/${randomUUID()}`)
    const tries = [
      ['GET', `/${id}`],
      ['GET', `/${id}/cycles`],
      ['POST', `/${id}/pause`, {}],
      ['POST', `/${id}/resume`, {}],
      ['POST', `/${id}/skip`, {}],
      ['POST', `/${id}/unskip`, {}],
      ['POST', `/${id}/cancel`, {}],
      ['POST', `/${id}/payment-method`, { card: APPROVED }],
      ['PATCH', `/${id}`, { quantity: 9 }],
    ] as const
    for (const [method, path, body] of tries) {
      for (const customer of ['eve', 'ANN', 'ann ', '', 'x'.repeat(201)]) {
        const answer = await shopper(method, path, body, customer)
        assert.deepEqual(refusal(answer), [404, 'subscription_not_found'], `${method} ${path}`)
        if (method === 'GET') assert.equal(answer.text, unknown.text)
      }
    }
    assert.equal((await store.read(id)).version, version)
    const foreign = await stores.open('globex')
    assert.deepEqual(refusal(await foreign.shopper('GET', `/${id}`)), [
      404,
      'subscription_not_found',
    ])
  })

  await t.test('opens their subscription by a signed link, until it expires', async () => {
    const { id } = await store.subscribe()
    const db = await store.app.store('acme')
    const key = store.app.runtime.key('subscription link')
    const open = (token: string, tenant = 'acme') =>
      store.app.storefront.post(`/v1/tenants/${tenant}/subscriptions/links/open`, { token })
    const token = createLinkToken(key, db, id, 30)
    const opened = ok(await open(token))
    assert.deepEqual([opened.subscription_id, opened.customer_ref], [id, 'ann'])
    assert.ok(Date.parse(opened.expires_at) > Date.now() + 29 * DAY_MS)
    const order = createLinkToken(store.app.runtime.key('order link'), db, id, 30)
    const bad = [`${token}A`, token.slice(0, -1), order, 'x', createLinkToken(key, db, id, -1)]
    bad.push(createLinkToken(key, db, randomUUID(), 1))
    for (const each of bad)
      assert.deepEqual(refusal(await open(each)), [404, 'subscription_not_found'])
    await stores.open('other')
    assert.deepEqual(refusal(await open(token, 'other')), [404, 'subscription_not_found'])
    assert.deepEqual(refusal(await open('')), [400, 'invalid_body'])
  })
})
