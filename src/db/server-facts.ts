import type pg from 'pg'

/** Facts that the server itself answers, for the doctor. */

export async function readVersion(client: pg.Client): Promise<{ number: number; text: string }> {
  const { rows } = await client.query<{ number: number; text: string }>(
    `select current_setting('server_version_num')::int as number,
            current_setting('server_version') as text`,
  )
  return only(rows)
}

/** The server's time, in milliseconds since the epoch. */
export async function readClock(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ ms: number }>(
    'select extract(epoch from clock_timestamp())::float8 * 1000 as ms',
  )
  return only(rows).ms
}

/** Lists our own roles. */
export async function listRoles(client: pg.Client) {
  const { rows } = await client.query<{ name: string; may_log_in: boolean }>(
    "select rolname as name, rolcanlogin as may_log_in from pg_roles where rolname like 'fd\\_%'",
  )
  return rows
}

function only<T>(rows: T[]): T {
  const [row] = rows
  if (row === undefined) throw new Error('the server gave no answer')
  return row
}
