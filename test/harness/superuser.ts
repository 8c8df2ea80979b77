import type { TestContext } from 'node:test'
import pg from 'pg'

/** A connection without row level security, to check rows directly and to move time. */
export async function openSuperuser(t: TestContext, { url }: { url: string }): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  // The database is dropped while it is open when the test ends.
  client.on('error', () => {})
  await client.connect()
  t.after(() => client.end())
  return client
}

/** The names of all tables. Rows of partitions are seen by their table. */
export async function listTables(superuser: pg.Client): Promise<string[]> {
  const { rows } = await superuser.query<{ name: string }>(
    `select relname as name from pg_class
      where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace order by relname`,
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

/** Gives a store an active site, without the claim scan and all other checks. */
export async function putActiveVersion(superuser: pg.Client, tenant: string): Promise<void> {
  await superuser.query(
    `insert into site_versions (tenant_ref, version, manifest, row_hash, rules_version, created_by)
     values ($1, 1, '{}', repeat('0', 64), 'none', 'test')`,
    [tenant],
  )
  await superuser.query('update stores set active_version = 1 where tenant_ref = $1', [tenant])
}

/** Creates a live store directly in the database. */
export async function putLive(superuser: pg.Client, tenant: string): Promise<void> {
  await putActiveVersion(superuser, tenant)
  await superuser.query(`update stores set status = 'live' where tenant_ref = $1`, [tenant])
}
