import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { systemClock } from '../../../src/kernel/clock.ts'
import { HOUR_MS } from '../../../src/kernel/time.ts'
import { addHitsToBans } from '../../../src/modules/fraud/jobs.ts'
import type { Facts } from '../../../src/modules/fraud/schema.ts'
import { scoreRisk } from '../../../src/modules/fraud/score.ts'
import * as fraud from '../../../src/modules/fraud/service.ts'
import { readCard } from '../../../src/modules/payments/card.ts'
import { SYSTEM } from '../../../src/platform/audit.ts'
import { openTestApp } from '../../harness/app.ts'
import { assertRefused, keysOf, times } from '../../harness/refusals.ts'
import { openSuperuser } from '../../harness/superuser.ts'

const URL = '/v1/merchant/fraud/bans'
const FINGERPRINT = 'a4c2e8f0a4c2e8f0a4c2e8f0a4c2e8f0'
const later = (ms = HOUR_MS) => new Date(Date.now() + ms).toISOString()

const SPRINGFIELD = {
  line1: '2 Main St.',
  line2: null,
  city: 'Springfield',
  state: 'IL',
  postal_code: '62704',
  country: 'US',
}

test('the bans of a store', async (t) => {
  const app = await openTestApp(t)
  const superuser = await openSuperuser(t, app.database)
  const acme = await app.merchant('acme', 'manage:own_fraud')
  const db = await app.store('acme')
  const create = async (body: Record<string, unknown>) => {
    const created = await acme.post(URL, body)
    assert.equal(created.status, 201, created.text)
    return created.body.ban
  }
  const verdict = async (facts: Partial<Facts>) =>
    (await fraud.checkBans(db, { customer_ref: randomUUID(), ...facts })).decision

  await t.test('are shown normalised, with their creator and their expiry', async () => {
    const expires_at = later()
    const body = { kind: 'email', value: 'MALLORY@Example.com', reason: 'chargebacks', expires_at }
    const ban = await create(body)
    const { id, created_at, created_by, ...rest } = ban
    assert.match(created_by, /^merchant_key:/)
    assert.deepEqual(rest, {
      kind: 'email',
      value: 'mallory@example.com',
      action: 'block',
      reason: 'chargebacks',
      expires_at,
      hits: 0,
      active: true,
      lifted_at: null,
      lifted_by: null,
    })
    const read = await acme.get(`${URL}/${id}`)
    assert.deepEqual([read.status, read.body], [200, { ban }])
    const { body: audit } = await app.operator.get('/v1/stores/acme/audit?action=fraud.banned')
    assert.deepEqual(audit.entries[0].after, { kind: 'email', action: 'block', expires_at })
    assert.ok(!JSON.stringify(audit).includes('mallory'), 'the audit log names no person')
  })

  const found: [string, Record<string, unknown>, Partial<Facts>][] = [
    ['an e-mail address', { kind: 'email', value: 'a@b.example' }, { email: 'A@B.EXAMPLE' }],
    [
      'a domain and its subdomains',
      { kind: 'email_domain', value: 'evil.example' },
      { email: 'x@mail.evil.example' },
    ],
    ['an IP address', { kind: 'ip', value: '192.0.2.1' }, { ip: '::ffff:192.0.2.1' }],
    ['a network', { kind: 'cidr', value: '198.51.100.0/25' }, { ip: '198.51.100.99' }],
    ['an IPv6 network', { kind: 'cidr', value: '2001:db8:7::/48' }, { ip: '2001:db8:7:1::5' }],
    ['a customer', { kind: 'customer_ref', value: 'клиент' }, { customer_ref: 'клиент' }],
    ['a card', { kind: 'card_fingerprint', value: FINGERPRINT }, { card_fingerprint: FINGERPRINT }],
    [
      'eight first digits of a card',
      { kind: 'card_bin', value: '40000000' },
      { card_bin: readCard({ ccnumber: '4000000000000002', ccexp: '10/40' }, systemClock).bin },
    ],
    [
      'an IP address with space around it',
      { kind: 'ip', value: '192.0.2.77' },
      { ip: ' 192.0.2.77 ' },
    ],
    [
      'an address padded with spaces',
      { kind: 'address', value: '78 Padded Road 12345 Town' },
      { address: { line1: `78 Padded Road${' .'.repeat(400)} 12345 Town` } },
    ],
    [
      'an address with invisible characters',
      { kind: 'address', value: '77 Unseen Road' },
      { address: { line1: '77 Un\ufe0fseen\u2060 Road' } },
    ],
    ['the first digits of a card', { kind: 'card_bin', value: '411111' }, { card_bin: '41111122' }],
    ['an address', { kind: 'address', value: '1 Bad St.' }, { address: { line1: '1, bad st' } }],
    ...[
      '2 Main St, 62704 Springfield, US',
      '2 Main St, Springfield 62704, US',
      '2 Main St, Springfield, IL 62704, US',
      '2 Main St, Springfield, 62704 IL',
      '2 Main St, 62704 Springfield',
    ].map((value): [string, Record<string, unknown>, Partial<Facts>] => [
      `an address typed as ${value}`,
      { kind: 'address', value },
      { address: SPRINGFIELD },
    ]),
  ]
  for (const [what, body, facts] of found) {
    await t.test(`match ${what} until lifted`, async () => {
      assert.equal(await verdict(facts), 'allow')
      const ban = await create({ ...body, action: 'review' })
      assert.equal(await verdict(facts), 'review')
      assert.equal(await verdict({ email: 'nobody@else.example', ip: '203.0.113.9' }), 'allow')
      const globex = await app.store('globex')
      const elsewhere = await fraud.checkBans(globex, { customer_ref: randomUUID(), ...facts })
      assert.deepEqual(elsewhere, { decision: 'allow', ban_ids: [], settings: null })
      const lifted = await acme.post(`${URL}/${ban.id}/lift`)
      assert.equal(lifted.status, 200, lifted.text)
      assert.deepEqual(
        [lifted.body.ban.active, typeof lifted.body.ban.lifted_at],
        [false, 'string'],
      )
      assert.equal(await verdict(facts), 'allow')
      const again = await acme.post(`${URL}/${ban.id}/lift`)
      assert.deepEqual([again.status, again.body], [200, lifted.body])
    })
  }

  await t.test(
    'bans that block win over bans that ask for a review, and all matching bans are named',
    async () => {
      const review = await create({ kind: 'ip', value: '203.0.113.77', action: 'review' })
      const block = await create({ kind: 'email', value: 'both@x.example' })
      const facts = { customer_ref: 'c', ip: '203.0.113.77', email: 'both@x.example' }
      const { decision, ban_ids } = await fraud.checkBans(db, facts)
      assert.equal(decision, 'block')
      assert.deepEqual(ban_ids.toSorted(), [review.id, block.id].toSorted())
    },
  )

  await t.test('are unique for each value, also with concurrent requests', async () => {
    const body = { kind: 'ip', value: '203.0.113.1' }
    const answers = await times(5, () => acme.post(URL, body))
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409, 409, 409])
    const [won] = answers.filter(({ status }) => status === 201)
    const [lost] = answers.filter(({ status }) => status === 409)
    assert.equal(lost?.body.error.code, 'ban_exists')
    assert.equal(lost?.body.ban_id, won?.body.ban.id)
    await acme.post(`${URL}/${won?.body.ban.id}/lift`)
    await create(body)
  })

  await t.test('expire, and then the value can be banned again', async () => {
    const ban = await create({ kind: 'ip', value: '203.0.113.2', expires_at: later() })
    await superuser.query(
      `update fraud_bans set created_at = now() - interval '2 hours',
              expires_at = now() - interval '1 hour' where id = $1`,
      [ban.id],
    )
    assert.equal(await verdict({ ip: '203.0.113.2' }), 'allow')
    assert.equal((await acme.get(`${URL}/${ban.id}`)).body.ban.active, false)
    const next = await create({ kind: 'ip', value: '203.0.113.2' })
    assert.notEqual(next.id, ban.id)
    const { lifted_at, expires_at, lifted_by } = (await acme.get(`${URL}/${ban.id}`)).body.ban
    assert.deepEqual([lifted_at, lifted_by], [expires_at, 'system'])
  })

  await t.test('never show a fingerprint, not even in the database', async () => {
    await create({ kind: 'card_fingerprint', value: FINGERPRINT })
    const listed = await acme.get(`${URL}?kind=card_fingerprint`)
    assert.match(listed.body.bans[0].value, /^[0-9a-f]{12}$/)
    assert.ok(!listed.text.includes(FINGERPRINT))
    const { rows } = await superuser.query(`select b::text from fraud_bans b`)
    assert.ok(!JSON.stringify(rows).includes(FINGERPRINT))
  })

  await t.test('are listed newest first, by kind and by whether they are active', async () => {
    const globex = await app.merchant('globex', 'manage:own_fraud')
    for (const n of [1, 2, 3]) {
      await globex.post(URL, { kind: 'customer_ref', value: `c${n}` })
    }
    const { body: all } = await globex.get(URL)
    await globex.post(`${URL}/${all.bans[0].id}/lift`)
    await globex.post(URL, { kind: 'ip', value: '192.0.2.9' })
    const values = async (query: string) => {
      const { bans, ...page } = (await globex.get(URL + query)).body
      return [bans.map(({ value }: { value: string }) => value), page.total]
    }
    assert.deepEqual(await values(''), [['192.0.2.9', 'c3', 'c2', 'c1'], 4])
    assert.deepEqual(await values('?active=true&kind=customer_ref'), [['c2', 'c1'], 2])
    assert.deepEqual(await values('?active=false'), [['c3'], 1])
    assert.deepEqual(await values('?limit=1&offset=1'), [['c3'], 4])
    const odd = await globex.get(`${URL}?kind=nonsense&active=perhaps`)
    assert.deepEqual([odd.status, odd.body.issues.length], [400, 2])
  })

  await t.test('are refused if they are not valid', async () => {
    const refused = [
      ['nothing', {}, 'kind'],
      ['an unknown kind', { kind: 'mood', value: 'bad' }, 'kind'],
      ['an invalid address', { kind: 'email', value: 'mallory' }, 'value'],
      ['the whole internet', { kind: 'cidr', value: '0.0.0.0/0' }, 'value'],
      ['a blank', { kind: 'address', value: '   ' }, 'value'],
      ['a text that is too long', { kind: 'address', value: 'a'.repeat(501) }, 'value'],
      ['another action', { kind: 'ip', value: '192.0.2.8', action: 'shout' }, 'action'],
      ['an expiry in the past', { kind: 'ip', value: '192.0.2.8', expires_at: later(-1) }],
      ['an invalid expiry', { kind: 'ip', value: '192.0.2.8', expires_at: 'soon' }, 'expires_at'],
    ].map(([what, body, path]) => [what, body, 'invalid_body', path] as const)
    await assertRefused(refused as never, (body) => acme.post(URL, body))
    for (const id of [randomUUID(), 'no-id']) {
      assert.equal((await acme.get(`${URL}/${id}`)).body.error.code, 'ban_not_found')
      assert.equal((await acme.post(`${URL}/${id}/lift`)).body.error.code, 'ban_not_found')
    }
  })

  await t.test('count their hits, before and after the hits are added up', async () => {
    const ban = await create({ kind: 'customer_ref', value: 'often' })
    const decide = () =>
      db.transaction('decide', async (tx) => {
        const { ban_ids } = await fraud.checkBans(tx, { customer_ref: 'often' })
        const { score, signals, decision } = scoreRisk({ ban: 'block' })
        await fraud.record(tx, { order_id: null, score, signals, decision, ban_ids })
      })
    const hits = async () => (await acme.get(`${URL}/${ban.id}`)).body.ban.hits
    await times(5, decide)
    assert.equal(await hits(), 5)
    assert.equal(await addHitsToBans(app.database.open('fd_worker')), 5)
    assert.equal(await hits(), 5)
    await decide()
    assert.equal(await hits(), 6)
    const { rows } = await superuser.query('select hits::int from fraud_bans where id = $1', [
      ban.id,
    ])
    assert.equal(rows[0].hits, 5)
  })

  await t.test('can be created from the facts of an order', async () => {
    await create({ kind: 'email', value: 'bad@order.example', action: 'review' })
    const facts = { customer_ref: 'c-9', email: 'Bad@order.example', ip: '192.0.2.50' }
    const kinds = ['email', 'email_domain', 'ip', 'cidr', 'card_bin', 'customer_ref'] as const
    const bans = await db.transaction('ban', (tx) =>
      fraud.banFacts(tx, SYSTEM, facts, { kinds, reason: 'dispute' }),
    )
    const created = bans.map(({ kind, value, action }) => `${kind} ${value} ${action}`).sort()
    assert.deepEqual(created, [
      'customer_ref c-9 block',
      'email bad@order.example block',
      'email_domain order.example block',
      'ip 192.0.2.50 block',
    ])
  })
})

test('the decisions of a store are listed newest first, by outcome', async (t) => {
  const app = await openTestApp(t)
  const acme = await app.merchant('acme', 'manage:own_fraud')
  const db = await app.store('acme')
  const order_id = randomUUID()
  for (const observed of [{}, { avs: 'N', cvv: 'N', fraud_signal: true }]) {
    await db.transaction('decide', (tx) => fraud.record(tx, { order_id, ...scoreRisk(observed) }))
  }
  await db.transaction('decide', (tx) =>
    fraud.record(tx, { order_id: null, ...scoreRisk({ ban: 'block' }) }),
  )
  const list = async (query = '') => (await acme.get(`/v1/merchant/fraud/decisions${query}`)).body
  const decided = async (query: string) =>
    (await list(query)).decisions.map(({ decision }: { decision: string }) => decision)

  const { decisions, ...page } = await list()
  assert.deepEqual(page, { total: 3, limit: 25, offset: 0 })
  assert.deepEqual(decisions[0].signals, [{ signal: 'ban', points: 130, detail: 'block' }])
  assert.deepEqual(keysOf(decisions[0]), [
    'ban_ids',
    'created_at',
    'decision',
    'id',
    'order_id',
    'score',
    'signals',
  ])
  assert.deepEqual(await decided(`?order_id=${order_id}`), ['review', 'accepted'])
  assert.deepEqual(await decided('?decision=rejected'), ['rejected'])
  assert.deepEqual(await decided(`?order_id=${randomUUID()}`), [])
  assert.deepEqual(await decided('?order_id=no-id'), [], 'an invalid filter matches nothing')
  assert.deepEqual(await decided('?limit=1&offset=1'), ['review'])
})
