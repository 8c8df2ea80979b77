import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { cancelOperation } from '../../../src/modules/order-changes/cancel-money.ts'
import { listCharges } from '../../../src/modules/orders/queries.ts'
import type { Gateway } from '../../../src/modules/payments/adapters/gateway.ts'
import { noRecord, notSent, refused } from '../../../src/modules/payments/adapters/results.ts'
import type { OrderStore } from '../orders/setup.ts'
import { OVER_AN_HOUR_MS, shareUnknownOutcomes, UNKNOWN } from './unknown-setup.ts'

const { shared, db, alerts, depsOf, beginCancel, expire, claimKey, explain, refusalOf } =
  shareUnknownOutcomes()

describe('an unknown outcome', () => {
  let store: OrderStore
  before(() => {
    store = shared.current
  })

  test('an unknown outcome of a cancellation keeps the order busy until it is known, and then ends', async () => {
    const { order } = await store.place()
    await assert.rejects(beginCancel(depsOf('after'), order.id), { code: 'payment_unconfirmed' })
    for (const [verb, body] of [
      ['cancel', { reason: 'staff' }],
      ['refunds', {}],
      ['hold', {}],
    ] as const) {
      const busy = await store.merchant(order.id, verb, body)
      assert.equal(busy.body.error.code, 'order_busy', verb)
    }
    const explained = await explain(order.id)
    assert.deepEqual([explained.busy, explained.allowed], [true, []])
    assert.equal(refusalOf(explained, 'refund'), 'order_busy')
    assert.equal(explained.facts.waiting_for.kind, 'refund')
    const answer = await cancelOperation.resume(depsOf(), db(), await claimKey('cancel'))
    assert.equal(answer.status, 200, answer.body)
    assert.equal((await store.read(order.id)).order.status, 'cancelled')
    assert.equal(await store.net(order.id), 0)
  })

  test('an unknown outcome of a void and a refund that a gateway refuses is an alert', async () => {
    const ban = { kind: 'email', value: 'kept@bad.example', action: 'review', reason: 'a test' }
    await store.shop.merchant.post('/v1/merchant/fraud/bans', ban)
    const { order } = await store.place({ email: ban.value })
    const deps = depsOf()
    const refused = { ...UNKNOWN, outcome: 'error' } as const
    const keeps: typeof deps.payments.forStore = async (...of) => ({
      ...(await deps.payments.forStore(...of)),
      void: async () => ({ ...refused, reason: 'already_settled' }),
      refund: async () => ({ ...refused, reason: 'invalid_state' }),
    })
    const keeping = { ...deps, payments: { ...deps.payments, forStore: keeps } }
    const ended = await expire(keeping, order.id)
    assert.equal(ended?.status, 'cancelled')
    const [alert, ...others] = alerts.splice(0)
    assert.deepEqual(others, [])
    assert.match(String(alert?.message), /neither voided nor refunded/)
    assert.equal(alert?.order_id, order.id)
    const { timeline } = await store.read(order.id)
    const entry = timeline.find(({ type }: { type: string }) => type === 'payment_not_returned')
    assert.equal(entry.data.amount_cents, order.total_cents)
    // The real gateway has captured nothing, and voids.
    const gateway = await deps.payments.forStore(db())
    const [charge] = await listCharges(db(), order.id)
    assert.equal((await gateway.void({ txn_id: charge?.txn_id ?? '' })).outcome, 'approved')
  })

  test('an unknown outcome of a void that was never sent does not count as a refusal', async () => {
    const ban = { kind: 'email', value: 'away@bad.example', action: 'review', reason: 'a test' }
    await store.shop.merchant.post('/v1/merchant/fraud/bans', ban)
    const { order } = await store.place({ email: ban.value })
    const cancelBy = (override: Partial<Gateway>) => {
      const deps = depsOf()
      const forStore: typeof deps.payments.forStore = async (...of) => ({
        ...(await deps.payments.forStore(...of)),
        ...override,
      })
      return expire({ ...deps, payments: { ...deps.payments, forStore } }, order.id)
    }
    const away = async () => notSent()
    assert.equal(await cancelBy({ void: away }), null)
    const settled = async () => refused('already_settled')
    assert.equal(await cancelBy({ void: settled, refund: away }), null)
    assert.equal((await store.read(order.id)).order.status, 'on_hold')
    assert.deepEqual(alerts, [])
    assert.equal((await cancelBy({}))?.status, 'cancelled')
    await store.check()
  })

  test('an unknown outcome of a void that fails by a passing fault of the gateway does not count as a refusal for an hour', async () => {
    const ban = { kind: 'email', value: 'ill@bad.example', action: 'review', reason: 'a test' }
    await store.shop.merchant.post('/v1/merchant/fraud/bans', ban)
    const ill = async () => refused('processing_error')
    const cancelBy = (order_id: string, override: Partial<Gateway>, laterMs = 0) => {
      const deps = depsOf(undefined, laterMs)
      const forStore: typeof deps.payments.forStore = async (...of) => ({
        ...(await deps.payments.forStore(...of)),
        ...override,
      })
      return expire({ ...deps, payments: { ...deps.payments, forStore } }, order_id)
    }
    const { order } = await store.place({ email: ban.value })
    assert.equal(await cancelBy(order.id, { void: ill }), null)
    const settled = async () => refused('already_settled')
    assert.equal(await cancelBy(order.id, { void: settled, refund: ill }), null)
    const failed = { ...noRecord(), found: 'yes', state: 'failed', code: '400' } as const
    const sent: string[] = []
    const again: Partial<Gateway> = {
      void: settled,
      lookup: async () => failed,
      async refund({ ref }) {
        sent.push(ref)
        return ill()
      },
    }
    assert.equal(await cancelBy(order.id, again), null)
    assert.equal(sent.length, 1, 'a failed void is sent again')
    assert.deepEqual(alerts, [])
    assert.equal((await cancelBy(order.id, {}))?.status, 'cancelled')
    await store.check()

    const { order: other } = await store.place({ email: ban.value })
    assert.equal(await cancelBy(other.id, { void: ill }, 50 * 60_000), null)
    const ended = await cancelBy(other.id, { void: ill }, 61 * 60_000)
    assert.equal(ended?.status, 'cancelled', 'an authorisation lapses by itself')
    const gateway = await depsOf().payments.forStore(db())
    const [charge] = await listCharges(db(), other.id)
    assert.equal((await gateway.void({ txn_id: charge?.txn_id ?? '' })).outcome, 'approved')
  })

  test('an unknown outcome of a refund in place of a void is not sent again while it may still arrive', async () => {
    const ban = { kind: 'email', value: 'late@bad.example', action: 'review', reason: 'a test' }
    await store.shop.merchant.post('/v1/merchant/fraud/bans', ban)
    const { order } = await store.place({ email: ban.value })
    let sent = 0
    const silent = async () => {
      sent++
      return UNKNOWN
    }
    const cancelBy = (laterMs: number, override: Partial<Gateway> = {}) => {
      const deps = depsOf(undefined, laterMs)
      const forStore: typeof deps.payments.forStore = async (...of) => ({
        ...(await deps.payments.forStore(...of)),
        void: async () => refused('already_settled'),
        refund: silent,
        lookup: async () => noRecord(),
        ...override,
      })
      return expire({ ...deps, payments: { ...deps.payments, forStore } }, order.id)
    }
    for (const laterMs of [0, 13_000, 3_590_000]) assert.equal(await cancelBy(laterMs), null)
    assert.equal(sent, 1)
    assert.equal(await cancelBy(OVER_AN_HOUR_MS), null)
    assert.equal(sent, 2, 'it counts as lost after an hour, and is sent again')
    const arrived = { ...noRecord(), found: 'yes', state: 'refunded', txn_id: 'late' } as const
    const ended = await cancelBy(0, { lookup: async () => arrived })
    assert.deepEqual([ended?.status, sent, alerts], ['cancelled', 2, []])
    // The real gateway has captured nothing, and voids.
    const gateway = await depsOf().payments.forStore(db())
    const [charge] = await listCharges(db(), order.id)
    assert.equal((await gateway.void({ txn_id: charge?.txn_id ?? '' })).outcome, 'approved')
  })

  test('an unknown outcome of a refund in place of a void is not sent again after an overtaken process goes on', async () => {
    const ban = { kind: 'email', value: 'paused@bad.example', action: 'review', reason: 'a test' }
    await store.shop.merchant.post('/v1/merchant/fraud/bans', ban)
    const { order } = await store.place({ email: ban.value })
    let sent = 0
    const cancelBy = (laterMs: number, lookup: Gateway['lookup'] = async () => noRecord()) => {
      const deps = depsOf(undefined, laterMs)
      const forStore: typeof deps.payments.forStore = async (...of) => ({
        ...(await deps.payments.forStore(...of)),
        void: async () => refused('already_settled'),
        async refund() {
          sent++
          return UNKNOWN
        },
        lookup,
      })
      return expire({ ...deps, payments: { ...deps.payments, forStore } }, order.id)
    }
    assert.equal(await cancelBy(0), null)
    const paused = async () => {
      assert.equal(await cancelBy(OVER_AN_HOUR_MS), null)
      assert.equal(sent, 2, 'the process that took over has sent it again')
      return noRecord()
    }
    assert.equal(await cancelBy(OVER_AN_HOUR_MS, paused), null)
    assert.equal(await cancelBy(0), null)
    assert.equal(sent, 2, 'it may still arrive')
    const arrived = { ...noRecord(), found: 'yes', state: 'refunded', txn_id: 'late' } as const
    const ended = await cancelBy(0, async () => arrived)
    assert.deepEqual([ended?.status, sent, alerts], ['cancelled', 2, []])
    const gateway = await depsOf().payments.forStore(db())
    const [charge] = await listCharges(db(), order.id)
    assert.equal((await gateway.void({ txn_id: charge?.txn_id ?? '' })).outcome, 'approved')
  })

  test('an unknown outcome of a cancellation that failed leaves the order as it was', async () => {
    const { order } = await store.place()
    await assert.rejects(beginCancel(depsOf('before'), order.id), { code: 'payment_unconfirmed' })
    const early = cancelOperation.resume(depsOf(undefined, 13_000), db(), await claimKey('cancel'))
    await assert.rejects(early, { code: 'idempotency_in_progress' })
    const answer = await cancelOperation.resume(
      depsOf(undefined, OVER_AN_HOUR_MS),
      db(),
      await claimKey('cancel'),
    )
    assert.equal(answer.status, 409, answer.body)
    assert.equal(JSON.parse(answer.body).error.code, 'refund_failed')
    assert.equal((await store.read(order.id)).order.status, 'placed')
    const again = await store.merchant(order.id, 'cancel', { reason: 'staff' })
    assert.equal(again.status, 200, again.text)
  })
})
