import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTestDatabase } from '../harness/database.ts'
import { openSuperuser } from '../harness/superuser.ts'

/**
 * All zones that PostgreSQL knows, anchors on every day that some month lacks, and both sides of a leap year; 60
 * periods of each unit. Of zones that have the same time on every day of two years, one stands for the others.
 */
const PERIODS = `
  with days as (
    select name, string_agg((at at time zone name)::text, ',' order by at) as times
      from pg_timezone_names,
           generate_series(timestamptz '2027-01-01 06:00Z', '2028-12-31 06:00Z', interval '1 day') as at
     where name not like 'posix%'
     group by name
  ),
  zones as (select min(name) as name from days group by times)
  select z.name as zone, a.anchor::date as anchor, u.unit, u.count, n,
         fd_period_start(a.anchor::date, u.unit, u.count, n, z.name) as at
    from zones z,
         (values ('2027-01-30'), ('2027-01-31'), ('2028-02-29')) as a (anchor),
         (values ('day', 3), ('week', 1), ('month', 1), ('year', 1)) as u (unit, count),
         generate_series(0, 60) as n`

test('periods strictly grow, fall on the day of their anchor at 06:00, and never drift, in every time zone', async (t) => {
  const database = await openTestDatabase(t)
  const superuser = await openSuperuser(t, database)
  const { rows } = await superuser.query(`
    with periods as (${PERIODS}),
    seen as (
      select *, at at time zone zone as local,
             lag(at) over (partition by zone, anchor, unit, count order by n) as before
        from periods
    )
    select count(*)::int as checked,
           count(*) filter (where before is not null and at <= before)::int as shrunk,
           count(*) filter (where local::time <> '06:00')::int as at_another_hour,
           count(*) filter (where unit in ('month', 'year') and extract(day from local) <> least(
             extract(day from anchor),
             extract(day from date_trunc('month', local) + interval '1 month - 1 day')))::int as drifted,
           count(*) filter (where unit = 'month' and
             12 * extract(year from local) + extract(month from local)
               <> 12 * extract(year from anchor) + extract(month from anchor) + n * count)::int as wrong_month,
           count(*) filter (where unit = 'day' and local::date <> anchor + n * count)::int as wrong_day,
           count(*) filter (where unit = 'week' and local::date <> anchor + 7 * n * count)::int as wrong_week
      from seen`)
  const { checked, ...faults } = rows[0]
  assert.ok(checked > 40_000, `only ${checked} periods`)
  assert.deepEqual(faults, {
    shrunk: 0,
    at_another_hour: 0,
    drifted: 0,
    wrong_month: 0,
    wrong_day: 0,
    wrong_week: 0,
  })
})

test('the 31st returns after February, and 29 February after three years without one', async (t) => {
  const superuser = await openSuperuser(t, await openTestDatabase(t))
  const days = async (anchor: string, unit: string, to: number) => {
    const { rows } = await superuser.query(
      `select (fd_period_start($1::date, $2, 1, n, 'Europe/Berlin') at time zone 'Europe/Berlin')::date::text as day
         from generate_series(0, $3::int) as n`,
      [anchor, unit, to],
    )
    return rows.map(({ day }) => day)
  }
  assert.deepEqual(await days('2027-01-31', 'month', 4), [
    '2027-01-31',
    '2027-02-28',
    '2027-03-31',
    '2027-04-30',
    '2027-05-31',
  ])
  assert.deepEqual(await days('2028-02-29', 'year', 4), [
    '2028-02-29',
    '2029-02-28',
    '2030-02-28',
    '2031-02-28',
    '2032-02-29',
  ])
})

test('the first period after a moment is the same as when the periods are counted one by one', async (t) => {
  const superuser = await openSuperuser(t, await openTestDatabase(t))
  const { rows } = await superuser.query(`
    with moments as (
      select z.zone, a.anchor::date as anchor, u.unit, u.count, p.n, m.shift,
             fd_period_start(a.anchor::date, u.unit, u.count, p.n, z.zone) + m.shift as at
        from (values ('UTC'), ('Pacific/Kiritimati'), ('Pacific/Pago_Pago'), ('America/New_York')) as z (zone),
             (values ('2027-01-31'), ('2028-02-29'), ('2027-12-01')) as a (anchor),
             (values ('day', 1), ('day', 7), ('week', 2), ('month', 1), ('month', 5), ('year', 1)) as u (unit, count),
             generate_series(0, 40) as p (n),
             (values (interval '0'), (interval '-1 second'), (interval '12 hours')) as m (shift)
    )
    select count(*)::int as checked,
           count(*) filter (where fd_period_after(anchor, unit, count, zone, at)
             <> case when shift < interval '0' then n else n + 1 end)::int as wrong
      from moments`)
  assert.ok(rows[0].checked > 5_000)
  assert.equal(rows[0].wrong, 0)
})
