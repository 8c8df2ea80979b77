import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { hasCardNumber } from '../../src/kernel/card-numbers.ts'
import { passesLuhn } from '../../src/kernel/luhn.ts'

/** Test numbers that networks and gateways publish. */
const CARDS = {
  Visa: '4111111111111111',
  'Visa of 19 digits': '4000000000000000006',
  Mastercard: '5555555555554444',
  'Mastercard of the second series': '2223003122003222',
  'American Express': '378282246310005',
  'Diners Club': '30569309025904',
  'Diners Club International': '36227206271667',
  Discover: '6011111111111117',
  JCB: '3530111333300000',
  UnionPay: '6200000000000005',
  Maestro: '6759649826438453',
}

const grouped = (digits: string, separator: string) =>
  digits.replace(/(\d{4})(?=\d)/g, `$1${separator}`)

describe('a card number is found', () => {
  for (const [network, number] of Object.entries(CARDS)) {
    test(`a card number of ${network} is found in every form that people write`, () => {
      const forms = [
        number,
        grouped(number, ' '),
        grouped(number, '-'),
        grouped(number, '.'),
        grouped(number, '\u00a0'),
        grouped(number, ' - ').replaceAll(' - ', '- '),
        `my card is ${number}, thanks`,
        `card:${number};cvv:123`,
        `${grouped(number, ' ')} 12 39 123`,
        `12345 ${grouped(number, ' ')}`,
        `c${number}x`,
        `cust_${number}`,
        `${number}@acme.example`,
        number.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
      ]
      for (const form of forms) assert.ok(hasCardNumber(form), form)
    })
  }

  test('a card number of 13 digits is found where it is written in groups', () => {
    assert.ok(hasCardNumber('4222 2222 2222 2'))
  })
})

describe('no card number is found in', () => {
  const HARMLESS: Record<string, string> = {
    'a number that fails the Luhn check': '4111111111111112',
    'an EAN-13 barcode that passes it': '4006381300063',
    'a GTIN-14 that passes it': '14006381300046',
    'an id of 13 digits that passes it': '4222222222222',
    'a phone number': '+4111111111111111',
    'a phone number in groups': '+49 151 2345 6789 01',
    'a time in milliseconds': '1763316000001',
    'a time in microseconds': '1763316000000005',
    'a time by its digits': '20261116193045016',
    'a snowflake id': '1189723045678123457',
    'a UUID of digits': '41111111-1111-4111-8111-111111111111',
    'a UUID of ours': '019a8f3c-4111-7111-8111-111111111111',
    'a parcel of USPS': '9400111899223033005436',
    'a parcel of FedEx': '961207716224',
    'an IBAN': 'GB29 NWBK 6016 1331 9268 19',
    'a German IBAN': 'DE89 3704 0044 0532 0130 00',
    'an order and a date': 'FD-1042 of 2026-11-16 19:30:45',
  }
  for (const [what, text] of Object.entries(HARMLESS)) {
    test(what, () => assert.equal(hasCardNumber(text), false))
  }

  test('more than three of a hundred numbers, of any length', () => {
    for (let length = 13; length <= 19; length++) {
      const share = 10n ** BigInt(length - 1)
      // Spread over the whole range by a multiplication, as a generator of random numbers does.
      const all = Array.from({ length: 9_000 }, (_, i) =>
        String(share + ((BigInt(i) * 6_364_136_223_846_793_005n) % (9n * share))),
      )
      assert.ok(all.filter(passesLuhn).length > 500, 'every tenth passes the Luhn check')
      const found = all.filter(hasCardNumber).length
      assert.ok(found / all.length < 0.03, `${found} of ${all.length} with ${length} digits`)
    }
  })
})
