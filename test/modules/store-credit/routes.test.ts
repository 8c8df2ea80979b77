import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, describe, test } from 'node:test'
import type pg from 'pg'
import { type Caller, openTestApp, type TestApp } from '../../harness/app.ts'
import { assertOracles } from '../../harness/oracles.ts'
import { suiteScope } from '../../harness/scope.ts'

let app: TestApp
let acme: Caller
let superuser: pg.Client

const scope = suiteScope()
before(async () => {
  app = await openTestApp(scope)
  acme = await app.merchant('acme', 'manage:own_store_credit')
  superuser = await app.database.openAdmin()
  await enable('acme')
})

const enable = async (tenant: string) => {
  const owner = await app.merchant(tenant, 'write:own_store')
  await owner.post('/v1/merchant/entitlements/enable', { feature_key: 'store_credit' })
}

const keyed = (key: string = randomUUID()) => ({ 'idempotency-key': key })
const at = (customer: string, more = '') =>
  `/v1/merchant/store-credit/${encodeURIComponent(customer)}${more}`
const sum = { amount_cents: 1_000, currency: 'USD', reason: 'a gesture' }

const credit = (customer: string, body: object = {}, key = keyed()) =>
  acme.post(at(customer, '/credit'), { ...sum, ...body }, key)
const debit = (customer: string, body: object = {}, key = keyed()) =>
  acme.post(at(customer, '/debit'), { ...sum, ...body }, key)

/** Inserts an order without lines: store credit needs its id only. */
async function placeOrder(tenant: string): Promise<string> {
  const { rows } = await superuser.query(
    `insert into orders (tenant_ref, id, order_number, customer_ref, status, payment_status,
                         fulfillment_status, subtotal_cents, discount_cents, shipping_cents,
                         tax_cents, total_cents, currency, idempotency_key, pricing, risk, placed_at)
     values ($1, gen_random_uuid(), 1, 'ann', 'placed', 'paid',
             'unfulfilled', 0, 0, 0, 0, 0, 'USD', $2, '{}',
             '{"ban": "allow", "ban_ids": [], "velocity": 0}', now())
     returning id`,
    [tenant, randomUUID()],
  )
  return rows[0].id
}

describe('credit', () => {
  test('creates the account, and then adds to it', async () => {
    const order_id = await placeOrder('acme')
    const first = await credit('ann', { order_id })
    assert.equal(first.status, 201)
    const { account, transaction } = first.body
    assert.deepEqual(
      [account.customer_ref, account.currency, account.balance_cents, account.held_cents],
      ['ann', 'USD', 1_000, 0],
    )
    const { id, actor, created_at, ...line } = transaction
    assert.deepEqual(line, {
      currency: 'USD',
      type: 'credit',
      event: 'adjustment',
      amount_cents: 1_000,
      balance_after_cents: 1_000,
      order_id,
      reason: 'a gesture',
    })
    assert.match(actor, /^merchant_key:/)
    assert.ok(id && created_at)
    const second = await credit('ann', { amount_cents: 50 })
    assert.equal(second.body.account.balance_cents, 1_050)
    assert.equal(second.body.transaction.balance_after_cents, 1_050)
    await credit('ann', { currency: 'EUR' })
    const read = await acme.get(at('ann'))
    assert.deepEqual(
      read.body.accounts.map((each: { currency: string; balance_cents: number }) => [
        each.currency,
        each.balance_cents,
      ]),
      [
        ['EUR', 1_000],
        ['USD', 1_050],
      ],
    )
    await assertOracles(superuser)
  })

  test('happens once for each key, also with concurrent requests', async () => {
    const key = keyed()
    const answers = await Promise.all(Array.from({ length: 8 }, () => credit('bob', {}, key)))
    assert.ok(answers.every(({ status, text }) => status === 201 && text === answers[0]?.text))
    assert.equal((await acme.get(at('bob'))).body.accounts[0].balance_cents, 1_000)
    const other = await credit('carol', {}, key)
    assert.deepEqual([other.status, other.body.error.code], [422, 'idempotency_key_reused'])
  })

  const refused: Record<string, object> = {
    'no amount': { amount_cents: undefined },
    'an amount of nothing': { amount_cents: 0 },
    'less than nothing': { amount_cents: -5 },
    'a fraction': { amount_cents: 0.5 },
    'too much': { amount_cents: 100_000_000_001 },
    'no currency': { currency: undefined },
    'a currency that is none': { currency: 'dollars' },
    'an unknown currency': { currency: 'UDS' },
    'no reason': { reason: undefined },
    'an order that is none': { order_id: '17' },
    'a date that has passed': { expires_at: '2020-01-01T00:00:00Z' },
    'a date after the year 9999': { expires_at: '9999-12-31T23:59:59-14:00' },
  }
  for (const [what, body] of Object.entries(refused)) {
    test(`refuses ${what}`, async () => {
      const answer = await credit('dave', body)
      assert.deepEqual([answer.status, answer.body.error.code], [400, 'invalid_body'])
    })
  }

  test('refuses a balance above the limit, and changes nothing', async () => {
    await credit('rich', { amount_cents: 100_000_000_000 })
    const more = await credit('rich', { amount_cents: 1 })
    assert.deepEqual([more.status, more.body.error.code], [422, 'balance_limit_exceeded'])
    const { accounts } = (await acme.get(at('rich'))).body
    assert.equal(accounts[0].balance_cents, 100_000_000_000)
    await assertOracles(superuser)
  })

  test('accepts an expiry with any time zone offset', async () => {
    const made = await credit('zoe', { expires_at: '2999-12-31T00:00:00-23:59' })
    assert.equal(made.status, 201, made.text)
  })

  test('needs a key', async () => {
    const answer = await acme.post(at('ann', '/credit'), sum)
    assert.deepEqual([answer.status, answer.body.error.code], [400, 'idempotency_key_required'])
  })
})

describe('a customer reference', () => {
  const names = [
    '山田太郎',
    'a/b?c#d%e',
    '../../etc',
    'e\u0301 is not \u00e9',
    '💳'.repeat(200),
    ' ',
  ]
  for (const name of names) {
    test(`may be ${JSON.stringify(name.slice(0, 20))}`, async () => {
      const made = await credit(name)
      assert.equal(made.status, 201, made.text)
      assert.equal(made.body.account.customer_ref, name)
      const read = await acme.get(at(name))
      assert.equal(read.body.customer_ref, name)
      assert.equal(read.body.accounts.length, 1)
    })
  }

  test('is distinct from every other, character for character', async () => {
    await credit('Émile')
    for (const other of ['émile', 'E\u0301mile', 'Émile ']) {
      assert.equal((await acme.get(at(other))).status, 404)
    }
  })

  for (const name of ['x'.repeat(201), 'a\nb', '\u0085']) {
    test(`may not be ${JSON.stringify(name.slice(0, 20))}`, async () => {
      const made = await credit(name)
      assert.deepEqual([made.status, made.body.error.code], [400, 'invalid_body'])
      assert.equal(made.body.issues[0].path, 'customer_ref')
      for (const more of ['', '/transactions']) {
        const read = await acme.get(at(name, more))
        assert.deepEqual([read.status, read.body.error.code], [404, 'store_credit_not_found'])
      }
      const list = await acme.get(
        `/v1/merchant/store-credit?customer_ref=${encodeURIComponent(name)}`,
      )
      assert.equal(list.status, 200, list.text)
      assert.equal(list.body.total, 0)
    })
  }
})

test('store credit accepts only an order of the store', async () => {
  await app.merchant('other')
  const foreign = await placeOrder('other')
  await credit('olga')
  for (const order_id of [foreign, randomUUID()]) {
    for (const move of [credit, debit]) {
      const answer = await move('olga', { order_id })
      assert.equal(answer.status, 404, answer.text)
      assert.equal(answer.body.error.code, 'order_not_found')
    }
  }
  const [account] = (await acme.get(at('olga'))).body.accounts
  assert.equal(account.balance_cents, 1_000)
})

describe('debit', () => {
  test('deducts at most the balance', async () => {
    await credit('eve')
    const some = await debit('eve', { amount_cents: 400 })
    assert.equal(some.status, 201)
    assert.equal(some.body.account.balance_cents, 600)
    const { type, event, balance_after_cents } = some.body.transaction
    assert.deepEqual([type, event, balance_after_cents], ['debit', 'adjustment', 600])
    const more = await debit('eve', { amount_cents: 601 })
    assert.deepEqual([more.status, more.body.error.code], [422, 'insufficient_balance'])
    assert.equal(more.body.available_cents, 600)
    const euro = await debit('eve', { currency: 'EUR' })
    assert.deepEqual([euro.status, euro.body.available_cents], [422, 0])
    assert.equal((await debit('eve', { amount_cents: 600 })).body.account.balance_cents, 0)
    await assertOracles(superuser)
  })

  test('stores a refusal under its key, also if the balance grows later', async () => {
    await credit('finn', { amount_cents: 1 })
    const key = keyed()
    const first = await debit('finn', {}, key)
    assert.equal(first.status, 422)
    await credit('finn')
    const again = await debit('finn', {}, key)
    assert.deepEqual([again.status, again.text], [422, first.text])
    assert.equal(again.headers['idempotent-replayed'], 'true')
  })

  test('refuses a customer without an account', async () => {
    const answer = await debit('nobody')
    assert.deepEqual([answer.status, answer.body.error.code], [404, 'store_credit_not_found'])
    const bad = await debit('eve', { amount_cents: 0 })
    assert.deepEqual([bad.status, bad.body.error.code], [400, 'invalid_body'])
  })

  test('never goes below 0 with concurrent requests', async () => {
    await credit('gus')
    const answers = await Promise.all(
      Array.from({ length: 15 }, () => debit('gus', { amount_cents: 90 })),
    )
    const done = answers.filter(({ status }) => status === 201)
    assert.equal(done.length, 11)
    assert.equal((await acme.get(at('gus'))).body.accounts[0].balance_cents, 10)
    await assertOracles(superuser)
  })
})

describe('lists', () => {
  test('show the accounts of all customers, or of one', async () => {
    await credit('helen')
    const all = await acme.get('/v1/merchant/store-credit?limit=1')
    assert.equal(all.body.accounts.length, 1)
    assert.ok(all.body.total > 1)
    const one = await acme.get('/v1/merchant/store-credit?customer_ref=helen')
    assert.deepEqual([one.body.total, one.body.accounts[0].customer_ref], [1, 'helen'])
  })

  test('show the transactions, newest first', async () => {
    await credit('ivan')
    await debit('ivan', { amount_cents: 1 })
    const { body } = await acme.get(at('ivan', '/transactions'))
    assert.deepEqual(
      body.transactions.map(({ type }: { type: string }) => type),
      ['debit', 'credit'],
    )
    assert.equal(body.total, 2)
    const page = await acme.get(at('ivan', '/transactions?limit=1&offset=1'))
    assert.equal(page.body.transactions[0].type, 'credit')
  })
})

test('the add-on is needed to write, not to read', async () => {
  const bare = await app.merchant('initech', 'manage:own_store_credit')
  const key = keyed()
  const refused = await bare.post(at('ann', '/credit'), sum, key)
  assert.deepEqual([refused.status, refused.body.error.code], [403, 'feature_not_enabled'])
  assert.equal(refused.body.feature_key, 'store_credit')
  assert.equal((await bare.get('/v1/merchant/store-credit')).status, 200)
  const early = keyed()
  const unknown = await bare.post(at('ann', '/debit'), sum, early)
  assert.deepEqual([unknown.status, unknown.body.error.code], [403, 'feature_not_enabled'])
  await enable('initech')
  assert.equal((await bare.post(at('ann', '/credit'), sum, key)).status, 201)
  const debited = await bare.post(at('ann', '/debit'), sum, early)
  assert.equal(debited.status, 201, 'the key was free')
  const rule = '/v1/entitlements/tenants/initech/features/store_credit'
  await app.operator.put(rule, { state: 'deny' })
  for (const verb of ['/credit', '/debit']) {
    const { status, body } = await bare.post(at('ann', verb), sum, keyed())
    assert.deepEqual([status, body.error.code], [403, 'operator_restricted'])
  }
  assert.equal((await bare.get(at('ann'))).status, 200)
})
