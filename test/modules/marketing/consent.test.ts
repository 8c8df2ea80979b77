import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { sql } from '../../../src/db/sql.ts'
import { mayBeMailed, networkOf } from '../../../src/modules/marketing/consent.ts'
import { openTestApp } from '../../harness/app.ts'
import { assertConsentsAgree } from '../../harness/people-oracles.ts'
import { assertRefused, essence } from '../../harness/refusals.ts'
import { share } from '../../harness/scope.ts'
import { openSuperuser } from '../../harness/superuser.ts'
import { cart, checkout } from '../checkout/setup.ts'
import { CONSENTS, FEEDBACK_KEY, LIST, openReadersOf } from './readers.ts'

const shared = share(async (scope) => {
  const app = await openTestApp(scope, { env: { MAIL_FEEDBACK_KEY: FEEDBACK_KEY } })
  return { app, superuser: await openSuperuser(scope, app.database) }
})

const openStore = (tenant: string) =>
  openReadersOf(shared.current.app, shared.current.superuser, tenant)

interface Recorded {
  state: string
  source: string
}

const states = (history: Recorded[]) => history.map(({ state, source }) => `${state} ${source}`)

test('the record of a reader', async (t) => {
  const readers = await openStore('acme')
  const { app, merchant, superuser, ask, join, linksTo, press, leaveLink, historyOf } = readers
  const store = await app.store('acme')

  await t.test('has the wording, the time, the place and the mail that confirmed it', async () => {
    const form_url = 'https://acme.example/#newsletter'
    await join('Ann@Example.com', { form_url, ip: '203.0.113.77' })
    const [given, ...more] = await historyOf('ann@EXAMPLE.com')
    assert.deepEqual(more, [])
    const { rows } = await superuser.query(
      `select id, sent_at from mails where tenant_ref = 'acme' and recipient = $1`,
      ['Ann@Example.com'],
    )
    assert.deepEqual(
      [given.state, given.source, given.channel, given.email, given.form, given.form_url],
      ['given', 'form', 'email', 'Ann@Example.com', 'footer', form_url],
    )
    assert.deepEqual([given.mail_id, given.requested_ip], [rows[0].id, '203.0.113.0/24'])
    assert.equal(given.ip, '127.0.0.0/24', 'who pressed the button')
    assert.ok(Date.parse(given.requested_at) <= Date.parse(given.created_at))
    const { sha256, text, version, locale } = given.text
    assert.match(text, /newsletter of The acme store\?\n\[Yes, I want it\]$/)
    assert.equal(sha256, createHash('sha256').update(text).digest('hex'))
    assert.deepEqual([version, locale], ['newsletter-1', 'en'])
  })

  await t.test(
    'has the wording that was shown at the time, also after the store changed it',
    async () => {
      await merchant.patch('/v1/my/store', { display_name: 'Other', language: 'de-AT' })
      await join('berta@example.com')
      const [berta] = await historyOf('berta@example.com')
      assert.equal(berta.text.locale, 'de')
      assert.match(berta.text.text, /Newsletter von Other bekommen/)
      const [ann] = await historyOf('ann@example.com')
      assert.match(ann.text.text, /The acme store/)
      await merchant.patch('/v1/my/store', { display_name: 'The acme store', language: 'en' })
    },
  )

  await t.test('grows by a row for each decision, and not for a repeated one', async () => {
    await join('cara@example.com')
    const [link = ''] = await linksTo('cara@example.com')
    assert.equal((await press(link)).status, 200, 'confirmed again')
    assert.equal((await press(leaveLink('cara@example.com'))).status, 200)
    assert.equal((await press(leaveLink('CARA@example.com'))).status, 200, 'left again')
    await join('cara@example.com')
    const { id } = await readers.subscriber('cara@example.com')
    assert.equal((await merchant.post(`${LIST}/${id}/unsubscribe`)).status, 200)
    assert.deepEqual(states(await historyOf('cara@example.com')), [
      'withdrawn merchant',
      'given form',
      'withdrawn one_click',
      'given form',
    ])
  })

  await t.test('cannot be changed by the platform itself', async () => {
    for (const role of ['fd_app', 'fd_worker'] as const) {
      const db = app.database.open(role).tenant('acme')
      const changing = db.run(sql`update marketing_consents set state = 'given'`)
      await assert.rejects(changing, { code: '42501' }, role)
    }
  })

  await t.test('agrees with the list, however many decisions come at once', async () => {
    await ask('dora@example.com')
    const [yes = ''] = await linksTo('dora@example.com')
    const no = leaveLink('dora@example.com')
    for (let round = 0; round < 4; round++) {
      const pressed = await Promise.all([yes, no, yes, no, yes, no].map((path) => press(path)))
      assert.deepEqual([...new Set(pressed.map(({ status }) => status))], [200])
    }
    assert.ok((await historyOf('dora@example.com')).length >= 2)
    await assertConsentsAgree(superuser)
  })

  await t.test('is found by a customer, through the address of the customer', async () => {
    const customer = { customer_ref: 'ann/1', email: 'ann@example.com' }
    const bought = await checkout(app, readers.shop, cart(readers.shop.variants[1_000], customer))
    assert.equal(bought.status, 201, bought.text)
    const find = (query: Record<string, string>) =>
      merchant.get(`${CONSENTS}?${new URLSearchParams(query)}`)
    const found = await find({ customer_ref: 'ann/1' })
    assert.deepEqual(states(found.body.consents), ['given form'])
    const other = await find({ customer_ref: 'ann/1', email: 'cara@example.com' })
    assert.deepEqual(other.body.consents, [])
    for (const customer_ref of ['nobody', '\u0007']) {
      assert.deepEqual((await find({ customer_ref })).body.consents, [], 'none is found')
    }
    const given = (await find({ state: 'given' })).body.consents as Recorded[]
    assert.ok(given.length > 2 && given.every(({ state }) => state === 'given'))
  })

  await t.test(
    'belongs to one store: another store sees none of it, and decides for itself',
    async () => {
      const other = await app.merchant('other')
      assert.deepEqual((await other.get(`${CONSENTS}?email=ann@example.com`)).body.consents, [])
      const left = await other.post(`${CONSENTS}/withdraw`, { email: 'ann@example.com' })
      assert.deepEqual([left.status, left.body.recorded], [200, true])
      const mailable = async (tenant: string) => [
        ...(await mayBeMailed(await app.store(tenant), ['ann@example.com'])),
      ]
      assert.deepEqual(await mailable('acme'), ['ann@example.com'])
      assert.deepEqual(await mailable('other'), [])
    },
  )

  await t.test('needs the scope of marketing', async () => {
    const reader = await app.merchant('acme', 'read:own_customers')
    const withdrawal = { email: 'ann@example.com' }
    for (const answer of [
      await reader.get(CONSENTS),
      await reader.post(`${CONSENTS}/withdraw`, withdrawal),
      await reader.post(`${CONSENTS}/import`, { consents: [] }),
    ]) {
      assert.deepEqual([answer.status, answer.body.error.code], [403, 'forbidden'])
    }
    assert.equal((await mayBeMailed(store, ['ann@example.com'])).size, 1)
  })
})

test('a merchant', async (t) => {
  const readers = await openStore('globex')
  const { app, shop, merchant, superuser, join, historyOf, leaveLink, press } = readers
  const withdraw = (body: unknown) => merchant.post(`${CONSENTS}/withdraw`, body)

  await t.test(
    'records once that a person wants no mail, also if the person is not on the list',
    async () => {
      await join('ann@example.com')
      const note = 'told us on the phone'
      for (const email of ['ann@example.com', 'stranger@example.com']) {
        const first = await withdraw({ email, note })
        assert.deepEqual(first.body, { consent: { email, state: 'withdrawn' }, recorded: true })
        assert.equal((await withdraw({ email: email.toUpperCase() })).body.recorded, false)
        const [record] = await historyOf(email)
        assert.deepEqual([record.source, record.note], ['merchant', note])
        assert.match(record.actor, /^merchant_key:/)
      }
      const { rows } = await superuser.query(
        `select after::text from audit_log
          where tenant_ref = $1 and action = 'consent.withdrawn'`,
        [shop.tenant],
      )
      assert.equal(rows.length, 2)
      const logged = await superuser.query(`select audit_log::text as text from audit_log`)
      assert.ok(!JSON.stringify(logged.rows).includes('stranger'), 'the log names no address')
    },
  )

  await t.test('is refused bad addresses', async () => {
    await assertRefused(
      [
        ['no address', {}, 'invalid_body', 'email'],
        ['a name', { email: 'ann' }, 'invalid_body', 'email'],
        ['two addresses', { email: 'a@b.example, c@d.example' }, 'invalid_body', 'email'],
        ['a long note', { email: 'a@b.example', note: 'x'.repeat(501) }, 'invalid_body', 'note'],
      ],
      withdraw,
    )
  })

  const evidence = {
    given_at: '2025-04-01T10:00:00Z',
    text: 'Yes, send me offers by e-mail.',
    locale: 'en',
    form: 'old shop',
    form_url: 'https://old.example/signup',
  }
  const bring = (consents: unknown) => merchant.post(`${CONSENTS}/import`, { consents })

  await t.test(
    'imports consents with their evidence, and does not bring back readers who have left',
    async () => {
      await join('kate@example.com')
      await join('left@example.com')
      await press(leaveLink('left@example.com'))
      await readers.ask('asked@example.com')
      const emails = [
        'new@example.com',
        'kate@example.com',
        'LEFT@example.com',
        'asked@example.com',
      ]
      const { body, status } = await bring(
        [...emails, 'NEW@example.com'].map((email) => ({ email, ...evidence })),
      )
      assert.equal(status, 200)
      assert.deepEqual(
        body.results.map(
          (each: { index: number; status: string }) => `${each.index} ${each.status}`,
        ),
        ['0 imported', '1 already_given', '2 withdrawn', '3 imported', '4 repeated'],
      )
      const [record] = await historyOf('new@example.com')
      assert.deepEqual(
        [record.state, record.source, record.text.text, record.requested_at, record.form],
        ['given', 'import', evidence.text, '2025-04-01T10:00:00.000Z', 'old shop'],
      )
      const asked = ['new@example.com', 'left@example.com', 'asked@example.com']
      const mailable = await mayBeMailed(await app.store(shop.tenant), asked)
      assert.deepEqual([...mailable], ['new@example.com', 'asked@example.com'])
      await assertConsentsAgree(superuser)
    },
  )

  await t.test('imports the same address once by two imports at once', async () => {
    const both = Array.from({ length: 6 }, (_, at) => ({
      email: `n${at}@example.com`,
      ...evidence,
    }))
    const answers = await Promise.all([bring(both), bring(both.toReversed())])
    const imported = answers
      .flatMap(({ body }) => body.results)
      .filter(({ status }: { status: string }) => status === 'imported')
    assert.equal(imported.length, 6)
    await assertConsentsAgree(superuser)
  })

  await t.test('is refused consents without evidence', async () => {
    const one = { email: 'x@example.com', ...evidence }
    const { text: _, ...textless } = one
    await assertRefused(
      [
        ['none', [], 'invalid_body', 'consents'],
        ['too many', Array(501).fill(one), 'invalid_body', 'consents'],
        ['no text', [textless], 'invalid_body', 'consents.0.text'],
        [
          'tomorrow',
          [{ ...one, given_at: '2999-01-01T00:00:00Z' }],
          'invalid_body',
          'consents.0.given_at',
        ],
        ['no address', [one, { ...one, email: 'x' }], 'invalid_body', 'consents.1.email'],
      ],
      bring,
    )
    const late = { given_at: '2999-01-01T00:00:00Z' }
    const several = await bring([{ ...one, ...late }, one, { ...one, ...late }])
    assert.deepEqual(
      several.body.issues.map(({ path }: { path: string }) => path),
      ['consents.0.given_at', 'consents.2.given_at'],
    )
    assert.deepEqual(await historyOf('x@example.com'), [], 'a refused import brings none')
  })
})

test('marketing may be sent to readers who agreed and are not suppressed, in any spelling', async () => {
  const { app, shop, merchant, join, tell } = await openStore('initech')
  const store = await app.store(shop.tenant)
  for (const name of ['ann', 'bob', 'cid', 'dan']) await join(`${name}@example.com`)
  await merchant.post('/v1/merchant/marketing/suppressions', { email: 'bob@example.com' })
  await tell({ kind: 'hard_bounce', email: 'cid@example.com' })
  await merchant.post(`${CONSENTS}/withdraw`, { email: 'dan@example.com' })
  const asked = [
    'ANN@example.com',
    'ann@example.com',
    'bob@example.com',
    'cid@example.com',
    'dan@example.com',
    'never@example.com',
    'no address',
  ]
  assert.deepEqual([...(await mayBeMailed(store, asked))], ['ANN@example.com', 'ann@example.com'])
  assert.deepEqual(await mayBeMailed(store, []), new Set())
  const byWorker = app.runtime.workerDatabase.tenant(shop.tenant)
  assert.equal((await mayBeMailed(byWorker, asked)).size, 2, 'the loops ask as fd_worker')
})

test("consent records the network of the reader's IP address, and not the address itself", () => {
  const table = [
    ['203.0.113.77', '203.0.113.0/24'],
    ['203.0.113.77:443', '203.0.113.0/24'],
    ['::ffff:203.0.113.77', '203.0.113.0/24'],
    ['2001:db8:1234:5678::1', '2001:db8:1234::/48'],
    ['[2001:db8:1234:5678::1]:443', '2001:db8:1234::/48'],
    ['nonsense', null],
    ['1', null],
    ['', null],
    [null, null],
  ] as const
  for (const [address, network] of table) assert.equal(networkOf(address), network, String(address))
})

test('an erased person leaves no consent, suppression or figure, and can export all of them before', async () => {
  const readers = await openStore('hooli')
  const { app, shop, merchant, superuser, join, tell } = readers
  const email = `${randomUUID()}@example.com`
  await join(email)
  await tell({ kind: 'soft_bounce', email, tenant_ref: shop.tenant, detail: `full: ${email}` })
  const buyer = { customer_ref: 'ann', email }
  await checkout(app, shop, cart(shop.variants[1_000], buyer))
  const { makeDueExports } = await import('../../../src/modules/privacy/jobs.ts')
  const exportOf = async (customer_ref: string) => {
    const { body } = await merchant.post('/v1/my/privacy/export', { customer_ref })
    const { runtime } = app
    const keys = {
      exportKey: runtime.key('privacy export'),
      customersKey: runtime.key('customers'),
    }
    await makeDueExports(runtime.workerDatabase, keys)
    return (await merchant.get(`/v1/my/privacy/exports/${body.job.id}`)).body.data.marketing
  }
  const exported = await exportOf('ann')
  assert.deepEqual(
    [exported.consents.length, exported.consents[0].state, exported.mail_suppressions.length],
    [1, 'given', 1],
  )
  await checkout(app, shop, cart(shop.variants[1_000], { customer_ref: 'eve', email }))
  assert.equal((await exportOf('eve')).consents, undefined, 'the address may be another person’s')
  const erase = '/v1/my/privacy/erase'
  const { body } = await merchant.post(erase, { customer_ref: 'ann' })
  const key = { 'idempotency-key': randomUUID() }
  const erased = await merchant.post(erase, { customer_ref: 'ann', confirm: body.confirm }, key)
  assert.equal(erased.status, 200, erased.text)
  for (const table of [
    'newsletter_subscribers',
    'marketing_consents',
    'mail_suppressions',
    'segment_people',
    'segment_purchases',
  ]) {
    const { rows } = await superuser.query(`select from ${table} where tenant_ref = $1`, [
      shop.tenant,
    ])
    assert.equal(rows.length, 0, table)
  }
  const known = await merchant.get(`${CONSENTS}?email=${email}`)
  const unknown = await merchant.get(`${CONSENTS}?email=${randomUUID()}@example.com`)
  assert.deepEqual(essence(known), essence(unknown))
})
