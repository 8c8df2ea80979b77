/**
 * The first characters of a formula. The last four are what an East Asian keyboard types for them.
 */
const FORMULA = /^[=+\-@\t\r\n|%＝＋－＠]/

/**
 * A cell of the table. Text that a spreadsheet would run as a formula is marked as text, and every
 * cell is quoted, so that opening the file runs none of its texts.
 */
export function cell(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = String(value)
  const isFormula = typeof value === 'string' && FORMULA.test(text.trimStart())
  const safe = isFormula ? `'${text}` : text
  return `"${safe.replaceAll('"', '""')}"`
}

/** A line of the table. */
export const csvLine = (values: readonly unknown[]): string => `${values.map(cell).join(',')}\r\n`
