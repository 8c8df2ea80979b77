import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, type TestContext, test } from 'node:test'
import type { BreakerOptions } from '../../../src/modules/payments/breaker.ts'
import { openNmiGateways } from '../../../src/modules/payments/nmi.ts'
import { giveBack } from '../../../src/modules/payments/service.ts'
import { type Fault, startNmi } from '../../harness/nmi.ts'
import { CARDS, cardOf, chargeOf } from './setup.ts'

const KEY = 'the-security-key-of-acme-at-nmi!'

interface Options {
  totalMs?: number
  connectMs?: number
  breaker?: BreakerOptions
  securityKey?: string | null
}

/** A gateway for acme, and the server it talks to. */
async function open(t: TestContext, { securityKey = KEY, ...options }: Options = {}) {
  const nmi = await startNmi(KEY)
  const gateways = openNmiGateways(nmi.url, { breaker: { failuresMax: 1_000 }, ...options })
  t.after(() => Promise.all([gateways.close(), nmi.close()]))
  return { nmi, gateways, gateway: gateways.open({ securityKey, tenant: 'acme' }) }
}

const charge = (more = {}) => chargeOf(CARDS.approves, more)

describe('a charge by NMI', () => {
  test('is sent as NMI wants it, once', async (t) => {
    const { nmi, gateway } = await open(t)
    const wanted = charge({
      amount_cents: 100_001,
      source: { card: cardOf('4111 1111 1111 1111', '999') },
      order_number: 42,
      email: 'a&b=c@example.com',
      ip: '192.0.2.7',
      ship_to: {
        label: 'Home',
        line1: '888',
        line2: null,
        city: 'X',
        state: 'NY',
        postal_code: '77777',
        country: 'US',
      },
    })
    const result = await gateway.authorize(wanted)
    assert.deepEqual(nmi.calls, [
      {
        path: '/api/transact.php',
        fields: {
          security_key: KEY,
          type: 'auth',
          merchant_defined_field_1: 'acme',
          merchant_defined_field_2: wanted.order_id,
          amount: '1000.01',
          currency: 'USD',
          orderid: wanted.ref,
          orderdescription: 'Order 42',
          email: 'a&b=c@example.com',
          ipaddress: '192.0.2.7',
          ...{ address1: '888', city: 'X', state: 'NY', zip: '77777', country: 'US' },
          ...{ shipping_address1: '888', shipping_city: 'X', shipping_state: 'NY' },
          ...{ shipping_zip: '77777', shipping_country: 'US' },
          ...{ payment: 'creditcard', ccnumber: CARDS.approves, ccexp: '1040', cvv: '999' },
        },
      },
    ])
    assert.deepEqual(result, {
      outcome: 'approved',
      txn_id: nmi.journal[0]?.id,
      auth_code: '123456',
      avs: 'N',
      cvv: 'M',
      code: '100',
      reason: null,
      retryable: false,
      retry_class: null,
      fraud_signal: false,
      vault_id: null,
      card: { brand: 'visa', last4: '1111', exp_month: 10, exp_year: 2040 },
    })
  })

  test('keeps the card for later, and charges it on the initiative of the merchant', async (t) => {
    const { nmi, gateway } = await open(t)
    const first = await gateway.sale(charge({ vault: true }))
    assert.equal(first.vault_id, '906770526')
    const { source: _, ...renewal } = charge()
    await gateway.vaultCharge({ ...renewal, vault_id: '906770526', initial_txn_id: first.txn_id })
    await gateway.sale(charge({ source: { vault_id: '906770526' } }))
    await gateway.sale(charge({ source: { payment_token: 'tok-1' } }))
    await gateway.vaultAdd({ ref: renewal.ref, source: { payment_token: 'tok-2' } })
    const pick = (i: number, ...names: string[]) =>
      names.map((name) => nmi.calls[i]?.fields[name] ?? null)
    const names = [
      'customer_vault',
      'initiated_by',
      'stored_credential_indicator',
      'billing_method',
    ]
    assert.deepEqual(pick(0, ...names), ['add_customer', 'customer', 'stored', 'recurring'])
    assert.deepEqual(pick(1, ...names), [null, 'merchant', 'used', 'recurring'])
    assert.deepEqual(pick(1, 'initial_transaction_id', 'type', 'ccnumber'), [
      first.txn_id,
      'sale',
      null,
    ])
    assert.deepEqual(pick(2, ...names), [null, 'customer', 'used', null])
    assert.deepEqual(pick(3, 'payment_token', 'ccnumber'), ['tok-1', null])
    assert.deepEqual(pick(4, 'customer_vault', 'payment_token', 'type'), [
      'add_customer',
      'tok-2',
      null,
    ])
  })

  test('means what its code means', async (t) => {
    const { nmi, gateway } = await open(t)
    const table = [
      [['200', '201', '240', '260', '299'], 'declined', 'card_declined', 'soft'],
      [['202', '203'], 'declined', 'insufficient_funds', 'soft'],
      [['204', '220', '221', '222', '461'], 'declined', 'card_not_supported', 'hard'],
      [['223', '224'], 'declined', 'expired_card', 'hard'],
      [['225'], 'declined', 'incorrect_cvv', 'hard'],
      [['250', '251', '252', '253'], 'declined', 'card_declined', 'hard'],
      [['261'], 'declined', 'stop_all_recurring', 'hard'],
      [['262'], 'declined', 'stop_recurring', 'hard'],
      [['263'], 'declined', 'card_update_available', null],
      [['264'], 'declined', 'retry_in_days', 'soft'],
      [['300', '410', '411'], 'error', 'processing_error', null],
      [['400', '440', '441', '460', '301', '499'], 'error', 'processing_error', 'soft'],
      [['420', '421'], 'unknown', 'processing_error', null],
    ] as const
    for (const [codes, outcome, reason, retry] of table) {
      for (const code of codes) {
        nmi.failNext({ code })
        const result = await gateway.sale(charge())
        assert.deepEqual(
          [result.outcome, result.reason, result.retry_class],
          [outcome, reason, retry],
          code,
        )
        assert.equal(result.retryable, retry === 'soft', code)
        assert.equal(result.fraud_signal, /^25[0-3]$/.test(code), code)
        assert.equal(result.code, code)
      }
    }
    for (const response of ['2', '3']) {
      nmi.failNext({ code: '100', response })
      assert.notEqual((await gateway.sale(charge())).outcome, 'approved', 'the plain word counts')
    }
  })

  test('that the gateway refuses is explained by its text', async (t) => {
    const { nmi, gateway } = await open(t)
    const table = [
      ['Invalid Credit Card Number REFID:1', 'card_not_supported', 'hard'],
      ['The ccnumber field is required REFID:1', 'card_not_supported', 'hard'],
      ['Invalid Customer Vault Id specified', 'card_not_supported', 'hard'],
      ['The ccexp field is invalid', 'expired_card', 'hard'],
      ['CVV must be 3 or 4 digits', 'incorrect_cvv', 'hard'],
      ['Authentication Failed', 'processing_error', null],
      ['', 'processing_error', null],
    ] as const
    for (const [text, reason, retry] of table) {
      nmi.failNext({ code: '300', text })
      const result = await gateway.sale(charge())
      assert.deepEqual(
        [result.outcome, result.reason, result.retry_class],
        ['error', reason, retry],
        text,
      )
    }
  })

  test('that was approved in part goes back', async (t) => {
    const { nmi, gateway } = await open(t)
    nmi.failNext({ authorises: '5.00' })
    const result = await gateway.authorize(charge())
    assert.deepEqual([result.outcome, result.reason], ['declined', 'insufficient_funds'])
    assert.equal(nmi.journal[0]?.condition, 'canceled')
    nmi.failNext({ authorises: '5.00' }, 'reset_before')
    assert.equal((await gateway.authorize(charge())).outcome, 'unknown')
    nmi.failNext({ authorises: '12.34' })
    assert.equal((await gateway.authorize(charge())).outcome, 'approved')
  })

  test('that is no amount is not sent', async (t) => {
    const { nmi, gateway } = await open(t)
    for (const amount_cents of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
      const part = { ref: randomUUID(), txn_id: '1', currency: 'USD', amount_cents }
      for (const result of [
        await gateway.sale(charge({ amount_cents })),
        await gateway.capture(part),
        await gateway.refund(part),
      ]) {
        assert.deepEqual([result.outcome, result.reason], ['error', 'amount_exceeded'])
      }
    }
    assert.equal(nmi.calls.length, 0)
  })
})

describe('an answer that does not say', () => {
  test('is unknown, in time, and the charge is not sent again', async (t) => {
    const { nmi, gateway } = await open(t, { totalMs: 1_500 })
    const faults: [Fault, boolean][] = [
      ['reset_before', false],
      ['reset_after', true],
      ['silent_before', false],
      ['silent_after', true],
      ['html_502', true],
      ['forbidden', false],
      ['redirect', false],
      ['drip', true],
      ['partial', true],
      ['swapped', true],
      [{ body: '' }, false],
      [{ body: '<html>' }, false],
      [{ body: 'response=1' }, false],
      [{ body: 'response=1&response_code=100&transactionid=' }, false],
      [{ body: 'response=2&response=1&transactionid=1&response_code=100' }, false],
      [{ body: 'response=9&transactionid=1&response_code=100' }, false],
      [{ body: 'response=2&responsetext=DECL' }, false],
      [{ body: 'response=3&responsetext=Dup&response_code=30' }, false],
      [{ body: `response=1&response_code=100&transactionid=${'9'.repeat(101)}` }, false],
      [{ body: 'x'.repeat(2_000_000) }, false],
    ]
    for (const [fault, isCharged] of faults) {
      const label = JSON.stringify(fault).slice(0, 60)
      const wanted = charge()
      nmi.failNext(fault)
      const calls = nmi.calls.length
      const started = performance.now()
      const result = await gateway.sale(wanted)
      assert.ok(performance.now() - started < 10_000, label)
      assert.deepEqual([result.outcome, result.txn_id], ['unknown', null], label)
      assert.equal(nmi.calls.length, calls + 1, label)
      const found = await gateway.lookup(wanted)
      assert.equal(found.found, isCharged ? 'yes' : 'no', label)
    }
    assert.ok(!nmi.calls.some(({ path }) => path === '/elsewhere'))
  })

  test('keeps nobody beyond the one deadline, however many calls it takes', async (t) => {
    const { nmi, gateway } = await open(t, { totalMs: 4_000 })
    nmi.failNext({ code: '430', afterMs: 2_500 }, 'silent_after')
    const started = performance.now()
    assert.equal((await gateway.sale(charge())).outcome, 'unknown')
    // A deadline for each would end after 6,500.
    assert.ok(performance.now() - started < 6_400)
    assert.deepEqual(
      nmi.calls.map(({ path }) => path),
      ['/api/transact.php', '/api/query.php'],
    )
  })

  test('is no lookup either', async (t) => {
    const { nmi, gateway } = await open(t, { totalMs: 1_500 })
    const wanted = charge()
    await gateway.sale(wanted)
    for (const fault of [
      'reset_before',
      'silent_after',
      'html_502',
      'redirect',
      'drip',
      'partial',
    ] as const) {
      nmi.failNext(fault)
      assert.equal((await gateway.lookup(wanted)).found, 'unreachable', fault)
    }
    assert.equal((await gateway.lookup(wanted)).found, 'yes')
  })

  test('is no doubt where nothing was sent', async (t) => {
    const { gateway, nmi } = await open(t)
    await nmi.close()
    const result = await gateway.sale(charge())
    assert.deepEqual(
      [result.outcome, result.reason, result.retryable],
      ['error', 'processing_error', true],
    )
    assert.equal((await gateway.lookup(charge())).found, 'unreachable')
    assert.equal(await gateway.listRecords(new Date(0), new Date()), null)
  })

  test('is none of a store that has no key', async (t) => {
    const { gateway, nmi } = await open(t, { securityKey: null })
    assert.equal((await gateway.sale(charge())).outcome, 'error')
    assert.equal((await gateway.lookup(charge())).found, 'unreachable')
    assert.equal(nmi.calls.length, 0)
  })

  test('is what a wrong key gets, and never that a charge does not exist', async (t) => {
    const { gateway } = await open(t, { securityKey: 'a-wrong-key' })
    const result = await gateway.sale(charge())
    assert.deepEqual([result.outcome, result.reason], ['error', 'processing_error'])
    assert.equal((await gateway.lookup(charge())).found, 'unreachable')
    assert.ok(!JSON.stringify(result).includes('a-wrong-key'))
  })
})

describe('a duplicate', () => {
  test('of our own attempt is that attempt', async (t) => {
    const { nmi, gateway } = await open(t)
    nmi.checkDuplicates = true
    const wanted = charge({ vault: true })
    const first = await gateway.authorize(wanted)
    const again = await gateway.authorize(wanted)
    assert.deepEqual([again.outcome, again.txn_id], ['approved', first.txn_id])
    assert.equal(nmi.journal.length, 1)
    const { journal } = nmi
    if (journal[0]) journal[0].condition = 'canceled'
    const voided = await gateway.authorize(wanted)
    assert.deepEqual([voided.outcome, voided.reason], ['error', 'invalid_state'])
  })

  test('of something else is no approval', async (t) => {
    const { nmi, gateway } = await open(t)
    nmi.checkDuplicates = true
    await gateway.authorize(charge())
    const other = await gateway.authorize(charge())
    assert.deepEqual([other.outcome, other.reason], ['error', 'processing_error'])
    nmi.failNext({ code: '430' })
    assert.equal((await gateway.authorize(charge())).reason, 'processing_error')
    nmi.failNext({ code: '430' }, 'reset_before')
    assert.equal((await gateway.authorize(charge())).outcome, 'unknown', 'nobody could be asked')
  })
})

describe('what was charged', () => {
  test('is captured, voided, refunded, and looked up', async (t) => {
    const { nmi, gateway } = await open(t)
    const wanted = charge()
    const { txn_id } = await gateway.authorize(wanted)
    assert.ok(txn_id)
    const state = async () => {
      const { found, state, amount_cents, captured_cents, refunded_cents } =
        await gateway.lookup(wanted)
      return [found, state, amount_cents, captured_cents, refunded_cents]
    }
    assert.deepEqual(await state(), ['yes', 'authorized', 1_234, 0, 0])
    const part = { ref: wanted.ref, txn_id, currency: 'USD' }
    assert.equal(
      (await gateway.capture({ ...part, amount_cents: 9_999 })).reason,
      'amount_exceeded',
    )
    assert.equal((await gateway.capture({ ...part, amount_cents: 1_234 })).outcome, 'approved')
    assert.equal((await gateway.capture({ ...part, amount_cents: 1_234 })).reason, 'invalid_state')
    assert.deepEqual(await state(), ['yes', 'captured', 1_234, 1_234, 0])
    const refund = (amount_cents: number, ref: string = randomUUID()) =>
      gateway.refund({ ...part, ref, amount_cents })
    const early = await refund(234)
    assert.deepEqual([early.reason, early.retryable], ['not_settled', true])
    nmi.settle()
    assert.deepEqual(await state(), ['yes', 'settled', 1_234, 1_234, 0])
    const ref = randomUUID()
    const refunded = await refund(234, ref)
    assert.equal(refunded.outcome, 'approved')
    assert.deepEqual(await state(), ['yes', 'settled', 1_234, 1_234, 234])
    const found = await gateway.lookup({ ref })
    assert.deepEqual(
      [found.state, found.amount_cents, found.txn_id],
      ['refunded', 234, refunded.txn_id],
    )
    assert.equal((await refund(1_001)).reason, 'amount_exceeded')
    assert.equal((await refund(1_000)).outcome, 'approved')
    const { state: last, refunds, card } = await gateway.lookup({ txn_id })
    assert.equal(last, 'refunded')
    assert.deepEqual(
      refunds.map((each) => each.amount_cents),
      [234, 1_000],
    )
    assert.deepEqual(card, { brand: 'visa', last4: '1111', exp_month: 10, exp_year: 2040 })
  })

  for (const [currency, whole, part] of [
    ['JPY', '1500.00', '200.00'],
    ['KWD', '1.500', '0.200'],
    ['EUR', '15.00', '2.00'],
  ] as const) {
    test(`in ${currency} is sent and read by the coins of that currency`, async (t) => {
      const { nmi, gateway } = await open(t)
      const wanted = charge({ amount_cents: 1_500, currency })
      const { txn_id, outcome } = await gateway.authorize(wanted)
      assert.equal(outcome, 'approved')
      const what = { ref: wanted.ref, txn_id: txn_id ?? '', currency }
      assert.equal((await gateway.capture({ ...what, amount_cents: 1_500 })).outcome, 'approved')
      nmi.settle()
      const back = { ...what, ref: randomUUID(), amount_cents: 200 }
      assert.equal((await gateway.refund(back)).outcome, 'approved')
      assert.deepEqual(
        nmi.calls.map(({ fields }) => fields.amount),
        [whole, whole, part],
      )
      const found = await gateway.lookup(wanted)
      assert.deepEqual(
        [found.amount_cents, found.captured_cents, found.refunded_cents],
        [1_500, 1_500, 200],
      )
      const now = Date.now()
      const records = await gateway.listRecords(new Date(now - 60_000), new Date(now + 60_000))
      assert.deepEqual(
        records?.map((each) => each.amount_cents),
        [1_500, 200],
      )
      nmi.failNext({ authorises: part })
      const poor = await gateway.authorize(charge({ amount_cents: 1_500, currency }))
      assert.equal(poor.reason, 'insufficient_funds', 'a part of it is no payment')
    })
  }

  test('goes back by void, and by refund once it is settled', async (t) => {
    const { nmi, gateway } = await open(t)
    const sale = await gateway.sale(charge())
    const what = {
      ref: randomUUID(),
      txn_id: sale.txn_id ?? '',
      amount_cents: 1_234,
      currency: 'USD',
    }
    assert.equal((await giveBack(gateway, what)).outcome, 'approved')
    assert.equal((await gateway.lookup({ txn_id: what.txn_id })).state, 'voided')
    assert.equal((await giveBack(gateway, what)).outcome, 'approved', 'voided is voided')
    const settled = await gateway.sale(charge())
    nmi.settle()
    const late = { ...what, txn_id: settled.txn_id ?? '' }
    assert.equal((await gateway.void(late)).reason, 'already_settled')
    assert.equal((await giveBack(gateway, late)).outcome, 'approved')
    assert.equal((await gateway.lookup({ txn_id: late.txn_id })).state, 'refunded')
    assert.equal((await gateway.void({ txn_id: 'nothing' })).reason, 'invalid_state')
  })

  test('is given back by what bears its reference, though its own entry does not say so', async (t) => {
    const { nmi, gateway } = await open(t)
    const wanted = charge()
    const { txn_id } = await gateway.sale(wanted)
    nmi.settle()
    const what = { ref: wanted.ref, txn_id: txn_id ?? '', currency: 'USD' }
    assert.equal((await gateway.refund({ ...what, amount_cents: 234 })).outcome, 'approved')
    assert.equal((await gateway.refund({ ...what, amount_cents: 1_000 })).outcome, 'approved')
    const [sale, first, second] = nmi.journal
    assert.ok(sale && first && second)
    sale.actions = sale.actions.filter(({ type }) => type !== 'refund')
    const seen = async () => {
      const found = await gateway.lookup(wanted)
      return [found.state, found.txn_id, found.captured_cents, found.refunded_cents]
    }
    assert.deepEqual(await seen(), ['refunded', txn_id, 1_234, 1_234])
    nmi.journal.reverse()
    assert.deepEqual(await seen(), ['refunded', txn_id, 1_234, 1_234])
    second.condition = 'canceled'
    assert.deepEqual(await seen(), ['settled', txn_id, 1_234, 234])
  })

  test('is told from what failed under the same reference', async (t) => {
    const { nmi, gateway } = await open(t)
    const wanted = charge()
    await gateway.sale(wanted)
    const [good] = nmi.journal
    assert.ok(good)
    const failed = { ...good, id: '1', condition: 'failed' }
    nmi.journal.unshift({
      ...failed,
      actions: [{ type: 'sale', amount: '12.34', success: 0, code: '202', date: '20260101000000' }],
    })
    assert.equal((await gateway.lookup(wanted)).txn_id, good.id)
    nmi.journal.pop()
    const lost = await gateway.lookup(wanted)
    assert.deepEqual([lost.state, lost.code, lost.captured_cents], ['failed', '202', 0])
    for (const condition of ['in_progress', 'unknown', 'something new']) {
      nmi.journal[0] = { ...failed, condition }
      assert.equal((await gateway.lookup(wanted)).found, 'unreachable', condition)
    }
  })

  test('on a day is listed page by page, and only what is ours', async (t) => {
    const { nmi, gateway, gateways } = await open(t)
    const other = gateways.open({ securityKey: KEY, tenant: 'globex' })
    const wanted = charge()
    await gateway.sale(wanted)
    await other.sale(charge())
    const [ours] = nmi.journal
    assert.ok(ours)
    for (let i = 0; i < 450; i++) nmi.journal.push({ ...ours, id: `x${i}`, order_id: randomUUID() })
    const now = Date.now()
    const records = await gateway.listRecords(new Date(now - 60_000), new Date(now + 60_000))
    assert.equal(records?.length, 451)
    const [first] = records ?? []
    assert.deepEqual(
      [first?.ref, first?.kind, first?.stands, first?.amount_cents],
      [wanted.ref, 'charge', true, 1_234],
    )
    assert.ok(Math.abs(Date.parse(first?.created_at ?? '') - now) < 60_000)
    assert.equal(nmi.calls.filter(({ path }) => path === '/api/query.php').length, 5)
  })
})

describe('a hostile record', () => {
  const entities = (depth: number) =>
    `<!DOCTYPE x [<!ENTITY a0 "ha">${Array.from({ length: depth }, (_, i) => `<!ENTITY a${i + 1} "&a${i};&a${i};&a${i};&a${i};">`).join('')}]>`
  const wrap = (inner: string) => `<nm_response><transaction>${inner}</transaction></nm_response>`
  const cases: Record<string, string> = {
    'entities that grow': `${entities(20)}${wrap('<transaction_id>&a20;</transaction_id>')}`,
    'an outside entity': `<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>${wrap('<transaction_id>&e;</transaction_id>')}`,
    'tags without end': '<nm_response>'.repeat(200_000),
    'a deep nest': `<nm_response>${'<a>'.repeat(100_000)}${'</a>'.repeat(100_000)}</nm_response>`,
    'no record': '<html><body>Welcome</body></html>',
    'not XML': 'response=1',
    nothing: '',
    'an error':
      '<nm_response><error_response>Invalid Username/Password</error_response></nm_response>',
    'a transaction without an id': wrap('<condition>complete</condition>'),
    'a transaction without a condition': wrap('<transaction_id>1</transaction_id>'),
    'an amount that is none': wrap(
      '<transaction_id>1</transaction_id><condition>complete</condition><action><action_type>sale</action_type><amount>1e9</amount></action>',
    ),
    'a tag named for the prototype': wrap('<__proto__><polluted>1</polluted></__proto__>'),
  }
  for (const [name, body] of Object.entries(cases)) {
    test(`says nothing: ${name}`, async (t) => {
      const { nmi, gateway } = await open(t)
      nmi.answerNext(body)
      const started = performance.now()
      assert.equal((await gateway.lookup(charge())).found, 'unreachable')
      // What grows without end takes for ever, or all of the memory.
      assert.ok(performance.now() - started < 20_000)
      assert.equal(({} as { polluted?: unknown }).polluted, undefined)
    })
  }

  test('is whole when it is empty: the gateway never saw it', async (t) => {
    const { nmi, gateway } = await open(t)
    for (const body of ['<nm_response></nm_response>', '<?xml version="1.0"?>\n<nm_response/>\n']) {
      nmi.answerNext(body)
      assert.equal((await gateway.lookup(charge())).found, 'no')
    }
  })
})

describe('a gateway that is down', () => {
  test('is not asked for a while, each account on its own, and then by one', async (t) => {
    let now = 0
    const clock = { now: () => now }
    const breaker = { failuresMax: 3, coolMs: 1_000, clock }
    const { nmi, gateway, gateways } = await open(t, { breaker })
    const other = gateways.open({
      securityKey: 'another account of this gateway',
      tenant: 'globex',
    })
    nmi.failNext('html_502', 'reset_before', 'html_502')
    for (const _ of [1, 2, 3]) assert.equal((await gateway.sale(charge())).outcome, 'unknown')
    const refused = await gateway.sale(charge())
    assert.deepEqual(
      [refused.outcome, refused.reason, refused.retryable],
      ['error', 'processing_error', true],
    )
    assert.equal((await gateway.lookup(charge())).found, 'unreachable')
    assert.equal(nmi.calls.length, 3, 'nothing was sent')
    await other.sale(charge())
    assert.equal(nmi.calls.length, 4)
    now = 1_000
    nmi.failNext('html_502')
    const tries = await Promise.all([gateway.sale(charge()), gateway.sale(charge())])
    assert.deepEqual(tries.map((each) => each.outcome).sort(), ['error', 'unknown'])
    now = 2_000
    assert.equal((await gateway.sale(charge())).outcome, 'approved')
    assert.equal((await gateway.sale(charge())).outcome, 'approved')
  })

  test('is not what a refusal in HTTP or a decline means', async (t) => {
    const { nmi, gateway } = await open(t, { breaker: { failuresMax: 2 } })
    nmi.failNext(
      'forbidden',
      'forbidden',
      'forbidden',
      { code: '200' },
      { code: '400' },
      { code: '420' },
    )
    for (let i = 0; i < 6; i++) await gateway.sale(charge())
    assert.equal((await gateway.sale(charge())).outcome, 'approved')
  })
})
