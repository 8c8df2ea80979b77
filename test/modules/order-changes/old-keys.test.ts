import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { Type } from 'typebox'
import { sql } from '../../../src/db/sql.ts'
import { OPERATION_NAMES } from '../../../src/modules/operations/table.ts'
import { deleteOldAnswers, OLD_ANSWERS } from '../../../src/platform/idempotency-upkeep.ts'
import type { Answer } from '../../harness/app.ts'
import { APPROVED, giveBalances, keyed, shareOrderStore } from '../orders/setup.ts'

const held = shareOrderStore()

/** Makes every answer older than the answers that are deleted, and deletes those. */
async function fortyDaysPass() {
  const { superuser, app } = held.current
  await superuser.query(
    `update idempotency_keys set answered_at = answered_at - interval '40 days'`,
  )
  await deleteOldAnswers(app.runtime.workerDatabase)
}

type Send = (key: string) => Promise<Answer>

/** Fails unless the same request is answered alike before and after its key is old. */
async function assertReplays(send: Send): Promise<Answer> {
  const key = randomUUID()
  const first = await send(key)
  await fortyDaysPass()
  const again = await send(key)
  assert.deepEqual([again.status, again.text], [first.status, first.text])
  assert.equal(again.headers['idempotent-replayed'], 'true')
  return first
}

test("a refund is not made again by its key after the answer's 30 days", async () => {
  const { place, merchant, read, net } = held.current
  const { order } = await place()
  const send = (key: string) => merchant(order.id, 'refunds', { amount_cents: 300 }, key)
  assert.equal((await assertReplays(send)).status, 201)
  assert.deepEqual([await net(order.id), (await read(order.id)).refunds.length], [1_700, 1])
})

test("a shopper’s refund is not made again by its key after the answer's 30 days", async () => {
  const { place, shopper, net } = held.current
  const { order, charges } = await place()
  const body = { charge_id: charges[0].charge_id, amount_cents: 300 }
  assert.equal((await assertReplays((key) => shopper(order.id, 'refund', body, key))).status, 200)
  assert.equal(await net(order.id), 1_700)
})

test('an edit does not return to its quantities when its old key is sent again', async () => {
  const { place, shopper, net } = held.current
  const { order, items } = await place()
  const editTo = (quantity: number) => ({
    edits: [{ order_item_id: items[0].id, quantity }],
    card: APPROVED,
  })
  const key = randomUUID()
  const less = await shopper(order.id, 'edit', editTo(1), key)
  assert.equal(less.status, 200, less.text)
  assert.equal((await shopper(order.id, 'edit', editTo(3))).status, 200)
  await fortyDaysPass()
  const again = await shopper(order.id, 'edit', editTo(1), key)
  assert.deepEqual([again.status, again.text], [200, less.text])
  assert.equal(await net(order.id), 3_000)
})

test('a cancellation gives the same answer for its old key', async () => {
  const { place, merchant } = held.current
  const { order } = await place()
  const cancelled = await assertReplays((key) =>
    merchant(order.id, 'cancel', { reason: 'staff' }, key),
  )
  assert.equal(cancelled.body.already_cancelled, false, cancelled.text)
})

test('gift cards and store credit are not moved again by an old key', async () => {
  const { shop } = held.current
  const { gift_card } = await giveBalances(held.current, 1_000, 700)
  const writes: Record<string, [path: string, body: object]> = {
    'a gift card': ['gift-cards', { initial_balance_cents: 500 }],
    'a batch': ['gift-cards/batch', { count: 2, initial_balance_cents: 500 }],
    'an adjustment': [
      `gift-cards/${gift_card.id}/adjust`,
      { delta_cents: 100, reason: 'a test', expected_balance_cents: 700 },
    ],
    'a credit': ['store-credit/ann/credit', { amount_cents: 100, currency: 'USD', reason: 'x' }],
    'a debit': ['store-credit/ann/debit', { amount_cents: 100, currency: 'USD', reason: 'x' }],
  }
  const owed = async () => {
    const { rows } = await held.current.superuser.query(
      `select count(*)::int as cards, sum(balance_cents)::int as cents from gift_cards`,
    )
    const credit = await shop.merchant.get('/v1/merchant/store-credit/ann')
    return [rows[0], credit.text]
  }
  for (const [what, [path, body]] of Object.entries(writes)) {
    const key = randomUUID()
    const send = () => shop.merchant.post(`/v1/merchant/${path}`, body, keyed(key))
    const first = await send()
    assert.ok(first.status < 300, `${what}: ${first.text}`)
    const before = await owed()
    await fortyDaysPass()
    const again = await send()
    assert.deepEqual([again.status, again.headers['idempotent-replayed']], [first.status, 'true'])
    assert.deepEqual(await owed(), before, what)
  }
})

test('the old key of a checkout places no second order', async () => {
  const { app, shop, superuser } = held.current
  const items = [{ variant_id: shop.variants[1_000], quantity: 1 }]
  const body = { customer_ref: 'ann', items, card: APPROVED }
  const key = randomUUID()
  const send = () => app.storefront.post('/v1/tenants/acme/checkout', body, keyed(key))
  assert.equal((await send()).status, 201)
  await fortyDaysPass()
  const again = await send()
  assert.equal(again.body.error.code, 'idempotency_key_reused', again.text)
  assert.match(again.body.error.message, /Do not send it again/)
  const count = `select count(*)::int from orders where idempotency_key = $1`
  assert.equal((await superuser.query(count, [key])).rows[0].count, 1)
})

test('the old key of a refused request is free again', async () => {
  const { place, merchant } = held.current
  const { order } = await place()
  const key = randomUUID()
  const refused = await merchant(order.id, 'refunds', { amount_cents: 9_000 }, key)
  assert.equal(refused.status, 422, refused.text)
  await fortyDaysPass()
  const again = await merchant(order.id, 'refunds', { amount_cents: 9_000 }, key)
  assert.equal(again.headers['idempotent-replayed'], undefined)
})

test('the answers of every operation are kept for good, except of checkouts, whose order has the key', async () => {
  const { rows } = await held.current.superuser.query(
    `select pg_get_indexdef('idempotency_keys_old'::regclass) as old`,
  )
  for (const name of OPERATION_NAMES) {
    assert.equal(rows[0].old.includes(`'${name}'`), name !== 'checkout', name)
  }
})

test('answers that are to be deleted are found by an index, however many are kept', async () => {
  const { superuser } = held.current
  await superuser.query(
    `insert into idempotency_keys (tenant_ref, operation, key, fingerprint, state, answered_at,
                                   response_status, response_body)
     select 'acme', 'refund', 'kept ' || n, decode(repeat('00', 32), 'hex'), 'answered',
            now() - interval '90 days', 201, '{}'
       from generate_series(1, 20000) n`,
  )
  await superuser.query('analyze idempotency_keys')
  const { only, since, before } = OLD_ANSWERS
  const plan = await held.current.app.runtime.workerDatabase.due.many(
    Type.Unsafe<object>({}),
    sql`explain select from idempotency_keys
         where tenant_ref = 'acme' and ${only} and ${since} < ${before} order by ${since} limit 1000`,
  )
  assert.match(JSON.stringify(plan), /idempotency_keys_old/)
  await superuser.query(`delete from idempotency_keys where key like 'kept %'`)
})
