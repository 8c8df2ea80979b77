import type { TestContext } from 'node:test'
import pg from 'pg'

/** A connection that no policy binds: for looking behind the curtain, and for moving time. */
export async function openSuperuser(t: TestContext, { url }: { url: string }): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  // The database is dropped under it when the test ends.
  client.on('error', () => {})
  await client.connect()
  t.after(() => client.end())
  return client
}

/** The names of all tables. */
export async function listTables(superuser: pg.Client): Promise<string[]> {
  const { rows } = await superuser.query<{ name: string }>(
    `select relname as name from pg_class
      where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace order by relname`,
  )
  return rows.map(({ name }) => name)
}

/** Every row of every table as text; bytes are in hex. */
export async function dumpText(superuser: pg.Client): Promise<string> {
  const parts: string[] = []
  for (const table of await listTables(superuser)) {
    const { rows } = await superuser.query<{ text: string | null }>(
      `select string_agg(each::text, E'\\n') as text from "${table}" each`,
    )
    parts.push(`${table}:`, rows[0]?.text ?? '')
  }
  return parts.join('\n')
}

/** Puts a store live without a site, as the site builder will once it is there. */
export const putLive = (superuser: pg.Client, tenant: string) =>
  superuser.query(`update stores set status = 'live', active_version = 1 where tenant_ref = $1`, [
    tenant,
  ])
