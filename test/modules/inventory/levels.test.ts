import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import * as orderStock from '../../../src/modules/inventory/order-stock.ts'
import { available } from '../../../src/modules/inventory/service.ts'
import { openTestApp } from '../../harness/app.ts'
import { assertRefused, countStatuses, times } from '../../harness/refusals.ts'
import { assertStockAddsUp } from '../../harness/stock-oracles.ts'
import { openSuperuser } from '../../harness/superuser.ts'
import { countersOf, putVariant, recountNow } from './setup.ts'

const URL = '/v1/merchant/inventory'
const reason = 'counted'

test('the stock of a store', async (t) => {
  const app = await openTestApp(t)
  const superuser = await openSuperuser(t, app.database)
  const acme = await app.merchant('acme', 'manage:own_inventory')
  const db = await app.store('acme')
  const adjust = (variant: string, body: unknown) => acme.post(`${URL}/${variant}/adjust`, body)
  const track = async (on_hand: number, settings: object = {}, sku?: string) => {
    const variant = await putVariant(superuser, 'acme', sku)
    const put = await acme.put(`${URL}/${variant}`, { track_inventory: true, ...settings })
    assert.equal(put.status, 200, put.text)
    if (on_hand > 0) await adjust(variant, { set_on_hand: on_hand, reason })
    return variant
  }

  await t.test('is tracked only once the merchant says so', async () => {
    const variant = await putVariant(superuser, 'acme', 'SKU-1')
    const counters = { on_hand: 0, allocated: 0, reserved: 0, incoming: 0, available: 0 }
    const { item } = (await acme.get(`${URL}/${variant}`)).body
    const { product_id, ...rest } = item
    assert.deepEqual(rest, {
      variant_id: variant,
      sku: 'SKU-1',
      track_inventory: false,
      allow_backorder: false,
      low_stock_threshold: null,
      ...counters,
      low: false,
      levels: [],
      cost: null,
    })
    const put = await acme.put(`${URL}/${variant}`, {
      track_inventory: true,
      low_stock_threshold: 3,
    })
    assert.deepEqual(put.body.item, {
      ...item,
      track_inventory: true,
      low_stock_threshold: 3,
      low: true,
      levels: [{ location_id: 'default', ...counters }],
    })
    const again = await acme.put(`${URL}/${variant}`, { track_inventory: false })
    assert.deepEqual(
      [again.body.item.track_inventory, again.body.item.low_stock_threshold],
      [false, null],
    )
  })

  await t.test(
    'is adjusted with an audit entry per row, which leaves out the free-text reason',
    async () => {
      const variant = await track(0)
      await adjust(variant, { delta: 5, reason: 'found by Zoe' })
      await adjust(variant, { set_on_hand: 5, reason: 'as it was' })
      await acme.post(`${URL}/adjust-bulk`, {
        reason: 'counted by Zoe',
        adjustments: [
          { variant_id: variant, set_on_hand: 3 },
          { variant_id: variant, delta: -9 },
        ],
      })
      const { body, text } = await app.operator.get('/v1/audit?action=inventory.adjusted')
      const level = (on_hand: number) => ({ location_id: 'default', on_hand })
      assert.deepEqual(
        body.entries
          .filter(({ entity }: { entity: string }) => entity === `variant:${variant}`)
          .map(({ before, after }: Record<string, unknown>) => [before, after]),
        [
          [level(5), level(3)],
          [level(0), level(5)],
        ],
      )
      assert.ok(!text.includes('Zoe'), text)
    },
  )

  await t.test('is adjusted by a difference or to a number, each with a movement', async () => {
    const variant = await track(0)
    const up = await adjust(variant, { delta: 5, reason: 'found' })
    assert.equal(up.status, 200, up.text)
    assert.deepEqual(up.body.level, {
      location_id: 'default',
      on_hand: 5,
      allocated: 0,
      reserved: 0,
      incoming: 0,
      available: 5,
    })
    await adjust(variant, { set_on_hand: 2, reason: 'broken' })
    const same = await adjust(variant, { set_on_hand: 2, reason: 'counted again' })
    assert.equal(same.body.level.on_hand, 2)
    const { movements, total } = (await acme.get(`${URL}/movements?variant_id=${variant}`)).body
    assert.equal(total, 2, 'an adjustment that changes nothing is no movement')
    const [last] = movements
    assert.deepEqual(
      [last.kind, last.quantity, last.on_hand_after, last.allocated_after, last.reason],
      ['adjusted', -3, 2, 0, 'broken'],
    )
    assert.match(last.actor, /^merchant_key:/)
    const below = await adjust(variant, { delta: -3, reason })
    assert.deepEqual([below.status, below.body.error.code], [422, 'stock_below_zero'])
  })

  await t.test('is adjusted once when many callers expect the same level', async () => {
    const variant = await track(10)
    const body = { delta: -1, expected_on_hand: 10, reason }
    const answers = await times(10, () => adjust(variant, body))
    assert.deepEqual(countStatuses(answers), { 200: 1, 409: 9 })
    const stale = answers.find(({ status }) => status === 409)
    assert.deepEqual([stale?.body.error.code, stale?.body.on_hand], ['stale_level', 9])
    const sums = await times(10, () => adjust(variant, { delta: 1, reason }))
    assert.deepEqual(countStatuses(sums), { 200: 10 })
    assert.deepEqual(await countersOf(superuser, variant), { default: [19, 0, 0] })
  })

  await t.test('may be counted below the units sold, and then no unit is available', async () => {
    const variant = await track(5)
    const order = randomUUID()
    const lines = [{ variant_id: variant, quantity: 4 }]
    await db.transaction('reserve', (tx) => orderStock.reserve(tx, order, lines))
    const { level } = (await adjust(variant, { set_on_hand: 3, reason })).body
    assert.deepEqual([level.on_hand, level.reserved, level.available], [3, 4, -1])
    assert.deepEqual(await available(db, [variant]), new Map([[variant, 0]]))
    await db.transaction('release', (tx) => orderStock.release(tx, order))
    assert.deepEqual(await available(db, [variant]), new Map([[variant, 3]]))
  })

  await t.test('does not limit variants that are not tracked or may be backordered', async () => {
    const [counted, owed] = [await track(2), await track(2, { allow_backorder: true })]
    const free = await putVariant(superuser)
    const left = await available(db, [counted, owed, free])
    assert.deepEqual([...left.values()], [2, null, null])
  })

  await t.test('is listed by SKU and filtered by whether it is low', async () => {
    await track(9, { low_stock_threshold: 3 }, 'list-a')
    await track(3, { low_stock_threshold: 3 }, 'list-b')
    const skus = async (query: string) => {
      const { items, total } = (await acme.get(URL + query)).body
      return [items.map(({ sku }: { sku: string }) => sku), total]
    }
    assert.deepEqual(await skus('?sku=list-a'), [['list-a'], 1])
    await track(1, {}, 'gr\u00f6\u00dfe')
    const apart = encodeURIComponent('gro\u0308\u00dfe')
    assert.deepEqual(await skus(`?sku=${apart}`), [['gr\u00f6\u00dfe'], 1])
    assert.deepEqual(await skus('?low=true'), [['list-b'], 1])
    const { items, total } = (await acme.get(`${URL}?low=false&limit=100`)).body
    const lows = items.filter(({ sku }: { sku: string }) => sku === 'list-b')
    assert.deepEqual([lows, items.length], [[], total])
    await superuser.query(`update variants set archived_at = now() where sku = 'list-a'`)
    assert.deepEqual(await skus('?sku=list-a'), [[], 0])
  })

  await t.test('is adjusted in bulk, row by row', async () => {
    const [one, two] = [await track(1), await track(1)]
    const adjustments = [
      { variant_id: one, delta: 4 },
      { variant_id: one, delta: -9 },
      { variant_id: 'no-id', delta: 1 },
      { variant_id: two },
      { variant_id: two, set_on_hand: 7, expected_on_hand: 2 },
      { variant_id: two, delta: 1, location_id: 'nowhere' },
      { variant_id: two, set_on_hand: 7, expected_on_hand: 1 },
    ]
    const { status, body } = await acme.post(`${URL}/adjust-bulk`, { reason, adjustments })
    assert.equal(status, 200)
    const outcome = body.results.map(
      ({ level, error }: { level: { on_hand: number }; error: { code: string } }) =>
        level?.on_hand ?? error.code,
    )
    assert.deepEqual(outcome, [
      5,
      'stock_below_zero',
      'variant_not_found',
      'invalid_body',
      'stale_level',
      'location_not_found',
      7,
    ])
  })

  await t.test('shows movements by variant and kind', async () => {
    const variant = await track(3)
    const order = randomUUID()
    await db.transaction('sell', async (tx) => {
      await orderStock.reserve(tx, order, [{ variant_id: variant, quantity: 1 }])
      await orderStock.allocate(tx, order)
    })
    const list = async (query: string) => (await acme.get(`${URL}/movements${query}`)).body
    const kinds = async (query: string) =>
      (await list(query)).movements.map(({ kind }: { kind: string }) => kind)
    assert.deepEqual(await kinds(`?variant_id=${variant}`), ['allocated', 'adjusted'])
    assert.deepEqual(await kinds(`?variant_id=${variant}&kind=allocated`), ['allocated'])
    const { movements } = await list(`?variant_id=${variant}&limit=1`)
    assert.deepEqual([movements[0].order_id, movements[0].actor], [order, 'system'])
    assert.deepEqual(await kinds(`?variant_id=${randomUUID()}`), [])
    assert.deepEqual(await kinds('?variant_id=no-id'), [], 'a filter that is no id lists nothing')
  })

  await t.test('refuses invalid adjustments and settings', async () => {
    const variant = await track(1)
    await assertRefused(
      [
        ['no amount', { reason }, 'invalid_body', 'delta'],
        ['two amounts', { delta: 1, set_on_hand: 1, reason }, 'invalid_body', 'delta'],
        ['no reason', { delta: 1 }, 'invalid_body', 'reason'],
        ['a fraction', { delta: 1.5, reason }, 'invalid_body', 'delta'],
        ['a text', { delta: '1', reason }, 'invalid_body', 'delta'],
        ['a negative number', { set_on_hand: -1, reason }, 'invalid_body', 'set_on_hand'],
        ['more than the schema allows', { delta: 1e10, reason }, 'invalid_body', 'delta'],
        ['more than the maximum in total', { delta: 1e9, reason }, 'invalid_body', 'delta'],
        ['an unknown location', { delta: 1, reason, location_id: 'moon' }, 'location_not_found'],
        [
          'an invalid location',
          { delta: 1, reason, location_id: 'no place' },
          'location_not_found',
        ],
      ],
      (body) => adjust(variant, body),
    )
    await assertRefused(
      [
        ['nothing', {}, 'invalid_body', 'track_inventory'],
        ['a text', { track_inventory: 'yes' }, 'invalid_body', 'track_inventory'],
        [
          'a threshold below zero',
          { track_inventory: true, low_stock_threshold: -1 },
          'invalid_body',
          'low_stock_threshold',
        ],
      ],
      (body) => acme.put(`${URL}/${variant}`, body),
    )
    const many = Array.from({ length: 501 }, () => ({ variant_id: variant, delta: 1 }))
    await assertRefused(
      [
        ['no rows', { reason, adjustments: [] }, 'invalid_body', 'adjustments'],
        ['too many rows', { reason, adjustments: many }, 'invalid_body', 'adjustments'],
        ['no reason', { adjustments: many.slice(0, 1) }, 'invalid_body', 'reason'],
      ],
      (body) => acme.post(`${URL}/adjust-bulk`, body),
    )
    for (const id of [randomUUID(), 'no-id']) {
      assert.equal((await acme.get(`${URL}/${id}`)).body.error.code, 'variant_not_found')
    }
  })

  await t.test('is recounted in every store, even if the recount of one store fails', async () => {
    const log: Record<string, unknown>[] = []
    const logger = { error: (fields: Record<string, unknown>) => void log.push(fields) }
    const other = await app.merchant('vast', 'manage:own_inventory')
    const there = await putVariant(superuser, 'vast')
    assert.equal((await other.put(`${URL}/${there}`, { track_inventory: true })).status, 200)
    const variant = await track(4)
    const miscount = (by: number) =>
      superuser.query(
        'update inventory_levels set on_hand = on_hand + $2 where variant_id = any($1)',
        [[variant, there], by],
      )
    await superuser.query(`
      create function fail() returns trigger language plpgsql as $$ begin raise 'too slow'; end $$;
      create trigger fail before insert on inventory_discrepancies
         for each row when (new.tenant_ref = 'vast') execute function fail()`)
    await miscount(1)
    const worker = app.database.open('fd_worker')
    await recountNow(worker, superuser, logger)
    assert.deepEqual(
      log.map(({ tenant_ref, err, counter }) => [tenant_ref, counter ?? String(err)]).sort(),
      [
        ['acme', 'on_hand'],
        ['vast', 'error: too slow'],
      ],
    )
    await superuser.query('drop function fail cascade; delete from inventory_discrepancies')
    await miscount(-1)
  })

  await t.test('reports a wrong counter in a recount, and leaves it as it is', async () => {
    const log: Record<string, unknown>[] = []
    const logger = { error: (fields: Record<string, unknown>) => void log.push(fields) }
    const worker = app.database.open('fd_worker')
    await recountNow(worker, superuser, logger)
    assert.equal(log.length, 0)
    const variant = await track(4)
    await superuser.query(
      `update inventory_levels set on_hand = 5, allocated = 2, reserved = 1 where variant_id = $1`,
      [variant],
    )
    for (let n = 0; n < 2; n++) await recountNow(worker, superuser, logger)
    const at = { tenant_ref: 'acme', variant_id: variant, location_id: 'default' }
    const found = log.slice(0, 4).sort((a, b) => (String(a.counter) < String(b.counter) ? -1 : 1))
    assert.deepEqual(found, [
      { ...at, counter: 'allocated', kept: 2, counted: 0 },
      { ...at, counter: 'held', kept: 2, counted: 0 },
      { ...at, counter: 'on_hand', kept: 5, counted: 4 },
      { ...at, counter: 'reserved', kept: 1, counted: 0 },
    ])
    assert.equal(log.length, 8)
    const { rowCount } = await superuser.query('select from inventory_discrepancies')
    assert.equal(rowCount, 4, 'one row for each counter, however often it is seen')
    assert.deepEqual(await countersOf(superuser, variant), { default: [5, 2, 1] })
    await assert.rejects(assertStockAddsUp(superuser), /the sums of the orders' reservations/)
  })
})

test('the locations of a store', async (t) => {
  const app = await openTestApp(t)
  const superuser = await openSuperuser(t, app.database)
  const acme = await app.merchant('acme', 'manage:own_inventory')
  const LOCATIONS = `${URL}/locations`
  const east = { id: 'east', name: 'East' }
  const remove = (id: string) => acme.send('DELETE', `${LOCATIONS}/${id}`)

  await t.test('are created, read, renamed and listed', async () => {
    const made = await acme.post(LOCATIONS, east)
    assert.equal(made.status, 201, made.text)
    const { created_at, updated_at, ...rest } = made.body.location
    assert.deepEqual(rest, { ...east, archived_at: null })
    const twice = await acme.post(LOCATIONS, east)
    assert.deepEqual([twice.status, twice.body.error.code], [409, 'location_exists'])
    const renamed = await acme.patch(`${LOCATIONS}/east`, { name: 'Far East' })
    assert.equal(renamed.body.location.name, 'Far East')
    const read = (await acme.get(`${LOCATIONS}/east`)).body
    assert.deepEqual(read.location, renamed.body.location)
    const { locations, total } = (await acme.get(LOCATIONS)).body
    assert.deepEqual([locations, total], [[renamed.body.location], 1])
  })

  await t.test(
    'have stock beside the default location, and can be archived once empty',
    async () => {
      const variant = await putVariant(superuser)
      const url = `${URL}/${variant}/adjust`
      await acme.post(url, { delta: 2, reason })
      await acme.post(url, { delta: 3, reason, location_id: 'east' })
      assert.deepEqual(await countersOf(superuser, variant), {
        default: [2, 0, 0],
        east: [3, 0, 0],
      })
      assert.equal((await acme.get(`${URL}/${variant}`)).body.item.on_hand, 5)
      const full = await remove('east')
      assert.deepEqual([full.status, full.body.error.code], [409, 'location_in_use'])
      await acme.post(url, { set_on_hand: 0, reason, location_id: 'east' })
      const closed = await remove('east')
      assert.equal(closed.status, 200, closed.text)
      assert.ok(closed.body.location.archived_at)
      assert.deepEqual((await remove('east')).body, closed.body)
      const late = await acme.post(url, { delta: 1, reason, location_id: 'east' })
      assert.equal(late.body.error.code, 'location_not_found')
      assert.equal((await acme.patch(`${LOCATIONS}/east`, { name: 'x' })).status, 404)
      assert.equal((await acme.post(LOCATIONS, east)).body.error.code, 'location_exists')
      assert.equal((await acme.get(LOCATIONS)).body.total, 1)
      assert.equal((await remove('default')).body.error.code, 'location_in_use')
      await assertStockAddsUp(superuser)
    },
  )

  await t.test('are never archived while stock is being added', async () => {
    const variant = await putVariant(superuser)
    for (let n = 0; n < 5; n++) {
      await acme.post(LOCATIONS, { id: `dock-${n}`, name: 'Dock' })
      const body = { delta: 1, reason, location_id: `dock-${n}` }
      const [arrived, closed] = await Promise.all([
        acme.post(`${URL}/${variant}/adjust`, body),
        remove(`dock-${n}`),
      ])
      assert.notEqual(arrived.status === 200, closed.status === 200)
    }
  })

  await t.test('are refused with an invalid id or name', async () => {
    await assertRefused(
      [
        ['nothing', {}, 'invalid_body', 'id'],
        ['a blank in the id', { id: 'a b', name: 'A' }, 'invalid_body', 'id'],
        ['no name', { id: 'ab', name: '' }, 'invalid_body', 'name'],
      ],
      (body) => acme.post(LOCATIONS, body),
    )
    for (const id of ['nowhere', 'no%20place']) {
      const answer = await acme.get(`${LOCATIONS}/${id}`)
      assert.deepEqual([answer.status, answer.body.error.code], [404, 'location_not_found'])
    }
  })
})
