import { csvLine } from '../../kernel/csv.ts'

/** A table of a report, for a spreadsheet: the plain members of its rows, in their order. */
export function tableOf(rows: readonly Record<string, unknown>[]): string {
  const [first] = rows
  if (first === undefined) return ''
  const columns = Object.keys(first).filter((name) => !isNested(first[name]))
  return [columns, ...rows.map((row) => columns.map((name) => row[name]))].map(csvLine).join('')
}

const isNested = (value: unknown): boolean => typeof value === 'object' && value !== null
