import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { members } from '../../../src/modules/segments/service.ts'
import { assertRefused, countStatuses, essence, times } from '../../harness/refusals.ts'
import { openSegmentApp, URL } from './setup.ts'

const BUYERS = {
  name: 'Buyers',
  match: 'all',
  conditions: [{ field: 'orders_count', op: 'gte', value: 1 }],
}

test('segments', async (t) => {
  const app = await openSegmentApp(t)
  const { merchant } = await app.newShop('acme')
  const other = await app.merchant('other')
  const create = (body: unknown) => merchant.post(URL, body)

  await t.test(
    'are created, read, listed, changed and deleted, each in the audit log',
    async () => {
      const created = await create(BUYERS)
      assert.equal(created.status, 201, created.text)
      const { id, created_at, updated_at, ...rest } = created.body.segment
      assert.deepEqual(rest, BUYERS)
      assert.equal(created_at, updated_at)
      const url = `${URL}/${id}`
      assert.deepEqual((await merchant.get(url)).body, { segment: created.body.segment })
      const places = [{ field: 'place', op: 'in', value: ['us-ca', 'US-CA', ' de'] }]
      const changed = await merchant.patch(url, { match: 'any', conditions: places })
      assert.equal(changed.status, 200, changed.text)
      assert.deepEqual(
        [changed.body.segment.name, changed.body.segment.match, changed.body.segment.conditions],
        ['Buyers', 'any', [{ field: 'place', op: 'in', value: ['US-CA', 'DE'] }]],
      )
      const renamed = await merchant.patch(url, { name: 'Near', nonsense: 1 })
      assert.deepEqual(
        [renamed.body.segment.name, renamed.body.segment.match, renamed.body.ignored],
        ['Near', 'any', ['nonsense']],
      )
      assert.deepEqual((await merchant.get(URL)).body.segments, [renamed.body.segment])
      assert.equal((await merchant.send('DELETE', url)).status, 200)
      assert.equal((await merchant.get(url)).body.error.code, 'segment_not_found')
      const { entries } = (await merchant.get('/v1/my/audit')).body
      const acts = entries
        .map(({ action }: { action: string }) => action)
        .filter((action: string) => action.startsWith('segment.'))
      assert.deepEqual(acts, [
        'segment.deleted',
        'segment.changed',
        'segment.changed',
        'segment.created',
      ])
    },
  )

  await t.test('have a unique name in a store, also when many are created at once', async () => {
    const answers = await times(6, () => create({ ...BUYERS, name: 'Once' }))
    assert.deepEqual(countStatuses(answers), { 201: 1, 409: 5 })
    const refused = answers.find(({ status }) => status === 409)
    assert.equal(refused?.body.error.code, 'segment_exists')
    assert.equal((await other.post(URL, { ...BUYERS, name: 'Once' })).status, 201)
    const { body } = await create({ ...BUYERS, name: 'Twice' })
    const renamed = await merchant.patch(`${URL}/${body.segment.id}`, { name: 'Once' })
    assert.equal(renamed.body.error.code, 'segment_exists')
  })

  await t.test('are out of sight of another store, and of a key without the scope', async () => {
    const { body } = await create({ ...BUYERS, name: 'Ours' })
    const { id } = body.segment
    for (const [method, change] of [
      ['GET', undefined],
      ['PATCH', { name: 'Theirs' }],
      ['DELETE', undefined],
    ] as const) {
      const theirs = await other.send(method, `${URL}/${id}`, change)
      const nobodys = await other.send(method, `${URL}/${randomUUID()}`, change)
      assert.equal(theirs.body.error.code, 'segment_not_found')
      assert.deepEqual(essence(theirs), essence(nobodys), method)
    }
    const reader = await app.merchant('acme', 'read:own_customers', 'manage:own_orders')
    for (const answer of [
      await reader.get(URL),
      await reader.post(URL, BUYERS),
      await reader.post(`${URL}/preview`, BUYERS),
      await reader.get(`${URL}/${id}`),
      await reader.patch(`${URL}/${id}`, {}),
      await reader.send('DELETE', `${URL}/${id}`),
    ]) {
      assert.deepEqual([answer.status, answer.body.error.code], [403, 'forbidden'])
    }
    assert.equal((await merchant.get(`${URL}/${id}`)).body.segment.name, 'Ours')
  })

  await t.test(
    'are refused without a name or a condition, and beyond their maximum number',
    async () => {
      await assertRefused(
        [
          ['no name', { ...BUYERS, name: '' }, 'invalid_body', 'name'],
          ['a long name', { ...BUYERS, name: 'x'.repeat(101) }, 'invalid_body', 'name'],
          ['no match', { ...BUYERS, match: 'some' }, 'invalid_body', 'match'],
          ['no condition', { ...BUYERS, conditions: [] }, 'invalid_body', 'conditions'],
          ['a wrong one', { ...BUYERS, conditions: [{}] }, 'invalid_body', 'conditions.0.field'],
        ],
        create,
      )
      const limits = '/v1/entitlements/tenants/acme/limits'
      const used = (await merchant.get(URL)).body.total
      const set = await app.operator.put(limits, { segments: used })
      assert.equal(set.status, 200, set.text)
      const refused = await create({ ...BUYERS, name: 'One more' })
      assert.deepEqual([refused.status, refused.body.error.code], [409, 'limit_reached'])
    },
  )
})

test('the people of a segment come page by page, each once, while others join', async (t) => {
  const app = await openSegmentApp(t)
  const shop = await app.newShop('acme')
  const { merchant } = shop
  const evidence = { given_at: '2025-01-01T00:00:00Z', text: 'Yes.' }
  const join = (emails: string[]) =>
    merchant.post('/v1/merchant/marketing/consents/import', {
      consents: emails.map((email) => ({ email, ...evidence })),
    })
  const readers = Array.from({ length: 23 }, (_, at) => `Reader-${at}@x.example`)
  await join(readers)
  await app.buy(shop, 'reader-7@x.example')
  await app.buy(shop, 'READER-7@x.example', { customer_ref: 'another' })
  await app.count()
  const conditions = [{ field: 'consent', op: 'is', value: 'given' }]
  const { body } = await merchant.post(URL, { name: 'Readers', match: 'all', conditions })
  const store = await app.store('acme')
  const pages: string[][] = []
  for (let after: string | null = null; ; ) {
    const page = await store.transaction('test', (tx) => members(tx, body.segment.id, after, 5))
    pages.push(page.map(({ email_folded }) => email_folded))
    const last = page.at(-1)
    if (last === undefined) break
    if (pages.length === 2) await join(['a-first@x.example', 'zz-last@x.example'])
    after = last.email_folded
  }
  const seen = pages.flat()
  assert.equal(new Set(seen).size, seen.length, 'each once')
  assert.deepEqual(
    seen.toSorted(),
    [...readers.map((email) => email.toLowerCase()), 'zz-last@x.example'].toSorted(),
  )
  assert.ok(pages.slice(0, -2).every((page) => page.length === 5))
  const bought = await members(store, body.segment.id, 'reader-6@x.example', 1)
  assert.deepEqual(bought, [
    { email: 'READER-7@x.example', email_folded: 'reader-7@x.example', customer_ref: 'another' },
  ])
  const worker = app.runtime.workerDatabase.tenant('acme')
  assert.equal((await members(worker, body.segment.id, null, 100)).length, 25)
  const foreign = members(await app.store('other'), body.segment.id, null, 1)
  await assert.rejects(foreign, { code: 'segment_not_found' })
})
