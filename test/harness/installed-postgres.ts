import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { installPackage } from './debian.ts'
import { until } from './eventually.ts'
import { freePort } from './ports.ts'

const run = promisify(execFile)

/** Where Debian and Ubuntu put the programs of each version. */
const VERSIONS = '/usr/lib/postgresql'
const PROGRAMS = ['initdb', 'postgres', 'psql', 'pg_dump', 'pg_restore', 'pg_isready']

/**
 * Finds the folder of the newest complete PostgreSQL, which is installed first where we may: the embedded
 * one comes without `pg_dump`, and a `pg_dump` refuses a newer server. Returns null if none is installed.
 */
export async function findPostgres(): Promise<string | null> {
  const found = await newestWhole()
  if (found !== null) return found
  await installPackage('postgresql')
  return newestWhole()
}

async function newestWhole(): Promise<string | null> {
  const versions = existsSync(VERSIONS) ? await readdir(VERSIONS) : []
  const folders = versions
    .toSorted((one, other) => Number(other) - Number(one))
    .map((version) => join(VERSIONS, version, 'bin'))
  return folders.find((at) => PROGRAMS.every((name) => existsSync(join(at, name)))) ?? null
}

/** PostgreSQL refuses to run as root, so it then runs as a user without any rights. */
const NOBODY = 65_534
const asUser = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}

/** Starts a server for one test on a free port. Returns the URL of its superuser. */
export async function startPostgres(t: TestContext, programs: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'postgres-'))
  await chmod(folder, 0o700)
  if (asUser.uid !== undefined) await chown(folder, asUser.uid, asUser.gid)
  const data = join(folder, 'data')
  const options = { cwd: folder, ...asUser }
  await run(
    join(programs, 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '-N'],
    options,
  )
  const port = await freePort()
  const settings = ['fsync=off', 'listen_addresses=127.0.0.1', `unix_socket_directories=${folder}`]
  const server = spawn(
    join(programs, 'postgres'),
    ['-D', data, '-p', `${port}`, ...settings.flatMap((each) => ['-c', each])],
    { ...options, stdio: 'ignore' },
  )
  t.after(async () => {
    await end(server)
    await rm(folder, { recursive: true, force: true })
  })
  await until('accepts connections', async () => {
    if (server.exitCode !== null) throw new Error('the server ended early')
    const isReady = run(join(programs, 'pg_isready'), ['-h', '127.0.0.1', '-p', `${port}`])
    return isReady.then(
      () => true,
      () => false,
    )
  })
  return `postgres://postgres@127.0.0.1:${port}/postgres`
}

async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  const exit = once(server, 'exit')
  // Ends its sessions and stops: an open one of a failed test would otherwise keep it.
  server.kill('SIGINT')
  await exit
}
