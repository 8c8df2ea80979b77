import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { Runner } from '../../../src/db/sql.ts'
import { createApiCalls } from '../../../src/modules/billing/api-calls.ts'
import { countAndClose } from '../../../src/modules/billing/jobs.ts'
import { eventually } from '../../harness/eventually.ts'
import { ok } from '../analytics/setup.ts'
import type { Shop } from '../checkout/setup.ts'
import { newAsset } from '../media/resources.ts'
import { amountsOf, type BillingApp, invoiceOf, shareBilling, URL, usageOf } from './setup.ts'

const shared = shareBilling()
let app: BillingApp

const open = () => {
  app = shared.current
}

const FLAT = { mode: 'flat', flat_rate_cents: 499, expedited_rate_cents: 900, max_cents: 900 }
const TAX = { provider: 'flat_rate', rate_bps: 1_900 }

/** The row of a key and a day, as it is written down. */
const callsOf = async (credential_id: string) =>
  (
    await app.superuser.query(
      `select day::text, calls::int, counted_calls::int from api_calls
        where credential_id = $1 order by day`,
      [credential_id],
    )
  ).rows

async function newKey({ merchant }: Shop, label: string) {
  const body = { label, scopes: ['read:own_store'] }
  const { credential } = ok(await merchant.post('/v1/my/credentials', body), 201)
  return {
    id: credential.id as string,
    caller: app.as({ authorization: `Bearer ${credential.key}` }),
  }
}

describe('orders and gross volume', () => {
  before(open)

  test('count captured orders, and their goods and shipping without tax, by the ledger', async () => {
    const shop = await app.shopAt('volume', '2032-01-03T10:00:00Z')
    await app.place(shop, { shipping: FLAT, tax: TAX })
    await app.place(shop)
    await app.work()
    const usage = await usageOf(shop.merchant)
    assert.equal(usage.period, '2032-01')
    assert.deepEqual([usage.orders, usage.gmv_cents, usage.currency], [2, 4_499, 'USD'])
    assert.equal(usage.is_final, false)
    const ledger = usage.counted.filter(({ meter }: { meter: string }) => meter === 'orders')
    assert.deepEqual(ledger, [{ meter: 'orders', from_position: 1, to_position: 2 }])
  })

  test('shrink by a refund in the month of the refund', async () => {
    const shop = await app.shopAt('refunds', '2032-01-20T10:00:00Z')
    const { order } = await app.place(shop)
    await app.work()
    app.setTime('refunds', '2032-02-02T10:00:00Z')
    ok(await app.act(shop, order.id, 'refunds', { amount_cents: 700 }), 201)
    await app.work()
    const [january, february] = [
      await usageOf(shop.merchant, '2032-01'),
      await usageOf(shop.merchant),
    ]
    assert.deepEqual([january.orders, january.gmv_cents], [1, 2_000])
    assert.deepEqual([february.orders, february.gmv_cents], [0, -700])
  })

  test('leave out test orders, also orders that are flagged after they were counted', async () => {
    const shop = await app.shopAt('tests', '2032-01-05T10:00:00Z')
    const first = await app.place(shop)
    const second = await app.place(shop)
    await app.place(shop)
    const flag = async (id: string, is_test: boolean) =>
      ok(await app.operator.post(`/v1/stores/tests/orders/${id}/test-flag`, { is_test }))
    await flag(first.order.id, true)
    await app.work()
    assert.equal((await usageOf(shop.merchant)).orders, 2)
    await flag(second.order.id, true)
    const { orders, gmv_cents } = await usageOf(shop.merchant)
    assert.deepEqual([orders, gmv_cents], [1, 2_000])
    await flag(second.order.id, false)
    await flag(second.order.id, false)
    assert.equal((await usageOf(shop.merchant)).orders, 2)
  })

  test('orders and gross volume of a closed month stay, and a test flag counts in the open month', async () => {
    const shop = await app.shopAt('late-flag', '2032-01-05T10:00:00Z')
    const { order } = await app.place(shop)
    app.setTime('late-flag', '2032-02-04T10:00:00Z')
    await app.work()
    const url = `/v1/stores/late-flag/orders/${order.id}/test-flag`
    ok(await app.operator.post(url, { is_test: true }))
    const january = await usageOf(shop.merchant, '2032-01')
    assert.deepEqual([january.is_final, january.orders], [true, 1])
    assert.equal((await usageOf(shop.merchant, '2032-02')).orders, -1)
  })

  test('orders and gross volume of a month that is over but not closed lose an order flagged as a test', async () => {
    const shop = await app.shopAt('grace', '2032-01-05T10:00:00Z')
    ok(await app.setPlan('grace', 'pro'))
    const { order } = await app.place(shop)
    const kept = await app.place(shop)
    app.setTime('grace', '2032-02-01T10:00:00Z')
    await app.work()
    const flag = async (id: string, is_test: boolean) =>
      ok(await app.operator.post(`/v1/stores/grace/orders/${id}/test-flag`, { is_test }))
    await flag(order.id, true)
    await flag(kept.order.id, true)
    await flag(kept.order.id, false)
    const january = await usageOf(shop.merchant, '2032-01')
    assert.deepEqual([january.is_final, january.orders, january.gmv_cents], [false, 1, 2_000])
    assert.equal((await usageOf(shop.merchant, '2032-02')).orders, 0)
    app.setTime('grace', '2032-02-04T10:00:00Z')
    await app.work()
    const invoice = await invoiceOf(shop.merchant, '2032-01')
    assert.deepEqual(amountsOf(invoice).slice(1), [
      ['orders', 1, 0],
      ['gross_volume', 2_000, 20],
    ])
  })

  test('orders and gross volume of a month are counted before it is closed, also if their numbers come late', async () => {
    const shop = await app.shopAt('unnumbered', '2032-01-31T23:00:00Z')
    ok(await app.setPlan('unnumbered', 'pro'))
    await app.place(shop)
    app.setTime('unnumbered', '2032-02-03T00:00:01Z')
    // No worker ran since: the loop that bills comes round before the one that numbers journals.
    await app.superuser.query(
      `update billing_accounts set due_at = 'epoch' where tenant_ref = 'unnumbered'`,
    )
    while ((await countAndClose(app.runtime.workerDatabase)) > 0);
    assert.equal(await invoiceOf(shop.merchant, '2032-01'), undefined)
    await app.work()
    const { status, lines } = await invoiceOf(shop.merchant, '2032-01')
    assert.deepEqual([status, lines[1].meter, lines[1].quantity], ['open', 'orders', 1])
  })

  test('are counted with the next month if their own month is closed', async () => {
    const shop = await app.shopAt('late', '2032-01-20T23:00:00Z')
    ok(await app.setPlan('late', 'pro'))
    app.setTime('late', '2032-02-03T00:00:01Z')
    await app.work()
    const january = await invoiceOf(shop.merchant, '2032-01')
    assert.equal(january.status, 'open')
    app.setTime('late', '2032-01-31T23:00:00Z')
    await app.place(shop)
    app.setTime('late', '2032-02-03T12:00:00Z')
    await app.work()
    assert.deepEqual(await invoiceOf(shop.merchant, '2032-01'), january)
    assert.equal((await usageOf(shop.merchant, '2032-01')).orders, 0)
    assert.equal((await usageOf(shop.merchant, '2032-02')).orders, 1)
  })
})

describe('webhook deliveries', () => {
  before(open)

  test('are counted once for each endpoint, and not for a paused endpoint', async () => {
    const shop = await app.shopAt('hooks', '2032-01-05T10:00:00Z')
    const events = ['commerce.order.placed.v1']
    for (const name of ['one', 'two', 'paused']) {
      const url = `https://${name}.example/hook`
      ok(await shop.merchant.post('/v1/merchant/webhooks', { url, events }), 201)
    }
    await app.superuser.query(
      `update webhook_subscriptions set active = false where url = 'https://paused.example/hook'`,
    )
    await app.place(shop)
    await app.place(shop)
    await app.work()
    await app.work()
    const { webhook_deliveries, counted } = await usageOf(shop.merchant)
    assert.equal(webhook_deliveries, 4)
    const [from] = counted.filter(({ meter }: { meter: string }) => meter === 'webhook_deliveries')
    assert.ok(from.from_position >= 1 && from.to_position > from.from_position)
  })
})

describe('media', () => {
  before(open)

  test('are billed by the mean of the days of the month, each day counted once', async () => {
    const shop = await app.shopAt('pictures', '2032-01-05T10:00:00Z')
    const { asset } = ok(await shop.merchant.post('/v1/merchant/media', newAsset('x')), 201)
    const bytesOf = async () =>
      (
        await app.superuser.query(
          `select quantity::int, from_position::int, to_position::int from billing_usage
            where tenant_ref = 'pictures' and meter = 'media_byte_days'`,
        )
      ).rows[0]
    await app.work()
    await app.work()
    assert.deepEqual(await bytesOf(), {
      quantity: asset.bytes,
      from_position: 20_320_105,
      to_position: 20_320_105,
    })
    app.setTime('pictures', '2032-01-09T23:00:00Z')
    await app.work()
    assert.deepEqual(await bytesOf(), {
      quantity: 2 * asset.bytes,
      from_position: 20_320_105,
      to_position: 20_320_109,
    })
    const { storage_bytes } = await usageOf(shop.merchant)
    assert.equal(storage_bytes, Math.floor((2 * asset.bytes) / 31))
  })
})

describe('API calls', () => {
  before(open)

  test('are counted by key, refused calls too, and calls with a wrong key not', async () => {
    const shop = await app.shopAt('calls', '2032-01-05T10:00:00Z')
    const key = await newKey(shop, 'counted')
    for (const _ of [1, 2, 3]) ok(await key.caller.get('/v1/my/store'))
    assert.equal((await key.caller.get('/v1/merchant/orders')).status, 403)
    assert.equal((await app.as({ authorization: 'Bearer fdk_x' }).get('/v1/my/store')).status, 401)
    await eventually(async () => {
      await app.runtime.apiCalls.flush()
      const [row] = await callsOf(key.id)
      assert.deepEqual(row, { day: '2032-01-05', calls: 4, counted_calls: 0 })
    })
    await app.work()
    const { api_calls, api_calls_by_key } = await usageOf(shop.merchant)
    const own = api_calls_by_key.find(
      ({ credential_id }: { credential_id: string }) => credential_id === key.id,
    )
    assert.deepEqual(own, { credential_id: key.id, label: 'counted', calls: 4 })
    const sum = api_calls_by_key.reduce(
      (all: number, { calls }: { calls: number }) => all + calls,
      0,
    )
    assert.equal(api_calls, sum)
  })

  test('cost no statement until they are written, and then one for all stores', async () => {
    const [first, second] = [
      await app.shopAt('first', '2032-01-05T10:00:00Z'),
      await app.shopAt('second', '2032-01-05T10:00:00Z'),
    ]
    const ids = [await newKey(first, 'a'), await newKey(second, 'b')].map(({ id }) => id)
    const { directory } = app.runtime.database
    let statements = 0
    const db = {
      one: (...args: Parameters<Runner['one']>) => {
        statements++
        return directory.one(...args)
      },
    } as unknown as Runner
    const calls = createApiCalls({ db, logger: { warn: () => {} } })
    const atMs = Date.parse('2032-01-05T12:00:00Z')
    for (let n = 0; n < 1_000; n++) {
      calls.count({ tenant: 'first', credentialId: ids[0] ?? '', atMs })
      calls.count({ tenant: 'second', credentialId: ids[1] ?? '', atMs })
    }
    assert.equal(statements, 0)
    assert.equal(await calls.flush(), 2)
    assert.equal(statements, 1)
    assert.equal(await calls.flush(), 0)
    for (const id of ids) assert.equal((await callsOf(id))[0].calls, 1_000)
  })

  test("are never added twice when the database's answer is lost", async () => {
    const shop = await app.shopAt('lost-answer', '2032-01-05T10:00:00Z')
    const { id } = await newKey(shop, 'lost')
    const { directory } = app.runtime.database
    let isLost = true
    const db = {
      one: async (...args: Parameters<Runner['one']>) => {
        const answer = await directory.one(...args)
        if (isLost) throw new Error('the connection was lost after the commit')
        return answer
      },
    } as unknown as Runner
    const calls = createApiCalls({ db, logger: { warn: () => {} } })
    const call = { tenant: 'lost-answer', credentialId: id, atMs: Date.parse('2032-01-05') }
    calls.count(call)
    await assert.rejects(calls.flush(), /after the commit/)
    // Counted while the outcome is unknown: it belongs to the next batch.
    calls.count(call)
    await assert.rejects(calls.flush(), /after the commit/)
    assert.equal((await callsOf(id))[0].calls, 1)
    isLost = false
    await calls.close()
    assert.equal((await callsOf(id))[0].calls, 2)
  })

  test('API calls that a process had in memory when it was killed are not billed', async () => {
    const shop = await app.shopAt('killed', '2032-01-05T10:00:00Z')
    const { id } = await newKey(shop, 'killed')
    const options = { db: app.runtime.database.directory, logger: { warn: () => {} } }
    const [killed, alive] = [createApiCalls(options), createApiCalls(options)]
    const call = { tenant: 'killed', credentialId: id, atMs: Date.parse('2032-01-05') }
    for (const _ of [1, 2]) killed.count(call)
    await killed.flush()
    for (const _ of [1, 2, 3]) killed.count(call)
    alive.count(call)
    await alive.close()
    assert.deepEqual(await callsOf(id), [{ day: '2032-01-05', calls: 3, counted_calls: 0 }])
  })

  test('are counted once each while several processes add to them, and deleted with their month', async () => {
    const shop = await app.shopAt('busy', '2032-01-30T10:00:00Z')
    const { id } = await newKey(shop, 'busy')
    const options = { db: app.runtime.database.directory, logger: { warn: () => {} } }
    const writers = Array.from({ length: 4 }, () => createApiCalls(options))
    const call = { tenant: 'busy', credentialId: id, atMs: Date.parse('2032-01-30') }
    for (let round = 0; round < 10; round++) {
      for (const writer of writers) writer.count(call)
      await Promise.all([...writers.map((writer) => writer.flush()), app.work()])
    }
    await app.work()
    const counted = async (period: string) =>
      (await usageOf(shop.merchant, period)).api_calls_by_key.find(
        ({ credential_id }: { credential_id: string }) => credential_id === id,
      )?.calls
    assert.equal(await counted('2032-01'), 40)
    app.setTime('busy', '2032-02-05T10:00:00Z')
    await app.work()
    assert.deepEqual(await callsOf(id), [])
    // A process writes down a call of January that it has had in memory since.
    writers[0]?.count(call)
    await writers[0]?.flush()
    await app.work()
    assert.equal(await counted('2032-01'), 40)
    assert.equal(await counted('2032-02'), 1)
  })
})

describe('GET /v1/merchant/billing/usage', () => {
  before(open)

  test('answers the current month if the period is absent or empty, and refuses a bad period', async () => {
    const { merchant } = await app.shopAt('periods', '2032-01-05T10:00:00Z')
    for (const query of ['', '?period=']) {
      assert.equal(ok(await merchant.get(`${URL}/usage${query}`)).period, '2032-01', query)
    }
    for (const query of ['?period=2032-13', '?period=january', '?period[]=x']) {
      const refused = await merchant.get(`${URL}/usage${query}`)
      assert.deepEqual([refused.status, refused.body.error.code], [400, 'validation_error'], query)
    }
    const empty = await usageOf(merchant, '2031-06')
    assert.deepEqual([empty.orders, empty.counted, empty.is_final], [0, [], true])
  })

  test('says up to which time usage is counted', async () => {
    const { merchant } = await app.shopAt('as-of', '2032-01-05T10:00:00Z')
    assert.equal((await usageOf(merchant)).as_of, null)
    await app.work()
    assert.match((await usageOf(merchant)).as_of, /^2032-01-05T10:0/)
  })
})
