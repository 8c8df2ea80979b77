import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import { HOUR_MS } from '../../../src/kernel/time.ts'
import { resolvePayment } from '../../../src/modules/checkout/decide-payment-money.ts'
import * as jobs from '../../../src/modules/checkout/jobs.ts'
import { openCheckout } from '../../../src/modules/checkout/open.ts'
import type { CheckoutDeps } from '../../../src/modules/checkout/service.ts'
import { listCharges } from '../../../src/modules/orders/queries.ts'
import type { Gateway } from '../../../src/modules/payments/adapters/gateway.ts'
import {
  refused,
  unknownResult,
  unreachable,
} from '../../../src/modules/payments/adapters/results.ts'
import type { GatewayResult } from '../../../src/modules/payments/adapters/schema.ts'
import { receiveOperation } from '../../../src/modules/returns/receive-money.ts'
import type { Receipt } from '../../../src/modules/returns/schema.ts'
import { run } from '../../../src/platform/idempotency-run.ts'
import { expireAllClaims } from '../../harness/operations.ts'
import { APPROVED, movableClock } from '../checkout/setup.ts'
import { type OrderStore, shareOrderStore } from '../orders/setup.ts'
import { ok, type Returns, receipt, refusal, returnsOf } from './setup.ts'

const clock = movableClock()
const shared = shareOrderStore({ clock })
let store: OrderStore
let returns: Returns

const ACTOR = { name: 'merchant_key:test', correlationId: null }

/** After this time a gateway without a record of a refund will not get it any more. */
const OVER_AN_HOUR_MS = HOUR_MS + 1_000

const UNKNOWN = unknownResult()

describe('a receipt that is interrupted', () => {
  before(() => {
    store = shared.current
    returns = returnsOf(store)
  })

  const db = () => store.app.runtime.database.tenant('acme')

  interface Override {
    gateway?: (real: Gateway) => Partial<Gateway>
    at?: (point: string) => void
  }

  const depsOf = ({ gateway, at }: Override = {}): jobs.JobDeps => {
    const deps: CheckoutDeps = openCheckout(store.app.runtime)
    const { payments } = deps
    const forStore: typeof payments.forStore = async (...of) => {
      const real = await payments.forStore(...of)
      return { ...real, ...gateway?.(real) }
    }
    return {
      ...deps,
      database: store.app.runtime.workerDatabase,
      payments: { ...payments, forStore },
      ...(at && { at }),
    }
  }

  const begin = (override: Override, id: string, body: object, key: string = randomUUID()) =>
    run(db(), { operation: 'return_receive', key, fingerprint: Buffer.alloc(32) }, (claim) =>
      receiveOperation.run(
        depsOf(override),
        db(),
        { actor: ACTOR, claim },
        { returnId: id, body: body as Receipt },
      ),
    )

  /** Resumes the operations that stopped, as the worker does, `laterMs` from now. */
  const reconcile = async (laterMs = 0, override: Override = {}) => {
    clock.reset()
    clock.advance(laterMs)
    await expireAllClaims(store.superuser)
    await jobs.reconcile(depsOf(override))
    clock.reset()
  }

  const losing = (when: 'before' | 'after') => (real: Gateway) => {
    const lose = async (work: () => Promise<GatewayResult>) => {
      if (when === 'after') await work()
      return UNKNOWN
    }
    return {
      refund: (what: Parameters<Gateway['refund']>[0]) => lose(() => real.refund(what)),
      void: (what: Parameters<Gateway['void']>[0]) => lose(() => real.void(what)),
    }
  }

  const shippedOf = async (quantity: number) => {
    const variant = await returns.tracked(quantity)
    const order = await returns.shipped({ items: [{ variant_id: variant, quantity }] })
    return { order, variant, id: order.order.id }
  }

  const readReturn = async (id: string) => (await store.read(id)).returns[0]

  test('a receipt that is interrupted by a gateway that does not answer has received the goods, and refunds once', async () => {
    const { order, variant, id } = await shippedOf(2)
    const made = await returns.returned(order, 2)
    const unknown = begin({ gateway: losing('after') }, made.id, receipt(made, 1))
    await assert.rejects(unknown, { code: 'payment_unconfirmed' })
    assert.equal((await returns.stockOf(variant)).on_hand, 1)
    const during = await store.read(id)
    assert.deepEqual(
      [during.returns[0].status, during.refunds[0].status],
      ['partially_received', 'pending'],
    )
    const explained = await store.shop.merchant.get(`/v1/merchant/orders/${id}/explain`)
    assert.equal(ok(explained).facts.waiting_for.kind, 'refund')
    assert.ok(
      explained.body.facts.waiting_for.next_check_at,
      'says when the gateway is asked again',
    )
    // Neither another receipt nor a refund is paid before the answer is known.
    const other = await returns.receive(made.id, receipt(made, 1))
    assert.deepEqual(refusal(other), [409, 'order_busy'])
    assert.deepEqual(refusal(await store.merchant(id, 'refunds', {})), [409, 'order_busy'])
    await reconcile()
    const after = await store.read(id)
    assert.deepEqual([after.refunds[0].status, after.order.refunded_cents], ['succeeded', 1_000])
    assert.equal(await store.net(id), 1_000)
    assert.equal((await returns.stockOf(variant)).on_hand, 1, 'the goods came once')
    ok(await returns.receive(made.id, receipt(made, 1)))
    assert.equal((await readReturn(id)).status, 'closed')
    await store.check()
  })

  test('a receipt that is interrupted by a gateway that never got the refund fails it after an hour, and it can be tried again', async () => {
    const { order, variant, id } = await shippedOf(1)
    const made = await returns.returned(order, 1)
    const key = randomUUID()
    const unknown = begin({ gateway: losing('before') }, made.id, receipt(made, 1), key)
    await assert.rejects(unknown, { code: 'payment_unconfirmed' })
    await reconcile(OVER_AN_HOUR_MS)
    const failed = await store.read(id)
    assert.deepEqual([failed.refunds[0].status, failed.returns[0].status], ['failed', 'received'])
    assert.equal(failed.items[0].refunded_quantity, 0)
    const again = ok(await returns.receive(made.id, { lines: [], refund: { method: 'original' } }))
    assert.deepEqual([again.refund.amount_cents, again.return.status], [1_000, 'closed'])
    assert.deepEqual([await store.net(id), (await returns.stockOf(variant)).on_hand], [0, 1])
    const none = await returns.receive(made.id, { lines: [], refund: { method: 'original' } })
    assert.deepEqual(refusal(none), [409, 'invalid_transition'], 'nothing is left to be tried')
    await store.check()
  })

  test('a receipt whose refund arrives after it was given up is not refunded again', async () => {
    const { order, id } = await shippedOf(1)
    const made = await returns.returned(order, 1)
    const unknown = begin({ gateway: losing('before') }, made.id, receipt(made, 1))
    await assert.rejects(unknown, { code: 'payment_unconfirmed' })
    await reconcile(OVER_AN_HOUR_MS)
    const find = `select id, parent_txn_id from payment_attempts where order_id = $1 and kind = 'refund'`
    const { rows } = await store.superuser.query(find, [id])
    const gateway = await depsOf().payments.forStore(db())
    const late = { ref: rows[0].id, txn_id: rows[0].parent_txn_id, amount_cents: 1_000 }
    assert.equal((await gateway.refund({ ...late, currency: 'USD' })).outcome, 'approved')
    await store.superuser.query(
      `update payment_attempts set next_check_at = now() where next_check_at is not null`,
    )
    await jobs.watchLateApprovals(depsOf())
    assert.equal((await store.read(id)).order.refunded_cents, 1_000)
    const again = ok(await returns.receive(made.id, { lines: [], refund: { method: 'original' } }))
    assert.deepEqual([again.refund, again.return.status], [null, 'closed'])
    assert.equal(await store.net(id), 0)
    await store.check()
  })

  test('a receipt that is interrupted by a refusal of the gateway keeps the goods; the refund failed, and is tried again', async () => {
    const { order, variant, id } = await shippedOf(2)
    const made = await returns.returned(order, 2)
    const declining = () => ({
      refund: async () => refused('processing_error'),
      void: async () => refused('processing_error'),
    })
    const key = randomUUID()
    const fee = { refund: { method: 'original', restocking_fee_cents: 50 } }
    const answer = await begin({ gateway: declining }, made.id, receipt(made, 2, fee), key)
    assert.equal(answer.status, 200, answer.body)
    const body = JSON.parse(answer.body)
    assert.deepEqual(
      [body.return.status, body.refund.status, body.failure],
      ['received', 'failed', { reason: 'processing_error', refunded_cents: 0 }],
    )
    assert.deepEqual(
      [body.return.lines[0].received_quantity, body.return.lines[0].refund_cents],
      [2, 0],
    )
    assert.equal((await returns.stockOf(variant)).on_hand, 2)
    assert.deepEqual([await store.net(id), (await store.read(id)).order.status], [2_000, 'shipped'])
    const types = (await store.read(id)).timeline.map(({ type }: { type: string }) => type)
    assert.ok(types.includes('refund_failed'))
    const again = ok(await returns.receive(made.id, { lines: [], ...fee }))
    assert.deepEqual([again.refund.amount_cents, again.return.status], [1_950, 'closed'])
    assert.equal(again.return.refund_ids.length, 2)
    assert.equal((await returns.stockOf(variant)).on_hand, 2)
    await store.check()
  })

  test('a receipt that is interrupted because one of two cards refuses refunds only the missing part at the next try', async () => {
    const { order, items } = await store.place()
    const edits = [{ order_item_id: items[0].id, quantity: 3 }]
    ok(await store.shopper(order.id, 'edit', { edits, card: APPROVED }))
    await returns.ship(order.id)
    const made = ok(
      await returns.create(order.id, [{ order_item_id: items[0].id, quantity: 3 }]),
      201,
    ).return
    const [first] = await listCharges(db(), order.id)
    const declining = (real: Gateway) => ({
      refund: async (what: Parameters<Gateway['refund']>[0]) =>
        what.txn_id === first?.txn_id ? refused('processing_error') : real.refund(what),
      void: async (what: Parameters<Gateway['void']>[0]) =>
        what.txn_id === first?.txn_id ? refused('processing_error') : real.void(what),
    })
    const part = JSON.parse((await begin({ gateway: declining }, made.id, receipt(made, 3))).body)
    assert.deepEqual([part.failure.refunded_cents, part.return.status], [1_000, 'received'])
    const seen = ok(await returns.preview(made.id, { lines: [], refund: { method: 'original' } }))
    assert.equal(seen.refund.amount_cents, 2_000)
    const again = ok(await returns.receive(made.id, { lines: [], refund: { method: 'original' } }))
    assert.deepEqual([again.refund.amount_cents, again.return.status], [2_000, 'closed'])
    assert.equal(again.return.lines[0].refund_cents, 3_000)
    assert.equal(await store.net(order.id), 0)
    await store.check()
  })

  test('a receipt that is interrupted by a gateway that stays silent ends as the operator decides', async () => {
    const { order, id } = await shippedOf(1)
    const made = await returns.returned(order, 1)
    const silent = () => ({
      refund: async () => UNKNOWN,
      void: async () => UNKNOWN,
      lookup: async () => unreachable(),
    })
    await assert.rejects(begin({ gateway: silent }, made.id, receipt(made, 1)), {
      code: 'payment_unconfirmed',
    })
    await expireAllClaims(store.superuser)
    const find = `select id from payment_attempts where order_id = $1 and kind = 'refund'`
    const { rows } = await store.superuser.query(find, [id])
    clock.advance(49 * OVER_AN_HOUR_MS)
    const decision = { outcome: 'declined', reason: 'the gateway says so by telephone' } as const
    await resolvePayment(depsOf({ gateway: silent }), db(), ACTOR, {
      attemptId: rows[0].id,
      decision,
    })
    clock.reset()
    const { refunds, returns: ended } = await store.read(id)
    assert.deepEqual([refunds[0].status, ended[0].status], ['failed', 'received'])
    const again = ok(await returns.receive(made.id, { lines: [], refund: { method: 'original' } }))
    assert.deepEqual([again.return.status, await store.net(id)], ['closed', 0])
  })

  for (const point of ['return_receive-begun', 'refund-sent', 'return_receive-answered']) {
    test(`a receipt that is interrupted because its process is killed at ${point} is finished by the worker, once`, async () => {
      const { order, variant, id } = await shippedOf(2)
      const made = await returns.returned(order, 2)
      const key = randomUUID()
      const at = (reached: string) => {
        if (reached === point) throw new Error('killed')
      }
      await assert.rejects(begin({ at }, made.id, receipt(made, 1), key), /killed/)
      assert.equal((await returns.stockOf(variant)).on_hand, 1)
      // A refund that may have been sent is looked up, and not sent again.
      await reconcile(point === 'refund-sent' ? OVER_AN_HOUR_MS : 0)
      const { refunds, returns: rows } = await store.read(id)
      const isSent = point !== 'refund-sent'
      assert.equal(refunds[0].status, isSent ? 'succeeded' : 'failed')
      assert.equal(await store.net(id), isSent ? 1_000 : 2_000)
      assert.equal(rows[0].lines[0].received_quantity, 1)
      const found = ok(
        await store.shop.merchant.get(`/v1/merchant/idempotency/return_receive/${key}`),
      )
      assert.deepEqual([found.state, found.status], ['answered', 200])
      assert.equal((await returns.stockOf(variant)).on_hand, 1)
      const rest = ok(await returns.receive(made.id, receipt(made, 1)))
      assert.deepEqual([rest.return.status, await store.net(id)], ['closed', 0])
      await store.check()
    })
  }

  test('a receipt without money that is interrupted at any point is finished by the worker', async () => {
    const { order, id } = await shippedOf(1)
    const made = await returns.returned(order, 1)
    const at = (reached: string) => {
      if (reached === 'return_receive-begun') throw new Error('killed')
    }
    const none = receipt(made, 1, { refund: { method: 'none' } })
    await assert.rejects(begin({ at }, made.id, none), /killed/)
    assert.equal((await readReturn(id)).status, 'received')
    await reconcile()
    assert.equal((await readReturn(id)).status, 'closed')
  })
})
