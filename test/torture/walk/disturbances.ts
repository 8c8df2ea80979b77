import { setTimeout as delay } from 'node:timers/promises'
import { postmasterPid } from '../../harness/embedded.ts'
import { until } from '../../harness/eventually.ts'
import type { Installation, WalkServer } from './installation.ts'
import type { Random } from './random.ts'

/** Longer than a claim on a key lasts: the paused process is overtaken. */
const OVERTAKEN_MS = [61_000, 66_000] as const
/** A short walk would be over before a long pause. */
const SECONDS_FOR_LONG_PAUSES = 240

/** Far longer than a recovery takes: the machine may be busy, and no time is measured here. */
const RECOVERY_MS = 180_000

interface Disturbance {
  installation: Installation
  random: Random
  isOver: () => boolean
  seconds: number
}

type Disturb = (what: Disturbance) => Promise<void>

/** Disturbs the installation, one thing after another, until the walk is over. */
export async function disturb(what: Disturbance, counts: Map<string, number>): Promise<void> {
  const { random, isOver } = what
  while (!isOver()) {
    await delay(random.int(200, 5_000))
    if (isOver()) return
    const name = random.weigh(WEIGHTS)
    counts.set(name, (counts.get(name) ?? 0) + 1)
    await DISTURBANCES[name](what)
  }
}

const DISTURBANCES = {
  'kill of a server': (what) => ofServer(what, (server) => killServer(server, what.random)),
  'kill of a backend': ({ installation }) => killBackend(installation),
  'end of a backend': ({ installation, random }) => endBackends(installation, random),
  'kill of the postmaster': ({ installation }) => killPostmaster(installation),
  'pause of a server': (what) => ofServer(what, (server) => pauseServer(server, what)),
  'pause of a backend': ({ installation, random }) => pauseBackend(installation, random),
  "cut of callers' connections": (what) =>
    ofServer(what, async ({ callers }) => {
      await callers.cut()
      await delay(what.random.int(0, 300))
      await callers.mend()
    }),
  'cut of database connections': (what) =>
    ofServer(what, async ({ database }) => {
      await database.cut()
      await delay(what.random.int(0, 1_500))
      await database.mend()
    }),
  'passing of days for credit': ({ installation, random }) => passDays(installation, random),
  'silence of the database': (what) =>
    ofServer(what, async ({ database }) => {
      database.silence()
      await delay(what.random.int(500, 4_000))
      database.speak()
    }),
} satisfies Record<string, Disturb>

const WEIGHTS: readonly (readonly [number, keyof typeof DISTURBANCES])[] = [
  [5, 'kill of a server'],
  [2, 'kill of a backend'],
  [6, 'end of a backend'],
  [1, 'kill of the postmaster'],
  [3, 'pause of a server'],
  [2, 'pause of a backend'],
  [4, "cut of callers' connections"],
  [3, 'cut of database connections'],
  [2, 'silence of the database'],
  [2, 'passing of days for credit'],
]

/** Disturbs a server that no other disturbance works on, if there is one. */
async function ofServer(
  { installation, random }: Disturbance,
  work: (server: WalkServer) => Promise<void>,
): Promise<void> {
  const free = installation.servers.filter((each) => !each.isDisturbed)
  if (free.length === 0) return
  const server = random.pick(free)
  server.isDisturbed = true
  try {
    await work(server)
  } finally {
    server.isDisturbed = false
  }
}

async function killServer(server: WalkServer, random: Random): Promise<void> {
  await server.kill()
  await delay(random.int(0, 1_000))
  await server.start()
}

async function pauseServer(
  server: WalkServer,
  { random, seconds, isOver }: Disturbance,
): Promise<void> {
  const isLong = seconds >= SECONDS_FOR_LONG_PAUSES && random.happens(10)
  const pid = server.pid()
  process.kill(pid, 'SIGSTOP')
  const ends = performance.now() + (isLong ? random.int(...OVERTAKEN_MS) : random.int(100, 5_000))
  while (performance.now() < ends && !isOver()) await delay(50)
  process.kill(pid, 'SIGCONT')
}

const BACKENDS = `select pid from pg_stat_activity where usename like 'fd\\_%'
                   order by (state = 'active') desc, random()`

async function findBackends({ superuser }: Installation): Promise<number[]> {
  // Another disturbance may have ended the server.
  const found = await superuser.query<{ pid: number }>(BACKENDS).catch(() => null)
  return found?.rows.map(({ pid }) => pid) ?? []
}

/** Signals a process that may have ended meanwhile. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

/** Brings the dates of credit nearer, so that some of it expires: free, held, spent or on its way back. */
async function passDays({ superuser }: Installation, random: Random): Promise<void> {
  const query = `
    update store_credit_lots
       set expires_at = expires_at - make_interval(days => $1),
           due_at = due_at - make_interval(days => $1)
     where expires_at is not null`
  // Another disturbance may have ended the server.
  await superuser.query(query, [random.int(1, 120)]).catch(() => null)
}

/** Kills one backend. PostgreSQL then ends all others as well, and recovers. */
async function killBackend(installation: Installation): Promise<void> {
  const [pid] = await findBackends(installation)
  if (pid === undefined) return
  signal(pid, 'SIGKILL')
  await recovered(installation)
}

async function endBackends(installation: Installation, random: Random): Promise<void> {
  const some = (await findBackends(installation)).slice(0, random.int(1, 4))
  for (const pid of some) signal(pid, 'SIGTERM')
}

async function pauseBackend(installation: Installation, random: Random): Promise<void> {
  const [pid] = await findBackends(installation)
  if (pid === undefined) return
  signal(pid, 'SIGSTOP')
  await delay(random.int(50, 1_500))
  signal(pid, 'SIGCONT')
}

/** Kills PostgreSQL's main process. The process that started it notices its end, and starts it again. */
async function killPostmaster(installation: Installation): Promise<void> {
  const pid = await postmasterPid(installation.dataDir).catch(() => null)
  if (pid === null) return
  signal(pid, 'SIGKILL')
  await recovered(installation)
}

export const recovered = ({ superuser }: Installation): Promise<void> =>
  until(
    'PostgreSQL answers again',
    () =>
      superuser.query('select 1').then(
        () => true,
        () => false,
      ),
    RECOVERY_MS,
  )
