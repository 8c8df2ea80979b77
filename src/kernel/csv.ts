/** The first characters of a formula. The last four are their full-width forms, which an East Asian keyboard types. */
const FORMULA = /^[=+\-@\t\r\n|%＝＋－＠]/

/**
 * Writes a cell of a CSV file. Text that a spreadsheet would run as a formula is marked as text, and every cell is
 * quoted, so that opening the file runs none of its texts.
 */
export function cell(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = String(value)
  const isFormula = typeof value === 'string' && FORMULA.test(text.trimStart())
  const safe = isFormula ? `'${text}` : text
  return `"${safe.replaceAll('"', '""')}"`
}

/** Writes a line of a CSV file. */
export const csvLine = (values: readonly unknown[]): string => `${values.map(cell).join(',')}\r\n`
