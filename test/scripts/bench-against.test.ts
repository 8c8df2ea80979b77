import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readFigures, toTable } from '../../bench/against.ts'
import { readArguments } from '../../bench/run.ts'

describe('a figure of two commits', () => {
  test('is read from the output of either commit', () => {
    const printed = [
      'ok   checkouts by card over 100 stores: 168/s of 520/s, bare node:http + pg = 32 %',
      'LOW  idle memory without PostgreSQL: 163.52 MB of at most 150 MB',
      'ok   site read, 20 KB: 9123 req/s, 61.2 us CPU each of 9500 req/s, bare = 96 % (at least 75 %)',
      'something else',
    ]
    assert.deepEqual(readFigures(printed.join('\n')), [
      { name: 'checkouts by card over 100 stores', value: 168, unit: '/s' },
      { name: 'idle memory without PostgreSQL', value: 163.52, unit: 'MB' },
      { name: 'site read, 20 KB', value: 9_123, unit: 'req/s' },
    ])
  })

  test('shows the median and the range of both, and one as a ratio of the other', () => {
    const rounds = (...values: number[]) =>
      values.map((value) => [{ name: 'orders', value, unit: '/s' }])
    const table = toTable(rounds(100, 130, 110), rounds(50, 55, 60), '996490f')
    assert.deepEqual(
      table.split('\n').map((line) => line.trim().split(/ {2,}/)),
      [
        ['here', '996490f', 'here / there'],
        ['orders, /s', '110 (100-130)', '55.00 (50.00-60.00)', '2.000'],
      ],
    )
  })

  test('leaves out figures that only one of them measures', () => {
    const here = [[{ name: 'new', value: 1, unit: 's' }]]
    assert.doesNotMatch(toTable(here, [[]], '996490f'), /new/)
  })
})

for (const [args, said] of [
  [['chekcout'], /there is no figure chekcout/],
  [['--against', 'main'], /--against needs a figure/],
  [['checkout', '--against'], /--against/],
  [['checkout', '--against', 'main', '--rounds', 'few'], /--rounds needs a number/],
  [['--rond', '3'], /Unknown option '--rond'/],
] as const) {
  test(`npm run bench -- ${args.join(' ')} is refused`, () => {
    assert.throws(() => readArguments(args), said)
  })
}
