import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { addressLines } from '../../manifest/address-lines.ts'
import { COUNTRIES, isCountry, ruleOf } from '../../manifest/countries.ts'

const NAMES = new Intl.DisplayNames('en', { type: 'region' })
const nameOf = (code: string) => (isCountry(code) ? (NAMES.of(code) ?? code) : code)

const write = (given: object) =>
  addressLines(
    {
      name: 'Grace',
      line1: '5 Elm St',
      city: 'City',
      state: '',
      postal_code: '',
      country: 'DE',
      ...given,
    },
    nameOf,
  )

describe('the lines of an address', () => {
  const examples: [given: object, lines: string[]][] = [
    [
      { line2: 'Apt 3', city: 'Portland', state: 'ME', postal_code: '04101', country: 'US' },
      ['Grace', '5 Elm St', 'Apt 3', 'Portland, ME 04101', 'United States'],
    ],
    [{ city: 'Berlin', postal_code: '10115' }, ['Grace', '5 Elm St', '10115 Berlin', 'Germany']],
    [
      { city: 'London', postal_code: 'SW1Y 4JH', country: 'GB' },
      ['Grace', '5 Elm St', 'London', 'SW1Y 4JH', 'United Kingdom'],
    ],
    [
      { city: 'Sydney', state: 'NSW', postal_code: '2000', country: 'AU' },
      ['Grace', '5 Elm St', 'Sydney NSW 2000', 'Australia'],
    ],
    [
      { city: 'Roma', state: 'RM', postal_code: '00184', country: 'IT' },
      ['Grace', '5 Elm St', '00184 Roma RM', 'Italy'],
    ],
    [
      { city: 'São Paulo', state: 'SP', postal_code: '01310-100', country: 'BR' },
      ['Grace', '5 Elm St', 'São Paulo-SP', '01310-100', 'Brazil'],
    ],
    [
      { city: 'Budapest', postal_code: '1051', country: 'HU' },
      ['Grace', 'Budapest', '5 Elm St', '1051', 'Hungary'],
    ],
    [
      { city: 'Chiyoda-ku', state: 'Tokyo', postal_code: '100-0001', country: 'JP' },
      ['Grace', '5 Elm St', 'Chiyoda-ku, Tokyo 100-0001', 'Japan'],
    ],
    [
      {
        name: '山田花子',
        line1: '千代田1-1',
        city: '千代田区',
        state: '東京都',
        postal_code: '100-0001',
        country: 'JP',
      },
      ['〒100-0001', '東京都千代田区', '千代田1-1', '山田花子', 'Japan'],
    ],
  ]
  for (const [given, lines] of examples) {
    test(`have the form of the country: ${lines.slice(1).join(' / ')}`, () => {
      assert.deepEqual(write(given), lines)
    })
  }

  test('have no gap and no separator for a missing part', () => {
    const us = { country: 'US', city: 'Portland' }
    assert.deepEqual(write({ ...us, postal_code: '04101' })[2], 'Portland 04101')
    assert.deepEqual(write({ ...us, state: 'ME' })[2], 'Portland, ME')
    assert.deepEqual(write({ ...us, city: '', state: 'ME', postal_code: '04101' })[2], 'ME 04101')
    assert.deepEqual(write({ name: null, city: 'Berlin' }), ['5 Elm St', 'Berlin', 'Germany'])
  })

  test('show no label, and the country in any script', () => {
    const labelled = { label: 'Home', name: '', city: 'Portland', state: 'ME', country: ' us' }
    assert.deepEqual(write(labelled), ['5 Elm St', 'Portland, ME', 'United States'])
    assert.equal(write({ country: 'Atlantis' }).at(-1), 'Atlantis')
  })

  test('leave out no part of an address in any country, in either script', () => {
    const parts = { line2: 'Two', city: '#C', state: '#S', postal_code: '#Z' }
    for (const country of COUNTRIES) {
      for (const line1 of ['One', '一番']) {
        const lines = write({ ...parts, line1, country })
        const text = lines.join('\n')
        for (const part of ['Grace', line1, 'Two', '#C', '#S', '#Z']) {
          assert.equal(text.split(part).length, 2, `${part} of ${country} in ${text}`)
        }
        assert.equal(lines.at(-1), nameOf(country))
        assert.ok(lines.every((line) => line === line.trim()))
      }
    }
  })

  test('name the places in the order of the form', () => {
    // Forms have the postal code first in Japan, as addresses in its own script do, and all over Europe.
    const others = ['HU', 'JP', 'LV']
    const values = { postal_code: '#Z', city: '#C', state: '#S' }
    for (const country of COUNTRIES.filter((code) => !others.includes(code))) {
      const { postcode, region, order } = ruleOf(country)
      if (postcode?.pattern == null) continue
      const shown = order.filter((part) => part !== 'state' || region !== null)
      const text = write({ ...values, ...(region === null && { state: '' }), country }).join()
      const places = shown.map((part) => text.indexOf(values[part]))
      assert.deepEqual(
        places,
        places.toSorted((a, b) => a - b),
        `${country}: ${text}`,
      )
    }
  })
})
