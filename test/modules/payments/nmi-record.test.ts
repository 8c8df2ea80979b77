import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, type TestContext, test } from 'node:test'
import { reversePayment } from '../../../src/modules/payments/gateway.ts'
import { charge, KEY, openNmi } from './nmi-setup.ts'

describe('a charge', () => {
  test('is captured, voided, refunded, and looked up', async (t) => {
    const { nmi, gateway } = await openNmi(t)
    const request = charge()
    const { txn_id } = await gateway.authorize(request)
    assert.ok(txn_id)
    const state = async () => {
      const { found, state, amount_cents, captured_cents, refunded_cents } =
        await gateway.lookup(request)
      return [found, state, amount_cents, captured_cents, refunded_cents]
    }
    assert.deepEqual(await state(), ['yes', 'authorized', 1_234, 0, 0])
    const part = { ref: request.ref, txn_id, currency: 'USD' }
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
    ['CLF', '0.1500', '0.0200'],
    ['EUR', '15.00', '2.00'],
  ] as const) {
    test(`a charge in ${currency} is sent and read with the decimals of that currency`, async (t) => {
      const { nmi, gateway } = await openNmi(t)
      const request = charge({ amount_cents: 1_500, currency })
      const { txn_id, outcome } = await gateway.authorize(request)
      assert.equal(outcome, 'approved')
      const amount = { ref: request.ref, txn_id: txn_id ?? '', currency }
      assert.equal((await gateway.capture({ ...amount, amount_cents: 1_500 })).outcome, 'approved')
      nmi.settle()
      const back = { ...amount, ref: randomUUID(), amount_cents: 200 }
      assert.equal((await gateway.refund(back)).outcome, 'approved')
      assert.deepEqual(
        nmi.calls.map(({ fields }) => fields.amount),
        [whole, whole, part],
      )
      const found = await gateway.lookup(request)
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
      assert.equal(poor.reason, 'insufficient_funds', 'a partial payment is no payment')
    })
  }

  test('is reversed by a void, and by a refund once it has settled', async (t) => {
    const { nmi, gateway } = await openNmi(t)
    const sale = await gateway.sale(charge())
    const amount = {
      ref: randomUUID(),
      txn_id: sale.txn_id ?? '',
      amount_cents: 1_234,
      currency: 'USD',
    }
    assert.equal((await reversePayment(gateway, amount)).outcome, 'approved')
    assert.equal((await gateway.lookup({ txn_id: amount.txn_id })).state, 'voided')
    assert.equal(
      (await reversePayment(gateway, amount)).outcome,
      'approved',
      'a repeated void is approved',
    )
    const settled = await gateway.sale(charge())
    nmi.settle()
    const late = { ...amount, txn_id: settled.txn_id ?? '' }
    assert.equal((await gateway.void(late)).reason, 'already_settled')
    assert.equal((await reversePayment(gateway, late)).outcome, 'approved')
    assert.equal((await gateway.lookup({ txn_id: late.txn_id })).state, 'refunded')
    assert.equal((await gateway.void({ txn_id: 'nothing' })).reason, 'invalid_state')
  })

  test('is refunded by a transaction with its reference, even if its own record does not show it', async (t) => {
    const { nmi, gateway } = await openNmi(t)
    const request = charge()
    const { txn_id } = await gateway.sale(request)
    nmi.settle()
    const amount = { ref: request.ref, txn_id: txn_id ?? '', currency: 'USD' }
    assert.equal((await gateway.refund({ ...amount, amount_cents: 234 })).outcome, 'approved')
    assert.equal((await gateway.refund({ ...amount, amount_cents: 1_000 })).outcome, 'approved')
    const [sale, first, second] = nmi.journal
    assert.ok(sale && first && second)
    sale.actions = sale.actions.filter(({ type }) => type !== 'refund')
    const seen = async () => {
      const found = await gateway.lookup(request)
      return [found.state, found.txn_id, found.captured_cents, found.refunded_cents]
    }
    assert.deepEqual(await seen(), ['refunded', txn_id, 1_234, 1_234])
    nmi.journal.reverse()
    assert.deepEqual(await seen(), ['refunded', txn_id, 1_234, 1_234])
    second.condition = 'canceled'
    assert.deepEqual(await seen(), ['settled', txn_id, 1_234, 234])
  })

  test('is distinguished from a failed transaction with the same reference', async (t) => {
    const { nmi, gateway } = await openNmi(t)
    const request = charge()
    await gateway.sale(request)
    const [good] = nmi.journal
    assert.ok(good)
    const failed = { ...good, id: '1', condition: 'failed' }
    nmi.journal.unshift({
      ...failed,
      actions: [{ type: 'sale', amount: '12.34', success: 0, code: '202', date: '20260101000000' }],
    })
    assert.equal((await gateway.lookup(request)).txn_id, good.id)
    nmi.journal.pop()
    const lost = await gateway.lookup(request)
    assert.deepEqual([lost.state, lost.code, lost.captured_cents], ['failed', '202', 0])
    for (const condition of ['in_progress', 'unknown', 'something new']) {
      nmi.journal[0] = { ...failed, condition }
      assert.equal((await gateway.lookup(request)).found, 'unreachable', condition)
    }
  })

  test('a charge of a day is listed in pages, and only if it belongs to this store', async (t) => {
    const { nmi, gateway, gateways } = await openNmi(t)
    const other = gateways.open({ securityKey: KEY, tenant: 'globex' })
    const request = charge()
    await gateway.sale(request)
    await other.sale(charge())
    const [ours] = nmi.journal
    assert.ok(ours)
    for (let i = 0; i < 450; i++) nmi.journal.push({ ...ours, id: `x${i}`, order_id: randomUUID() })
    const now = Date.now()
    const records = await gateway.listRecords(new Date(now - 60_000), new Date(now + 60_000))
    assert.equal(records?.length, 451)
    const [first] = records ?? []
    assert.deepEqual(
      [first?.ref, first?.kind, first?.is_active, first?.amount_cents],
      [request.ref, 'charge', true, 1_234],
    )
    assert.ok(Math.abs(Date.parse(first?.created_at ?? '') - now) < 60_000)
    assert.equal(nmi.calls.filter(({ path }) => path === '/api/query.php').length, 5)
  })
})

describe('an amount of the record', () => {
  const read = async (t: TestContext, currency: string, amount: string) => {
    const { nmi, gateway } = await openNmi(t)
    const request = charge()
    nmi.answerNext(`<nm_response><transaction><transaction_id>1</transaction_id>
      <order_id>${request.ref}</order_id><condition>complete</condition>${currency}
      <action><action_type>sale</action_type><amount>${amount}</amount><success>1</success></action>
      </transaction></nm_response>`)
    return (await gateway.lookup(request)).captured_cents
  }
  for (const [currency, amount, cents] of [
    ['USD', '12.3400', 1_234],
    ['USD', '12.3', 1_230],
    ['USD', '12', 1_200],
    ['USD', '.50', 50],
    ['KWD', '1.5', 1_500],
    ['JPY', '1500', 1_500],
    ['JPY', '1500.00', 1_500],
    ['', '12.34', 1_234],
    ['', '12', 1_200],
  ] as const) {
    test(`an amount of ${amount} ${currency || 'in no currency'} in the record is ${cents}`, async (t) => {
      const tag = currency === '' ? '' : `<currency>${currency}</currency>`
      assert.equal(await read(t, tag, amount), cents)
    })
  }
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
    'an amount that cannot be counted': wrap(
      '<transaction_id>1</transaction_id><condition>complete</condition><currency>KWD</currency><action><action_type>sale</action_type><amount>9999999999999.999</amount></action>',
    ),
    'a paid charge without an amount': wrap(
      '<transaction_id>1</transaction_id><order_id>REF</order_id><condition>complete</condition><currency>USD</currency><action><action_type>sale</action_type><success>1</success></action>',
    ),
    'a paid charge of which nothing was captured': wrap(
      '<transaction_id>1</transaction_id><order_id>REF</order_id><condition>pendingsettlement</condition><currency>USD</currency><action><action_type>auth</action_type><amount>12.34</amount><success>1</success></action>',
    ),
    'an authorised charge without an action': wrap(
      '<transaction_id>1</transaction_id><order_id>REF</order_id><condition>pending</condition><currency>USD</currency>',
    ),
    'an amount that may have any decimals': wrap(
      '<transaction_id>1</transaction_id><order_id>REF</order_id><condition>complete</condition><action><action_type>sale</action_type><amount>12.3400</amount><success>1</success></action>',
    ),
    'a tag named for the prototype': wrap('<__proto__><polluted>1</polluted></__proto__>'),
  }
  for (const [name, body] of Object.entries(cases)) {
    test(`proves nothing: ${name}`, async (t) => {
      const { nmi, gateway } = await openNmi(t)
      const request = charge()
      nmi.answerNext(body.replace('REF', request.ref))
      const started = performance.now()
      assert.equal((await gateway.lookup(request)).found, 'unreachable')
      // A document that expands without end would take for ever, or all memory.
      assert.ok(performance.now() - started < 20_000)
      assert.equal(({} as { polluted?: unknown }).polluted, undefined)
    })
  }

  test('is complete when it is empty: the gateway has no such transaction', async (t) => {
    const { nmi, gateway } = await openNmi(t)
    for (const body of ['<nm_response></nm_response>', '<?xml version="1.0"?>\n<nm_response/>\n']) {
      nmi.answerNext(body)
      assert.equal((await gateway.lookup(charge())).found, 'no')
    }
  })
})
