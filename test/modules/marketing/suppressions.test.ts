import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { mayBeMailed } from '../../../src/modules/marketing/consent.ts'
import { assertConsentsAgree } from '../../harness/people-oracles.ts'
import { assertRefused, essence } from '../../harness/refusals.ts'
import { openReaders, SUPPRESSIONS, signFeedback } from './readers.ts'

type Readers = Awaited<ReturnType<typeof openReaders>>

const mailable = async ({ app }: Readers, email: string, tenant = 'acme') =>
  (await mayBeMailed(await app.store(tenant), [email])).has(email)

const rowOf = async ({ merchant }: Readers, email: string) =>
  (await merchant.get(`${SUPPRESSIONS}?${new URLSearchParams({ email })}`)).body.suppressions[0]

test('what the mail provider tells', async (t) => {
  const readers = await openReaders(t)
  const { app, merchant, superuser, join, ask, linksTo, press, historyOf, tell } = readers
  await app.merchant('other')

  await t.test(
    'a bounce of an address that does not exist stops marketing of all stores to it',
    async () => {
      const email = 'gone@example.com'
      await join(email)
      const answer = await tell({
        kind: 'hard_bounce',
        email: 'GONE@example.com',
        tenant_ref: 'acme',
        detail: '550 5.1.1 <Gone@Example.com> unknown, id 4111 1111 1111 1111\r\n',
      })
      assert.deepEqual(answer.body, { received: 1, suppressed: 1 }, answer.text)
      const row = await rowOf(readers, email)
      assert.deepEqual(
        [row.reason, row.created_by, row.detail],
        ['hard_bounce', 'mail_provider', '550 5.1.1 <[address]> unknown, id [number] '],
      )
      assert.equal(await mailable(readers, email), false)
      const listed = (await app.operator.get('/v1/mail/suppressions')).body.suppressions
      assert.deepEqual([listed[0].domain, listed[0].reason], ['example.com', 'hard_bounce'])
      assert.ok(!JSON.stringify(listed).includes('gone'), 'the operator sees no address')
      await superuser.query(`delete from mail_suppressions`)
      assert.equal(await mailable(readers, email), false, 'also without the row of the store')
    },
  )

  await t.test("the provider's reports do not stop mails that are no marketing", async () => {
    const email = 'still@example.com'
    await tell({ kind: 'hard_bounce', email, tenant_ref: 'acme' })
    assert.equal((await ask(email)).status, 202)
    assert.equal((await linksTo(email)).length, 1, 'a mail that its reader asked for')
  })

  await t.test('a bounce is cleared by a reader who opens a mail and asks for more', async () => {
    const email = 'back@example.com'
    await tell({ kind: 'hard_bounce', email, tenant_ref: 'acme' })
    await tell({ kind: 'complaint', email, tenant_ref: 'acme' })
    await ask(email)
    assert.equal(await mailable(readers, email), false, 'asking alone proves nothing')
    await press((await linksTo(email))[0] ?? '')
    assert.equal(await mailable(readers, email), true)
    assert.equal(await rowOf(readers, email), undefined)
  })

  await t.test('a complaint ends the consent to that store, and to no other', async () => {
    const email = 'angry@example.com'
    await join(email)
    const other = await app.merchant('other')
    const evidence = { email, given_at: '2025-01-01T00:00:00Z', text: 'Yes.' }
    await other.post('/v1/merchant/marketing/consents/import', { consents: [evidence] })
    const told = { kind: 'complaint', email, tenant_ref: 'acme' }
    assert.equal((await tell(told)).body.suppressed, 1)
    assert.equal((await tell(told)).body.suppressed, 0, 'a second one changes nothing')
    const history = await historyOf(email)
    assert.deepEqual(
      history.map(({ state, source }: { state: string; source: string }) => `${state} ${source}`),
      ['withdrawn complaint', 'given form'],
    )
    const { id } = await rowOf(readers, email)
    const lifted = await merchant.post(`${SUPPRESSIONS}/${id}/lift`)
    assert.deepEqual([lifted.status, lifted.body.error.code], [409, 'complaint_stands'])
    assert.equal(await mailable(readers, email), false)
    assert.equal(await mailable(readers, email, 'other'), true)
    await assertConsentsAgree(superuser)
  })

  await t.test('a complaint without a known store stops all stores', async () => {
    for (const [email, tenant_ref] of [
      ['nameless@example.com', null],
      ['elsewhere@example.com', 'no-such-store'],
    ] as const) {
      await join(email)
      assert.equal((await tell({ kind: 'complaint', email, tenant_ref })).body.suppressed, 1)
      assert.equal(await mailable(readers, email), false)
      assert.equal(await rowOf(readers, email), undefined, 'no store is told')
    }
  })

  await t.test('soft bounces are counted: the fifth in thirty days suppresses', async () => {
    const email = 'full@example.com'
    await join(email)
    const bounce = () => tell({ kind: 'soft_bounce', email, tenant_ref: 'acme' })
    for (let n = 1; n <= 4; n++) assert.equal((await bounce()).body.suppressed, 0)
    assert.equal(await rowOf(readers, email), undefined)
    await superuser.query(
      `update mail_suppressions set last_soft_at = now() - interval '31 days' where email = $1`,
      [email],
    )
    for (let n = 1; n <= 4; n++) assert.equal((await bounce()).body.suppressed, 0, 'counted anew')
    assert.equal(await mailable(readers, email), true)
    assert.equal((await bounce()).body.suppressed, 1)
    assert.equal((await bounce()).body.suppressed, 0)
    assert.equal((await rowOf(readers, email)).reason, 'soft_bounces')
    assert.equal(await mailable(readers, email), false)
    const nowhere = await tell({ kind: 'soft_bounce', email: 'x@example.com' })
    assert.deepEqual(nowhere.body, { received: 1, suppressed: 0 })
  })

  await t.test(
    "the provider's reports count once each, also when the same one comes several times at once",
    async () => {
      const email = 'twice@example.com'
      const bounce = (event_id: string) =>
        tell({ kind: 'soft_bounce', email, tenant_ref: 'acme', event_id })
      await Promise.all(Array.from({ length: 8 }, () => bounce('the same')))
      const counted = async () =>
        (
          await superuser.query('select soft_bounces from mail_suppressions where email = $1', [
            email,
          ])
        ).rows[0].soft_bounces
      assert.equal(await counted(), 1)
      const answers = await Promise.all(Array.from({ length: 4 }, () => bounce(randomUUID())))
      assert.equal(await counted(), 5)
      assert.equal(answers.filter(({ body }) => body.suppressed === 1).length, 1)
    },
  )
})

test('feedback is taken from the mail provider alone', async (t) => {
  const { app, tell } = await openReaders(t, { env: { RATE_LIMIT_FAILED_PER_MINUTE: '20' } })
  const url = '/v1/mail/feedback'
  const event = { event_id: '1', kind: 'hard_bounce', email: 'ann@example.com' }
  const body = { events: [event] }
  const text = JSON.stringify(body)
  const old = Date.now() - 600_000
  const other = Buffer.from('some other key of the same length as it').toString('base64')
  const wrong: Record<string, Record<string, string>> = {
    'no signature': { 'content-type': 'application/json' },
    'another key': signFeedback(text, { key: other }),
    'an old request': signFeedback(text, { at: old }),
    'other bytes': signFeedback(`${text} `),
    'the operator token': {
      'content-type': 'application/json',
      'x-operator-token': 'the operator token of every test app',
    },
  }
  for (const [what, headers] of Object.entries(wrong)) {
    const refused = await app.anyone.post(url, body, headers)
    assert.deepEqual([refused.status, refused.body.error.code], [401, 'invalid_signature'], what)
  }
  const bad = await app.anyone.post(url, { events: 'x' })
  assert.equal(bad.body.error.code, 'invalid_signature', 'a stranger learns nothing of the body')
  const send = (sent: unknown) => {
    const json = JSON.stringify(sent)
    return app.anyone.post(url, sent, signFeedback(json))
  }
  await assertRefused(
    [
      ['no event', { events: [] }, 'invalid_body', 'events'],
      ['too many', { events: Array(101).fill(event) }, 'invalid_body', 'events'],
      ['no kind', { events: [{ ...event, kind: 'delivered' }] }, 'invalid_body', 'events.0.kind'],
      ['no address', { events: [{ ...event, email: 'x' }] }, 'invalid_body', 'events.0.email'],
      ['no id', { events: [{ ...event, event_id: '' }] }, 'invalid_body', 'events.0.event_id'],
    ],
    send,
  )
  const listed = await app.operator.get('/v1/mail/suppressions')
  assert.deepEqual(listed.body.suppressions, [], 'nothing of it was stored')
  assert.equal((await tell(event)).status, 200)
  for (let n = 0; n < 20; n++) await app.anyone.post(url, body, wrong['another key'] ?? {})
  const limited = await app.anyone.post(url, body, wrong['another key'] ?? {})
  assert.deepEqual([limited.status, limited.body.error.code], [429, 'rate_limited'])
})

test('no feedback is taken while the operator has set no key', async (t) => {
  const { tell } = await openReaders(t, { env: { MAIL_FEEDBACK_KEY: '' } })
  const answer = await tell({ kind: 'hard_bounce', email: 'ann@example.com' })
  assert.deepEqual([answer.status, answer.body.error.code], [401, 'invalid_signature'])
})

test('a merchant', async (t) => {
  const readers = await openReaders(t)
  const { app, merchant, superuser, join, tell } = readers
  const add = (body: unknown) => merchant.post(SUPPRESSIONS, body)
  const lift = (id: string) => merchant.post(`${SUPPRESSIONS}/${id}/lift`)

  await t.test(
    'suppresses an address and lifts it again, in the audit log without its name',
    async () => {
      await join('ann@example.com')
      const added = await add({ email: 'Ann@example.com', detail: 'a competitor' })
      assert.equal(added.status, 201, added.text)
      const { suppression } = added.body
      assert.deepEqual([suppression.reason, suppression.detail], ['manual', 'a competitor'])
      assert.equal(await mailable(readers, 'ann@example.com'), false)
      const again = await add({ email: 'ANN@example.com' })
      assert.deepEqual([again.status, again.body.suppression], [200, suppression])
      assert.deepEqual((await lift(suppression.id)).body.suppression, suppression)
      assert.equal(await mailable(readers, 'ann@example.com'), true)
      const gone = await lift(suppression.id)
      assert.deepEqual([gone.status, gone.body.error.code], [404, 'suppression_not_found'])
      const { rows } = await superuser.query(
        `select action, audit_log::text as text from audit_log where action like 'mail_suppression%'
        order by created_at`,
      )
      assert.deepEqual(
        rows.map(({ action }) => action),
        ['mail_suppression.added', 'mail_suppression.lifted'],
      )
      assert.ok(!JSON.stringify(rows).toLowerCase().includes('ann@'))
    },
  )

  await t.test('a merchant keeps a manual suppression when the reader joins again', async () => {
    await add({ email: 'rival@example.com' })
    await join('rival@example.com')
    assert.equal(await mailable(readers, 'rival@example.com'), false)
  })

  await t.test('a merchant lifts a bounce for the own store, but not for all stores', async () => {
    await join('bounced@example.com')
    await tell({ kind: 'hard_bounce', email: 'bounced@example.com', tenant_ref: 'acme' })
    const { id } = await rowOf(readers, 'bounced@example.com')
    assert.equal((await lift(id)).status, 200)
    assert.equal(await mailable(readers, 'bounced@example.com'), false)
    const byOperator = (email: string) => app.operator.post('/v1/mail/suppressions/lift', { email })
    assert.deepEqual((await byOperator('BOUNCED@example.com')).body, { lifted: true })
    assert.equal(await mailable(readers, 'bounced@example.com'), true)
    const gone = await byOperator('bounced@example.com')
    assert.deepEqual([gone.status, gone.body.error.code], [404, 'suppression_not_found'])
    assert.equal((await byOperator('nonsense')).body.error.code, 'invalid_body')
  })

  await t.test('a merchant adds an address once, also by many calls at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => add({ email: 'once@example.com' })),
    )
    assert.equal(answers.filter(({ status }) => status === 201).length, 1)
    assert.equal(new Set(answers.map(({ body }) => body.suppression.id)).size, 1)
  })

  await t.test(
    'a merchant lists by reason and address, and does not see suppressions of another store',
    async () => {
      const reasons = async (query: string) =>
        (await merchant.get(`${SUPPRESSIONS}?${query}`)).body.suppressions.map(
          ({ reason }: { reason: string }) => reason,
        )
      await tell({ kind: 'complaint', email: 'spam@example.com', tenant_ref: 'acme' })
      assert.deepEqual(await reasons('reason=complaint'), ['complaint'])
      assert.deepEqual([...new Set(await reasons('reason=manual'))], ['manual'])
      assert.deepEqual(await reasons('email=spam@example.com&reason=manual'), [])
      const other = await app.merchant('other')
      assert.deepEqual((await other.get(SUPPRESSIONS)).body.suppressions, [])
      const { id } = await rowOf(readers, 'spam@example.com')
      const theirs = await other.post(`${SUPPRESSIONS}/${id}/lift`)
      const nobodys = await other.post(`${SUPPRESSIONS}/${randomUUID()}/lift`)
      assert.deepEqual(essence(theirs), essence(nobodys))
    },
  )

  await t.test('a merchant needs the scope and a valid address', async () => {
    const reader = await app.merchant('acme', 'read:own_customers')
    for (const answer of [
      await reader.get(SUPPRESSIONS),
      await reader.post(SUPPRESSIONS, { email: 'a@b.example' }),
      await reader.post(`${SUPPRESSIONS}/${randomUUID()}/lift`),
    ]) {
      assert.equal(answer.status, 403)
    }
    await assertRefused(
      [
        ['none', {}, 'invalid_body', 'email'],
        ['no address', { email: 'a@b@' }, 'invalid_body', 'email'],
        [
          'a long reason',
          { email: 'a@b.example', detail: 'x'.repeat(501) },
          'invalid_body',
          'detail',
        ],
      ],
      add,
    )
  })
})
