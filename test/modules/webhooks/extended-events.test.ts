import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import { loadEvents } from '../../../src/compose/events.ts'
import { sql } from '../../../src/db/sql.ts'
import { FEATURES, TIERS } from '../../../src/modules/entitlements/catalog.ts'
import * as entitlements from '../../../src/modules/entitlements/service.ts'
import { assertCode, emit, openWebhooksApp, PLACED, URL, type WebhooksApp } from './setup.ts'

const EVENTS = await loadEvents()

const REFUNDED = 'commerce.order.refunded.v1'
const PAUSED = 'platform.webhook.paused.v1'

const ruleOn = (app: WebhooksApp, tenant: string, state: 'allow' | 'deny' | 'default') =>
  app.operator.put(`/v1/entitlements/tenants/${tenant}/features/extended_events`, { state })

async function emitOne(app: WebhooksApp, tenant: string, type: string, data = {}) {
  const db = await app.store(tenant)
  return (await db.transaction('test: emit', (tx) => emit(tx, { type, data }))).event_id
}

test('the add-on for all events of the feed', async (t) => {
  const app = await openWebhooksApp(t)
  const { receiver } = app
  const typesSent = () => receiver.received.map(({ headers }) => headers['x-webhook-event-type'])

  await t.test(
    'is requested by the store and approved by the operator, never self-served',
    async () => {
      const acme = await app.merchant('asking')
      const enable = await acme.post('/v1/merchant/entitlements/enable', {
        feature_key: 'extended_events',
      })
      assertCode(enable, 403, 'not_self_serve')
      const hook = { url: receiver.url(), events: [PLACED, REFUNDED] }
      assertCode(await acme.post(URL, hook), 400, 'unknown_event')
      const asked = await acme.post('/v1/merchant/entitlements/requests', {
        feature_key: 'extended_events',
      })
      assert.equal(asked.status, 201, asked.text)
      assertCode(await acme.post(URL, hook), 400, 'unknown_event')
      const decided = await app.operator.put(`/v1/entitlements/requests/${asked.body.request.id}`, {
        status: 'approved',
      })
      assert.equal(decided.status, 200, decided.text)
      const made = await acme.post(URL, hook)
      assert.equal(made.status, 201, made.text)
      assert.deepEqual(made.body.subscription.events, [PLACED, REFUNDED])
    },
  )

  await t.test('opens every event of the feed, and no other name', async () => {
    const acme = await app.merchant('wide', 'manage:own_webhooks')
    await ruleOn(app, 'wide', 'allow')
    const made = await acme.post(URL, { url: receiver.url(), events: [...EVENTS.keys()] })
    assert.equal(made.status, 201, made.text)
    for (const name of ['platform.test.v1', 'toString', 'commerce.order.placed.v2', '']) {
      assertCode(
        await acme.post(URL, { url: receiver.url(), events: [name] }),
        400,
        'unknown_event',
      )
    }
    receiver.received.length = 0
    for (const type of EVENTS.keys()) await emitOne(app, 'wide', type)
    while ((await app.dispatch()) > 0);
    assert.deepEqual(typesSent().sort(), [...EVENTS.keys()].sort())
  })

  await t.test('the rule of one store opens nothing in another', async () => {
    await ruleOn(app, 'mine', 'allow')
    const other = await app.merchant('other', 'manage:own_webhooks')
    const refused = await other.post(URL, { url: receiver.url(), events: [REFUNDED] })
    assertCode(refused, 400, 'unknown_event')
    assert.match(refused.body.error.message, /extended_events/)
  })

  for (const state of ['deny', 'default'] as const) {
    await t.test(
      `delivers nothing new while it is off (${state}), and the feed has all events`,
      async () => {
        const tenant = `off-${state}`
        const acme = await app.merchant(tenant)
        await ruleOn(app, tenant, 'allow')
        const { body } = await acme.post(URL, { url: receiver.url(), events: [PLACED, REFUNDED] })
        const before = await emitOne(app, tenant, REFUNDED, { n: 1 })
        await ruleOn(app, tenant, state)
        receiver.received.length = 0
        await emitOne(app, tenant, REFUNDED, { n: 2 })
        const placed = await app.place(tenant)
        while ((await app.dispatch()) > 0);
        const sent = receiver.received.map(({ headers }) => headers['x-webhook-event-id'])
        assert.deepEqual(
          sent.sort(),
          [before, placed].sort(),
          'what was emitted before is delivered',
        )
        const listed = (await acme.get(URL)).body.subscriptions[0]
        assert.deepEqual(
          [listed.id, listed.active, listed.events, listed.muted_events],
          [body.subscription.id, true, [PLACED, REFUNDED], [REFUNDED]],
        )
        const feed = (await acme.get('/v1/merchant/events')).body.events
        assert.deepEqual(
          feed.map((each: { type: string }) => each.type),
          [REFUNDED, REFUNDED, PLACED],
        )
        await ruleOn(app, tenant, 'allow')
        assert.deepEqual((await acme.get(URL)).body.subscriptions[0].muted_events, [])
        const again = await emitOne(app, tenant, REFUNDED, { n: 3 })
        receiver.received.length = 0
        while ((await app.dispatch()) > 0);
        assert.deepEqual(
          receiver.received.map(({ headers }) => headers['x-webhook-event-id']),
          [again],
        )
      },
    )
  }

  await t.test(
    'covers events that the worker emits, such as the pause of an endpoint',
    async () => {
      const acme = await app.merchant('pausing')
      await ruleOn(app, 'pausing', 'allow')
      const watch = receiver.url('/watch')
      await acme.post(URL, { url: watch, events: [PAUSED] })
      await app.register(acme, receiver.url('/broken'))
      receiver.answer((response, { path }) => {
        response.statusCode = path === '/broken' ? 503 : 200
        response.end()
      })
      for (let n = 0; n < 10; n++) await app.place('pausing', { n })
      receiver.received.length = 0
      while ((await app.dispatch()) > 0);
      while ((await app.dispatch()) > 0);
      receiver.answer((response) => response.end())
      const seen = receiver.received.filter(({ path }) => path === '/watch')
      assert.deepEqual(
        seen.map(({ headers }) => headers['x-webhook-event-type']),
        [PAUSED],
      )
    },
  )
})

test('the condition in SQL agrees with the state of every add-on', async (t) => {
  const app = await openWebhooksApp(t)
  const db = await app.store('acme')
  const isOn = async (key: string) =>
    (
      await db.one(
        Type.Object({ is_on: Type.Boolean() }),
        sql`select ${entitlements.featureIsOn(db, key)} as is_on`,
      )
    ).is_on
  const rulings = [
    [],
    [['self_serve', 'allow']],
    [['operator', 'allow']],
    [['operator', 'deny']],
    [
      ['self_serve', 'allow'],
      ['operator', 'deny'],
    ],
  ]
  for (const tier of [null, ...Object.keys(TIERS)]) {
    await app.admin.query('delete from entitlement_tiers')
    if (tier !== null) await app.operator.put('/v1/entitlements/tenants/acme/tier', { tier })
    for (const given of rulings) {
      await app.admin.query('delete from entitlements')
      for (const { key } of FEATURES) {
        for (const [source, state] of given) {
          await app.admin.query(
            `insert into entitlements (tenant_ref, feature_key, source, state)
             values ('acme', $1, $2, $3)`,
            [key, source, state],
          )
        }
      }
      for (const { key } of FEATURES) {
        const { state } = await entitlements.findState(db, key)
        assert.equal(await isOn(key), state === 'on', `${key} ${tier} ${JSON.stringify(given)}`)
      }
    }
  }
})
