/**
 * The beginning of a cell: characters that spreadsheets skip, marks that stand there already, and the first character
 * of a formula if it is one. The last four are full-width forms, which an East Asian keyboard types.
 */
const BEGINNING = /([\s"]*)('*)([=+\-@|%＝＋－＠]?)/y

/**
 * Characters after which a spreadsheet may begin a new cell within a text. It splits by the separator of its language,
 * a semicolon in most of Europe, and then respects neither our quotes nor the line breaks between them.
 */
const SEPARATOR = /[;|\t\r\n\v\f]/g

/**
 * Puts a mark before each formula that would begin in a text. If the text has such marks itself it gets one more, so
 * that a reader who removes one of each restores the text.
 */
function markFormulas(text: string): string {
  let marked = ''
  let copied = 0
  for (let at = 0; at < text.length; ) {
    BEGINNING.lastIndex = at
    const [, skipped = '', marks = '', formula = ''] = BEGINNING.exec(text) ?? []
    const place = at + skipped.length
    if (formula !== '') {
      marked += `${text.slice(copied, place)}'`
      copied = place
    }
    SEPARATOR.lastIndex = place + marks.length
    if (!SEPARATOR.test(text)) break
    at = SEPARATOR.lastIndex
  }
  return marked + text.slice(copied)
}

/**
 * Writes a cell of a CSV file. A text that a spreadsheet would run as a formula is marked as text, also if the
 * spreadsheet would begin a cell within the text, and every cell is quoted, so that opening the file runs none of its
 * texts.
 */
export function cell(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'string' ? markFormulas(value) : String(value)
  return `"${text.replaceAll('"', '""')}"`
}

/** Writes a line of a CSV file. */
export const csvLine = (values: readonly unknown[]): string => `${values.map(cell).join(',')}\r\n`
