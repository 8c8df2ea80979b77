import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { findOpenRequest, lockFeature } from '../../../src/modules/entitlements/queries.ts'
import { type Caller, openTestApp } from '../../harness/app.ts'
import { until } from '../../harness/eventually.ts'
import { assertRefused, countStatuses, essence, keysOf, times } from '../../harness/refusals.ts'
import { shareStores } from '../../harness/share-stores.ts'
import { openSuperuser } from '../../harness/superuser.ts'

const URL = '/v1/merchant/entitlements/requests'
const feature_key = 'dedicated_gateway'
const decide = (operator: Caller, id: string, body: unknown) =>
  operator.put(`/v1/entitlements/requests/${id}`, body)

const openStore = shareStores(openTestApp)

describe('requesting an add-on', () => {
  test('answers 201 with the request, and with the same open request when repeated', async () => {
    const { acme } = await openStore()
    const made = await acme.post(URL, { feature_key, note: 'For the new shop\n✓' })
    assert.equal(made.status, 201)
    assert.deepEqual(keysOf(made.body), ['request'])
    const { id, created_at, requested_by, ...rest } = made.body.request
    assert.deepEqual(rest, {
      feature_key,
      status: 'pending',
      note: 'For the new shop\n✓',
      decided_at: null,
      decision_note: null,
    })
    assert.match(requested_by, /^merchant_key:/)
    assert.ok(id && created_at)
    const again = await acme.post(URL, { feature_key, note: 'Hurry' })
    assert.equal(again.status, 200)
    assert.deepEqual(again.body, { request: made.body.request, already_requested: true })
    const { entries } = (await acme.get('/v1/my/audit?action=addon.activation_requested')).body
    assert.equal(entries.length, 1)
    assert.deepEqual(entries[0].after, { request_id: id })
  })

  test('creates one request when fifty are sent at once', async () => {
    const { acme } = await openStore()
    const answers = await times(50, () => acme.post(URL, { feature_key }))
    assert.deepEqual(countStatuses(answers), { 200: 49, 201: 1 })
    assert.equal(new Set(answers.map(({ body }) => body.request.id)).size, 1)
  })

  test('is refused for a self-serve add-on, and for an unknown one', async () => {
    const { app, tenant, acme } = await openStore()
    const ruling = { state: 'allow' }
    await app.operator.put(`/v1/entitlements/tenants/${tenant}/features/advanced_fraud`, ruling)
    const bad = [
      ['an unknown one', { feature_key: 'no_such' }, 'unknown_feature'],
      ['no name of ours', { feature_key: '__proto__x' }, 'unknown_feature'],
      ['a self-serve one', { feature_key: 'gift_cards' }, 'self_serve_available'],
      ['one it has', { feature_key: 'advanced_fraud' }, 'already_enabled'],
      ['nothing', {}, 'invalid_body', 'feature_key'],
      ['a number', { feature_key: 1 }, 'invalid_body', 'feature_key'],
      ['a book', { feature_key, note: 'x'.repeat(2_001) }, 'invalid_body', 'note'],
      ['a note of null', { feature_key, note: null }, 'invalid_body', 'note'],
    ] as const
    await assertRefused(bad, (body) => acme.post(URL, body))
    const statuses = { unknown_feature: 400, self_serve_available: 409, already_enabled: 409 }
    for (const [, body, code] of bad.slice(0, 4)) {
      assert.equal((await acme.post(URL, body)).status, statuses[code as keyof typeof statuses])
    }
    const longest = await acme.post(URL, { feature_key, note: '💚'.repeat(2_000) })
    assert.equal(longest.status, 201, longest.text)
  })
})

describe('the requests of a store', () => {
  test('are listed newest first, a page at a time', async () => {
    const { app, acme } = await openStore()
    for (let i = 0; i < 3; i++) {
      const { request } = (await acme.post(URL, { feature_key, note: `${i}` })).body
      await acme.post(`${URL}/${request.id}/withdraw`)
    }
    const all = await acme.get(URL)
    const notes = all.body.requests.map(({ note }: { note: string }) => note)
    assert.deepEqual(notes, ['2', '1', '0'])
    const { requests: _, ...page } = all.body
    assert.deepEqual(page, { total: 3, limit: 25, offset: 0 })
    const second = await acme.get(`${URL}?limit=1&offset=1`)
    assert.deepEqual([second.body.requests[0].note, second.body.total], ['1', 3])
    const globex = await app.merchant('globex')
    assert.deepEqual((await globex.get(URL)).body.requests, [])
  })

  test('can be withdrawn while open, and then made again', async () => {
    const { app, acme } = await openStore()
    const { request } = (await acme.post(URL, { feature_key })).body
    const gone = await acme.post(`${URL}/${request.id}/withdraw`)
    assert.equal(gone.status, 200)
    assert.deepEqual(gone.body, { request: { ...request, status: 'withdrawn' } })
    const again = await acme.post(`${URL}/${request.id}/withdraw`)
    assert.deepEqual([again.status, again.body.error.code], [409, 'request_decided'])
    const late = await decide(app.operator, request.id, { status: 'approved' })
    assert.deepEqual([late.status, late.body.error.code], [409, 'request_decided'])
    assert.equal((await acme.post(URL, { feature_key })).status, 201)
  })

  test('can be withdrawn only while no concurrent request for the same add-on runs', async (t) => {
    const app = await openTestApp(t)
    const superuser = await openSuperuser(t, app.database)
    const acme = await app.merchant('acme')
    const db = await app.store('acme')
    const { request } = (await acme.post(URL, { feature_key })).body
    const asking = Promise.withResolvers<void>()
    const locked = Promise.withResolvers<void>()
    const ask = db.transaction('ask', async (tx) => {
      await lockFeature(tx, feature_key)
      locked.resolve()
      await asking.promise
      return findOpenRequest(tx, feature_key)
    })
    await locked.promise
    const withdrawn = acme.post(`${URL}/${request.id}/withdraw`)
    await until('the withdrawal waits', async () => {
      const waiting = await superuser.query(
        `select from pg_locks where locktype = 'advisory' and not granted
            and database = (select oid from pg_database where datname = current_database())`,
      )
      return waiting.rowCount === 1
    }).finally(() => asking.resolve())
    assert.equal((await ask)?.id, request.id)
    assert.equal((await withdrawn).body.request.status, 'withdrawn')
  })

  test('are never lost when they are made and withdrawn at the same time', async () => {
    const { acme } = await openStore()
    for (let round = 0; round < 8; round++) {
      const { request } = (await acme.post(URL, { feature_key })).body
      const answers = await times(12, (i) =>
        i % 3 === 0
          ? acme.post(`${URL}/${request.id}/withdraw`)
          : acme.post(URL, { feature_key, note: `${i}` }),
      )
      for (const { status, text } of answers) assert.ok([200, 201, 409].includes(status), text)
      const { requests } = (await acme.get(URL)).body
      const open = requests.filter(({ status }: { status: string }) => status === 'pending')
      assert.ok(open.length <= 1)
      for (const { id } of open) await acme.post(`${URL}/${id}/withdraw`)
    }
  })
})

describe('deciding a request', () => {
  test('approving a request switches the add-on on in the same transaction', async () => {
    const { app, acme } = await openStore()
    const { request } = (await acme.post(URL, { feature_key })).body
    const decision = { status: 'approved', decision_note: 'Welcome' }
    const { status, body, headers } = await decide(app.operator, request.id, decision)
    assert.equal(status, 200)
    const { decided_at, ...rest } = body.request
    const { decided_at: _, ...asked } = request
    assert.deepEqual(rest, { ...asked, ...decision })
    assert.ok(decided_at)
    const { features } = (await acme.get('/v1/my/store')).body.store
    assert.deepEqual(features[8], { feature_key, state: 'on', source: 'operator' })
    const { entries } = (await acme.get('/v1/my/audit?actor=operator')).body
    assert.deepEqual(
      entries.map(({ action }: { action: string }) => action),
      ['addon.activation_approved', 'addon.operator_allow'],
    )
    assert.equal(entries[0].reason, 'Welcome')
    assert.equal(entries[1].correlation_id, headers['x-correlation-id'])
    const more = await acme.post(URL, { feature_key })
    assert.equal(more.body.error.code, 'already_enabled')
  })

  test('refusing a request changes nothing else, and a new request is possible', async () => {
    const { app, acme } = await openStore()
    const { request } = (await acme.post(URL, { feature_key })).body
    const { body } = await decide(app.operator, request.id, { status: 'declined' })
    assert.deepEqual([body.request.status, body.request.decision_note], ['declined', null])
    const { features } = (await acme.get('/v1/my/store')).body.store
    assert.deepEqual(features[8], { feature_key, state: 'off', source: 'tier' })
    assert.equal((await acme.post(URL, { feature_key })).status, 201)
  })

  test('succeeds once among many concurrent decisions', async () => {
    const { app, acme } = await openStore()
    const { request } = (await acme.post(URL, { feature_key })).body
    const answers = await times(20, (i) =>
      decide(app.operator, request.id, { status: i % 2 ? 'approved' : 'declined' }),
    )
    assert.deepEqual(countStatuses(answers), { 200: 1, 409: 19 })
    const winner = answers.find(({ status }) => status === 200)?.body.request.status
    const { features } = (await acme.get('/v1/my/store')).body.store
    assert.equal(features[8].state, winner === 'approved' ? 'on' : 'off')
  })

  test('needs an existing request and a decision', async () => {
    const { app, acme } = await openStore()
    const { request } = (await acme.post(URL, { feature_key })).body
    const unknown = await decide(app.operator, randomUUID(), { status: 'approved' })
    assert.deepEqual([unknown.status, unknown.body.error.code], [404, 'request_not_found'])
    const odd = await decide(app.operator, 'x', { status: 'approved' })
    assert.deepEqual(essence(odd), essence(unknown))
    const bad = [
      ['nothing', {}, 'invalid_body', 'status'],
      ['withdrawn', { status: 'withdrawn' }, 'invalid_body', 'status'],
      ['pending', { status: 'pending' }, 'invalid_body', 'status'],
      [
        'a book',
        { status: 'approved', decision_note: 'x'.repeat(2_001) },
        'invalid_body',
        'decision_note',
      ],
    ] as const
    await assertRefused(bad, (body) => decide(app.operator, request.id, body))
  })
})

test('the operator sees the requests of every store, with their store', async (t) => {
  const app = await openTestApp(t)
  const [acme, globex] = await Promise.all([app.merchant('acme'), app.merchant('globex')])
  const { request } = (await acme.post(URL, { feature_key, note: 'please' })).body
  await globex.post(URL, { feature_key })
  await decide(app.operator, request.id, { status: 'declined' })
  const all = (await app.operator.get('/v1/entitlements/requests')).body
  assert.equal(all.total, 2)
  assert.deepEqual(
    all.requests.map(({ tenant_ref }: { tenant_ref: string }) => tenant_ref),
    ['globex', 'acme'],
  )
  const open = (await app.operator.get('/v1/entitlements/requests?status=pending&limit=1')).body
  assert.deepEqual([open.total, open.requests[0].tenant_ref, open.limit], [1, 'globex', 1])
  const odd = await app.operator.get('/v1/entitlements/requests?status=nonsense')
  assert.equal(odd.body.error.code, 'validation_error')
})
