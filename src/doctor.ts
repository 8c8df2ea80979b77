import { stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCluster } from '@fairdock/embedded-postgres/home'
import pg from 'pg'
import { GLOBAL_TABLES } from './db/global-tables.ts'
import { findPending, hasSameKey, listApplied, readMigrations } from './db/migrate.ts'
import { LOGIN_ROLES, NOLOGIN_ROLES } from './db/roles.ts'
import { listRoles, readClock, readVersion } from './db/server-facts.ts'
import {
  listBloatedTables,
  listMissingPartitions,
  listUnusedIndexes,
  type StorageLimits,
} from './db/storage-facts.ts'
import {
  type Breach,
  listUnprotectedTables,
  listUnsafePolicies,
  listUnsafeRoles,
} from './db/tenant-isolation.ts'
import { machineNow } from './kernel/clock.ts'

export interface Finding {
  check: string
  ok: boolean
  detail: string
  /** The action to take. Empty when the check passed; a check that passed with advice is a warning. */
  advice: string
}

/** Counts stores by the state of their ledger's verification. */
export interface LedgerSummary {
  stores: number
  faulty: number
  missing: number
  late: number
  postponed: number
}

export interface DoctorOptions {
  /** The database URL of the user who migrates it. Null where there is no database, or no password for it. */
  url: string | null
  dataDir: string
  /** The settings that decide about cookies. */
  address?: { PUBLIC_URL: string | undefined; production: boolean; isHttps: boolean }
  /** The settings that decide about mail. */
  mail?: { SMTP_URL: string | undefined; production: boolean }
  /** The SECRET_KEY of this process, which is compared with the one that the database was set up with. */
  secretKey?: string
  /** True when the password of the embedded database is derived from another SECRET_KEY. */
  hasOtherKey?: boolean
  /** False when a secret should be in the file and is not. */
  hasSecrets?: boolean
  /** Checks that the counters of the rate limiter respond. */
  pingLimiter?: () => Promise<unknown>
  /** Reads the results of the verification of the ledgers. */
  summarizeLedgers?: () => Promise<LedgerSummary>
  /** The least free disk space that passes. */
  diskMinBytes?: number
  /** The limits below which bloat and unused indexes are no finding. */
  storageLimits?: StorageLimits
  /** The time of this process in milliseconds. */
  now?: () => number
}

const CLOCK_MAX_MS = 2_000
const GIB = 1_073_741_824
const VERSION_MIN = 150_000
/**
 * The default limits. A hundred thousand rows are some ten megabytes; within a month every useful index has been
 * read.
 */
const STORAGE_LIMITS: StorageLimits = { rowsMin: 100_000, statisticsDays: 30 }
/** The longest wait for a result. */
const ANSWER_MS = 5_000

const pass = (check: string, detail: string): Finding => ({ check, ok: true, detail, advice: '' })
const fail = (check: string, detail: string, advice: string): Finding => ({
  check,
  ok: false,
  detail,
  advice,
})

const OTHER_KEY = fail(
  'secret key',
  'SECRET_KEY was changed: it is not the one that this database was set up with',
  'Restore the former SECRET_KEY. With another one encrypted data cannot be read, and the database roles have other passwords',
)

/** Checks everything an installation depends on. Changes nothing, and never throws. */
export async function runDoctor(options: DoctorOptions): Promise<Finding[]> {
  const findings = [
    ...(await examineDatabase(options)),
    await reportFailure('disk', () => examineDisk(options)),
    await reportFailure('data folder', () => examineFolder(options.dataDir)),
    await reportFailure('secrets', () => examineSecrets(options)),
  ]
  const { pingLimiter, summarizeLedgers, address, mail } = options
  if (address) findings.push(examineAddress(address))
  if (mail) findings.push(examineMail(mail))
  if (pingLimiter) findings.push(await examineLimiter(pingLimiter))
  if (summarizeLedgers) {
    findings.push(await reportFailure('ledger', () => examineLedgers(summarizeLedgers)))
  }
  return findings
}

/** Prints one line for each finding. Returns the exit code: 1 when a check failed. */
export function printDoctor(
  findings: readonly Finding[],
  write: (line: string) => void = (line) => void process.stdout.write(line),
): 0 | 1 {
  const width = Math.max(...findings.map(({ check }) => check.length))
  for (const { check, ok, detail, advice } of findings) {
    const rest = advice === '' ? detail : `${detail}. ${advice}`
    const state = ok ? (advice === '' ? 'ok  ' : 'warn') : 'FAIL'
    write(`${state}  ${check.padEnd(width)}  ${rest}\n`)
  }
  return findings.every(({ ok }) => ok) ? 0 : 1
}

/** Reports at which address shoppers come, and whether cookies are for https alone. */
function examineAddress({
  PUBLIC_URL,
  production,
  isHttps,
}: NonNullable<DoctorOptions['address']>) {
  const cookies = isHttps ? 'cookies are for https alone' : 'cookies are also sent over http'
  const detail = `${PUBLIC_URL === undefined ? 'PUBLIC_URL is not set' : PUBLIC_URL}; ${cookies}`
  if (!production || PUBLIC_URL !== undefined) return pass('public address', detail)
  const advice = 'Set PUBLIC_URL to the https address of this installation'
  return { ...pass('public address', detail), advice }
}

/** Reports whether mails are sent. Without a server they wait in their table. */
function examineMail({ SMTP_URL, production }: NonNullable<DoctorOptions['mail']>): Finding {
  if (SMTP_URL !== undefined) return pass('mail', 'is sent by the server of SMTP_URL')
  const finding = pass('mail', 'SMTP_URL is not set, so no mail is sent')
  const advice = 'Set SMTP_URL: owners cannot verify their address or reset their password without'
  return production ? { ...finding, advice } : finding
}

async function examineDatabase(options: DoctorOptions): Promise<Finding[]> {
  const { url, dataDir, now: readTime = machineNow, secretKey } = options
  if (options.hasOtherKey) return [OTHER_KEY]
  if (url === null) return [await reportFailure('server', () => explainMissing(dataDir))]
  const client = new pg.Client({
    connectionString: url,
    application_name: `fairdock:${process.pid}:doctor`,
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: ANSWER_MS,
  })
  // The check that a lost connection interrupts reports the error.
  client.on('error', () => {})
  try {
    await client.connect()
  } catch (error) {
    return [
      fail(
        'server',
        messageOf(error),
        'Check that PostgreSQL runs and that DATABASE_URL is correct',
      ),
    ]
  }
  try {
    return [
      pass('server', 'answers'),
      await reportFailure('version', () => examineVersion(client)),
      await reportFailure('roles', () => examineRoles(client)),
      await reportFailure('row level security', () => examineIsolation(client)),
      await reportFailure('migrations', () => examineMigrations(client)),
      ...(secretKey === undefined
        ? []
        : [await reportFailure('secret key', () => examineKey(client, secretKey))]),
      await reportFailure('clock', () => examineClock(client, readTime)),
      ...(await examineStorage(client, options.storageLimits ?? STORAGE_LIMITS)),
    ]
  } finally {
    await client.end().catch(() => {})
  }
}

async function explainMissing(dataDir: string): Promise<Finding> {
  if (await hasCluster(dataDir)) {
    return fail(
      'server',
      'its password is derived from the secrets, which are missing',
      'Restore the secrets first',
    )
  }
  const advice = 'Check DATA_DIR or DATABASE_URL; the first start creates a database'
  return fail('server', `there is no database in ${dataDir}`, advice)
}

/** Reports a check that could not run as a finding. */
async function reportFailure(check: string, examine: () => Promise<Finding>): Promise<Finding> {
  try {
    return await examine()
  } catch (error) {
    return fail(
      check,
      messageOf(error),
      'This check could not run; correct the fault and run the doctor again',
    )
  }
}

/** Returns the message of an error. A connection error can be an AggregateError with an empty message. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0])
  return error instanceof Error ? error.message : String(error)
}

async function examineVersion(client: pg.Client): Promise<Finding> {
  const { number, text } = await readVersion(client)
  if (number >= VERSION_MIN) return pass('version', `PostgreSQL ${text}`)
  return fail('version', `PostgreSQL ${text}`, 'Upgrade to PostgreSQL 15 or newer')
}

async function examineRoles(client: pg.Client): Promise<Finding> {
  const roles = await listRoles(client)
  const found = new Map(roles.map(({ name, may_log_in }) => [name, may_log_in]))
  const missing = [...LOGIN_ROLES, ...NOLOGIN_ROLES].filter((role) => !found.has(role))
  if (missing.length > 0) {
    return fail(
      'roles',
      `missing: ${missing.join(', ')}`,
      'Run the migrate role, which creates them',
    )
  }
  const faults = [
    ...LOGIN_ROLES.filter((role) => !found.get(role)).map((role) => `${role} may not log in`),
    ...NOLOGIN_ROLES.filter((role) => found.get(role)).map((role) => `${role} may log in`),
    ...(await listUnsafeRoles(client)).map(({ object, detail }) => `${object} ${detail}`),
  ]
  if (faults.length === 0) return pass('roles', `${found.size} roles, none with too many rights`)
  return fail('roles', faults.join(', '), 'Remove that right with "alter role" or "reassign owned"')
}

async function examineIsolation(client: pg.Client): Promise<Finding> {
  const exceptions = { globalTables: GLOBAL_TABLES, keys: {}, withoutStore: {}, ownerFunctions: {} }
  const breaches: Breach[] = [
    ...(await listUnprotectedTables(client, exceptions)),
    ...(await listUnsafePolicies(client, exceptions)),
  ]
  if (breaches.length === 0)
    return pass('row level security', 'on for every table with data of a store')
  const detail = breaches.map((breach) => `${breach.object}: ${breach.detail}`).join(', ')
  return fail(
    'row level security',
    detail,
    'Stop all processes and restore it as in generated/schema.sql: stores can read the data of other stores',
  )
}

async function examineMigrations(client: pg.Client): Promise<Finding> {
  const migrations = await readMigrations()
  try {
    const pending = findPending(migrations, await listApplied(client))
    if (pending.length === 0) return pass('migrations', `all ${migrations.length} applied`)
    const names = pending.map(({ version, name }) => `${version} ${name}`).join(', ')
    return fail('migrations', `pending: ${names}`, 'Run the migrate role')
  } catch (error) {
    // 42P01: there is no table of migrations.
    if ((error as { code?: string }).code === '42P01') {
      return fail('migrations', 'none is applied', 'Run the migrate role')
    }
    return fail('migrations', messageOf(error), 'Run the release that matches this database')
  }
}

async function examineKey(client: pg.Client, secretKey: string): Promise<Finding> {
  const isSame = await hasSameKey(client, secretKey)
  if (isSame === null) return pass('secret key', 'is not recorded yet; the migrate role does it')
  return isSame ? pass('secret key', 'is the one that the database was set up with') : OTHER_KEY
}

/**
 * Compares the database's time with the middle of the query, so that a slow network is not taken
 * for a wrong clock.
 */
async function examineClock(client: pg.Client, readTime: () => number): Promise<Finding> {
  const before = readTime()
  const databaseTime = await readClock(client)
  const apart = Math.round(Math.abs(databaseTime - (before + readTime()) / 2))
  const detail = `the clocks of database and process differ by ${apart} ms`
  if (apart <= CLOCK_MAX_MS) return pass('clock', detail)
  return fail('clock', detail, 'Synchronise the clocks of both machines by NTP')
}

/**
 * Examines what is missing or unused in a database after a long time. A database that is not migrated is left out.
 */
async function examineStorage(client: pg.Client, limits: StorageLimits): Promise<Finding[]> {
  const { rows } = await client.query("select to_regclass('partition_months') is not null as there")
  if (!rows[0]?.there) return []
  return [
    await reportFailure('partitions', async () => {
      const missing = await listMissingPartitions(client)
      const advice = 'Check that a worker runs: its loop "partitions" makes them'
      if (missing.length > 0) return fail('partitions', `missing: ${missing.join(', ')}`, advice)
      return pass('partitions', 'made for this month and the next')
    }),
    await reportFailure('bloat', async () =>
      warnOf('bloat', await listBloatedTables(client, limits), {
        none: 'no big table has many dead rows',
        advice: 'Run "vacuum" on them, and look for transactions that stay open for long',
      }),
    ),
    await reportFailure('indexes', async () =>
      warnOf('indexes', await listUnusedIndexes(client, limits), {
        none: 'none of a big table is known to be unused',
        advice: 'Nothing reads them: report them, so that a migration drops them',
      }),
    ),
  ]
}

const warnOf = (
  check: string,
  facts: readonly string[],
  { none, advice }: { none: string; advice: string },
): Finding =>
  facts.length === 0 ? pass(check, none) : { ...pass(check, facts.join(', ')), advice }

async function examineDisk({ dataDir, diskMinBytes = GIB }: DoctorOptions): Promise<Finding> {
  const { bavail, bsize } = await statfs(dataDir)
  const free = bavail * bsize
  const detail = `${(free / GIB).toFixed(1)} GiB free in ${dataDir}`
  if (free >= diskMinBytes) return pass('disk', detail)
  return fail('disk', detail, 'Free some space: the database stops when the disk is full')
}

const octal = (mode: number) => (mode & 0o777).toString(8).padStart(4, '0')

async function examineFolder(dataDir: string): Promise<Finding> {
  const { mode } = await stat(dataDir)
  const detail = `${dataDir} has mode ${octal(mode)}`
  if ((mode & 0o022) === 0) return pass('data folder', detail)
  return fail('data folder', detail, `Other users can write there: chmod go-w ${dataDir}`)
}

async function examineSecrets(options: DoctorOptions): Promise<Finding> {
  const { dataDir, hasSecrets = true } = options
  const path = join(dataDir, 'secrets.json')
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (found === null && hasSecrets) {
    return pass('secrets', 'no file; they come from the environment')
  }
  if (found === null) {
    const advice =
      'Restore it from the backup if there was one: data that is encrypted with it cannot be read without it'
    return fail('secrets', `${path} does not exist`, advice)
  }
  const detail = `${path} has mode ${octal(found.mode)}`
  if ((found.mode & 0o077) !== 0) {
    return fail(
      'secrets',
      detail,
      `Other users can read it: chmod 600 ${path}, then change the secrets`,
    )
  }
  if (hasSecrets) return pass('secrets', detail)
  return fail('secrets', `${path} does not contain the three secrets`, 'Restore it from the backup')
}

/**
 * Reports the verification of the ledgers. Late stores are not a fault: the doctor may examine an installation that
 * is stopped.
 */
async function examineLedgers(summarize: () => Promise<LedgerSummary>): Promise<Finding> {
  const { stores, faulty, missing, late, postponed } = await summarize()
  if (faulty > 0) {
    const advice =
      'Run verify-ledger, and see "A ledger that does not verify" in docs/operating/running.md'
    return fail('ledger', `${faulty} of ${stores} do not verify`, advice)
  }
  if (missing + postponed > 0) {
    const detail = `${missing} have no record of their verification, ${postponed} are put off`
    return fail(
      'ledger',
      detail,
      'The table ledger_verified was changed by hand: run verify-ledger',
    )
  }
  const waiting = late === 0 ? '' : `, ${late} wait for a worker`
  return pass('ledger', `no fault is known in ${stores}${waiting}`)
}

async function examineLimiter(ping: () => Promise<unknown>): Promise<Finding> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => late.reject(new Error(`no answer within ${ANSWER_MS} ms`)),
    ANSWER_MS,
  )
  try {
    await Promise.race([ping(), late.promise])
    return pass('limiter', 'answers')
  } catch (error) {
    // The API error only says that the limiter is unavailable; its cause says why.
    const { cause = error } = Object(error) as { cause?: unknown }
    const advice =
      'Every route with a credential answers 503 without it: check REDIS_URL, or DATABASE_URL if that is unset'
    return fail('limiter', messageOf(cause), advice)
  } finally {
    clearTimeout(timer)
  }
}
