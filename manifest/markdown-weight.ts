/**
 * How much work a text in Markdown makes, counted without parsing it. A table may have many more cells than the text
 * has characters: a row that is too short is filled up. So it is counted before it is rendered, and the platform warns
 * by the same count when a site is saved (decision 0073).
 */

/**
 * A text is rendered up to this weight. Below it, any text of 60,000 characters takes less than a tenth of a second, in
 * which a process answers no other store. The terms of a large shop weigh 7,000.
 */
export const TEXT_WEIGHT_MAX = 20_000

/** The texts of a page are rendered up to this weight together. */
export const PAGE_WEIGHT_MAX = 30_000

/** A line may begin a block, which costs as much as several marks. */
const LINE = 3
/** A cell of a table. Cells that fill up a short row are not in the text. */
const CELL = 2

const LINE_END = /\r\n?|\n/
const BLANK = /^[\s>]*$/

/** Weighs a text: its marks, its lines and the cells of its tables. */
export function markdownWeight(text: string): number {
  let weight = 0
  let columns = 0
  let above = ''
  for (const line of text.split(LINE_END)) {
    // No row of a table follows an empty line. Until then the widest table counts: a line like the one below a head
    // may also be a row.
    columns = BLANK.test(line) ? 0 : Math.max(columns, columnsOf(above, line))
    weight += LINE + countMarks(line) + CELL * columns
    above = line
  }
  return weight
}

/** Counts the marks of a line: all of Markdown's are punctuation of ASCII. */
function countMarks(line: string): number {
  let marks = 0
  for (let at = 0; at < line.length; at++) {
    const code = line.charCodeAt(at)
    const isMark =
      (code > 0x20 && code < 0x30) ||
      (code > 0x39 && code < 0x41) ||
      (code > 0x5a && code < 0x61) ||
      (code > 0x7a && code < 0x7f)
    if (isMark) marks += 1
  }
  return marks
}

const IN_DELIMITER = '|:- \t'

/**
 * How many columns a table that begins with these two lines has at most; 0 if no table can begin there. The second line
 * ends in pipes, dashes and colons; before them stand the marks of quotes and lists.
 */
function columnsOf(above: string, line: string): number {
  if (!above.includes('|')) return 0
  const text = line.trimEnd()
  let columns = 1
  let hasDash = false
  for (let at = text.length - 1; at >= 0; at--) {
    const each = text.charAt(at)
    if (!IN_DELIMITER.includes(each)) break
    if (each === '|') columns += 1
    else if (each === '-') hasDash = true
  }
  return hasDash ? columns : 0
}
