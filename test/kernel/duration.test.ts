import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { addDuration } from '../../src/kernel/duration.ts'

const add = (text: string, from = '2027-01-31T10:00:00.000Z', zone = 'UTC') =>
  addDuration(zone, new Date(from), text)?.toISOString() ?? null

describe('addDuration', () => {
  test('adds whole units of ISO 8601, years to days by the calendar', () => {
    assert.equal(add('PT1S'), '2027-01-31T10:00:01.000Z')
    assert.equal(add('PT36H'), '2027-02-01T22:00:00.000Z')
    assert.equal(add('P1D'), '2027-02-01T10:00:00.000Z')
    assert.equal(add('P2W'), '2027-02-14T10:00:00.000Z')
    assert.equal(add('P1M'), '2027-02-28T10:00:00.000Z', 'a short month ends earlier')
    assert.equal(add('P1Y1M'), '2028-02-29T10:00:00.000Z', 'a leap year has one day more')
    assert.equal(add('P1Y2M3W4DT5H6M7S'), '2028-04-25T15:06:07.000Z')
  })

  test('keeps the time of day of the zone when its clocks change', () => {
    const berlin = (text: string) => add(text, '2027-03-27T12:00:00.000Z', 'Europe/Berlin')
    assert.equal(berlin('P1D'), '2027-03-28T11:00:00.000Z', 'the day has 23 hours')
    assert.equal(berlin('PT24H'), '2027-03-28T12:00:00.000Z')
  })

  for (const text of [
    ...['', 'P', 'PT', 'P1', '1M', 'p1m', 'P1M ', 'P-1D', '-P1D', 'P1.5D', 'P1DT', 'PT1D', 'P1H'],
    ...['P1M1Y', 'P1D1W', 'P1e3D', 'P１D', 'P1234567890D', 'P\n1D', '2027-02-28'],
  ]) {
    test(`refuses ${JSON.stringify(text)}`, () => assert.equal(add(text), null))
  }

  test('refuses a duration that leads beyond the years that a date can have', () => {
    for (const text of ['P9999Y', 'P999999999M', 'P999999999D', 'PT999999999H']) {
      assert.equal(add(text), null, text)
    }
  })
})
