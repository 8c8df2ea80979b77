import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import fc from 'fast-check'
import { DAY_MS } from '../../../src/kernel/time.ts'
import { planReminder, remind } from '../../../src/modules/billing/dunning.ts'
import { reminderQueue } from '../../../src/modules/billing/invoice-queries.ts'
import { remindDue } from '../../../src/modules/billing/jobs.ts'
import { times } from '../../harness/refusals.ts'
import { ok } from '../analytics/setup.ts'
import { type BillingApp, ISSUER, invoiceOf, shareBilling } from './setup.ts'

const ladders = fc
  .uniqueArray(fc.nat(60), { maxLength: 5 })
  .map((days) => days.toSorted((a, b) => a - b).map((each) => ({ days: each, text: 'x' })))

describe('the plan of reminders', () => {
  test('takes each step at most once, in order, and none before its day', () => {
    const looks = fc.array(fc.nat(80), { maxLength: 12 })
    fc.assert(
      fc.property(ladders, looks, (ladder, days) => {
        let sent = 0
        const taken: number[] = []
        for (const day of days.toSorted((a, b) => a - b)) {
          const plan = planReminder(ladder, { dueAtMs: 0, sent, nowMs: day * DAY_MS })
          if (plan.step !== null) {
            taken.push(plan.step)
            assert.ok((ladder[plan.step]?.days ?? Number.NaN) <= day)
          }
          assert.ok(plan.sent >= sent)
          sent = plan.sent
          const next = plan.nextAt === null ? null : Date.parse(plan.nextAt)
          assert.ok(next === null || next > day * DAY_MS)
          assert.equal(next === null, sent === ladder.length)
        }
        assert.deepEqual(
          taken,
          [...new Set(taken)].toSorted((a, b) => a - b),
        )
      }),
    )
  })

  test('sends one mail after an absence, and not one for every missed step', () => {
    const ladder = [3, 10, 21].map((days) => ({ days, text: 'x' }))
    const plan = planReminder(ladder, { dueAtMs: 0, sent: 0, nowMs: 15 * DAY_MS })
    assert.deepEqual(plan, {
      step: 1,
      sent: 2,
      nextAt: new Date(21 * DAY_MS).toISOString(),
    })
  })
})

const shared = shareBilling()
let app: BillingApp

/** A store with an open invoice over 30.00 that is due on the 17th of February. */
async function owing(tenant: string) {
  const shop = await app.shopAt(tenant, '2032-01-01T09:00:00Z')
  ok(await app.setPlan(tenant, 'pro'))
  app.setTime(tenant, '2032-02-03T00:00:01Z')
  await app.work()
  return { ...shop, invoice: await invoiceOf(shop.merchant, '2032-01') }
}

const remindersOf = async (tenant: string) =>
  (await app.mailsOf(tenant)).filter(({ subject }) => subject.startsWith('Reminder'))

describe('reminders', () => {
  before(() => {
    app = shared.current
  })

  test('are mailed on their days, with the amount that is still owed', async () => {
    const { merchant, invoice } = await owing('slow')
    app.setTime('slow', '2032-02-19T23:00:00Z')
    await app.work()
    assert.deepEqual(await remindersOf('slow'), [])
    app.setTime('slow', '2032-02-20T00:00:02Z')
    await app.work()
    await app.work()
    const [first, ...others] = await remindersOf('slow')
    assert.deepEqual(others, [])
    assert.equal(first?.recipient, 'slow@owners.example')
    assert.equal(first?.subject, `Reminder: invoice ${invoice.number} is not paid`)
    assert.match(first?.body ?? '', /^A first reminder\.\n/)
    assert.match(first?.body ?? '', /\$30\.00/)
    ok(await app.pay('slow', invoice.id, 1_000), 201)
    app.setTime('slow', '2032-02-27T00:00:02Z')
    await app.work()
    const [, second] = await remindersOf('slow')
    assert.match(second?.body ?? '', /^A second reminder\.\n.*\$20\.00/s)
    app.setTime('slow', '2032-03-02T00:00:00Z')
    await app.work()
    assert.equal((await remindersOf('slow')).length, 2)
    const { reminders, status } = await invoiceOf(merchant, '2032-01')
    assert.deepEqual(
      [reminders.map(({ step }: { step: number }) => step), status],
      [[0, 1], 'open'],
    )
    const store = ok(await merchant.get('/v1/my/store'))
    assert.equal(store.store.status, 'live', 'no store is suspended by itself')
  })

  test('end when the invoice is paid, or credited', async () => {
    for (const [tenant, settle] of [
      ['paid', (id: string) => app.pay('paid', id, 3_000)],
      ['credited', (id: string) => app.credit('credited', id, { reason: 'x' })],
    ] as const) {
      const { invoice } = await owing(tenant)
      ok(await settle(invoice.id), 201)
      app.setTime(tenant, '2032-02-28T00:00:00Z')
      await app.work()
      assert.deepEqual(await remindersOf(tenant), [], tenant)
    }
  })

  test('are recorded without a mail if the store has no owner', async () => {
    const { merchant } = await owing('nobody')
    await app.superuser.query(`update stores set owner_email = null where tenant_ref = 'nobody'`)
    app.setTime('nobody', '2032-02-21T00:00:00Z')
    await app.work()
    const { reminders } = await invoiceOf(merchant, '2032-01')
    assert.deepEqual(
      reminders.map(({ step, recipient }: Record<string, unknown>) => [step, recipient]),
      [[0, null]],
    )
    assert.deepEqual(await remindersOf('nobody'), [])
  })

  test('are mailed once, also if a step is killed or two workers run at once', async () => {
    await owing('torn')
    app.setTime('torn', '2032-02-21T00:00:00Z')
    const db = app.runtime.workerDatabase.tenant('torn')
    const [lease] = await reminderQueue.claim(db, 1)
    assert.ok(lease)
    const dying = db.transaction('a step that dies', async (tx) => {
      assert.equal(await remind(tx, lease), 1)
      throw new Error('killed')
    })
    await assert.rejects(dying, /killed/)
    assert.deepEqual(await remindersOf('torn'), [])
    const done = await times(2, () => db.transaction('remind', (tx) => remind(tx, lease)))
    assert.deepEqual(done.toSorted(), [0, 1])
    await times(3, () => remindDue(app.runtime.workerDatabase))
    assert.equal((await remindersOf('torn')).length, 1)
  })

  test('follow the ladder that is set when they are due', async () => {
    const { invoice } = await owing('changed')
    const reminders = [{ days: 0, text: 'At once.' }]
    ok(await app.operator.put('/v1/billing/issuer', { ...ISSUER, reminders }))
    app.setTime('changed', '2032-02-21T00:00:00Z')
    await app.work()
    const [only] = await remindersOf('changed')
    assert.match(only?.body ?? '', /^At once\./)
    ok(await app.operator.put('/v1/billing/issuer', ISSUER))
    assert.equal(ok(await app.operator.get('/v1/billing/issuer')).issuer.reminders.length, 2)
    assert.equal(invoice.status, 'open')
  })
})
