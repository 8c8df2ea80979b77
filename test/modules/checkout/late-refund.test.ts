import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { openCheckout } from '../../../src/modules/checkout/open.ts'
import { unknownResult } from '../../../src/modules/payments/adapters/results.ts'
import { SYSTEM } from '../../../src/platform/audit.ts'
import { run } from '../../../src/platform/idempotency-run.ts'
import * as operations from '../../harness/operations.ts'
import { cart, checkout, enable, openCheckoutApp, openShop } from './setup.ts'

const keyed = () => ({ 'idempotency-key': randomUUID() })

test('a late refund', async (t) => {
  const app = await openCheckoutApp(t)
  const shop = await openShop(app, 'acme', [2_000])
  const { merchant } = shop
  await enable(merchant, 'store_credit')
  const db = app.runtime.database.tenant('acme')
  const gateway = await app.runtime.payments.forStore(db)
  const place = async () => {
    const answer = await checkout(app, shop, cart(shop.variants[2_000]))
    assert.equal(answer.status, 201, answer.text)
    return answer.body.order.id as string
  }
  const read = async (id: string) => (await merchant.get(`/v1/merchant/orders/${id}`)).body
  const refund = (id: string, body: object) =>
    merchant.post(`/v1/merchant/orders/${id}/refunds`, body, keyed())

  /** Begins a refund that never reaches its gateway, and lets it fail an hour later. */
  const giveUp = async (orderId: string, amount_cents: number) => {
    const deps = openCheckout(app.runtime)
    const noAnswer = async () => unknownResult()
    const silentGateway = { ...gateway, refund: noAnswer, void: noAnswer }
    const payments = { ...deps.payments, forStore: async () => silentGateway }
    const claim = { operation: 'refund', key: randomUUID(), fingerprint: Buffer.alloc(32) }
    const request = { by: 'merchant', body: { amount_cents } } as const
    const begun = run(db, claim, (held) =>
      operations.refund(
        { ...deps, payments },
        db,
        { actor: SYSTEM, claim: held },
        orderId,
        request,
      ),
    )
    await assert.rejects(begun, { code: 'payment_unconfirmed' })
    await app.expireClaims()
    app.clock.advance(3_601_000)
    await app.reconcile()
    app.clock.reset()
    const { order, refunds, charges } = await read(orderId)
    assert.deepEqual([order.refunded_cents, refunds.at(-1).status], [0, 'failed'])
    const { rows } = await app.superuser.query(
      `select id from payment_attempts where order_id = $1 and kind = 'refund' and state = 'not_found'`,
      [orderId],
    )
    return { ref: rows[0].id as string, txn_id: charges[0].txn_id ?? (await txnOf(orderId)) }
  }
  const txnOf = async (orderId: string) => {
    const { rows } = await app.superuser.query('select txn_id from charges where order_id = $1', [
      orderId,
    ])
    return rows[0].txn_id as string
  }
  const stateOf = async (ref: string) => {
    const { rows } = await app.superuser.query('select state from payment_attempts where id = $1', [
      ref,
    ])
    return rows[0].state
  }
  t.beforeEach(() => {
    app.alerts.length = 0
  })

  await t.test('counts in the order, the charge and the ledger, and raises one alert', async () => {
    const id = await place()
    const { ref, txn_id } = await giveUp(id, 300)
    await app.watchLate()
    assert.deepEqual(app.alerts, [], 'nothing has happened yet')
    const late = await gateway.refund({ ref, txn_id, amount_cents: 300, currency: 'USD' })
    assert.equal(late.outcome, 'approved')
    await app.superuser.query('update payment_attempts set next_check_at = now() where id = $1', [
      ref,
    ])
    await app.watchLate()
    const { order, refunds, charges } = await read(id)
    assert.deepEqual([order.status, order.refunded_cents], ['partially_refunded', 300])
    assert.equal(charges[0].refunded_cents, 300)
    assert.deepEqual(
      refunds.map((each: Record<string, unknown>) => [each.status, each.amount_cents]),
      [
        ['failed', 300],
        ['succeeded', 300],
      ],
    )
    const { rows } = await app.superuser.query(
      `select sum(e.amount_cents)::int as card from ledger_entries e
         join ledger_journals j on j.tenant_ref = e.tenant_ref and j.id = e.journal_id
        where j.order_id = $1 and e.account = 'card_clearing'`,
      [id],
    )
    assert.equal(rows[0].card, 1_700)
    assert.equal(await stateOf(ref), 'approved')
    assert.deepEqual(
      app.alerts.map(({ order_id }) => order_id),
      [id],
    )
    await app.watchLate()
    assert.equal(app.alerts.length, 1)
    const rest = await refund(id, {})
    assert.equal(rest.body.refund.amount_cents, 1_700, rest.text)
    assert.equal(rest.body.order.status, 'refunded')
    await app.assertAddsUp()
  })

  await t.test(
    'counts also if the whole charge was voided, which has no reference of its own',
    async () => {
      const id = await place()
      const { ref, txn_id } = await giveUp(id, 2_000)
      assert.equal((await gateway.void({ txn_id })).outcome, 'approved')
      await app.watchLate()
      const { order } = await read(id)
      assert.deepEqual([order.status, order.refunded_cents], ['refunded', 2_000])
      assert.equal(await stateOf(ref), 'approved')
      assert.equal((await refund(id, {})).body.error.code, 'not_refundable')
      await app.assertAddsUp()
    },
  )

  await t.test('changes nothing if another refund has voided the charge meanwhile', async () => {
    const id = await place()
    const { ref } = await giveUp(id, 2_000)
    assert.equal((await refund(id, {})).status, 201)
    await app.watchLate()
    assert.equal((await read(id)).order.refunded_cents, 2_000)
    assert.equal(await stateOf(ref), 'not_found')
    assert.deepEqual(app.alerts, [])
    await app.assertAddsUp()
  })

  await t.test('waits for a running operation of the order', async () => {
    const id = await place()
    const { ref, txn_id } = await giveUp(id, 300)
    await gateway.refund({ ref, txn_id, amount_cents: 300, currency: 'USD' })
    const setBusy = (isBusy: boolean) =>
      app.superuser.query(
        `update orders set operation_id = ${isBusy ? 'gen_random_uuid()' : 'null'},
                operation = ${isBusy ? `'{}'` : 'null'}
          where id = $1`,
        [id],
      )
    await setBusy(true)
    await app.watchLate()
    assert.equal((await read(id)).order.refunded_cents, 0)
    await setBusy(false)
    await app.watchLate()
    assert.equal((await read(id)).order.refunded_cents, 300)
    await app.assertAddsUp()
  })

  for (const [what, amount_cents, arrives] of [
    ['a part', 300, 'refund'],
    ['everything', 2_000, 'void'],
  ] as const) {
    await t.test(
      `waits for a pending refund that may be refused because of it: ${what}`,
      async () => {
        const id = await place()
        const { ref, txn_id } = await giveUp(id, amount_cents)
        const late = async () => {
          const refund = { ref, txn_id, amount_cents, currency: 'USD' }
          const { outcome } = await gateway[arrives](refund)
          assert.equal(outcome, 'approved')
          // Long after it was given up, when no more lookups are due.
          await app.superuser.query(
            `update payment_attempts set closed_at = closed_at - interval '10 minutes' where id = $1`,
            [ref],
          )
          await app.watchLate()
          assert.deepEqual(app.alerts, [])
        }
        const at = async (point: string) => {
          if (point === 'refund-begun') await late()
        }
        const claim = { operation: 'refund', key: randomUUID(), fingerprint: Buffer.alloc(32) }
        const request = { by: 'merchant', body: { amount_cents: 1_900 } } as const
        const other = await run(db, claim, (held) =>
          operations.refund(app.depsWith({ at }), db, { actor: SYSTEM, claim: held }, id, request),
        )
        assert.match(other.body, /refund_failed/)
        await app.watchLate()
        assert.equal((await read(id)).order.refunded_cents, amount_cents)
        assert.equal(await stateOf(ref), 'approved')
        await app.assertAddsUp()
      },
    )
  }

  for (const [how, amount_cents] of [
    ['refund', 300],
    ['void', 2_000],
  ] as const) {
    await t.test(
      `is an alert if the charge was already refunded in another way: a ${how}`,
      async () => {
        const id = await place()
        const { ref, txn_id } = await giveUp(id, amount_cents)
        assert.equal((await refund(id, { method: 'store_credit' })).status, 201)
        await gateway[how]({ ref, txn_id, amount_cents, currency: 'USD' })
        await app.watchLate()
        const { order, charges } = await read(id)
        assert.deepEqual([order.refunded_cents, charges[0].refunded_cents], [2_000, 2_000])
        await app.watchLate()
        const [alert, ...again] = app.alerts.filter(({ order_id }) => order_id === id)
        assert.match(alert?.message ?? '', /twice/)
        assert.deepEqual(again, [], 'one alert, however often it is looked up')
        await assert.rejects(
          app.assertAddsUp(),
          /differs from the record of the simulated gateway/,
          'an operator must act',
        )
      },
    )
  }
})
