import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { exists, findHome, type Home } from './home.ts'
import { withLock } from './lock.ts'
import { findPostmaster, type Postmaster, stopPostmaster } from './postmaster.ts'
import { ensureCluster, hasFailed, launch, SUPERUSER, throwUnlessTemporary } from './server.ts'

/**
 * The server was set up with another SECRET_KEY: its password is derived from the key, and is not that of the
 * database.
 */
export class OtherKeyError extends Error {}

export interface EmbeddedOptions {
  dataDir: string
  password: string
  /** PostgreSQL settings that override our own. They apply when this call starts the server. */
  settings?: Record<string, string>
}

export interface Embedded {
  url: string
  port: number
  /** Disconnects from the server, and stops it unless another process still uses it. */
  stop(): Promise<void>
}

interface Server extends Home {
  password: string
  settings: Record<string, string>
}

/** The two methods of a client that the type declarations of `pg` leave out. */
type Client = pg.Client & { ref(): void; unref(): void }

/** A running server, and the connection that shows other processes that we use it (decision 0001). */
interface Membership {
  postmaster: Postmaster
  presence: Client
}

/**
 * The application name of every connection of this process, as in the pools, followed by its
 * purpose.
 */
const PROCESS_NAME = `fairdock:${process.pid}:`
const PRESENCE_NAME = `${PROCESS_NAME}presence`

const DATABASE = 'fairdock'
const POLL_MS = 20
/** How long a start may take: recovery after a crash replays up to a gigabyte of log. */
const READY_SECONDS = 120
/** The wait before a start that failed temporarily is tried again. */
const RETRY_MS = 100
const REJOIN_MS = 1_000
/** PostgreSQL lists a closed connection for a moment longer. */
const DISCONNECT_MS = 250

/** Starts the PostgreSQL server of `dataDir`, or joins it where it already runs. */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const { dataDir, password, settings = {} } = options
  if (password === '' || /[\r\n\0]/.test(password)) {
    throw new Error('The password of the embedded database must be one line of text.')
  }
  const server = { ...(await findHome(dataDir)), password, settings }
  const membership = { ...(await joinServer(server, () => true)), leaving: false }
  watch(server, membership)
  const { port } = membership.postmaster
  let stopped: Promise<void> | undefined
  return {
    url: `postgres://${SUPERUSER}:${encodeURIComponent(password)}@127.0.0.1:${port}/${DATABASE}`,
    port,
    stop() {
      membership.leaving = true
      stopped ??= underLock(server, () => leaveServer(server, membership))
      return stopped
    },
  }
}

/**
 * Restarts the server when it dies while we use it, killed by hand or for lack of memory. It starts
 * on its last port, which the pools of this process use.
 */
function watch(server: Server, membership: Membership & { leaving: boolean }): void {
  const rejoin = async () => {
    if (!(await exists(server.cluster))) return
    Object.assign(membership, await joinServer(server, () => !membership.leaving))
    watch(server, membership)
  }
  membership.presence.once('end', async () => {
    while (!membership.leaving) {
      const done = await rejoin().then(
        () => true,
        () => false,
      )
      if (done) return
      await sleep(REJOIN_MS, undefined, { ref: false })
    }
  })
}

/**
 * Runs `work` under the lock: starting and stopping must exclude each other, or one process could
 * stop the server that another has just joined.
 */
async function underLock<T>(server: Server, work: () => Promise<T>): Promise<T> {
  // The folder may have been deleted while the server runs; the server must still be stopped.
  if (!(await exists(server.dir))) return work()
  return withLock(join(server.dir, 'postgres.lock'), work)
}

/** Joins the server, and tries again until it is connected or the connection is no longer wanted. */
async function joinServer(server: Server, isNeeded: () => boolean): Promise<Membership> {
  const deadline = Date.now() + READY_SECONDS * 1_000
  while (Date.now() < deadline && isNeeded()) {
    // Not locked between two attempts: the server may be waiting for another process to disconnect.
    const membership = await underLock(server, async () =>
      isNeeded() ? tryToJoin(server, deadline) : null,
    )
    if (membership) {
      // A process that does not call `stop` can still exit.
      membership.presence.unref()
      return membership
    }
    await sleep(POLL_MS)
  }
  throw new Error(
    `The embedded database in ${server.cluster} was not ready after ${READY_SECONDS} s. See its log there.`,
  )
}

async function tryToJoin(server: Server, deadline: number): Promise<Membership | null> {
  await ensureCluster(server, server.password, server.settings.fsync !== 'off')
  if (await findPostmaster(server.cluster)) return connectToRunning(server)
  const started = await launch(server, server.settings)
  while (!hasFailed(started) && Date.now() < deadline) {
    const membership = await connectToRunning(server).catch((error) => stopUnused(server, error))
    if (membership) return membership
    await sleep(POLL_MS)
  }
  await throwUnlessTemporary(server, started)
  await sleep(RETRY_MS)
  return null
}

/** Stops the server that we have just started and cannot use. Under the lock no other process has joined it. */
async function stopUnused({ cluster }: Server, error: unknown): Promise<never> {
  const postmaster = await findPostmaster(cluster)
  if (postmaster) await stopPostmaster(postmaster, cluster)
  throw error
}

async function connectToRunning(server: Server): Promise<Membership | null> {
  const postmaster = await findPostmaster(server.cluster)
  const presence = postmaster && (await connect(server, postmaster))
  return presence && { postmaster, presence }
}

/** Connects to exactly this server. Returns null while it starts up or shuts down. */
async function connect(server: Server, postmaster: Postmaster): Promise<Client | null> {
  try {
    return await open(server, postmaster, DATABASE)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === '28P01') {
      throw new OtherKeyError(
        `The database in ${server.cluster} has another password. Restore the SECRET_KEY that it was created with.`,
        { cause: error },
      )
    }
    if (code === '3D000') await createDatabase(server, postmaster)
    return null
  }
}

async function open(server: Server, postmaster: Postmaster, database: string): Promise<Client> {
  const client = new pg.Client({
    host: '127.0.0.1',
    port: postmaster.port,
    user: SUPERUSER,
    password: server.password,
    database,
    application_name: PRESENCE_NAME,
    connectionTimeoutMillis: 5_000,
    ssl: false,
  }) as Client
  // A lost connection is noticed at its next use.
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query(`select pg_read_file('postmaster.pid') as text`)
    if (Number.parseInt(rows[0].text, 10) !== postmaster.pid) {
      throw new Error('Another server answers on this port.')
    }
    return client
  } catch (error) {
    await client.end().catch(() => {})
    throw error
  }
}

async function createDatabase(server: Server, postmaster: Postmaster): Promise<void> {
  const client = await open(server, postmaster, 'postgres')
  try {
    await client.query(`create database ${DATABASE}`)
  } finally {
    await client.end()
  }
}

/** Disconnects, and stops the server when no other process uses it. */
async function leaveServer(server: Server, membership: Membership): Promise<void> {
  const postmaster = (await findPostmaster(server.cluster)) ?? membership.postmaster
  membership.presence.ref()
  const inUse = await isUsedByOthers(server, postmaster, membership.presence)
  await membership.presence.end().catch(() => {})
  if (!inUse) await stopPostmaster(postmaster, server.cluster)
}

async function isUsedByOthers(server: Server, postmaster: Postmaster, presence: Client) {
  const deadline = Date.now() + DISCONNECT_MS
  for (;;) {
    const others = await countOthers(presence).catch(async () => {
      // The server was restarted after we joined it.
      const client = await open(server, postmaster, DATABASE).catch(() => null)
      if (!client) return 0
      return countOthers(client).finally(() => client.end())
    })
    if (others === 0) return false
    if (Date.now() > deadline) return true
    await sleep(POLL_MS)
  }
}

/** Counts the other users of the server. Our own pools do not count; another embedded server in this process does. */
async function countOthers(client: pg.Client): Promise<number> {
  const { rows } = await client.query(
    `select count(*)::int as others
       from pg_stat_activity
      where backend_type = 'client backend'
        and pid <> pg_backend_pid()
        and (application_name = $1 or not starts_with(application_name, $2))`,
    [PRESENCE_NAME, PROCESS_NAME],
  )
  return rows[0].others
}
