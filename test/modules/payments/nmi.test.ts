import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { NMI_VOCABULARY } from '../../../src/modules/payments/adapters/nmi/meanings.ts'
import { lookupOf, readTransactions } from '../../../src/modules/payments/adapters/nmi/record.ts'
import { resultOfLookup } from '../../../src/modules/payments/adapters/results.ts'
import type { Fault } from '../../harness/nmi.ts'
import { charge, KEY, openNmi } from './nmi-setup.ts'
import { CARDS, cardOf } from './setup.ts'

/** Bounds the calls that must succeed, too: a busy machine may take a second for one. */
const DEADLINE_MS = 3_000

describe('a charge by NMI', () => {
  test("is sent once, in NMI's format", async (t) => {
    const { nmi, gateway } = await openNmi(t)
    const request = charge({
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
    const result = await gateway.authorize(request)
    assert.deepEqual(nmi.calls, [
      {
        path: '/api/transact.php',
        fields: {
          security_key: KEY,
          type: 'auth',
          merchant_defined_field_1: 'acme',
          merchant_defined_field_2: request.order_id,
          amount: '1000.01',
          currency: 'USD',
          orderid: request.ref,
          orderdescription: 'Order 42',
          email: 'a&b=c@example.com',
          ipaddress: '192.0.2.7',
          address1: '888',
          city: 'X',
          state: 'NY',
          zip: '77777',
          country: 'US',
          shipping_address1: '888',
          shipping_city: 'X',
          shipping_state: 'NY',
          shipping_zip: '77777',
          shipping_country: 'US',
          payment: 'creditcard',
          ccnumber: CARDS.approves,
          ccexp: '1040',
          cvv: '999',
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
      network_code: null,
      advice_code: null,
      reason: null,
      retryable: false,
      retry_class: null,
      fraud_signal: false,
      vault_id: null,
      card: { brand: 'visa', last4: '1111', exp_month: 10, exp_year: 2040 },
    })
  })

  test('verifies a card by an authorisation of zero, stores it, and deletes it again', async (t) => {
    const { nmi, gateway } = await openNmi(t)
    const { source, ref, currency } = charge()
    assert.ok(!('vault_id' in source))
    const ship_to = { line1: '888', postal_code: '77777' }
    const verified = await gateway.verify({ ref, source, currency, ip: '192.0.2.1', ship_to })
    assert.deepEqual(
      [verified.outcome, verified.vault_id, verified.card?.last4],
      ['approved', '906770526', '1111'],
    )
    const { fields } = nmi.calls[0] ?? { fields: {} as Record<string, string> }
    assert.deepEqual(
      [fields.type, fields.customer_vault, fields.orderid, fields.address1, fields.amount],
      ['validate', 'add_customer', ref, '888', undefined],
    )
    assert.equal(nmi.journal.length, 0, 'no money has moved')
    nmi.failNext('stores_no_card')
    const unstored = await gateway.verify({ ref, source, currency })
    assert.equal(unstored.outcome, 'unknown', 'without a token the card cannot be charged later')
    nmi.failNext({ code: '223' })
    const expired = await gateway.verify({ ref, source, currency })
    assert.deepEqual([expired.outcome, expired.reason], ['declined', 'expired_card'])
    await gateway.vaultDelete({ vault_id: '906770526' })
    const deleted = nmi.calls.at(-1)?.fields
    assert.deepEqual(
      [deleted?.customer_vault, deleted?.customer_vault_id],
      ['delete_customer', '906770526'],
    )
  })

  test('stores the card, and charges it later without the shopper', async (t) => {
    const { nmi, gateway } = await openNmi(t)
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

  test('has the outcome that its response code means', async (t) => {
    const { nmi, gateway } = await openNmi(t)
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
      [['400', '440', '441', '460', '301'], 'error', 'processing_error', 'soft'],
      [['420', '421', '499', '500', '999'], 'unknown', 'processing_error', null],
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
  })

  test('is unknown if its answer contradicts itself', async (t) => {
    const { nmi, gateway } = await openNmi(t)
    const answers = [
      ['2', '100'],
      ['3', '100'],
      ['1', '200'],
      ['1', '300'],
      ['1', '400'],
    ] as const
    for (const [response, code] of answers) {
      nmi.failNext({ body: `response=${response}&transactionid=7&type=sale&response_code=${code}` })
      const { outcome, txn_id } = await gateway.sale(charge())
      assert.deepEqual([outcome, txn_id], ['unknown', null], `${response} with ${code}`)
    }
  })

  test("has the card network's own codes if NMI passes them on, and nothing longer", async (t) => {
    const { nmi, gateway } = await openNmi(t)
    const declined = async (more: string) => {
      const body = `response=2&responsetext=DECLINE&transactionid=7&type=sale&response_code=202${more}`
      nmi.failNext({ body })
      const { code, network_code, advice_code } = await gateway.sale(charge())
      return [code, network_code, advice_code]
    }
    const both = '&processor_response_code=51&merchant_advice_code=27'
    assert.deepEqual(await declined(both), ['202', '51', '27'])
    assert.deepEqual(await declined(''), ['202', null, null])
    const wrong = '&processor_response_code=4111111111111111&merchant_advice_code=27%0A'
    assert.deepEqual(await declined(wrong), ['202', null, null])
  })

  test('has the same codes if only its record shows them', () => {
    const record = (codes: string) =>
      `<nm_response><transaction><transaction_id>7</transaction_id><condition>failed</condition>
       <action><amount>1.00</amount><action_type>sale</action_type><success>0</success>
       <response_code>202</response_code>${codes}</action></transaction></nm_response>`
    const found = (codes: string) => {
      const transactions = readTransactions(record(codes))
      assert.ok(transactions)
      const { outcome, code, network_code, advice_code } = resultOfLookup(
        NMI_VOCABULARY,
        lookupOf(transactions),
      )
      return [outcome, code, network_code, advice_code]
    }
    const both =
      '<processor_response_code>51</processor_response_code><merchant_advice_code>03</merchant_advice_code>'
    assert.deepEqual(found(both), ['declined', '202', '51', '03'])
    const wrong = '<processor_response_code>4111111111111111</processor_response_code>'
    assert.deepEqual(found(wrong), ['declined', '202', null, null])
  })

  test('has failed if the record says so, whatever its code', () => {
    for (const code of ['420', '421', '499', '100', '430', '']) {
      const transactions = readTransactions(
        `<nm_response><transaction><transaction_id>7</transaction_id><condition>failed</condition>
         <action><amount>1.00</amount><action_type>sale</action_type><success>0</success>
         <response_code>${code}</response_code></action></transaction></nm_response>`,
      )
      assert.ok(transactions)
      const { outcome } = resultOfLookup(NMI_VOCABULARY, lookupOf(transactions))
      assert.ok(outcome === 'declined' || outcome === 'error', `${code} is ${outcome}`)
    }
  })

  test('a charge by NMI that the gateway refuses has the reason from its text', async (t) => {
    const { nmi, gateway } = await openNmi(t)
    const table = [
      ['Invalid Credit Card Number REFID:1', 'card_not_supported', 'hard'],
      ['The ccnumber field is required REFID:1', 'card_not_supported', 'hard'],
      ['Invalid Customer Vault Id specified', 'card_not_supported', 'hard'],
      [
        'The cc payment type [JCB] and/or currency [USD] is not accepted REFID:1',
        ...(['card_not_supported', 'hard'] as const),
      ],
      ['Invalid Transaction ID / Object ID specified:  REFID:1', 'invalid_state', null],
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

  test('a charge by NMI that was approved in part is voided', async (t) => {
    const { nmi, gateway } = await openNmi(t)
    nmi.failNext({ authorises: '5.00' })
    const result = await gateway.authorize(charge())
    assert.deepEqual([result.outcome, result.reason], ['declined', 'insufficient_funds'])
    assert.equal(nmi.journal[0]?.condition, 'canceled')
    nmi.failNext({ authorises: '5.00' }, 'reset_before')
    assert.equal((await gateway.authorize(charge())).outcome, 'unknown')
    nmi.failNext({ authorises: '12.34' })
    assert.equal((await gateway.authorize(charge())).outcome, 'approved')
  })

  test('a charge by NMI with an invalid amount is not sent', async (t) => {
    const { nmi, gateway } = await openNmi(t)
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

describe('a call without a usable answer', () => {
  test('is unknown within the deadline, and the charge is not sent again', async (t) => {
    const { nmi, gateway } = await openNmi(t, { totalMs: DEADLINE_MS })
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
      const request = charge()
      nmi.failNext(fault)
      const calls = nmi.calls.length
      const started = performance.now()
      const result = await gateway.sale(request)
      // Without a deadline it would never return.
      assert.ok(performance.now() - started < 60_000, label)
      assert.deepEqual([result.outcome, result.txn_id], ['unknown', null], label)
      assert.equal(nmi.calls.length, calls + 1, label)
      const found = await gateway.lookup(request)
      assert.equal(found.found, isCharged ? 'yes' : 'no', label)
    }
    assert.ok(!nmi.calls.some(({ path }) => path === '/elsewhere'))
  })

  test('ends at one deadline, however many calls it takes', async (t) => {
    const { nmi, gateway } = await openNmi(t, { totalMs: 8_000 })
    nmi.failNext({ code: '430', afterMs: 5_000 }, 'silent_after')
    const started = performance.now()
    assert.equal((await gateway.sale(charge())).outcome, 'unknown')
    // With a deadline for each call it would end after 13,000 ms.
    assert.ok(performance.now() - started < 12_900)
    assert.deepEqual(
      nmi.calls.map(({ path }) => path),
      ['/api/transact.php', '/api/query.php'],
    )
  })

  test('is reported as unreachable by a lookup', async (t) => {
    const { nmi, gateway } = await openNmi(t, { totalMs: DEADLINE_MS })
    const request = charge()
    await gateway.sale(request)
    for (const fault of [
      'reset_before',
      'silent_after',
      'html_502',
      'redirect',
      'drip',
      'partial',
    ] as const) {
      nmi.failNext(fault)
      assert.equal((await gateway.lookup(request)).found, 'unreachable', fault)
    }
    assert.equal((await gateway.lookup(request)).found, 'yes')
  })

  test("never takes another request's refusal for its own", async (t) => {
    const { nmi, gateway } = await openNmi(t)
    const request = charge()
    const { txn_id } = await gateway.sale(request)
    // A proxy that repeats a response answers the next request on its connection with it.
    nmi.answerNext(
      'response=3&responsetext=Only+transactions+pending+settlement+can+be+voided&authcode=&transactionid=&orderid=&type=void&response_code=300',
    )
    const { amount_cents, currency } = request
    const refund = { ref: randomUUID(), txn_id: txn_id ?? '', amount_cents, currency }
    assert.equal((await gateway.refund(refund)).outcome, 'unknown')
  })

  test("never takes another request's record as proof that its own is missing", async (t) => {
    const { nmi, gateway } = await openNmi(t)
    const [request, other] = [charge(), charge()]
    await gateway.sale(request)
    await gateway.sale(other)
    // A proxy that repeats a response answers the next lookup on its connection with it.
    const asked = await fetch(`${nmi.url}/api/query.php`, {
      method: 'POST',
      body: new URLSearchParams({ security_key: KEY, order_id: other.ref }).toString(),
    })
    nmi.answerNext(await asked.text())
    assert.equal((await gateway.lookup(request)).found, 'unreachable')
    assert.equal((await gateway.lookup(request)).found, 'yes')
  })

  test('is an error, and not unknown, if nothing was sent', async (t) => {
    const { gateway, nmi } = await openNmi(t)
    await nmi.close()
    const result = await gateway.sale(charge())
    assert.deepEqual(
      [result.outcome, result.reason, result.retryable],
      ['error', 'processing_error', true],
    )
    assert.equal((await gateway.lookup(charge())).found, 'unreachable')
    assert.equal(await gateway.listRecords(new Date(0), new Date()), null)
  })

  test('sends nothing for a store without a key', async (t) => {
    const { gateway, nmi } = await openNmi(t, { securityKey: null })
    assert.equal((await gateway.sale(charge())).outcome, 'error')
    assert.equal((await gateway.lookup(charge())).found, 'unreachable')
    assert.equal(nmi.calls.length, 0)
  })

  test('a call with a wrong key never says that a charge does not exist', async (t) => {
    const { gateway } = await openNmi(t, { securityKey: 'a-wrong-key' })
    const result = await gateway.sale(charge())
    assert.deepEqual([result.outcome, result.reason], ['error', 'processing_error'])
    assert.equal((await gateway.lookup(charge())).found, 'unreachable')
    assert.ok(!JSON.stringify(result).includes('a-wrong-key'))
  })
})

describe('a duplicate', () => {
  test('a duplicate of our own attempt is that attempt', async (t) => {
    const { nmi, gateway } = await openNmi(t)
    nmi.checkDuplicates = true
    const request = charge({ vault: true })
    const first = await gateway.authorize(request)
    const again = await gateway.authorize(request)
    assert.deepEqual([again.outcome, again.txn_id], ['approved', first.txn_id])
    assert.equal(nmi.journal.length, 1)
    const { journal } = nmi
    if (journal[0]) journal[0].condition = 'canceled'
    const voided = await gateway.authorize(request)
    assert.deepEqual([voided.outcome, voided.reason], ['error', 'invalid_state'])
  })

  test('a duplicate of another charge is no approval', async (t) => {
    const { nmi, gateway } = await openNmi(t)
    nmi.checkDuplicates = true
    await gateway.authorize(charge())
    const other = await gateway.authorize(charge())
    assert.deepEqual([other.outcome, other.reason], ['error', 'processing_error'])
    nmi.failNext({ code: '430' })
    assert.equal((await gateway.authorize(charge())).reason, 'processing_error')
    nmi.failNext({ code: '430' }, 'reset_before')
    assert.equal((await gateway.authorize(charge())).outcome, 'unknown', 'the lookup had no answer')
  })
})

describe('a gateway that is down', () => {
  test('is not called for a while, per account, and then tried by one call', async (t) => {
    let now = 0
    const clock = { now: () => now }
    const breaker = { failuresMax: 3, coolMs: 1_000, clock }
    const { nmi, gateway, gateways } = await openNmi(t, { breaker })
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

  test('is not assumed to be down after a refusal by HTTP status or a decline', async (t) => {
    const { nmi, gateway } = await openNmi(t, { breaker: { failuresMax: 2 } })
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
