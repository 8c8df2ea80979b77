import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { cell, csvLine } from '../../src/kernel/csv.ts'

/** The program of integrators that reads our tables, which has no types. */
const EXAMPLE: string = '../../examples/import-products/import-products.mjs'
const { parseCsv, unmark } = (await import(EXAMPLE)) as {
  parseCsv(text: string): string[][]
  unmark(text: string): string
}

/** What a spreadsheet may take for the beginning of a formula, in ASCII and in its full-width form. */
const STARTS = [...'=+-@|%＝＋－＠']

/** How spreadsheets split a line: by a comma, or by what their language, or their dialog, uses in its place. */
const READERS = [[','], [';'], ['\t'], ['|'], [',', ';', '\t'], [';', '\t', '|']]

/**
 * Splits a file as Excel and LibreOffice do: a quote opens a quoted part only where a cell begins, what follows its
 * end is taken as it stands, and an unquoted line break ends a row, wherever the writer meant it to be.
 */
function readLoosely(text: string, separators: readonly string[]): string[] {
  const cells: string[] = []
  let at = 0
  while (at < text.length) {
    let value = ''
    if (text[at] === '"') {
      at++
      while (at < text.length && !(text[at] === '"' && text[at + 1] !== '"')) {
        if (text[at] === '"') at++
        value += text[at++]
      }
      at++
    }
    while (
      at < text.length &&
      !separators.includes(text[at] ?? '') &&
      !/[\r\n]/.test(text[at] ?? '')
    )
      value += text[at++]
    at++
    cells.push(value)
  }
  return cells
}

/** Texts of what is dangerous, and of what stands around it. */
const nasty = fc
  .array(fc.constantFrom(...STARTS, ...`;,\t\r\n|"' a1\u00A0\v\f`, 'cmd', '=1+1', ';=', '\n- '), {
    maxLength: 12,
  })
  .map((parts) => parts.join(''))

const value = fc.oneof(nasty, fc.string(), fc.constant(null))

const isFormula = (text: string) => STARTS.includes(text.replace(/^[\s"]+/, '')[0] ?? '')

describe('a table', () => {
  test('has no formula for a spreadsheet, whatever it takes for the separator', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(value, { minLength: 1, maxLength: 4 }), { maxLength: 3 }),
        (rows) => {
          const text = rows.map(csvLine).join('')
          for (const separators of READERS) {
            const found = readLoosely(text, separators).find(isFormula)
            assert.equal(
              found,
              undefined,
              `${JSON.stringify(text)} split by ${separators.join(' ')}`,
            )
          }
        },
      ),
      { numRuns: 2_000 },
    )
  })

  test('a table that is read back without its marks has the original texts', () => {
    const texts = fc.array(fc.oneof(nasty, fc.string()), { minLength: 2, maxLength: 4 })
    fc.assert(
      fc.property(texts, (row) => {
        const [read = []] = parseCsv(csvLine(row))
        assert.deepEqual(read.map(unmark), row)
      }),
      { numRuns: 2_000 },
    )
  })

  test('a table marks a text that begins like a formula, and no other text', () => {
    const marked: [text: string, marked: string][] = [
      ['=1+1', "'=1+1"],
      ['\t=1', "\t'=1"],
      [' ＝1', " '＝1"],
      ["Blue;=cmd|' /C calc'!A0", "Blue;'=cmd|' /C calc'!A0"],
      ['Blue;"=1"', `Blue;""'=1""`],
      ['- one\n- two', "'- one\n'- two"],
      ["'=1", "''=1"],
      ['Salt & pepper; 2-5 kg, a=b', 'Salt & pepper; 2-5 kg, a=b'],
      ["'s Gravenhage; 'til", "'s Gravenhage; 'til"],
    ]
    for (const [text, expected] of marked) assert.equal(cell(text), `"${expected}"`)
    assert.deepEqual([cell(-5), cell(null), cell('say "hi"')], ['"-5"', '', '"say ""hi"""'])
  })

  test('a table takes a time in proportion to its text, whatever the text is', () => {
    for (const piece of ['\t', ' ', "'", ';"', '=', '\n=']) {
      assert.ok(cell(piece.repeat(300_000)).length >= 300_000)
    }
  })
})
