import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertCode, openWebhooksApp, PLACED, URL } from './setup.ts'

const hook = { url: 'https://shop.example/hook', events: [PLACED] }

test('subscriptions', async (t) => {
  const app = await openWebhooksApp(t)

  await t.test('shows the signing secret at creation and never again', async () => {
    const acme = await app.merchant('acme', 'manage:own_webhooks')
    const made = await acme.post(URL, { ...hook, description: 'Orders', events: [PLACED, PLACED] })
    assert.equal(made.status, 201, made.text)
    const { subscription, secret } = made.body
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
    assert.deepEqual(subscription, {
      id: subscription.id,
      url: hook.url,
      description: 'Orders',
      events: [PLACED],
      active: true,
    })
    const listed = await acme.get(URL)
    assert.deepEqual(listed.body, {
      subscriptions: [
        {
          ...subscription,
          consecutive_failures: 0,
          auto_paused_at: null,
          muted_events: [],
          created_at: listed.body.subscriptions[0].created_at,
        },
      ],
    })
    const rotated = await acme.post(`${URL}/${subscription.id}/rotate-secret`)
    const everywhere = await Promise.all(
      [URL, '/v1/merchant/deliveries', '/v1/merchant/events'].map((path) => acme.get(path)),
    )
    const audit = await (await app.merchant('acme')).get('/v1/my/audit')
    assert.deepEqual(
      audit.body.entries.map((each: { action: string }) => each.action).slice(1, 3),
      ['webhook.secret_rotated', 'webhook.created'],
    )
    for (const { text } of [...everywhere, audit]) assert.doesNotMatch(text, /whsec_/)
    const { rows } = await app.admin.query(
      `select row_to_json(s)::text as row from webhook_subscriptions s`,
    )
    for (const shown of [secret, rotated.body.secret]) {
      const hex = Buffer.from(shown).toString('hex')
      for (const { row } of rows) assert.ok(!row.includes(shown) && !row.includes(hex))
    }
  })

  await t.test('deletes an endpoint, and answers a repeated delete alike', async () => {
    const acme = await app.merchant('deleting', 'manage:own_webhooks')
    const { id } = await app.register(acme)
    for (let n = 0; n < 2; n++) {
      const gone = await acme.send('DELETE', `${URL}/${id}`)
      assert.deepEqual([gone.status, gone.body], [200, { id, deleted: true }])
    }
    assert.deepEqual((await acme.get(URL)).body, { subscriptions: [] })
    for (const verb of ['test', 'rotate-secret']) {
      assertCode(await acme.post(`${URL}/${id}/${verb}`), 404, 'webhook_not_found')
    }
    assertCode(await acme.send('DELETE', `${URL}/nonsense`), 404, 'webhook_not_found')
    const { rows } = await app.admin.query(
      'select secret_sealed from webhook_subscriptions where id = $1',
      [id],
    )
    assert.equal(rows[0].secret_sealed, null)
  })

  await t.test('holds a store to twenty endpoints, also with many requests at once', async () => {
    const acme = await app.merchant('many', 'manage:own_webhooks')
    const answers = await Promise.all(
      Array.from({ length: 25 }, (_, n) => acme.post(URL, { ...hook, url: `${hook.url}/${n}` })),
    )
    assert.equal(answers.filter(({ status }) => status === 201).length, 20)
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      assertCode(answer, 409, 'webhook_limit_reached')
    }
  })

  await t.test('are limited in how often an address is looked up', async () => {
    const acme = await app.merchant('hasty', 'manage:own_webhooks')
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => acme.post(URL, { ...hook, url: 'https://10.0.0.1/' })),
    )
    const limited = answers.filter(({ status }) => status === 429)
    assert.ok(limited.length >= 5, `${limited.length} of 40`)
    assert.equal(limited[0]?.headers['retry-after'], '60')
  })

  const refused: [string, unknown, string][] = [
    ['an empty event list', { ...hook, events: [] }, 'invalid_body'],
    ['no event list', { url: hook.url }, 'invalid_body'],
    ['no URL', { events: hook.events }, 'invalid_body'],
    ['an invalid URL', { ...hook, url: 'shop' }, 'invalid_body'],
    ['a number as URL', { ...hook, url: 1 }, 'invalid_body'],
    ['too long a description', { ...hook, description: 'x'.repeat(501) }, 'invalid_body'],
    ['the reserved test event', { ...hook, events: ['platform.test.v1'] }, 'unknown_event'],
    [
      'an event of the feed without the add-on',
      { ...hook, events: [PLACED, 'commerce.order.shipped.v1'] },
      'unknown_event',
    ],
    ['a name every object has', { ...hook, events: ['toString'] }, 'unknown_event'],
    ['plain http', { ...hook, url: 'http://shop.example/' }, 'unsafe_url'],
    ['the cloud metadata address', { ...hook, url: 'https://169.254.169.254/' }, 'unsafe_url'],
    ['a URL with a password', { ...hook, url: 'https://me:secret@shop.example/' }, 'unsafe_url'],
    ['a fragment', { ...hook, url: 'https://shop.example/#x' }, 'unsafe_url'],
    ['a service of a cluster', { ...hook, url: 'https://kubernetes.default.svc/' }, 'unsafe_url'],
    ['an empty label', { ...hook, url: 'https://example..com/' }, 'unsafe_url'],
    ['a leading dot', { ...hook, url: 'https://.example.com/' }, 'unsafe_url'],
    ['a trailing dot', { ...hook, url: 'https://shop.example./' }, 'unsafe_url'],
    ['a single label', { ...hook, url: 'https://intranet/' }, 'unsafe_url'],
    ['a database port', { ...hook, url: 'https://shop.example:5432/' }, 'unsafe_url'],
  ]
  const picky = await app.merchant('picky', 'manage:own_webhooks')
  for (const [what, body, code] of refused) {
    await t.test(`refuses ${what}`, async () => {
      const answer = await picky.post(URL, body)
      assertCode(answer, 400, code)
      if (code === 'unknown_event') {
        const { events } = body as { events: string[] }
        assert.ok(answer.body.error.message.includes(events.at(-1)))
      }
      if (/cluster|label|dot/.test(what)) {
        assert.match(answer.body.error.message, /must be a full public domain name/)
      }
      if (what.includes('URL') && code === 'invalid_body') {
        assert.equal(answer.body.issues[0].path, 'url')
      }
    })
  }

  await t.test('a test fire answers its outcome, and does not count as a failure', async () => {
    const acme = await app.merchant('testing', 'manage:own_webhooks')
    const { id } = await app.register(acme)
    const fire = () => acme.post(`${URL}/${id}/test`)
    const good = await fire()
    assert.equal(good.status, 200, good.text)
    const { delivery_id, latency_ms, ...rest } = good.body
    assert.deepEqual(rest, {
      event_type: 'platform.test.v1',
      outcome: 'delivered',
      status_code: 200,
      error: null,
    })
    assert.ok(Number.isInteger(latency_ms))
    const sent = JSON.parse(app.receiver.received.at(-1)?.body.toString() ?? '')
    assert.deepEqual([sent.type, sent.data], ['platform.test.v1', { test: true }])
    const row = (await acme.get(`/v1/merchant/deliveries/${delivery_id}`)).body.delivery
    assert.deepEqual([row.status, row.payload.id, row.attempts.length], ['delivered', sent.id, 1])

    app.receiver.answer((response) => {
      response.statusCode = 410
      response.end()
    })
    const bad = (await fire()).body
    assert.deepEqual([bad.outcome, bad.status_code, bad.error], ['failed', 410, null])
    app.receiver.answer((response) => response.destroy())
    const lost = (await fire()).body
    assert.deepEqual(
      [lost.outcome, lost.status_code, lost.error],
      ['failed', null, 'The connection was refused or lost.'],
    )
    const dead = (await acme.get('/v1/merchant/deliveries?status=dead_lettered')).body
    assert.equal(dead.total, 2)
    assert.equal(await app.dispatch(), 0, 'it is never tried again')
    const again = await app.operator.post(`/v1/deliveries/${dead.deliveries[0].id}/redrive`)
    assertCode(again, 409, 'not_redrivable')
    assert.equal((await acme.get(URL)).body.subscriptions[0].consecutive_failures, 0)
    assert.deepEqual((await acme.get('/v1/merchant/events')).body.events, [])

    const rest8 = await Promise.all(Array.from({ length: 8 }, fire))
    assert.equal(rest8.filter(({ status }) => status === 429).length, 1)
  })

  await t.test('reads the feed from any position, and filters deliveries', async () => {
    const acme = await app.merchant('feeding', 'manage:own_webhooks')
    const { id } = await app.register(acme, 'https://shop.example/hook')
    const ids = []
    for (let n = 1; n <= 5; n++) ids.push(await app.place('feeding', { n }))
    assert.equal((await acme.get('/v1/merchant/events')).body.sealed_to, 0)
    const [unnumbered] = (await acme.get('/v1/merchant/deliveries')).body.deliveries
    assert.deepEqual([unnumbered.payload, unnumbered.status], [null, 'pending'])
    const pending = await acme.get('/v1/merchant/deliveries?status=pending')
    assert.equal(pending.body.total, 5)
    await app.dispatch()
    const page = (await acme.get('/v1/merchant/events?after=1&limit=2')).body
    assert.deepEqual(
      page.events.map((each: { sequence: number; id: string }) => [each.sequence, each.id]),
      [
        [2, ids[1]],
        [3, ids[2]],
      ],
    )
    assert.deepEqual([page.sealed_to, page.after, page.limit], [5, 1, 2])
    assert.deepEqual(page.events[0].data, { n: 2, sequence: 2 })
    for (const [query, count] of [
      ['after=5', 0],
      ['after=99', 0],
      ['after=-3&limit=0', 1],
      ['after=&limit=9999', 5],
    ] as const) {
      const answer = await acme.get(`/v1/merchant/events?${query}`)
      assert.equal(answer.body.events.length, count, query)
    }
    assertCode(await acme.get('/v1/merchant/events?after=x'), 400, 'validation_error')
    for (const [query, total] of [
      [`event_id=${ids[0]}`, 1],
      [`subscription_id=${id}`, 5],
      ['subscription_id=00000000-0000-4000-8000-000000000000', 0],
      ['subscription_id=x', 0],
      ['event_id=x', 0],
      ['status=delivered', 0],
      ['status=pending', 5],
      [`event_type=${PLACED}`, 5],
      ['event_type=other', 0],
      ['limit=2&offset=4', 5],
    ] as const) {
      const answer = await acme.get(`/v1/merchant/deliveries?${query}`)
      assert.equal(answer.body.total, total, query)
    }
    assertCode(await acme.get('/v1/merchant/deliveries/nonsense'), 404, 'delivery_not_found')
  })
})
