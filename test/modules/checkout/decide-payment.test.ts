import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { readQueueFacts } from '../../../src/db/queue-facts.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import { resolvePayment } from '../../../src/modules/checkout/decide-payment-money.ts'
import { refused, unreachable } from '../../../src/modules/payments/adapters/results.ts'
import { readCard } from '../../../src/modules/payments/card.ts'
import { compareDay } from '../../../src/modules/payments/compare.ts'
import { OPERATOR_REASON, openResolveApp, txnOf, unanswered } from './decide-payment-setup.ts'
import {
  APPROVED,
  addVariant,
  cart,
  checkout,
  enable,
  giveCredit,
  issueGiftCard,
  openShop,
  stock,
} from './setup.ts'

test('a payment that its gateway never answers', async (t) => {
  const app = await openResolveApp(t)
  const shop = await openShop(app)
  const { merchant } = shop
  await enable(merchant, 'store_credit', 'gift_cards')
  const counted = await addVariant(merchant, 2_000)
  await stock(merchant, counted, 100)
  t.afterEach(async () => {
    app.useGateway(null)
    await app.assertAddsUp()
  })

  /** An order with holds on store credit and a gift card, whose gateway does not answer. */
  const wait = async (done: 'done' | 'lost' = 'done', more: object = {}) => {
    const customer_ref = randomUUID()
    await giveCredit(merchant, customer_ref, 300)
    const { code: gift_card_code } = await issueGiftCard(merchant, 200)
    const tenders = { apply_store_credit: true, gift_card_code, card: APPROVED }
    const body = cart(counted, { customer_ref, ...tenders, ...more })
    const key = randomUUID()
    app.useGateway(unanswered(done, done === 'done' ? 'capture' : 'authorize'))
    const answer = await checkout(app, shop, body, key)
    assert.equal(answer.body.error.code, 'payment_unconfirmed', answer.text)
    const { id } = answer.body.order
    return { id, key, body, customer_ref, attempt: await app.agedAttempt(id) }
  }
  const paid = async (attempt: string) => ({
    ...OPERATOR_REASON,
    outcome: 'approved',
    txn_id: await txnOf(app, attempt),
    amount_cents: 1_500,
  })
  const keyOf = async (key: string) =>
    (await merchant.get(`/v1/merchant/idempotency/checkout/${key}`)).body
  const read = async (id: string) => (await merchant.get(`/v1/merchant/orders/${id}`)).body
  const creditOf = async (ref: string) =>
    (await merchant.get(`/v1/merchant/store-credit/${ref}`)).body.accounts[0]
  const levelOf = async () => {
    const { rows } = await app.superuser.query(
      `select sum(reserved)::int as reserved, sum(allocated)::int as allocated
         from inventory_levels where variant_id = $1`,
      [counted],
    )
    return rows[0]
  }
  const auditOf = async (id: string) => {
    const { body } = await merchant.get('/v1/my/audit?action=payment.resolved')
    return body.entries.filter(({ entity }: { entity: string }) => entity === `order:${id}`)
  }
  const listed = async (attempt: string) => {
    const { body } = await app.operator.get('/v1/stores/acme/payments/unsettled')
    const all = await app.operator.get('/v1/payments/unsettled')
    assert.deepEqual(
      all.body.payments,
      body.payments.map((each: object) => ({ tenant_ref: 'acme', ...each })),
    )
    const { unsettled } = await readQueueFacts(app.runtime.operatorDatabase.allStores)
    assert.equal(unsettled.count, body.payments.length, 'the metric counts what the list shows')
    return body.payments.find((each: { attempt_id: string }) => each.attempt_id === attempt)
  }
  const compare = async () => {
    // The gateway's record is of today, and an attempt that a test made older perhaps of yesterday.
    const { rows } = await app.superuser.query(
      `select (created_at at time zone 'utc')::date::text as day from payment_attempts
        union select (created_at at time zone 'utc')::date::text from sim_charges`,
    )
    const db = app.runtime.workerDatabase.tenant('acme')
    for (const { day } of rows) await compareDay(app.runtime.payments, db, day)
  }
  const discrepanciesOf = async (attempt: string) => {
    const { body } = await merchant.get('/v1/merchant/payments/discrepancies?limit=100')
    return body.discrepancies
      .filter(({ ref }: { ref: string }) => ref === attempt)
      .map(({ problem }: { problem: string }) => problem)
  }

  await t.test("is settled by the operator's decision `approved`", async () => {
    const before = await levelOf()
    const { id, key, body, attempt, customer_ref } = await wait()
    const waiting = await listed(attempt)
    assert.deepEqual(
      [waiting.order_id, waiting.kind, waiting.amount_cents, waiting.state],
      [id, 'checkout', 1_500, 'unknown'],
    )
    await compare()
    assert.deepEqual(await discrepanciesOf(attempt), ['outcome_unknown'])
    const decision = await paid(attempt)
    const answer = await app.resolve(attempt, decision)
    assert.equal(answer.status, 200, answer.text)
    assert.equal(answer.body.decided_by, 'operator')
    assert.deepEqual(
      [answer.body.payment.state, answer.body.payment.txn_id, answer.body.order.status],
      ['approved', decision.txn_id, 'placed'],
    )
    const { order, charges, timeline } = await read(id)
    assert.deepEqual([order.payment_status, order.captured_cents], ['paid', 2_000])
    const card = charges.find(({ tender }: { tender: string }) => tender === 'card')
    assert.deepEqual([card.status, card.captured_cents], ['captured', 1_500])
    const entry = timeline.find(({ type }: { type: string }) => type === 'payment_resolved')
    assert.deepEqual([entry.actor, entry.data.outcome], ['operator', 'approved'])
    assert.equal((await creditOf(customer_ref)).balance_cents, 0)
    assert.deepEqual(await levelOf(), { ...before, allocated: before.allocated + 1 })
    const [record, ...others] = await auditOf(id)
    assert.deepEqual(others, [])
    assert.deepEqual([record.actor, record.reason], ['operator', OPERATOR_REASON.reason])
    assert.deepEqual(record.after, {
      attempt_id: attempt,
      kind: 'checkout',
      amount_cents: 1_500,
      txn_id: decision.txn_id,
      outcome: 'approved',
      decided_by: 'operator',
    })
    assert.equal(await listed(attempt), undefined)
    assert.deepEqual(await discrepanciesOf(attempt), [])
    assert.deepEqual([(await keyOf(key)).state, (await keyOf(key)).status], ['answered', 201])
    const replay = await checkout(app, shop, body, key)
    assert.equal(replay.status, 201, replay.text)
    assert.equal(replay.headers['idempotent-replayed'], 'true')
    const proof = (await merchant.get('/v1/merchant/ledger/proof')).body
    assert.equal(proof.verified, true)
  })

  for (const outcome of ['declined', 'not_found'] as const) {
    await t.test(`releases everything if the payment was ${outcome}`, async () => {
      const before = await levelOf()
      const { id, key, attempt, customer_ref } = await wait('lost')
      assert.equal((await creditOf(customer_ref)).held_cents, 300)
      const answer = await app.resolve(attempt, { ...OPERATOR_REASON, outcome })
      assert.equal(answer.status, 200, answer.text)
      assert.deepEqual(
        [answer.body.decided_by, answer.body.payment.state, answer.body.order.status],
        ['operator', outcome, 'payment_failed'],
      )
      assert.deepEqual(await levelOf(), before)
      const { balance_cents, held_cents } = await creditOf(customer_ref)
      assert.deepEqual([balance_cents, held_cents], [300, 0])
      const { status, answer: stored } = await keyOf(key)
      assert.deepEqual([status, stored.error.code], [402, 'payment_declined'])
      assert.equal(stored.order.id, id)
    })
  }

  await t.test('is decided by the gateway if the gateway answers after all', async () => {
    const { id, attempt } = await wait()
    app.useGateway(null)
    const answer = await app.resolve(attempt, { ...OPERATOR_REASON, outcome: 'declined' })
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(
      [answer.body.decided_by, answer.body.payment.state, answer.body.order.status],
      ['gateway', 'approved', 'placed'],
    )
    const [record] = await auditOf(id)
    assert.deepEqual([record.after.outcome, record.after.decided_by], ['declined', 'gateway'])
  })

  await t.test('is not captured by a decision with another amount', async () => {
    const { attempt } = await wait('lost')
    const decision = { ...OPERATOR_REASON, outcome: 'approved', txn_id: 'somebody-looked' }
    for (const amount_cents of [undefined, 0, 1_499, 1_501, 2_000]) {
      const answer = await app.resolve(attempt, { ...decision, amount_cents })
      assert.equal(answer.status, 400, answer.text)
      assert.equal(answer.body.issues[0].path, 'amount_cents')
    }
    assert.equal(
      (await app.resolve(attempt, { ...OPERATOR_REASON, outcome: 'not_found' })).status,
      200,
    )
  })

  await t.test('is not resolved by an incomplete decision', async () => {
    const { attempt } = await wait('lost')
    const declined = { ...OPERATOR_REASON, outcome: 'declined' }
    for (const [path, body] of [
      ['outcome', OPERATOR_REASON],
      ['outcome', { ...OPERATOR_REASON, outcome: 'captured' }],
      ['reason', { outcome: 'declined' }],
      ['reason', { outcome: 'declined', reason: ' \n' }],
      ['reason', { outcome: 'declined', reason: 'x'.repeat(2_001) }],
      ['txn_id', { ...OPERATOR_REASON, outcome: 'approved', amount_cents: 1_500 }],
      ['txn_id', { ...declined, txn_id: 'two words' }],
      ['txn_id', { ...declined, txn_id: 'x'.repeat(101) }],
      ['amount_cents', { ...declined, amount_cents: 0.5 }],
    ] as const) {
      const answer = await app.resolve(attempt, body)
      assert.equal(answer.body.error.code, 'invalid_body', answer.text)
      assert.equal(answer.body.issues[0].path, path, answer.text)
    }
    assert.equal((await app.attempt(attempt)).state, 'unknown')
    assert.equal((await app.resolve(attempt, declined)).status, 200)
  })

  await t.test(
    'is not found for another store, and refuses the transaction of another payment',
    async () => {
      await app.store('other')
      const { attempt } = await wait()
      const declined = { ...OPERATOR_REASON, outcome: 'declined' }
      for (const [id, tenant] of [
        [attempt, 'other'],
        [randomUUID(), 'acme'],
        ['nonsense', 'acme'],
      ] as const) {
        const answer = await app.resolve(id, declined, tenant)
        assert.deepEqual([answer.status, answer.body.error.code], [404, 'payment_not_found'])
      }
      assert.equal(
        (await app.resolve(attempt, declined, 'nobody')).body.error.code,
        'unknown_tenant',
      )
      const { rows } = await app.superuser.query(
        `select txn_id from payment_attempts where state = 'approved' and kind = 'checkout' limit 1`,
      )
      const decision = { ...(await paid(attempt)), txn_id: rows[0].txn_id }
      const taken = await app.resolve(attempt, decision)
      assert.deepEqual([taken.status, taken.body.reason], [409, 'txn_taken'])
      assert.equal((await app.resolve(attempt, await paid(attempt))).status, 200)
    },
  )

  await t.test(
    'pays for one order, even if two decisions name the same transaction at once',
    async () => {
      const one = await wait()
      const two = await wait('lost')
      const decision = await paid(one.attempt)
      let isFirst = true
      const lookup = async () => {
        if (isFirst) {
          isFirst = false
          assert.equal((await app.resolve(one.attempt, decision)).status, 200)
        }
        return unreachable()
      }
      app.useGateway(() => ({ lookup }))
      const answer = await app.resolve(two.attempt, decision)
      assert.deepEqual([answer.status, answer.body.reason], [409, 'txn_taken'], answer.text)
      const statuses = await Promise.all(
        [one.id, two.id].map(async (id) => (await read(id)).order.status),
      )
      assert.deepEqual(statuses, ['placed', 'pending_payment'])
      await app.expireClaims()
      const declined = await app.resolve(two.attempt, { ...OPERATOR_REASON, outcome: 'declined' })
      assert.equal(declined.status, 200, declined.text)
    },
  )

  await t.test('is not resolved while its gateway may still answer, nor twice', async () => {
    const { attempt } = await wait('lost')
    const declined = { ...OPERATOR_REASON, outcome: 'declined' }
    const age = (minutes: number) =>
      app.superuser.query(
        `update payment_attempts set created_at = now() - make_interval(mins => $2) where id = $1`,
        [attempt, minutes],
      )
    await age(110)
    const early = await app.resolve(attempt, declined)
    assert.deepEqual(
      [early.status, early.body.error.code, early.body.reason],
      [409, 'payment_not_resolvable', 'too_early'],
    )
    await age(130)
    assert.equal((await app.resolve(attempt, declined)).status, 200)
    const again = await app.resolve(attempt, declined)
    assert.deepEqual(
      [again.status, again.body.reason, again.body.state],
      [409, 'decided', 'declined'],
    )
  })

  await t.test('is resolved once by two contrary decisions at the same time', async () => {
    const { id, attempt } = await wait('lost')
    const words = ['declined', 'not_found'] as const
    const answers = await Promise.all(
      words.map((outcome) => app.resolve(attempt, { ...OPERATOR_REASON, outcome })),
    )
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409])
    const late = answers.find(({ status }) => status === 409)
    assert.match(late?.body.error.code, /^(order_busy|payment_not_resolvable)$/)
    const won = answers.findIndex(({ status }) => status === 200)
    assert.equal((await app.attempt(attempt)).state, words[won])
    assert.equal((await read(id)).order.status, 'payment_failed')
    assert.equal((await auditOf(id)).length, 1)
  })

  await t.test('is busy while the worker looks it up', async () => {
    const { id, attempt } = await wait()
    const asked = Promise.withResolvers<void>()
    const answered = Promise.withResolvers<void>()
    app.useGateway(null)
    const slow = app.reconcile({
      gateway: (real) => ({
        async lookup(what) {
          asked.resolve()
          await answered.promise
          return real.lookup(what)
        },
      }),
    })
    await asked.promise
    const busy = await app.resolve(attempt, { ...OPERATOR_REASON, outcome: 'declined' })
    assert.deepEqual(
      [busy.status, busy.body.error.code, busy.headers['retry-after']],
      [409, 'order_busy', '60'],
    )
    answered.resolve()
    await slow
    assert.equal((await read(id)).order.status, 'placed')
    const late = await app.resolve(attempt, { ...OPERATOR_REASON, outcome: 'declined' })
    assert.equal(late.body.reason, 'decided')
  })

  await t.test('is not settled again by an overtaken worker', async () => {
    const { id, attempt } = await wait('lost')
    const asked = Promise.withResolvers<void>()
    const answered = Promise.withResolvers<void>()
    const slow = app.reconcile({
      gateway: () => ({
        async lookup() {
          asked.resolve()
          await answered.promise
          return unreachable()
        },
      }),
    })
    await asked.promise
    await app.expireClaims()
    const answer = await app.resolve(attempt, { ...OPERATOR_REASON, outcome: 'not_found' })
    assert.equal(answer.status, 200, answer.text)
    answered.resolve()
    await slow
    assert.equal((await app.attempt(attempt)).state, 'not_found')
    assert.equal((await read(id)).order.status, 'payment_failed')
  })

  await t.test('ends as the operator decided, even after a crash before the end', async () => {
    const { id, key, attempt } = await wait()
    const db = app.runtime.database.tenant('acme')
    const killed = new Error('killed')
    const deps = app.depsWith({
      at: (point) => (point === 'resolved' ? Promise.reject(killed) : undefined),
    })
    const actor = { name: 'operator', correlationId: null }
    const decision = { ...(await paid(attempt)), outcome: 'approved' as const }
    await assert.rejects(resolvePayment(deps, db, actor, { attemptId: attempt, decision }), killed)
    assert.equal((await read(id)).order.status, 'pending_payment')
    await app.expireClaims()
    assert.equal(await app.reconcile(), 1)
    assert.equal((await read(id)).order.status, 'placed')
    assert.equal((await keyOf(key)).status, 201)
  })

  await t.test('is reversed if it is captured late, and its order stays failed', async () => {
    const { id, attempt, body } = await wait('lost')
    assert.equal(
      (await app.resolve(attempt, { ...OPERATOR_REASON, outcome: 'not_found' })).status,
      200,
    )
    await app.watchLate()
    assert.equal((await app.attempt(attempt)).state, 'not_found', 'it still gives no answer')
    app.useGateway(null)
    const real = await app.runtime.payments.forStore(app.runtime.database.tenant('acme'))
    const charge = { ref: attempt, amount_cents: 1_500, currency: 'USD', order_id: id }
    await real.sale({ ...charge, source: { card: readCard(body.card, systemClock) } })
    await app.watchLate()
    assert.equal((await app.attempt(attempt)).state, 'voided')
    const { order, timeline } = await read(id)
    assert.equal(order.status, 'payment_failed')
    const types = timeline.map(({ type }: { type: string }) => type)
    assert.ok(types.includes('late_approval_returned'), types.join())
  })

  await t.test("is a discrepancy if the gateway's record differs later", async () => {
    const { id, attempt } = await wait()
    assert.equal(
      (await app.resolve(attempt, { ...OPERATOR_REASON, outcome: 'declined' })).status,
      200,
    )
    app.useGateway(null)
    await compare()
    assert.deepEqual(await discrepanciesOf(attempt), ['missing_here'])
    assert.equal((await read(id)).order.status, 'payment_failed')
    const real = await app.runtime.payments.forStore(app.runtime.database.tenant('acme'))
    assert.equal((await real.void({ txn_id: await txnOf(app, attempt) })).outcome, 'approved')
  })

  await t.test(
    'fails the order once the operator decides that the charge was reversed',
    async () => {
      const { id, attempt } = await wait()
      const undo = `update payment_attempts set reason = 'invalid_state' where id = $1`
      await app.superuser.query(undo, [attempt])
      app.useGateway(() => ({ void: async () => refused('invalid_state') }))
      const refusal = await app.resolve(attempt, await paid(attempt))
      assert.deepEqual([refusal.status, refusal.body.reason], [409, 'taken_back'])
      const answer = await app.resolve(attempt, { ...OPERATOR_REASON, outcome: 'declined' })
      assert.equal(answer.status, 200, answer.text)
      assert.deepEqual(
        [answer.body.decided_by, answer.body.order.status],
        ['operator', 'payment_failed'],
      )
      app.useGateway(null)
      await compare()
      assert.deepEqual(await discrepanciesOf(attempt), ['missing_here'], 'the gateway still has it')
      const real = await app.runtime.payments.forStore(app.runtime.database.tenant('acme'))
      assert.equal((await real.void({ txn_id: await txnOf(app, attempt) })).outcome, 'approved')
      assert.equal((await read(id)).order.payment_status, 'failed')
    },
  )
})
