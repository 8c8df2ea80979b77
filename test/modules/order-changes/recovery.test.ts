import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { editOperation } from '../../../src/modules/order-changes/edit-money.ts'
import { refundOperation } from '../../../src/modules/order-changes/refund-money.ts'
import { listCharges } from '../../../src/modules/orders/queries.ts'
import { refused } from '../../../src/modules/payments/adapters/results.ts'
import { run } from '../../../src/platform/idempotency-run.ts'
import { DUE_NOW, expireAllClaims, refund } from '../../harness/operations.ts'
import { APPROVED, checkout, LOST_AFTER_CHARGE, LOST_BEFORE_CHARGE } from '../checkout/setup.ts'
import type { OrderStore } from '../orders/setup.ts'
import { ACTOR, LATER_MS, OVER_AN_HOUR_MS, shareUnknownOutcomes } from './unknown-setup.ts'

const { shared, db, depsOf, begin, claimKey, explain, refusalOf } = shareUnknownOutcomes()

describe('an unknown outcome', () => {
  let store: OrderStore
  before(() => {
    store = shared.current
  })

  test('an unknown outcome of a refund is settled once, by the gateway’s own record', async () => {
    const { order } = await store.place()
    await assert.rejects(begin(depsOf('after'), order.id, 300), { code: 'payment_unconfirmed' })
    assert.equal((await store.read(order.id)).refunds[0].status, 'pending')
    const busy = await store.merchant(order.id, 'cancel', { reason: 'staff' })
    assert.equal(busy.body.error.code, 'order_busy')
    const answer = await refundOperation.resume(depsOf(), db(), await claimKey('refund'))
    assert.equal(answer.status, 201, answer.body)
    assert.equal(await store.net(order.id), 1_700)
    assert.equal((await store.read(order.id)).order.refunded_cents, 300)
    const { body } = await store.shop.merchant.get('/v1/my/audit?action=order.refunded')
    const onRecord = body.entries.filter(
      ({ entity }: { entity: string }) => entity === `order:${order.id}`,
    )
    assert.equal(onRecord.length, 1, 'the audit log names the caller, also after a resume')
    assert.equal(onRecord[0].actor, ACTOR.name)
  })

  test('an unknown outcome of a payment is explained: since when, how many lookups, and when the next one is', async () => {
    const items = [{ variant_id: store.shop.variants[1_000], quantity: 1 }]
    const body = { customer_ref: 'ann', items, card: LOST_BEFORE_CHARGE }
    const key = randomUUID()
    const unknown = await checkout(store.app, store.shop, body, key)
    assert.equal(unknown.status, 503, unknown.text)
    const { id } = unknown.body.order
    const first = await explain(id)
    assert.deepEqual([first.busy, first.allowed], [true, []])
    assert.equal(refusalOf(first, 'cancel'), 'payment_unconfirmed')
    assert.equal(refusalOf(first, 'refund'), 'order_pending_payment')
    for (const [verb, request, code] of [
      ['cancel', { reason: 'staff' }, 'order_busy'],
      ['refunds', {}, 'not_refundable'],
      ['refunds/preview', {}, 'not_refundable'],
    ] as const) {
      assert.equal((await store.merchant(id, verb, request)).body.error.code, code, verb)
    }
    const { attempt_id, since, next_check_at, meaning, ...wait } = first.facts.waiting_for
    assert.match(meaning, /asked again/)
    const simulated = { kind: 'checkout', gateway: 'simulated', amount_cents: 1_000 }
    assert.deepEqual(wait, { ...simulated, checks: 0, gives_up_at: null })
    assert.equal(since, new Date(since).toISOString())
    const find = `select id from payment_attempts where order_id = $1`
    assert.equal(attempt_id, (await store.superuser.query(find, [id])).rows[0].id)
    const inMs = Date.parse(next_check_at) - Date.parse(since)
    assert.ok(inMs > 0 && inMs < 70_000, next_check_at)

    await store.superuser.query(`update idempotency_keys set ${DUE_NOW} where key = $1`, [key])
    const again = await checkout(store.app, store.shop, body, key)
    assert.equal(again.body.error.code, 'idempotency_in_progress', again.text)
    assert.equal((await explain(id)).facts.waiting_for.checks, 1)
  })

  test('an unknown outcome of a refund is explained, with the same actions that the routes allow', async () => {
    const { order } = await store.place()
    const before = await explain(order.id)
    assert.deepEqual([before.busy, before.facts.waiting_for], [false, null])
    await assert.rejects(begin(depsOf('after'), order.id, 300), { code: 'payment_unconfirmed' })
    const part = await explain(order.id)
    assert.equal(part.busy, true)
    assert.equal(part.facts.waiting_for.kind, 'refund')
    assert.deepEqual(part.allowed, ['hold', 'process', 'fulfill', 'ship'])
    for (const [verb, body, action] of [
      ['cancel', { reason: 'staff' }, 'cancel'],
      ['refunds', {}, 'refund'],
    ] as const) {
      assert.equal(refusalOf(part, action), 'refund_pending')
      const refused = await store.merchant(order.id, verb, body)
      assert.equal(refused.body.error.code, 'order_busy', verb)
    }
    const [pending] = part.facts.pending_refunds
    assert.equal(pending.amount_cents, 300)
    const { gives_up_at, since, next_check_at, meaning } = part.facts.waiting_for
    const givesUpMs = Date.parse(gives_up_at) - Date.parse(since)
    assert.ok(givesUpMs >= 3_600_000 && givesUpMs < 3_660_000, gives_up_at)
    assert.ok(Date.parse(next_check_at) < Date.parse(gives_up_at), next_check_at)
    assert.match(meaning, /no record of the refund at `gives_up_at`/)
    await refundOperation.resume(depsOf(), db(), await claimKey('refund'))
    const { facts, busy, allowed } = await explain(order.id)
    assert.deepEqual(
      [busy, facts.waiting_for, facts.pending_refunds, allowed.includes('refund')],
      [false, null, [], true],
    )
  })

  test('an unknown outcome of a refund is pending while the refund may still arrive, and a repeat under a new key waits for it', async () => {
    const { order } = await store.place()
    await assert.rejects(begin(depsOf('before'), order.id, 300), { code: 'payment_unconfirmed' })
    for (const laterMs of [0, 13_000, 3_590_000]) {
      const early = refundOperation.resume(
        depsOf(undefined, laterMs),
        db(),
        await claimKey('refund'),
      )
      await assert.rejects(early, { code: 'idempotency_in_progress' })
      const repeated = await store.merchant(order.id, 'refunds', { amount_cents: 300 })
      assert.equal(repeated.body.error.code, 'order_busy', repeated.text)
      assert.equal((await store.read(order.id)).refunds[0].status, 'pending')
    }
    // It arrives late, after all.
    const find = `select id, parent_txn_id from payment_attempts where order_id = $1 and kind = 'refund'`
    const { rows } = await store.superuser.query(find, [order.id])
    const gateway = await depsOf().payments.forStore(db())
    const late = { ref: rows[0].id, txn_id: rows[0].parent_txn_id, amount_cents: 300 }
    assert.equal((await gateway.refund({ ...late, currency: 'USD' })).outcome, 'approved')
    const answer = await refundOperation.resume(depsOf(), db(), await claimKey('refund'))
    assert.equal(answer.status, 201, answer.body)
    const { order: refunded } = await store.read(order.id)
    assert.deepEqual([refunded.refunded_cents, await store.net(order.id)], [300, 1_700])
    await store.check()
  })

  test('an unknown outcome of a refund that the gateway has no record of fails after an hour', async () => {
    const { order } = await store.place()
    await assert.rejects(begin(depsOf('before'), order.id, 300), { code: 'payment_unconfirmed' })
    const early = await claimKey('refund')
    await assert.rejects(refundOperation.resume(depsOf(), db(), early), {
      code: 'idempotency_in_progress',
    })
    const answer = await refundOperation.resume(
      depsOf(undefined, OVER_AN_HOUR_MS),
      db(),
      await claimKey('refund'),
    )
    assert.equal(answer.status, 409)
    assert.match(answer.body, /refund_failed/)
    const detail = await store.read(order.id)
    assert.equal(detail.refunds[0].status, 'failed')
    assert.equal(detail.charges[0].refunded_cents, 0)
    assert.equal(detail.order.status, 'placed')
    const all = await store.merchant(order.id, 'refunds', {})
    assert.equal(all.body.refund.amount_cents, 2_000, all.text)
  })

  test("a refund of units over two cards, of which one refuses, counts the other card's share, and no units", async () => {
    const { order, items } = await store.place({ customer_ref: 'in-part' })
    const order_item_id = items[0].id
    const edits = [{ order_item_id, quantity: 3 }]
    assert.equal((await store.shopper(order.id, 'edit', { edits, card: APPROVED })).status, 200)
    const [first, second] = await listCharges(db(), order.id)
    const deps = depsOf()
    const forStore: typeof deps.payments.forStore = async (...of) => {
      const real = await deps.payments.forStore(...of)
      return {
        ...real,
        refund: async (what) =>
          what.txn_id === first?.txn_id ? refused('processing_error') : real.refund(what),
      }
    }
    const override = { ...deps, payments: { ...deps.payments, forStore } }
    const claim = { operation: 'refund', key: randomUUID(), fingerprint: Buffer.alloc(32) }
    const body = { items: [{ order_item_id, quantity: 2 }] }
    const answer = await run(db(), claim, (held) =>
      refund(override, db(), { actor: ACTOR, claim: held }, order.id, { by: 'merchant', body }),
    )
    assert.equal(JSON.parse(answer.body).refunded_cents, 1_000, answer.body)
    const { refunds, timeline, ...detail } = await store.read(order.id)
    const tenders = [{ charge_id: second?.charge_id, tender: 'card', amount_cents: 1_000 }]
    const [{ status, amount_cents, items: units }] = refunds
    assert.deepEqual([status, amount_cents, units], ['succeeded', 1_000, []])
    assert.deepEqual(refunds[0].tenders, tenders)
    const entry = timeline.find(({ type }: { type: string }) => type === 'refunded')
    assert.deepEqual(entry.data.tenders, tenders)
    assert.equal(detail.items[0].refunded_quantity, 0)
    const three = await store.merchant(order.id, 'refunds', {
      items: [{ order_item_id, quantity: 3 }],
    })
    assert.deepEqual([three.status, three.body.refundable_cents], [422, 2_000], three.text)
    const two = await store.merchant(order.id, 'refunds', body)
    assert.equal(two.body.refund.amount_cents, 2_000, two.text)
    assert.deepEqual([two.body.order.status, await store.net(order.id)], ['refunded', 0])
    await store.check()
  })

  test('a crash before the gateway was asked leaves no unknown outcome: the resume sends the refund once', async () => {
    const { order } = await store.place()
    const crash = () => Promise.reject(new Error('killed'))
    const at = (point: string) => (point === 'refund-begun' ? crash() : undefined)
    await assert.rejects(begin({ ...depsOf(), at }, order.id, 300), /killed/)
    const { waiting_for } = (await explain(order.id)).facts
    assert.equal(waiting_for.gives_up_at, null)
    assert.match(waiting_for.meaning, /not reached the gateway yet/)
    // The answer to the refund that the resume sends is lost, long after the crash.
    const first = refundOperation.resume(
      depsOf('after', OVER_AN_HOUR_MS),
      db(),
      await claimKey('refund'),
    )
    await assert.rejects(first, { code: 'idempotency_in_progress' })
    const answer = await refundOperation.resume(depsOf(), db(), await claimKey('refund'))
    assert.equal(answer.status, 201, answer.body)
    assert.equal(await store.net(order.id), 1_700)
    await store.check()
  })

  test('a process that lost its claim before it sent the refund leaves no unknown outcome to the process that took over', async () => {
    const { order } = await store.place()
    let sent = 0
    const at = async (point: string) => {
      if (point !== 'refund-sent' || sent++ > 0) return
      // The claim is lost between the mark and the call: the fenced gateway sends nothing.
      await expireAllClaims(store.superuser)
      await store.superuser.query(
        `update idempotency_keys set lease_token = gen_random_uuid() where state = 'running'`,
      )
    }
    // The same caller claims the key again, and finds a refund that was not sent.
    const answer = await begin({ ...depsOf(), at }, order.id, 300)
    assert.deepEqual([answer.status, sent], [201, 2], answer.body)
    assert.equal(await store.net(order.id), 1_700)
  })

  test("a gateway's refund before a crash is posted to the ledger", async () => {
    const { order } = await store.place()
    const at = (point: string) =>
      point === 'refund-answered' ? Promise.reject(new Error('killed')) : undefined
    await assert.rejects(begin({ ...depsOf(), at }, order.id, 2_000), /killed/)
    const answer = await refundOperation.resume(depsOf(), db(), await claimKey('refund'))
    assert.equal(answer.status, 201, answer.body)
    assert.equal((await store.read(order.id)).order.status, 'refunded')
    assert.equal(await store.net(order.id), 0)
  })

  test('an unknown outcome of an edit’s charge leaves the order unchanged until it is known', async () => {
    const { order, items } = await store.place()
    const edits = [{ order_item_id: items[0].id, quantity: 3 }]
    const body = { edits, card: LOST_AFTER_CHARGE }
    const key = randomUUID()
    const unknown = await store.shopper(order.id, 'edit', body, key)
    assert.equal(unknown.status, 503, unknown.text)
    assert.equal(unknown.body.error.code, 'payment_unconfirmed')
    assert.equal(unknown.body.order.id, order.id)
    assert.equal((await store.read(order.id)).order.total_cents, 2_000)
    const busy = await store.shopper(order.id, 'edit', { edits, card: APPROVED })
    assert.equal(busy.body.error.code, 'order_busy')
    await editOperation.resume(depsOf(), db(), await claimKey('edit'))
    const replayed = await store.shopper(order.id, 'edit', body, key)
    assert.equal(replayed.status, 200, replayed.text)
    assert.equal(replayed.body.order.total_cents, 3_000)
    assert.equal(await store.net(order.id), 3_000)
  })

  test('an unknown outcome of an edit’s charge by a shopper under review holds the order once it is known', async () => {
    const value = 'unknown@edit.example'
    const { order, items } = await store.place({ email: value })
    const ban = { kind: 'email', value, action: 'review' }
    assert.equal((await store.shop.merchant.post('/v1/merchant/fraud/bans', ban)).status, 201)
    const edits = [{ order_item_id: items[0].id, quantity: 3 }]
    const unknown = await store.shopper(order.id, 'edit', { edits, card: LOST_AFTER_CHARGE })
    assert.equal(unknown.status, 503, unknown.text)
    await editOperation.resume(depsOf(), db(), await claimKey('edit'))
    const { order: held } = await store.read(order.id)
    assert.deepEqual([held.status, held.hold.reason], ['on_hold', 'fraud_review'])
    assert.equal(await store.net(order.id), 3_000)
  })

  test('an unknown outcome of an edit’s charge that the gateway has no record of leaves the order as it was', async () => {
    const { order, items } = await store.place()
    const body = { edits: [{ order_item_id: items[0].id, quantity: 3 }], card: LOST_BEFORE_CHARGE }
    const key = randomUUID()
    assert.equal((await store.shopper(order.id, 'edit', body, key)).status, 503)
    await editOperation.resume(depsOf(undefined, LATER_MS), db(), await claimKey('edit'))
    const replayed = await store.shopper(order.id, 'edit', body, key)
    assert.equal(replayed.status, 402, replayed.text)
    assert.equal((await store.read(order.id)).order.total_cents, 2_000)
    assert.equal((await store.merchant(order.id, 'cancel', { reason: 'staff' })).status, 200)
  })
})
