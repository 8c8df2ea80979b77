import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  addByCalendar,
  addDays,
  type CalendarUnit,
  hourOfDay,
  localDay,
  startOfDay,
} from '../../src/kernel/time.ts'

type Row = [zone: string, at: string, count: number, unit: CalendarUnit, then: string]

const after = ([zone, at, count, unit]: Row) =>
  addByCalendar(zone, new Date(at), count, unit).toISOString()

test('a month later is never beyond the last day of that month, in every year and zone', () => {
  const rows: Row[] = [
    ['UTC', '2031-01-31T12:00:00.001Z', 1, 'month', '2031-02-28T12:00:00.001Z'],
    ['UTC', '2032-01-31T12:00:00.000Z', 1, 'month', '2032-02-29T12:00:00.000Z'],
    ['UTC', '2031-12-31T23:59:59.999Z', 1, 'month', '2032-01-31T23:59:59.999Z'],
    ['UTC', '2031-12-31T23:59:59.999Z', 2, 'month', '2032-02-29T23:59:59.999Z'],
    ['UTC', '2032-02-29T00:00:00.000Z', 1, 'year', '2033-02-28T00:00:00.000Z'],
    ['UTC', '2032-02-29T00:00:00.000Z', 4, 'year', '2036-02-29T00:00:00.000Z'],
    ['UTC', '2031-12-31T00:00:00.000Z', 1, 'day', '2032-01-01T00:00:00.000Z'],
    ['UTC', '2032-02-26T00:00:00.000Z', 1, 'week', '2032-03-04T00:00:00.000Z'],
    ['UTC', '2026-01-31T00:00:00.000Z', 1_000, 'year', '3026-01-31T00:00:00.000Z'],
    ['Asia/Tokyo', '2031-01-30T23:30:00.000Z', 1, 'month', '2031-02-27T23:30:00.000Z'],
    ['Pacific/Kiritimati', '2031-12-31T10:00:00.000Z', 1, 'month', '2032-01-31T10:00:00.000Z'],
  ]
  for (const row of rows) assert.equal(after(row), row[4], row.join(' '))
})

test('a day later is the next day of the zone, also when its clocks change', () => {
  const rows: Row[] = [
    ['Europe/Berlin', '2031-09-30T22:30:00.000Z', 1, 'month', '2031-10-31T23:30:00.000Z'],
    ['Europe/Berlin', '2031-02-28T23:00:00.000Z', 1, 'month', '2031-03-31T22:00:00.000Z'],
    ['America/New_York', '2031-10-31T03:30:00.000Z', 1, 'week', '2031-11-07T04:30:00.000Z'],
    ['Asia/Kathmandu', '2031-01-30T18:15:00.000Z', 1, 'month', '2031-02-27T18:15:00.000Z'],
    // Half past two, which the clocks of Berlin skip that night.
    ['Europe/Berlin', '2031-03-29T01:30:00.000Z', 1, 'day', '2031-03-30T01:30:00.000Z'],
    // The clocks of Santiago skip midnight: one o'clock is the first hour of that day.
    ['America/Santiago', '2025-08-07T04:00:00.000Z', 1, 'month', '2025-09-07T04:00:00.000Z'],
    // Half past two comes twice.
    ['Europe/Berlin', '2031-10-25T00:30:00.000Z', 1, 'day', '2031-10-26T00:30:00.000Z'],
  ]
  for (const row of rows) assert.equal(after(row), row[4], row.join(' '))
})

test('an hour of a day is an hour in the zone; if the clocks skip it, it is later by as much', () => {
  const rows: [zone: string, day: string, hour: number, at: string | undefined][] = [
    ['UTC', '2031-12-24', 9, '2031-12-24T09:00:00.000Z'],
    ['Europe/Berlin', '2031-07-01', 9, '2031-07-01T07:00:00.000Z'],
    ['Europe/Berlin', '2031-12-24', 9, '2031-12-24T08:00:00.000Z'],
    ['America/New_York', '2031-12-24', 9, '2031-12-24T14:00:00.000Z'],
    ['Pacific/Kiritimati', '2031-01-01', 9, '2030-12-31T19:00:00.000Z'],
    ['Europe/Berlin', '2031-03-30', 2, '2031-03-30T01:00:00.000Z'],
    ['UTC', '2031-02-29', 9, undefined],
    ['UTC', '2031-13-01', 9, undefined],
    ['UTC', '31-01-01', 9, undefined],
    ['UTC', 'tomorrow', 9, undefined],
  ]
  for (const [zone, day, hour, at] of rows) {
    assert.equal(hourOfDay(zone, day, hour)?.toISOString(), at, `${zone} ${day}`)
  }
  assert.equal(localDay('Pacific/Kiritimati', new Date('2031-01-01T11:00:00Z')), '2031-01-02')
  assert.equal(localDay('America/New_York', new Date('2031-01-01T04:59:00Z')), '2030-12-31')
})

test('a date is right to the second, also where clocks change a minute after midnight', () => {
  const day = (time: string) => localDay('America/St_Johns', new Date(`2010-11-07T${time}Z`))
  assert.deepEqual(
    ['02:29:59', '02:30:00', '02:30:59.999', '02:31:00', '03:29:59', '03:30:00'].map(day),
    ['2010-11-06', '2010-11-07', '2010-11-07', '2010-11-06', '2010-11-06', '2010-11-07'],
  )
})

test('a date begins at its first moment in the zone, also when clocks change at midnight', () => {
  const rows = [
    ['UTC', '2026-01-01', '2026-01-01T00:00:00.000Z'],
    ['Europe/Berlin', '2026-10-25', '2026-10-24T22:00:00.000Z'],
    ['Europe/Berlin', '2026-10-26', '2026-10-25T23:00:00.000Z'],
    ['America/New_York', '2026-11-01', '2026-11-01T04:00:00.000Z'],
    ['America/New_York', '2026-11-02', '2026-11-02T05:00:00.000Z'],
    // The clocks of Santiago skip midnight: the date begins at one o'clock.
    ['America/Santiago', '2025-09-07', '2025-09-07T04:00:00.000Z'],
    // And in April they go back at midnight: the date begins an hour later.
    ['America/Santiago', '2025-04-06', '2025-04-06T04:00:00.000Z'],
    ['Pacific/Kiritimati', '2026-01-01', '2025-12-31T10:00:00.000Z'],
  ] as const
  for (const [zone, day, at] of rows) {
    assert.equal(startOfDay(zone, day).toISOString(), at, `${zone} ${day}`)
    assert.equal(localDay(zone, new Date(at)), day)
    assert.ok(localDay(zone, new Date(Date.parse(at) - 1)) < day)
  }
})

test('days are added by the calendar', () => {
  assert.equal(addDays('2028-02-28', 1), '2028-02-29')
  assert.equal(addDays('2026-01-01', -1), '2025-12-31')
  assert.equal(addDays('2026-03-01', 365), '2027-03-01')
})
