import type pg from 'pg'

/** The pages that statements of the platform's roles have read, as EXPLAIN (BUFFERS) counts them. */
export interface Pages {
  total: number
  /** The statement that read most, and its share. */
  most: { text: string; pages: number }
}

const ROLES = `(select oid from pg_roles where rolname in ('fd_app', 'fd_operator', 'fd_worker'))`

/**
 * Counts the pages that `work` reads, in memory or from disk. PostgreSQL counts them for each statement
 * where it runs: in the role and store of the request, with the plan that the request gets.
 */
export async function countPages(admin: pg.Client, work: () => Promise<unknown>): Promise<Pages> {
  await admin.query('select pg_stat_statements_reset()')
  await work()
  const { rows } = await admin.query<{ text: string; pages: string }>(
    `select query as text, shared_blks_hit + shared_blks_read as pages
       from pg_stat_statements
      where toplevel and userid in ${ROLES}
      order by pages desc`,
  )
  const read = rows.map(({ text, pages }) => ({ text, pages: Number(pages) }))
  const total = read.reduce((sum, each) => sum + each.pages, 0)
  return { total, most: read[0] ?? { text: '', pages: 0 } }
}
