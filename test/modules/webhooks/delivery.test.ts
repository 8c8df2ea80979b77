import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { DAY_MS } from '../../../src/kernel/time.ts'
import { LADDER, openWebhooksApp, PLACED, type Received, theDelivery, URL } from './setup.ts'

/** Verifies the signatures by the contract's description, without our own code. */
function verify({ headers, body }: Received, secret: string): void {
  const ts = String(headers['x-webhook-timestamp'])
  const hmac = (key: string | Buffer, text: string) =>
    createHmac('sha256', key).update(Buffer.concat([Buffer.from(text), body]))
  assert.ok(
    String(headers['x-webhook-signature-v1'])
      .split(',')
      .includes(`v1=${hmac(secret, `${ts}.`).digest('hex')}`),
  )
  assert.equal(headers['x-webhook-signature'], hmac(secret, '').digest('hex'))
  const standardKey = Buffer.from(secret.slice('whsec_'.length), 'base64')
  assert.equal(standardKey.length, 32)
  const standard = hmac(standardKey, `${headers['webhook-id']}.${ts}.`).digest('base64')
  assert.ok(String(headers['webhook-signature']).split(' ').includes(`v1,${standard}`))
}

test('deliveries', async (t) => {
  const app = await openWebhooksApp(t)
  const { receiver } = app
  const start = async (tenant: string) => {
    receiver.received.length = 0
    receiver.answer((response) => response.end())
    return app.merchant(tenant, 'manage:own_webhooks')
  }

  await t.test('sends an event to its endpoint, signed, and records the delivery', async () => {
    const acme = await start('acme')
    const { id, secret } = await app.register(acme)
    const eventId = await app.place('acme', {
      order: { total_cents: 1_999 },
      note: 'café 😀 \u2028',
    })
    receiver.answer((response) => {
      response.statusCode = 204
      response.end()
    })
    assert.equal(await app.dispatch(), 1)
    const [got, ...more] = receiver.received
    assert.ok(got !== undefined && more.length === 0)
    verify(got, secret)
    assert.match(String(got.headers['x-webhook-signature-v1']), /^t=\d{10},v1=[0-9a-f]{64}$/)
    assert.equal(got.headers['x-webhook-event-id'], eventId)
    assert.equal(got.headers['x-webhook-event-type'], PLACED)
    assert.equal(got.headers['x-webhook-delivery-attempt'], '1')
    assert.equal(got.headers['content-type'], 'application/json')
    assert.equal(got.headers['webhook-id'], eventId)
    assert.ok(Math.abs(Number(got.headers['x-webhook-timestamp']) - Date.now() / 1_000) < 5)

    const envelope = JSON.parse(got.body.toString())
    assert.deepEqual(Object.keys(envelope), ['id', 'type', 'tenant_ref', 'created_at', 'data'])
    assert.deepEqual([envelope.id, envelope.type, envelope.tenant_ref], [eventId, PLACED, 'acme'])
    const { attempts, ...delivery } = await theDelivery(acme)
    assert.equal(JSON.stringify(delivery.payload), got.body.toString())
    assert.deepEqual(
      { ...delivery, id: '', payload: null, created_at: '', delivered_at: '' },
      {
        id: '',
        subscription_id: id,
        event_id: eventId,
        event_type: PLACED,
        endpoint_url: receiver.url(),
        payload: null,
        status: 'delivered',
        attempt_count: 1,
        next_retry_at: null,
        last_status_code: 204,
        last_attempt_error: null,
        created_at: '',
        delivered_at: '',
        dead_lettered_at: null,
        replayed_at: null,
      },
    )
    assert.deepEqual(
      attempts.map((each: { attempt: number; status_code: number; error: null }) => [
        each.attempt,
        each.status_code,
        each.error,
      ]),
      [[1, 204, null]],
    )
    assert.equal(await app.dispatch(), 0, 'it is not sent again')
  })

  await t.test(
    'are tried six times by the ladder, also over restarts, and then kept as dead letters',
    async () => {
      const acme = await start('ladder')
      const { id, secret } = await app.register(acme)
      await app.place('ladder')
      receiver.answer((response) => {
        response.statusCode = 500
        response.end('a secret of the endpoint')
      })
      for (const [index, wait] of [...LADDER, null].entries()) {
        assert.equal(await app.dispatch(), 1)
        const delivery = await theDelivery(acme)
        const last = delivery.attempts.at(-1)
        assert.equal(delivery.attempt_count, index + 1)
        assert.deepEqual([last.attempt, last.status_code, last.error], [index + 1, 500, 'HTTP 500'])
        assert.equal(delivery.last_status_code, 500)
        if (wait === null) continue
        assert.equal(delivery.status, 'pending')
        const endedAt = Date.parse(last.at) + last.latency_ms
        const off = Date.parse(delivery.next_retry_at) - endedAt - wait * 1_000
        assert.ok(off > -100 && off < 30_000, `${off} ms beside the ladder`)
        assert.equal(await app.dispatch(), 0, 'not before its time')
        await app.makeAllDue()
      }
      const dead = await theDelivery(acme)
      assert.equal(dead.status, 'dead_lettered')
      assert.ok(dead.dead_lettered_at !== null && dead.next_retry_at === null)
      await app.makeAllDue()
      assert.equal(await app.dispatch(), 0)

      const bodies = receiver.received.map(({ body }) => body.toString('hex'))
      assert.equal(bodies.length, 6)
      assert.equal(new Set(bodies).size, 1, 'every attempt sends the same bytes')
      for (const [index, each] of receiver.received.entries()) {
        verify(each, secret)
        assert.equal(each.headers['x-webhook-delivery-attempt'], String(index + 1))
      }
      const { body } = await acme.get(URL)
      const [subscription] = body.subscriptions
      assert.deepEqual([subscription.id, subscription.consecutive_failures], [id, 6])
      const text = JSON.stringify(dead) + JSON.stringify(body)
      assert.doesNotMatch(text, /a secret of the endpoint/)
      await app.place('ladder')
      receiver.answer((response) => response.end())
      await app.dispatch()
      assert.equal((await acme.get(URL)).body.subscriptions[0].consecutive_failures, 0)
    },
  )

  await t.test('counts a redirect as a failure, and does not follow it', async () => {
    const acme = await start('redirected')
    await app.register(acme)
    await app.place('redirected')
    receiver.answer((response, { path }) => {
      response.writeHead(path === '/hook' ? 302 : 200, { location: receiver.url('/elsewhere') })
      response.end()
    })
    await app.dispatch()
    const delivery = await theDelivery(acme)
    assert.deepEqual([delivery.status, delivery.last_status_code], ['pending', 302])
    assert.deepEqual(
      receiver.received.map(({ path }) => path),
      ['/hook'],
    )
  })

  await t.test(
    'makes pending deliveries of a deleted endpoint dead letters when they are due',
    async () => {
      const acme = await start('deleted')
      const { id } = await app.register(acme)
      await app.place('deleted')
      assert.deepEqual((await acme.send('DELETE', `${URL}/${id}`)).body, { id, deleted: true })
      await app.dispatch()
      const delivery = await theDelivery(acme)
      assert.deepEqual(
        [delivery.status, delivery.attempt_count, delivery.last_attempt_error],
        ['dead_lettered', 0, 'subscription_deleted'],
      )
      assert.deepEqual(receiver.received, [])
      await app.place('deleted')
      assert.equal((await acme.get('/v1/merchant/deliveries')).body.total, 1)
    },
  )

  await t.test(
    'are signed with both secrets for a day after a rotation, and the next rotation is allowed only then',
    async () => {
      const acme = await start('rotating')
      const { id, secret: before } = await app.register(acme)
      const rotated = await acme.post(`${URL}/${id}/rotate-secret`)
      assert.equal(rotated.status, 200, rotated.text)
      const { secret: after, previous_valid_until } = rotated.body
      assert.ok(Math.abs(Date.parse(previous_valid_until) - Date.now() - DAY_MS) < 60_000)
      const again = await acme.post(`${URL}/${id}/rotate-secret`)
      assert.deepEqual([again.status, again.body.error.code], [409, 'rotation_in_progress'])
      await app.place('rotating')
      await app.dispatch()
      const [both] = receiver.received
      assert.ok(both !== undefined)
      assert.equal(String(both.headers['x-webhook-signature-v1']).match(/v1=/g)?.length, 2)
      verify(both, after)
      assert.throws(() => verify({ ...both, headers: { ...both.headers } }, 'whsec_AAAA'))
      const bare = both.headers['x-webhook-signature']
      verify(
        {
          ...both,
          headers: { ...both.headers, 'x-webhook-signature': hmacHex(before, both.body) },
        },
        before,
      )
      assert.equal(bare, hmacHex(after, both.body))

      await app.admin.query(
        `update webhook_subscriptions set previous_until = now() where id = $1`,
        [id],
      )
      await app.place('rotating')
      await app.dispatch()
      const alone = receiver.received.at(-1)
      assert.equal(String(alone?.headers['x-webhook-signature-v1']).match(/v1=/g)?.length, 1)
      assert.equal((await acme.post(`${URL}/${id}/rotate-secret`)).status, 200)
    },
  )

  await t.test(
    'a delivery whose lease expired is taken over, and its first worker changes nothing',
    async () => {
      const acme = await start('overtaken')
      await app.register(acme)
      await app.place('overtaken')
      const held = Promise.withResolvers<void>()
      const arrived = Promise.withResolvers<void>()
      receiver.answer(async (response) => {
        if (receiver.received.length > 1) return response.end()
        arrived.resolve()
        await held.promise
        response.statusCode = 500
        response.end()
      })
      const first = app.dispatch()
      await arrived.promise
      assert.equal(await app.dispatch(), 0, 'no other worker takes it meanwhile')
      await app.admin.query('update webhook_lanes set lease_until = now()')
      assert.equal(await app.dispatch(), 1)
      held.resolve()
      await first
      const delivery = await theDelivery(acme)
      assert.deepEqual([delivery.status, delivery.attempt_count], ['delivered', 1])
      assert.equal((await acme.get(URL)).body.subscriptions[0].consecutive_failures, 0)
    },
  )
})

const hmacHex = (secret: string, body: Buffer) =>
  createHmac('sha256', secret).update(body).digest('hex')
