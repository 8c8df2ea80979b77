import { csvLine } from '../../kernel/csv.ts'

/** A line of a table before it is text. */
export type TableRow = Record<string, unknown>

/**
 * The table of a report, for a spreadsheet, page by page: the plain members of its rows, in the order of the first row.
 * An error on the way is thrown, so that half a table is never mistaken for a whole one.
 */
export async function* tableOf(pages: AsyncIterable<readonly TableRow[]>): AsyncGenerator<string> {
  let columns: string[] | undefined
  for await (const rows of pages) {
    const [first] = rows
    if (first === undefined) continue
    if (columns === undefined) {
      columns = Object.keys(first).filter((name) => !isNested(first[name]))
      yield csvLine(columns)
    }
    const names = columns
    yield rows.map((row) => csvLine(names.map((name) => row[name]))).join('')
  }
}

const isNested = (value: unknown): boolean => typeof value === 'object' && value !== null

/** The line for rows in no group. No group has this key: no code, id or place has brackets around it. */
const REST = { key: '(rest)', label: 'rest' }

/** Returns the groups, and a line for the rows in none of them, so that the table adds up. */
export function withRest(groups: readonly TableRow[], rest: TableRow): TableRow[] {
  const isEmpty = Object.values(rest).every((value) => value === 0)
  return isEmpty ? [...groups] : [...groups, { ...REST, ...rest }]
}
