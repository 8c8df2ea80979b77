import { machineTime, type Sql, sql } from '../db/sql.ts'

/**
 * Rows of one table that are deleted in slices, oldest first, store by store. All SQL here is
 * constant: it is code, never input. The rows are named `t`.
 */
export interface Slice {
  /** The name of the table in its archives. */
  table: string
  from: Sql
  /**
   * The condition for rows that can be deleted at all. It is also read over all stores, so it names only this table.
   */
  only?: Sql
  /** The condition for old rows that must stay for now. It is read within the store. */
  keep?: Sql
  /** Whether a row is old enough; the number is that of the setting. */
  old: (period: number) => Sql
  /** The columns that name a row in its store. */
  key: Sql
  /** The columns of an index of the store's rows, the oldest first. */
  order: Sql
  /** The line of a row in the archive. Without it, the row is not archived. */
  line?: Sql
  /** Rows that are deleted together with the deleted rows, `gone`: further parts of the statement. */
  together?: Sql
}

/** Whether a time is longer ago than so many days. */
export const olderThan = (column: Sql) => (days: number) =>
  sql`${column} < ${machineTime} - make_interval(days => ${days})`
