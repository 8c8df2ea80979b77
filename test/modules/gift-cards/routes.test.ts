import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { Writable } from 'node:stream'
import { before, describe, test } from 'node:test'
import type pg from 'pg'
import { eraseOldCodes, expireDue } from '../../../src/modules/gift-cards/jobs.ts'
import { createLogger } from '../../../src/platform/log.ts'
import { type Caller, openTestApp, type TestApp } from '../../harness/app.ts'
import { assertOracles } from '../../harness/oracles.ts'
import { suiteScope } from '../../harness/scope.ts'
import { dumpText } from '../../harness/superuser.ts'

let app: TestApp
let acme: Caller
let superuser: pg.Client
const logged: string[] = []

const scope = suiteScope()
before(async () => {
  const destination = new Writable({
    write(chunk, _encoding, done) {
      logged.push(String(chunk))
      done()
    },
  })
  app = await openTestApp(scope, {
    logger: createLogger('trace', destination),
  })
  acme = await app.merchant('acme', 'manage:own_giftcards')
  superuser = await app.database.openAdmin()
  await enable('acme')
})

const enable = async (tenant: string) => {
  const owner = await app.merchant(tenant, 'write:own_store')
  await owner.post('/v1/merchant/entitlements/enable', { feature_key: 'gift_cards' })
}

const URL = '/v1/merchant/gift-cards'
const keyed = (key: string = randomUUID()) => ({ 'idempotency-key': key })

const issue = async (body: object = {}) => {
  const made = await acme.post(URL, { initial_balance_cents: 5_000, ...body }, keyed())
  assert.equal(made.status, 201, made.text)
  return made.body as { gift_card: { id: string; code_last4: string }; code: string }
}

const balance = (code: string) =>
  app.storefront.post('/v1/tenants/acme/gift-cards/balance', { code })

const age = (id: string, interval: string) =>
  superuser.query(
    `update gift_cards
        set created_at = created_at - $2::interval, code_until = code_until - $2::interval
      where id = $1`,
    [id, interval],
  )

/** Expires a card, without the check that refuses such a date. */
const expireNow = (id: string) =>
  superuser.query(`update gift_cards set expires_at = now() - interval '1 second' where id = $1`, [
    id,
  ])

const transactionsOf = async (id: string) =>
  (await acme.get(`${URL}/${id}/transactions`)).body.transactions as {
    type: string
    event: string
    amount_cents: number
    balance_after_cents: number
  }[]

describe('issuing a gift card', () => {
  test('shows the card and its code', async () => {
    const request = {
      initial_balance_cents: 2_500,
      expires_at: '2999-01-01T00:00:00.000Z',
      recipient_email: 'ann@example.com',
      customer_ref: 'Łukasz',
      note: 'For Ann',
    }
    const { status, body } = await acme.post(URL, request, keyed())
    assert.equal(status, 201)
    const { id, created_at, updated_at, ...card } = body.gift_card
    assert.deepEqual(card, {
      ...request,
      code_last4: body.code.slice(-4),
      balance_cents: 2_500,
      held_cents: 0,
      currency: 'USD',
      status: 'active',
      issued_order_id: null,
      order_item_id: null,
      send_at: null,
      sent_at: null,
      refund_pending: false,
    })
    assert.deepEqual((await acme.get(`${URL}/${id}`)).body.gift_card, body.gift_card)
    const lines = await transactionsOf(id)
    assert.deepEqual(
      lines.map(({ type, event, amount_cents, balance_after_cents }) => [
        type,
        event,
        amount_cents,
        balance_after_cents,
      ]),
      [['credit', 'issue', 2_500, 2_500]],
    )
    assert.match(created_at + updated_at, /Z.*Z/)
  })

  test("uses the store's currency unless the request names another", async () => {
    const euro = await acme.post(URL, { initial_balance_cents: 1, currency: 'EUR' }, keyed())
    assert.equal(euro.body.gift_card.currency, 'EUR')
  })

  test('happens once for each key, and a replay shows the code for a day', async () => {
    const key = keyed()
    const body = { initial_balance_cents: 700 }
    const first = await acme.post(URL, body, key)
    const again = await acme.post(URL, body, key)
    assert.equal(again.text, first.text)
    assert.equal(again.headers['idempotent-replayed'], 'true')
    assert.match(first.body.code, /^(?:.{4}-){3}.{4}$/)
    await age(first.body.gift_card.id, '23 hours 59 minutes')
    assert.equal((await acme.post(URL, body, key)).text, first.text)
    await age(first.body.gift_card.id, '2 minutes')
    const late = await acme.post(URL, body, key)
    assert.deepEqual(late.body, { ...first.body, code: null })
    const other = await acme.post(URL, { initial_balance_cents: 701 }, key)
    assert.deepEqual([other.status, other.body.error.code], [422, 'idempotency_key_reused'])
  })

  test('stores the code only encrypted, and after a day not at all', async () => {
    const { gift_card, code } = await issue()
    assert.equal((await balance(code)).status, 200)
    assert.equal((await balance(`${code.slice(0, -1)}?`)).status, 404)
    const bare = code.replaceAll('-', '')
    const hidden = [code, bare, code.toLowerCase(), Buffer.from(code).toString('hex')]
    const dump = await dumpText(superuser)
    const log = logged.join('')
    assert.ok(log.includes('gift-cards'), 'the log was written')
    for (const each of hidden) {
      assert.ok(!dump.includes(each), 'the database shows the code')
      assert.ok(!log.includes(each), 'the log shows the code')
    }
    const sealed = async () =>
      (await superuser.query('select code_sealed from gift_cards where id = $1', [gift_card.id]))
        .rows[0].code_sealed
    assert.ok(await sealed())
    await eraseOldCodes(app.runtime.workerDatabase)
    assert.ok(await sealed(), 'not before its time')
    await age(gift_card.id, '25 hours')
    assert.ok((await eraseOldCodes(app.runtime.workerDatabase)) >= 1)
    assert.equal(await sealed(), null)
    assert.equal((await balance(code)).status, 200, 'the card itself still works')
  })

  test('erases the codes of many cards in steps, and waits for no locked card', async () => {
    const { gift_card } = await issue()
    const batch = { count: 1_000, initial_balance_cents: 100 }
    const made = await acme.post(`${URL}/batch`, batch, { 'idempotency-key': randomUUID() })
    assert.equal(made.status, 201, made.text)
    await superuser.query(
      `update gift_cards set code_until = now() - interval '1 hour' where tenant_ref = 'acme'`,
    )
    const left = async () => {
      const { rows } = await superuser.query(
        'select id from gift_cards where code_sealed is not null',
      )
      return rows.map(({ id }) => id)
    }
    const before = (await left()).length
    assert.ok(before > 1_000)
    await superuser.query('begin')
    await superuser.query('select from gift_cards where id = $1 for update', [gift_card.id])
    const worker = app.runtime.workerDatabase
    assert.equal(await eraseOldCodes(worker), 1_000, 'no more are locked at a time')
    while ((await eraseOldCodes(worker)) > 0);
    assert.deepEqual(await left(), [gift_card.id], 'a checkout has it')
    await superuser.query('commit')
    assert.equal(await eraseOldCodes(worker), 1)
    assert.deepEqual(await left(), [])
  })

  const refused: Record<string, object> = {
    'no balance': {},
    'a balance of nothing': { initial_balance_cents: 0 },
    'a balance below nothing': { initial_balance_cents: -1 },
    'a fraction': { initial_balance_cents: 1.5 },
    'a text': { initial_balance_cents: '100' },
    'too much': { initial_balance_cents: 100_000_000_001 },
    'a currency that is none': { initial_balance_cents: 1, currency: 'usd' },
    'an unknown currency': { initial_balance_cents: 1, currency: 'UDS' },
    'a date that has passed': { initial_balance_cents: 1, expires_at: '2020-01-01T00:00:00Z' },
    'a date after the year 9999': {
      initial_balance_cents: 1,
      expires_at: '9999-12-31T23:59:59-14:00',
    },
    'a date that is none': { initial_balance_cents: 1, expires_at: 'tomorrow' },
    'an address that is none': { initial_balance_cents: 1, recipient_email: 'ann' },
    'a customer without a name': { initial_balance_cents: 1, customer_ref: '' },
    'a customer with a line break': { initial_balance_cents: 1, customer_ref: 'a\nb' },
  }
  for (const [what, body] of Object.entries(refused)) {
    test(`refuses ${what}`, async () => {
      const answer = await acme.post(URL, body, keyed())
      assert.deepEqual([answer.status, answer.body.error.code], [400, 'invalid_body'])
    })
  }

  test('needs a key', async () => {
    const answer = await acme.post(URL, { initial_balance_cents: 1 })
    assert.deepEqual([answer.status, answer.body.error.code], [400, 'idempotency_key_required'])
  })
})

describe('issuing a batch', () => {
  test('creates the requested number of cards, each with its own code', async () => {
    const key = keyed()
    const body = { count: 25, initial_balance_cents: 300, note: 'fair' }
    const first = await acme.post(`${URL}/batch`, body, key)
    assert.equal(first.status, 201)
    const cards = first.body.gift_cards as { id: string; code: string; balance_cents: number }[]
    assert.equal(new Set(cards.map(({ code }) => code)).size, 25)
    assert.ok(cards.every(({ balance_cents }) => balance_cents === 300))
    assert.equal((await balance(cards[24]?.code ?? '')).body.gift_card.balance_cents, 300)
    const again = await acme.post(`${URL}/batch`, body, key)
    assert.equal(again.text, first.text)
    assert.equal(again.headers['idempotent-replayed'], 'true')
    await assertOracles(superuser)
  })

  test('accepts at most a thousand', async () => {
    const most = { count: 1_000, initial_balance_cents: 1 }
    assert.equal((await acme.post(`${URL}/batch`, most, keyed())).body.gift_cards.length, 1_000)
    for (const count of [0, 1_001, 2.5, '3']) {
      const answer = await acme.post(`${URL}/batch`, { ...most, count }, keyed())
      assert.deepEqual([answer.status, answer.body.error.code], [400, 'invalid_body'])
    }
  })
})

describe('the add-on', () => {
  test('is needed to write and not to read, and a refused key can be used again once it is on', async () => {
    const bare = await app.merchant('initech', 'manage:own_giftcards')
    const key = keyed()
    const refused = await bare.post(URL, { initial_balance_cents: 1 }, key)
    assert.deepEqual([refused.status, refused.body.error.code], [403, 'feature_not_enabled'])
    assert.equal(refused.body.feature_key, 'gift_cards')
    assert.equal((await bare.get(URL)).status, 200)
    const unknownCard = `${URL}/${randomUUID()}`
    const early = [
      await bare.post(`${unknownCard}/adjust`, { delta_cents: 1, reason: 'why' }, keyed()),
      await bare.post(`${unknownCard}/disable`),
      await bare.patch(unknownCard, { note: 'x' }),
    ]
    for (const { status, body } of early) {
      assert.deepEqual([status, body.error.code], [403, 'feature_not_enabled'], 'whatever the card')
    }
    await enable('initech')
    const made = await bare.post(URL, { initial_balance_cents: 1 }, key)
    assert.equal(made.status, 201)
    const rule = '/v1/entitlements/tenants/initech/features/gift_cards'
    await app.operator.put(rule, { state: 'deny' })
    const { id } = made.body.gift_card
    const writes = [
      bare.post(URL, { initial_balance_cents: 1 }, keyed()),
      bare.post(`${URL}/batch`, { count: 1, initial_balance_cents: 1 }, keyed()),
      bare.post(`${URL}/${id}/adjust`, { delta_cents: 1, reason: 'why' }, keyed()),
      bare.post(`${URL}/${id}/disable`),
      bare.post(`${URL}/${id}/enable`),
      bare.patch(`${URL}/${id}`, { note: 'x' }),
    ]
    for (const { status, body } of await Promise.all(writes)) {
      assert.deepEqual([status, body.error.code], [403, 'operator_restricted'])
    }
    assert.equal((await bare.get(`${URL}/${id}`)).status, 200)
    assert.equal((await bare.post(URL, { initial_balance_cents: 1 }, key)).text, made.text)
  })
})

describe('lists', () => {
  test('are filtered by status and by the last four letters of the code', async () => {
    const { gift_card } = await issue()
    await acme.post(`${URL}/${gift_card.id}/disable`)
    const disabled = await acme.get(`${URL}?status=disabled`)
    assert.deepEqual(
      disabled.body.gift_cards.map(({ id }: { id: string }) => id),
      [gift_card.id],
    )
    assert.equal(disabled.body.total, 1)
    const found = await acme.get(`${URL}?last4=${gift_card.code_last4.toLowerCase()}`)
    assert.ok(found.body.gift_cards.some(({ id }: { id: string }) => id === gift_card.id))
    const page = await acme.get(`${URL}?limit=2&offset=1`)
    assert.deepEqual([page.body.gift_cards.length, page.body.limit, page.body.offset], [2, 2, 1])
  })
})

describe('adjusting', () => {
  const adjust = (id: string, delta_cents: number, key = keyed()) =>
    acme.post(`${URL}/${id}/adjust`, { delta_cents, reason: 'counted again' }, key)

  test('adds and deducts, down to 0 and back', async () => {
    const { gift_card } = await issue()
    const more = await adjust(gift_card.id, 250)
    assert.deepEqual([more.status, more.body.gift_card.balance_cents], [200, 5_250])
    const none = (await adjust(gift_card.id, -5_250)).body.gift_card
    assert.deepEqual([none.balance_cents, none.status], [0, 'depleted'])
    const back = (await adjust(gift_card.id, 1)).body.gift_card
    assert.deepEqual([back.balance_cents, back.status], [1, 'active'])
    const lines = await transactionsOf(gift_card.id)
    assert.deepEqual(
      lines.map(({ type, amount_cents, balance_after_cents }) => [
        type,
        amount_cents,
        balance_after_cents,
      ]),
      [
        ['credit', 1, 1],
        ['debit', 5_250, 0],
        ['credit', 250, 5_250],
        ['credit', 5_000, 5_000],
      ],
    )
    await assertOracles(superuser)
  })

  test('happens once for each key, also with concurrent requests', async () => {
    const { gift_card } = await issue()
    const key = keyed()
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => adjust(gift_card.id, -1, key)),
    )
    assert.ok(answers.every(({ status, text }) => status === 200 && text === answers[0]?.text))
    assert.equal((await acme.get(`${URL}/${gift_card.id}`)).body.gift_card.balance_cents, 4_999)
  })

  test('refuses more than the balance, and more than the limit', async () => {
    const { gift_card } = await issue()
    const less = await adjust(gift_card.id, -5_001)
    assert.deepEqual([less.status, less.body.error.code], [422, 'insufficient_balance'])
    assert.equal(less.body.available_cents, 5_000)
    const more = await adjust(gift_card.id, 100_000_000_000)
    assert.deepEqual([more.status, more.body.error.code], [422, 'balance_limit_exceeded'])
    for (const delta of [0, 0.5, 1e12]) {
      const answer = await adjust(gift_card.id, delta)
      assert.deepEqual([answer.status, answer.body.error.code], [400, 'invalid_body'])
    }
    const noReason = await acme.post(`${URL}/${gift_card.id}/adjust`, { delta_cents: 1 }, keyed())
    assert.deepEqual([noReason.status, noReason.body.error.code], [400, 'invalid_body'])
  })
})

describe('disabling, enabling and changing', () => {
  test('can be repeated and undone', async () => {
    const { gift_card, code } = await issue()
    const url = `${URL}/${gift_card.id}`
    for (let n = 0; n < 2; n++) {
      const off = await acme.post(`${url}/disable`)
      assert.deepEqual([off.status, off.body.gift_card.status], [200, 'disabled'])
    }
    assert.equal((await balance(code)).status, 404)
    for (let n = 0; n < 2; n++) {
      const on = await acme.post(`${url}/enable`)
      assert.deepEqual([on.status, on.body.gift_card.status], [200, 'active'])
    }
    assert.equal((await balance(code)).status, 200)
  })

  test('changes the expiry and the note separately', async () => {
    const { gift_card } = await issue({ note: 'before' })
    const url = `${URL}/${gift_card.id}`
    const expires_at = '2999-12-31T00:00:00.000Z'
    const dated = (await acme.patch(url, { expires_at })).body.gift_card
    assert.deepEqual([dated.expires_at, dated.note], [expires_at, 'before'])
    const noted = (await acme.patch(url, { note: null })).body.gift_card
    assert.deepEqual([noted.expires_at, noted.note], [expires_at, null])
    // A time zone offset that PostgreSQL does not read.
    const far = await acme.patch(url, { expires_at: '2999-12-31T00:00:00+23:59' })
    assert.equal(far.body.gift_card.expires_at, '2999-12-30T00:01:00.000Z')
    assert.equal((await acme.patch(url, { expires_at: null })).body.gift_card.expires_at, null)
    assert.equal((await acme.patch(url, { other: 1 })).status, 200)
    const past = await acme.patch(url, { expires_at: '2020-01-01T00:00:00Z' })
    assert.deepEqual([past.status, past.body.error.code], [400, 'invalid_body'])
  })
})

describe('an expired card', () => {
  test('can no longer be used, and its remaining balance is booked as breakage', async () => {
    const { gift_card, code } = await issue({ expires_at: '2999-01-01T00:00:00Z' })
    const url = `${URL}/${gift_card.id}`
    await expireNow(gift_card.id)
    assert.equal((await acme.get(url)).body.gift_card.status, 'expired')
    assert.equal((await balance(code)).status, 404)
    assert.equal(await expireDue(app.runtime.workerDatabase), 1)
    assert.equal(await expireDue(app.runtime.workerDatabase), 0)
    const { status, balance_cents } = (await acme.get(url)).body.gift_card
    assert.deepEqual([status, balance_cents], ['expired', 0])
    assert.equal((await transactionsOf(gift_card.id))[0]?.type, 'expire')
    const booked = await superuser.query(
      `select e.amount_cents from ledger_entries e
         join ledger_journals j on j.tenant_ref = e.tenant_ref and j.id = e.journal_id
        where j.ref = $1 and j.kind = 'gift_card.expired' and e.account = 'breakage'`,
      [gift_card.id],
    )
    assert.deepEqual(booked.rows, [{ amount_cents: '-5000' }])
    const writes = [
      acme.post(`${url}/disable`),
      acme.post(`${url}/enable`),
      acme.patch(url, { expires_at: null }),
      acme.post(`${url}/adjust`, { delta_cents: 1, reason: 'why' }, keyed()),
    ]
    for (const { status, body } of await Promise.all(writes)) {
      assert.deepEqual([status, body.error.code], [409, 'invalid_transition'])
      assert.deepEqual([body.current_status, body.allowed], ['expired', []])
    }
    assert.equal((await acme.patch(url, { note: 'gone' })).status, 200)
    await assertOracles(superuser)
  })
})

describe('the balance of a code', () => {
  test('is shown for every spelling of the code', async () => {
    const { code, gift_card } = await issue()
    const { body } = await balance(code.toLowerCase().replaceAll('-', ' '))
    assert.deepEqual(body, {
      gift_card: {
        code_last4: gift_card.code_last4,
        balance_cents: 5_000,
        currency: 'USD',
        status: 'active',
        expires_at: null,
      },
    })
  })

  test('gets one refusal for every reason, equal byte for byte', async () => {
    const disabled = await issue()
    await acme.post(`${URL}/${disabled.gift_card.id}/disable`)
    const expired = await issue({ expires_at: '2999-01-01T00:00:00Z' })
    await expireNow(expired.gift_card.id)
    await enable('globex')
    const globex = await app.merchant('globex', 'manage:own_giftcards')
    const foreign = (await globex.post(URL, { initial_balance_cents: 9 }, keyed())).body
    const codes = [
      disabled.code,
      expired.code,
      foreign.code,
      '0000-0000-0000-0000',
      'not a code',
      '',
      'x'.repeat(10_000),
    ]
    const answers = await Promise.all(codes.map((code) => balance(code)))
    for (const { status, text } of answers) {
      assert.equal(status, 404)
      assert.equal(text, answers[0]?.text)
    }
    assert.equal(answers[0]?.body.error.code, 'gift_card_not_found')
    const none = await app.storefront.post('/v1/tenants/acme/gift-cards/balance', {})
    assert.deepEqual([none.status, none.body.error.code], [400, 'invalid_body'])
    const unknownStore = await app.storefront.post('/v1/tenants/nobody/gift-cards/balance', {
      code: 'x',
    })
    assert.deepEqual([unknownStore.status, unknownStore.body.error.code], [404, 'unknown_tenant'])
  })

  test('can be read twenty times a minute, with right or wrong codes', async () => {
    // A store of its own: what other tests have read counts in the minute of theirs.
    await enable('hasty')
    const hasty = await app.merchant('hasty', 'manage:own_giftcards')
    const { code } = (await hasty.post(URL, { initial_balance_cents: 9 }, keyed())).body
    const read = () => app.storefront.post('/v1/tenants/hasty/gift-cards/balance', { code })
    const statuses = new Set<number>()
    for (let n = 0; n < 22; n++) statuses.add((await read()).status)
    assert.ok(statuses.has(429), [...statuses].join())
    const spent = await read()
    assert.deepEqual([spent.status, spent.body.error.code], [429, 'rate_limited'])
    assert.ok(Number(spent.headers['retry-after']) > 0)
  })
})
