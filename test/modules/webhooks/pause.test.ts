import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setOwner } from '../../../src/modules/stores/service.ts'
import { claimDue } from '../../../src/modules/webhooks/dispatch-queries.ts'
import { redriveAll } from '../../../src/modules/webhooks/redrive.ts'
import { SYSTEM } from '../../../src/platform/audit.ts'
import { assertCode, listMisplaced, openWebhooksApp, PLACED, theDelivery, URL } from './setup.ts'

test('pausing and redriving', async (t) => {
  const app = await openWebhooksApp(t)
  const { receiver, admin } = app
  const acme = await app.merchant('acme')
  await setOwner(await app.store('acme'), SYSTEM, 'kim@acme.example')
  const { id, secret } = await app.register(acme)
  const subscription = async () => (await acme.get(URL)).body.subscriptions[0]
  const fail = () =>
    receiver.answer((response) => {
      response.statusCode = 503
      response.end()
    })

  await t.test('nine failures and a success leave an endpoint active', async () => {
    fail()
    for (let n = 0; n < 9; n++) await app.place('acme', { n })
    while ((await app.dispatch()) > 0);
    const before = await subscription()
    assert.deepEqual([before.active, before.consecutive_failures], [true, 9])
    receiver.answer((response) => response.end())
    await app.place('acme', { n: 9 })
    await app.dispatch()
    assert.equal((await subscription()).consecutive_failures, 0)
  })

  await t.test(
    'ten failures at the same time pause an endpoint once, with one mail and one event',
    async () => {
      fail()
      await app.makeAllDue()
      for (let n = 10; n < 14; n++) await app.place('acme', { n })
      while ((await app.dispatch()) > 0);
      const paused = await subscription()
      assert.equal(paused.active, false)
      assert.ok(paused.consecutive_failures >= 10)
      assert.ok(Math.abs(Date.parse(paused.auto_paused_at) - Date.now()) < 60_000)
      const mails = await admin.query(
        `select recipient, body from mails where subject like '%paused%'`,
      )
      assert.equal(mails.rowCount, 1)
      assert.equal(mails.rows[0].recipient, 'kim@acme.example')
      assert.ok(mails.rows[0].body.includes(receiver.url()))
      await app.dispatch()
      const { body } = await acme.get('/v1/merchant/events?limit=500')
      const pauseEvents = body.events.filter(
        (each: { type: string }) => each.type === 'platform.webhook.paused.v1',
      )
      assert.deepEqual(
        pauseEvents.map((each: { data: { subscription_id: string } }) => each.data.subscription_id),
        [id],
      )
      const audit = await acme.get('/v1/my/audit?action=webhook.auto_paused')
      assert.equal(audit.body.total, 1)
    },
  )

  await t.test(
    'keeps pending and new deliveries of a paused endpoint as dead letters',
    async () => {
      receiver.received.length = 0
      await app.makeAllDue()
      while ((await app.dispatch()) > 0);
      const event = await app.place('acme', { n: 99 })
      assert.equal(await app.dispatch(), 0)
      assert.deepEqual(receiver.received, [])
      const { body } = await acme.get(`/v1/merchant/deliveries?event_id=${event}`)
      const [row] = body.deliveries
      assert.deepEqual(
        [row.status, row.attempt_count, row.last_attempt_error, row.next_retry_at],
        ['dead_lettered', 0, 'subscription_inactive', null],
      )
      assert.ok(row.payload.data.n === 99)
      const pending = await acme.get('/v1/merchant/deliveries?status=pending')
      assert.equal(pending.body.total, 0)
      const refused = await app.operator.post(`/v1/deliveries/${row.id}/redrive`)
      assertCode(refused, 409, 'not_redrivable')
    },
  )

  await t.test('registering the same URL again makes it active, with a new secret', async () => {
    receiver.answer((response) => response.end())
    const made = await acme.post(URL, { url: receiver.url(), events: [PLACED], description: 'new' })
    assert.equal(made.status, 201, made.text)
    assert.deepEqual([made.body.subscription.id, made.body.subscription.active], [id, true])
    assert.notEqual(made.body.secret, secret)
    const after = await subscription()
    assert.deepEqual(
      [after.consecutive_failures, after.auto_paused_at, after.description],
      [0, null, 'new'],
    )
    const audit = await acme.get('/v1/my/audit?action=webhook.reactivated')
    assert.equal(audit.body.total, 1)
  })

  await t.test('redrives its dead letters with the same bytes and a new ladder', async () => {
    receiver.received.length = 0
    const dead = (await acme.get('/v1/merchant/deliveries?status=dead_lettered&limit=100')).body
    assert.ok(dead.total > 1)
    const one = dead.deliveries[0]
    const redriven = await app.operator.post(`/v1/deliveries/${one.id}/redrive`)
    assert.equal(redriven.status, 200, redriven.text)
    assert.deepEqual(
      [redriven.body.delivery.status, redriven.body.delivery.attempt_count],
      ['pending', one.attempt_count],
    )
    const again = await Promise.all(
      Array.from({ length: 50 }, () => app.operator.post(`/v1/deliveries/${one.id}/redrive`)),
    )
    for (const each of again) assertCode(each, 409, 'not_redrivable')
    await app.dispatch()
    assert.equal(receiver.received[0]?.body.toString(), JSON.stringify(one.payload))

    const span = { subscription_id: id, from: '2020-01-01T00:00:00Z', to: '2999-01-01T00:00:00Z' }
    const none = await app.operator.post('/v1/deliveries/redrive', {
      ...span,
      to: '2021-01-01T00:00:00Z',
    })
    assert.deepEqual(none.body, { redriven: 0, next_from: null })
    const all = await app.operator.post('/v1/deliveries/redrive', span)
    assert.deepEqual(all.body, { redriven: dead.total - 1, next_from: null })
    while ((await app.dispatch()) > 0);
    assert.equal(receiver.received.length, dead.total)
    assert.equal(
      (await acme.get('/v1/merchant/deliveries?status=delivered&limit=1')).body.total > dead.total,
      true,
    )
    const audit = await acme.get('/v1/my/audit?action=webhook.deliveries_redriven')
    assert.equal(audit.body.entries[0].after.redriven, dead.total - 1)
  })

  await t.test('a redrive continues the attempt count, and has six new attempts', async () => {
    const store = await app.merchant('counting')
    await app.register(store)
    await app.place('counting')
    fail()
    for (let n = 0; n < 6; n++) {
      await app.dispatch()
      await app.makeAllDue()
    }
    const dead = await theDelivery(store)
    assert.equal(dead.status, 'dead_lettered')
    await app.operator.post(`/v1/deliveries/${dead.id}/redrive`)
    receiver.received.length = 0
    await app.dispatch()
    const retried = await theDelivery(store)
    assert.deepEqual([retried.status, retried.attempt_count], ['pending', 7])
    assert.equal(receiver.received[0]?.headers['x-webhook-delivery-attempt'], '7')
    const wait = Date.parse(retried.next_retry_at) - Date.parse(retried.attempts.at(-1).at)
    assert.ok(wait > 59_000 && wait < 120_000, `${wait} ms`)
    await app.makeAllDue()
    receiver.answer((response) => response.end())
    await app.dispatch()
    const delivered = await theDelivery(store)
    assert.deepEqual([delivered.status, delivered.attempt_count], ['delivered', 8])
    assert.equal((await app.operator.post(`/v1/deliveries/${dead.id}/redrive`)).status, 200)
  })

  await t.test('sends a redriven delivery once its event is numbered', async () => {
    const store = await app.merchant('early')
    const { id: early } = await app.register(store, receiver.url('/early'))
    await admin.query(`update webhook_subscriptions set active = false where id = $1`, [early])
    for (const n of [1, 2]) await app.place('early', { n })
    await app.register(store, receiver.url('/early'))
    const span = { from: '2020-01-01T00:00:00Z', to: '2999-01-01T00:00:00Z' }
    const all = await app.operator.post('/v1/deliveries/redrive', {
      ...span,
      subscription_id: early,
    })
    assert.deepEqual(all.body, { redriven: 2, next_from: null })
    const claim = { limit: 16, perEndpoint: 2, healthyOnly: false }
    assert.deepEqual(await claimDue(app.runtime.workerDatabase.tenant('early'), claim), [])
    receiver.received.length = 0
    receiver.answer((response) => response.end())
    await app.place('early', { n: 3 })
    while ((await app.dispatch()) > 0);
    const mine = receiver.received.filter(({ path }) => path === '/early')
    const sent = mine.map(({ body }) => JSON.parse(body.toString()).data.n)
    assert.deepEqual(sent.toSorted(), [1, 2, 3])
    assert.deepEqual(await listMisplaced(admin), [])
  })

  await t.test('refuses to redrive unknown deliveries', async () => {
    const missing = '00000000-0000-4000-8000-000000000000'
    for (const which of [missing, 'nonsense']) {
      assertCode(
        await app.operator.post(`/v1/deliveries/${which}/redrive`),
        404,
        'delivery_not_found',
      )
    }
    const span = { from: '2020-01-01T00:00:00Z', to: '2999-01-01T00:00:00Z' }
    const bulk = (body: unknown) => app.operator.post('/v1/deliveries/redrive', body)
    assertCode(await bulk({ ...span, subscription_id: missing }), 404, 'webhook_not_found')
    for (const body of [span, { ...span, subscription_id: id, from: 'yesterday' }, {}]) {
      assertCode(await bulk(body), 400, 'invalid_body')
    }
    for (const name of ['from', 'to']) {
      const before = await bulk({ ...span, subscription_id: id, [name]: '0000-01-01T00:00:00Z' })
      assertCode(before, 400, 'invalid_body')
      assert.equal(before.body.issues[0].path, name)
    }
  })

  await t.test('redrives more dead letters than one transaction takes, each once', async () => {
    const store = await app.merchant('dead')
    const { id: endpoint } = await app.register(store)
    // More than one transaction takes, all created at the same time.
    await admin.query(
      `with made as (
         insert into webhook_events (tenant_ref, type, data)
         select 'dead', $2, '{}' from generate_series(1, 10100) returning id
       )
       insert into webhook_deliveries (tenant_ref, subscription_id, event_id, event_type, status,
                                       endpoint_url, next_retry_at, dead_lettered_at)
       select 'dead', $1, id, $2, 'dead_lettered', 'http://a', null, now() from made`,
      [endpoint, PLACED],
    )
    await admin.query('analyze webhook_events, webhook_deliveries')
    const span = {
      subscription_id: endpoint,
      from: '2020-01-01T00:00:00Z',
      to: '2999-01-01T00:00:00Z',
    }
    const deps = {
      database: app.runtime.database,
      operator: app.runtime.operatorDatabase.allStores,
    }
    const some = await redriveAll(deps, SYSTEM, span, 0)
    assert.equal(some.redriven, 10_000)
    assert.ok(some.next_from)
    const from = some.next_from
    const rest = await Promise.all(
      Array.from({ length: 50 }, () =>
        app.operator.post('/v1/deliveries/redrive', { ...span, from }),
      ),
    )
    for (const each of rest) assert.equal(each.body.next_from, null, each.text)
    assert.equal(
      rest.reduce((sum, each) => sum + each.body.redriven, 0),
      100,
    )
    const { entries } = (await store.get('/v1/my/audit?action=webhook.deliveries_redriven')).body
    assert.deepEqual(
      entries.map((each: { after: { redriven: number } }) => each.after.redriven),
      [100, 10_000],
    )
    const queued = await admin.query(`delete from webhook_queue where tenant_ref = 'dead'`)
    assert.equal(queued.rowCount, 10_100)
  })
})
