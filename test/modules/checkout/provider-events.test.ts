import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { openHandlers } from '../../../src/compose/handlers.ts'
import { lateQueue, postponeLateLookup } from '../../../src/modules/payments/attempts.ts'
import { openTestApp } from '../../harness/app.ts'
import { deliverDue } from '../../harness/outbox.ts'
import { shipBySql } from '../../harness/parcels.ts'
import { openSuperuser } from '../../harness/superuser.ts'
import {
  deliver,
  deliverNmi,
  KEYS,
  nmiEvent,
  register,
  signStandard,
} from '../provider-events/setup.ts'
import { cardOf, cart, checkout, LOST_AFTER_CHARGE, openShop } from './setup.ts'

test("a provider's event", async (t) => {
  const app = await openTestApp(t)
  const superuser = await openSuperuser(t, app.database)
  const shop = await openShop(app)
  const path = await register(app, 'acme', { provider: 'nmi', account: 'acme' })
  const alerts: unknown[] = []
  const logger = { ...app.runtime.logger, error: (alert: unknown) => void alerts.push(alert) }
  const handlers = await openHandlers({ ...app.runtime, logger: logger as never })

  /** Lets the worker handle all received events. */
  const handle = async () => {
    while ((await deliverDue(app.runtime.workerDatabase, handlers, { slots: 20 })) > 0);
    const { rows } = await superuser.query(
      'select last_error from outbox where last_error is not null',
    )
    assert.deepEqual(rows, [])
  }

  const one = async (text: string, ...values: unknown[]) =>
    (await superuser.query(text, values)).rows[0]
  const orderOf = (id: string) =>
    one(
      `select status, payment_status, hold_reason, disputed_at, captured_cents, refunded_cents
         from orders where id = $1`,
      id,
    )
  const attemptOf = (order: string) =>
    one('select id, state from payment_attempts where order_id = $1', order)
  const eventsOf = async (order: string) =>
    (
      await superuser.query('select type from webhook_events where order_id = $1 order by type', [
        order,
      ])
    ).rows.map(({ type }) => type)

  const outcomeOf = async (id: string) => {
    const { body } = await app.operator.get(`${path}/events/${id}`)
    return `${body.event.status}: ${body.event.reason}`
  }

  const place = async (card: object) => {
    const answer = await checkout(app, shop, cart(shop.variants[1_000], { card }))
    const order = answer.body.order?.id as string
    return { answer, order, attempt: (await attemptOf(order)).id as string }
  }
  const sendEvent = async (more: Parameters<typeof nmiEvent>[0]) => {
    const answer = await deliverNmi(app, path, nmiEvent(more))
    assert.equal(answer.status, 200, answer.text)
    await handle()
  }

  const wait = async (order: string, seconds: number) => {
    await superuser.query(
      `update payment_attempts set next_check_at = now() + make_interval(secs => $2)
        where order_id = $1`,
      [order, seconds],
    )
    await superuser.query(
      `update idempotency_keys set next_attempt_at = now() + make_interval(secs => $2)
        where resource_id = $1`,
      [order, seconds],
    )
  }
  const dueOf = async (order: string) => {
    const { attempt } = await one(
      'select next_check_at <= now() as attempt from payment_attempts where order_id = $1',
      order,
    )
    const { claim } = await one(
      'select next_attempt_at <= now() as claim from idempotency_keys where resource_id = $1',
      order,
    )
    return { attempt, claim }
  }

  await t.test('makes waiting lookups due at once, and changes no order', async () => {
    const { answer, order, attempt } = await place(LOST_AFTER_CHARGE)
    assert.equal(answer.status, 503, answer.text)
    await wait(order, 300)
    const before = await orderOf(order)
    await sendEvent({ id: 'news', order_id: attempt, type: 'transaction.sale.failure' })
    assert.equal((await dueOf(order)).claim, true)
    assert.equal(await outcomeOf('news'), 'applied: lookup_hastened')
    assert.deepEqual(await orderOf(order), before)
    assert.equal((await attemptOf(order)).state, 'unknown')
  })

  await t.test('does not disturb a running process', async () => {
    const { order, attempt } = await place(LOST_AFTER_CHARGE)
    await wait(order, 9)
    await superuser.query(
      `update idempotency_keys set lease_until = next_attempt_at, next_attempt_at = null
        where resource_id = $1`,
      [order],
    )
    await sendEvent({ order_id: attempt })
    assert.equal((await dueOf(order)).claim, null)
  })

  await t.test('makes a payment that was given up long ago due for another lookup', async () => {
    const { order, attempt } = await place(LOST_AFTER_CHARGE)
    await superuser.query(
      `update payment_attempts
          set state = 'not_found', closed_at = now() - interval '1 hour', next_check_at = null
        where order_id = $1`,
      [order],
    )
    await sendEvent({ id: 'given-up', order_id: attempt })
    assert.equal((await dueOf(order)).attempt, true)
    assert.equal(await outcomeOf('given-up'), 'applied: lookup_hastened')
  })

  await t.test(
    "a provider's event has a late payment looked up again if a running lookup may have missed it",
    async () => {
      const { order, attempt } = await place(LOST_AFTER_CHARGE)
      await superuser.query(
        `update payment_attempts
          set state = 'not_found', closed_at = now() - interval '1 hour', next_check_at = now()
        where order_id = $1`,
        [order],
      )
      const due = await lateQueue.claimFairly(app.runtime.workerDatabase, { slots: 10 })
      const running = due.find(({ id }) => id === attempt)
      assert.ok(running)
      await sendEvent({ id: 'running', order_id: attempt })
      assert.equal(await outcomeOf('running'), 'applied: lookup_hastened')
      const db = app.runtime.database.tenant('acme')
      assert.equal(
        await lateQueue.renew(db, running),
        true,
        'it goes on: it may be sending money back',
      )
      await postponeLateLookup(db, running)
      assert.equal((await dueOf(order)).attempt, true)
      const [again] = await lateQueue.claimFairly(app.runtime.workerDatabase, { slots: 10 })
      assert.equal(again?.id, attempt)
      if (again) await postponeLateLookup(db, again)
      assert.equal((await dueOf(order)).attempt, null, 'without news it is over')
    },
  )

  await t.test('makes the lookup of an unknown refund due now, and moves no money', async () => {
    const { order } = await place(cardOf('4111111111111111'))
    // Without its tables the gateway gives no answer.
    await superuser.query('alter table sim_charges rename to sim_charges_away')
    const answer = await shop.merchant.post(
      `/v1/merchant/orders/${order}/refunds`,
      { amount_cents: 300 },
      { 'idempotency-key': randomUUID() },
    )
    await superuser.query('alter table sim_charges_away rename to sim_charges')
    assert.equal(answer.body.error.code, 'payment_unconfirmed', answer.text)
    const refund = await one('select refund_id from refunds where order_id = $1', order)
    const due = async () =>
      one(
        `select k.next_attempt_at <= now() as claim, r.status, o.refunded_cents
           from refunds as r
           join idempotency_keys as k on k.resource_id = r.refund_id
           join orders as o on o.id = r.order_id
          where r.refund_id = $1`,
        refund.refund_id,
      )
    await superuser.query(
      `update idempotency_keys set next_attempt_at = now() + interval '5 minutes'
        where resource_id = $1`,
      [refund.refund_id],
    )
    const asked = await one(
      `select id from payment_attempts where order_id = $1 and kind = 'refund'`,
      order,
    )
    await sendEvent({ id: 'refunded', order_id: asked.id, type: 'transaction.refund.success' })
    assert.deepEqual(await due(), { claim: true, status: 'pending', refunded_cents: '0' })
    assert.equal(await outcomeOf('refunded'), 'applied: lookup_hastened')
  })

  await t.test(
    'changes nothing about a paid order, however often and in whatever order it comes',
    async () => {
      const { order, attempt } = await place(cardOf('4111111111111111'))
      const before = await orderOf(order)
      assert.equal(before.status, 'placed')
      for (const type of ['void.success', 'sale.failure', 'refund.success', 'refund.success']) {
        await sendEvent({ order_id: attempt, type: `transaction.${type}` })
      }
      assert.deepEqual(await orderOf(order), before)
      assert.equal((await attemptOf(order)).state, 'approved')
      await sendEvent({ id: 'late', order_id: attempt })
      assert.equal(await outcomeOf('late'), 'ignored: nothing_waiting')
    },
  )

  await t.test("an event of one store does not touch another's order", async () => {
    const { order, attempt } = await place(LOST_AFTER_CHARGE)
    await wait(order, 300)
    const foreign = await register(app, 'other-store', { provider: 'nmi', account: 'foreign' })
    assert.equal((await deliverNmi(app, foreign, nmiEvent({ order_id: attempt }))).status, 200)
    await handle()
    assert.deepEqual(await dueOf(order), { attempt: false, claim: false })
  })

  await t.test(
    "a provider's event about an unknown payment, or about none, is ignored",
    async () => {
      for (const order_id of [randomUUID(), 'A-1001', 7, null, { a: 1 }, undefined]) {
        await sendEvent({ order_id })
        await sendEvent({ order_id, type: 'recurring.plan.add' })
      }
      const raw = Buffer.from('no json')
      assert.equal((await deliverNmi(app, path, raw)).status, 200)
      await handle()
    },
  )

  await t.test(
    "an event of a dispute counts once the gateway's record shows it, and holds the order",
    async () => {
      const { order, attempt } = await place(cardOf('4000000000000259'))
      alerts.length = 0
      await sendEvent({ id: 'early', order_id: attempt, type: 'chargeback.batch.complete' })
      assert.equal((await orderOf(order)).disputed_at, null)
      assert.equal(alerts.length, 1)
      assert.equal(await outcomeOf('early'), 'unhandled: dispute_not_shown')

      await superuser.query('update sim_charges set dispute_at = now() where ref = $1', [attempt])
      await sendEvent({
        id: 'shown',
        type: 'chargeback.batch.complete',
        chargebacks: [{ id: '1', order_id: attempt }],
      })
      const after = await orderOf(order)
      assert.ok(after.disputed_at)
      assert.equal(await outcomeOf('shown'), 'applied: dispute_recorded')
      assert.deepEqual(
        [after.status, after.payment_status, after.hold_reason, after.captured_cents],
        ['on_hold', 'disputed', 'dispute', '1000'],
      )
      const events = [
        'commerce.dispute.opened.v1',
        'commerce.order.held.v1',
        'commerce.order.placed.v1',
      ]
      assert.deepEqual(await eventsOf(order), events)
      // A repeated event and a late "paid" change nothing.
      await sendEvent({ order_id: attempt, type: 'chargeback.batch.complete' })
      await sendEvent({ order_id: attempt, type: 'transaction.sale.success' })
      assert.deepEqual(await orderOf(order), after)
      assert.deepEqual(await eventsOf(order), events)
    },
  )

  await t.test('an event of a dispute does not hold a shipped order', async () => {
    const { order, attempt } = await place(cardOf('4000000000000259'))
    await superuser.query('update sim_charges set dispute_at = now() where ref = $1', [attempt])
    await shipBySql(superuser, order)
    const sim = await register(app, 'acme', { provider: 'sim', account: 'acme' }, 'standard')
    const raw = Buffer.from(JSON.stringify({ type: 'dispute.opened', data: { order_id: attempt } }))
    const seconds = Math.floor(app.runtime.clock.now() / 1_000)
    const headers = signStandard(KEYS.standard, raw, { id: 'msg_1', seconds })
    assert.equal((await deliver(app, sim, raw, headers)).status, 200)
    await handle()
    const after = await orderOf(order)
    assert.deepEqual([after.payment_status, after.hold_reason], ['disputed', null])
    assert.ok(!(await eventsOf(order)).includes('commerce.order.held.v1'))
  })

  await t.test(
    'an event of a dispute that is over does not open it again, and is an alert',
    async () => {
      for (const outcome of ['won', 'lost']) {
        const { order, attempt } = await place(cardOf('4000000000000259'))
        await superuser.query('update sim_charges set dispute_at = now() where ref = $1', [attempt])
        const say = (status: string) =>
          app.operator.post(`/v1/stores/acme/orders/${order}/dispute`, { outcome: status })
        if (outcome === 'won')
          await sendEvent({ order_id: attempt, type: 'chargeback.batch.complete' })
        else assert.equal((await say('opened')).status, 200)
        assert.equal((await say(outcome)).status, 200)
        const before = [await orderOf(order), await eventsOf(order)]
        alerts.length = 0
        await sendEvent({ id: outcome, order_id: attempt, type: 'chargeback.batch.complete' })
        assert.deepEqual([await orderOf(order), await eventsOf(order)], before)
        assert.equal(await outcomeOf(outcome), 'unhandled: dispute_not_recorded')
        assert.equal(alerts.length, 1)
      }
    },
  )

  await t.test('an event of several disputes is an alert until the record shows each', async () => {
    const shown = await place(cardOf('4000000000000259'))
    const other = await place(cardOf('4000000000000259'))
    await superuser.query('update sim_charges set dispute_at = now() where ref = $1', [
      shown.attempt,
    ])
    const type = 'chargeback.batch.complete'
    const first = { id: '1', order_id: shown.attempt }
    const batches = {
      unshown: [first, { id: '2', order_id: other.attempt }],
      foreign: [first, { id: '2', order_id: randomUUID() }],
      unnamed: [first, { id: '2' }],
      odd: [first, null],
    }
    for (const [id, chargebacks] of Object.entries(batches)) {
      alerts.length = 0
      await sendEvent({ id, type, chargebacks })
      assert.equal(await outcomeOf(id), 'unhandled: dispute_not_shown', id)
      assert.equal(alerts.length, 1, id)
      assert.ok((await orderOf(shown.order)).disputed_at, 'the shown dispute is recorded')
      assert.equal((await orderOf(other.order)).disputed_at, null)
    }
    await superuser.query('update sim_charges set dispute_at = now() where ref = $1', [
      other.attempt,
    ])
    await sendEvent({ id: 'all', type, chargebacks: [...batches.unshown, first] })
    assert.equal(await outcomeOf('all'), 'applied: dispute_recorded')
  })

  await t.test('an event of a dispute that names no transaction is an alert', async () => {
    alerts.length = 0
    await sendEvent({
      id: 'nameless',
      type: 'chargeback.batch.complete',
      chargebacks: [{ id: '9' }],
    })
    assert.deepEqual(alerts, [
      { tenant_ref: 'acme', provider: 'nmi', account_ref: 'acme', provider_event_id: 'nameless' },
    ])
  })
})
