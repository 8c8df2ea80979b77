import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import { serialize } from 'node:v8'
import { ApiError } from '../../../src/errors.ts'
import { reveal } from '../../../src/modules/payments/adapters/card.ts'
import { readCard, readSource } from '../../../src/modules/payments/card.ts'
import { createLogger } from '../../../src/platform/log.ts'
import { showsCard } from '../../harness/card-digits.ts'
import { clockAt } from './setup.ts'

const VISA = '4111111111111111'
const input = { ccnumber: VISA, ccexp: '10/30', cvv: '314' }
const clock = clockAt('2026-06-15T00:00:00Z')
const key = randomBytes(32)

/** The paths of the issues that a card is refused with. */
function refusals(card: { ccnumber: string; ccexp: string; cvv?: string }, at = clock): string[] {
  try {
    readCard(card, at)
    return []
  } catch (error) {
    assert.ok(error instanceof ApiError)
    assert.equal(error.code, 'invalid_body')
    const shown = JSON.stringify(error.body) + error.message
    for (const secret of [card.ccnumber, card.cvv]) {
      if (secret && secret.length > 2) assert.ok(!shown.includes(secret), shown)
    }
    return (error.body.issues as { path: string }[]).map(({ path }) => path)
  }
}

describe('a card', () => {
  test('shows brand, last four digits and expiry', () => {
    const { brand, last4, bin, exp_month, exp_year } = readCard(input, clock)
    const expected = {
      brand: 'visa',
      last4: '1111',
      bin: '41111111',
      exp_month: 10,
      exp_year: 2030,
    }
    assert.deepEqual({ brand, last4, bin, exp_month, exp_year }, expected)
  })

  test('has a brand by its first digits', () => {
    const brands = {
      '4111111111111111': 'visa',
      '5431111111111111': 'mastercard',
      '2223003122003222': 'mastercard',
      '6011601160116611': 'discover',
      '341111111111111': 'amex',
      '30569309025904': 'diners',
      '3566002020360505': 'jcb',
      '6200000000000005': 'unionpay',
      '9999999999999995': 'unknown',
    }
    for (const [ccnumber, brand] of Object.entries(brands)) {
      assert.equal(readCard({ ccnumber, ccexp: '10/30' }, clock).brand, brand, ccnumber)
    }
  })

  test('is read with its digits in groups', () => {
    for (const ccnumber of ['4111 1111 1111 1111', '4111-1111-1111-1111']) {
      const card = readCard({ ...input, ccnumber }, clock)
      assert.equal(reveal(card).number, VISA)
      assert.equal(card.fingerprint(key), readCard(input, clock).fingerprint(key))
    }
  })

  test('does not reveal its number when it is printed, copied or stored', () => {
    const card = readCard(input, clock)
    const deep = { showHidden: true, getters: true, depth: null } as const
    const views = [
      JSON.stringify({ card }),
      String(card),
      inspect(card),
      inspect({ nested: { card } }, deep),
      JSON.stringify({ ...card }),
      JSON.stringify(Object.getOwnPropertyDescriptors(card)),
      inspect(structuredClone({ ...card })),
      serialize({ ...card }).toString('latin1'),
      inspect(Object.assign(new Error('x'), { card }), deep),
    ]
    for (const view of views) {
      assert.ok(!view.includes(VISA) && !view.includes('314'), view)
    }
    assert.deepEqual(Object.keys(card), [])
    assert.equal(inspect(card), '{}')
    assert.throws(() => structuredClone(card).fingerprint(key))
  })

  test('cannot be forged or changed', () => {
    const card = readCard(input, clock)
    assert.throws(() => Object.assign(card, { last4: '0000' }))
    assert.throws(() => reveal({ ...card, last4: '1111' } as never), /no card that was read here/)
  })

  test('has a fingerprint that depends on a key', () => {
    const card = readCard(input, clock)
    assert.match(card.fingerprint(key), /^[0-9a-f]{64}$/)
    assert.notEqual(card.fingerprint(key), card.fingerprint(randomBytes(32)))
    const other = readCard({ ...input, ccexp: '11/31' }, clock)
    assert.equal(card.fingerprint(key), other.fingerprint(key), 'a renewed card is the same number')
  })

  test('is refused by field, without repeating the value, when it is invalid', () => {
    const bad = [
      '4111111111111112',
      '',
      '4',
      '411111111111',
      '41111111111111111110',
      '４１１１１１１１１１１１１１１１',
      '4111  1111 1111 1111',
      ' 4111111111111111',
      '4111111111111111\n',
      '4111x1111y1111z1111',
      '-4111111111111111',
      `${'4 '.repeat(1_000_000)}4`,
    ]
    for (const ccnumber of bad) {
      assert.deepEqual(refusals({ ...input, ccnumber }), ['card.ccnumber'], ccnumber.slice(0, 40))
    }
    for (const ccexp of [
      '',
      '1030',
      '10/2030',
      '1/30',
      '13/30',
      '00/30',
      '10-30',
      '10/30 ',
      '１０/30',
    ]) {
      assert.deepEqual(refusals({ ...input, ccexp }), ['card.ccexp'], ccexp)
    }
    for (const cvv of ['', '1', '12', '12345', 'abc', '12 ', '١٢٣']) {
      assert.deepEqual(refusals({ ...input, cvv }), ['card.cvv'], cvv)
    }
    const all = refusals({ ccnumber: '1', ccexp: '99/99', cvv: 'x' })
    assert.deepEqual(all, ['card.ccnumber', 'card.ccexp', 'card.cvv'])
    assert.deepEqual(refusals({ ccnumber: VISA, ccexp: '10/30' }), [], 'the code may be left out')
  })

  test('is valid until its month has ended in every time zone', () => {
    const card = { ccnumber: VISA, ccexp: '06/26' }
    assert.deepEqual(refusals(card, clockAt('2026-06-30T23:59:59Z')), [])
    assert.deepEqual(refusals(card, clockAt('2026-07-01T11:59:59Z')), [])
    assert.deepEqual(refusals(card, clockAt('2026-07-01T12:00:00Z')), ['card.ccexp'])
    const december = { ccnumber: VISA, ccexp: '12/26' }
    assert.deepEqual(refusals(december, clockAt('2027-01-01T12:00:00Z')), ['card.ccexp'])
    assert.deepEqual(refusals({ ccnumber: VISA, ccexp: '12/99' }), [])
  })

  test('is never in a log', () => {
    const card = readCard({ ...input, cvv: '8642' }, clock)
    const lines: string[] = []
    const logger = createLogger('trace', { write: (line) => void lines.push(line) })
    const error = Object.assign(new Error('charge failed'), { card, cause: { card } })
    logger.error({ err: error, card, body: { card } }, `paying by ${inspect(card)}`)
    logger.info({ source: { card } }, String(card))
    assert.equal(lines.length, 2)
    for (const line of lines) assert.ok(!showsCard(line, VISA, '8642'), line)
  })
})

describe('what a shopper pays by', () => {
  const read = (given: Parameters<typeof readSource>[0]) => readSource(given, clock)

  test('is a card or a token', () => {
    const source = read({ card: input })
    assert.ok(source && 'card' in source && source.card.last4 === '1111')
    assert.deepEqual(read({ payment_token: 'tok-1' }), { payment_token: 'tok-1' })
    assert.deepEqual(read({ card: { payment_token: 'tok-1' } }), { payment_token: 'tok-1' })
    assert.equal(read({}), null)
    assert.equal(read({ card: null, payment_token: null }), null)
  })

  test('is refused when it is both, or a malformed token', () => {
    const bad = [
      { card: input, payment_token: 'tok-1' },
      { payment_token: '' },
      { payment_token: 'a b' },
      { payment_token: 'a\n' },
      { payment_token: 'x'.repeat(256) },
      { card: { payment_token: 'tok-1' }, payment_token: 'tok-1' },
    ]
    for (const given of bad) {
      assert.throws(
        () => read(given),
        (error) =>
          error instanceof ApiError &&
          error.code === 'invalid_body' &&
          JSON.stringify(error.body).includes('"path":"payment_token"'),
      )
    }
    const inside = [
      { ...input, payment_token: 'tok-1' },
      { payment_token: 'tok-1', cvv: '999' },
      { payment_token: 'a b' },
    ]
    for (const card of inside) {
      assert.throws(
        () => read({ card }),
        (error) =>
          error instanceof ApiError &&
          JSON.stringify(error.body).includes('"path":"card.payment_token"'),
      )
    }
  })
})
