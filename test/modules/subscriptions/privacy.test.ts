import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { exportOf } from '../../../src/modules/subscriptions/customer-data.ts'
import { createLinkToken } from '../../../src/modules/subscriptions/link.ts'
import { APPROVED } from '../checkout/setup.ts'
import { ADDRESS, ok, openStores, refusal } from './setup.ts'

const ERASE = '/v1/my/privacy/erase'

test('a customer’s export has their subscriptions with all cycles, and no reference to the card', async (t) => {
  const stores = await openStores(t)
  const store = await stores.open('acme')
  const { id } = await store.subscribe()
  ok(await store.act(id, 'skip', { cycle: 2 }))
  const [copy, ...more] = await exportOf(await store.app.store('acme'), 'ann')
  assert.deepEqual(more, [])
  const { cycles, ship_to, email, card_last4 } = copy ?? {}
  assert.deepEqual([ship_to, email, card_last4], [ADDRESS, 'ann@x.example', '1111'])
  assert.deepEqual(
    (cycles as { cycle: number; state: string }[]).map(({ cycle, state }) => [cycle, state]),
    [
      [1, 'paid'],
      [2, 'skipped'],
    ],
  )
  assert.doesNotMatch(JSON.stringify(copy), /vault|fingerprint|lease|tenant_ref/)
})

test('an erased customer’s subscription ends, and no request and no link finds the person again', async (t) => {
  const stores = await openStores(t)
  const store = await stores.open('acme')
  const { id } = await store.subscribe()
  const ended = await store.subscribe()
  ok(await store.act(ended.id, 'cancel', { reason: 'Ann has moved to 9 Secret Lane' }))
  const link = createLinkToken(
    store.app.runtime.key('subscription link'),
    await store.app.store('acme'),
    id,
    30,
  )
  const key = { 'idempotency-key': randomUUID() }
  const { confirm } = ok(await store.merchant.post(ERASE, { customer_ref: 'ann' }), 202)
  ok(await store.merchant.post(ERASE, { customer_ref: 'ann', confirm }, key))
  const shown = await store.read(id)
  assert.deepEqual(
    [shown.status, shown.email, shown.ship_to, shown.payment_method, shown.next_charge_at],
    ['cancelled', null, null, null, null],
  )
  assert.notEqual(shown.customer_ref, 'ann')
  assert.equal((await store.read(ended.id)).cancel_reason, '[erased]')
  for (const verb of ['pause', 'resume', 'skip', 'unskip', 'cancel'])
    assert.deepEqual(refusal(await store.act(id, verb)), [409, 'invalid_transition'], verb)
  assert.deepEqual(refusal(await store.patch(id, { quantity: 2 })), [409, 'invalid_transition'])
  const card = await store.act(id, 'payment-method', { card: APPROVED })
  assert.deepEqual(refusal(card), [409, 'invalid_transition'])
  assert.deepEqual(refusal(await store.shopper('POST', `/${id}/resume`)), [
    404,
    'subscription_not_found',
  ])
  const opened = await store.app.storefront.post('/v1/tenants/acme/subscriptions/links/open', {
    token: link,
  })
  assert.deepEqual(refusal(opened), [404, 'subscription_not_found'])
})
