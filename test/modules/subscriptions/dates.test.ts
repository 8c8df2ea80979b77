import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { DAY_MS } from '../../../src/kernel/time.ts'
import { share } from '../../harness/scope.ts'
import { cyclesOf, datesOf, ok, openStores, refusal, type SubscriptionStore } from './setup.ts'

const shared = share((scope) => openStores(scope))

test('the first period after a moment begins after it, and the previous period does not', async () => {
  const { superuser } = shared.current
  const zones = ['UTC', 'America/Los_Angeles', 'Europe/Berlin', 'Asia/Kolkata', 'Pacific/Apia']
  const day = fc.integer({ min: 0, max: 9_000 }).map((days) => {
    return new Date(Date.UTC(2020, 0, 1) + days * DAY_MS).toISOString().slice(0, 10)
  })
  await fc.assert(
    fc.asyncProperty(
      day,
      fc.constantFrom('day', 'week', 'month', 'year'),
      fc.integer({ min: 1, max: 14 }),
      fc.constantFrom(...zones),
      fc.integer({ min: Date.UTC(2015, 0, 1), max: Date.UTC(2060, 0, 1) }),
      async (anchor, unit, count, zone, at) => {
        const moment = new Date(at).toISOString()
        const { rows } = await superuser.query(
          `select fd_period_start($1, $2, $3, n, $4) > $5 as is_after,
                  fd_period_start($1, $2, $3, n - 1, $4) > $5 as is_too_late
             from fd_period_after($1, $2, $3, $4, $5) as n`,
          [anchor, unit, count, zone, moment],
        )
        assert.deepEqual(rows, [{ is_after: true, is_too_late: false }])
      },
    ),
    { numRuns: 300 },
  )
})

/** A monthly subscription of the 31st of January 2031. */
async function onThe31st(store: SubscriptionStore) {
  store.travel('2031-01-31T12:00:00Z')
  return store.subscribe()
}

test('dates', async (t) => {
  const stores = shared.current

  await t.test(
    'fall on the day of their anchor, or on the last day of a shorter month',
    async () => {
      const store = await stores.open('short', '2031-01-31T12:00:00Z')
      const started = await onThe31st(store)
      assert.deepEqual(datesOf(started), ['2031-02-28', '2031-03-31', '2031-04-30'])
      assert.deepEqual(cyclesOf(started), [2, 3, 4])
      assert.equal(started.next_charge_at, '2031-02-28T06:00:00.000Z')
      assert.equal(started.anchor_day, 31)
    },
  )

  await t.test('all move when one is moved, and stay when it is not', async () => {
    const store = await stores.open('moved', '2031-01-31T12:00:00Z')
    const { id } = await onThe31st(store)
    const moved = ok(await store.patch(id, { next_charge_at: '2031-02-10' })).subscription
    assert.deepEqual(datesOf(moved), ['2031-02-10', '2031-03-10', '2031-04-10'])
    assert.deepEqual([cyclesOf(moved), moved.anchor_day], [[2, 3, 4], 10])
    const byTime = { next_charge_at: '2031-02-12T23:30:00-05:00' }
    assert.deepEqual(datesOf(ok(await store.patch(id, byTime)).subscription)[0], '2031-02-13')
    const same = ok(await store.patch(id, { next_charge_at: '2031-02-13' })).subscription
    assert.equal(same.version, moved.version + 1, 'a date that is the same changes nothing')
  })

  await t.test('keep the next date when the interval changes, and count from there', async () => {
    const store = await stores.open('interval', '2031-01-31T12:00:00Z')
    const { id } = await onThe31st(store)
    const weekly = ok(await store.patch(id, { interval: 'week', interval_count: 2 })).subscription
    assert.deepEqual(datesOf(weekly), ['2031-02-28', '2031-03-14', '2031-03-28'])
    const both = { interval: 'month', interval_count: 1, next_charge_at: '2031-03-31' }
    const again = ok(await store.patch(id, both)).subscription
    assert.deepEqual(datesOf(again), ['2031-03-31', '2031-04-30', '2031-05-31'])
  })

  await t.test(
    'lose a skipped cycle and nothing else, and get it back when the skip is undone',
    async () => {
      const store = await stores.open('skips', '2031-01-31T12:00:00Z')
      const { id } = await onThe31st(store)
      ok(await store.act(id, 'skip', { cycle: 3 }))
      const skipped = ok(await store.act(id, 'skip')).subscription
      assert.deepEqual(datesOf(skipped), ['2031-04-30', '2031-05-31', '2031-06-30'])
      assert.equal(skipped.next_charge_at, '2031-04-30T06:00:00.000Z')
      assert.deepEqual(skipped.skipped, [
        { cycle: 2, at: '2031-02-28T06:00:00.000Z' },
        { cycle: 3, at: '2031-03-31T06:00:00.000Z' },
      ])
      const back = ok(await store.act(id, 'unskip')).subscription
      assert.deepEqual([cyclesOf(back), back.skipped.length], [[2, 4, 5], 1])
      assert.equal(back.next_charge_at, '2031-02-28T06:00:00.000Z')
    },
  )

  await t.test(
    'follow the number of charged cycles, and not the time that has passed',
    async () => {
      const store = await stores.open('charged', '2031-01-31T12:00:00Z')
      const { id } = await onThe31st(store)
      await store.superuser.query(
        `insert into subscription_cycles (tenant_ref, subscription_id, cycle, state, due_at, order_id)
       values ($1, $2, 2, 'paid', now(), $2)`,
        [store.tenant, id],
      )
      assert.deepEqual(cyclesOf(await store.read(id)), [3, 4, 5])
      assert.equal((await store.read(id)).cycle, 2)
      assert.deepEqual(refusal(await store.act(id, 'skip', { cycle: 2 })), [409, 'cycle_closed'])
    },
  )

  await t.test('use up no cycle during a pause', async () => {
    const store = await stores.open('paused', '2031-01-31T12:00:00Z')
    const { id } = await onThe31st(store)
    const paused = ok(await store.act(id, 'pause')).subscription
    assert.deepEqual(
      [paused.status, paused.next_charge_at, paused.next_charges],
      ['paused', null, []],
    )
    store.travel('2031-06-10T12:00:00Z')
    const resumed = ok(await store.act(id, 'resume')).subscription
    assert.deepEqual(datesOf(resumed), ['2031-06-30', '2031-07-31', '2031-08-31'])
    assert.deepEqual(cyclesOf(resumed), [2, 3, 4], 'no cycle has passed')
  })

  await t.test('come no earlier because of a pause, and a skip remains after it', async () => {
    const store = await stores.open('brief', '2031-01-31T12:00:00Z')
    const { id } = await onThe31st(store)
    ok(await store.act(id, 'skip'))
    ok(await store.act(id, 'pause'))
    const resumed = ok(await store.act(id, 'resume')).subscription
    assert.deepEqual([datesOf(resumed)[0], cyclesOf(resumed)[0]], ['2031-03-31', 3])
    ok(await store.patch(id, { next_charge_at: '2031-08-15' }))
    ok(await store.act(id, 'pause'))
    const later = ok(await store.act(id, 'resume')).subscription
    assert.deepEqual(datesOf(later), ['2031-08-15', '2031-09-15', '2031-10-15'])
  })

  await t.test(
    'are not skipped after a pause because of a skip that was over before the pause',
    async () => {
      for (const until of [undefined, '2031-05-10']) {
        const store = await stores.open(`over-${until ?? 'open'}`, '2031-01-31T12:00:00Z')
        const { id } = await onThe31st(store)
        ok(await store.act(id, 'skip', { cycle: 2 }))
        ok(await store.act(id, 'skip', { cycle: 4 }))
        store.travel('2031-03-10T12:00:00Z')
        const paused = ok(await store.act(id, 'pause', { ...(until && { until }) })).subscription
        const dates = ['2031-05-31', '2031-07-31', '2031-08-31']
        if (until) assert.deepEqual([datesOf(paused), cyclesOf(paused)], [dates, [3, 5, 6]])
        store.travel('2031-05-10T12:00:00Z')
        const resumed = ok(await store.act(id, 'resume')).subscription
        assert.deepEqual([datesOf(resumed), cyclesOf(resumed)], [dates, [3, 5, 6]])
        assert.equal(resumed.skipped.length, 1, 'that of the cycle to come')
      }
    },
  )

  await t.test('stay where they were set while the pause lasts', async () => {
    const store = await stores.open('set', '2031-01-31T12:00:00Z')
    const { id } = await onThe31st(store)
    ok(await store.act(id, 'skip', { cycle: 2 }))
    store.travel('2031-03-10T12:00:00Z')
    ok(await store.act(id, 'pause'))
    ok(await store.patch(id, { next_charge_at: '2031-06-15' }))
    store.travel('2031-05-10T12:00:00Z')
    const resumed = ok(await store.act(id, 'resume')).subscription
    assert.deepEqual(datesOf(resumed), ['2031-06-15', '2031-07-15', '2031-08-15'])
    assert.deepEqual(cyclesOf(resumed), [3, 4, 5])
  })

  await t.test('are known during a pause that has an end', async () => {
    const store = await stores.open('until', '2031-01-31T12:00:00Z')
    const { id } = await onThe31st(store)
    const paused = ok(await store.act(id, 'pause', { until: '2031-04-30' })).subscription
    assert.equal(paused.paused_until, '2031-04-30T00:00:00.000Z')
    assert.deepEqual(datesOf(paused), ['2031-04-30', '2031-05-31', '2031-06-30'])
    assert.deepEqual([cyclesOf(paused), paused.next_charge_at], [[2, 3, 4], null])
    const { rows } = await store.superuser.query('select due_at from subscriptions where id = $1', [
      id,
    ])
    assert.equal(rows[0].due_at.toISOString(), '2031-04-30T00:00:00.000Z')
    store.travel('2031-04-30T00:00:01Z')
    assert.deepEqual(datesOf(ok(await store.act(id, 'resume')).subscription), datesOf(paused))
  })

  await t.test('are at most as many as the cycles that can still be paid', async () => {
    const store = await stores.open('most', '2031-01-31T12:00:00Z')
    const { id } = await onThe31st(store)
    const two = ok(await store.patch(id, { max_cycles: 3 })).subscription
    assert.deepEqual(datesOf(two), ['2031-02-28', '2031-03-31'])
    ok(await store.act(id, 'skip'))
    assert.deepEqual(
      datesOf(await store.read(id)),
      ['2031-03-31', '2031-04-30'],
      'a skip is not paid',
    )
    const last = ok(await store.patch(id, { max_cycles: 1 })).subscription
    assert.deepEqual([last.next_charges, last.next_charge_at], [[], null])
    const { rows } = await store.superuser.query('select due_at from subscriptions where id = $1', [
      id,
    ])
    assert.ok(rows[0].due_at, 'the scheduler looks at it when the period ends')
    assert.equal(
      ok(await store.patch(id, { max_cycles: null })).subscription.next_charges.length,
      3,
    )
  })

  await t.test('follow the store to another time zone after the next charge', async () => {
    const store = await stores.open('zone', '2031-01-31T12:00:00Z')
    const { id } = await onThe31st(store)
    ok(await store.merchant.patch('/v1/my/store', { time_zone: 'Asia/Tokyo' }))
    const { next_charges } = await store.read(id)
    assert.deepEqual(
      next_charges.map(({ at }: { at: string }) => at),
      ['2031-02-28T06:00:00.000Z', '2031-03-30T21:00:00.000Z', '2031-04-29T21:00:00.000Z'],
    )
  })

  const refused = [
    ['today', { next_charge_at: '2031-01-31' }],
    ['a day in the past', { next_charge_at: '2030-12-01' }],
    ['a day that its month does not have', { next_charge_at: '2031-02-30' }],
    ['a day beyond ten years', { next_charge_at: '2042-01-01' }],
    ['a text', { next_charge_at: 'tomorrow' }],
    ['an interval that does not exist', { interval: 'fortnight' }],
    ['an interval of nothing', { interval_count: 0 }],
    ['fewer cycles than are paid', { max_cycles: 0 }],
  ] as const
  await t.test('refuse a date that is not in the future', async () => {
    const store = await stores.open('refused', '2031-01-31T12:00:00Z')
    const { id, version } = await onThe31st(store)
    for (const [what, body] of refused)
      assert.deepEqual(refusal(await store.patch(id, body)), [400, 'invalid_body'], what)
    for (const until of ['2031-01-01', '2040-01-01', 'later', '2031-02-30'])
      assert.deepEqual(
        refusal(await store.act(id, 'pause', { until })),
        [400, 'invalid_body'],
        until,
      )
    assert.equal((await store.read(id)).version, version)
  })
})

test('after any changes in a year no date moves that was not asked to', async () => {
  const store = await shared.current.open('property', '2031-01-31T12:00:00Z')
  const step = fc.oneof(
    fc.constant({ verb: 'skip', body: {} }),
    fc.constant({ verb: 'unskip', body: {} }),
    fc.constant({ verb: 'pause', body: {} }),
    fc.constant({ verb: 'resume', body: {} }),
    fc.integer({ min: 1, max: 9 }).map((quantity) => ({ verb: '', body: { quantity } })),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const { id } = await onThe31st(store)
      for (const { verb, body } of steps) {
        const answer = verb === '' ? store.patch(id, body) : store.act(id, verb, body)
        assert.ok([200, 409].includes((await answer).status))
        const shown = await store.read(id)
        const dates = datesOf(shown)
        assert.deepEqual(dates, dates.toSorted(), 'they grow')
        assert.deepEqual(new Set(cyclesOf(shown)).size, dates.length)
        for (const { cycle, at } of shown.next_charges) {
          // Nothing has moved time, so that each cycle still has the date it began with.
          const month = new Date(Date.UTC(2031, cycle, 0)).toISOString().slice(0, 10)
          assert.equal(at.slice(0, 10), month)
        }
      }
    }),
    { numRuns: 15 },
  )
})
