import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { DAY_MS } from '../../../src/kernel/time.ts'
import { recount } from '../../../src/modules/segments/count.ts'
import type { Answer } from '../../harness/app.ts'
import { assertRefused } from '../../harness/refusals.ts'
import { addVariant, enable } from '../checkout/setup.ts'
import { names, openSegmentApp, productOf, type SegmentApp, shipTo, URL } from './setup.ts'

const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString()

/** Copies an order many times, under an address that stands for all shoppers. */
async function copyOrder({ superuser }: SegmentApp, id: string, times: number): Promise<void> {
  const { rows } = await superuser.query(
    `select string_agg(quote_ident(attname), ', ') as columns from pg_attribute
      where attrelid = 'orders'::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
  )
  const { columns } = rows[0]
  await superuser.query(
    `insert into orders (${columns})
     select ${columns}
       from (select (jsonb_populate_record(o, jsonb_build_object(
                       'id', gen_random_uuid(), 'order_number', 1000000 + n,
                       'idempotency_key', 'copy ' || n, 'email', 'placeholder@x.example'))).*
               from orders o cross join generate_series(1, ${times}) n
              where o.id = $1) as copied`,
    [id],
  )
}

test('conditions', async (t) => {
  const app = await openSegmentApp(t)
  const { buy, count, find, superuser } = app
  const shop = await app.newShop('acme')
  const { merchant, variants } = shop
  await enable(merchant, 'subscriptions')
  const monthly = await addVariant(merchant, 2_000, {
    is_subscription: true,
    subscription_interval: 'month',
  })
  const items = (variant_id: string | undefined, quantity = 1) => [{ variant_id, quantity }]

  // Ann buys often, Bob once and long ago, Cat reads and buys nothing, Dan has a subscription.
  await buy(shop, 'ann@x.example', { shipping_address: shipTo('us', 'ca') })
  await buy(shop, 'ANN@x.example', { items: items(variants[2_500], 2), customer_ref: 'ann/2' })
  const old = await buy(shop, 'bob@x.example', { shipping_address: shipTo('DE', '') })
  await buy(shop, 'dan@x.example', { items: items(monthly), subscribe: true })
  const evidence = { given_at: '2025-01-01T00:00:00Z', text: 'Yes.' }
  const consents = ['cat@x.example', 'dan@x.example'].map((email) => ({ email, ...evidence }))
  await merchant.post('/v1/merchant/marketing/consents/import', { consents })
  await merchant.post('/v1/merchant/marketing/consents/withdraw', { email: 'dan@x.example' })
  await superuser.query(
    `update orders set placed_at = placed_at - interval '100 days' where id = $1`,
    [old.id],
  )
  await count()
  await app.check()
  const tea = await productOf(app, variants[1_000])
  const cup = await productOf(app, variants[2_500])

  const TABLE: readonly (readonly [string, object, string[]])[] = [
    ['spend at least', { field: 'total_spent_cents', op: 'gte', value: 6_000 }, ['ann']],
    ['spend at most', { field: 'total_spent_cents', op: 'lte', value: 1_000 }, ['bob', 'cat']],
    ['spend exactly', { field: 'total_spent_cents', op: 'eq', value: 1_000 }, ['bob']],
    ['orders at least', { field: 'orders_count', op: 'gte', value: 2 }, ['ann']],
    ['no order', { field: 'orders_count', op: 'eq', value: 0 }, ['cat']],
    ['beyond integers', { field: 'orders_count', op: 'gte', value: 2 ** 52 }, []],
    ['lately', { field: 'last_order_at', op: 'within_days', value: 99 }, ['ann', 'dan']],
    ['not lately', { field: 'last_order_at', op: 'not_within_days', value: 99 }, ['bob']],
    ['before', { field: 'first_order_at', op: 'before', value: daysAgo(50) }, ['bob']],
    ['after', { field: 'first_order_at', op: 'after', value: daysAgo(50) }, ['ann', 'dan']],
    ['bought', { field: 'product', op: 'bought', value: [cup] }, ['ann']],
    ['bought either', { field: 'product', op: 'bought', value: [cup, tea] }, ['ann', 'bob']],
    ['not bought', { field: 'product', op: 'not_bought', value: [tea] }, ['cat', 'dan']],
    ['subscribed', { field: 'subscription', op: 'is', value: ['active', 'paused'] }, ['dan']],
    [
      'not subscribed',
      { field: 'subscription', op: 'is_not', value: ['active'] },
      ['ann', 'bob', 'cat'],
    ],
    ['in a country', { field: 'place', op: 'in', value: ['us'] }, ['ann']],
    ['in a state', { field: 'place', op: 'in', value: ['US-CA', 'DE'] }, ['ann', 'bob']],
    ['elsewhere', { field: 'place', op: 'not_in', value: ['DE'] }, ['ann', 'cat', 'dan']],
    ['agreed', { field: 'consent', op: 'is', value: 'given' }, ['cat']],
    ['left', { field: 'consent', op: 'is', value: 'withdrawn' }, ['dan']],
    ['was never asked', { field: 'consent', op: 'is', value: 'none' }, ['ann', 'bob']],
    ['has not left', { field: 'consent', op: 'is_not', value: 'withdrawn' }, ['ann', 'bob', 'cat']],
    ['a place that is code', { field: 'place', op: 'in', value: [`DE-' or '1' = '1`] }, []],
  ]
  for (const [what, condition, expected] of TABLE) {
    await t.test(`find customers who ${what}`, async () => {
      assert.deepEqual(names(await find(shop, [condition])), expected)
    })
  }

  await t.test('are joined by all or any, in groups of groups', async () => {
    const rich = { field: 'total_spent_cents', op: 'gte', value: 6_000 }
    const german = { field: 'place', op: 'in', value: ['DE'] }
    const reader = { field: 'consent', op: 'is', value: 'given' }
    assert.deepEqual(await find(shop, [rich, german], 'all'), [])
    assert.deepEqual(names(await find(shop, [rich, german], 'any')), ['ann', 'bob'])
    const group = { match: 'any', conditions: [german, { match: 'all', conditions: [reader] }] }
    assert.deepEqual(names(await find(shop, [group], 'all')), ['bob', 'cat'])
    const poor = { field: 'orders_count', op: 'lte', value: 0 }
    assert.deepEqual(names(await find(shop, [group, poor], 'all')), ['cat'])
  })

  await t.test(
    'say how many of the found people agreed to marketing, and show some of them',
    async () => {
      const { body } = await merchant.post(`${URL}/preview`, {
        match: 'all',
        conditions: [{ field: 'orders_count', op: 'gte', value: 0 }],
      })
      assert.deepEqual([body.count, body.consented_count], [4, 1])
      const { last_order_at, ...ann } = body.sample[0]
      assert.ok(Date.parse(last_order_at) > Date.now() - DAY_MS)
      assert.deepEqual(ann, {
        email: 'ANN@x.example',
        customer_ref: 'ann/2',
        orders_count: 2,
        total_spent_cents: 6_000,
        consent: 'none',
      })
    },
  )

  await t.test('count only the people of their own store', async () => {
    const other = await app.newShop('other')
    const everybody = [{ field: 'orders_count', op: 'gte', value: 0 }]
    assert.deepEqual(await find(other, everybody), [])
    await buy(other, 'ann@x.example')
    await count()
    assert.deepEqual(await find(other, everybody), ['ann@x.example'])
    assert.deepEqual(await find(other, [{ field: 'product', op: 'bought', value: [tea] }]), [])
  })

  await t.test('use the time zone of the store', async () => {
    const { clocks } = app.runtime
    clocks.set('acme', { offsetMs: 200 * DAY_MS, isMoving: false })
    const lately = [{ field: 'last_order_at', op: 'within_days', value: 150 }]
    assert.deepEqual(await find(shop, lately), [])
    clocks.set('acme', { offsetMs: 0, isMoving: false })
    assert.deepEqual(names(await find(shop, lately)), ['ann', 'bob', 'dan'])
  })

  await t.test('are refused with the path of the wrong member', async () => {
    const one = { field: 'orders_count', op: 'gte', value: 1 }
    const nest = (depth: number): object =>
      depth === 1 ? one : { match: 'all', conditions: [nest(depth - 1)] }
    const send = (conditions: unknown) =>
      merchant.post(`${URL}/preview`, { match: 'all', conditions })
    const wrong = (change: object) => [{ ...one, ...change }]
    await assertRefused(
      [
        ['none', [], 'invalid_body', 'conditions'],
        ['too many', Array(51).fill(one), 'invalid_body', 'conditions'],
        [
          'too deep',
          [nest(4)],
          'invalid_body',
          'conditions.0.conditions.0.conditions.0.conditions',
        ],
        [
          'an empty group',
          [{ match: 'any', conditions: [] }],
          'invalid_body',
          'conditions.0.conditions',
        ],
        ['a group of nothing', [{ match: 'any', conditions: [null] }], 'invalid_body'],
        ['both', [{ ...one, match: 'all', conditions: [one] }], 'invalid_body', 'conditions.0'],
        ['no match', [{ conditions: [one] }], 'invalid_body', 'conditions.0.match'],
        ['a field', wrong({ field: 'password' }), 'invalid_body', 'conditions.0.field'],
        [
          'a member of all objects',
          [{ match: 'all', conditions: [{ ...one, field: 'toString' }] }],
          'invalid_body',
          'conditions.0.conditions.0.field',
        ],
        ['another operator', wrong({ op: 'in' }), 'invalid_body', 'conditions.0.op'],
        ['less than nothing', wrong({ value: -1 }), 'invalid_body', 'conditions.0.value'],
        ['a text', wrong({ value: '1' }), 'invalid_body', 'conditions.0.value'],
        ['no value', [{ field: 'orders_count', op: 'gte' }], 'invalid_body', 'conditions.0.value'],
        [
          'days',
          wrong({ field: 'last_order_at', op: 'within_days', value: 0 }),
          'invalid_body',
          'conditions.0.value',
        ],
        [
          'many days',
          wrong({ field: 'last_order_at', op: 'within_days', value: 36_501 }),
          'invalid_body',
          'conditions.0.value',
        ],
        [
          'no time',
          wrong({ field: 'last_order_at', op: 'before', value: 'soon' }),
          'invalid_body',
          'conditions.0.value',
        ],
        [
          'no id',
          wrong({ field: 'product', op: 'bought', value: ['x'] }),
          'invalid_body',
          'conditions.0.value.0',
        ],
        [
          'no list',
          wrong({ field: 'product', op: 'bought', value: randomUUID() }),
          'invalid_body',
          'conditions.0.value',
        ],
        [
          'no state',
          wrong({ field: 'subscription', op: 'is', value: ['asleep'] }),
          'invalid_body',
          'conditions.0.value.0',
        ],
        ...[
          '\u0007',
          '',
          'Germany',
          'D',
          'D3',
          'US-',
          'US- ',
          'US-\u0007',
          `US-${'x'.repeat(40)}`,
        ].map(
          (place) =>
            [
              `no place: ${JSON.stringify(place)}`,
              wrong({ field: 'place', op: 'in', value: ['DE', place] }),
              'invalid_body',
              'conditions.0.value.1',
            ] as const,
        ),
        [
          'no consent',
          wrong({ field: 'consent', op: 'is', value: 'maybe' }),
          'invalid_body',
          'conditions.0.value',
        ],
      ],
      send,
    )
    const groups = Array.from({ length: 6 }, () => ({
      match: 'any',
      conditions: Array(9).fill(one),
    }))
    const many = await send(groups)
    assert.equal(many.body.issues[0].path, 'conditions.5.conditions.5', 'the fifty-first in all')
    const fits = await send(groups.slice(0, 5))
    assert.equal(fits.status, 200, fits.text)
    const named = Array.from({ length: 11 }, () => ({
      field: 'product',
      op: 'not_bought',
      value: Array.from({ length: 50 }, () => randomUUID()),
    }))
    assert.equal((await send(named)).body.issues[0].path, 'conditions.10.value')
    assert.equal((await send(named.slice(1))).status, 200)
  })

  await t.test('are refused with all faults, and a limit is reported once', async () => {
    const send = (conditions: unknown) =>
      merchant.post(`${URL}/preview`, { match: 'all', conditions })
    const pathsOf = ({ body }: Answer) => body.issues.map(({ path }: { path: string }) => path)
    const mixed = await send([
      { field: 'orders_count', op: 'not_bought', value: 1 },
      { field: 'orders_count', op: 'gte', value: -1 },
      { match: 'any', conditions: [{ field: 'place', op: 'in', value: ['D', 'DE', 'D3'] }] },
    ])
    assert.deepEqual(pathsOf(mixed), [
      'conditions.0.op',
      'conditions.1.value',
      'conditions.2.conditions.0.value.0',
      'conditions.2.conditions.0.value.2',
    ])
    const one = { field: 'orders_count', op: 'gte', value: 1 }
    const many = Array.from({ length: 6 }, () => ({
      match: 'any',
      conditions: Array(10).fill(one),
    }))
    assert.deepEqual(pathsOf(await send(many)), ['conditions.5.conditions.0'])
  })

  await t.test('leave out an address with more orders than a person makes', async () => {
    await copyOrder(app, old.id, 5_001)
    const store = await app.store('acme')
    const address = 'placeholder@x.example'
    await store.transaction('test', (tx) => recount(tx, [address]))
    const all = [{ field: 'orders_count', op: 'gte', value: 100 }]
    assert.deepEqual(await find(shop, all), [])
    await superuser.query(`delete from orders where order_number = 1000001`)
    await store.transaction('test', (tx) => recount(tx, [address]))
    assert.deepEqual(await find(shop, all), [address])
  })
})
