import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { expireHold } from '../../../src/modules/checkout/operations-money.ts'
import { cancelPending } from '../../../src/modules/fulfillment/service.ts'
import type { Caller } from '../../../src/modules/operations/schema.ts'
import { cancelOperation } from '../../../src/modules/order-changes/cancel-money.ts'
import type { OrderChangeDeps } from '../../../src/modules/order-changes/deps.ts'
import { editOperation } from '../../../src/modules/order-changes/edit-money.ts'
import { refundOperation } from '../../../src/modules/order-changes/refund-money.ts'
import { listCharges } from '../../../src/modules/orders/queries.ts'
import { readCard } from '../../../src/modules/payments/card.ts'
import type { Gateway } from '../../../src/modules/payments/gateway.ts'
import { noRecord, notSent, refused, unknownResult } from '../../../src/modules/payments/gateway.ts'
import type { GatewayResult } from '../../../src/modules/payments/schema.ts'
import { openExchange } from '../../../src/modules/returns/exchange-money.ts'
import { cancelOfOrder } from '../../../src/modules/subscriptions/service.ts'
import type { StoredAnswer } from '../../../src/platform/idempotency.ts'
import { takeDue } from '../../../src/platform/idempotency-due.ts'
import { run } from '../../../src/platform/idempotency-run.ts'
import type { Answer } from '../../harness/app.ts'
import { cancel, DUE_NOW, edit, expireAllClaims, refund } from '../../harness/operations.ts'
import {
  APPROVED,
  addVariant,
  checkout,
  LOST_AFTER_CHARGE,
  LOST_BEFORE_CHARGE,
  movableClock,
  stock,
} from '../checkout/setup.ts'
import { giveBalances, type OrderStore, shareOrderStore } from '../orders/setup.ts'

const clock = movableClock()
const shared = shareOrderStore({ clock })
const ACTOR = { name: 'merchant_key:test', correlationId: null }

/** After this time a gateway without a record of a charge will not get it any more. */
const LATER_MS = 11_000

/** After this time a gateway without a record of a refund will not get it any more. */
const HOUR_MS = 3_601_000

type LostAnswer = 'after' | 'before'

const UNKNOWN = unknownResult()

describe('an unknown outcome', () => {
  let store: OrderStore
  before(() => {
    store = shared.current
  })

  const db = () => store.app.runtime.database.tenant('acme')
  const alerts: Record<string, unknown>[] = []

  /**
   * The app's deps, whose gateway loses its answers to refunds and voids: after or before it made
   * them.
   */
  const depsOf = (lost?: LostAnswer, laterMs = 0): OrderChangeDeps => {
    clock.reset()
    clock.advance(laterMs)
    const { payments, key } = store.app.runtime
    const losingAnswers = (gateway: Gateway): Gateway => {
      const loseAnswer = async (work: () => Promise<GatewayResult>) => {
        if (lost === 'after') await work()
        return UNKNOWN
      }
      return {
        ...gateway,
        refund: (what) => loseAnswer(() => gateway.refund(what)),
        void: (what) => loseAnswer(() => gateway.void(what)),
      }
    }
    const forStore: typeof payments.forStore = async (...of) => {
      const gateway = await payments.forStore(...of)
      return lost === undefined ? gateway : losingAnswers(gateway)
    }
    return {
      payments: { ...payments, forStore },
      tax: null,
      limits: store.app.runtime.limits,
      velocityLimit: 100_000,
      keys: { fingerprint: key('card fingerprint') },
      cancelParcels: cancelPending,
      openExchange,
      endSubscriptions: (tx, order) => cancelOfOrder(tx, order.id),
      onAlert: (about, message) => alerts.push({ message, ...about }),
    }
  }

  const begin = (deps: OrderChangeDeps, orderId: string, amount_cents: number) =>
    run(db(), { operation: 'refund', key: randomUUID(), fingerprint: Buffer.alloc(32) }, (claim) =>
      refund(deps, db(), { actor: ACTOR, claim }, orderId, {
        by: 'merchant',
        body: { amount_cents },
      }),
    )

  const beginCancel = (deps: OrderChangeDeps, orderId: string) => {
    const request = { reason: 'staff', note: null, restock: true, as: 'cancel' } as const
    const claim = { operation: 'cancel', key: randomUUID(), fingerprint: Buffer.alloc(32) }
    return run(db(), claim, (held) =>
      cancel(deps, db(), { actor: ACTOR, claim: held }, orderId, request),
    )
  }

  /** Cancels a held order as if its authorisation had lapsed; null where that cannot end yet. */
  const expire = async (deps: OrderChangeDeps, orderId: string) => {
    const lapse = `update charges set authorized_until = now() where order_id = $1
                      and status = 'authorized'`
    await store.superuser.query(lapse, [orderId])
    await expireAllClaims(store.superuser)
    const isEnded = await expireHold(deps, db(), orderId)
    return isEnded ? (await store.read(orderId)).order : null
  }

  const takeClaims = async (operation: string) => {
    await store.superuser.query(`update idempotency_keys set ${DUE_NOW} where state = 'running'`)
    return takeDue(db(), { operations: [operation], limit: 10 })
  }

  /** The one claim that a stopped process left. */
  const takeClaim = async (operation: string) => {
    const [claim, ...others] = await takeClaims(operation)
    assert.ok(claim)
    assert.deepEqual(others, [])
    return claim
  }

  test('of a refund is settled once, by the gateway’s own record', async () => {
    const { order } = await store.place()
    await assert.rejects(begin(depsOf('after'), order.id, 300), { code: 'payment_unconfirmed' })
    assert.equal((await store.read(order.id)).refunds[0].status, 'pending')
    const busy = await store.merchant(order.id, 'cancel', { reason: 'staff' })
    assert.equal(busy.body.error.code, 'order_busy')
    const answer = await refundOperation.resume(depsOf(), db(), await takeClaim('refund'))
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

  const explain = async (orderId: string) =>
    (await store.shop.merchant.get(`/v1/merchant/orders/${orderId}/explain`)).body
  const refusalOf = (explained: Answer['body'], action: string) =>
    explained.refused.find((each: { action: string }) => each.action === action)?.reason

  test('of a payment is explained: since when, how many lookups, and when the next one is', async () => {
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
    const inMs = Date.parse(next_check_at) - Date.now()
    assert.ok(inMs > 0 && inMs <= 10_000, next_check_at)

    await store.superuser.query(`update idempotency_keys set ${DUE_NOW} where key = $1`, [key])
    const again = await checkout(store.app, store.shop, body, key)
    assert.equal(again.body.error.code, 'idempotency_in_progress', again.text)
    assert.equal((await explain(id)).facts.waiting_for.checks, 1)
  })

  test('of a refund is explained, with the same actions that the routes allow', async () => {
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
    await refundOperation.resume(depsOf(), db(), await takeClaim('refund'))
    const { facts, busy, allowed } = await explain(order.id)
    assert.deepEqual(
      [busy, facts.waiting_for, facts.pending_refunds, allowed.includes('refund')],
      [false, null, [], true],
    )
  })

  test('of a refund is pending while it may still arrive, and a repeat under a new key waits for it', async () => {
    const { order } = await store.place()
    await assert.rejects(begin(depsOf('before'), order.id, 300), { code: 'payment_unconfirmed' })
    for (const laterMs of [0, 13_000, 3_590_000]) {
      const early = refundOperation.resume(
        depsOf(undefined, laterMs),
        db(),
        await takeClaim('refund'),
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
    const answer = await refundOperation.resume(depsOf(), db(), await takeClaim('refund'))
    assert.equal(answer.status, 201, answer.body)
    const { order: refunded } = await store.read(order.id)
    assert.deepEqual([refunded.refunded_cents, await store.net(order.id)], [300, 1_700])
    await store.check()
  })

  test('of a refund that the gateway has no record of fails after an hour', async () => {
    const { order } = await store.place()
    await assert.rejects(begin(depsOf('before'), order.id, 300), { code: 'payment_unconfirmed' })
    const early = await takeClaim('refund')
    await assert.rejects(refundOperation.resume(depsOf(), db(), early), {
      code: 'idempotency_in_progress',
    })
    const answer = await refundOperation.resume(
      depsOf(undefined, HOUR_MS),
      db(),
      await takeClaim('refund'),
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

  test("of a refund of units that one of two cards refuses counts the other card's share, and no units", async () => {
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

  test('of a crash before the gateway was asked is none: the refund is sent by the resume, once', async () => {
    const { order } = await store.place()
    const crash = () => Promise.reject(new Error('killed'))
    const at = (point: string) => (point === 'refund-begun' ? crash() : undefined)
    await assert.rejects(begin({ ...depsOf(), at }, order.id, 300), /killed/)
    const { waiting_for } = (await explain(order.id)).facts
    assert.equal(waiting_for.gives_up_at, null)
    assert.match(waiting_for.meaning, /not reached the gateway yet/)
    // The answer to the refund that the resume sends is lost, long after the crash.
    const first = refundOperation.resume(depsOf('after', HOUR_MS), db(), await takeClaim('refund'))
    await assert.rejects(first, { code: 'idempotency_in_progress' })
    const answer = await refundOperation.resume(depsOf(), db(), await takeClaim('refund'))
    assert.equal(answer.status, 201, answer.body)
    assert.equal(await store.net(order.id), 1_700)
    await store.check()
  })

  test('of a process that lost its claim before it sent the refund is none for its successor', async () => {
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

  test("of a crash after the gateway's refund is posted to the ledger", async () => {
    const { order } = await store.place()
    const at = (point: string) =>
      point === 'refund-answered' ? Promise.reject(new Error('killed')) : undefined
    await assert.rejects(begin({ ...depsOf(), at }, order.id, 2_000), /killed/)
    const answer = await refundOperation.resume(depsOf(), db(), await takeClaim('refund'))
    assert.equal(answer.status, 201, answer.body)
    assert.equal((await store.read(order.id)).order.status, 'refunded')
    assert.equal(await store.net(order.id), 0)
  })

  test('of a cancellation keeps the order busy until it is known, and then ends', async () => {
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
    const answer = await cancelOperation.resume(depsOf(), db(), await takeClaim('cancel'))
    assert.equal(answer.status, 200, answer.body)
    assert.equal((await store.read(order.id)).order.status, 'cancelled')
    assert.equal(await store.net(order.id), 0)
  })

  test('of a void and a refund that a gateway refuses is an alert', async () => {
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

  test('of a void that was never sent does not count as a refusal', async () => {
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

  test('of a void that fails by a passing fault of the gateway does not count as a refusal for an hour', async () => {
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

  test('of a refund in place of a void is not sent again while it may still arrive', async () => {
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
    assert.equal(await cancelBy(HOUR_MS), null)
    assert.equal(sent, 2, 'it counts as lost after an hour, and is sent again')
    const arrived = { ...noRecord(), found: 'yes', state: 'refunded', txn_id: 'late' } as const
    const ended = await cancelBy(0, { lookup: async () => arrived })
    assert.deepEqual([ended?.status, sent, alerts], ['cancelled', 2, []])
    // The real gateway has captured nothing, and voids.
    const gateway = await depsOf().payments.forStore(db())
    const [charge] = await listCharges(db(), order.id)
    assert.equal((await gateway.void({ txn_id: charge?.txn_id ?? '' })).outcome, 'approved')
  })

  test('of a cancellation that failed leaves the order as it was', async () => {
    const { order } = await store.place()
    await assert.rejects(beginCancel(depsOf('before'), order.id), { code: 'payment_unconfirmed' })
    const early = cancelOperation.resume(depsOf(undefined, 13_000), db(), await takeClaim('cancel'))
    await assert.rejects(early, { code: 'idempotency_in_progress' })
    const answer = await cancelOperation.resume(
      depsOf(undefined, HOUR_MS),
      db(),
      await takeClaim('cancel'),
    )
    assert.equal(answer.status, 409, answer.body)
    assert.equal(JSON.parse(answer.body).error.code, 'refund_failed')
    assert.equal((await store.read(order.id)).order.status, 'placed')
    const again = await store.merchant(order.id, 'cancel', { reason: 'staff' })
    assert.equal(again.status, 200, again.text)
  })

  test('of an edit’s charge leaves the order unchanged until it is known', async () => {
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
    await editOperation.resume(depsOf(), db(), await takeClaim('edit'))
    const replayed = await store.shopper(order.id, 'edit', body, key)
    assert.equal(replayed.status, 200, replayed.text)
    assert.equal(replayed.body.order.total_cents, 3_000)
    assert.equal(await store.net(order.id), 3_000)
  })

  test('of an edit’s charge by a shopper under review holds the order once it is known', async () => {
    const value = 'unknown@edit.example'
    const { order, items } = await store.place({ email: value })
    const ban = { kind: 'email', value, action: 'review' }
    assert.equal((await store.shop.merchant.post('/v1/merchant/fraud/bans', ban)).status, 201)
    const edits = [{ order_item_id: items[0].id, quantity: 3 }]
    const unknown = await store.shopper(order.id, 'edit', { edits, card: LOST_AFTER_CHARGE })
    assert.equal(unknown.status, 503, unknown.text)
    await editOperation.resume(depsOf(), db(), await takeClaim('edit'))
    const { order: held } = await store.read(order.id)
    assert.deepEqual([held.status, held.hold.reason], ['on_hold', 'fraud_review'])
    assert.equal(await store.net(order.id), 3_000)
  })

  test('of an edit’s charge that the gateway has no record of leaves the order as it was', async () => {
    const { order, items } = await store.place()
    const body = { edits: [{ order_item_id: items[0].id, quantity: 3 }], card: LOST_BEFORE_CHARGE }
    const key = randomUUID()
    assert.equal((await store.shopper(order.id, 'edit', body, key)).status, 503)
    await editOperation.resume(depsOf(undefined, LATER_MS), db(), await takeClaim('edit'))
    const replayed = await store.shopper(order.id, 'edit', body, key)
    assert.equal(replayed.status, 402, replayed.text)
    assert.equal((await store.read(order.id)).order.total_cents, 2_000)
    assert.equal((await store.merchant(order.id, 'cancel', { reason: 'staff' })).status, 200)
  })

  interface Scenario {
    operation: 'refund' | 'cancel' | 'edit'
    /**
     * The points before anything is sent, the point where it counts as sent and no gateway has it,
     * and the point after the answer.
     */
    before: string[]
    sent: string
    after: string
    /** Whether a resume sends what was not sent. A card that was typed is not stored. */
    isResumed: boolean
    begin(deps: OrderChangeDeps, held: Caller, order: Bought): Promise<StoredAnswer>
    /** The order once the operation is done. */
    done: { status: string; total_cents: number; refunded_cents: number }
  }

  interface Bought {
    id: string
    item: string
  }

  const resumes = {
    refund: refundOperation.resume,
    cancel: cancelOperation.resume,
    edit: editOperation.resume,
  }

  const editTo =
    (quantity: number): Scenario['begin'] =>
    (deps, held, { id, item }) =>
      edit(deps, db(), held, id, {
        body: { edits: [{ order_item_id: item, quantity }] },
        tender: { by: 'card', source: { card: readCard(APPROVED) } },
        note: null,
      })

  const SCENARIOS: Record<string, Scenario> = {
    'a refund': {
      operation: 'refund',
      before: ['refund-begun'],
      sent: 'refund-sent',
      after: 'refund-answered',
      isResumed: true,
      begin: (deps, held, { id }) =>
        refund(deps, db(), held, id, { by: 'merchant', body: { amount_cents: 2_000 } }),
      done: { status: 'partially_refunded', total_cents: 3_000, refunded_cents: 2_000 },
    },
    'a cancellation': {
      operation: 'cancel',
      before: ['cancel-begun'],
      sent: 'refund-sent',
      after: 'cancel-answered',
      isResumed: true,
      begin: (deps, held, { id }) =>
        cancel(deps, db(), held, id, { reason: 'staff', note: null, restock: true, as: 'cancel' }),
      done: { status: 'cancelled', total_cents: 3_000, refunded_cents: 3_000 },
    },
    'an edit that charges': {
      operation: 'edit',
      before: ['edit-begun'],
      sent: 'edit-sent',
      after: 'edit-answered',
      isResumed: false,
      begin: editTo(3),
      done: { status: 'placed', total_cents: 4_500, refunded_cents: 0 },
    },
    'an edit that refunds': {
      operation: 'edit',
      before: ['edit-begun'],
      sent: 'refund-sent',
      after: 'edit-answered',
      isResumed: true,
      begin: editTo(1),
      done: { status: 'placed', total_cents: 1_500, refunded_cents: 0 },
    },
  }

  for (const [
    what,
    { operation, before: early, sent, after: late, isResumed, begin: start, done },
  ] of Object.entries(SCENARIOS)) {
    for (const point of [...early, sent, late]) {
      test(`of ${what} after a crash at ${point} ends either fully done or not at all`, async () => {
        const { code } = await giveBalances(store, 0, 700)
        const variant_id = await addVariant(store.shop.merchant, 1_500)
        await stock(store.shop.merchant, variant_id, 10)
        const items = [{ variant_id, quantity: 2 }]
        const placed = await store.place({ items, gift_card_code: code })
        const bought = { id: placed.order.id as string, item: placed.items[0].id as string }
        const at = (reached: string) =>
          reached === point ? Promise.reject(new Error('killed')) : undefined
        const claim = { operation, key: randomUUID(), fingerprint: Buffer.alloc(32) }
        const begun = run(db(), claim, (held) =>
          start({ ...depsOf(), at }, { actor: ACTOR, claim: held }, bought),
        )
        await assert.rejects(begun, /killed/)
        const busy = await store.merchant(bought.id, 'cancel', { reason: 'staff' })
        assert.equal(busy.body.error.code, 'order_busy')
        const resume = async (laterMs: number) =>
          resumes[operation](depsOf(undefined, laterMs), db(), await takeClaim(operation))
        const isPending = isResumed && point === sent
        if (isPending) await assert.rejects(resume(LATER_MS), { code: 'idempotency_in_progress' })
        await resume(isPending ? HOUR_MS : LATER_MS)
        const { order } = await store.read(bought.id)
        const { status, total_cents, refunded_cents } = order
        const undone = { status: 'placed', total_cents: 3_000, refunded_cents: 0 }
        const isDone = point === late || (isResumed && point !== sent)
        assert.deepEqual({ status, total_cents, refunded_cents }, isDone ? done : undone)
        await store.check()
        if (status !== 'cancelled') {
          const again = await store.merchant(bought.id, 'cancel', { reason: 'staff' })
          assert.equal(again.status, 200, again.text)
        }
        assert.equal(await store.net(bought.id), 0)
        await store.check()
      })
    }
  }
})
