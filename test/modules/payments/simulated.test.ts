import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { resultOfLookup } from '../../../src/modules/payments/adapters/results.ts'
import { reversePayment } from '../../../src/modules/payments/gateway.ts'
import { CARDS, cardOf, chargeOf, openPaymentsApp } from './setup.ts'

test('the simulated gateway', async (t) => {
  const app = await openPaymentsApp(t)
  const { superuser, operator } = app
  let count = 0
  /** A store that no other test has charged in. */
  const open = async () => {
    const shop = await app.shop(`shop-${++count}`)
    return { ...shop, url: `/v1/stores/${shop.tenant}/payments/simulated` }
  }

  await t.test('answers each test card in its own way, and always the same', async () => {
    const { gateway } = await open()
    const expected = [
      [CARDS.approves, 'approved', null, '100', null],
      ['5431111111111111', 'approved', null, '100', null],
      ['6011601160116611', 'approved', null, '100', null],
      ['341111111111111', 'approved', null, '100', null],
      ['4242424242424242', 'approved', null, '100', null],
      [CARDS.disputed, 'approved', null, '100', null],
      [CARDS.declines, 'declined', 'card_declined', '200', 'soft'],
      [CARDS.poor, 'declined', 'insufficient_funds', '202', 'soft'],
      [CARDS.expired, 'declined', 'expired_card', '223', 'hard'],
      [CARDS.wrongCode, 'declined', 'incorrect_cvv', '225', 'hard'],
      [CARDS.broken, 'error', 'processing_error', '400', 'soft'],
    ] as const
    for (const [number, outcome, reason, code, retry] of expected) {
      for (const call of [gateway.authorize, gateway.sale]) {
        const result = await call(chargeOf(number))
        const { retry_class, card } = result
        assert.deepEqual(
          [result.outcome, result.reason, result.code, retry_class, card?.last4],
          [outcome, reason, code, retry, number.slice(-4)],
        )
      }
    }
    for (const amount_cents of [1, 99, 100_000_000_000]) {
      const { outcome } = await gateway.authorize(chargeOf(CARDS.approves, { amount_cents }))
      assert.equal(outcome, 'approved', 'any amount approves')
    }
    for (const amount_cents of [0, -1, 1.5, Number.NaN]) {
      const { outcome, reason } = await gateway.sale(chargeOf(CARDS.approves, { amount_cents }))
      assert.deepEqual([outcome, reason], ['error', 'amount_exceeded'])
    }
  })

  await t.test('times out after charging, and a lookup finds it', async () => {
    const { gateway } = await open()
    const charge = chargeOf(CARDS.silentAfter, { vault: true })
    const result = await gateway.authorize(charge)
    assert.deepEqual([result.outcome, result.txn_id], ['unknown', null])
    const found = await gateway.lookup({ ref: charge.ref })
    assert.deepEqual([found.found, found.state], ['yes', 'authorized'])
    assert.deepEqual([found.amount_cents, found.captured_cents], [1_234, 0])
    const resolved = resultOfLookup(gateway, found)
    assert.deepEqual([resolved.outcome, resolved.txn_id], ['approved', found.txn_id])
    assert.ok(found.txn_id && found.vault_id)
    const captured = await gateway.capture({ ...charge, txn_id: found.txn_id })
    assert.equal(captured.outcome, 'approved')
    const sale = chargeOf(CARDS.silentAfter)
    assert.equal((await gateway.sale(sale)).outcome, 'unknown')
    assert.equal((await gateway.lookup({ ref: sale.ref })).state, 'captured')
  })

  await t.test('times out without charging, and a lookup finds nothing', async () => {
    const { gateway, url } = await open()
    const charge = chargeOf(CARDS.silentBefore)
    assert.equal((await gateway.sale(charge)).outcome, 'unknown')
    assert.equal((await gateway.lookup({ ref: charge.ref })).found, 'no')
    assert.equal((await operator.get(url)).body.total, 0)
  })

  await t.test(
    'charges once for a reference, however often and concurrently it is sent',
    async () => {
      const { gateway, url } = await open()
      const charge = chargeOf(CARDS.approves, { vault: true })
      const results = await Promise.all(Array.from({ length: 8 }, () => gateway.sale(charge)))
      assert.equal(new Set(results.map((each) => JSON.stringify(each))).size, 1)
      assert.equal(results[0]?.outcome, 'approved')
      const other = await gateway.sale({ ...charge, amount_cents: 9_999 })
      assert.deepEqual([other.outcome, other.reason], ['error', 'duplicate'])
      const { charges, total } = (await operator.get(url)).body
      assert.equal(total, 1)
      const kinds = charges[0].journal.map((each: { kind: string }) => each.kind)
      assert.deepEqual(kinds, ['authorize', 'capture'])
    },
  )

  await t.test('captures no more than was authorised, and only once', async () => {
    const { gateway } = await open()
    const charge = chargeOf(CARDS.approves)
    const { txn_id } = await gateway.authorize(charge)
    assert.ok(txn_id)
    const capture = (amount_cents: number, ref = charge.ref) =>
      gateway.capture({ ref, txn_id, amount_cents, currency: 'USD' })
    for (const amount of [1_235, 0, -1, 1.5, Number.NaN]) {
      assert.equal((await capture(amount)).reason, 'amount_exceeded', String(amount))
    }
    assert.equal((await capture(1_000)).outcome, 'approved')
    assert.equal(
      (await capture(1_000)).outcome,
      'approved',
      'a repeated request gets the same result',
    )
    assert.equal((await capture(999)).reason, 'duplicate')
    assert.equal((await capture(234, randomUUID())).reason, 'invalid_state')
    assert.equal((await gateway.lookup({ txn_id })).captured_cents, 1_000)
    const declined = await gateway.authorize(chargeOf(CARDS.declines))
    const none = { txn_id: declined.txn_id ?? '', amount_cents: 1, currency: 'USD' }
    const nothing = { ref: randomUUID(), ...none }
    assert.equal((await gateway.capture(nothing)).reason, 'invalid_state')
    assert.equal((await gateway.capture({ ...nothing, txn_id: 'x' })).reason, 'invalid_state')
  })

  await t.test('refunds no more than was captured, even by requests at the same time', async () => {
    const { gateway } = await open()
    const sale = await gateway.sale(chargeOf(CARDS.approves))
    const what = { txn_id: sale.txn_id ?? '', currency: 'USD' }
    const refund = (amount_cents: number, ref: string = randomUUID()) =>
      gateway.refund({ ...what, ref, amount_cents })
    const results = await Promise.all(Array.from({ length: 10 }, () => refund(200)))
    assert.equal(results.filter((each) => each.outcome === 'approved').length, 6)
    assert.ok(
      results.every((each) => each.outcome === 'approved' || each.reason === 'amount_exceeded'),
    )
    const ref = randomUUID()
    const again = await Promise.all([refund(34, ref), refund(34, ref), refund(34, ref)])
    assert.deepEqual(
      again.map((each) => each.outcome),
      ['approved', 'approved', 'approved'],
    )
    const { state, refunded_cents, refunds } = await gateway.lookup({ txn_id: what.txn_id })
    assert.deepEqual([state, refunded_cents, refunds.length], ['refunded', 1_234, 7])
    const found = await gateway.lookup({ ref })
    assert.deepEqual([found.state, found.amount_cents], ['refunded', 34])
    assert.equal((await refund(1)).reason, 'amount_exceeded')
    const held = await gateway.authorize(chargeOf(CARDS.approves))
    const early = { ...what, txn_id: held.txn_id ?? '', ref: randomUUID(), amount_cents: 1 }
    assert.equal((await gateway.refund(early)).reason, 'invalid_state')
  })

  await t.test('voids a charge until it is settled, and refunds it after that', async () => {
    const { gateway } = await open()
    const held = chargeOf(CARDS.approves)
    const { txn_id } = await gateway.authorize(held)
    assert.ok(txn_id)
    assert.equal((await gateway.void({ txn_id })).outcome, 'approved')
    assert.equal((await gateway.void({ txn_id })).outcome, 'approved')
    assert.equal((await gateway.lookup({ ref: held.ref })).state, 'voided')
    assert.equal((await gateway.capture({ ...held, txn_id })).reason, 'invalid_state')

    const sale = await gateway.sale(chargeOf(CARDS.approves))
    await superuser.query(`update sim_charges set captured_at = now() - interval '25 hours'
                            where captured_at is not null`)
    const what = { ...held, ref: randomUUID(), txn_id: sale.txn_id ?? '' }
    assert.equal((await gateway.lookup(what)).found, 'no', 'a reference of its own')
    assert.equal((await gateway.lookup({ txn_id: what.txn_id })).state, 'settled')
    assert.equal((await gateway.void(what)).reason, 'already_settled')
    assert.equal((await reversePayment(gateway, what)).outcome, 'approved')
    assert.equal(
      (await reversePayment(gateway, what)).outcome,
      'approved',
      'a repeated request gets the same result',
    )
    const after = await gateway.lookup({ txn_id: what.txn_id })
    assert.deepEqual([after.state, after.refunded_cents], ['refunded', 1_234])
  })

  await t.test(
    'checks address and CVV by the test values, and declines no charge for them',
    async () => {
      const { gateway } = await open()
      const to = (line1: string, postal_code: string) => ({ ship_to: { line1, postal_code } })
      const expected = [
        [to('888', '77777'), '999', 'Y', 'M'],
        [to('888', '1'), '123', 'A', 'N'],
        [to('1', '77777'), undefined, 'Z', null],
        [to('1', '1'), '9999', 'N', 'N'],
        [{}, '999', null, 'M'],
      ] as const
      for (const [more, code, avs, cvv] of expected) {
        const source = { card: cardOf(CARDS.approves, code) }
        const result = await gateway.authorize(chargeOf(CARDS.approves, { ...more, source }))
        assert.deepEqual([result.outcome, result.avs, result.cvv], ['approved', avs, cvv])
      }
    },
  )

  await t.test('stores a card under a token that behaves like the card', async () => {
    const { gateway } = await open()
    const first = await gateway.authorize(chargeOf(CARDS.approves, { vault: true }))
    assert.ok(first.vault_id)
    const { source: _, ...renewal } = chargeOf(CARDS.approves)
    const { vault_id, txn_id } = first
    const charged = await gateway.vaultCharge({ ...renewal, vault_id, initial_txn_id: txn_id })
    assert.deepEqual([charged.outcome, charged.card?.last4], ['approved', '1111'])
    assert.equal((await gateway.lookup({ ref: renewal.ref })).state, 'captured')
    const poor = await gateway.vaultAdd({ ref: randomUUID(), source: { card: cardOf(CARDS.poor) } })
    assert.ok(poor.vault_id)
    const declined = await gateway.vaultCharge({
      ...renewal,
      ref: randomUUID(),
      vault_id: poor.vault_id,
    })
    assert.equal(declined.reason, 'insufficient_funds')
    const token = { payment_token: first.vault_id }
    assert.equal(
      (await gateway.sale(chargeOf('4111111111111111', { source: token }))).outcome,
      'approved',
    )
    for (const source of [{ payment_token: 'nothing' }, { vault_id: randomUUID() }]) {
      const result = await gateway.sale(chargeOf(CARDS.approves, { source }))
      assert.deepEqual([result.outcome, result.reason], ['error', 'card_not_supported'])
    }
    const refused = await gateway.authorize(chargeOf(CARDS.declines, { vault: true }))
    assert.equal(refused.vault_id, null, 'a declined card is not stored')
  })

  await t.test('verifies a card without a charge, and forgets it when it is deleted', async () => {
    const { gateway } = await open()
    const check = (number: string) =>
      gateway.verify({ ref: randomUUID(), currency: 'USD', source: { card: cardOf(number) } })
    const { source: _, ...renewal } = chargeOf(CARDS.approves)
    const verified = await check(CARDS.approves)
    const vault_id = verified.vault_id ?? ''
    assert.deepEqual([verified.outcome, verified.card?.last4], ['approved', '1111'])
    assert.equal((await gateway.lookup({ ref: renewal.ref })).found, 'no')
    assert.equal((await gateway.vaultCharge({ ...renewal, vault_id })).outcome, 'approved')
    assert.equal((await gateway.vaultDelete({ vault_id })).outcome, 'approved')
    const again = await gateway.vaultCharge({ ...renewal, ref: randomUUID(), vault_id })
    assert.equal(again.reason, 'card_not_supported')
    assert.equal((await gateway.vaultDelete({ vault_id })).outcome, 'approved', 'deleted already')
    const declined = await check(CARDS.declines)
    assert.deepEqual([declined.outcome, declined.vault_id], ['declined', null])
  })

  await t.test('lets some stored cards follow a script, each card from its beginning', async () => {
    const { gateway } = await open()
    for (const [number, ...codes] of [
      ['4000000000000341', '200', '200', '200'],
      ['4000000000002685', '200', '200', '100', '100'],
      ['4000000000000911', '250', '250'],
      ['4000000000002610', '261', '100'],
      ['4000000000002628', '262', '100'],
      ['4000000000002636', '263', '263'],
      ['4000000000002644', '264', '100'],
      ['4000000000002651', '202', '100'],
    ] as const) {
      for (const round of ['charged', 'verified']) {
        const typed = chargeOf(number, { vault: true })
        const first = await (round === 'charged'
          ? gateway.authorize(typed)
          : gateway.verify({ ...typed, source: { card: cardOf(number) } }))
        assert.equal(first.outcome, 'approved', `${number} is approved when it is typed`)
        const source = { vault_id: first.vault_id ?? '' }
        for (const code of codes) {
          const charge = chargeOf(number, { source })
          assert.equal((await gateway.authorize(charge)).code, code, `${number}, ${round} card`)
          assert.equal((await gateway.authorize(charge)).code, code, 'the same charge again')
        }
      }
    }
  })

  await t.test('marks a charge that will be disputed', async () => {
    const { gateway, url } = await open()
    const charge = chargeOf(CARDS.disputed)
    await gateway.sale(charge)
    await gateway.sale(chargeOf(CARDS.approves))
    const { charges } = (await operator.get(url)).body
    assert.deepEqual(
      charges.map((each: { dispute_at: string }) => each.dispute_at !== null),
      [false, true],
    )
    assert.equal((await gateway.lookup(charge)).disputed, false)
    await superuser.query('update sim_charges set dispute_at = now() where dispute_at is not null')
    assert.equal((await gateway.lookup(charge)).disputed, true)
  })

  await t.test(
    "commits apart from a caller's failed transaction, and keeps the stores' records apart",
    async () => {
      const { gateway, db } = await open()
      const charge = chargeOf(CARDS.approves)
      const failing = db.transaction('test: fails', async () => {
        await gateway.sale(charge)
        throw new Error('our side failed')
      })
      await assert.rejects(failing, /our side failed/)
      assert.equal((await gateway.lookup(charge)).found, 'yes')
      const { gateway: globex } = await app.shop('globex')
      assert.equal((await globex.lookup(charge)).found, 'no')
      const { txn_id } = await gateway.lookup(charge)
      assert.equal((await globex.void({ txn_id: txn_id ?? '' })).reason, 'invalid_state')
      assert.equal((await operator.get('/v1/stores/globex/payments/simulated')).body.total, 0)
      assert.equal((await operator.get('/v1/stores/nobody/payments/simulated')).status, 404)
    },
  )

  await t.test('stores no card number and no CVV, and its journal cannot be changed', async () => {
    const { gateway, url } = await open()
    const source = { card: cardOf(CARDS.approves, '739') }
    await gateway.sale(chargeOf(CARDS.approves, { source, vault: true }))
    const tables = ['sim_charges', 'sim_journal', 'sim_vault', 'payment_attempts']
    for (const table of tables) {
      const { rows } = await superuser.query(`select c::text as row from ${table} c`)
      for (const { row } of rows) {
        // Neither a part of an id nor the fraction of a time counts.
        assert.ok(!row.includes(CARDS.approves) && !/(?<![\w.-])739(?![\w-])/.test(row), row)
      }
    }
    assert.ok(!(await operator.get(url)).text.includes(CARDS.approves))
    await assert.rejects(superuser.query('update sim_journal set amount_cents = 1'))
    await assert.rejects(superuser.query('delete from sim_journal'))
  })

  await t.test('answers unknown, and never throws, when its own tables fail', async () => {
    const { gateway } = await open()
    const sale = await gateway.sale(chargeOf(CARDS.approves))
    await superuser.query('alter table sim_charges rename to gone')
    const txn_id = sale.txn_id ?? ''
    const part = { ref: randomUUID(), txn_id, amount_cents: 1, currency: 'USD' }
    const calls = [
      gateway.sale(chargeOf(CARDS.approves)),
      gateway.authorize(chargeOf(CARDS.approves)),
      gateway.capture(part),
      gateway.refund(part),
      gateway.void(part),
    ]
    for (const result of await Promise.all(calls)) assert.equal(result.outcome, 'unknown')
    assert.equal((await gateway.lookup({ txn_id })).found, 'unreachable')
    assert.equal(await gateway.listRecords(new Date(0), new Date()), null)
  })
})
