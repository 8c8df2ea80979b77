import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { expireHold } from '../../../src/modules/checkout/operations.ts'
import type { Caller } from '../../../src/modules/operations/schema.ts'
import { cancelOperation } from '../../../src/modules/order-changes/cancel-money.ts'
import type { OrderChangeDeps } from '../../../src/modules/order-changes/deps.ts'
import { editOperation } from '../../../src/modules/order-changes/edit-money.ts'
import { refundOperation } from '../../../src/modules/order-changes/refund-money.ts'
import { listCharges } from '../../../src/modules/orders/queries.ts'
import { readCard } from '../../../src/modules/payments/card.ts'
import type { Gateway } from '../../../src/modules/payments/gateway.ts'
import { noRecord, notSent, refused } from '../../../src/modules/payments/gateway.ts'
import type { GatewayResult } from '../../../src/modules/payments/schema.ts'
import { endOfOrder } from '../../../src/modules/subscriptions/service.ts'
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

/** The time by which a gateway that knows nothing has never heard of it. */
const LATER_MS = 11_000

type Silence = 'after' | 'before'

const UNKNOWN: GatewayResult = {
  outcome: 'unknown',
  txn_id: null,
  auth_code: null,
  avs: null,
  cvv: null,
  code: null,
  reason: null,
  retryable: false,
  retry_class: null,
  fraud_signal: false,
  vault_id: null,
  card: null,
}

describe('an outcome that nobody knows', () => {
  let store: OrderStore
  before(() => {
    store = shared.current
  })

  const db = () => store.app.runtime.database.tenant('acme')
  const alerts: Record<string, unknown>[] = []

  /** The app's own gateway, which keeps silent about refunds and voids that it has made, or has not. */
  const depsOf = (silence?: Silence, laterMs = 0): OrderChangeDeps => {
    clock.reset()
    clock.advance(laterMs)
    const { payments, key } = store.app.runtime
    const unanswered = (gateway: Gateway): Gateway => {
      const say = async (work: () => Promise<GatewayResult>) => {
        if (silence === 'after') await work()
        return UNKNOWN
      }
      return {
        ...gateway,
        refund: (what) => say(() => gateway.refund(what)),
        void: (what) => say(() => gateway.void(what)),
      }
    }
    const forStore: typeof payments.forStore = async (...of) => {
      const gateway = await payments.forStore(...of)
      return silence === undefined ? gateway : unanswered(gateway)
    }
    return {
      payments: { ...payments, forStore },
      tax: null,
      limits: store.app.runtime.limits,
      velocityLimit: 100_000,
      keys: { fingerprint: key('card fingerprint') },
      endSubscriptions: endOfOrder,
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
    const wish = { reason: 'staff', note: null, restock: true, as: 'cancel' } as const
    const claim = { operation: 'cancel', key: randomUUID(), fingerprint: Buffer.alloc(32) }
    return run(db(), claim, (held) =>
      cancel(deps, db(), { actor: ACTOR, claim: held }, orderId, wish),
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

  const takeAll = async (operation: string) => {
    await store.superuser.query(`update idempotency_keys set ${DUE_NOW} where state = 'running'`)
    return takeDue(db(), { operations: [operation], limit: 10 })
  }

  /** The one claim that somebody left. */
  const takeUp = async (operation: string) => {
    const [claim, ...others] = await takeAll(operation)
    assert.ok(claim)
    assert.deepEqual(others, [])
    return claim
  }

  test('of a refund is settled by the gateway’s own record, once', async () => {
    const { order } = await store.place()
    await assert.rejects(begin(depsOf('after'), order.id, 300), { code: 'payment_unconfirmed' })
    assert.equal((await store.read(order.id)).refunds[0].status, 'pending')
    const busy = await store.merchant(order.id, 'cancel', { reason: 'staff' })
    assert.equal(busy.body.error.code, 'order_busy')
    const answer = await refundOperation.resume(depsOf(), db(), await takeUp('refund'))
    assert.equal(answer.status, 201, answer.body)
    assert.equal(await store.net(order.id), 1_700)
    assert.equal((await store.read(order.id)).order.refunded_cents, 300)
    const { body } = await store.shop.merchant.get('/v1/my/audit?action=order.refunded')
    const onRecord = body.entries.filter(
      ({ entity }: { entity: string }) => entity === `order:${order.id}`,
    )
    assert.equal(onRecord.length, 1, 'by whom it was asked for, whoever has ended it')
    assert.equal(onRecord[0].actor, ACTOR.name)
  })

  const explain = async (orderId: string) =>
    (await store.shop.merchant.get(`/v1/merchant/orders/${orderId}/explain`)).body
  const refusalOf = (explained: Answer['body'], action: string) =>
    explained.refused.find((each: { action: string }) => each.action === action)?.reason

  test('of a payment is explained: since when, how often it was asked for, and when next', async () => {
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
    for (const [verb, wish, code] of [
      ['cancel', { reason: 'staff' }, 'order_busy'],
      ['refunds', {}, 'not_refundable'],
      ['refunds/preview', {}, 'not_refundable'],
    ] as const) {
      assert.equal((await store.merchant(id, verb, wish)).body.error.code, code, verb)
    }
    const { attempt_id, since, next_check_at, ...wait } = first.facts.waiting_for
    const simulated = { kind: 'checkout', gateway: 'simulated', amount_cents: 1_000 }
    assert.deepEqual(wait, { ...simulated, checks: 0 })
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

  test('of a refund is explained, and allows what the routes allow', async () => {
    const { order } = await store.place()
    const before = await explain(order.id)
    assert.deepEqual([before.busy, before.facts.waiting_for], [false, null])
    await assert.rejects(begin(depsOf('after'), order.id, 300), { code: 'payment_unconfirmed' })
    const part = await explain(order.id)
    assert.equal(part.busy, true)
    assert.equal(part.facts.waiting_for.kind, 'refund')
    assert.deepEqual(part.allowed, ['hold', 'process', 'refund'])
    assert.equal(refusalOf(part, 'cancel'), 'refund_pending')
    const cancel = await store.merchant(order.id, 'cancel', { reason: 'staff' })
    assert.equal(cancel.body.error.code, 'order_busy')

    await assert.rejects(begin(depsOf('after'), order.id, 1_700), { code: 'payment_unconfirmed' })
    const all = await explain(order.id)
    assert.equal(refusalOf(all, 'refund'), 'refund_pending')
    const more = await store.merchant(order.id, 'refunds')
    assert.equal(more.body.error.code, 'not_refundable', more.text)
    assert.deepEqual(more.body.allowed, all.allowed)
    for (const claim of await takeAll('refund')) await refundOperation.resume(depsOf(), db(), claim)
    const after = await explain(order.id)
    assert.deepEqual(
      [after.busy, after.facts.waiting_for, after.allowed],
      [false, null, ['cancel']],
    )
  })

  test('of a refund that the gateway never saw counts for nothing, ten seconds later', async () => {
    const { order } = await store.place()
    await assert.rejects(begin(depsOf('before'), order.id, 300), { code: 'payment_unconfirmed' })
    const early = await takeUp('refund')
    await assert.rejects(refundOperation.resume(depsOf(), db(), early), {
      code: 'idempotency_in_progress',
    })
    const answer = await refundOperation.resume(
      depsOf(undefined, LATER_MS),
      db(),
      await takeUp('refund'),
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

  test('of units that one of two cards refuses is a refund of what the other gave, and of no units', async () => {
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
    const odd = { ...deps, payments: { ...deps.payments, forStore } }
    const claim = { operation: 'refund', key: randomUUID(), fingerprint: Buffer.alloc(32) }
    const body = { items: [{ order_item_id, quantity: 2 }] }
    const answer = await run(db(), claim, (held) =>
      refund(odd, db(), { actor: ACTOR, claim: held }, order.id, { by: 'merchant', body }),
    )
    assert.equal(JSON.parse(answer.body).refunded_cents, 1_000, answer.body)
    const { refunds, timeline, ...detail } = await store.read(order.id)
    const tenders = [{ charge_id: second?.charge_id, tender: 'card', amount_cents: 1_000 }]
    const [{ status, amount_cents, items: units }] = refunds
    assert.deepEqual([status, amount_cents, units], ['succeeded', 1_000, []])
    assert.deepEqual(refunds[0].tenders, tenders)
    const told = timeline.find(({ type }: { type: string }) => type === 'refunded')
    assert.deepEqual(told.data.tenders, tenders)
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

  test('of a crash before the gateway was asked gives nothing back, and nothing twice', async () => {
    const { order } = await store.place()
    const crash = () => Promise.reject(new Error('killed'))
    const at = (point: string) => (point === 'refund-begun' ? crash() : undefined)
    await assert.rejects(begin({ ...depsOf(), at }, order.id, 300), /killed/)
    await refundOperation.resume(depsOf(undefined, LATER_MS), db(), await takeUp('refund'))
    assert.equal(await store.net(order.id), 2_000)
  })

  test('of a crash after the gateway has given it back is booked', async () => {
    const { order } = await store.place()
    const at = (point: string) =>
      point === 'refund-answered' ? Promise.reject(new Error('killed')) : undefined
    await assert.rejects(begin({ ...depsOf(), at }, order.id, 2_000), /killed/)
    const answer = await refundOperation.resume(depsOf(), db(), await takeUp('refund'))
    assert.equal(answer.status, 201, answer.body)
    assert.equal((await store.read(order.id)).order.status, 'refunded')
    assert.equal(await store.net(order.id), 0)
  })

  test('of a cancellation is ended when it is known, and keeps others out until then', async () => {
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
    const answer = await cancelOperation.resume(depsOf(), db(), await takeUp('cancel'))
    assert.equal(answer.status, 200, answer.body)
    assert.equal((await store.read(order.id)).order.status, 'cancelled')
    assert.equal(await store.net(order.id), 0)
  })

  test('of what a gateway has taken and will not give back is told to somebody', async () => {
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
    const [told, ...others] = alerts.splice(0)
    assert.deepEqual(others, [])
    assert.match(String(told?.message), /neither voided nor refunded/)
    assert.equal(told?.order_id, order.id)
    const { timeline } = await store.read(order.id)
    const entry = timeline.find(({ type }: { type: string }) => type === 'payment_not_returned')
    assert.equal(entry.data.amount_cents, order.total_cents)
    // In truth it has taken nothing, and lets go.
    const gateway = await deps.payments.forStore(db())
    const [charge] = await listCharges(db(), order.id)
    assert.equal((await gateway.void({ txn_id: charge?.txn_id ?? '' })).outcome, 'approved')
  })

  test('of what never reached the gateway is no refusal to let go of the money', async () => {
    const ban = { kind: 'email', value: 'away@bad.example', action: 'review', reason: 'a test' }
    await store.shop.merchant.post('/v1/merchant/fraud/bans', ban)
    const { order } = await store.place({ email: ban.value })
    const cancelBy = (odd: Partial<Gateway>) => {
      const deps = depsOf()
      const forStore: typeof deps.payments.forStore = async (...of) => ({
        ...(await deps.payments.forStore(...of)),
        ...odd,
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

  test('of a trouble of the gateway’s own is no refusal to let go of the money, for an hour', async () => {
    const ban = { kind: 'email', value: 'ill@bad.example', action: 'review', reason: 'a test' }
    await store.shop.merchant.post('/v1/merchant/fraud/bans', ban)
    const ill = async () => refused('processing_error')
    const cancelBy = (order_id: string, odd: Partial<Gateway>, laterMs = 0) => {
      const deps = depsOf(undefined, laterMs)
      const forStore: typeof deps.payments.forStore = async (...of) => ({
        ...(await deps.payments.forStore(...of)),
        ...odd,
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
    assert.equal(sent.length, 1, 'what has failed is sent again')
    assert.deepEqual(alerts, [])
    assert.equal((await cancelBy(order.id, {}))?.status, 'cancelled')
    await store.check()

    const { order: other } = await store.place({ email: ban.value })
    assert.equal(await cancelBy(other.id, { void: ill }, 50 * 60_000), null)
    const ended = await cancelBy(other.id, { void: ill }, 61 * 60_000)
    assert.equal(ended?.status, 'cancelled', 'what is authorised lapses by itself')
    const gateway = await depsOf().payments.forStore(db())
    const [charge] = await listCharges(db(), other.id)
    assert.equal((await gateway.void({ txn_id: charge?.txn_id ?? '' })).outcome, 'approved')
  })

  test('of a cancellation that failed leaves the order as it was', async () => {
    const { order } = await store.place()
    await assert.rejects(beginCancel(depsOf('before'), order.id), { code: 'payment_unconfirmed' })
    const answer = await cancelOperation.resume(
      depsOf(undefined, LATER_MS),
      db(),
      await takeUp('cancel'),
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
    await editOperation.resume(depsOf(), db(), await takeUp('edit'))
    const replayed = await store.shopper(order.id, 'edit', body, key)
    assert.equal(replayed.status, 200, replayed.text)
    assert.equal(replayed.body.order.total_cents, 3_000)
    assert.equal(await store.net(order.id), 3_000)
  })

  test('of an edit’s charge that is to be looked at holds the order once it is known', async () => {
    const value = 'unknown@edit.example'
    const { order, items } = await store.place({ email: value })
    const ban = { kind: 'email', value, action: 'review' }
    assert.equal((await store.shop.merchant.post('/v1/merchant/fraud/bans', ban)).status, 201)
    const edits = [{ order_item_id: items[0].id, quantity: 3 }]
    const unknown = await store.shopper(order.id, 'edit', { edits, card: LOST_AFTER_CHARGE })
    assert.equal(unknown.status, 503, unknown.text)
    await editOperation.resume(depsOf(), db(), await takeUp('edit'))
    const { order: held } = await store.read(order.id)
    assert.deepEqual([held.status, held.hold.reason], ['on_hold', 'fraud_review'])
    assert.equal(await store.net(order.id), 3_000)
  })

  test('of an edit’s charge that never was leaves the order as it was', async () => {
    const { order, items } = await store.place()
    const body = { edits: [{ order_item_id: items[0].id, quantity: 3 }], card: LOST_BEFORE_CHARGE }
    const key = randomUUID()
    assert.equal((await store.shopper(order.id, 'edit', body, key)).status, 503)
    await editOperation.resume(depsOf(undefined, LATER_MS), db(), await takeUp('edit'))
    const replayed = await store.shopper(order.id, 'edit', body, key)
    assert.equal(replayed.status, 402, replayed.text)
    assert.equal((await store.read(order.id)).order.total_cents, 2_000)
    assert.equal((await store.merchant(order.id, 'cancel', { reason: 'staff' })).status, 200)
  })

  interface Act {
    operation: 'refund' | 'cancel' | 'edit'
    /** The points at which nothing has reached a gateway, and the one at which all has. */
    before: string[]
    after: string
    begin(deps: OrderChangeDeps, held: Caller, order: Bought): Promise<StoredAnswer>
    /** What has become of the order then. */
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
    (quantity: number): Act['begin'] =>
    (deps, held, { id, item }) =>
      edit(deps, db(), held, id, {
        body: { edits: [{ order_item_id: item, quantity }] },
        tender: { by: 'card', source: { card: readCard(APPROVED) } },
        note: null,
      })

  const ACTS: Record<string, Act> = {
    'a refund': {
      operation: 'refund',
      before: ['refund-begun', 'refund-sent'],
      after: 'refund-answered',
      begin: (deps, held, { id }) =>
        refund(deps, db(), held, id, { by: 'merchant', body: { amount_cents: 2_000 } }),
      done: { status: 'partially_refunded', total_cents: 3_000, refunded_cents: 2_000 },
    },
    'a cancellation': {
      operation: 'cancel',
      before: ['cancel-begun', 'refund-sent'],
      after: 'cancel-answered',
      begin: (deps, held, { id }) =>
        cancel(deps, db(), held, id, { reason: 'staff', note: null, restock: true, as: 'cancel' }),
      done: { status: 'cancelled', total_cents: 3_000, refunded_cents: 3_000 },
    },
    'an edit that charges': {
      operation: 'edit',
      before: ['edit-begun', 'edit-sent'],
      after: 'edit-answered',
      begin: editTo(3),
      done: { status: 'placed', total_cents: 4_500, refunded_cents: 0 },
    },
    'an edit that gives back': {
      operation: 'edit',
      before: ['edit-begun', 'refund-sent'],
      after: 'edit-answered',
      begin: editTo(1),
      done: { status: 'placed', total_cents: 1_500, refunded_cents: 0 },
    },
  }

  for (const [
    what,
    { operation, before: early, after: late, begin: start, done },
  ] of Object.entries(ACTS)) {
    for (const point of [...early, late]) {
      test(`of ${what} after a crash at ${point} is one or the other, whole`, async () => {
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
        await resumes[operation](depsOf(undefined, LATER_MS), db(), await takeUp(operation))
        const { order } = await store.read(bought.id)
        const { status, total_cents, refunded_cents } = order
        const undone = { status: 'placed', total_cents: 3_000, refunded_cents: 0 }
        assert.deepEqual({ status, total_cents, refunded_cents }, point === late ? done : undone)
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
