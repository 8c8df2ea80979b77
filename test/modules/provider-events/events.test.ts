import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openHandlers } from '../../../src/compose/handlers.ts'
import { openTestApp } from '../../harness/app.ts'
import { deliverDue } from '../../harness/outbox.ts'
import { deliver, deliverNmi, KEYS, nmiEvent, register, signStandard } from './setup.ts'

const LIST = '/v1/gateway/events'

test("an operator reads providers' events", async (t) => {
  const app = await openTestApp(t)
  const { operator, runtime } = app
  const first = await register(app, 'acme', { provider: 'nmi', account: 'first' })
  const second = await register(app, 'other-store', { provider: 'sim', account: 'b' }, 'standard')
  const handlers = await openHandlers(runtime)
  const handle = async () => {
    while ((await deliverDue(runtime.workerDatabase, handlers, { slots: 20 })) > 0);
  }
  const list = async (query = '') => {
    const { status, body } = await operator.get(LIST + query)
    assert.equal(status, 200)
    return body.events.map((each: { event_id: string }) => each.event_id)
  }

  await t.test('lists events with their outcome and reason', async () => {
    await deliverNmi(app, first, nmiEvent({ id: 'plan', type: 'recurring.plan.add' }))
    const waiting = await operator.get(LIST)
    const { received_at, ...shown } = waiting.body.events[0]
    assert.ok(Date.parse(received_at) > 0)
    assert.deepEqual(shown, {
      tenant_ref: 'acme',
      provider: 'nmi',
      account_ref: 'first',
      event_id: 'plan',
      event_type: 'recurring.plan.add',
      scheme: 'nmi',
      status: 'received',
      reason: null,
      handled_at: null,
    })
    await deliverNmi(app, first, nmiEvent({ id: 'stranger', order_id: 'A-1001' }))
    await deliverNmi(app, first, nmiEvent({ id: 'batch', type: 'chargeback.batch.complete' }))
    const raw = Buffer.from([0x7b, 0xff])
    const seconds = Math.floor(runtime.clock.now() / 1_000)
    await deliver(app, second, raw, signStandard(KEYS.standard, raw, { id: 'odd', seconds }))
    await handle()
    const { body } = await operator.get(LIST)
    assert.deepEqual(
      body.events.map((each: Record<string, unknown>) => [
        each.event_id,
        each.status,
        each.reason,
        each.handled_at !== null,
      ]),
      [
        ['odd', 'unhandled', 'unreadable', false],
        ['batch', 'unhandled', 'dispute_not_shown', true],
        ['stranger', 'ignored', 'no_payment_of_ours', true],
        ['plan', 'ignored', 'other_type', true],
      ],
    )
    assert.deepEqual([body.total, body.limit, body.offset], [4, 25, 0])
  })

  await t.test('lists events by store, account and outcome, page by page', async () => {
    assert.deepEqual(await list('?tenant_ref=other-store'), ['odd'])
    assert.deepEqual(await list('?provider=nmi&account_ref=first&status=ignored'), [
      'stranger',
      'plan',
    ])
    assert.deepEqual(await list('?status=unhandled'), ['odd', 'batch'])
    assert.deepEqual(await list('?limit=2&offset=1'), ['batch', 'stranger'])
    assert.deepEqual(await list('?account_ref=nobody'), [])
  })

  await t.test('lists events of a provider, whether it has few accounts or many', async () => {
    const ofFew = await list('?provider=nmi')
    assert.deepEqual(ofFew, ['batch', 'stranger', 'plan'])
    const admin = await app.database.openAdmin()
    await admin.query(`
      insert into gateway_accounts
      select (jsonb_populate_record(a, jsonb_build_object('account_ref', 'copy-' || n))).*
        from gateway_accounts a, generate_series(1, 30) n
       where a.provider = 'nmi'`)
    assert.deepEqual(await list('?provider=nmi'), ofFew)
    await admin.query(`delete from gateway_accounts where account_ref like 'copy-%'`)
  })

  await t.test('reads an event with its exact headers and body', async () => {
    const { body } = await operator.get(`${first}/events/batch`)
    assert.deepEqual(JSON.parse(body.event.body).event_id, 'batch')
    assert.equal(body.event.body_encoding, 'utf8')
    assert.match(body.event.headers['webhook-signature'], /^t=AbC123,s=[0-9a-f]{64}$/)
    const odd = await operator.get(`${second}/events/odd`)
    assert.deepEqual([odd.body.event.body, odd.body.event.body_encoding], ['e/8=', 'base64'])
  })

  await t.test(
    'reads an event without its body once the body is erased, also of a removed account',
    async () => {
      const admin = await app.database.openAdmin()
      await admin.query(`update gateway_events set body = null, headers = '{}'`)
      assert.equal((await operator.send('DELETE', first)).status, 200)
      const { body } = await operator.get(`${first}/events/plan`)
      assert.deepEqual([body.event.body, body.event.body_encoding], [null, null])
      assert.equal(body.event.status, 'ignored')
      assert.equal((await list('?provider=nmi')).length, 3)
    },
  )

  await t.test('answers 404 for an unknown event', async () => {
    for (const path of [`${first}/events/none`, '/v1/gateway/nmi/none/events/plan']) {
      const { status, body } = await operator.get(path)
      assert.deepEqual([status, body.error.code], [404, 'gateway_event_not_found'])
    }
  })
})
