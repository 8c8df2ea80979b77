import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chown,
  type FileHandle,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { exists, type Home, runAs, serverEnv } from './home.ts'
import { readPidFile } from './postmaster.ts'

/** A server that was just started and may still fail. */
export interface Launch {
  child: ChildProcess
  /** The position in the log at which this start begins. */
  logOffset: number
  /** Set when the program could not be run, such as a binary for another C library. */
  error: Error | null
}

export const SUPERUSER = 'fairdock'
const MAJOR = '18'
const DRAFT = 'postgres.new-'
const LOG_BYTES = 10_000_000

const SETTINGS = {
  max_connections: '200',
  shared_buffers: '128MB',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  // Statistics of a table that was empty a moment ago lead to bad plans until it is analysed.
  autovacuum_naptime: '10s',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // Error messages of statements quote values, which must not collect in a file.
  log_min_messages: 'log',
}

/** Log texts of failures after which a second start may succeed. */
const TEMPORARY_FAILURES = [
  'is still in use', // Backends outlive a killed server for a moment and hold its memory.
  'could not create any TCP/IP sockets', // Another process took the port after we looked.
  'lock file "postmaster.pid" already exists',
]

/** Creates the cluster unless it exists. A kill at any moment leaves a whole cluster or none. */
export async function ensureCluster(home: Home, password: string, durable: boolean): Promise<void> {
  for (const name of await readdir(home.dir)) {
    if (!name.startsWith(DRAFT)) continue
    // The `initdb` of a killed process may still be writing there: the next start deletes it.
    await rm(join(home.dir, name), { recursive: true, force: true }).catch(() => {})
  }
  const versionFile = join(home.cluster, 'PG_VERSION')
  if (!(await exists(versionFile))) await createCluster(home, password, durable)
  const version = (await readFile(versionFile, 'utf8')).trim()
  if (version !== MAJOR) {
    throw new Error(
      `The database in ${home.cluster} is of PostgreSQL ${version}, this is PostgreSQL ${MAJOR}: ` +
        'dump it with the release that created it, and load it into a new folder.',
    )
  }
}

async function createCluster(home: Home, password: string, durable: boolean): Promise<void> {
  const draft = join(home.dir, DRAFT + randomBytes(6).toString('hex'))
  const passwordFile = `${draft}.password`
  try {
    await mkdir(draft, { mode: 0o700 })
    await writeFile(passwordFile, `${password}\n`, { mode: 0o600, flag: 'wx' })
    if (home.user) {
      await chown(draft, home.user.uid, home.user.gid)
      await chown(passwordFile, home.user.uid, home.user.gid)
    }
    await initdb(home, draft, ['--pwfile', passwordFile, ...(durable ? [] : ['--no-sync'])])
    await rename(draft, home.cluster)
  } finally {
    await rm(passwordFile, { force: true })
    await rm(draft, { recursive: true, force: true })
  }
}

async function initdb(home: Home, dir: string, flags: string[]): Promise<void> {
  const args = ['-D', dir, '-U', SUPERUSER, '-E', 'UTF8', '--locale', 'C', ...flags]
  args.push('--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8')
  args.push('--auth', 'scram-sha-256', '--no-instructions')
  try {
    await runAs(home.user, join(home.native, 'bin', 'initdb'), args, dir)
  } catch (cause) {
    const said = cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim() : ''
    throw new Error(`The embedded database could not be created: ${said || cause}`, { cause })
  }
}

/** Starts the server in a session of its own, so that Ctrl-C in our terminal does not stop it (decision 0001). */
export async function launch(home: Home, overrides: Record<string, string>): Promise<Launch> {
  const port = await freePort(await lastPort(home))
  const settings = { ...SETTINGS, ...overrides, port: String(port) }
  const args = ['-D', home.cluster]
  for (const [name, value] of Object.entries(settings)) args.push('-c', `${name}=${value}`)
  const stale = await readPidFile(home.cluster)
  const log = await openLog(home)
  try {
    const logOffset = (await log.stat()).size
    const child = spawn(join(home.native, 'bin', 'postgres'), args, {
      cwd: home.cluster,
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
      // PostgreSQL does not take the process named here for a running server. Without it,
      // PostgreSQL would refuse to start while another program has the process id of a dead server.
      env: { ...serverEnv(), ...(stale && { PG_GRANDPARENT_PID: String(stale.pid) }) },
      ...home.user,
    })
    const started: Launch = { child, logOffset, error: null }
    child.on('error', (error) => {
      started.error = error
    })
    child.unref()
    await writeFile(join(home.dir, 'postgres.port'), String(port))
    return started
  } finally {
    await log.close()
  }
}

/** Throws unless a failed start is worth trying again. */
export async function throwUnlessTemporary(home: Home, started: Launch): Promise<void> {
  const { child, logOffset, error } = started
  const log = await readFile(logPath(home))
  const said = log.subarray(logOffset).toString('utf8')
  if (TEMPORARY_FAILURES.some((failure) => said.includes(failure))) return
  const fatal = said.split('\n').find((line) => line.includes('FATAL:'))
  const reason =
    error?.message ??
    fatal?.replace(/^.*FATAL:\s*/, '') ??
    `it ended with ${child.exitCode ?? child.signalCode}`
  throw new Error(`The embedded database did not start: ${reason} (see ${logPath(home)})`)
}

export const hasFailed = ({ child }: Launch) =>
  child.pid === undefined || child.exitCode !== null || child.signalCode !== null

const logPath = (home: Home) => join(home.dir, 'postgres.log')

async function openLog(home: Home): Promise<FileHandle> {
  const size = await stat(logPath(home)).then(
    (info) => info.size,
    () => 0,
  )
  if (size > LOG_BYTES) await rename(logPath(home), `${logPath(home)}.1`)
  return open(logPath(home), 'a', 0o600)
}

const lastPort = async (home: Home) =>
  Number(await readFile(join(home.dir, 'postgres.port'), 'utf8').catch(() => 0)) || 0

/** The preferred port, or any other when it is taken. */
async function freePort(preferred: number): Promise<number> {
  return (preferred && (await tryPort(preferred))) || (await tryPort(0))
}

function tryPort(port: number): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(0))
    server.listen({ port, host: '127.0.0.1' }, () => {
      const address = server.address()
      const found = address && typeof address === 'object' ? address.port : 0
      server.close(() => resolve(found))
    })
  })
}
