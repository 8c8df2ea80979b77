import { hash, pbkdf2Sync } from 'node:crypto'
import pg from 'pg'
import { hmac, hmacBytes } from '../kernel/hmac.ts'
import { isPostgresError } from './constraints.ts'

/** The roles that log in. No role owns a table or bypasses row level security. */
export const LOGIN_ROLES = ['fd_app', 'fd_worker', 'fd_operator'] as const
export type LoginRole = (typeof LOGIN_ROLES)[number]

/** The roles that own objects: tables, the search function, and the functions that run before a store is known. */
export const NOLOGIN_ROLES = ['fd_owner', 'fd_search', 'fd_gate'] as const

/** Time limits of each role, so that one bad plan or lost client cannot hold a lock for long. */
const ROLE_SETTINGS: Record<LoginRole, Record<string, string>> = {
  fd_app: { statement_timeout: '10s', idle_in_transaction_session_timeout: '15s' },
  fd_worker: { statement_timeout: '30s', idle_in_transaction_session_timeout: '30s' },
  fd_operator: { statement_timeout: '30s', idle_in_transaction_session_timeout: '15s' },
}

/** The URL of the same database for one of our roles. Its password is derived from SECRET_KEY. */
export function roleUrl(databaseUrl: string, role: LoginRole, secretKey: string): string {
  const url = new URL(databaseUrl)
  url.username = role
  url.password = rolePassword(role, secretKey)
  return url.href
}

const rolePassword = (role: LoginRole, secretKey: string) =>
  hmac(Buffer.from(secretKey), [`database role ${role}`], 'hex')

/** The error that the roles could not be created: an administrator must run `sql` once. */
export class RolesMissingError extends Error {
  readonly sql: string
  constructor(sql: string, cause: unknown) {
    super(
      `the database user may not create roles; let an administrator run this once, then start again:\n${sql}`,
      { cause },
    )
    this.name = 'RolesMissingError'
    this.sql = sql
  }
}

/** More databases than are ever created on one server at the same moment. */
const TRIES_MAX = 10

/**
 * Creates missing roles and extensions, and lets the current user act as the owner. Roles belong to the whole server:
 * if another database creates them at the same moment, this looks again.
 */
export async function ensureRoles(client: pg.Client, databaseUrl: string, secretKey: string) {
  for (let tries = 1; ; tries++) {
    try {
      return await createMissing(client, databaseUrl, secretKey)
    } catch (error) {
      if (tries === TRIES_MAX || !isConcurrentChange(error)) throw error
    }
  }
}

/** Whether another process has just created the role or membership, or changed its row. */
const isConcurrentChange = (error: unknown): boolean =>
  isPostgresError(error) &&
  (['23505', '42710', '40P01'].includes(error.code) ||
    /tuple concurrently (updated|deleted)/.test(error.message))

async function createMissing(client: pg.Client, databaseUrl: string, secretKey: string) {
  const statements = [
    ...(await roleStatements(client, databaseUrl, secretKey)),
    ...(await membershipStatements(client)),
    ...(await schemaStatements(client)),
    ...(await extensionStatements(client)),
  ]
  if (statements.length === 0) return
  const missing = (cause?: unknown) =>
    new RolesMissingError(statements.map((each) => `${each};`).join('\n'), cause)
  try {
    // All or nothing, so that the statements in the error message match the state of the server.
    await client.query('begin')
    for (const statement of statements) await client.query(statement)
    // PostgreSQL may answer a grant without the right to it with a mere warning.
    if ((await schemaStatements(client)).length > 0) throw missing()
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw (error as { code?: string }).code === '42501' ? missing(error) : error
  }
}

async function roleStatements(client: pg.Client, databaseUrl: string, secretKey: string) {
  const { rows } = await client.query("select rolname from pg_roles where rolname like 'fd\\_%'")
  const existing = new Set(rows.map((row: { rolname: string }) => row.rolname))
  const statements: string[] = []
  for (const role of NOLOGIN_ROLES) {
    if (!existing.has(role)) statements.push(`create role ${role} nologin`)
  }
  for (const role of LOGIN_ROLES) {
    if (existing.has(role) && (await canLogIn(roleUrl(databaseUrl, role, secretKey)))) continue
    const verb = existing.has(role) ? 'alter' : 'create'
    const verifier = scramVerifier(rolePassword(role, secretKey))
    statements.push(`${verb} role ${role} login password '${verifier}'`)
    statements.push(`alter role ${role} set timezone = 'UTC'`)
    for (const [name, value] of Object.entries(ROLE_SETTINGS[role])) {
      statements.push(`alter role ${role} set ${name} = '${value}'`)
    }
  }
  return statements
}

/**
 * Lists the statements that let the migrating user act as the owner, and let the owner make their roles the owners of
 * functions.
 */
async function membershipStatements(client: pg.Client) {
  const { rows } = await client.query<{ version: number; name: string; may_set: boolean }>(`
    select current_setting('server_version_num')::int as version, current_user as name,
           coalesce((select rolsuper from pg_roles where rolname = current_user), false) as may_set`)
  const [me] = rows
  if (me === undefined) throw new Error('the server did not say who we are')
  // PostgreSQL 16 separated membership from the right to SET ROLE.
  const option = me.version >= 160_000 ? ' with inherit true, set true' : ''
  const memberships: (readonly [string, string])[] = [
    ['fd_search', 'fd_owner'],
    ['fd_gate', 'fd_owner'],
  ]
  if (!me.may_set) memberships.push(['fd_owner', me.name])
  const statements: string[] = []
  // In PostgreSQL 16 and later, the creator of a role may grant it, but not act as it.
  const right = me.version >= 160_000 ? 'set' : 'member'
  for (const [role, member] of memberships) {
    if (!(await hasRole(client, role, member, right))) {
      statements.push(`grant ${role} to ${pg.escapeIdentifier(member)}${option}`)
    }
  }
  return statements
}

async function schemaStatements(client: pg.Client) {
  const { rows } = await client.query<{ granted: boolean }>(`
    select coalesce(bool_and(coalesce(has_schema_privilege(r.oid, 'public', 'create'), false)), false)
             and count(*) = 3 as granted
      from pg_roles r where r.rolname in ('fd_owner', 'fd_search', 'fd_gate')`)
  if (rows[0]?.granted) return []
  return [
    'grant usage, create on schema public to fd_owner, fd_search, fd_gate',
    'grant usage on schema public to fd_app, fd_worker, fd_operator',
  ]
}

/**
 * The extensions that search needs. A user that may create in the database may add them: PostgreSQL
 * marks them all as trusted.
 */
const EXTENSIONS = ['btree_gin', 'fuzzystrmatch', 'pg_trgm', 'unaccent'] as const

async function extensionStatements(client: pg.Client) {
  const { rows } = await client.query<{ extname: string }>('select extname from pg_extension')
  const existing = new Set(rows.map(({ extname }) => extname))
  return EXTENSIONS.filter((each) => !existing.has(each)).map(
    (each) => `create extension ${each} with schema public`,
  )
}

async function hasRole(client: pg.Client, role: string, member: string, right: string) {
  const { rows } = await client.query<{ held: boolean }>(
    `select coalesce((select pg_has_role(m.oid, r.oid, $3)
                        from pg_roles m, pg_roles r
                       where m.rolname = $1 and r.rolname = $2), false) as held`,
    [member, role, right],
  )
  return rows[0]?.held ?? false
}

async function canLogIn(url: string): Promise<boolean> {
  const client = new pg.Client({
    connectionString: url,
    application_name: `fairdock:${process.pid}:roles`,
    connectionTimeoutMillis: 5_000,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    return true
  } catch (error) {
    // 28P01: wrong password. 28000: the role may not log in. Any other error says nothing about the
    // password.
    if (['28P01', '28000'].includes((error as { code?: string }).code ?? '')) return false
    throw error
  } finally {
    await client.end().catch(() => {})
  }
}

/**
 * The hash that PostgreSQL stores, so that no password is in a statement that the server may log.
 */
function scramVerifier(password: string): string {
  const iterations = 4_096
  const salt = hmacBytes(Buffer.from(password), ['salt']).subarray(0, 16)
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256')
  const stored = hash('sha256', hmacBytes(salted, ['Client Key']), 'base64')
  const server = hmac(salted, ['Server Key'], 'base64')
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${stored}:${server}`
}
