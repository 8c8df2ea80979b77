import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { numberNewEvents } from '../../../src/modules/webhooks/jobs.ts'
import { until } from '../../harness/eventually.ts'
import {
  ADDRESS,
  BASE,
  cyclesOf,
  datesOf,
  ok,
  openStores,
  refusal,
  type SubscriptionStore,
} from './setup.ts'

/** Gives a subscription a status that only the engine or a charge leads to. */
async function become(store: SubscriptionStore, id: string, status: string) {
  await store.superuser.query(
    `update subscriptions
        set status = $2, dunning_attempt = case when $2 = 'past_due' then 1 else 0 end,
            dunning_next_at = case when $2 = 'past_due' then now() + interval '1 day' end,
            dunning_reason = case when $2 = 'past_due' then 'card_declined' end,
            next_charge_at = case when $2 in ('active', 'past_due') then next_charge_at end,
            due_at = null
      where id = $1`,
    [id, status],
  )
}

test('the verbs of a subscription', async (t) => {
  const stores = await openStores(t)
  const store = await stores.open('acme')
  const { merchant } = store

  await t.test('show the subscription with its next charge, and nothing of its card', async () => {
    const policies = {
      shipping: { mode: 'flat', flat_rate_cents: 500, expedited_rate_cents: 900, max_cents: 900 },
      tax: { provider: 'flat_rate', rate_bps: 1_000 },
    }
    const items = [{ variant_id: store.coffee, quantity: 2 }]
    const shown = await store.subscribe({ ...policies, items })
    assert.equal(shown.unit_price_cents, 800)
    for (const { amount_cents } of shown.next_charges)
      assert.equal(amount_cents, 2 * 800 + 500 + 160, 'goods, shipping and tax')
    assert.deepEqual(shown.payment_method, {
      brand: 'visa',
      last4: '1111',
      exp_month: 10,
      exp_year: 2040,
      updatable: true,
    })
    assert.deepEqual(
      [shown.status, shown.product_name, shown.ship_to.line1, shown.email, shown.dunning],
      ['active', 'Worth 1000', ADDRESS.line1, 'ann@x.example', null],
    )
    assert.doesNotMatch(JSON.stringify(shown), /vault|txn|fingerprint/)
  })

  await t.test(
    'pause, resume, skip, change and cancel, and every answer has the next charges',
    async () => {
      const { id } = await store.subscribe()
      const answers = [
        await store.act(id, 'skip'),
        await store.act(id, 'unskip'),
        await store.patch(id, { quantity: 3 }),
        await store.act(id, 'cancel', { at_period_end: true, reason: 'too much coffee' }),
        await store.act(id, 'resume'),
        await store.act(id, 'pause'),
        await store.act(id, 'resume', {}),
        await store.act(id, 'cancel', { reason: 'moving' }),
      ].map((answer) => ok(answer).subscription)
      assert.deepEqual(
        answers.map(({ next_charges }) => next_charges.length),
        [3, 3, 3, 0, 3, 0, 3, 0],
      )
      const [, , changed, ending, kept, , , cancelled] = answers
      assert.equal(changed.next_charges[0].amount_cents, 2_400)
      assert.deepEqual([ending.status, ending.cancel_at_period_end], ['active', true])
      assert.deepEqual([kept.cancel_at_period_end, kept.cancel_reason], [false, null])
      assert.deepEqual(
        [cancelled.status, cancelled.cancel_reason, cancelled.next_charge_at, cancelled.allowed],
        ['cancelled', 'moving', null, []],
      )
      assert.ok(cancelled.cancelled_at)
    },
  )

  await t.test(
    'appear in the timeline, the audit log and the feed, without free texts',
    async () => {
      const { id, origin_order_id } = await store.subscribe()
      ok(await store.act(id, 'pause'))
      ok(await store.shopper('POST', `/${id}/resume`))
      ok(await store.patch(id, { ship_to: { ...ADDRESS, line1: '9 Secret Lane' } }))
      ok(await store.act(id, 'cancel', { reason: 'a secret reason' }))
      const { body } = await merchant.get(`/v1/merchant/orders/${origin_order_id}/timeline`)
      const told = body.timeline.filter(({ type }: { type: string }) =>
        type.startsWith('subscription_'),
      )
      assert.deepEqual(
        told.map(({ type, actor }: { type: string; actor: string }) => [
          type,
          actor.replace(/:.*/, ''),
        ]),
        [
          ['subscription_paused', 'merchant_key'],
          ['subscription_resumed', 'shopper'],
          ['subscription_changed', 'merchant_key'],
          ['subscription_cancelled', 'merchant_key'],
        ],
      )
      const { rows: audited } = await store.superuser.query(
        `select action, after::text from audit_log where entity = $1 order by created_at`,
        [`subscription:${id}`],
      )
      assert.deepEqual(
        audited.map(({ action }) => action),
        ['subscription.paused', 'subscription.changed', 'subscription.cancelled'],
        'acts of shoppers are in the timeline alone',
      )
      while ((await numberNewEvents(store.app.runtime.workerDatabase)) > 0);
      const feed = await merchant.get('/v1/merchant/events?limit=100')
      const events = feed.body.events.filter(
        ({ data }: { data: { subscription?: { id: string } } }) => data.subscription?.id === id,
      )
      assert.deepEqual(
        events.map(({ type }: { type: string }) => type),
        ['paused', 'resumed', 'updated', 'cancelled'].map(
          (verb) => `commerce.subscription.${verb}.v1`,
        ),
      )
      const all = JSON.stringify([told, audited, events])
      assert.doesNotMatch(all, /secret/i)
    },
  )

  await t.test('refuse what the status does not allow, and name what it allows', async () => {
    const verbs = ['pause', 'resume', 'skip', 'unskip', 'cancel']
    const expected: Record<string, string[]> = {
      paused: ['pause', 'resume', 'cancel'],
      past_due: ['skip', 'cancel'],
      cancelled: [],
      unpaid_cancelled: [],
      expired: [],
    }
    for (const [status, allowed] of Object.entries(expected)) {
      for (const verb of verbs) {
        const { id } = await store.subscribe()
        await become(store, id, status)
        const answer = await store.act(id, verb)
        if (allowed.includes(verb))
          assert.equal(answer.status, 200, `${status} ${verb} ${answer.text}`)
        else {
          assert.deepEqual(refusal(answer), [409, 'invalid_transition'], `${status} ${verb}`)
          assert.equal(answer.body.current_status, status)
          assert.deepEqual(
            answer.body.allowed.filter((each: string) => verbs.includes(each)),
            allowed,
          )
        }
      }
      const { id } = await store.subscribe()
      await become(store, id, status)
      const changed = await store.patch(id, { quantity: 2 })
      const expectedStatus = allowed.length === 0 ? 409 : 200
      assert.equal(changed.status, expectedStatus, `${status} ${changed.text}`)
    }
    const { id } = await store.subscribe()
    assert.deepEqual(refusal(await store.act(id, 'resume')), [409, 'invalid_transition'])
  })

  await t.test(
    'give a declined charge up when its cycle is skipped, and nothing else',
    async () => {
      const { id } = await store.subscribe()
      await become(store, id, 'past_due')
      const other = ok(await store.act(id, 'skip', { cycle: 4 })).subscription
      assert.deepEqual([other.status, other.dunning.attempt], ['past_due', 1])
      const moved = await store.patch(id, { next_charge_at: '2999-01-01' })
      assert.deepEqual(refusal(moved), [409, 'invalid_transition'])
      const skipped = ok(await store.act(id, 'skip')).subscription
      assert.deepEqual(
        [skipped.status, skipped.dunning, cyclesOf(skipped)],
        ['active', null, [3, 5, 6]],
      )
      await become(store, id, 'past_due')
      const ended = ok(await store.act(id, 'cancel', { at_period_end: true })).subscription
      assert.equal(ended.status, 'cancelled', 'no paid period is left to wait for')
    },
  )

  await t.test('act once on a cycle, however often they are sent', async () => {
    const { id, version } = await store.subscribe()
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => store.act(id, 'skip', { cycle: 2 })),
    )
    for (const answer of answers) assert.deepEqual(cyclesOf(ok(answer).subscription), [3, 4, 5])
    assert.equal((await store.read(id)).version, version + 1, 'one change')
    const back = await Promise.all(
      Array.from({ length: 8 }, () => store.act(id, 'unskip', { cycle: 2 })),
    )
    for (const answer of back) assert.deepEqual(cyclesOf(ok(answer).subscription), [2, 3, 4])
    assert.equal((await store.read(id)).version, version + 2)
  })

  await t.test('skip only future cycles, and unskip only before their date', async () => {
    const past = await stores.open('past', '2031-01-15T12:00:00Z')
    const { id } = await past.subscribe()
    for (const cycle of [1, 26, 5_000])
      assert.deepEqual(refusal(await past.act(id, 'skip', { cycle })), [409, 'cycle_closed'])
    assert.deepEqual(refusal(await past.act(id, 'unskip')), [409, 'cycle_closed'])
    assert.deepEqual(refusal(await past.act(id, 'skip', { cycle: 0 })), [400, 'invalid_body'])
    ok(await past.act(id, 'skip', { cycle: 2 }))
    past.travel('2031-02-16T12:00:00Z')
    assert.deepEqual(refusal(await past.act(id, 'unskip', { cycle: 2 })), [409, 'cycle_closed'])
    assert.deepEqual(datesOf(await past.read(id))[0], '2031-03-15')
    for (let cycle = 3; cycle <= 25; cycle++) ok(await past.act(id, 'skip', { cycle }))
    assert.deepEqual(cyclesOf(await past.read(id)), [26, 27, 28], 'three are always shown')
  })

  await t.test('are refused while a charge is under way, and no charge is lost', async () => {
    const { id, version } = await store.subscribe()
    await store.charging(id)
    const card = { card: { ccnumber: '4111111111111111', ccexp: '10/40' } }
    const tried = [
      await store.act(id, 'pause'),
      await store.act(id, 'skip'),
      await store.act(id, 'cancel', { at_period_end: true }),
      await store.act(id, 'cancel'),
      await store.act(id, 'payment-method', card),
      await store.patch(id, { quantity: 2 }),
      await store.shopper('POST', `/${id}/pause`),
    ]
    for (const answer of tried) {
      assert.deepEqual(refusal(answer), [409, 'charge_in_progress'])
      assert.equal(answer.headers['retry-after'], '10')
    }
    const shown = await store.read(id)
    assert.deepEqual([shown.version, shown.allowed], [version, []])
  })

  await t.test('wait for a charge that begins at the same moment, and then see it', async () => {
    const { id } = await store.subscribe()
    await store.superuser.query('begin')
    await store.superuser.query('select from subscriptions where id = $1 for update', [id])
    const pausing = store.act(id, 'pause')
    // A connection of its own: within a transaction the view of the others does not change.
    const watcher = await store.app.database.openAdmin()
    await until('the verb waits for the lock', async () => {
      const { rowCount } = await watcher.query(
        `select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return rowCount === 1
    })
    // The verb reads the cycle that is written meanwhile.
    await store.charging(id)
    await store.superuser.query('commit')
    assert.deepEqual(refusal(await pausing), [409, 'charge_in_progress'])
  })

  await t.test('refuse a change that was based on an older version', async () => {
    const { id, version } = await store.subscribe()
    ok(await store.patch(id, { quantity: 2, version }))
    const stale = await store.patch(id, { quantity: 3, version })
    assert.deepEqual(refusal(stale), [409, 'stale_subscription'])
    assert.equal(stale.body.current_version, version + 1)
    for (const verb of ['pause', 'skip', 'cancel'])
      assert.deepEqual(refusal(await store.act(id, verb, { version })), [409, 'stale_subscription'])
    ok(await store.act(id, 'pause', { version: version + 1 }))
  })

  await t.test('concurrent changes leave one of them in the end, and never a mixture', async () => {
    const { id } = await store.subscribe()
    const answers = await Promise.all([
      store.act(id, 'cancel'),
      store.act(id, 'pause'),
      store.act(id, 'skip'),
      store.patch(id, { quantity: 5 }),
      store.act(id, 'cancel'),
    ])
    for (const answer of answers) assert.ok([200, 409].includes(answer.status), answer.text)
    const cancels = [answers[0], answers[4]].map((answer) => answer?.status)
    assert.deepEqual(cancels.toSorted(), [200, 409], 'cancelled once')
    const end = await store.read(id)
    assert.deepEqual([end.status, end.next_charge_at, end.paused_until], ['cancelled', null, null])
  })

  await t.test(
    'changes and the cancellation of their order at the same time never show a deadlock',
    async () => {
      for (let round = 0; round < 5; round++) {
        const { id, origin_order_id } = await store.subscribe()
        const [cancelled, ...verbs] = await Promise.all([
          merchant.post(
            `/v1/merchant/orders/${origin_order_id}/cancel`,
            { reason: 'other' },
            { 'idempotency-key': randomUUID() },
          ),
          store.act(id, 'pause'),
          store.act(id, 'skip'),
        ])
        ok(cancelled)
        for (const answer of verbs) assert.ok([200, 409].includes(answer.status), answer.text)
        assert.equal((await store.read(id)).status, 'cancelled')
      }
    },
  )

  await t.test(
    'charge at once if a resume asks for it, and use that day as the anchor',
    async () => {
      const now = await stores.open('now', '2031-01-31T03:00:00Z')
      const { id } = await now.subscribe()
      ok(await now.act(id, 'pause'))
      now.travel('2031-03-10T03:00:00Z')
      const resumed = ok(await now.act(id, 'resume', { charge_now: true })).subscription
      assert.ok(Date.parse(resumed.next_charge_at) <= Date.parse('2031-03-10T03:01:00Z'))
      assert.deepEqual(datesOf(resumed), ['2031-03-10', '2031-04-10', '2031-05-10'])
      const { rows } = await now.superuser.query(
        'select due_at = next_charge_at as is_due from subscriptions where id = $1',
        [id],
      )
      assert.deepEqual(rows, [{ is_due: true }])
    },
  )

  await t.test(
    'work after the add-on was switched off: existing subscriptions continue',
    async () => {
      const off = await stores.open('off')
      const { id } = await off.subscribe()
      for (const feature_key of ['subscriptions', 'subscribe_and_save'])
        ok(await off.merchant.post('/v1/merchant/entitlements/disable', { feature_key }))
      ok(await off.merchant.get(BASE))
      ok(await off.act(id, 'pause'))
      ok(await off.shopper('POST', `/${id}/resume`))
      ok(await off.merchant.put(`${BASE}/settings`, { on_out_of_stock: 'retry' }))
      ok(await off.patch(id, { quantity: 2 }))
      assert.equal((await off.read(id)).unit_price_cents, 800, 'and keeps its price')
      ok(await off.act(id, 'cancel'))
    },
  )

  await t.test('answer unknown and malformed ids alike, and refuse wrong bodies', async () => {
    for (const id of [randomUUID(), 'nothing', 'x'.repeat(300)])
      assert.deepEqual(refusal(await store.act(id, 'pause')), [404, 'subscription_not_found'])
    const { id } = await store.subscribe()
    const bad: [string, object][] = [
      ['pause', { until: 5 }],
      ['resume', { charge_now: 'yes' }],
      ['skip', { cycle: 'next' }],
      ['cancel', { at_period_end: 1 }],
      ['cancel', { reason: '' }],
      ['cancel', { reason: 'x'.repeat(2_001) }],
      ['pause', { version: '1' }],
    ]
    for (const [verb, body] of bad)
      assert.deepEqual(refusal(await store.act(id, verb, body)), [400, 'invalid_body'], verb)
    assert.equal((await store.read(id)).status, 'active')
  })
})
