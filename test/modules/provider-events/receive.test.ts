import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { eraseOldBodies } from '../../../src/modules/provider-events/jobs.ts'
import { openTestApp } from '../../harness/app.ts'
import { dumpText, openSuperuser } from '../../harness/superuser.ts'
import {
  deliver,
  deliverNmi,
  KEYS,
  nmiEvent,
  register,
  signNmi,
  signStandard,
  signStripe,
} from './setup.ts'

const NEW = { received: true, deduped: false }
const SEEN = { received: true, deduped: true }

test('an event of a provider', async (t) => {
  const app = await openTestApp(t, { env: { RATE_LIMIT_FAILED_PER_MINUTE: '10000' } })
  const superuser = await openSuperuser(t, app.database)
  const rows = async (text: string, values: unknown[] = []) =>
    (await superuser.query(text, values)).rows
  const eventsOf = (tenant: string) =>
    rows('select * from gateway_events where tenant_ref = $1 order by received_at', [tenant])
  const publishedOf = (tenant: string) =>
    rows(
      `select type, payload from outbox where tenant_ref = $1 and type = 'webhook.received.v1'`,
      [tenant],
    )

  await t.test('is stored with its exact bytes and published once', async () => {
    const path = await register(app, 'kept', { provider: 'nmi', account: 'kept-1' })
    const raw = Buffer.from(
      '{ "event_type":"transaction.sale.success",\r\n "event_id" : "e-1", "event_body":{"note":"caf\u00e9 \u2028","n":1e2}}\n',
    )
    const answer = await deliverNmi(app, path, raw)
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(answer.body, NEW)
    const [event, ...more] = await eventsOf('kept')
    assert.equal(more.length, 0)
    assert.deepEqual(event.body, raw)
    assert.equal(event.event_id, 'e-1')
    assert.equal(event.status, 'received')
    assert.equal(event.headers['content-type'], 'application/json')
    assert.equal(event.headers['webhook-signature'], signNmi(KEYS.nmi, raw)['webhook-signature'])
    assert.equal(event.headers.host, undefined)
    assert.deepEqual(await publishedOf('kept'), [
      {
        type: 'webhook.received.v1',
        payload: {
          provider: 'nmi',
          account_ref: 'kept-1',
          provider_event_id: 'e-1',
          event_type: 'transaction.sale.success',
        },
      },
    ])
  })

  await t.test('is accepted with each scheme', async () => {
    const seconds = Math.floor(app.runtime.clock.now() / 1_000)
    const stripe = await register(app, 'each', { provider: 'stripe', account: 'acct_1' }, 'stripe')
    const sim = await register(app, 'each', { provider: 'sim', account: 'each' }, 'standard')
    const raw = Buffer.from('{"id":"evt_1","type":"charge.succeeded"}')
    const byStripe = () => deliver(app, stripe, raw, signStripe(KEYS.stripe, raw, seconds))
    const bySim = (id: string) =>
      deliver(app, sim, raw, signStandard(KEYS.standard, raw, { id, seconds }))
    assert.deepEqual((await byStripe()).body, NEW)
    assert.deepEqual((await byStripe()).body, SEEN)
    assert.deepEqual((await bySim('msg_1')).body, NEW)
    assert.deepEqual((await bySim('msg_1')).body, SEEN)
    assert.deepEqual((await bySim('msg_2')).body, NEW)
    const ids = (await eventsOf('each')).map(({ event_id }) => event_id)
    assert.deepEqual(ids.toSorted(), ['evt_1', 'msg_1', 'msg_2'])
  })

  await t.test(
    'is stored and published once of fifty copies at the same time, with any nonce',
    async () => {
      const path = await register(app, 'many', { provider: 'nmi', account: 'many' })
      const raw = nmiEvent({ id: 'again' })
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, n) =>
          deliver(app, path, raw, signNmi(KEYS.nmi, raw, `n${n}`)),
        ),
      )
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
      assert.equal(answers.filter(({ body }) => body.deduped === false).length, 1)
      assert.equal((await eventsOf('many')).length, 1)
      assert.equal((await publishedOf('many')).length, 1)
      // The bytes of the first event stay, also if others have the same id.
      const other = nmiEvent({ id: 'again', note: 'changed' })
      assert.deepEqual((await deliverNmi(app, path, other)).body, SEEN)
      assert.deepEqual((await eventsOf('many'))[0].body, raw)
    },
  )

  await t.test(
    'is stored for each account, store and provider that has an event with the same id',
    async () => {
      const raw = nmiEvent({ id: 'shared' })
      const paths = [
        await register(app, 'one', { provider: 'nmi', account: 'one-a' }),
        await register(app, 'one', { provider: 'nmi', account: 'one-b' }),
        await register(app, 'one', { provider: 'nmi2', account: 'one-a' }),
        await register(app, 'two', { provider: 'nmi', account: 'two-a' }),
      ]
      for (const path of paths) assert.deepEqual((await deliverNmi(app, path, raw)).body, NEW)
      for (const path of paths) assert.deepEqual((await deliverNmi(app, path, raw)).body, SEEN)
      assert.equal((await publishedOf('one')).length, 3)
      assert.equal((await publishedOf('two')).length, 1)
    },
  )

  await t.test('is stored if it is signed and unreadable', async () => {
    const path = await register(app, 'odd', { provider: 'nmi', account: 'odd' })
    const bodies = [
      '',
      'no json',
      '[]',
      '"text"',
      'null',
      '{"event_id":"x"',
      '<xml/>',
      '['.repeat(100_000),
    ].map((text) => Buffer.from(text))
    bodies.push(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), Buffer.alloc(1_000))
    for (const raw of bodies) {
      const answer = await deliverNmi(app, path, raw)
      assert.equal(answer.status, 200, answer.text)
      assert.deepEqual(answer.body, NEW)
      assert.deepEqual((await deliverNmi(app, path, raw)).body, SEEN)
    }
    const kept = await eventsOf('odd')
    assert.equal(kept.length, bodies.length)
    for (const { status, event_id, body } of kept) {
      assert.equal(status, 'unhandled')
      assert.equal(event_id, `sha256:${hash('sha256', body)}`)
    }
    assert.equal((await publishedOf('odd')).length, bodies.length)
  })

  await t.test('an event without a valid id is identified by a digest of its bytes', async () => {
    const path = await register(app, 'noid', { provider: 'nmi', account: 'noid' })
    const ids = [undefined, null, '', {}, ['x'], 'x'.repeat(201), 'a\u0000b', '\ud800', 1.5]
    for (const event_id of ids) {
      const raw = Buffer.from(
        JSON.stringify({
          event_id,
          event_type: 'x'.repeat(101),
          of: String(ids.indexOf(event_id)),
        }),
      )
      assert.deepEqual((await deliverNmi(app, path, raw)).body, NEW)
      assert.deepEqual((await deliverNmi(app, path, raw)).body, SEEN)
    }
    const kept = await eventsOf('noid')
    assert.equal(kept.length, ids.length)
    assert.ok(kept.every((each) => each.event_id.startsWith('sha256:') && each.event_type === null))
    // A number is an id too.
    assert.deepEqual((await deliverNmi(app, path, Buffer.from('{"event_id":7}'))).body, NEW)
    assert.deepEqual((await deliverNmi(app, path, Buffer.from('{"event_id":"7"}'))).body, SEEN)
  })

  await t.test('is accepted with any content type or none', async () => {
    const path = await register(app, 'types', { provider: 'nmi', account: 'types' })
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/json; charset=latin1',
      'json',
      'application/json, application/json',
      null,
    ]) {
      const raw = nmiEvent()
      const answer = await deliver(app, path, raw, signNmi(KEYS.nmi, raw), type)
      assert.equal(answer.status, 200, `${type}: ${answer.text}`)
      const kept = (await eventsOf('types')).at(-1)
      assert.equal(kept.headers['content-type'] ?? null, type)
    }
    // An explicit identity encoding.
    const raw = nmiEvent()
    const plain = { ...signNmi(KEYS.nmi, raw), 'content-encoding': 'Identity' }
    assert.deepEqual((await deliver(app, path, raw, plain)).body, NEW)
  })

  await t.test('is refused and not stored if it is encoded or too large', async () => {
    const path = await register(app, 'large', { provider: 'nmi', account: 'large' })
    const zipped = gzipSync(nmiEvent())
    const encoded = { ...signNmi(KEYS.nmi, zipped), 'content-encoding': 'gzip' }
    const answer = await deliver(app, path, zipped, encoded)
    assert.equal(answer.status, 415)
    assert.equal(answer.body.error.code, 'unsupported_media_type')
    const large = Buffer.alloc(256 * 1_024 + 1, 'x')
    const refused = await deliverNmi(app, path, large)
    assert.equal(refused.status, 413)
    assert.equal(refused.body.error.code, 'body_too_large')
    assert.equal((await eventsOf('large')).length, 0)
    assert.equal((await deliverNmi(app, path, large.subarray(1))).status, 200)
  })

  await t.test('is refused and not stored without a valid signature', async () => {
    const path = await register(app, 'forged', { provider: 'nmi', account: 'forged' })
    const raw = nmiEvent()
    for (const headers of [
      {},
      signNmi('another key of somebody', raw),
      signNmi(KEYS.nmi, nmiEvent()),
      { 'webhook-signature': 't=1,s=zz' },
    ]) {
      const answer = await deliver(app, path, raw, headers)
      assert.equal(answer.status, 401, answer.text)
      assert.deepEqual(answer.body.error.code, 'invalid_signature')
    }
    assert.equal((await eventsOf('forged')).length, 0)
    assert.equal((await publishedOf('forged')).length, 0)
  })

  await t.test(
    'gets the same answer, byte for byte, for an unknown provider and an unknown account',
    async () => {
      const known = await register(app, 'known', { provider: 'nmi', account: 'known' })
      const raw = nmiEvent()
      const texts = new Set<string>()
      for (const path of [
        '/v1/gateway/nobody/known',
        '/v1/gateway/nmi/nobody',
        '/v1/gateway/NMI/known',
        `${known}%2f`,
        '/v1/gateway/nmi/%27',
      ]) {
        const answer = await deliverNmi(app, path, raw)
        assert.equal(answer.status, 404, path)
        assert.equal(answer.body.error.code, 'unknown_provider')
        texts.add(answer.text)
      }
      assert.equal(texts.size, 1)
    },
  )

  await t.test('is deduplicated for ever, and keeps its body for thirty days', async () => {
    const path = await register(app, 'old', { provider: 'nmi', account: 'old' })
    const [first, second] = [nmiEvent({ id: 'first' }), nmiEvent({ id: 'second' })]
    await deliverNmi(app, path, first)
    await deliverNmi(app, path, second)
    await superuser.query(
      `update gateway_events set received_at = now() - interval '31 days'
        where tenant_ref = 'old' and event_id = 'first'`,
    )
    assert.equal(await eraseOldBodies(app.runtime.workerDatabase), 1)
    assert.equal(await eraseOldBodies(app.runtime.workerDatabase), 0)
    const [erased, kept] = await eventsOf('old')
    assert.equal(erased.body, null)
    assert.deepEqual(erased.headers, {})
    assert.deepEqual(kept.body, second)
    assert.deepEqual((await deliverNmi(app, path, first)).body, SEEN)
  })

  await t.test('is signed with a key that is not readable in the database', async () => {
    const dump = await dumpText(superuser)
    for (const key of Object.values(KEYS)) {
      assert.ok(!dump.includes(key))
      assert.ok(!dump.includes(Buffer.from(key).toString('hex')))
    }
  })
})

describe('forgeries', () => {
  test('are refused after some in a minute, while signed events are still accepted', async (t) => {
    const app = await openTestApp(t, { env: { RATE_LIMIT_FAILED_PER_MINUTE: '5' } })
    const path = await register(app, 'acme', { provider: 'nmi', account: 'acme' })
    const forged = nmiEvent()
    const statuses: number[] = []
    for (let n = 0; n < 8; n++) statuses.push((await deliver(app, path, forged, {})).status)
    assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429, 429, 429])
    const unknown = await deliver(app, '/v1/gateway/nmi/nobody', forged, {})
    assert.equal(unknown.status, 429)
    assert.equal(unknown.headers.get('retry-after'), '60')
    const flood = Array.from({ length: 60 }, () => deliver(app, path, forged, {}))
    const genuine = await Promise.all(
      Array.from({ length: 20 }, () => deliverNmi(app, path, nmiEvent())),
    )
    assert.deepEqual(new Set(genuine.map(({ status }) => status)), new Set([200]))
    assert.deepEqual(
      new Set((await Promise.all(flood)).map(({ status }) => status)),
      new Set([429]),
    )
  })
})
