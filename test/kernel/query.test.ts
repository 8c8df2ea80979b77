import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readOneOf, readText, readTimestamp } from '../../src/kernel/query.ts'

describe('a query parameter', () => {
  test('a query parameter that is a time is read in UTC wherever the process runs', (t) => {
    const zone = process.env.TZ
    t.after(() => {
      if (zone === undefined) delete process.env.TZ
      else process.env.TZ = zone
    })
    process.env.TZ = 'Asia/Tokyo'
    const cases: [unknown, string | undefined][] = [
      ['2026-01-02', '2026-01-02T00:00:00.000Z'],
      ['2026-01-02T03:04', '2026-01-02T03:04:00.000Z'],
      ['2026-01-02T03:04:05', '2026-01-02T03:04:05.000Z'],
      ['2026-01-02 03:04', '2026-01-02T03:04:00.000Z'],
      ['2026-01-02t03:04:05.678z', '2026-01-02T03:04:05.678Z'],
      ['2026-01-02T03:04:05+02:00', '2026-01-02T01:04:05.000Z'],
      ['2026-01-02T03:04:05 02:00', '2026-01-02T01:04:05.000Z'],
      ['2026-01-02T03:04:05-0930', '2026-01-02T12:34:05.000Z'],
      ['2026-01-02T03:04:05+20:00', '2026-01-01T07:04:05.000Z'],
      [['2026-01-02', '2027-01-02'], '2026-01-02T00:00:00.000Z'],
      ['0000-01-01', undefined],
      ['0001-01-01T00:00+01:00', undefined],
      ['9999-12-31T23:59:59-01:00', undefined],
      ['2026-13-01', undefined],
      ['2026-01-02 (or so)', undefined],
      ['2026-01-02T25:00', undefined],
      ['2026-01-02T03:04:05+99:00', undefined],
      ['yesterday', undefined],
      ['1767312000', undefined],
      ['', undefined],
      [undefined, undefined],
    ]
    for (const [sent, read] of cases)
      assert.equal(readTimestamp({ at: sent }, 'at'), read, `${sent}`)
  })

  test('a query parameter that is blank, or not a text, is absent', () => {
    for (const raw of [undefined, '', '  ', 5, null, {}, [], [['x']]]) {
      assert.equal(readText({ q: raw }, 'q'), undefined)
    }
    assert.equal(readText({ q: ' a ' }, 'q'), ' a ')
    assert.equal(readText({ q: ['a', 'b'] }, 'q'), 'a')
  })

  test('a query parameter with fixed choices is one of them, or absent', () => {
    const all = ['draft', 'live'] as const
    assert.equal(readOneOf({ status: 'live' }, 'status', all), 'live')
    assert.equal(readOneOf({ status: 'LIVE' }, 'status', all), undefined)
    assert.equal(readOneOf({ status: ['draft', 'live'] }, 'status', all), 'draft')
  })
})
